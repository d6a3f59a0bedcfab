// What `run` answers when a script did not finish.
#pragma once

#include "runtime/bindings.h"

// Called in `init`, while there is memory.
void guest_prepare_failures(lua_State* main);

// All answer false, as `run` does on failure.
bool guest_fail(unprepared_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text, size_t size);
bool guest_fail(unprepared_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text);
bool guest_fail_memory(unprepared_failure_t* failure);

// The error on top of the thread's stack, with the calls that led to it, which are still on the stack.
bool guest_fail_raised(unprepared_failure_t* failure, lua_State* thread, int status);
