#include "runtime/hints.h"
#include "runtime/hint_table.h"

#include "lobject.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"

namespace
{

// Returns a global of all scripts.
const TValue* shared_global(lua_State* L, const char* name)
{
    return luaH_getstr(L->global->mainthread->gt, luaS_new(L, name));
}

} // namespace

const char* find_hint(lua_State* L, const char* base, const char* name)
{
    const Hint* hint = find_hint_entry(base, name);
    if (!hint || (hint->needs && ttisnil(shared_global(L, hint->needs))))
        return nullptr;
    // A field is missing from a library only if the function does not see another global of the same name.
    LuaTable* globals = clvalue(L->ci->func)->env;
    if (*base && (!ttistable(shared_global(L, base)) || !ttisnil(luaH_getstr(globals, luaS_new(L, base)))))
        return nullptr;
    return hint->text;
}
