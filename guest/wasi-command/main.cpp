// The box as a command of WASI's: it is its own host, runs one script, and prints the outcome.
#include "wasi-command/io.h"
#include "lib/io/host_file.h"
#include "wasi-command/options.h"
#include "wasi-command/outcome.h"
#include "wasi-command/output.h"
#include "wasi-command/directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

constexpr size_t kMaxScript = 1 << 20;
constexpr char kTooLarge[] = "the script is larger than 1048576 bytes";

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

// The whole of standard input.
bool read_input(unprepared_list_u8_t* text, const char** why)
{
    text->len = 0;
    while (text->len <= kMaxScript)
    {
        __wasi_iovec_t rest = {text->ptr + text->len, kMaxScript + 1 - text->len};
        size_t done = 0;
        Errno number = preview1_fd_read(kStandardInput, &rest, 1, &done);
        if (number != __WASI_ERRNO_SUCCESS && number != __WASI_ERRNO_AGAIN && number != __WASI_ERRNO_INTR)
        {
            *why = "standard input can't be read";
            return false;
        }
        if (number == __WASI_ERRNO_SUCCESS && done == 0)
            return true;
        text->len += done;
    }
    *why = kTooLarge;
    return false;
}

// The script, in a block that the run frees.
bool read_script(const Options& options, bool has_directory, unprepared_list_u8_t* script, const char** why)
{
    script->ptr = static_cast<uint8_t*>(malloc(kMaxScript + 1));
    *why = "there is no memory for the script";
    if (!script->ptr)
        return false;
    if (options.has_code)
    {
        *why = kTooLarge;
        script->len = options.code.size();
        if (script->len > kMaxScript)
            return false;
        memcpy(script->ptr, options.code.data(), script->len);
        return true;
    }
    if (!options.has_file || options.file == "-")
        return read_input(script, why);
    *why = "the host grants no directory to read the script from; pass it by standard input, or with -e";
    Error error;
    if (!has_directory || files_read_whole(options.file, script->ptr, kMaxScript, &script->len, &error))
        return has_directory;
    static char text[512];
    Problem problem = problem_of(error);
    snprintf(text, sizeof(text), "can't read the script: %.*s", int(problem.size), problem.text);
    *why = text;
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
    const char* why = nullptr;
    if (!read_script(options, has_directory, &request.script, &why))
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
