// UTF-8 validation and encoding.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <string_view>

// Returns the length of the UTF-8 sequence at `at`, or 0 if it is invalid. Rejects overlong forms, surrogates and code points above U+10FFFF.
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

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// Returns the length of the invalid sequence at `at` that becomes one replacement character: the longest prefix of a valid sequence.
inline size_t invalid_length(const unsigned char* at, const unsigned char* end)
{
    unsigned char first = at[0];
    size_t whole = (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 1;
    unsigned char lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    size_t length = 1;
    for (; length < whole && at + length < end; length++)
    {
        if (at[length] < lowest || at[length] > highest)
            break;
        lowest = 0x80;
        highest = 0xbf;
    }
    return length;
}

// Returns true if the whole text is valid UTF-8.
inline bool is_utf8(std::string_view text)
{
    const unsigned char* at = reinterpret_cast<const unsigned char*>(text.data());
    for (const unsigned char* end = at + text.size(); at < end;)
    {
        // Most texts are ASCII, of which eight bytes are checked at once.
        uint64_t block;
        while (end - at >= ptrdiff_t(sizeof(block)) && (memcpy(&block, at, sizeof(block)), (block & 0x8080808080808080) == 0))
            at += sizeof(block);
        if (at == end)
            break;
        size_t length = utf8_length(at, end);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

// Encodes a code point into a buffer of at least 4 bytes and returns its length.
inline size_t encode_utf8(uint32_t code, char* out)
{
    size_t size = 0;
    if (code < 0x80)
    {
        out[size++] = char(code);
        return size;
    }
    if (code < 0x800)
        out[size++] = char(0xc0 | code >> 6);
    else
    {
        if (code < 0x10000)
            out[size++] = char(0xe0 | code >> 12);
        else
        {
            out[size++] = char(0xf0 | code >> 18);
            out[size++] = char(0x80 | (code >> 12 & 63));
        }
        out[size++] = char(0x80 | (code >> 6 & 63));
    }
    out[size++] = char(0x80 | (code & 63));
    return size;
}
