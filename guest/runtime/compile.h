// Compiles Luau source text to bytecode.
#pragma once

#include <string>

// Sets the bytecode. Returns false and sets the message, which starts with the name, if there is a syntax error. Throws when memory runs out.
bool compile_source(const std::string& text, const char* name, std::string& bytecode, std::string& message);
