// Decodes bytes as UTF-8 and replaces invalid sequences by U+FFFD.
#pragma once

#include "runtime/utf8.h"

#include <string_view>

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
