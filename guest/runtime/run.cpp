// The exports of the component: `init`, which the build calls, and `run`, which a host calls once.
#include "lib/io/io.h"
#include "lib/json/json.h"
#include "lib/sdk/sdk.h"
#include "libc/clock.h"
#include "memory/collector.h"
#include "runtime/failure.h"
#include "runtime/libraries.h"
#include "runtime/load.h"
#include "runtime/table.h"

#include "lstate.h"
#include "lualib.h"

#include <stdlib.h>

namespace
{

lua_State* vm = nullptr;     // the main thread, whose globals are shared and read-only
lua_State* thread = nullptr; // runs the script and has its globals

// References to functions that are called before and after the script. They exist since `init`, as a run may have no memory to create them.
int push_arguments_ref = 0;
int set_environment_ref = 0;
int encode_results_ref = 0;

constexpr size_t kInitialHeap = 1 << 20;

// Called protected, with a pointer to the arguments of the request.
int push_arguments(lua_State* L)
{
    const guest_list_string_t& arguments = *static_cast<guest_list_string_t*>(lua_touserdata(L, 1));
    lua_settop(L, 0);
    if (!lua_checkstack(L, int(arguments.len)))
        luaL_error(L, "too many arguments");
    for (size_t index = 0; index < arguments.len; index++)
        lua_pushlstring(L, reinterpret_cast<const char*>(arguments.ptr[index].ptr), arguments.ptr[index].len);
    return int(arguments.len);
}

// Called protected, with a pointer to the environment of the request.
int set_environment(lua_State* L)
{
    const auto& environment = *static_cast<toolscript_sandbox_types_list_variable_t*>(lua_touserdata(L, 1));
    lua_settop(L, 0);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    lua_createtable(L, 0, int(environment.len));
    for (size_t index = 0; index < environment.len; index++)
    {
        const toolscript_sandbox_types_variable_t& variable = environment.ptr[index];
        lua_pushlstring(L, reinterpret_cast<const char*>(variable.name.ptr), variable.name.len);
        lua_pushlstring(L, reinterpret_cast<const char*>(variable.value.ptr), variable.value.len);
        lua_rawset(L, -3);
    }
    lua_setreadonly(L, -1, true);
    set_field(L, "env");
    return 0;
}

// Called protected, with the results of the script.
int encode_results(lua_State* L)
{
    json_push_encoded_results(L, lua_gettop(L));
    return 2;
}

bool finish(guest_success_t* success, guest_failure_t* failure)
{
    collect_if_exhausted(thread);
    int count = lua_gettop(thread);
    lua_getref(thread, encode_results_ref);
    lua_insert(thread, 1);
    int status = lua_pcall(thread, count, 2, 0);
    if (status == LUA_ERRMEM)
        return fail_out_of_memory(failure);
    size_t size = 0;
    if (status != 0)
    {
        const char* message = lua_tolstring(thread, -1, &size);
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RESULT, message ? message : "", size);
    }
    // The strings stay in the heap of the VM until the instance ends. Nothing frees them in between.
    const char* json = lua_tolstring(thread, -2, &size);
    success->json = borrow_string(json, size);
    const char* replaced = lua_tolstring(thread, -1, &size);
    success->replaced = borrow_bytes(replaced, size);
    return true;
}

// Returns the state of `math.random` that Luau's internal `pcg32_seed` would set.
uint64_t random_state(uint64_t seed)
{
    constexpr uint64_t kIncrement = 105;
    constexpr uint64_t kMultiplier = 6364136223846793005;
    return (kIncrement + seed) * kMultiplier + kIncrement;
}

} // namespace

extern "C" void exports_guest_init()
{
    vm = new_state();
    thread = lua_newthread(vm);
    lua_ref(vm, -1);
    lua_pop(vm, 1);
    luaL_sandboxthread(thread);
    lua_pushcfunction(vm, push_arguments, "arguments");
    push_arguments_ref = lua_ref(vm, -1);
    lua_pushcfunction(vm, set_environment, "environment");
    set_environment_ref = lua_ref(vm, -1);
    lua_pushcfunction(vm, encode_results, "result");
    encode_results_ref = lua_ref(vm, -1);
    lua_pop(vm, 3);
    init_failures(vm);
    lua_gc(vm, LUA_GCCOLLECT, 0);
    // Grows the memory in the image, so that a small run does not call the host and change its memory mapping for it.
    void* volatile block = malloc(kInitialHeap);
    free(block);
}

extern "C" bool exports_guest_run(guest_request_t* request, guest_success_t* success, guest_failure_t* failure)
{
    clock_start();
    collector_set_memory_limit(vm, request->memory);
    vm->global->rngstate = random_state(request->seed);
    io_configure(vm, request->io.is_some ? &request->io.val : nullptr);
    sdk_configure(vm, request->tools.is_some ? &request->tools.val : nullptr);
    if (request->environment.is_some)
    {
        // Before the script is loaded, because loading it looks up the globals that it uses.
        lua_getref(vm, set_environment_ref);
        lua_pushlightuserdata(vm, &request->environment.val);
        if (lua_pcall(vm, 1, 0, 0) != 0)
            return fail_out_of_memory(failure);
    }

    bool is_loaded = load_script(thread, request->script, failure);
    guest_list_u8_free(&request->script);
    if (!is_loaded)
        return false;

    lua_getref(thread, push_arguments_ref);
    lua_pushlightuserdata(thread, &request->arguments);
    int status = lua_pcall(thread, 1, LUA_MULTRET, 0);
    if (status == 0)
        status = lua_resume(thread, nullptr, lua_gettop(thread) - 1);
    bool succeeded = status == 0 ? finish(success, failure) : fail_with_raised_error(failure, thread, status);
    // Flushed last, because an error value may have a `__tostring` that writes.
    const IoError* lost_write = io_finish();
    if (succeeded && lost_write)
        return fail(failure, TOOLSCRIPT_SANDBOX_TYPES_KIND_RUNTIME, lost_write->text, lost_write->size);
    return succeeded;
}

// The bindings refer to an object file that contains the contract. The build embeds the contract itself, because it removes `init`.
extern "C" void __component_type_object_force_link_guest() {}

// Replaces the bindings' function, which would free the result. The instance is dropped after the host has read it.
extern "C" void __wasm_export_exports_guest_run_post_return(uint8_t*) {}
