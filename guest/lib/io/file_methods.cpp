#include "lib/io/file_methods.h"
#include "lib/check_string.h"
#include "lib/io/file_userdata.h"
#include "lib/io/lines.h"
#include "lib/io/read.h"
#include "lib/io/unavailable.h"

#include "lnumutils.h"
#include "lualib.h"

#include <math.h>
#include <string.h>

namespace
{

// A double holds every integer up to 2^53.
constexpr double kMaxOffset = 9007199254740992.0;

int file_read_method(lua_State* L)
{
    File* file = to_open_file(L, 1);
    int top = lua_gettop(L);
    IoError error;
    ReadStatus status = ReadStatus::done;
    if (top == 1)
        status = read_line(L, file, false, &error);
    luaL_checkstack(L, top + 4, "too many formats");
    for (int format = 2; format <= top && status == ReadStatus::done; format++)
        status = read_format(L, file, format, &error);
    return status == ReadStatus::failed ? raise_or_return_io_error(L, error) : lua_gettop(L) - top;
}

int file_write_method(lua_State* L)
{
    File* file = to_open_file(L, 1);
    int top = lua_gettop(L);
    for (int index = 2; index <= top; index++)
    {
        char digits[LUAI_MAXNUM2STR];
        const char* text = digits;
        size_t size = 0;
        int type = lua_type(L, index);
        if (type == LUA_TNUMBER)
            size = size_t(luai_num2str(digits, lua_tonumber(L, index)) - digits);
        else if (type == LUA_TINTEGER)
            text = luaL_tolstring(L, index, &size);
        else
            text = check_string(L, index, &size);
        IoError error;
        if (!file_write(file, text, size, &error))
            return raise_or_return_io_error(L, error);
    }
    lua_pushvalue(L, 1);
    return 1;
}

int file_seek_method(lua_State* L)
{
    File* file = to_open_file(L, 1);
    const char* name = luaL_optstring(L, 2, "cur");
    double offset = luaL_optnumber(L, 3, 0);
    Whence whence = TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT;
    if (strcmp(name, "set") == 0)
        whence = TOOLSCRIPT_SANDBOX_IO_WHENCE_START;
    else if (strcmp(name, "end") == 0)
        whence = TOOLSCRIPT_SANDBOX_IO_WHENCE_END;
    else if (strcmp(name, "cur") != 0)
        luaL_error(L, "invalid whence: %s", name);
    if (!(fabs(offset) <= kMaxOffset))
        luaL_error(L, "invalid offset: %s", luaL_tolstring(L, 3, nullptr));
    uint64_t position;
    IoError error;
    if (!file_seek(file, whence, int64_t(offset), &position, &error))
        return raise_or_return_io_error(L, error);
    lua_pushnumber(L, double(position));
    return 1;
}

int file_flush_method(lua_State* L)
{
    IoError error;
    if (!file_flush(to_open_file(L, 1), &error))
        return raise_or_return_io_error(L, error);
    lua_pushvalue(L, 1);
    return 1;
}

constexpr luaL_Reg kMethods[] = {
    {"read", file_read_method},   {"write", file_write_method}, {"lines", file_lines}, {"seek", file_seek_method},
    {"flush", file_flush_method}, {"close", file_close_method}, {nullptr, nullptr},
};

} // namespace

int file_close_method(lua_State* L)
{
    IoError error;
    if (!file_close(to_open_file(L, 1), &error))
        return raise_or_return_io_error(L, error);
    lua_pushboolean(L, true);
    return 1;
}

void push_file_methods(lua_State* L)
{
    lua_newtable(L);
    luaL_register(L, nullptr, kMethods);
    push_unavailable_function(L, "file:setvbuf", "");
    lua_setfield(L, -2, "setvbuf");
}
