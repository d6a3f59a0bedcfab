// Decodes bytes as UTF-8 and replaces invalid sequences by U+FFFD.
#pragma once

#include "runtime/utf8.h"

#include <string_view>

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

// Removes the first character from the text and returns it, or the replacement character.
inline std::string_view next_character(std::string_view* rest)
{
    const unsigned char* at = reinterpret_cast<const unsigned char*>(rest->data());
    const unsigned char* end = at + rest->size();
    size_t length = utf8_length(at, end);
    std::string_view character = length ? rest->substr(0, length) : kReplacementCharacter;
    rest->remove_prefix(length ? length : invalid_length(at, end));
    return character;
}

// Returns the code point of a valid character.
inline uint32_t code_point_of(std::string_view character)
{
    uint32_t code = uint8_t(character[0]);
    if (character.size() > 1)
        code &= 0x7f >> character.size();
    for (char byte : character.substr(1))
        code = code << 6 | (byte & 0x3f);
    return code;
}

// Returns true for the control characters of ASCII and Latin-1.
inline bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}
