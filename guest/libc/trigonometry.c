// sin, cos and tan of musl, in one file so that the compiler inlines their parts. They replace those of Zig, which are slower.

#include "__cos.c"
#include "__rem_pio2.c"
#include "__rem_pio2_large.c"
#include "__sin.c"
// Both files have a constant of this name.
#define pio4 tan_pio4
#include "__tan.c"
#undef pio4

// Half of the range of the polynomials, pi / 4, as the upper half of a double.
#define PI_4 0x3fe921fb

static uint32_t magnitude(double x)
{
    return asuint64(x) >> 32 & 0x7fffffff;
}

double sin(double x)
{
    double y[2];
    uint32_t size = magnitude(x);
    if (size <= PI_4)
        return size < 0x3e500000 ? x : __sin(x, 0.0, 0);
    if (size >= 0x7ff00000)
        return x - x;
    switch (__rem_pio2(x, y) & 3)
    {
    case 0:
        return __sin(y[0], y[1], 1);
    case 1:
        return __cos(y[0], y[1]);
    case 2:
        return -__sin(y[0], y[1], 1);
    default:
        return -__cos(y[0], y[1]);
    }
}

double cos(double x)
{
    double y[2];
    uint32_t size = magnitude(x);
    if (size <= PI_4)
        return size < 0x3e46a09e ? 1.0 : __cos(x, 0.0);
    if (size >= 0x7ff00000)
        return x - x;
    switch (__rem_pio2(x, y) & 3)
    {
    case 0:
        return __cos(y[0], y[1]);
    case 1:
        return -__sin(y[0], y[1], 1);
    case 2:
        return -__cos(y[0], y[1]);
    default:
        return __sin(y[0], y[1], 1);
    }
}

double tan(double x)
{
    double y[2];
    uint32_t size = magnitude(x);
    if (size <= PI_4)
        return size < 0x3e400000 ? x : __tan(x, 0.0, 0);
    if (size >= 0x7ff00000)
        return x - x;
    int quadrant = __rem_pio2(x, y);
    return __tan(y[0], y[1], quadrant & 1);
}
