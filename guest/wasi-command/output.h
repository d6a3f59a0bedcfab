// Buffered output to a standard stream.
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
    // Adds a JSON string. Replaces invalid UTF-8 by U+FFFD.
    void add_string(std::string_view bytes);
    // Adds text from a script for a terminal. Escapes control characters and other characters that could deceive the reader.
    void add_escaped(std::string_view bytes);
    // Returns false if any write to the stream has failed.
    bool flush();

private:
    static constexpr size_t kBlock = 4096;

    Descriptor stream;
    bool is_intact = true;
    size_t size = 0;
    char block[kBlock];
};

// Prints a line from a script for a terminal. A line without characters to escape is written in one call, so that a host can tell lines apart.
void print_line(Descriptor stream, std::string_view text);
