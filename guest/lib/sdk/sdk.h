// What the two halves of `sdk` share.
#pragma once

#include "runtime/bindings.h"
#include "lib/json/text_buffer.h"

// Bytes that the host may answer with.
extern size_t sdk_answer_room;

inline unprepared_string_t sdk_string(const char* text, size_t size)
{
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(text)), size};
}

// A text of the host's; freed also when an error passes through.
struct SdkText
{
    unprepared_string_t text = {};

    SdkText() = default;

    ~SdkText()
    {
        unprepared_string_free(&text);
    }

    SdkText(const SdkText&) = delete;
    SdkText& operator=(const SdkText&) = delete;
};

// sdk_call.cpp: the function of the host's that the first upvalue names, and `sdk.all`, `sdk.docs` and `sdk.search`.
int sdk_call(lua_State* L);
int sdk_call_all(lua_State* L);
int sdk_docs(lua_State* L);
int sdk_search(lua_State* L);

// Raises a text of the host's, with the place of the call.
[[noreturn]] void sdk_raise(lua_State* L, const unprepared_string_t& text);

// The text at an index; raises if it can't cross: it must be UTF-8 there.
unprepared_string_t sdk_checked_text(lua_State* L, int index);
