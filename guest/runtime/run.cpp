// The exports: `init`, which the build calls, and `run`, which a host calls once.
#include "runtime/failure.h"
#include "lib/io/buffered_file.h"
#include "lib/json/text_buffer.h"

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

// Functions that are called around a script, when there may be no memory to make them.
int arguments_function = 0;
int results_function = 0;

constexpr size_t kRoom = 1 << 20;

// The text must be a script: UTF-8, and not the bytecode of Luau or Lua.
bool check_text(const uint8_t* text, size_t size, unprepared_failure_t* failure)
{
    if (size > 0 && (text[0] < '\t' || text[0] == 0x1b))
        return guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX,
                          "script:1: the script is bytecode or other binary data, not Luau source text");
    int line = 1;
    for (const uint8_t *at = text, *end = text + size; at < end;)
    {
        size_t length = utf8_length(at, end);
        if (length == 0)
        {
            char message[64];
            int message_size = snprintf(message, sizeof(message), "script:%d: the script is not UTF-8", line);
            return guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message, message_size);
        }
        line += *at == '\n';
        at += length;
    }
    return true;
}

// Editors may put a mark of the encoding in front, and people a line for their shell: the first is skipped, the second a comment.
void skip_opening(uint8_t*& text, size_t& size)
{
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    {
        text += 3;
        size -= 3;
    }
    if (size >= 2 && memcmp(text, "#!", 2) == 0)
        memcpy(text, "--", 2);
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
        return guest_fail_memory(failure);
    int status = luau_load(thread, "=script", bytecode, bytecode_size, 0);
    free(bytecode);
    if (status == 0)
        return true;
    size_t message_size = 0;
    const char* message = lua_tolstring(thread, -1, &message_size);
    if (message && strcmp(message, LUA_MEMERRMSG) == 0)
        return guest_fail_memory(failure);
    return guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_SYNTAX, message ? message : "", message_size);
}

// Runs protected on the thread, with the results as its arguments.
int results_to_json(lua_State* L)
{
    guest_push_results(L, lua_gettop(L));
    return 1;
}

bool finish(unprepared_string_t* result, unprepared_failure_t* failure)
{
    guest_collect_if_short(thread);
    int count = lua_gettop(thread);
    lua_getref(thread, results_function);
    lua_insert(thread, 1);
    int status = lua_pcall(thread, count, 1, 0);
    if (status == LUA_ERRMEM)
        return guest_fail_memory(failure);
    size_t size = 0;
    const char* text = lua_tolstring(thread, -1, &size);
    if (status != 0)
        return guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RESULT, text ? text : "", size);
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
    lua_pushcfunction(vm, push_arguments, "arguments");
    arguments_function = lua_ref(vm, -1);
    lua_pushcfunction(vm, results_to_json, "result");
    results_function = lua_ref(vm, -1);
    lua_pop(vm, 2);
    guest_prepare_failures(vm);
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
    guest_set_io(vm, request->io.is_some ? &request->io.val : nullptr);
    guest_set_sdk(vm, request->tools.is_some ? &request->tools.val : nullptr);

    uint8_t* script = request->script.ptr;
    size_t size = request->script.len;
    skip_opening(script, size);
    bool loaded = check_text(script, size, failure) && load(script, size, failure);
    unprepared_list_u8_free(&request->script);
    if (!loaded)
        return false;

    lua_getref(thread, arguments_function);
    lua_pushlightuserdata(thread, &request->arguments);
    int status = lua_pcall(thread, 1, LUA_MULTRET, 0);
    if (status == 0)
        status = lua_resume(thread, nullptr, lua_gettop(thread) - 1);
    bool finished = status == 0 ? finish(result, failure) : guest_fail_raised(failure, thread, status);
    // Last, as an error value may have a `__tostring` that writes.
    const Problem* lost = files_finish();
    return finished && lost ? guest_fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, lost->text, lost->size) : finished;
}

// The bindings want an object file with the contract in it; the build embeds the contract itself, as it drops `init`.
extern "C" void __component_type_object_force_link_unprepared() {}

// The bindings would free the result after the host has taken it. The instance is dropped instead, and the host reads the text
// where it lies.
extern "C" void __wasm_export_exports_unprepared_run_post_return(uint8_t*) {}
