// The fast paths for formatting and parsing of numbers, compared with the C library.
#include "input.h"

#include "libc/fast_paths.h"
#undef snprintf
#undef strtod

#define strtoull guest_strtoull
#include "libc/strtoull.cpp"
#undef strtoull

#include <cmath>
#include <string>

namespace
{

// The size of the buffers in the string library of Luau.
constexpr size_t kBuffer = 512;

// As Luau checks them: at most two digits for width and precision.
std::string take_format(Input& input, const char* conversions)
{
    uint8_t parts = input.take<uint8_t>();
    uint8_t width = input.take<uint8_t>();
    uint8_t precision = input.take<uint8_t>();
    std::string format = "%";
    if (parts & 1)
        format += "-+ #0"[width % 5];
    if (parts & 2)
        format += std::to_string(width % 100);
    if (parts & 4)
        format += "." + std::to_string(precision % 100);
    if (parts & 8)
        format += ".";
    return format + conversions[parts / 16 % strlen(conversions)];
}

template <typename Value> void compare_formatted(const std::string& format, Value value)
{
    char actual[kBuffer];
    char expected[kBuffer];
    int actual_length = fast::print(actual, kBuffer, format.c_str(), value);
    int expected_length = snprintf(expected, kBuffer, format.c_str(), value);
    CHECK(actual_length == expected_length);
    CHECK(strcmp(actual, expected) == 0);
}

void format_number(Input& input)
{
    std::string format = take_format(input, "fgeEGa");
    uint64_t bits = input.take<uint64_t>();
    double value;
    memcpy(&value, &bits, sizeof(value));
    // `%a.b` is not a format: a dot follows a precision.
    if (format.find('.') == format.rfind('.'))
        compare_formatted(format, value);
}

void format_integer(Input& input)
{
    std::string format = take_format(input, "duxXo");
    if (format.find('.') != format.rfind('.'))
        return;
    format.insert(format.size() - 1, "ll");
    uint64_t value = input.take<uint64_t>();
    if (format.back() == 'd')
        compare_formatted(format, static_cast<long long>(value));
    else
        compare_formatted(format, static_cast<unsigned long long>(value));
}

void parse_number(Input& input)
{
    std::string text(input.take_rest());
    char* actual_end = nullptr;
    char* expected_end = nullptr;
    double actual = fast::read_double(text.c_str(), &actual_end);
    double expected = strtod(text.c_str(), &expected_end);
    CHECK(actual_end == expected_end);
    CHECK(memcmp(&actual, &expected, sizeof(actual)) == 0 || (std::isnan(actual) && std::isnan(expected)));
}

void parse_integer(Input& input)
{
    int base = input.take<uint8_t>() % 37;
    std::string text(input.take_rest());
    // Newer versions of C also have binary numbers, with the prefix `0b`.
    if (base == 1 || ((base == 0 || base == 2) && text.find_first_of("bB") != std::string::npos))
        return;
    char* actual_end = nullptr;
    char* expected_end = nullptr;
    unsigned long long actual = guest_strtoull(text.c_str(), &actual_end, base);
    unsigned long long expected = strtoull(text.c_str(), &expected_end, base);
    CHECK(actual == expected);
    CHECK(actual_end == expected_end);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Input input(data, size);
    switch (input.take<uint8_t>() % 4)
    {
    case 0:
        format_number(input);
        break;
    case 1:
        format_integer(input);
        break;
    case 2:
        parse_number(input);
        break;
    default:
        parse_integer(input);
    }
    return 0;
}
