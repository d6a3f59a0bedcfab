#include "runtime/frames.h"
#include "runtime/inline_mark.h"

#include "ldebug.h"

#include <stdlib.h>
#include <string.h>

// The name that the build gives to the function of Luau that this file replaces.
extern "C" int replaced_lua_getinfo(lua_State* L, int level, const char* what, lua_Debug* frame);

namespace
{

// An inlined call, as `push_inline_mark` stores it.
struct InlinedCall
{
    int line = 0;
    int line_defined = 0;
    const char* name = nullptr;
};

// Finds an inlined call that contains the current instruction. Number 0 is the innermost one, because the compiler stores it first.
bool find_inlined_call(const CallInfo* call, int number, InlinedCall* inlined)
{
    if (!isLua(call))
        return false;
    const Proto* function = call->p;
    int pc = pcRel(call->savedpc, function);
    for (int index = 0; index < function->sizelocvars; index++)
    {
        const LocVar& mark = function->locvars[index];
        if (mark.reg != kInlineMarkRegister || pc < mark.startpc || pc >= mark.endpc || number-- > 0)
            continue;
        char* end = nullptr;
        inlined->line = int(strtol(getstr(mark.varname) + 2, &end, 10));
        inlined->line_defined = int(strtol(end + 1, &end, 10));
        inlined->name = end[1] ? end + 1 : nullptr;
        return true;
    }
    return false;
}

} // namespace

void Frames::next()
{
    InlinedCall ignored;
    if (find_inlined_call(call, inlined, &ignored))
    {
        inlined++;
        return;
    }
    call--;
    inlined = 0;
}

void Frames::describe(const char* what, lua_Debug* frame) const
{
    replaced_lua_getinfo(L, int(L->ci - call), what, frame);
    InlinedCall inner;
    if (inlined > 0 && find_inlined_call(call, inlined - 1, &inner) && strchr(what, 'l'))
        frame->currentline = inner.line;
    InlinedCall self;
    if (!find_inlined_call(call, inlined, &self))
        return;
    if (strchr(what, 'n'))
        frame->name = self.name;
    if (strchr(what, 's'))
    {
        frame->what = "Lua";
        frame->linedefined = self.line_defined;
    }
}

int frames_count(lua_State* L)
{
    int count = 0;
    for (Frames frames(L); frames.is_valid(); frames.next())
        count++;
    return count;
}

// Replaces the function of Luau, so that inlined calls count as levels. `error(message, 2)` then blames the line of the call.
int lua_getinfo(lua_State* L, int level, const char* what, lua_Debug* frame)
{
    if (level < 0)
        return replaced_lua_getinfo(L, level, what, frame);
    Frames frames(L);
    for (; level > 0 && frames.is_valid(); level--)
        frames.next();
    if (!frames.is_valid())
        return 0;
    frames.describe(what, frame);
    return 1;
}
