// Bytes as text: characters of UTF-8, with U+FFFD in place of what is not.
#pragma once

#include "lib/json/text_buffer.h"

#include <string_view>

inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// How many bytes at `at`, where no character is, are shown as one replacement: as many as could have begun one.
inline size_t broken_length(const unsigned char* at, const unsigned char* end)
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

// Takes the first character off the text.
inline std::string_view next_character(std::string_view* rest)
{
    const unsigned char* at = reinterpret_cast<const unsigned char*>(rest->data());
    const unsigned char* end = at + rest->size();
    size_t length = utf8_length(at, end);
    std::string_view character = length ? rest->substr(0, length) : kReplacement;
    rest->remove_prefix(length ? length : broken_length(at, end));
    return character;
}

inline uint32_t code_of(std::string_view character)
{
    uint32_t code = uint8_t(character[0]);
    if (character.size() > 1)
        code &= 0x7f >> character.size();
    for (char byte : character.substr(1))
        code = code << 6 | (byte & 0x3f);
    return code;
}

inline bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}
