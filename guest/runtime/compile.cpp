#include "runtime/compile.h"
#include "runtime/source_position.h"
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

// Finds the first NUL byte, which is an error: the parser takes it for the end of the text.
bool find_nul_error(const std::string& text, const char* name, SyntaxError& error)
{
    size_t position = text.find('\0');
    if (position == std::string::npos)
        return false;
    auto line = 1 + std::count(text.begin(), text.begin() + position, '\n');
    size_t line_start = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;
    error.column = count_characters(text.data() + line_start, text.data() + position) + 1;
    error.message = std::string(name) + ":" + std::to_string(line) + ": unexpected NUL byte at column " + std::to_string(error.column) +
                    "; write \\0 in a string instead";
    return true;
}

} // namespace

bool compile_source(const std::string& text, const char* name, std::string& bytecode, SyntaxError& error)
{
    if (find_nul_error(text, name, error))
        return false;
    Luau::Allocator allocator;
    Luau::AstNameTable names(allocator);
    Luau::ParseResult parsed = Luau::Parser::parse(text.data(), text.size(), names, allocator);
    auto fail_at = [&](const Luau::Location& location, const std::string& reason, const char* hint)
    {
        error.message = std::string(name) + ":" + std::to_string(location.begin.line + 1) + ": " + reason;
        if (hint)
            error.message.append("; ").append(hint);
        error.column = to_column(text, location.begin);
        return false;
    };
    if (!parsed.errors.empty())
    {
        const Luau::ParseError& first = parsed.errors.front();
        return fail_at(first.getLocation(), first.getMessage(), find_syntax_hint(text, first.getLocation(), first.getMessage(), names));
    }
    try
    {
        bytecode = compile(parsed, names);
        return true;
    }
    catch (Luau::CompileError& failed)
    {
        return fail_at(failed.getLocation(), failed.what(), nullptr);
    }
}
