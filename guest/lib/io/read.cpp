#include "lib/io/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace
{

// In place of a byte.
constexpr int kEnd = -1;
constexpr int kProblem = -2;

// The next byte.
int peek(lua_State* L, File* file, Problem* problem)
{
    if (file->at == file->end && !file_fill(L, file, problem))
        return kProblem;
    return file->at < file->end ? static_cast<unsigned char>(file->buffer[file->at]) : kEnd;
}

// Of Luau.
constexpr uint64_t kLongestString = 1 << 30;

// Whether there is anything to read; pushes nil if that is the end of the file.
Read begin(lua_State* L, File* file, Problem* problem)
{
    int first = peek(L, file, problem);
    if (first == kProblem)
        return Read::problem;
    if (first != kEnd)
        return Read::done;
    lua_pushnil(L);
    return Read::end;
}

// The first line break in [at, end), or `end`. Eight bytes at a time: a zero byte of `word` is a line break.
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

// At most `most` bytes in one string that is allocated once.
Read read_sized(lua_State* L, File* file, uint64_t most, Problem* problem)
{
    uint32_t block = file->block;
    bool filled = file->at == file->end;
    if (!file_fill(L, file, problem))
        return Read::problem;
    uint64_t total = 0;
    uint32_t ahead = file->end - file->at;
    // A block that is not full was the last one.
    if (!(filled && ahead < block) && !file_remaining(file, &total, problem))
        return Read::problem;
    total += ahead;
    total = total < most ? total : most;
    if (total >= kLongestString)
        luaL_error(L, "the file is too large to be read at once");
    if (total > kBuffer)
        guest_make_room(L, size_t(total) + 64);

    luaL_Strbuf text;
    char* place = luaL_buffinitsize(L, &text, size_t(total));
    size_t size = 0;
    while (size < total)
    {
        size_t count;
        size_t rest = size_t(total) - size;
        if (file->at == file->end && rest >= kBuffer)
        {
            if (!host_read(file->handle, place + size, rest, &count, problem))
                return Read::problem;
        }
        else
        {
            if (!file_fill(L, file, problem))
                return Read::problem;
            count = file->end - file->at < rest ? file->end - file->at : rest;
            memcpy(place + size, file->buffer + file->at, count);
            file->at += uint32_t(count);
        }
        if (count == 0)
            break;
        size += count;
    }
    luaL_pushresultsize(&text, size);
    return Read::done;
}

Read read_bytes(lua_State* L, File* file, double count, Problem* problem)
{
    Read begun = begin(L, file, problem);
    if (begun != Read::done)
        return begun;
    if (count > kBuffer)
        return read_sized(L, file, count < 1e15 ? uint64_t(count) : UINT64_MAX, problem);
    uint32_t rest = uint32_t(count);
    if (rest <= file->end - file->at)
    {
        lua_pushlstring(L, file->buffer + file->at, rest);
        file->at += rest;
        return Read::done;
    }
    luaL_Strbuf text;
    luaL_buffinit(L, &text);
    while (rest > 0)
    {
        int next = peek(L, file, problem);
        if (next == kProblem)
            return Read::problem;
        if (next == kEnd)
            break;
        uint32_t ahead = file->end - file->at;
        uint32_t part = ahead < rest ? ahead : rest;
        luaL_addlstring(&text, file->buffer + file->at, part);
        file->at += part;
        rest -= part;
    }
    luaL_pushresult(&text);
    return Read::done;
}

// The text of a number on its way in, as C's `scanf` takes it: as many bytes as can be the beginning of one.
struct NumberReader
{
    lua_State* L;
    File* file;
    Problem* problem;
    luaL_Strbuf text;
    int next;

    void advance()
    {
        file->at++;
        next = peek(L, file, problem);
    }

    bool is(char letter) const
    {
        return next >= 0 && (next | 0x20) == letter;
    }

    bool take()
    {
        luaL_addchar(&text, char(next));
        advance();
        return true;
    }

    bool take_if(char letter)
    {
        return is(letter) && take();
    }

    bool take_word(const char* word)
    {
        for (; *word; word++)
            if (!take_if(*word))
                return false;
        return true;
    }

    bool is_digit(bool hex) const
    {
        return (next >= '0' && next <= '9') || (hex && next >= 0 && (next | 0x20) >= 'a' && (next | 0x20) <= 'f');
    }

    int take_digits(bool hex)
    {
        int count = 0;
        for (; is_digit(hex); count++)
            take();
        return count;
    }

    // False if what was taken is no number, whatever follows.
    bool take_number()
    {
        if (next == '+' || next == '-')
            take();
        if (is('n'))
            return take_word("nan");
        if (is('i'))
            return take_word("inf") && (!is('i') || take_word("inity"));
        bool zero = next == '0' && take();
        bool hex = zero && take_if('x');
        int digits = take_digits(hex) + (zero && !hex);
        if (next == '.')
        {
            take();
            digits += take_digits(hex);
        }
        if (digits == 0)
            return false;
        if (take_if(hex ? 'p' : 'e'))
        {
            if (next == '+' || next == '-')
                take();
            take_digits(false);
        }
        return true;
    }
};

Read read_number(lua_State* L, File* file, Problem* problem)
{
    NumberReader reader = {L, file, problem, {}, peek(L, file, problem)};
    while (reader.next == ' ' || (reader.next >= '\t' && reader.next <= '\r'))
        reader.advance();
    luaL_buffinit(L, &reader.text);
    bool is_number = reader.next >= 0 && reader.take_number();
    if (reader.next == kProblem)
        return Read::problem;
    if (!is_number)
    {
        lua_pushnil(L);
        return Read::end;
    }
    luaL_pushresult(&reader.text);
    double number = strtod(lua_tostring(L, -1), nullptr);
    lua_pop(L, 1);
    lua_pushnumber(L, number);
    return Read::done;
}

} // namespace

Read read_line(lua_State* L, File* file, bool with_break, Problem* problem)
{
    Read begun = begin(L, file, problem);
    if (begun != Read::done)
        return begun;
    const char* line = file->buffer + file->at;
    const char* end = file->buffer + file->end;
    const char* stop = find_break(line, end);
    if (stop < end)
    {
        file->at += uint32_t(stop - line) + 1;
        lua_pushlstring(L, line, size_t(stop - line) + with_break);
        return Read::done;
    }

    luaL_Strbuf text;
    luaL_buffinit(L, &text);
    for (;;)
    {
        luaL_addlstring(&text, line, size_t(stop - line));
        file->at += uint32_t(stop - line);
        if (file->at < file->end)
        {
            file->at++;
            if (with_break)
                luaL_addchar(&text, '\n');
            break;
        }
        int next = peek(L, file, problem);
        if (next == kProblem)
            return Read::problem;
        if (next == kEnd)
            break;
        line = file->buffer + file->at;
        stop = find_break(line, file->buffer + file->end);
    }
    luaL_pushresult(&text);
    return Read::done;
}

Read read_format(lua_State* L, File* file, int format, Problem* problem)
{
    if (lua_type(L, format) == LUA_TNUMBER)
    {
        double count = lua_tonumber(L, format);
        if (!(count >= 0))
            luaL_error(L, "invalid format: %s", luaL_tolstring(L, format, nullptr));
        return read_bytes(L, file, floor(count), problem);
    }
    const char* name = luaL_checkstring(L, format);
    switch (name[*name == '*'])
    {
    case 'l':
        return read_line(L, file, false, problem);
    case 'L':
        return read_line(L, file, true, problem);
    case 'n':
        return read_number(L, file, problem);
    case 'a':
        return read_sized(L, file, UINT64_MAX, problem);
    default:
        luaL_error(L, "invalid format: %s", name);
    }
}
