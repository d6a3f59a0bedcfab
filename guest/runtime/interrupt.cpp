#include "runtime/interrupt.h"
#include "runtime/work.h"

namespace
{

InterruptHandler handlers[2];

void interrupt(lua_State* L, int state)
{
    // A negative state means that no collection is under way.
    if (state >= 0)
        return;
    work_units++;
    bool is_needed = false;
    for (InterruptHandler& handler : handlers)
    {
        if (!handler)
            continue;
        if (handler(L))
            is_needed = true;
        else
            handler = nullptr;
    }
    // The hook slows the script down, so it is only set while a handler needs it.
    if (!is_needed)
        lua_callbacks(L)->interrupt = nullptr;
}

} // namespace

void request_interrupt(lua_State* L, InterruptSlot slot, InterruptHandler handler)
{
    handlers[int(slot)] = handler;
    lua_callbacks(L)->interrupt = interrupt;
}
