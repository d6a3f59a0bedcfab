// `io`, `file` and `os.remove`: what a script calls. Paths, limits and links are the host's business.
#include "io_read.h"

#include "lnumutils.h"

#include <initializer_list>
#include <math.h>
#include <string.h>

namespace
{

constexpr int kFileTag = 1;

// Of `lines`: a closure has at most 255 values, two of which are ours.
constexpr int kMostFormats = 250;

// Room for a folder of some thousand names.
constexpr size_t kListing = 512 * 1024;

bool returns_refusals = false;

// Pushes the text of a problem. It may lie where a collection, which closes files, would put another.
void push_text(lua_State* L, const Problem& problem)
{
    char text[8 * 1024];
    size_t size = problem.size < sizeof(text) ? problem.size : sizeof(text);
    memcpy(text, problem.text, size);
    lua_pushlstring(L, text, size);
}

// Raises a problem with the script's place in front.
l_noret raise(lua_State* L, const Problem& problem)
{
    push_text(L, problem);
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_error(L);
}

// What the operating system refused is raised or returned, as the settings say; the rest is raised.
int refuse(lua_State* L, const Problem& problem)
{
    if (!returns_refusals || problem.kind != TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED)
        raise(L, problem);
    push_text(L, problem);
    lua_pushnil(L);
    lua_insert(L, -2);
    lua_pushinteger(L, problem.number);
    return 3;
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

// `r`, `w` or `a`, then `+` and `b` in any order.
toolscript_sandbox_io_mode_t to_mode(lua_State* L, int index)
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
bool push_opened(lua_State* L, const char* path, size_t size, toolscript_sandbox_io_mode_t mode, Problem* problem)
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
    toolscript_sandbox_io_mode_t mode = to_mode(L, 2);
    Problem problem;
    return push_opened(L, path, size, mode, &problem) ? 1 : refuse(L, problem);
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
        raise(L, problem);
    if (lua_isnil(L, 1) && lua_toboolean(L, lua_upvalueindex(2)) && !file_close(file, &problem))
        raise(L, problem);
    return lua_gettop(L);
}

// Makes an iterator of the file on top of the stack and the formats from `first` on.
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

// A loop can't do anything with a refusal that is returned, so it is raised, as in Lua.
int io_lines(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    Problem problem;
    if (!push_opened(L, path, size, TOOLSCRIPT_SANDBOX_IO_MODE_READ, &problem))
        raise(L, problem);
    return push_lines(L, 2, true);
}

int file_method_lines(lua_State* L)
{
    to_open_file(L, 1);
    lua_pushvalue(L, 1);
    return push_lines(L, 2, false);
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
    unprepared_list_u8_t bytes = list_of(path, size);
    toolscript_sandbox_io_error_t error;
    Landing landing;
    if (!toolscript_sandbox_io_remove(&bytes, &error))
        return refuse(L, problem_of(error));
    lua_pushboolean(L, true);
    return 1;
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
    toolscript_sandbox_io_whence_t whence = TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT;
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

int file_method_close(lua_State* L)
{
    Problem problem;
    if (!file_close(to_open_file(L, 1), &problem))
        return refuse(L, problem);
    lua_pushboolean(L, true);
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

void push_not_available(lua_State* L, const char* name, const char* instead)
{
    lua_pushstring(L, name);
    lua_pushstring(L, instead);
    lua_pushcclosure(L, not_available, name, 2);
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
    lua_pushliteral(L, "locked");
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

constexpr luaL_Reg kMethods[] = {
    {"read", file_method_read},   {"write", file_method_write}, {"lines", file_method_lines}, {"seek", file_method_seek},
    {"flush", file_method_flush}, {"close", file_method_close}, {nullptr, nullptr},
};

void set_functions(lua_State* L, const luaL_Reg* functions)
{
    for (; functions->name; functions++)
    {
        lua_pushcfunction(L, functions->func, functions->name);
        lua_setfield(L, -2, functions->name);
    }
}

void open_metatable(lua_State* L)
{
    lua_newtable(L);
    lua_newtable(L);
    set_functions(L, kMethods);
    push_not_available(L, "file:setvbuf", "");
    lua_setfield(L, -2, "setvbuf");
    lua_setreadonly(L, -1, true);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, file_to_string, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "file");
    lua_setfield(L, -2, "__type");
    lua_pushliteral(L, "locked");
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

} // namespace

void guest_open_io(lua_State* L)
{
    open_metatable(L);

    lua_newtable(L);
    set_functions(L, kFunctions);
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
    lua_setglobal(L, "io");

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
    // The keys are there, so this needs no memory.
    auto clear = [L](const char* name)
    {
        bool read_only = lua_getreadonly(L, -1);
        lua_setreadonly(L, -1, false);
        lua_pushnil(L);
        lua_rawsetfield(L, -2, name);
        lua_setreadonly(L, -1, read_only);
    };
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    clear("io");
    clear("file");
    lua_getfield(L, -1, "os");
    clear("remove");
    lua_pop(L, 2);
}
