// Writes strings as JSON.
#pragma once

#include "lib/json/text_buffer.h"
#include "runtime/utf8.h"

// Appends a string with quotes and escapes. Calls `on_invalid` for each sequence that is not UTF-8.
template <typename OnInvalid> void add_json_string(TextBuffer& text, const char* bytes, size_t size, OnInvalid on_invalid)
{
    static const char kHex[] = "0123456789abcdef";
    const unsigned char* at = reinterpret_cast<const unsigned char*>(bytes);
    const unsigned char* end = at + size;
    text.reserve(size + 2);
    text.add('"');
    while (at < end)
    {
        const unsigned char* plain = at;
        while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
            at++;
        text.add(reinterpret_cast<const char*>(plain), at - plain);
        if (at == end)
            break;
        if (*at >= 0x80)
        {
            size_t length = utf8_length(at, end);
            if (length == 0)
                on_invalid();
            else
                text.add(reinterpret_cast<const char*>(at), length);
            at += length ? length : invalid_length(at, end);
            continue;
        }
        char escape = *at == '"' || *at == '\\' ? char(*at) : *at == '\n' ? 'n' : *at == '\r' ? 'r' : *at == '\t' ? 't' : 0;
        text.add('\\');
        if (escape)
            text.add(escape);
        else
        {
            text.add("u00", 3);
            text.add(kHex[*at >> 4]);
            text.add(kHex[*at & 15]);
        }
        at++;
    }
    text.add('"');
}
