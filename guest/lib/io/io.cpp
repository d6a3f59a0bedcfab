#include "lib/io/io.h"
#include "lib/io/file_methods.h"
#include "lib/io/file_userdata.h"
#include "lib/io/lines.h"
#include "lib/io/unavailable.h"
#include "memory/canonical_abi.h"
#include "runtime/table.h"

#include "ldo.h"
#include "lualib.h"

#include <stdint.h>
#include <stdlib.h>

// The end of the C stack, which grows towards it. The linker defines it.
extern "C" char __stack_low;

namespace
{

// The size of a list of 100,000 names, the maximum of the host, without the names.
constexpr size_t kMaxListSize = 100'000 * sizeof(guest_string_t);

// The part of the C stack that calls need while it contains a list.
constexpr size_t kStackReserve = 64 * 1024;

// Parses `r`, `w` or `a`, followed by `+` and `b` in any order.
OpenMode to_mode(lua_State* L, int index)
{
    size_t size = 1;
    const char* mode = luaL_optlstring(L, index, "r", &size);
    bool is_update = false;
    bool is_binary = false;
    for (const char* at = mode + 1; at < mode + size; at++)
    {
        bool& flag = *at == '+' ? is_update : is_binary;
        if ((*at != '+' && *at != 'b') || flag)
            luaL_error(L, "invalid mode: %s", mode);
        flag = true;
    }
    switch (*mode)
    {
    case 'r':
        return is_update ? TOOLSCRIPT_SANDBOX_IO_MODE_READ_UPDATE : TOOLSCRIPT_SANDBOX_IO_MODE_READ;
    case 'w':
        return is_update ? TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE : TOOLSCRIPT_SANDBOX_IO_MODE_WRITE;
    case 'a':
        return is_update ? TOOLSCRIPT_SANDBOX_IO_MODE_APPEND_UPDATE : TOOLSCRIPT_SANDBOX_IO_MODE_APPEND;
    default:
        luaL_error(L, "invalid mode: %s", mode);
    }
}

int io_open(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    OpenMode mode = to_mode(L, 2);
    IoError error;
    if (push_opened_file(L, path, size, mode, &error))
        return 1;
    constexpr int32_t kNotFound = 2;
    bool must_exist = mode == TOOLSCRIPT_SANDBOX_IO_MODE_READ || mode == TOOLSCRIPT_SANDBOX_IO_MODE_READ_UPDATE;
    if (must_exist && error.number == kNotFound && !io_returns_system_errors)
        raise_io_error(L, error, "; use io.exists(path) or pcall");
    return raise_or_return_io_error(L, error);
}

int io_type(lua_State* L)
{
    luaL_checkany(L, 1);
    File* file = to_file_or_null(L, 1);
    if (!file)
        lua_pushnil(L);
    else
        lua_pushstring(L, file->is_open ? "file" : "closed file");
    return 1;
}

// Returns true if the C stack has room for a list. A script can use up much of it with nested calls.
bool stack_has_room()
{
    uintptr_t low = reinterpret_cast<uintptr_t>(&__stack_low);
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - low > kMaxListSize + kStackReserve;
}

// The names that the host returns, or its error. The destructor also runs when a Luau error unwinds the stack.
struct Listing
{
    guest_list_string_t names = {};
    toolscript_sandbox_io_error_t error;
    bool succeeded;
    bool is_complete;
    const void* memory; // for the list without its strings

    Listing(void* memory, guest_list_u8_t path)
        : memory(memory)
    {
        StringListReceiver receiver(memory, kMaxListSize);
        succeeded = toolscript_sandbox_io_list(&path, &names, &error);
        is_complete = receiver.is_complete();
    }

    ~Listing()
    {
        if (succeeded)
            free_names();
        else if (is_complete)
            toolscript_sandbox_io_error_free(&error);
    }

    void free_names()
    {
        // The WASI command, for example, allocates the list itself.
        if (names.ptr != memory && is_complete)
            return guest_list_string_free(&names);
        for (size_t index = 0; index < names.len; index++)
            if (names.ptr[index].len > 0)
                free_received_string(names.ptr[index].ptr);
        if (names.ptr != memory && names.len > 0)
            free(names.ptr);
    }

    Listing(const Listing&) = delete;
    Listing& operator=(const Listing&) = delete;
};

// Pushes a list of names, or the results of an error. Returns the number of pushed values, or -1 if there was no memory for the names.
int push_names(lua_State* L, void* memory, guest_list_u8_t path)
{
    Listing listing(memory, path);
    if (!listing.is_complete)
        return -1;
    if (!listing.succeeded)
        return raise_or_return_io_error(L, to_io_error(listing.error));
    lua_createtable(L, int(listing.names.len), 0);
    for (size_t index = 0; index < listing.names.len; index++)
    {
        const guest_string_t& name = listing.names.ptr[index];
        lua_pushlstring(L, reinterpret_cast<char*>(name.ptr), name.len);
        lua_rawseti(L, -2, int(index) + 1);
    }
    return 1;
}

// Collects garbage and tries again if there is no memory for the names: the host cannot start a collection when it allocates them.
int push_names_or_throw(lua_State* L, void* memory, guest_list_u8_t path)
{
    int count = push_names(L, memory, path);
    if (count < 0)
    {
        lua_gc(L, LUA_GCCOLLECT, 0);
        count = push_names(L, memory, path);
    }
    if (count < 0)
        luaD_throw(L, LUA_ERRMEM);
    return count;
}

// Reserves the list on the C stack, where it takes no memory of the script.
[[gnu::noinline]] int push_names_on_stack(lua_State* L, guest_list_u8_t path)
{
    alignas(guest_string_t) char memory[kMaxListSize];
    return push_names_or_throw(L, memory, path);
}

int io_list(lua_State* L)
{
    size_t size = 1;
    const char* path = luaL_optlstring(L, 1, ".", &size);
    if (size == 0)
    {
        path = ".";
        size = 1;
    }
    if (stack_has_room())
        return push_names_on_stack(L, borrow_bytes(path, size));
    // Garbage of the VM, so that an error does not leak it.
    void* memory = lua_newuserdata(L, kMaxListSize);
    return push_names_or_throw(L, memory, borrow_bytes(path, size));
}

int io_exists(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    bool exists = false;
    IoError error;
    if (!host_exists(path, size, &exists, &error))
        return raise_or_return_io_error(L, error);
    lua_pushboolean(L, exists);
    return 1;
}

int os_rename(lua_State* L)
{
    size_t old_size, new_size;
    const char* old_path = luaL_checklstring(L, 1, &old_size);
    const char* new_path = luaL_checklstring(L, 2, &new_size);
    IoError error;
    if (!host_rename(old_path, old_size, new_path, new_size, &error))
        return raise_or_return_io_error(L, error);
    lua_pushboolean(L, true);
    return 1;
}

int os_remove(lua_State* L)
{
    size_t size;
    const char* path = luaL_checklstring(L, 1, &size);
    IoError error;
    if (!host_remove(path, size, &error))
        return raise_or_return_io_error(L, error);
    lua_pushboolean(L, true);
    return 1;
}

constexpr luaL_Reg kFunctions[] = {
    {"open", io_open},     {"lines", io_lines},          {"type", io_type},  {"list", io_list},
    {"exists", io_exists}, {"close", file_close_method}, {nullptr, nullptr},
};

} // namespace

void io_open_library(lua_State* L)
{
    push_file_methods(L);
    register_file_userdata(L);

    luaL_register(L, "io", kFunctions);
    add_unavailable_io_members(L);
    lua_pop(L, 1);

    lua_newtable(L);
    push_unavailable_function(L, "file.save", "; use io.open(name, \"w\"):write(content):close()");
    lua_setfield(L, -2, "save");
    lua_setglobal(L, "file");

    lua_getglobal(L, "os");
    lua_pushcfunction(L, os_remove, "remove");
    lua_setfield(L, -2, "remove");
    lua_pushcfunction(L, os_rename, "rename");
    lua_setfield(L, -2, "rename");
    lua_pop(L, 1);
}

void io_configure(lua_State* L, const toolscript_sandbox_types_refusals_t* refusals)
{
    if (refusals)
    {
        io_returns_system_errors = *refusals == TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RETURN;
        return;
    }
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    remove_field(L, "io");
    remove_field(L, "file");
    remove_field(L, "require");
    lua_getfield(L, -1, "os");
    remove_field(L, "remove");
    remove_field(L, "rename");
    lua_pop(L, 2);
}

void io_flush()
{
    files_flush();
}

const IoError* io_finish()
{
    return files_finish();
}
