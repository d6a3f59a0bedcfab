#include "wasi-command/path.h"
#include "runtime/utf8.h"

#include <ctype.h>
#include <string.h>

namespace
{

constexpr size_t kMaxComponents = 64;
constexpr size_t kMaxComponent = 255;
constexpr std::string_view kTemporary = ".toolscript-tmp";
constexpr std::string_view kConfiguration = "toolscript.toml";

// The only non-ASCII characters whose uppercase is ASCII.
constexpr std::string_view kLongS = "\xc5\xbf";
constexpr std::string_view kDotlessI = "\xc4\xb1";

bool is_skipped(std::string_view component)
{
    return component.empty() || component == ".";
}

// Compares without regard to case. `reserved` is in lowercase.
bool is_same_name(std::string_view name, std::string_view reserved)
{
    for (char letter : reserved)
    {
        std::string_view other = letter == 's' ? kLongS : letter == 'i' ? kDotlessI : std::string_view();
        if (!other.empty() && name.starts_with(other))
            name.remove_prefix(other.size());
        else if (!name.empty() && tolower(name.front()) == letter)
            name.remove_prefix(1);
        else
            return false;
    }
    return name.empty();
}

// The error message for a path with this component, or null if the name is not reserved.
const char* reserved_message(std::string_view name)
{
    if (is_same_name(name, kTemporary))
        return "path cannot contain '.toolscript-tmp', a reserved name";
    if (is_same_name(name, kConfiguration))
        return "path cannot contain 'toolscript.toml', a reserved name";
    return nullptr;
}

// Returns the message of the first violated rule, in the order of the native host, or null.
const char* find_violation(std::string_view text)
{
    size_t count = 0;
    bool too_long = false;
    const char* reserved = nullptr;
    for (std::string_view rest = text; !rest.empty();)
    {
        std::string_view component = next_component(&rest);
        if (component == "..")
            return "path cannot contain '..' traversal";
        count += !is_skipped(component);
        too_long |= count > kMaxComponents || component.size() > kMaxComponent;
        if (!reserved)
            reserved = reserved_message(component);
    }
    return too_long ? "path is too long" : reserved;
}

} // namespace

std::string_view FilePath::parent() const
{
    std::string_view whole(name, size);
    size_t slash = whole.rfind('/');
    return slash == whole.npos ? std::string_view() : whole.substr(0, slash);
}

std::string_view FilePath::file_name() const
{
    std::string_view whole(name, size);
    return whole.substr(whole.rfind('/') + 1);
}

std::string_view next_component(std::string_view* rest)
{
    size_t slash = rest->find('/');
    std::string_view component = rest->substr(0, slash);
    rest->remove_prefix(slash == rest->npos ? rest->size() : slash + 1);
    return component;
}

bool path_is_reserved(std::string_view name)
{
    return reserved_message(name) != nullptr;
}

bool path_parse(std::string_view bytes, FilePath* path, Error* error)
{
    if (bytes.empty())
        return fail_invalid(error, "path cannot be empty");
    if (bytes.size() > kMaxPath)
        return fail_invalid(error, "path is too long");
    if (bytes.find('\0') != bytes.npos)
        return fail_invalid(error, "path cannot contain null bytes");
    if (!is_utf8(bytes))
        return fail_invalid(error, "path is not UTF-8");
    if (bytes.front() == '/')
        return fail_invalid(error, "path must be relative");
    if (const char* message = find_violation(bytes))
        return fail_invalid(error, message);

    path->size = 0;
    for (std::string_view rest = bytes; !rest.empty();)
    {
        std::string_view component = next_component(&rest);
        if (is_skipped(component))
            continue;
        if (path->size)
            path->name[path->size++] = '/';
        memcpy(path->name + path->size, component.data(), component.size());
        path->size += component.size();
    }
    path->is_directory = path->size == 0 || bytes.back() == '/' || bytes.ends_with("/.");
    return true;
}
