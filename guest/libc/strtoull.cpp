// Replaces the `strtoull` of Zig's C library, which stops in the middle of a number that overflows. C requires it to consume all digits.
#include "libc/fast_paths.h"

#include <errno.h>
#include <limits.h>

extern "C" unsigned long long strtoull(const char* text, char** end, int base)
{
    const char* at = text;
    while (fast::is_space(static_cast<unsigned char>(*at)))
        at++;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    bool prefixed = at[0] == '0' && (at[1] | 32) == 'x' && fast::is_xdigit(static_cast<unsigned char>(at[2]));
    if ((base == 0 || base == 16) && prefixed)
        at += 2;
    if (base == 0)
        base = prefixed ? 16 : *at == '0' ? 8 : 10;

    unsigned long long value = 0;
    bool overflow = false;
    const char* digits = at;
    for (;; at++)
    {
        int letter = static_cast<unsigned char>(*at);
        int digit = fast::is_digit(letter) ? letter - '0' : fast::is_alpha(letter) ? (letter | 32) - 'a' + 10 : 36;
        if (digit >= base)
            break;
        overflow |= __builtin_mul_overflow(value, static_cast<unsigned long long>(base), &value);
        overflow |= __builtin_add_overflow(value, static_cast<unsigned long long>(digit), &value);
    }
    if (end)
        *end = const_cast<char*>(at == digits ? text : at);
    if (overflow)
    {
        errno = ERANGE;
        return ULLONG_MAX;
    }
    return negative ? 0 - value : value;
}
