#include "runtime/compile.h"
#include "runtime/syntax_hint.h"

#include "Luau/BytecodeBuilder.h"
#include "Luau/Compiler.h"
#include "Luau/Parser.h"

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

} // namespace

bool compile_source(const std::string& text, const char* name, std::string& bytecode, std::string& message)
{
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
