// A faster `luaL_checklstring` for arguments that are strings.
#pragma once

#include "lstate.h"
#include "lualib.h"

#include <stddef.h>

// Numbers and error values are converted by `luaL_checklstring`, which also raises the errors.
inline const char* check_string(lua_State* L, int index, size_t* size)
{
    const TValue* value = L->base + (index - 1);
    if (index <= 0 || value >= L->top || !ttisstring(value))
        return luaL_checklstring(L, index, size);
    *size = tsvalue(value)->len;
    return svalue(value);
}
