// A growing text, for the JSON files, and the rules of UTF-8.
#pragma once

#include "runtime/bindings.h"

#include "ldo.h"

#include <stdlib.h>
#include <string.h>
#include <string_view>

// Grows by doubling; raises Luau's own memory error when there is no more, and is freed when an error passes through.
struct Text
{
    lua_State* L;
    char* data = nullptr;
    size_t size = 0;
    size_t capacity = 0;

    explicit Text(lua_State* L)
        : L(L)
    {
    }

    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    ~Text()
    {
        free(data);
    }

    void reserve(size_t more)
    {
        if (capacity - size >= more)
            return;
        size_t wanted = size + more > capacity * 2 ? size + more : capacity * 2;
        wanted = wanted < 256 ? 256 : wanted;
        char* grown = more <= SIZE_MAX / 4 ? static_cast<char*>(realloc(data, wanted)) : nullptr;
        if (!grown)
            luaD_throw(L, LUA_ERRMEM);
        data = grown;
        capacity = wanted;
    }

    void add(char character)
    {
        if (size == capacity)
            reserve(1);
        data[size++] = character;
    }

    void add(const char* from, size_t count)
    {
        reserve(count);
        memcpy(data + size, from, count);
        size += count;
    }

    void add(const char* string)
    {
        add(string, strlen(string));
    }

    void push()
    {
        lua_pushlstring(L, data ? data : "", size);
    }
};

// How many bytes the UTF-8 sequence at `at` has, or 0 if there is none: no overlong forms, no surrogates, nothing past U+10FFFF.
inline size_t utf8_length(const unsigned char* at, const unsigned char* end)
{
    unsigned char first = at[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xc2 && first < 0xe0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    if (length == 0 || size_t(end - at) < length)
        return 0;
    for (size_t index = 1; index < length; index++)
        if ((at[index] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) || (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

inline bool is_utf8(std::string_view text)
{
    const unsigned char* at = reinterpret_cast<const unsigned char*>(text.data());
    for (const unsigned char* end = at + text.size(); at < end;)
    {
        size_t length = utf8_length(at, end);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}
