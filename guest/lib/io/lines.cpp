#include "lib/io/lines.h"
#include "lib/io/file_userdata.h"
#include "lib/io/read.h"

#include "lualib.h"

namespace
{

// A closure has at most 255 upvalues, and the iterator needs three of them.
constexpr int kMaxFormats = 250;

// The iterator. Its upvalues are the file, whether to close it at the end, the number of formats, and the formats.
int next_line(lua_State* L)
{
    lua_settop(L, 0);
    File* file = to_file(L, lua_upvalueindex(1));
    if (!file->is_open)
        luaL_error(L, "file is already closed");
    IoError error;
    int formats = int(lua_tointeger(L, lua_upvalueindex(3)));
    ReadStatus status = ReadStatus::done;
    if (formats == 0)
        status = read_line(L, file, false, &error);
    luaL_checkstack(L, formats + 4, "too many formats");
    for (int index = 0; index < formats && status == ReadStatus::done; index++)
        status = read_format(L, file, lua_upvalueindex(4 + index), &error);
    if (status == ReadStatus::failed)
        raise_io_error(L, error);
    if (lua_isnil(L, 1) && lua_toboolean(L, lua_upvalueindex(2)) && !file_close(file, &error))
        raise_io_error(L, error);
    return lua_gettop(L);
}

// Pushes an iterator over the file on top of the stack, with the formats from this index up to the file.
int push_iterator(lua_State* L, int first_format, bool closes)
{
    int count = lua_gettop(L) - first_format;
    if (count > kMaxFormats)
        luaL_error(L, "too many formats");
    luaL_checkstack(L, count + 4, "too many formats");
    lua_pushboolean(L, closes);
    lua_pushinteger(L, count);
    for (int index = first_format; index < first_format + count; index++)
    {
        if (lua_type(L, index) != LUA_TNUMBER)
            luaL_checkstring(L, index);
        lua_pushvalue(L, index);
    }
    lua_pushcclosure(L, next_line, "lines", 3 + count);
    return 1;
}

} // namespace

// Always raises errors, as Lua does: a `for` loop cannot handle a returned error.
int io_lines(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    IoError error;
    if (!push_opened_file(L, path, size, TOOLSCRIPT_SANDBOX_IO_MODE_READ, &error))
        raise_io_error(L, error);
    return push_iterator(L, 2, true);
}

int file_lines(lua_State* L)
{
    to_open_file(L, 1);
    lua_pushvalue(L, 1);
    return push_iterator(L, 2, false);
}
