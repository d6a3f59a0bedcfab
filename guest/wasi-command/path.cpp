#include "wasi-command/path.h"
#include "runtime/utf8.h"
#include "wasi-command/protected_names.h"

#include <string.h>

namespace
{

constexpr size_t kMaxComponents = 64;
constexpr size_t kMaxComponent = 255;
constexpr std::string_view kTemporary = ".toolscript-tmp";
constexpr std::string_view kConfiguration = "toolscript.toml";

bool is_skipped(std::string_view component)
{
    return component.empty() || component == ".";
}

// The error message for a path with this component, or null if the name is not reserved.
const char* reserved_message(std::string_view name)
{
    FoldedName folded(name);
    if (folded.text() == kTemporary)
        return "path cannot contain '.toolscript-tmp', a reserved name";
    if (folded.text() == kConfiguration)
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

// Checks that no component is protected from the access.
bool check_protection(const FilePath& path, Access access, Error* error)
{
    for (std::string_view rest(path.name, path.size); !rest.empty();)
    {
        std::string_view name = next_component(&rest);
        Protection protection = find_protection(name);
        if (protection == Protection::hidden)
            return fail_credentials(error, path, name);
        if (protection == Protection::read_only && access == Access::write)
            return fail_protected(error, path, name);
    }
    return true;
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

bool path_is_hidden(std::string_view name)
{
    return reserved_message(name) || find_protection(name) == Protection::hidden;
}

bool path_parse(std::string_view bytes, Access access, FilePath* path, Error* error)
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
    return check_protection(*path, access, error);
}
