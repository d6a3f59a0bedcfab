// Hints for syntax that other Luas or other languages have.
#pragma once

#include "Luau/Lexer.h"

#include <string>

// Returns how to write in Luau what caused a syntax error, or null if that is not certain. Reads the tokens at the location of the error, so that
// text in strings and comments has no effect.
const char* find_syntax_hint(const std::string& text, const Luau::Location& error, const std::string& message, Luau::AstNameTable& names);
