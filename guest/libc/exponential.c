// exp and logarithms. They replace those of Zig, which are up to one unit in the last place off: math.exp(1) was not math.e.
//
// The function pow of musl computes exp(y * log(x)) with inner functions that are more precise than a double. They are all that is needed.

// The library has the same function.
#define pow unused_pow
#include "pow.c"

double exp(double x)
{
    return x != x ? x : exp_inline(x, 0.0, 0);
}

// Returns the logarithm of a positive finite number as the sum of two numbers.
static double log_parts(double x, double* tail)
{
    uint64_t bits = asuint64(x);
    // Subnormal numbers are scaled, and the exponent is corrected.
    if (bits < 0x0010000000000000)
        bits = asuint64(x * 0x1p52) - (52ULL << 52);
    return log_inline(bits, tail);
}

// Returns whether the logarithm is special, and what it is.
static int is_special(double x, double* result)
{
    // Positive finite numbers.
    if (asuint64(x) - 1 < 0x7fefffffffffffff)
        return 0;
    if (x == 0.0)
        *result = -INFINITY;
    else if (x < 0.0)
        *result = NAN;
    else
        *result = x;
    return 1;
}

double log(double x)
{
    double result, tail;
    if (is_special(x, &result))
        return result;
    return log_parts(x, &tail) + tail;
}

// Multiplies the logarithm by a constant that is the sum of two numbers. The first one has 21 bits, like the upper half of a double,
// so that their product is exact.
static double scaled_log(double x, double factor, double rest)
{
    double result, tail;
    if (is_special(x, &result))
        return result;
    double head = log_parts(x, &tail);
    double high = asdouble(asuint64(head) & -1ULL << 32);
    double low = head - high + tail;
    return high * factor + (low * factor + head * rest);
}

double log2(double x)
{
    return scaled_log(x, 0x1.71547p0, 0x1.94ae0bf85ddf4p-22);
}

double log10(double x)
{
    return scaled_log(x, 0x1.bcb7bp-2, 0x1.526e50e32a6abp-26);
}
