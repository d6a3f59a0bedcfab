#include "wasi-command/options.h"
#include "lib/json/text_buffer.h"

#include <charconv>
#include <stdio.h>
#include <stdlib.h>

const char kHelp[] = R"(Runs a Luau script and prints its outcome as one line of JSON

Usage: toolscript [OPTIONS] [FILE] [-- <ARGS>...]

Arguments:
  [FILE]     The script, a path in the granted directory; `-` or none reads standard input
  [ARGS]...  What the script gets as `...`

Options:
  -e <CODE>             Runs this text instead of a file
      --no-io           Gives the script no files
      --errors <HOW>    What `io` does when the system refuses: raise or return [default: raise]
      --max-bytes <N>   Bytes that the script may write [default: 52428800]
      --max-files <N>   Files, and folders, that it may make [default: 10000]
  -h, --help            Prints this
  -V, --version         Prints the version

The first directory that the host grants is the io dir. Lines that the script prints
go to standard error as they come, and are in the outcome. Time is the host's to limit.
)";

namespace
{

// Bytes of the command line: a script of 1 MiB, its arguments, and the rest.
constexpr size_t kMaxText = 4 << 20;
constexpr size_t kMaxCount = 100'000;

// As in the host: all together, each with the cost of keeping it.
constexpr size_t kMaxArguments = 1 << 20;
constexpr size_t kArgumentOverhead = 16;

char problem[512];

const char* explain(const char* what, std::string_view about, const char* fix)
{
    // A long text is cut, not all of it is needed to find the place.
    snprintf(problem, sizeof(problem), "%s '%.*s'; %s", what, int(about.size() < 100 ? about.size() : 100), about.data(), fix);
    return problem;
}

struct CommandLine
{
    char** texts = nullptr;
    size_t count = 0;
    size_t next = 1; // the first is the program's name

    const char* read()
    {
        size_t size = 0;
        if (preview1_args_sizes_get(&count, &size) != __WASI_ERRNO_SUCCESS)
            return "the host does not tell the command line";
        if (size > kMaxText || count > kMaxCount)
            return "the command line is too long; a script of some length goes to standard input";
        texts = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
        char* text = static_cast<char*>(malloc(size + 1));
        if (!texts || !text || preview1_args_get(texts, text) != __WASI_ERRNO_SUCCESS)
            return "the host does not tell the command line";
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

const char* read_number(std::string_view text, uint64_t* number)
{
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *number);
    bool is_number = code == std::errc() && end == text.data() + text.size();
    return is_number ? nullptr : explain("there is no number", text, "give one of 0 or more to --max-bytes and --max-files");
}

const char* read_value(std::string_view name, std::string_view value, Options* options)
{
    if (name == "-e")
    {
        if (options->has_code)
            return explain("there are two scripts, and the second is", value, "give one");
        options->code = value;
        options->has_code = true;
        return nullptr;
    }
    if (name == "--max-bytes")
        return read_number(value, &options->quota.max_bytes);
    if (name == "--max-files")
        return read_number(value, &options->quota.max_files);
    if (value != "raise" && value != "return")
        return explain("--errors is", value, "give raise or return");
    options->refusals = value == "raise" ? TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RAISE : TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RETURN;
    return nullptr;
}

const char* read_option(std::string_view text, CommandLine* line, Options* options)
{
    if (text == "-h" || text == "--help")
        options->help = true;
    else if (text == "-V" || text == "--version")
        options->version = true;
    else if (text == "--no-io")
        options->no_io = true;
    else
    {
        size_t equals = text.starts_with("--") ? text.find('=') : text.npos;
        std::string_view name = text.substr(0, equals);
        if (name != "-e" && name != "--errors" && name != "--max-bytes" && name != "--max-files")
            return explain("there is no option", text, "see --help; what is for the script comes after --");
        std::string_view value = equals == text.npos ? std::string_view() : text.substr(equals + 1);
        if (equals == text.npos && !line->take(&value))
            return explain("there is no value for", name, "see --help");
        return read_value(name, value, options);
    }
    return nullptr;
}

const char* read_arguments(CommandLine* line, Options* options)
{
    unprepared_list_string_t& arguments = options->arguments;
    arguments.ptr = static_cast<unprepared_string_t*>(malloc((line->count + 1) * sizeof(unprepared_string_t)));
    if (!arguments.ptr)
        return "there is no memory for the command line";
    size_t size = 0;
    for (std::string_view text; line->take(&text);)
    {
        if (!is_utf8(text))
            return explain("an argument is not UTF-8:", text, "scripts get text only");
        size += text.size() + kArgumentOverhead;
        arguments.ptr[arguments.len++] = {reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())), text.size()};
    }
    if (size <= kMaxArguments)
        return nullptr;
    snprintf(problem, sizeof(problem), "the arguments are %zu bytes; at most %zu are allowed", size, kMaxArguments);
    return problem;
}

} // namespace

const char* options_read(Options* options)
{
    CommandLine line;
    if (const char* wrong = line.read())
        return wrong;
    std::string_view text;
    while (line.take(&text) && text != "--")
    {
        if (text.starts_with("-") && text != "-")
        {
            if (const char* wrong = read_option(text, &line, options))
                return wrong;
            continue;
        }
        if (options->has_file)
            return explain("there is a script already, and then", text, "what is for the script comes after --");
        options->file = text;
        options->has_file = true;
    }
    if (options->has_file && options->has_code)
        return explain("there is -e, and a file too:", options->file, "name one script");
    return read_arguments(&line, options);
}
