// `io`, `file` and `os.remove`: what a script calls. Paths, limits and links are the host's business.
#include "lib/io/file_methods.h"

#include <initializer_list>

namespace
{

// Room for a folder of some thousand names.
constexpr size_t kListing = 512 * 1024;

// `r`, `w` or `a`, then `+` and `b` in any order.
OpenMode to_mode(lua_State* L, int index)
{
    size_t size = 1;
    const char* mode = luaL_optlstring(L, index, "r", &size);
    bool update = false;
    bool binary = false;
    for (const char* at = mode + 1; at < mode + size; at++)
    {
        bool& flag = *at == '+' ? update : binary;
        if ((*at != '+' && *at != 'b') || flag)
            luaL_error(L, "invalid mode: %s", mode);
        flag = true;
    }
    switch (*mode)
    {
    case 'r':
        return update ? TOOLSCRIPT_SANDBOX_IO_MODE_READ_UPDATE : TOOLSCRIPT_SANDBOX_IO_MODE_READ;
    case 'w':
        return update ? TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE : TOOLSCRIPT_SANDBOX_IO_MODE_WRITE;
    case 'a':
        return update ? TOOLSCRIPT_SANDBOX_IO_MODE_APPEND_UPDATE : TOOLSCRIPT_SANDBOX_IO_MODE_APPEND;
    default:
        luaL_error(L, "invalid mode: %s", mode);
    }
}

// Pushes a file. Handles that the script has let go of count until they are collected, so that happens before a limit is told.
bool push_opened(lua_State* L, const char* path, size_t size, OpenMode mode, Problem* problem)
{
    File* file = static_cast<File*>(lua_newuserdatataggedwithmetatable(L, sizeof(File), kFileTag));
    file->open = false;
    if (file_open(L, file, path, size, mode, problem))
        return true;
    if (problem->kind != TOOLSCRIPT_SANDBOX_IO_ERROR_LIMIT || !files_any_open())
        return false;
    lua_gc(L, LUA_GCCOLLECT, 0);
    return file_open(L, file, path, size, mode, problem);
}

int io_open(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    OpenMode mode = to_mode(L, 2);
    Problem problem;
    return push_opened(L, path, size, mode, &problem) ? 1 : refuse(L, problem);
}

// A loop can't do anything with a refusal that is returned, so it is raised, as in Lua.
int io_lines(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    Problem problem;
    if (!push_opened(L, path, size, TOOLSCRIPT_SANDBOX_IO_MODE_READ, &problem))
        raise_problem(L, problem);
    return push_lines(L, 2, true);
}

int io_type(lua_State* L)
{
    luaL_checkany(L, 1);
    File* file = static_cast<File*>(lua_touserdatatagged(L, 1, kFileTag));
    if (!file)
        lua_pushnil(L);
    else
        lua_pushstring(L, file->open ? "file" : "closed file");
    return 1;
}

// What the host answered; freed also when an error passes through.
struct Listing
{
    unprepared_list_string_t names = {};
    toolscript_sandbox_io_error_t error;
    bool listed;

    explicit Listing(unprepared_list_u8_t path)
        : listed(toolscript_sandbox_io_list(&path, &names, &error))
    {
    }

    ~Listing()
    {
        if (listed)
            unprepared_list_string_free(&names);
        else
            toolscript_sandbox_io_error_free(&error);
    }
};

int io_list(lua_State* L)
{
    size_t size = 1;
    const char* path = luaL_optlstring(L, 1, ".", &size);
    // What the host passes in is not the VM's to collect.
    guest_make_room(L, kListing);
    Listing listing(list_of(path, size));
    if (!listing.listed)
        return refuse(L, problem_of(listing.error));
    lua_createtable(L, int(listing.names.len), 0);
    for (size_t index = 0; index < listing.names.len; index++)
    {
        const unprepared_string_t& name = listing.names.ptr[index];
        lua_pushlstring(L, reinterpret_cast<char*>(name.ptr), name.len);
        lua_rawseti(L, -2, int(index) + 1);
    }
    return 1;
}

int os_remove(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    Problem problem;
    if (!host_remove(path, size, &problem))
        return refuse(L, problem);
    lua_pushboolean(L, true);
    return 1;
}

// `io.stdout` and its like: not functions, but what a script does with them fails in the same way.
void push_stream_not_available(lua_State* L, const char* name, const char* instead)
{
    lua_newtable(L);
    lua_newtable(L);
    for (const char* event : {"__index", "__newindex"})
    {
        push_not_available(L, name, instead);
        lua_setfield(L, -2, event);
    }
    lua_pushliteral(L, "The metatable is locked");
    lua_setfield(L, -2, "__metatable");
    lua_setreadonly(L, -1, true);
    lua_setmetatable(L, -2);
    lua_setreadonly(L, -1, true);
}

struct Missing
{
    const char* name; // in full
    const char* key;
    const char* instead;
};

constexpr Missing kMissingFunctions[] = {
    {"io.popen", "popen", ""},
    {"io.tmpfile", "tmpfile", ""},
    {"io.input", "input", "; use io.open"},
    {"io.output", "output", "; use io.open"},
    {"io.read", "read", "; use io.open"},
    {"io.write", "write", "; use print, or io.open"},
    {"io.flush", "flush", ""},
};

constexpr Missing kMissingStreams[] = {
    {"io.stdin", "stdin", ""},
    {"io.stdout", "stdout", "; use print"},
    {"io.stderr", "stderr", "; use print"},
};

constexpr luaL_Reg kFunctions[] = {
    {"open", io_open}, {"lines", io_lines}, {"type", io_type}, {"list", io_list}, {"close", file_method_close}, {nullptr, nullptr},
};

} // namespace

void guest_open_io(lua_State* L)
{
    open_file_methods(L);

    luaL_register(L, "io", kFunctions);
    for (const Missing& missing : kMissingFunctions)
    {
        push_not_available(L, missing.name, missing.instead);
        lua_setfield(L, -2, missing.key);
    }
    for (const Missing& missing : kMissingStreams)
    {
        push_stream_not_available(L, missing.name, missing.instead);
        lua_setfield(L, -2, missing.key);
    }
    lua_pop(L, 1);

    lua_newtable(L);
    push_not_available(L, "file.save", "; use io.open(name, \"w\"):write(content):close()");
    lua_setfield(L, -2, "save");
    lua_setglobal(L, "file");

    lua_getglobal(L, "os");
    lua_pushcfunction(L, os_remove, "remove");
    lua_setfield(L, -2, "remove");
    lua_pop(L, 1);
}

void guest_set_io(lua_State* L, const toolscript_sandbox_types_refusals_t* refusals)
{
    if (refusals)
    {
        returns_refusals = *refusals == TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RETURN;
        return;
    }
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    guest_clear(L, "io");
    guest_clear(L, "file");
    lua_getfield(L, -1, "os");
    guest_clear(L, "remove");
    lua_pop(L, 2);
}
