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

// A format such as `%-8.2f`. Luau allows at most two digits for width and precision.
struct Format
{
    bool left = false;
    bool zeros = false;
    char plus = 0; // the sign of positive numbers, if any
    int width = 0;
    int precision = -1;
    const char* conversion = ""; // the rest of the format; empty for the flag `#`

    explicit Format(const char* format)
    {
        const char* at = format + 1;
        for (;; at++)
        {
            if (*at == '-')
                left = true;
            else if (*at == '0')
                zeros = true;
            else if (*at == '+')
                plus = '+';
            else if (*at == ' ' && !plus)
                plus = ' ';
            else if (*at != ' ')
                break;
        }
        if (*at == '#')
            return;
        for (; is_digit(*at); at++)
            width = width * 10 + (*at - '0');
        if (*at == '.')
            for (at++, precision = 0; is_digit(*at); at++)
                precision = precision * 10 + (*at - '0');
        conversion = at;
    }

    // Writes a sign and the rest of a number or text into its field. Returns the length.
    int write(char* text, char sign, const char* rest, int length) const
    {
        int padding = width - length - (sign != 0);
        padding = padding > 0 ? padding : 0;
        char* at = text;
        if (!left && !zeros)
            at = static_cast<char*>(memset(at, ' ', padding)) + padding;
        if (sign)
            *at++ = sign;
        if (!left && zeros)
            at = static_cast<char*>(memset(at, '0', padding)) + padding;
        at = static_cast<char*>(memcpy(at, rest, length)) + length;
        if (left)
            at = static_cast<char*>(memset(at, ' ', padding)) + padding;
        *at = 0;
        return int(at - text);
    }
};

// The longest number: 309 digits, a point and 99 more digits.
constexpr size_t kLongestNumber = 420;

inline int print(char* text, size_t size, const char* format, long long value)
{
    Format parsed(format);
    if (parsed.precision >= 0 || strcmp(parsed.conversion, "lld") != 0)
        return (snprintf)(text, size, format, value);
    char digits[20];
    uint64_t magnitude = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
    return parsed.write(text, value < 0 ? '-' : parsed.plus, digits, int(std::to_chars(digits, digits + sizeof(digits), magnitude).ptr - digits));
}

inline int print(char* text, size_t size, const char* format, unsigned long long value)
{
    Format parsed(format);
    int base = strcmp(parsed.conversion, "llu") == 0 ? 10 : strcmp(parsed.conversion, "llx") == 0 || strcmp(parsed.conversion, "llX") == 0 ? 16 : 0;
    if (parsed.precision >= 0 || base == 0)
        return (snprintf)(text, size, format, value);
    char digits[20];
    int length = int(std::to_chars(digits, digits + sizeof(digits), value, base).ptr - digits);
    if (parsed.conversion[2] == 'X')
        for (int i = 0; i < length; i++)
            digits[i] = char(to_upper(digits[i]));
    return parsed.write(text, 0, digits, length);
}

// Writes a positive number with up to three decimals. The digits are computed exactly with integers and rounded as printf does: to the nearest, and
// to the even one of two.
inline char* write_short_decimal(char* text, double value, int precision)
{
    constexpr uint64_t kScales[] = {1, 10, 100, 1000};
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    // The value is mantissa / 2^shift. The product has at most 63 bits.
    int exponent = int(bits >> 52);
    uint64_t mantissa = exponent ? (bits & 0xfffffffffffff) | 1ull << 52 : bits;
    int shift = 1075 - (exponent ? exponent : 1);
    uint64_t product = mantissa * kScales[precision];
    uint64_t number = 0;
    if (shift == 0)
        number = product;
    else if (shift < 64)
    {
        uint64_t rest = product & ((1ull << shift) - 1);
        uint64_t half = 1ull << (shift - 1);
        number = product >> shift;
        number += rest > half || (rest == half && number & 1);
    }
    uint64_t fraction = number % kScales[precision];
    text = std::to_chars(text, text + 20, number / kScales[precision]).ptr;
    if (precision == 0)
        return text;
    *text = '.';
    for (int i = precision; i > 0; i--, fraction /= 10)
        text[i] = char('0' + fraction % 10);
    return text + precision + 1;
}

inline int print(char* text, size_t size, const char* format, double value)
{
    Format parsed(format);
    char conversion = parsed.conversion[0];
    if (!std::isfinite(value) || (conversion != 'f' && conversion != 'g'))
        return (snprintf)(text, size, format, value);
    char digits[kLongestNumber];
    char* end;
    double magnitude = fabs(value);
    int precision = parsed.precision < 0 ? 6 : parsed.precision;
    if (conversion == 'f' && precision <= 3 && magnitude < 0x1p53)
        end = write_short_decimal(digits, magnitude, precision);
    else
    {
        auto style = conversion == 'f' ? std::chars_format::fixed : std::chars_format::general;
        end = std::to_chars(digits, digits + sizeof(digits), magnitude, style, precision).ptr;
    }
    return parsed.write(text, std::signbit(value) ? '-' : parsed.plus, digits, int(end - digits));
}

inline int print(char* text, size_t size, const char* format, const char* value)
{
    Format parsed(format);
    if (parsed.zeros || parsed.plus || parsed.conversion[0] != 's')
        return (snprintf)(text, size, format, value);
    size_t length = strlen(value);
    // The buffer of the string library is smaller than some strings with a precision.
    if (parsed.precision >= 0 && size_t(parsed.precision) < length)
        length = parsed.precision;
    return parsed.write(text, 0, value, int(length));
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
