#include "lib/io/read.h"
#include "memory/collector.h"

#include "lualib.h"

#include <math.h>
#include <string.h>

namespace
{

// The limit of Luau.
constexpr uint64_t kMaxString = 1 << 30;

// Returns `done`, without pushing a value, if there is a byte to read. Pushes nil at the end of the file.
ReadStatus check_end(lua_State* L, File* file, IoError* error)
{
    int first = peek_byte(L, file, error);
    if (first == kReadFailed)
        return ReadStatus::failed;
    if (first != kEndOfFile)
        return ReadStatus::done;
    lua_pushnil(L);
    return ReadStatus::end;
}

// Returns the first line break in [at, end), or `end`. Compares eight bytes at a time: line breaks become zero bytes of `word`.
const char* find_break(const char* at, const char* end)
{
    constexpr uint64_t kOnes = 0x0101010101010101;
    for (; end - at >= 8; at += 8)
    {
        uint64_t word;
        memcpy(&word, at, 8);
        word ^= kOnes * '\n';
        uint64_t zeros = (word - kOnes) & ~word & (kOnes << 7);
        if (zeros)
            return at + __builtin_ctzll(zeros) / 8;
    }
    while (at < end && *at != '\n')
        at++;
    return at;
}

// Reads at most `limit` bytes into a string that is allocated once.
ReadStatus read_sized(lua_State* L, File* file, uint64_t limit, IoError* error)
{
    uint32_t read_size = file->next_read_size;
    bool fills = file->read_at == file->read_end;
    if (!file_fill(L, file, error))
        return ReadStatus::failed;
    uint64_t total = 0;
    uint32_t ahead = file->read_end - file->read_at;
    // A read ahead that returned fewer bytes than requested has reached the end of the file.
    if (!(fills && ahead < read_size) && !file_remaining(file, &total, error))
        return ReadStatus::failed;
    total += ahead;
    total = total < limit ? total : limit;
    if (total >= kMaxString)
        luaL_error(L, "the file is too large to be read at once");
    if (total > kBufferSize)
        collect_to_fit(L, size_t(total) + 64);

    luaL_Strbuf text;
    char* buffer = luaL_buffinitsize(L, &text, size_t(total));
    size_t size = 0;
    while (size < total)
    {
        size_t count;
        size_t rest = size_t(total) - size;
        if (file->read_at == file->read_end && rest >= kBufferSize)
        {
            if (!host_read(file->handle, buffer + size, rest, &count, error))
                return ReadStatus::failed;
        }
        else
        {
            if (!file_fill(L, file, error))
                return ReadStatus::failed;
            count = file->read_end - file->read_at < rest ? file->read_end - file->read_at : rest;
            memcpy(buffer + size, file->buffer + file->read_at, count);
            file->read_at += uint32_t(count);
        }
        if (count == 0)
            break;
        size += count;
    }
    luaL_pushresultsize(&text, size);
    return ReadStatus::done;
}

ReadStatus read_bytes(lua_State* L, File* file, double count, IoError* error)
{
    ReadStatus status = check_end(L, file, error);
    if (status != ReadStatus::done)
        return status;
    if (count > kBufferSize)
        return read_sized(L, file, count < 1e15 ? uint64_t(count) : UINT64_MAX, error);
    uint32_t rest = uint32_t(count);
    if (rest <= file->read_end - file->read_at)
    {
        lua_pushlstring(L, file->buffer + file->read_at, rest);
        file->read_at += rest;
        return ReadStatus::done;
    }
    luaL_Strbuf text;
    luaL_buffinit(L, &text);
    while (rest > 0)
    {
        int next = peek_byte(L, file, error);
        if (next == kReadFailed)
            return ReadStatus::failed;
        if (next == kEndOfFile)
            break;
        uint32_t ahead = file->read_end - file->read_at;
        uint32_t part = ahead < rest ? ahead : rest;
        luaL_addlstring(&text, file->buffer + file->read_at, part);
        file->read_at += part;
        rest -= part;
    }
    luaL_pushresult(&text);
    return ReadStatus::done;
}

} // namespace

ReadStatus read_line(lua_State* L, File* file, bool with_break, IoError* error)
{
    ReadStatus status = check_end(L, file, error);
    if (status != ReadStatus::done)
        return status;
    const char* line = file->buffer + file->read_at;
    const char* end = file->buffer + file->read_end;
    const char* stop = find_break(line, end);
    if (stop < end)
    {
        file->read_at += uint32_t(stop - line) + 1;
        lua_pushlstring(L, line, size_t(stop - line) + with_break);
        return ReadStatus::done;
    }

    luaL_Strbuf text;
    luaL_buffinit(L, &text);
    for (;;)
    {
        luaL_addlstring(&text, line, size_t(stop - line));
        file->read_at += uint32_t(stop - line);
        if (file->read_at < file->read_end)
        {
            file->read_at++;
            if (with_break)
                luaL_addchar(&text, '\n');
            break;
        }
        int next = peek_byte(L, file, error);
        if (next == kReadFailed)
            return ReadStatus::failed;
        if (next == kEndOfFile)
            break;
        line = file->buffer + file->read_at;
        stop = find_break(line, file->buffer + file->read_end);
    }
    luaL_pushresult(&text);
    return ReadStatus::done;
}

ReadStatus read_format(lua_State* L, File* file, int format, IoError* error)
{
    if (lua_type(L, format) == LUA_TNUMBER)
    {
        double count = lua_tonumber(L, format);
        if (!(count >= 0))
            luaL_error(L, "invalid format: %s", luaL_tolstring(L, format, nullptr));
        return read_bytes(L, file, floor(count), error);
    }
    const char* name = luaL_checkstring(L, format);
    switch (name[*name == '*'])
    {
    case 'l':
        return read_line(L, file, false, error);
    case 'L':
        return read_line(L, file, true, error);
    case 'n':
        return read_number(L, file, error);
    case 'a':
        return read_sized(L, file, UINT64_MAX, error);
    default:
        luaL_error(L, "invalid format: %s", name);
    }
}
