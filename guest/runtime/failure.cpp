#include "runtime/failure.h"
#include "lib/json/json.h"
#include "memory/collector.h"
#include "runtime/frames.h"

#include "ldebug.h"
#include "lualib.h"

#include <stdio.h>
#include <string.h>

namespace
{

// One byte more than the host shows, so that the host can tell that the text was truncated.
constexpr size_t kMaxText = 8 * 1024 + 1;

// A longer traceback shows this many innermost and outermost frames.
constexpr int kTracebackHead = 12;
constexpr int kTracebackTail = 8;

lua_State* vm = nullptr;
int write_message_ref = 0;
int write_traceback_ref = 0;

// A text of fixed capacity. Text beyond the capacity is truncated.
struct FixedText
{
    size_t size = 0;
    char data[kMaxText];

    void add(const char* bytes, size_t count)
    {
        count = count < kMaxText - size ? count : kMaxText - size;
        memcpy(data + size, bytes, count);
        size += count;
    }

    void add(const char* string)
    {
        add(string, strlen(string));
    }

    guest_list_u8_t list()
    {
        return {reinterpret_cast<uint8_t*>(data), size};
    }
};

FixedText message;
FixedText traceback;

void add_number(FixedText& text, const char* format, int number)
{
    char digits[48];
    text.add(digits, snprintf(digits, sizeof(digits), format, number));
}

void add_frame(const Frames& frames)
{
    lua_Debug frame;
    frames.describe("sln", &frame);
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

// Takes the thread as a light userdata.
int write_traceback(lua_State* L)
{
    lua_State* thread = static_cast<lua_State*>(lua_touserdata(L, 1));
    int depth = frames_count(thread);
    int hidden = depth > kTracebackHead + kTracebackTail + 1 ? depth - kTracebackHead - kTracebackTail : 0;
    int level = 0;
    for (Frames frames(thread); frames.is_valid(); frames.next(), level++)
    {
        if (level == kTracebackHead && hidden > 0)
            add_number(traceback, "\n… %d more", hidden);
        if (level < kTracebackHead || level >= kTracebackHead + hidden)
            add_frame(frames);
    }
    return 0;
}

// Writes a table without `__tostring` as JSON and any other error value as `tostring` does.
int write_message(lua_State* L)
{
    size_t size = 0;
    const char* text;
    if (lua_type(L, 1) == LUA_TTABLE && !luaL_getmetafield(L, 1, "__tostring"))
    {
        // Stays as the message if the table cannot be encoded.
        message.add("error value that is a table");
        json_push_encoded(L, 1, "error");
        text = lua_tolstring(L, -1, &size);
        message.size = 0;
        message.add("error value ");
    }
    else
        text = luaL_tolstring(L, 1, &size);
    message.add(text, size);
    return 0;
}

int create_reference(lua_CFunction function)
{
    lua_pushcfunction(vm, function, nullptr);
    int reference = lua_ref(vm, -1);
    lua_pop(vm, 1);
    return reference;
}

// Calls the function with the value on top of the stack of the main thread. An error in the function only leaves its text incomplete.
void call(int function_ref)
{
    lua_getref(vm, function_ref);
    lua_insert(vm, -2);
    if (lua_pcall(vm, 1, 0, 0) != 0)
        lua_pop(vm, 1);
}

} // namespace

void init_failures(lua_State* main)
{
    vm = main;
    write_message_ref = create_reference(write_message);
    write_traceback_ref = create_reference(write_traceback);
}

bool fail(guest_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text, size_t size)
{
    message.size = 0;
    message.add(text, size);
    *failure = {kind, message.list(), traceback.list(), {}};
    return false;
}

bool fail_with_syntax_error(guest_failure_t* failure, const char* text, size_t size, uint32_t column)
{
    fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, text, size);
    failure->column = {true, column};
    return false;
}

bool fail(guest_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* text)
{
    return fail(failure, kind, text, strlen(text));
}

bool fail_out_of_memory(guest_failure_t* failure)
{
    return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_MEMORY, LUA_MEMERRMSG);
}

bool fail_with_raised_error(guest_failure_t* failure, lua_State* thread, int status)
{
    if (status == LUA_YIELD || status == LUA_BREAK)
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, "attempt to yield from outside a coroutine");
    collect_if_exhausted(vm);
    lua_pushlightuserdata(vm, thread);
    call(write_traceback_ref);
    if (status == LUA_ERRMEM)
        return fail_out_of_memory(failure);
    lua_xpush(thread, vm, -1);
    call(write_message_ref);
    *failure = {TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, message.list(), traceback.list(), {}};
    return false;
}
