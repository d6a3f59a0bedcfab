// Conversions of strings to numbers. Luau ends the text at a NUL byte; here, such a text is no number.
#include "lib/to_number.h"

#include "lobject.h"

#include <stddef.h>
#include <string.h>

// The originals in `lobject.cpp`, which the build renames.
int luau_str2d(const char* text, double* result);
int luau_str2l(const char* text, int64_t* result, int base);

namespace
{

// Takes the data of a string of the VM, as all callers pass.
bool has_nul(const char* text)
{
    const TString* string = reinterpret_cast<const TString*>(text - offsetof(TString, data));
    return strlen(text) < string->len;
}

} // namespace

int luaO_str2d(const char* text, double* result)
{
    return luau_str2d(text, result) && !has_nul(text);
}

int luaO_str2l(const char* text, int64_t* result, int base)
{
    return luau_str2l(text, result, base) && !has_nul(text);
}

unsigned long long to_integer(lua_State* L, const char* text, char** end, int base)
{
    unsigned long long value = (strtoull)(text, end, base);
    if (lua_type(L, 1) == LUA_TSTRING && strlen(text) < size_t(lua_objlen(L, 1)))
        *end = const_cast<char*>(text);
    return value;
}
