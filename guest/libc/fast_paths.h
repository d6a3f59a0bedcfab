// Faster versions of C library functions for the common cases of Luau's string library. The C library handles all other cases.
//
// The build includes this header before `lstrlib.cpp` and `lobject.cpp`. wasi-libc formats and parses doubles with 128-bit software floats, and
// its character classes are function calls: formatting was twice as slow as native code, pattern matching even slower.
#pragma once

#include "lib/check_string.h"

#include <charconv>
#include <cmath>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>

namespace fast
{

// The character classes of the C locale, the only one that the guest has.
inline int is_digit(int c)
{
    return unsigned(c) - '0' < 10;
}
inline int is_lower(int c)
{
    return unsigned(c) - 'a' < 26;
}
inline int is_upper(int c)
{
    return unsigned(c) - 'A' < 26;
}
inline int is_alpha(int c)
{
    return (unsigned(c) | 32) - 'a' < 26;
}
inline int is_alnum(int c)
{
    return is_alpha(c) || is_digit(c);
}
inline int is_space(int c)
{
    return c == ' ' || unsigned(c) - '\t' < 5;
}
inline int is_cntrl(int c)
{
    return unsigned(c) < 0x20 || c == 0x7f;
}
inline int is_punct(int c)
{
    return unsigned(c) - 0x21 < 0x5e && !is_alnum(c);
}
inline int is_xdigit(int c)
{
    return is_digit(c) || (unsigned(c) | 32) - 'a' < 6;
}
inline int to_lower(int c)
{
    return is_upper(c) ? c | 32 : c;
}
inline int to_upper(int c)
{
    return is_lower(c) ? c & 0x5f : c;
}

// A format such as `%8.2f`, without flags. Luau allows at most two digits for width and precision.
struct Format
{
    int width = 0;
    int precision = -1;
    const char* conversion = nullptr; // the rest of the format; null for the flag `0`, no known conversion for other flags

    explicit Format(const char* format)
    {
        const char* at = format + 1;
        if (*at == '0')
            return;
        for (; is_digit(*at); at++)
            width = width * 10 + (*at - '0');
        if (*at == '.')
            for (at++, precision = 0; is_digit(*at); at++)
                precision = precision * 10 + (*at - '0');
        conversion = at;
    }
};

// Aligns the text to the right of its field and terminates it.
inline int pad(char* text, int length, int width)
{
    if (length < width)
    {
        memmove(text + (width - length), text, length);
        memset(text, ' ', width - length);
        length = width;
    }
    text[length] = 0;
    return length;
}

// Bytes reserved for the padding and the terminator. The buffers of the string library have 512 bytes.
constexpr size_t kReserve = 128;

template <typename Integer> int print_integer(char* text, size_t size, const char* format, Integer value, const char* conversion)
{
    Format parsed(format);
    if (!parsed.conversion || parsed.precision >= 0 || strcmp(parsed.conversion, conversion) != 0)
        return (snprintf)(text, size, format, value);
    return pad(text, int(std::to_chars(text, text + size - kReserve, value).ptr - text), parsed.width);
}

inline int print(char* text, size_t size, const char* format, long long value)
{
    return print_integer(text, size, format, value, "lld");
}

inline int print(char* text, size_t size, const char* format, unsigned long long value)
{
    return print_integer(text, size, format, value, "llu");
}

inline int print(char* text, size_t size, const char* format, double value)
{
    Format parsed(format);
    bool fixed = parsed.conversion && parsed.conversion[0] == 'f';
    bool general = parsed.conversion && parsed.conversion[0] == 'g';
    if (std::isfinite(value) && (fixed || general))
    {
        auto chars_format = fixed ? std::chars_format::fixed : std::chars_format::general;
        auto [end, error] = std::to_chars(text, text + size - kReserve, value, chars_format, parsed.precision < 0 ? 6 : parsed.precision);
        if (error == std::errc())
            return pad(text, int(end - text), parsed.width);
    }
    return (snprintf)(text, size, format, value);
}

template <typename Value> int print(char* text, size_t size, const char* format, Value value)
{
    return (snprintf)(text, size, format, value);
}

// Formats an argument of `string.format`. A width or a precision needs a C string, so a string with a NUL byte would be truncated.
template <typename Value> int print_argument(lua_State* L, int index, char* text, size_t size, const char* format, Value value)
{
    if constexpr (std::is_same_v<Value, const char*>)
        if (strlen(value) < size_t(lua_objlen(L, index)))
            luaL_argerror(L, index, "string contains NUL bytes");
    return print(text, size, format, value);
}

// The powers of ten that a double represents exactly.
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Parses plain decimals of up to 15 digits. Both the digits and the power of ten are exact, so one rounding gives the nearest double.
inline double read_double(const char* text, char** end)
{
    const char* at = text;
    while (is_space(static_cast<unsigned char>(*at)))
        at++;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    uint64_t digits = 0;
    int count = 0;
    int fraction = 0;
    for (; is_digit(*at); at++, count++)
        digits = digits * 10 + (*at - '0');
    if (*at == '.')
        for (at++; is_digit(*at); at++, count++, fraction++)
            digits = digits * 10 + (*at - '0');
    if (count == 0 || count > 15 || (*at | 32) == 'e' || (*at | 32) == 'x')
        return (strtod)(text, end);
    *end = const_cast<char*>(at);
    double value = double(digits) / kPowersOfTen[fraction];
    return negative ? -value : value;
}

} // namespace fast

#undef isdigit
#undef islower
#undef isupper
#undef isalpha
#undef isalnum
#undef isspace
#undef iscntrl
#undef ispunct
#undef isxdigit
#undef tolower
#undef toupper
#define isdigit(c) fast::is_digit(c)
#define islower(c) fast::is_lower(c)
#define isupper(c) fast::is_upper(c)
#define isalpha(c) fast::is_alpha(c)
#define isalnum(c) fast::is_alnum(c)
#define isspace(c) fast::is_space(c)
#define iscntrl(c) fast::is_cntrl(c)
#define ispunct(c) fast::is_punct(c)
#define isxdigit(c) fast::is_xdigit(c)
#define tolower(c) fast::to_lower(c)
#define toupper(c) fast::to_upper(c)
// `L` and `arg` are local variables of `str_format`, the only function that calls it.
#define snprintf(text, size, ...) fast::print_argument(L, arg, text, size, __VA_ARGS__)
#define strtod(text, end) fast::read_double(text, end)
#define luaL_checklstring(L, index, size) check_string(L, index, size)
