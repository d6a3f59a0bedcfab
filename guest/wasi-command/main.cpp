// The sandbox as a WASI command. It is its own host: it runs one script and prints the outcome.
#include "lib/io/error.h"
#include "wasi-command/directory.h"
#include "wasi-command/io.h"
#include "wasi-command/options.h"
#include "wasi-command/protected_names.h"
#include "wasi-command/outcome.h"
#include "wasi-command/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

constexpr size_t kMaxScript = 1 << 20;
constexpr char kTooLarge[] = "the script is larger than 1048576 bytes";

ExitCode fail_usage(std::string_view message)
{
    Output output(kStandardError);
    output.add("error: ");
    output.add_escaped(message);
    output.add("\n");
    return kUsageError;
}

ExitCode print(std::string_view text)
{
    Output output(kStandardOutput);
    output.add(text);
    return output.flush() ? kSuccess : kFailed;
}

// Reads the script from standard input.
bool read_input(guest_list_u8_t* text, const char** message)
{
    text->len = 0;
    while (text->len <= kMaxScript)
    {
        __wasi_iovec_t rest = {text->ptr + text->len, kMaxScript + 1 - text->len};
        size_t done = 0;
        Errno number = preview1_fd_read(kStandardInput, &rest, 1, &done);
        if (number != __WASI_ERRNO_SUCCESS && number != __WASI_ERRNO_AGAIN && number != __WASI_ERRNO_INTR)
        {
            *message = "can't read standard input";
            return false;
        }
        if (number == __WASI_ERRNO_SUCCESS && done == 0)
            return true;
        text->len += done;
    }
    *message = kTooLarge;
    return false;
}

// Reads the script into a block that the run frees.
bool read_script(const Options& options, bool has_directory, guest_list_u8_t* script, const char** message)
{
    script->ptr = static_cast<uint8_t*>(malloc(kMaxScript + 1));
    *message = "not enough memory for the script";
    if (!script->ptr)
        return false;
    if (options.has_code)
    {
        *message = kTooLarge;
        script->len = options.code.size();
        if (script->len > kMaxScript)
            return false;
        memcpy(script->ptr, options.code.data(), script->len);
        return true;
    }
    if (!options.has_file || options.file == "-")
        return read_input(script, message);
    *message = "the host grants no directory to read the script from; pass the script on standard input or with -e";
    Error error;
    if (!has_directory || read_whole_file(options.file, script->ptr, kMaxScript, &script->len, &error))
        return has_directory;
    static char text[512];
    IoError io_error = to_io_error(error);
    snprintf(text, sizeof(text), "can't read the script: %.*s", int(io_error.size), io_error.text);
    *message = text;
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
    guest_request_t request = {};
    const char* message = nullptr;
    if (!read_script(options, has_directory, &request.script, &message))
        return fail_usage(message);
    request.arguments = options.arguments;
    request.io = {has_directory && !options.no_io, options.system_errors};
    request.seed = random_seed();
    request.memory = TOOLSCRIPT_MEMORY;

    guest_success_t success = {};
    guest_failure_t failure = {};
    bool succeeded = exports_guest_run(&request, &success, &failure);
    close_all_files();

    return outcome_print(succeeded ? &success : nullptr, &failure);
}

ExitCode start()
{
    // Starts the monotonic clock.
    wasi_clocks_monotonic_clock_now();
    Options options;
    if (const char* message = options_parse(&options))
        return fail_usage(message);
    if (options.help)
        return print(kHelp);
    if (options.version)
        return print("toolscript " TOOLSCRIPT_VERSION "\n");
    bool has_directory = find_granted_directory();
    set_quota(options.quota);
    set_names_protected(!options.unprotected_names);
    return run(options, has_directory);
}

} // namespace

// Called and then removed by the build.
extern "C" __attribute__((export_name("init"))) void command_init()
{
    exports_guest_init();
}

// Returning exits with code 0.
extern "C" __attribute__((export_name("_start"))) void command_start()
{
    if (ExitCode code = start())
        preview1_proc_exit(code);
}
