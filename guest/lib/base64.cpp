#include "lib/base64.h"
#include "runtime/work.h"

#include "lualib.h"

#include <stdint.h>

static const char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Returns the bytes of the string or buffer in the first argument.
static const unsigned char* check_bytes(lua_State* L, size_t* size)
{
    const void* bytes = lua_tobuffer(L, 1, size);
    if (!bytes && lua_type(L, 1) != LUA_TSTRING)
        luaL_typeerror(L, 1, "string or buffer");
    if (!bytes)
        bytes = lua_tolstring(L, 1, size);
    count_work(*size);
    return static_cast<const unsigned char*>(bytes);
}

static int base64_encode(lua_State* L)
{
    size_t size = 0;
    const unsigned char* at = check_bytes(L, &size);
    size_t length = (size + 2) / 3 * 4;
    luaL_Strbuf buffer;
    char* out = luaL_buffinitsize(L, &buffer, length);
    for (; size >= 3; size -= 3, at += 3)
    {
        uint32_t bits = uint32_t(at[0]) << 16 | uint32_t(at[1]) << 8 | at[2];
        *out++ = kAlphabet[bits >> 18];
        *out++ = kAlphabet[bits >> 12 & 63];
        *out++ = kAlphabet[bits >> 6 & 63];
        *out++ = kAlphabet[bits & 63];
    }
    if (size > 0)
    {
        uint32_t bits = uint32_t(at[0]) << 16 | (size == 2 ? uint32_t(at[1]) << 8 : 0);
        *out++ = kAlphabet[bits >> 18];
        *out++ = kAlphabet[bits >> 12 & 63];
        *out++ = size == 2 ? kAlphabet[bits >> 6 & 63] : '=';
        *out++ = '=';
    }
    luaL_pushresultsize(&buffer, length);
    return 1;
}

// Returns the six bits of a character, or -1.
static int to_bits(unsigned char character)
{
    if (character >= 'A' && character <= 'Z')
        return character - 'A';
    if (character >= 'a' && character <= 'z')
        return character - 'a' + 26;
    if (character >= '0' && character <= '9')
        return character - '0' + 52;
    return character == '+' ? 62 : character == '/' ? 63 : -1;
}

static bool is_line_break(unsigned char character)
{
    return character == '\n' || character == '\r';
}

[[noreturn]] static void fail_at(lua_State* L, const unsigned char* start, const unsigned char* at)
{
    int position = int(at - start) + 1;
    if (*at == '-' || *at == '_')
        luaL_error(L, "base64.decode: '%c' at position %d is of the URL-safe alphabet; replace '-' with '+' and '_' with '/', and pad with '='", *at,
                   position);
    if (*at == '=')
        luaL_error(L, "base64.decode: misplaced '=' at position %d", position);
    if (*at >= 0x20 && *at < 0x7f)
        luaL_error(L, "base64.decode: invalid character '%c' at position %d", *at, position);
    luaL_error(L, "base64.decode: invalid byte %d at position %d", *at, position);
}

static int base64_decode(lua_State* L)
{
    size_t size = 0;
    const unsigned char* start = check_bytes(L, &size);
    const unsigned char* at = start;
    const unsigned char* end = start + size;
    luaL_Strbuf buffer;
    char* out = luaL_buffinitsize(L, &buffer, size / 4 * 3 + 3);
    char* first = out;
    uint32_t bits = 0;
    size_t characters = 0;
    for (; at < end && *at != '='; at++)
    {
        if (is_line_break(*at))
            continue;
        int value = to_bits(*at);
        if (value < 0)
            fail_at(L, start, at);
        bits = bits << 6 | uint32_t(value);
        if (++characters % 4 != 0)
            continue;
        *out++ = char(bits >> 16);
        *out++ = char(bits >> 8);
        *out++ = char(bits);
    }
    size_t rest = characters % 4;
    size_t padding = 0;
    for (; at < end; at++)
    {
        if (is_line_break(*at))
            continue;
        // Only the last group has padding: two characters and `==`, or three and `=`.
        if (*at != '=' || rest < 2 || rest + padding == 4)
            fail_at(L, start, at);
        padding++;
    }
    if (rest > 0 && rest + padding != 4)
        luaL_error(L, "base64.decode: the text ends within a group of four characters; it is truncated, or its padding with '=' is missing");
    if (rest == 3)
        *out++ = char(bits >> 10);
    if (rest == 3)
        *out++ = char(bits >> 2);
    if (rest == 2)
        *out++ = char(bits >> 4);
    luaL_pushresultsize(&buffer, size_t(out - first));
    return 1;
}

static const luaL_Reg kFunctions[] = {
    {"decode", base64_decode},
    {"encode", base64_encode},
    {nullptr, nullptr},
};

void base64_open_library(lua_State* L)
{
    luaL_register(L, "base64", kFunctions);
    lua_pop(L, 1);
}
