#include "lib/io/error.h"

#include "lualib.h"

#include <stdlib.h>
#include <string.h>

char io_message[kMaxMessage];
bool io_returns_system_errors = false;

namespace
{

IoError generic_error = {TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED, 5, "Input/output error", 18};

// Copies the text first: pushing it may start a collection, which closes files, and their errors would overwrite it.
void push_text(lua_State* L, const IoError& error)
{
    char text[kMaxMessage];
    size_t size = error.size < kMaxMessage ? error.size : kMaxMessage;
    memcpy(text, error.text, size);
    lua_pushlstring(L, text, size);
}

} // namespace

IoError to_io_error(const toolscript_sandbox_io_error_t& error)
{
    bool is_system_error = error.tag == TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED;
    const guest_string_t& text = is_system_error ? error.val.refused.message : error.val.limit;
    return {error.tag, is_system_error ? error.val.refused.number : 0, reinterpret_cast<char*>(text.ptr), text.len};
}

IoError* save_io_error(const IoError& error)
{
    IoError* saved = static_cast<IoError*>(malloc(sizeof(IoError) + error.size));
    if (!saved)
        return &generic_error;
    char* text = reinterpret_cast<char*>(saved + 1);
    memcpy(text, error.text, error.size);
    *saved = {error.kind, error.number, text, error.size};
    return saved;
}

void restore_io_error(IoError* saved, IoError* error)
{
    *error = *saved;
    error->size = saved->size < kMaxMessage ? saved->size : kMaxMessage;
    error->text = static_cast<char*>(memcpy(io_message, saved->text, error->size));
    if (saved != &generic_error)
        free(saved);
}

void raise_io_error(lua_State* L, const IoError& error, const char* hint)
{
    push_text(L, error);
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_pushstring(L, hint);
    lua_concat(L, 3);
    lua_error(L);
}

int raise_or_return_io_error(lua_State* L, const IoError& error)
{
    if (!io_returns_system_errors || error.kind != TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED)
        raise_io_error(L, error);
    push_text(L, error);
    lua_pushnil(L);
    lua_insert(L, -2);
    lua_pushinteger(L, error.number);
    return 3;
}
