#include "runtime/compile.h"
#include "runtime/syntax_hint.h"

#include "Luau/BytecodeBuilder.h"
#include "Luau/Compiler.h"
#include "Luau/Parser.h"

#include <algorithm>

namespace
{

// Compiles a parsed script. The names of locals are kept for error messages. With them, constant locals take registers too, and a script with
// very many of them compiles only without.
std::string compile(const Luau::ParseResult& parsed, Luau::AstNameTable& names)
{
    Luau::CompileOptions options;
    options.optimizationLevel = 2;
    for (options.debugLevel = 2;; options.debugLevel = 1)
    {
        try
        {
            Luau::BytecodeBuilder builder;
            Luau::compileOrThrow(builder, parsed, names, options);
            return builder.getBytecode();
        }
        catch (Luau::CompileError&)
        {
            if (options.debugLevel == 1)
                throw;
        }
    }
}

// Returns the error about the first NUL byte, or an empty text. The parser takes a NUL byte for the end of the text.
std::string find_nul_error(const std::string& text, const char* name)
{
    size_t position = text.find('\0');
    if (position == std::string::npos)
        return {};
    auto line = 1 + std::count(text.begin(), text.begin() + position, '\n');
    size_t line_start = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;
    size_t column = position - line_start + 1;
    return std::string(name) + ":" + std::to_string(line) + ": unexpected NUL byte at column " + std::to_string(column) +
           "; write \\0 in a string instead";
}

} // namespace

bool compile_source(const std::string& text, const char* name, std::string& bytecode, std::string& message)
{
    message = find_nul_error(text, name);
    if (!message.empty())
        return false;
    Luau::Allocator allocator;
    Luau::AstNameTable names(allocator);
    Luau::ParseResult parsed = Luau::Parser::parse(text.data(), text.size(), names, allocator);
    auto fail_at = [&](const Luau::Location& location, const std::string& error, const char* hint)
    {
        message = std::string(name) + ":" + std::to_string(location.begin.line + 1) + ": " + error;
        if (hint)
            message.append("; ").append(hint);
        return false;
    };
    if (!parsed.errors.empty())
    {
        const Luau::ParseError& error = parsed.errors.front();
        return fail_at(error.getLocation(), error.getMessage(), find_syntax_hint(text, error.getLocation(), error.getMessage(), names));
    }
    try
    {
        bytecode = compile(parsed, names);
        return true;
    }
    catch (Luau::CompileError& error)
    {
        return fail_at(error.getLocation(), error.what(), nullptr);
    }
}
