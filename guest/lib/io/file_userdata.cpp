#include "lib/io/file_userdata.h"
#include "runtime/table.h"

#include "lualib.h"

namespace
{

constexpr int kFileTag = 1;

int to_string(lua_State* L)
{
    File* file = to_file(L, 1);
    if (file->is_open)
        lua_pushfstring(L, "file (0x%016llx)", (unsigned long long)(lua_encodepointer(L, uintptr_t(file))));
    else
        lua_pushliteral(L, "file (closed)");
    return 1;
}

void destroy(lua_State*, void* userdata)
{
    File* file = static_cast<File*>(userdata);
    if (file->is_open)
        file_drop(file);
}

} // namespace

void register_file_userdata(lua_State* L)
{
    lua_newtable(L);
    lua_insert(L, -2);
    lua_setreadonly(L, -1, true);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, to_string, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "file");
    lua_setfield(L, -2, "__type");
    lock_metatable(L);
    lua_setreadonly(L, -1, true);
    lua_setuserdatametatable(L, kFileTag);
    lua_setuserdatadtor(L, kFileTag, destroy);
}

bool push_opened_file(lua_State* L, const char* path, size_t size, OpenMode mode, IoError* error)
{
    File* file = static_cast<File*>(lua_newuserdatataggedwithmetatable(L, sizeof(File), kFileTag));
    file->is_open = false;
    // The new handle must see what the script wrote, even if the script did not close the file.
    files_flush();
    if (file_open(L, file, path, size, mode, error))
        return true;
    if (error->kind != TOOLSCRIPT_SANDBOX_IO_ERROR_LIMIT || !files_any_open())
        return false;
    // Unreferenced files count against the limit of open files until they are collected.
    lua_gc(L, LUA_GCCOLLECT, 0);
    return file_open(L, file, path, size, mode, error);
}

File* to_file_or_null(lua_State* L, int index)
{
    return static_cast<File*>(lua_touserdatatagged(L, index, kFileTag));
}

File* to_file(lua_State* L, int index)
{
    File* file = to_file_or_null(L, index);
    if (!file)
        luaL_typeerror(L, index, "file");
    return file;
}

File* to_open_file(lua_State* L, int index)
{
    File* file = to_file(L, index);
    if (!file->is_open)
        luaL_error(L, "attempt to use a closed file");
    return file;
}
