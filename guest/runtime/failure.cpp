// Failures on their way out. Memory may be gone by then, so nothing in here needs any but to look at the error value, which
// happens protected: texts lie in static buffers, and the functions to call are made in `init`.
#include "runtime/failure.h"

#include "ldebug.h"

#include <stdio.h>
#include <string.h>

namespace
{

// A byte more than the host shows of each, for it to see that there was more.
constexpr size_t kErrorText = 8 * 1024 + 1;
constexpr int kTracebackHead = 12; // frames that a traceback shows at its start and at its end
constexpr int kTracebackTail = 8;

lua_State* vm = nullptr;
int message_function = 0;
int traceback_function = 0;

// A text in a static buffer; what does not fit is left out.
struct Line
{
    size_t size = 0;
    char data[kErrorText];

    void add(const char* bytes, size_t count)
    {
        count = count < kErrorText - size ? count : kErrorText - size;
        memcpy(data + size, bytes, count);
        size += count;
    }

    void add(const char* string)
    {
        add(string, strlen(string));
    }

    unprepared_list_u8_t list()
    {
        return {reinterpret_cast<uint8_t*>(data), size};
    }
};

Line message;
Line traceback;

void add_number(Line& line, const char* format, int number)
{
    char digits[48];
    line.add(digits, snprintf(digits, sizeof(digits), format, number));
}

void add_frame(lua_State* L, int level)
{
    lua_Debug frame;
    if (!lua_getinfo(L, level, "sln", &frame))
        return;
    if (traceback.size)
        traceback.add("\n");
    traceback.add(frame.short_src);
    if (frame.currentline > 0)
        add_number(traceback, ":%d", frame.currentline);
    if (frame.name && *frame.name)
    {
        traceback.add(" function ");
        traceback.add(frame.name);
    }
}

// The frames of the thread in the light userdata.
int write_traceback(lua_State* L)
{
    lua_State* thread = static_cast<lua_State*>(lua_touserdata(L, 1));
    int depth = lua_stackdepth(thread);
    for (int level = 0; level < depth; level++)
    {
        if (level == kTracebackHead && depth > kTracebackHead + kTracebackTail + 1)
        {
            int count = depth - kTracebackHead - kTracebackTail;
            add_number(traceback, "\n… %d more", count);
            level += count;
        }
        add_frame(thread, level);
    }
    return 0;
}

// The error value as text: a string as it is, anything else by `tostring` or as JSON.
int write_message(lua_State* L)
{
    size_t size = 0;
    const char* text;
    if (lua_type(L, 1) == LUA_TTABLE && !luaL_getmetafield(L, 1, "__tostring"))
    {
        message.add("error value that is a table");
        guest_push_json(L, 1, "error");
        text = lua_tolstring(L, -1, &size);
        message.size = 0;
        message.add("error value ");
    }
    else
        text = luaL_tolstring(L, 1, &size);
    message.add(text, size);
    return 0;
}

int keep(lua_CFunction function)
{
    lua_pushcfunction(vm, function, nullptr);
    int reference = lua_ref(vm, -1);
    lua_pop(vm, 1);
    return reference;
}

// Calls a function on the main thread, whose stack is free, with what is on top of it. An error in there leaves a text shorter.
void call(int function)
{
    lua_getref(vm, function);
    lua_insert(vm, -2);
    if (lua_pcall(vm, 1, 0, 0) != 0)
        lua_pop(vm, 1);
}

} // namespace

void guest_prepare_failures(lua_State* main)
{
    vm = main;
    message_function = keep(write_message);
    traceback_function = keep(write_traceback);
}

bool guest_fail(unprepared_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text, size_t size)
{
    message.size = 0;
    message.add(text, size);
    *failure = {kind, message.list(), traceback.list()};
    return false;
}

bool guest_fail(unprepared_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text)
{
    return guest_fail(failure, kind, text, strlen(text));
}

bool guest_fail_memory(unprepared_failure_t* failure)
{
    return guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_MEMORY, LUA_MEMERRMSG);
}

bool guest_fail_raised(unprepared_failure_t* failure, lua_State* thread, int status)
{
    if (status == LUA_YIELD || status == LUA_BREAK)
        return guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, "attempt to yield from outside a coroutine");
    guest_collect_if_short(vm);
    lua_pushlightuserdata(vm, thread);
    call(traceback_function);
    if (status == LUA_ERRMEM)
        return guest_fail_memory(failure);
    lua_xpush(thread, vm, -1);
    call(message_function);
    *failure = {TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, message.list(), traceback.list()};
    return false;
}
