// Reads values from a file by format, as in Lua 5.1.
#pragma once

#include "lib/io/buffered_file.h"

enum class ReadStatus
{
    done,   // a value was pushed
    end,    // nil was pushed: the end of the file, or text that is not a number
    failed, // nothing was pushed, and the error is set
};

// Reads a line, with or without its line break.
ReadStatus read_line(lua_State* L, File* file, bool with_break, IoError* error);
// Reads a number, as `scanf` does.
ReadStatus read_number(lua_State* L, File* file, IoError* error);
// Reads by the format at this stack index: a number of bytes, or one of `*a *l *L *n`, with or without the star.
ReadStatus read_format(lua_State* L, File* file, int format, IoError* error);

// Returned by `peek_byte` instead of a byte.
constexpr int kEndOfFile = -1;
constexpr int kReadFailed = -2;

// Returns the next byte without consuming it.
inline int peek_byte(lua_State* L, File* file, IoError* error)
{
    if (file->read_at == file->read_end && !file_fill(L, file, error))
        return kReadFailed;
    return file->read_at < file->read_end ? static_cast<unsigned char>(file->buffer[file->read_at]) : kEndOfFile;
}
