// Reads the bytes of an input. After the end, all values are 0.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string_view>

struct Input
{
    const uint8_t* at;
    const uint8_t* end;

    Input(const uint8_t* data, size_t size)
        : at(data)
        , end(data + size)
    {
    }

    bool is_at_end() const
    {
        return at == end;
    }

    template <typename Integer> Integer take()
    {
        Integer value = 0;
        size_t size = size_t(end - at) < sizeof(value) ? size_t(end - at) : sizeof(value);
        memcpy(&value, at, size);
        at += size;
        return value;
    }

    // A text whose length is in the byte before it.
    std::string_view take_text()
    {
        size_t size = take<uint8_t>();
        size = size_t(end - at) < size ? size_t(end - at) : size;
        std::string_view text(reinterpret_cast<const char*>(at), size);
        at += size;
        return text;
    }

    std::string_view take_rest()
    {
        std::string_view text(reinterpret_cast<const char*>(at), size_t(end - at));
        at = end;
        return text;
    }
};

// Ends the process with a message, which libFuzzer reports as a finding.
#define CHECK(condition)                                                                                                                             \
    do                                                                                                                                               \
    {                                                                                                                                                \
        if (!(condition))                                                                                                                            \
        {                                                                                                                                            \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);                                                            \
            abort();                                                                                                                                 \
        }                                                                                                                                            \
    } while (false)
