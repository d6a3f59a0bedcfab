#include "lib/io/file_methods.h"

#include "lib/io/read.h"
#include "lnumutils.h"

#include <math.h>
#include <string.h>

bool returns_refusals = false;

namespace
{

// Of `lines`: a closure has at most 255 values, three of which are ours.
constexpr int kMostFormats = 250;

// Pushes the text of a problem. It may lie where a collection, which closes files, would put another.
void push_text(lua_State* L, const Problem& problem)
{
    char text[kMessage];
    size_t size = problem.size < kMessage ? problem.size : kMessage;
    memcpy(text, problem.text, size);
    lua_pushlstring(L, text, size);
}

File* to_file(lua_State* L, int index)
{
    File* file = static_cast<File*>(lua_touserdatatagged(L, index, kFileTag));
    if (!file)
        luaL_typeerror(L, index, "file");
    return file;
}

File* to_open_file(lua_State* L, int index)
{
    File* file = to_file(L, index);
    if (!file->open)
        luaL_error(L, "attempt to use a closed file");
    return file;
}

// One call of an iterator that `lines` made: a file, whether it is closed at its end, formats.
int next_line(lua_State* L)
{
    lua_settop(L, 0);
    File* file = to_file(L, lua_upvalueindex(1));
    if (!file->open)
        luaL_error(L, "file is already closed");
    Problem problem;
    int formats = int(lua_tointeger(L, lua_upvalueindex(3)));
    Read read = Read::done;
    if (formats == 0)
        read = read_line(L, file, false, &problem);
    luaL_checkstack(L, formats + 4, "too many formats");
    for (int index = 0; index < formats && read == Read::done; index++)
        read = read_format(L, file, lua_upvalueindex(4 + index), &problem);
    if (read == Read::problem)
        raise_problem(L, problem);
    if (lua_isnil(L, 1) && lua_toboolean(L, lua_upvalueindex(2)) && !file_close(file, &problem))
        raise_problem(L, problem);
    return lua_gettop(L);
}

int file_method_lines(lua_State* L)
{
    to_open_file(L, 1);
    lua_pushvalue(L, 1);
    return push_lines(L, 2, false);
}

int file_method_read(lua_State* L)
{
    File* file = to_open_file(L, 1);
    int top = lua_gettop(L);
    Problem problem;
    Read read = Read::done;
    if (top == 1)
        read = read_line(L, file, false, &problem);
    luaL_checkstack(L, top + 4, "too many formats");
    for (int format = 2; format <= top && read == Read::done; format++)
        read = read_format(L, file, format, &problem);
    return read == Read::problem ? refuse(L, problem) : lua_gettop(L) - top;
}

int file_method_write(lua_State* L)
{
    File* file = to_open_file(L, 1);
    int top = lua_gettop(L);
    for (int index = 2; index <= top; index++)
    {
        Problem problem;
        bool written;
        if (lua_type(L, index) == LUA_TNUMBER)
        {
            char digits[LUAI_MAXNUM2STR];
            char* end = luai_num2str(digits, lua_tonumber(L, index));
            written = file_write(file, digits, size_t(end - digits), &problem);
        }
        else
        {
            size_t size;
            const char* text = lua_type(L, index) == LUA_TINTEGER ? luaL_tolstring(L, index, &size) : luaL_checklstring(L, index, &size);
            written = file_write(file, text, size, &problem);
        }
        if (!written)
            return refuse(L, problem);
    }
    lua_pushvalue(L, 1);
    return 1;
}

int file_method_seek(lua_State* L)
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
    if (!(fabs(offset) <= 9007199254740992.0))
        luaL_error(L, "invalid offset: %s", luaL_tolstring(L, 3, nullptr));
    uint64_t position;
    Problem problem;
    if (!file_seek(file, whence, int64_t(offset), &position, &problem))
        return refuse(L, problem);
    lua_pushnumber(L, double(position));
    return 1;
}

int file_method_flush(lua_State* L)
{
    Problem problem;
    if (!file_flush(to_open_file(L, 1), &problem))
        return refuse(L, problem);
    lua_pushvalue(L, 1);
    return 1;
}

int file_to_string(lua_State* L)
{
    File* file = to_file(L, 1);
    if (file->open)
        lua_pushfstring(L, "file (0x%016llx)", (unsigned long long)(lua_encodepointer(L, uintptr_t(file))));
    else
        lua_pushliteral(L, "file (closed)");
    return 1;
}

// Says what is not there, and what to use instead.
int not_available(lua_State* L)
{
    luaL_error(L, "%s is not available%s", lua_tostring(L, lua_upvalueindex(1)), lua_tostring(L, lua_upvalueindex(2)));
}

constexpr luaL_Reg kMethods[] = {
    {"read", file_method_read},   {"write", file_method_write}, {"lines", file_method_lines}, {"seek", file_method_seek},
    {"flush", file_method_flush}, {"close", file_method_close}, {nullptr, nullptr},
};

} // namespace

l_noret raise_problem(lua_State* L, const Problem& problem)
{
    push_text(L, problem);
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_error(L);
}

int refuse(lua_State* L, const Problem& problem)
{
    if (!returns_refusals || problem.kind != TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED)
        raise_problem(L, problem);
    push_text(L, problem);
    lua_pushnil(L);
    lua_insert(L, -2);
    lua_pushinteger(L, problem.number);
    return 3;
}

int push_lines(lua_State* L, int first, bool close)
{
    int count = lua_gettop(L) - first;
    if (count > kMostFormats)
        luaL_error(L, "too many formats");
    luaL_checkstack(L, count + 4, "too many formats");
    lua_pushboolean(L, close);
    lua_pushinteger(L, count);
    for (int index = first; index < first + count; index++)
    {
        if (lua_type(L, index) != LUA_TNUMBER)
            luaL_checkstring(L, index);
        lua_pushvalue(L, index);
    }
    lua_pushcclosure(L, next_line, "lines", 3 + count);
    return 1;
}

int file_method_close(lua_State* L)
{
    Problem problem;
    if (!file_close(to_open_file(L, 1), &problem))
        return refuse(L, problem);
    lua_pushboolean(L, true);
    return 1;
}

void push_not_available(lua_State* L, const char* name, const char* instead)
{
    lua_pushstring(L, name);
    lua_pushstring(L, instead);
    lua_pushcclosure(L, not_available, name, 2);
}

void open_file_methods(lua_State* L)
{
    lua_newtable(L);
    lua_newtable(L);
    luaL_register(L, nullptr, kMethods);
    push_not_available(L, "file:setvbuf", "");
    lua_setfield(L, -2, "setvbuf");
    lua_setreadonly(L, -1, true);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, file_to_string, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "file");
    lua_setfield(L, -2, "__type");
    lua_pushliteral(L, "The metatable is locked");
    lua_setfield(L, -2, "__metatable");
    lua_setreadonly(L, -1, true);
    lua_setuserdatametatable(L, kFileTag);
    lua_setuserdatadtor(L, kFileTag,
                        [](lua_State*, void* file)
                        {
                            if (static_cast<File*>(file)->open)
                                file_drop(static_cast<File*>(file));
                        });
}
