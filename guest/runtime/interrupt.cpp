// Luau's interrupt hook, called where a script calls, returns or goes round. There is one, and it slows a script down, so it is
// there only while somebody waits for it.
#include "lib/io/buffered_file.h"

static void interrupt(lua_State* L, int state)
{
    // Not in the middle of a collection.
    if (state >= 0)
        return;
    guest_collect_if_short(L);
    if (!files_flush_when_due())
        lua_callbacks(L)->interrupt = nullptr;
}

void guest_interrupt_soon(lua_State* L)
{
    lua_callbacks(L)->interrupt = interrupt;
}
