// What the files of the guest share. Each file is one concern: a table of functions for scripts, or a part of the run.
#pragma once

#include "lua.h"
#include "lualib.h"

#include <stddef.h>
#include <stdint.h>

extern "C"
{
#include "unprepared.h"
}

// libraries.cpp: makes the VM with every global of the design, read-only.
lua_State* guest_new_state();

// memory.cpp: the allocator of the VM, and the bytes of linear memory that the host said it will grant.
void* guest_allocate(void* userdata, void* block, size_t old_size, size_t new_size);
void guest_set_memory(lua_State* L, uint64_t bytes);
// Collects if memory has run out: where it is safe while the script runs, and after it, so that there is room to report.
void guest_collect_if_short(lua_State* L);
// Collects if there is no block of this size.
void guest_make_room(lua_State* L, size_t size);
// A block outside of the VM's heap; raises Luau's memory error if there is none.
void* guest_allocate_block(lua_State* L, size_t size);
// Bytes that the host passes in next are put there, if they fit.
void guest_land(char* place, size_t size);
// Makes room for what the host passes in.
extern "C" void* cabi_realloc(void* block, size_t old_size, size_t alignment, size_t new_size);

// heap.cpp: whether memory was asked for that there was not.
bool guest_memory_was_denied();

// A list of bytes for the host to read.
inline unprepared_list_u8_t list_of(const char* bytes, size_t size)
{
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(bytes)), size};
}

// interrupt.cpp: has the hook called.
void guest_interrupt_soon(lua_State* L);

// io.cpp: `io`, `file` and `os.remove`. A run without settings has none of them.
void guest_open_io(lua_State* L);
void guest_set_io(lua_State* L, const toolscript_sandbox_types_refusals_t* refusals);

// json.cpp: `json`, and the same encoder for what a script returns.
void guest_open_json(lua_State* L);
// Pushes the value at `index` as JSON text; raises an error that names the path to what can't be written, from `root` on.
void guest_push_json(lua_State* L, int index, const char* root);
// Pushes the `count` values on top of the stack as JSON text: none is null, one is itself, several are an array.
void guest_push_results(lua_State* L, int count);

// log.cpp: `print` and `progress`.
void guest_open_log(lua_State* L);

// clock.cpp: `os.clock`, and the time that the C library tells.
void guest_start_clock();
void guest_open_clock(lua_State* L);

// sdk.cpp: `sdk`. A run without functions has none.
void guest_open_sdk(lua_State* L);
void guest_set_sdk(lua_State* L, const uint64_t* answer_size);

// libraries.cpp: takes a member away from the table on top of the stack, which may be read-only. It needs no memory.
void guest_clear(lua_State* L, const char* name);

// sort.cpp: `table.sort`.
void guest_open_sort(lua_State* L);
