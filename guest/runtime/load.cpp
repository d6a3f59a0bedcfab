#include "runtime/load.h"
#include "runtime/compile.h"
#include "runtime/failure.h"
#include "runtime/utf8.h"

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
    uint32_t column = 1;
    for (const uint8_t *at = text, *end = text + size; at < end;)
    {
        size_t length = utf8_length(at, end);
        if (length == 0)
        {
            char message[64];
            int message_size = snprintf(message, sizeof(message), "script:%d: the script is not UTF-8", line);
            return fail_with_syntax_error(failure, message, message_size, column);
        }
        bool ends_line = *at == '\n';
        line += ends_line;
        column = ends_line ? 1 : column + 1;
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

bool compile_and_load(lua_State* thread, const uint8_t* script, size_t size, guest_failure_t* failure)
{
    std::string bytecode;
    try
    {
        SyntaxError error;
        if (!compile_source(std::string(reinterpret_cast<const char*>(script), size), "script", bytecode, error))
            return fail_with_syntax_error(failure, error.message.data(), error.message.size(), error.column);
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
