#include "runtime/load.h"
#include "runtime/failure.h"
#include "runtime/syntax_hint.h"
#include "runtime/utf8.h"

#include "Luau/BytecodeBuilder.h"
#include "Luau/Compiler.h"
#include "Luau/Parser.h"
#include "ldebug.h"
#include "lualib.h"

#include <exception>
#include <stdio.h>
#include <string.h>
#include <string>

namespace
{

// Rejects bytecode of Luau and Lua, and text that is not UTF-8.
bool check_text(const uint8_t* text, size_t size, guest_failure_t* failure)
{
    if (size > 0 && (text[0] < '\t' || text[0] == 0x1b))
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, "script:1: the script is bytecode or other binary data, not Luau source text");
    if (is_utf8({reinterpret_cast<const char*>(text), size}))
        return true;
    int line = 1;
    for (const uint8_t *at = text, *end = text + size; at < end;)
    {
        size_t length = utf8_length(at, end);
        if (length == 0)
        {
            char message[64];
            int message_size = snprintf(message, sizeof(message), "script:%d: the script is not UTF-8", line);
            return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message, message_size);
        }
        line += *at == '\n';
        at += length;
    }
    return true;
}

// Skips a byte order mark and turns a `#!` line into a comment.
void skip_prefix(uint8_t*& text, size_t& size)
{
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    {
        text += 3;
        size -= 3;
    }
    if (size >= 2 && memcmp(text, "#!", 2) == 0)
        memcpy(text, "--", 2);
}

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

// Sets the bytecode, or the message of a syntax error. Throws when memory runs out.
bool compile(const std::string& text, std::string& bytecode, std::string& message)
{
    Luau::Allocator allocator;
    Luau::AstNameTable names(allocator);
    Luau::ParseResult parsed = Luau::Parser::parse(text.data(), text.size(), names, allocator);
    auto fail_at = [&](const Luau::Location& location, const std::string& error, const char* hint)
    {
        message = "script:" + std::to_string(location.begin.line + 1) + ": " + error;
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

bool compile_and_load(lua_State* thread, const uint8_t* script, size_t size, guest_failure_t* failure)
{
    std::string bytecode;
    try
    {
        std::string message;
        if (!compile(std::string(reinterpret_cast<const char*>(script), size), bytecode, message))
            return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message.data(), message.size());
    }
    catch (std::exception&)
    {
        return fail_out_of_memory(failure);
    }
    if (luau_load(thread, "=script", bytecode.data(), bytecode.size(), 0) == 0)
        return true;
    size_t message_size = 0;
    const char* message = lua_tolstring(thread, -1, &message_size);
    if (message && strcmp(message, LUA_MEMERRMSG) == 0)
        return fail_out_of_memory(failure);
    return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message ? message : "", message_size);
}

} // namespace

bool load_script(lua_State* thread, const guest_list_u8_t& text, guest_failure_t* failure)
{
    uint8_t* script = text.ptr;
    size_t size = text.len;
    skip_prefix(script, size);
    return check_text(script, size, failure) && compile_and_load(thread, script, size, failure);
}
