#include "wasi-command/options.h"
#include "runtime/utf8.h"

#include <charconv>
#include <stdio.h>
#include <stdlib.h>

const char kHelp[] = R"(Run a Luau script and print its outcome as one line of JSON

Usage: toolscript [OPTIONS] [FILE] [-- <ARGS>...]

Arguments:
  [FILE]     Path of the script in the granted directory, or `-` for standard input [default: -]
  [ARGS]...  Arguments of the script, available as `...`

Options:
  -e <CODE>             Run this text instead of a file
      --no-io           Run the script without file access
      --errors <HOW>    How `io` reports system errors: raise or return [default: raise]
      --max-bytes <N>   Maximum number of bytes that the script may write [default: 52428800]
      --max-files <N>   Maximum number of files, and of directories, that it may create [default: 10000]
      --unprotected-names
                        Let the script use names that other programs execute or trust, such as .git
  -h, --help            Print help
  -V, --version         Print version

The io directory is the first directory that the host grants. Lines that the script prints
are written to standard error at once and are part of the outcome. The host must limit the
time of the run.
)";

namespace
{

// The command line holds a script of up to 1 MiB, its arguments and options.
constexpr size_t kMaxText = 4 << 20;
constexpr size_t kMaxCount = 100'000;

// The limit of all arguments together, with an overhead for each, as in the native host.
constexpr size_t kMaxArguments = 1 << 20;
constexpr size_t kArgumentOverhead = 16;

char message[512];

// Formats an error message about a part of the command line, which is truncated if it is long.
const char* format_error(const char* what, std::string_view text, const char* fix)
{
    snprintf(message, sizeof(message), "%s '%.*s'; %s", what, int(text.size() < 100 ? text.size() : 100), text.data(), fix);
    return message;
}

// The command line from the host, which all options and arguments refer to.
struct CommandLine
{
    char** texts = nullptr;
    size_t count = 0;
    size_t next = 1; // skips the name of the program

    const char* read()
    {
        size_t size = 0;
        if (preview1_args_sizes_get(&count, &size) != __WASI_ERRNO_SUCCESS)
            return "can't read the command line from the host";
        if (size > kMaxText || count > kMaxCount)
            return "the command line is too long; pass a long script on standard input";
        texts = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
        char* text = static_cast<char*>(malloc(size + 1));
        if (!texts || !text || preview1_args_get(texts, text) != __WASI_ERRNO_SUCCESS)
            return "can't read the command line from the host";
        return nullptr;
    }

    bool take(std::string_view* text)
    {
        if (next >= count)
            return false;
        *text = texts[next++];
        return true;
    }
};

const char* parse_number(std::string_view text, uint64_t* number)
{
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *number);
    bool is_number = code == std::errc() && end == text.data() + text.size();
    return is_number ? nullptr : format_error("invalid number", text, "--max-bytes and --max-files take an integer of 0 or more");
}

const char* parse_value(std::string_view name, std::string_view value, Options* options)
{
    if (name == "-e")
    {
        if (options->has_code)
            return format_error("unexpected second script", value, "use -e only once");
        options->code = value;
        options->has_code = true;
        return nullptr;
    }
    if (name == "--max-bytes")
        return parse_number(value, &options->quota.max_bytes);
    if (name == "--max-files")
        return parse_number(value, &options->quota.max_files);
    if (value != "raise" && value != "return")
        return format_error("invalid value for --errors:", value, "use raise or return");
    options->system_errors = value == "raise" ? TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RAISE : TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RETURN;
    return nullptr;
}

const char* parse_option(std::string_view text, CommandLine* line, Options* options)
{
    if (text == "-h" || text == "--help")
        options->help = true;
    else if (text == "-V" || text == "--version")
        options->version = true;
    else if (text == "--no-io")
        options->no_io = true;
    else if (text == "--unprotected-names")
        options->unprotected_names = true;
    else
    {
        size_t equals = text.starts_with("--") ? text.find('=') : text.npos;
        std::string_view name = text.substr(0, equals);
        if (name != "-e" && name != "--errors" && name != "--max-bytes" && name != "--max-files")
            return format_error("unknown option", text, "see --help, and put arguments of the script after --");
        std::string_view value = equals == text.npos ? std::string_view() : text.substr(equals + 1);
        if (equals == text.npos && !line->take(&value))
            return format_error("missing value for", name, "see --help");
        return parse_value(name, value, options);
    }
    return nullptr;
}

const char* read_arguments(CommandLine* line, Options* options)
{
    guest_list_string_t& arguments = options->arguments;
    arguments.ptr = static_cast<guest_string_t*>(malloc((line->count + 1) * sizeof(guest_string_t)));
    if (!arguments.ptr)
        return "not enough memory for the command line";
    size_t size = 0;
    for (std::string_view text; line->take(&text);)
    {
        if (!is_utf8(text))
            return format_error("argument is not UTF-8:", text, "pass arguments as UTF-8 text");
        size += text.size() + kArgumentOverhead;
        arguments.ptr[arguments.len++] = {reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())), text.size()};
    }
    if (size <= kMaxArguments)
        return nullptr;
    snprintf(message, sizeof(message), "the arguments are %zu bytes; at most %zu are allowed", size, kMaxArguments);
    return message;
}

} // namespace

const char* options_parse(Options* options)
{
    CommandLine line;
    if (const char* error = line.read())
        return error;
    std::string_view text;
    while (line.take(&text) && text != "--")
    {
        if (text.starts_with("-") && text != "-")
        {
            if (const char* error = parse_option(text, &line, options))
                return error;
            continue;
        }
        if (options->has_file)
            return format_error("unexpected argument", text, "put arguments of the script after --");
        options->file = text;
        options->has_file = true;
    }
    if (options->has_file && options->has_code)
        return format_error("-e cannot be used with the file", options->file, "pass one script");
    return read_arguments(&line, options);
}
