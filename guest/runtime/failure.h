// The failure that `run` returns when a script does not finish.
//
// Memory may be exhausted by then, so failures use static buffers and functions that `init` created. Only the conversion of an error value to
// text allocates, in a protected call.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

// Called by `init`, while there is memory.
void init_failures(lua_State* main);

// All return false, as `run` does on failure.
bool fail(guest_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text, size_t size);
bool fail(guest_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text);
// The column is a number of characters, from 1.
bool fail_with_syntax_error(guest_failure_t* failure, const char* text, size_t size, uint32_t column);
bool fail_out_of_memory(guest_failure_t* failure);

// Reports the error value on top of the stack of the thread. The traceback is taken from the frames that are still on its stack.
bool fail_with_raised_error(guest_failure_t* failure, lua_State* thread, int status);
