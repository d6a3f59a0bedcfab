// The allocator of the VM.
//
// Running out of memory raises an error in the script and never aborts: `vm_allocate` returns null, which Luau raises as "not enough memory".
#pragma once

#include "lua.h"

#include <stddef.h>

// The `lua_Alloc` of the VM. The userdata is its `global_State`, or null while the VM is created.
void* vm_allocate(void* userdata, void* block, size_t old_size, size_t new_size);

// Allocates a block outside the VM, collecting first if needed. Raises Luau's memory error on failure.
void* allocate_block(lua_State* L, size_t size);
