// Reading by format, as Lua 5.1 does.
#pragma once

#include "lib/io/buffered_file.h"

enum class Read
{
    done,    // a value was pushed
    end,     // nil was pushed: the end of the file, or no number
    problem, // nothing was pushed
};

// A line, with its line break or without.
Read read_line(lua_State* L, File* file, bool with_break, Problem* problem);
// What the value at `format` on the stack says: a count of bytes, or one of `*a *l *L *n`, with the star or without.
Read read_format(lua_State* L, File* file, int format, Problem* problem);
