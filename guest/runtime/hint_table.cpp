#include "runtime/hint_table.h"

#include <string.h>

namespace
{

constexpr const char* kNoModules = "modules need files, which are disabled; put the code into this script";
constexpr const char* kNoPackages = "there are no packages; require takes a path such as \"./name\"";
constexpr const char* kUseRequire = "use require(\"./name\") to load name.luau from the io directory";
constexpr const char* kNoLoading = "code cannot be loaded from text; write a function in this script";
constexpr const char* kNoCollector = "memory is freed automatically; remove the call";
constexpr const char* kNoIntegers = "numbers have no integer type; use math.floor or math.round";
constexpr const char* kNoPrograms = "a script cannot start programs";
constexpr const char* kNoFiles = "files are disabled";
constexpr const char* kNoRequests = "a script can make requests only with the functions of sdk";
constexpr const char* kArguments = "the arguments of the script are in ...";
constexpr const char* kJson = "use json.encode and json.decode";
constexpr const char* kPrint = "use print";
constexpr const char* kSleep = "use sleep(seconds)";
constexpr const char* kTrim = "use s:match(\"^%s*(.-)%s*$\")";
constexpr const char* kStartsWith = "use s:sub(1, #prefix) == prefix";
constexpr const char* kEndsWith = "use s:sub(-#suffix) == suffix";
constexpr const char* kContains = "use s:find(text, 1, true)";
constexpr const char* kSub = "use s:sub(first, last)";
constexpr const char* kFind = "use table.find(list, value)";
constexpr const char* kCount = "use #list, or count the entries in a loop";
constexpr const char* kInsert = "use table.insert(list, value)";
constexpr const char* kLoop = "use a loop";
constexpr const char* kReadFile = "use io.open(path):read(\"a\")";
constexpr const char* kWriteFile = "use io.open(path, \"w\"):write(text):close()";
constexpr const char* kDirectories = "io.open creates directories when it writes";

// Names that exist have no entry. A hint is only looked up for a value that is nil.
constexpr Hint kHints[] = {
    {"", "require", kNoModules},
    {"", "package", kNoPackages},
    {"", "load", kNoLoading},
    {"", "loadstring", kNoLoading},
    {"", "loadfile", kUseRequire},
    {"", "dofile", kUseRequire},
    {"", "collectgarbage", kNoCollector},
    {"", "gcinfo", kNoCollector},
    {"", "wait", kSleep, "sleep"},
    {"", "delay", kSleep, "sleep"},
    {"", "task", kSleep, "sleep"},
    {"", "tick", "use os.clock or os.time"},
    {"", "time", "use os.time"},
    {"", "arg", kArguments},
    {"", "argv", kArguments},
    {"", "input", "there is no standard input; the arguments of the script are in ..."},
    {"", "printf", "use print(string.format(...))"},
    {"", "warn", kPrint},
    {"", "console", kPrint},
    {"", "inspect", "use json.encode(value)"},
    {"", "len", "use #value"},
    {"", "str", "use tostring(value)"},
    {"", "int", "use tonumber(text), or math.floor(number)"},
    {"", "range", "use for i = first, last do"},
    {"", "bit", "use bit32"},
    {"", "JSON", kJson},
    {"", "cjson", kJson},
    {"", "dkjson", kJson},
    {"", "http", kNoRequests},
    {"", "fetch", kNoRequests},
    {"", "requests", kNoRequests},
    {"", "socket", kNoRequests},
    {"", "game", "this is Luau without Roblox"},
    {"", "io", kNoFiles},
    {"", "sdk", "no functions are configured"},

    {"os", "exit", "use return to end the script, or error(message) to fail"},
    {"os", "getenv", "there are no environment variables; the arguments of the script are in ..."},
    {"os", "execute", kNoPrograms},
    {"os", "tmpname", "use io.open with a name of your choice"},
    {"os", "setlocale", "there is no locale"},
    {"os", "sleep", kSleep, "sleep"},
    {"os", "mkdir", kDirectories},
    {"os", "remove", kNoFiles},

    {"io", "readfile", kReadFile},
    {"io", "read_file", kReadFile},
    {"io", "writefile", kWriteFile},
    {"io", "write_file", kWriteFile},
    {"io", "mkdir", kDirectories},
    {"io", "remove", "use os.remove(path)"},
    {"io", "dir", "use io.list(path)"},
    {"io", "ls", "use io.list(path)"},

    {"math", "tointeger", kNoIntegers},
    {"math", "type", "numbers have no integer type; compare with math.floor(number)"},
    {"math", "maxinteger", "use 2^53 or math.huge"},
    {"math", "mininteger", "use -2^53 or -math.huge"},
    {"math", "ult", "compare the numbers with <"},
    {"math", "mod", "use % or math.fmod"},
    {"math", "trunc", "use math.modf(number)"},

    {"string", "trim", kTrim},
    {"string", "strip", kTrim},
    {"string", "startswith", kStartsWith},
    {"string", "startsWith", kStartsWith},
    {"string", "starts_with", kStartsWith},
    {"string", "endswith", kEndsWith},
    {"string", "endsWith", kEndsWith},
    {"string", "ends_with", kEndsWith},
    {"string", "contains", kContains},
    {"string", "includes", kContains},
    {"string", "indexOf", kContains},
    {"string", "replace", "use s:gsub(pattern, replacement)"},
    {"string", "join", "use table.concat(list, separator)"},
    {"string", "concat", "use .. to join strings"},
    {"string", "substring", kSub},
    {"string", "substr", kSub},
    {"string", "slice", kSub},
    {"string", "length", "use #s"},
    {"string", "gfind", "use string.gmatch"},
    {"string", "fmt", "use string.format"},
    {"string", "toupper", "use s:upper()"},
    {"string", "tolower", "use s:lower()"},
    {"string", "dump", kNoLoading},

    {"table", "contains", kFind},
    {"table", "includes", kFind},
    {"table", "indexOf", kFind},
    {"table", "length", kCount},
    {"table", "size", kCount},
    {"table", "count", kCount},
    {"table", "len", kCount},
    {"table", "push", kInsert},
    {"table", "append", kInsert},
    {"table", "add", kInsert},
    {"table", "pop", "use table.remove(list)"},
    {"table", "copy", "use table.clone(t)"},
    {"table", "join", "use table.concat(list, separator)"},
    {"table", "slice", "use table.move(list, first, last, 1, {})"},
    {"table", "keys", kLoop},
    {"table", "values", kLoop},
    {"table", "map", kLoop},
    {"table", "filter", kLoop},
    {"table", "reduce", kLoop},
    {"table", "merge", kLoop},
    {"table", "reverse", kLoop},
    {"table", "tostring", "use json.encode(t)"},

    {"json", "stringify", "use json.encode"},
    {"json", "dumps", "use json.encode"},
    {"json", "parse", "use json.decode"},
    {"json", "loads", "use json.decode"},

    {"debug", "getinfo", "use debug.info"},
};

} // namespace

const Hint* find_hint_entry(const char* base, const char* name)
{
    for (const Hint& hint : kHints)
        if (strcmp(hint.name, name) == 0 && strcmp(hint.base, base) == 0)
            return &hint;
    return nullptr;
}

const char* find_library_hint(const char* library, const char* name)
{
    const Hint* hint = find_hint_entry(library, name);
    return hint ? hint->text : nullptr;
}
