// Moves over the tokens of a JSON text.
#pragma once

#include "lualib.h"

#include <stddef.h>

// A position in a text. An error names its line and column.
struct Scanner
{
    lua_State* L;
    const char* start;
    const char* at;
    const char* end;

    Scanner(lua_State* L, const char* text, size_t size)
        : L(L)
        , start(text)
        , at(text)
        , end(text + size)
    {
    }

    void skip_space()
    {
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
            at++;
    }

    void skip_word(const char* text)
    {
        const char* begin = at;
        for (; *text; text++, at++)
            if (at == end || *at != *text)
            {
                at = begin;
                fail("expected a value");
            }
    }

    bool skip_digits()
    {
        const char* begin = at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        return at > begin;
    }

    [[noreturn]] void fail(const char* reason)
    {
        int line = 1;
        const char* line_start = start;
        for (const char* scan = start; scan < at; scan++)
            if (*scan == '\n')
            {
                line++;
                line_start = scan + 1;
            }
        luaL_error(L, "json.decode: %s at line %d, column %d", reason, line, int(at - line_start) + 1);
    }
};
