#include "lib/modules.h"
#include "lib/io/file_userdata.h"
#include "lib/io/read.h"
#include "lib/json/text_buffer.h"
#include "lib/module_path.h"
#include "runtime/compile.h"
#include "runtime/utf8.h"

#include "ldebug.h"
#include "lualib.h"

#include <new>
#include <string.h>
#include <string>

namespace
{

// The registry keys of the loaded modules by their paths, and of the list of paths that are being loaded.
char loaded_key;
char loading_key;

// The maximum size of a module, which is that of a script.
constexpr uint64_t kMaxModule = 1 << 20;

// The files that a path can stand for, in this order.
constexpr const char* kSuffixes[] = {".luau", ".lua", "/init.luau", "/init.lua"};

bool is_missing(const IoError& error)
{
    constexpr int kNotFound = 2;
    constexpr int kNotADirectory = 20;
    return error.kind == TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED && (error.number == kNotFound || error.number == kNotADirectory);
}

// Raises an error with all paths, if the path on top of the stack is being loaded.
void check_cycle(lua_State* L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loading_key);
    int count = lua_objlen(L, -1);
    for (int first = 1; first <= count; first++)
    {
        lua_rawgeti(L, -1, first);
        bool is_equal = lua_rawequal(L, -1, -3);
        lua_pop(L, 1);
        if (!is_equal)
            continue;
        TextBuffer chain(L);
        for (int index = first; index <= count; index++)
        {
            lua_rawgeti(L, -1, index);
            chain.add(lua_tostring(L, -1));
            chain.add(" -> ");
            lua_pop(L, 1);
        }
        chain.add(lua_tostring(L, -2));
        chain.push();
        luaL_error(L, "modules require each other: %s", lua_tostring(L, -1));
    }
    lua_pop(L, 1);
}

// Opens the first file that the module path on top of the stack stands for. Pushes its chunk name and its handle.
File* push_module_file(lua_State* L, const char* module)
{
    for (const char* suffix : kSuffixes)
    {
        lua_pushliteral(L, "=");
        lua_pushstring(L, module);
        lua_pushstring(L, suffix);
        lua_concat(L, 3);
        size_t size = 0;
        const char* name = lua_tolstring(L, -1, &size);
        IoError error;
        if (push_opened_file(L, name + 1, size - 1, TOOLSCRIPT_SANDBOX_IO_MODE_MODULE, &error))
            return to_file(L, -1);
        if (!is_missing(error))
            raise_io_error(L, error);
        lua_pop(L, 2);
    }
    luaL_error(L, "there is no module '%s': tried %s.luau, %s.lua, %s/init.luau and %s/init.lua", module, module, module, module, module);
}

// Pushes the chunk name and the text of the module.
void push_source(lua_State* L, const char* module)
{
    File* file = push_module_file(L, module);
    const char* name = lua_tostring(L, -2) + 1;
    uint64_t size = 0;
    IoError error;
    if (!file_remaining(file, &size, &error))
        raise_io_error(L, error);
    if (size > kMaxModule)
        luaL_error(L, "%s is larger than %d bytes", name, int(kMaxModule));
    lua_pushliteral(L, "a");
    if (read_format(L, file, lua_gettop(L), &error) == ReadStatus::failed || !file_close(file, &error))
        raise_io_error(L, error);
    size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    if (!is_utf8({text, length}))
        luaL_error(L, "%s is not UTF-8", name);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

// Compiles the text on top of the stack, whose chunk name is below it, and loads it into the thread. Always compiles: bytecode is not accepted.
void load_module(lua_State* L, lua_State* module)
{
    size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    {
        text += 3;
        size -= 3;
    }
    const char* chunk_name = lua_tostring(L, -2);
    std::string bytecode;
    SyntaxError error;
    bool is_compiled = false;
    bool is_out_of_memory = false;
    try
    {
        is_compiled = compile_source(std::string(text, size), chunk_name + 1, bytecode, error);
        if (!is_compiled)
            lua_pushlstring(L, error.message.data(), error.message.size());
    }
    catch (std::bad_alloc&)
    {
        is_out_of_memory = true;
    }
    if (is_out_of_memory)
        luaD_throw(L, LUA_ERRMEM);
    if (!is_compiled)
        lua_error(L);
    if (luau_load(module, chunk_name, bytecode.data(), bytecode.size(), 0) == 0)
        return;
    if (strcmp(lua_tostring(module, -1), LUA_MEMERRMSG) == 0)
        luaD_throw(L, LUA_ERRMEM);
    lua_xmove(module, L, 1);
    lua_error(L);
}

// Creates a thread with globals of its own and pushes it.
lua_State* push_module_thread(lua_State* L)
{
    lua_State* main = lua_mainthread(L);
    lua_State* module = lua_newthread(main);
    lua_xmove(main, L, 1);
    luaL_sandboxthread(module);
    return module;
}

// Runs the module on the stack of its thread. The path is at index 2. A module that fails is not kept, so that it can be loaded again.
int run_module(lua_State* L, lua_State* module)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loading_key);
    int depth = lua_objlen(L, -1) + 1;
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, depth);
    int status = lua_resume(module, L, 0);
    lua_pushnil(L);
    lua_rawseti(L, -2, depth);
    return status;
}

int require(lua_State* L)
{
    luaL_checktype(L, 1, LUA_TSTRING);
    lua_settop(L, 1);
    module_push_path(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 3) != LUA_TNIL)
        return 1;
    lua_settop(L, 2);
    check_cycle(L);
    const char* path = lua_tostring(L, 2);
    lua_State* module = push_module_thread(L);
    push_source(L, path);
    load_module(L, module);
    lua_settop(L, 3);
    int status = run_module(L, module);
    lua_settop(L, 3);
    if (status == LUA_ERRMEM)
        luaD_throw(L, LUA_ERRMEM);
    if (status == LUA_YIELD || status == LUA_BREAK)
        luaL_error(L, "module '%s' must not yield while it is loaded", path);
    if (status != 0)
    {
        lua_xmove(module, L, 1);
        lua_error(L);
    }
    if (lua_gettop(module) != 1 || lua_isnil(module, 1))
        luaL_error(L, "module '%s' must return exactly one value, such as a table of functions", path);
    lua_xmove(module, L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 4);
    lua_rawset(L, -3);
    lua_settop(L, 4);
    return 1;
}

} // namespace

void modules_open_library(lua_State* L)
{
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded_key);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &loading_key);
    lua_pushcfunction(L, require, "require");
    lua_setglobal(L, "require");
}
