// Compiles Luau source text to bytecode.
#pragma once

#include <stdint.h>
#include <string>

struct SyntaxError
{
    std::string message; // starts with the name of the text and the line
    uint32_t column = 0; // in characters, from 1
};

// Sets the bytecode. Returns false and sets the error if there is a syntax error. Throws when memory runs out.
bool compile_source(const std::string& text, const char* name, std::string& bytecode, SyntaxError& error);
