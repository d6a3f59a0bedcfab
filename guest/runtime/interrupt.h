// Calls handlers from the interrupt hook of the VM, where the script calls, returns or repeats a loop.
#pragma once

#include "lua.h"

// One handler per slot. They run in this order.
enum class InterruptSlot
{
    collect,
    flush_files,
};

// Returns true to be called again at the next interrupt.
using InterruptHandler = bool (*)(lua_State* L);

// Calls the handler at each interrupt until it returns false.
void request_interrupt(lua_State* L, InterruptSlot slot, InterruptHandler handler);
