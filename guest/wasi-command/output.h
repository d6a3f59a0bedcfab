// A standard stream, written in blocks.
#pragma once

#include "wasi-command/preview1.h"

#include <string_view>

constexpr Descriptor kStandardInput = 0;
constexpr Descriptor kStandardOutput = 1;
constexpr Descriptor kStandardError = 2;

class Output
{
public:
    explicit Output(Descriptor stream)
        : stream(stream)
    {
    }

    ~Output()
    {
        flush();
    }

    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void add(std::string_view text);
    void add_number(uint64_t number);
    // A string of JSON. What is not UTF-8 is shown as U+FFFD.
    void add_string(std::string_view bytes);
    // Text of a script's that a terminal may show: what could harm one is written as an escape.
    void add_harmless(std::string_view bytes);
    // False if some of what was added could not be written.
    bool flush();

private:
    static constexpr size_t kBlock = 4096;

    Descriptor stream;
    bool intact = true;
    size_t size = 0;
    char block[kBlock];
};

// Prints a line of a script's for a terminal: in one go where it holds nothing harmful, so that a host can tell lines apart.
void print_line(Descriptor stream, std::string_view text);
