// The box as a command of WASI's: it is its own host, runs one script, and prints the outcome.
#include "files.h"
#include "host_file.h"
#include "options.h"
#include "outcome.h"
#include "output.h"
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

constexpr size_t kMaxScript = 1 << 20;

ExitCode refuse(std::string_view why)
{
    Output output(kStandardError);
    output.add("error: ");
    output.add_harmless(why);
    output.add("\n");
    return kWrongUsage;
}

ExitCode print(std::string_view text)
{
    Output output(kStandardOutput);
    output.add(text);
    return output.flush() ? kDone : kFailed;
}

// The whole of standard input, or false if it is too long or can't be read.
bool read_input(unprepared_list_u8_t* text)
{
    text->ptr = static_cast<uint8_t*>(malloc(kMaxScript + 1));
    text->len = 0;
    while (text->ptr && text->len <= kMaxScript)
    {
        __wasi_iovec_t rest = {text->ptr + text->len, kMaxScript + 1 - text->len};
        size_t done = 0;
        Errno number = preview1_fd_read(kStandardInput, &rest, 1, &done);
        if (number != __WASI_ERRNO_SUCCESS && number != __WASI_ERRNO_AGAIN && number != __WASI_ERRNO_INTR)
            return false;
        if (number == __WASI_ERRNO_SUCCESS && done == 0)
            return true;
        text->len += done;
    }
    return false;
}

// The script, in a block that the run frees.
bool read_script(const Options& options, bool has_directory, unprepared_list_u8_t* script, char* why, size_t why_size)
{
    if (options.has_code)
    {
        *script = {static_cast<uint8_t*>(malloc(options.code.size() + 1)), options.code.size()};
        if (script->ptr)
            memcpy(script->ptr, options.code.data(), options.code.size());
        snprintf(why, why_size, "the script is larger than %zu bytes", kMaxScript);
        return script->ptr && script->len <= kMaxScript;
    }
    if (options.file.empty() || options.file == "-")
    {
        snprintf(why, why_size, "standard input can't be read, or is larger than %zu bytes", kMaxScript);
        return read_input(script);
    }
    if (!has_directory)
    {
        snprintf(why, why_size, "the host grants no directory to read the script from; pass it by standard input, or with -e");
        return false;
    }
    Error error;
    if (files_read_whole(options.file, kMaxScript, script, &error))
        return true;
    Problem problem = problem_of(error);
    snprintf(why, why_size, "can't read the script: %.*s", int(problem.size), problem.text);
    return false;
}

uint64_t random_seed()
{
    uint64_t seed = 0;
    if (preview1_random_get(&seed, sizeof(seed)) != __WASI_ERRNO_SUCCESS)
        preview1_clock_time_get(__WASI_CLOCKID_REALTIME, 1, &seed);
    return seed;
}

ExitCode run(const Options& options, bool has_directory)
{
    unprepared_request_t request = {};
    char why[512];
    if (!read_script(options, has_directory, &request.script, why, sizeof(why)))
        return refuse(why);
    request.arguments = options.arguments;
    request.io = {has_directory && !options.no_io, options.refusals};
    request.seed = random_seed();
    request.memory = TOOLSCRIPT_MEMORY;

    unprepared_string_t result = {};
    unprepared_failure_t failure = {};
    bool done = exports_unprepared_run(&request, &result, &failure);
    files_end();

    return outcome_print(done ? &result : nullptr, &failure);
}

ExitCode start()
{
    // `os.clock` counts from here.
    wasi_clocks_monotonic_clock_now();
    Options options;
    if (const char* wrong = options_read(&options))
        return refuse(wrong);
    if (options.help)
        return print(kHelp);
    if (options.version)
        return print("toolscript " TOOLSCRIPT_VERSION "\n");
    bool has_directory = walk_start();
    files_begin(options.quota);
    return run(options, has_directory);
}

} // namespace

// The build calls this, and drops it.
extern "C" __attribute__((export_name("init"))) void command_init()
{
    exports_unprepared_init();
}

// A return is an exit with 0.
extern "C" __attribute__((export_name("_start"))) void command_start()
{
    if (ExitCode code = start())
        preview1_proc_exit(code);
}

extern "C" void unprepared_list_u8_free(unprepared_list_u8_t* list)
{
    free(list->ptr);
}

// There are no functions of a host's in here.
void guest_open_sdk(lua_State*) {}
void guest_set_sdk(lua_State*, const uint64_t*) {}
