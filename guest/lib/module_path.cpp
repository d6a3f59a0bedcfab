#include "lib/module_path.h"
#include "lib/json/text_buffer.h"

#include "lualib.h"

#include <string_view>

namespace
{

constexpr std::string_view kSelf = "@self";

// The maximum length of a path. The host rejects a longer one too.
constexpr size_t kMaxPath = 4096;

// Returns the path of the file that contains the innermost Luau function. It is empty for the script itself.
std::string_view caller_path(lua_State* L)
{
    lua_Debug frame;
    for (int level = 1; lua_getinfo(L, level, "s", &frame); level++)
    {
        if (strcmp(frame.what, "C") == 0)
            continue;
        std::string_view source = frame.source;
        return source == "=script" ? std::string_view() : source.substr(1);
    }
    return {};
}

std::string_view parent(std::string_view path)
{
    size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view without_suffix(std::string_view path)
{
    return path.substr(0, path.rfind('.'));
}

bool is_init(std::string_view path)
{
    std::string_view name = without_suffix(path);
    return name == "init" || name.ends_with("/init");
}

bool starts_with_component(std::string_view name, std::string_view component)
{
    return name.starts_with(component) && (name.size() == component.size() || name[component.size()] == '/');
}

[[noreturn]] void fail_prefix(lua_State* L)
{
    const char* name = lua_tostring(L, 1);
    if (name[0] == '@')
        luaL_error(L, "invalid module path '%s': the only alias is '@self'", name);
    lua_getglobal(L, name);
    if (lua_istable(L, -1))
        luaL_error(L, "'%s' is a global; use it without require", name);
    luaL_error(L, "invalid module path '%s': it must start with './', '../' or '@self/'; modules are files of the io directory", name);
}

// Appends the components of a path, and resolves `.` and `..`.
void add_components(lua_State* L, TextBuffer& path, std::string_view text)
{
    while (!text.empty())
    {
        size_t slash = text.find('/');
        std::string_view component = text.substr(0, slash);
        text = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
        if (component.empty() || component == ".")
            continue;
        if (component != "..")
        {
            if (path.size > 0)
                path.add('/');
            path.add(component.data(), component.size());
            continue;
        }
        if (path.size == 0)
            luaL_error(L, "invalid module path '%s': it leaves the io directory", lua_tostring(L, 1));
        path.size = parent({path.data, path.size}).size();
    }
}

} // namespace

void module_push_path(lua_State* L)
{
    size_t size = 0;
    const char* text = lua_tolstring(L, 1, &size);
    std::string_view name(text, size);
    if (size > kMaxPath)
        luaL_error(L, "invalid module path: it is too long");
    if (memchr(text, 0, size))
        luaL_error(L, "invalid module path: it contains a null byte");
    std::string_view caller = caller_path(L);
    std::string_view base = parent(caller);
    if (starts_with_component(name, kSelf))
    {
        // The directory of an `init` file, or the directory beside another file that has its name.
        base = caller.empty() || is_init(caller) ? base : without_suffix(caller);
        name.remove_prefix(kSelf.size());
    }
    else if (!starts_with_component(name, ".") && !starts_with_component(name, ".."))
        fail_prefix(L);
    else if (is_init(caller))
        // An `init` file stands for its directory, so the name is relative to the directory above.
        base = parent(base);
    TextBuffer path(L);
    add_components(L, path, base);
    add_components(L, path, name);
    if (path.size == 0)
        luaL_error(L, "invalid module path '%s': it names the io directory", text);
    path.push();
}
