// A growing text outside the heap of the VM.
#pragma once

#include "ldo.h"

#include <stdlib.h>
#include <string.h>

// Grows by doubling. Raises Luau's memory error if that fails. The destructor also runs when a Luau error unwinds the stack.
struct TextBuffer
{
    lua_State* L;
    char* data = nullptr;
    size_t size = 0;
    size_t capacity = 0;

    explicit TextBuffer(lua_State* L)
        : L(L)
    {
    }

    TextBuffer(const TextBuffer&) = delete;
    TextBuffer& operator=(const TextBuffer&) = delete;

    ~TextBuffer()
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
        // `memcpy` does not allow null, which an empty buffer is.
        if (count == 0)
            return;
        reserve(count);
        memcpy(data + size, from, count);
        size += count;
    }

    void add(const char* string)
    {
        add(string, strlen(string));
    }

    // Pushes the text as a string.
    void push()
    {
        lua_pushlstring(L, data ? data : "", size);
    }
};
