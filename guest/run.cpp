// The exports: `init`, which the build calls, and `run`, which a host calls once.
#include "guest.h"
#include "text.h"

#include "lstate.h"
#include "luacode.h"

#include <exception>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

lua_State* vm = nullptr;     // everything that is shared and read-only
lua_State* thread = nullptr; // the script's own globals

constexpr size_t kRoom = 1 << 20;
constexpr int kTracebackHead = 12; // frames that a traceback shows at its start and at its end
constexpr int kTracebackTail = 8;

unprepared_list_u8_t copy(const char* bytes, size_t size)
{
    uint8_t* block = static_cast<uint8_t*>(malloc(size ? size : 1));
    if (!block)
        return {nullptr, 0};
    memcpy(block, bytes, size);
    return {block, size};
}

bool fail(unprepared_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* message, size_t size)
{
    failure->kind = kind;
    failure->message = copy(message, size);
    failure->traceback = {nullptr, 0};
    return false;
}

bool fail(unprepared_failure_t* failure, toolscript_sandbox_types_kind_t kind, const char* message)
{
    return fail(failure, kind, message, strlen(message));
}

bool fail_memory(unprepared_failure_t* failure)
{
    return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_MEMORY, "not enough memory");
}

// The text must be a script: UTF-8, and not the bytecode of Luau or Lua.
bool check_text(const uint8_t* text, size_t size, unprepared_failure_t* failure)
{
    if (size > 0 && (text[0] < '\t' || text[0] == 0x1b))
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, "script:1: the script is bytecode or other binary data, not Luau source text");
    int line = 1;
    for (const uint8_t *at = text, *end = text + size; at < end;)
    {
        size_t length = utf8_length(at, end);
        if (length == 0)
        {
            char message[64];
            int message_size = snprintf(message, sizeof(message), "script:%d: the script is not UTF-8", line);
            return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message, message_size);
        }
        line += *at == '\n';
        at += length;
    }
    return true;
}

// Compiles and loads onto the thread's stack. The compiler throws when memory runs out.
bool load(const uint8_t* script, size_t size, unprepared_failure_t* failure)
{
    lua_CompileOptions options = {};
    options.optimizationLevel = 2;
    options.debugLevel = 1;
    char* bytecode = nullptr;
    size_t bytecode_size = 0;
    try
    {
        bytecode = luau_compile(reinterpret_cast<const char*>(script), size, &options, &bytecode_size);
    }
    catch (std::exception&)
    {
    }
    if (!bytecode)
        return fail_memory(failure);
    int status = luau_load(thread, "=script", bytecode, bytecode_size, 0);
    free(bytecode);
    if (status == 0)
        return true;
    size_t message_size = 0;
    const char* message = lua_tolstring(thread, -1, &message_size);
    if (message && strcmp(message, LUA_MEMERRMSG) == 0)
        return fail_memory(failure);
    return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message ? message : "", message_size);
}

void add_frame(Text& text, lua_State* L, int level)
{
    lua_Debug frame;
    if (!lua_getinfo(L, level, "sln", &frame))
        return;
    if (text.size)
        text.add('\n');
    text.add(frame.short_src);
    if (frame.currentline > 0)
    {
        char line[16];
        text.add(":");
        text.add(line, snprintf(line, sizeof(line), "%d", frame.currentline));
    }
    if (frame.name && *frame.name)
    {
        text.add(" function ");
        text.add(frame.name);
    }
}

// Runs protected, with the Text on top of the stack as a light userdata.
int write_traceback(lua_State* L)
{
    Text& text = *static_cast<Text*>(lua_touserdata(L, 1));
    int depth = lua_stackdepth(thread);
    for (int level = 0; level < depth; level++)
    {
        if (level == kTracebackHead && depth > kTracebackHead + kTracebackTail + 1)
        {
            char skipped[48];
            int count = depth - kTracebackHead - kTracebackTail;
            text.add(skipped, snprintf(skipped, sizeof(skipped), "\n… %d more", count));
            level += count;
        }
        add_frame(text, thread, level);
    }
    return 0;
}

// The error value as text: a string as it is, anything else by `tostring` or as JSON.
int write_message(lua_State* L)
{
    Text& text = *static_cast<Text*>(lua_touserdata(L, 1));
    size_t size = 0;
    if (lua_type(L, 2) == LUA_TTABLE && !luaL_getmetafield(L, 2, "__tostring"))
    {
        guest_push_json(L, 2, "error");
        const char* json = lua_tolstring(L, -1, &size);
        text.add("error value ");
        text.add(json, size);
        return 0;
    }
    const char* string = luaL_tolstring(L, 2, &size);
    text.add(string, size);
    return 0;
}

// Calls one of the two above on the main thread, whose stack is free. An error in there leaves the text shorter.
void write_protected(Text& text, lua_CFunction function, bool with_value)
{
    lua_pushcfunction(vm, function, nullptr);
    lua_pushlightuserdata(vm, &text);
    if (with_value)
        lua_xpush(thread, vm, -1);
    if (lua_pcall(vm, with_value ? 2 : 1, 0, 0) != 0)
        lua_pop(vm, 1);
}

bool fail_runtime(int status, unprepared_failure_t* failure)
{
    if (status == LUA_YIELD || status == LUA_BREAK)
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, "attempt to yield from outside a coroutine");
    if (status == LUA_ERRMEM)
        fail_memory(failure);
    else
    {
        Text message(vm);
        write_protected(message, write_message, true);
        if (message.size == 0 && lua_type(thread, -1) == LUA_TTABLE)
            fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, "error value that is a table");
        else
            fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, message.data ? message.data : "", message.size);
    }
    Text traceback(vm);
    write_protected(traceback, write_traceback, false);
    failure->traceback = copy(traceback.data ? traceback.data : "", traceback.size);
    return false;
}

// Runs protected on the thread, with the results as its arguments.
int results_to_json(lua_State* L)
{
    guest_push_results(L, lua_gettop(L));
    return 1;
}

bool finish(unprepared_string_t* result, unprepared_failure_t* failure)
{
    int count = lua_gettop(thread);
    lua_pushcfunction(thread, results_to_json, "result");
    lua_insert(thread, 1);
    int status = lua_pcall(thread, count, 1, 0);
    if (status == LUA_ERRMEM)
        return fail_memory(failure);
    size_t size = 0;
    const char* text = lua_tolstring(thread, -1, &size);
    if (status != 0)
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RESULT, text ? text : "", size);
    // The string lies in the VM's heap until the instance ends; nothing frees it in between.
    result->ptr = reinterpret_cast<uint8_t*>(const_cast<char*>(text));
    result->len = size;
    return true;
}

// The state of `math.random` after Luau's own `pcg32_seed`, which takes 64 bits but is not exported.
uint64_t seeded(uint64_t seed)
{
    constexpr uint64_t kIncrement = 105;
    constexpr uint64_t kMultiplier = 6364136223846793005;
    return (kIncrement + seed) * kMultiplier + kIncrement;
}

int push_arguments(lua_State* L)
{
    const unprepared_list_string_t& arguments = *static_cast<unprepared_list_string_t*>(lua_touserdata(L, 1));
    lua_settop(L, 0);
    if (!lua_checkstack(L, int(arguments.len)))
        luaL_error(L, "too many arguments");
    for (size_t index = 0; index < arguments.len; index++)
        lua_pushlstring(L, reinterpret_cast<const char*>(arguments.ptr[index].ptr), arguments.ptr[index].len);
    return int(arguments.len);
}

} // namespace

extern "C" void exports_unprepared_init()
{
    vm = guest_new_state();
    thread = lua_newthread(vm);
    lua_ref(vm, -1);
    lua_pop(vm, 1);
    luaL_sandboxthread(thread);
    lua_gc(vm, LUA_GCCOLLECT, 0);
    // Room that a small run finds in the image: growing the memory would cost it a call to the host and changes to its mapping.
    void* volatile room = malloc(kRoom);
    free(room);
}

extern "C" bool exports_unprepared_run(unprepared_request_t* request, unprepared_string_t* result, unprepared_failure_t* failure)
{
    guest_start_clock();
    guest_set_memory(vm, request->memory);
    vm->global->rngstate = seeded(request->seed);

    bool loaded = check_text(request->script.ptr, request->script.len, failure) && load(request->script.ptr, request->script.len, failure);
    unprepared_list_u8_free(&request->script);
    if (!loaded)
        return false;

    lua_pushcfunction(thread, push_arguments, "arguments");
    lua_pushlightuserdata(thread, &request->arguments);
    int status = lua_pcall(thread, 1, LUA_MULTRET, 0);
    if (status == 0)
        status = lua_resume(thread, nullptr, lua_gettop(thread) - 1);
    return status == 0 ? finish(result, failure) : fail_runtime(status, failure);
}

// The bindings want an object file with the contract in it; the build embeds the contract itself, as it drops `init`.
extern "C" void __component_type_object_force_link_unprepared() {}

// The bindings would free the result after the host has taken it. The instance is dropped instead, and the host reads the text
// where it lies.
extern "C" void __wasm_export_exports_unprepared_run_post_return(uint8_t*) {}
