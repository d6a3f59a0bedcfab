// Names of globals, of members of libraries, of functions of `sdk`, and of fields of results.
#include "checker/checker.h"
#include "checker/nearest_name.h"
#include "lib/io/unavailable_names.h"
#include "runtime/hint_table.h"

#include <algorithm>

using namespace Luau;

namespace
{

// Returns `; ` and the hint for a name that other Luas have, or an empty text.
std::string hint_for(std::string_view library, std::string_view name)
{
    const char* hint = find_library_hint(std::string(library).c_str(), std::string(name).c_str());
    return hint ? std::string("; ") + hint : "";
}

// Returns the member of `io` that raises an error when it is used. Returns null if it is not one.
const UnavailableMember* find_unavailable(std::string_view path)
{
    for (const UnavailableMember& member : kUnavailableFunctions)
        if (path == member.full_name)
            return &member;
    for (const UnavailableMember& member : kUnavailableStreams)
        if (path == member.full_name)
            return &member;
    return nullptr;
}

// Calls a function with each line of a text, until it returns true.
template <typename F> bool any_line(std::string_view text, F visit)
{
    while (!text.empty())
    {
        size_t end = std::min(text.find('\n'), text.size());
        if (visit(text.substr(0, end)))
            return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

bool starts_with(std::string_view text, std::string_view prefix)
{
    return text.substr(0, prefix.size()) == prefix;
}

// Returns the first line that is not less than a text, by a binary search for the start of a line. Returns an empty text if there is none.
std::string_view first_line_from(std::string_view lines, std::string_view text)
{
    size_t low = 0;             // the start of a line; all lines before it are less
    size_t high = lines.size(); // the start of a line that is not less, or the end
    while (low < high)
    {
        size_t middle = low + (high - low) / 2;
        size_t newline = middle == 0 ? std::string_view::npos : lines.rfind('\n', middle - 1);
        size_t start = newline == std::string_view::npos ? 0 : newline + 1;
        size_t end = std::min(lines.find('\n', start), lines.size());
        if (lines.substr(start, end - start) < text)
            low = std::min(end + 1, lines.size());
        else
            high = start;
    }
    return lines.substr(low, lines.find('\n', low) - low);
}

} // namespace

bool is_sdk_built_in(std::string_view name)
{
    return name == "all" || name == "docs" || name == "response" || name == "search";
}

bool FunctionNames::has(std::string_view name) const
{
    std::string_view line = first_line_from(names, name);
    if (starts_with(line, name) && (line.size() == name.size() || line[name.size()] == '.' || line.substr(name.size()) == "="))
        return true;
    // Another name sorts behind the members of a table: `x.y` is less than `x=`.
    std::string other = std::string(name) + "=";
    if (first_line_from(names, other) == other)
        return true;
    for (size_t dot = name.find('.');; dot = name.find('.', dot + 1))
    {
        std::string unknown = std::string(name.substr(0, dot)) + ".*";
        if (first_line_from(names, unknown) == unknown)
            return true;
        if (dot == std::string_view::npos)
            return false;
    }
}

std::string_view FunctionNames::parameter(std::string_view function, std::string_view alias) const
{
    std::string start = std::string(function) + "\t" + std::string(alias) + "\t";
    std::string_view found;
    any_line(aliases,
             [&](std::string_view line)
             {
                 found = starts_with(line, start) ? line.substr(start.size()) : std::string_view();
                 return !found.empty();
             });
    return found;
}

std::vector<std::string_view> FunctionNames::members(std::string_view prefix) const
{
    std::vector<std::string_view> members;
    for (std::string_view name : all(prefix))
    {
        std::string_view rest = name.substr(prefix.size());
        members.push_back(rest.substr(0, rest.find('.')));
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    return members;
}

std::vector<std::string_view> FunctionNames::all(std::string_view prefix) const
{
    std::vector<std::string_view> found;
    any_line(names,
             [&](std::string_view line)
             {
                 if (starts_with(line, prefix) && line.back() != '=' && line.back() != '*')
                     found.push_back(line);
                 return false;
             });
    return found;
}

void Checker::check_global(AstExprGlobal* global, Use use)
{
    std::string_view name = global->name.value;
    bool is_tested = use == Use::tested || use == Use::equal;
    if (is_tested)
        tested.insert(std::string(name));
    if (is_tested || facts.has_dynamic_globals || facts.assigned_globals.count(name) || definitions.global(name))
        return;
    std::string message = "unknown global '" + std::string(name) + "'";
    std::string hint = hint_for("", name);
    if (hint.empty())
    {
        std::vector<std::string_view> known(facts.assigned_globals.begin(), facts.assigned_globals.end());
        definitions.each_global([&](std::string_view other) { known.push_back(other); });
        hint = did_you_mean(name, known);
    }
    report(global->location, message + hint, std::string(name));
}

void Checker::check_member(AstExpr* access, Use use)
{
    AstExpr* base = nullptr;
    std::string_view name = constant_field(access, &base);
    if (name.empty())
        return;
    auto* index = access->as<AstExprIndexName>();
    const Location& location = index ? index->indexLocation : access->location;
    std::string path = inference.path_of(base);
    if (path == "sdk" || starts_with(path, "sdk."))
        return check_function_name(location, path + "." + std::string(name), use);
    if (!path.empty())
        return check_library_member(location, path, name, use);
    const AstType* type = inference.type_of(base);
    if (!type)
        return;
    Shape shape = shape_of(definitions, type);
    bool is_text = shape.string && !shape.any && shape.tables.empty() && shape.strings.empty();
    // A field of a string is nil. Only calling it as a method is certainly a mistake: a response may have other types than its schema.
    if (!is_text)
        check_field(location, base, name, use);
    else if (use == Use::method)
        check_library_member(location, "string", name, use);
}

// A library is a global whose fields are all known.
void Checker::check_library_member(const Location& location, const std::string& base, std::string_view name, Use use)
{
    const AstType* type = definitions.global(base);
    if (!type)
        return;
    Shape shape = shape_of(definitions, type);
    if (shape.any || shape.tables.size() != 1 || shape.tables[0].other_fields())
        return;
    std::string path = base + "." + std::string(name);
    bool is_tested = use == Use::tested || use == Use::equal;
    if (is_tested)
        tested.insert(path);
    if (is_tested || (shape.tables[0].field(name) && !definitions.is_removed(path)))
        return;
    if (const UnavailableMember* member = find_unavailable(path))
    {
        if (is_needed(use))
            report(location, path + " is not available" + member->hint, path);
        return;
    }
    std::string hint = hint_for(base, name);
    report(location, base + " has no '" + std::string(name) + "'" + (hint.empty() ? did_you_mean(name, shape.tables[0].names()) : hint), path);
}

// Libraries are read-only.
void Checker::check_library_change(AstExpr* target)
{
    AstExpr* base = nullptr;
    std::string_view name = constant_field(target, &base);
    std::string path = name.empty() ? "" : inference.path_of(base);
    if (path.empty() || !definitions.global(path))
        return;
    Shape shape = shape_of(definitions, definitions.global(path));
    if (!shape.any && shape.tables.size() == 1)
        report(target->location, path + "." + std::string(name) + " can't be set, because '" + path + "' is readonly; write a local function");
}

// Returns the name of a function with its source, also if the script uses it without.
const std::string& Checker::full_name(const std::string& name)
{
    auto [found, is_new] = full_names.emplace(name, name);
    if (!is_new || name.find('.') != std::string::npos)
        return found->second;
    for (std::string_view line : functions.all(""))
    {
        bool is_longer = line.size() > name.size();
        if (is_longer && line.substr(line.size() - name.size()) == name && line[line.size() - name.size() - 1] == '.')
            found->second = line;
    }
    return found->second;
}

// `sdk` raises an error as soon as a wrong name is read.
void Checker::check_function_name(const Location& location, const std::string& path, Use use)
{
    std::string_view name = std::string_view(path).substr(4);
    if (!definitions.global("sdk") || is_sdk_built_in(name) || functions.has(name))
        return;
    size_t dot = name.rfind('.');
    std::string_view prefix = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot + 1);
    // The part before the last dot is reported where it stands.
    if (dot != std::string_view::npos && !functions.has(name.substr(0, dot)))
        return;
    std::vector<std::string_view> near = nearest_names(name.substr(prefix.size()), functions.members(prefix));
    std::string message = "there is no function '" + std::string(name) + "'";
    for (size_t index = 0; index < near.size(); index++)
        message.append(index == 0 ? "; did you mean " : ", ").append(prefix).append(near[index]);
    message += near.empty() ? "; use sdk.search to find functions" : "?";
    // A script that only reads the name may ask whether the function exists.
    report(location, message, "", true, is_needed(use) ? caught_name(near) : Caught::is_note);
}

// Reads of fields that the type of a result does not have.
void Checker::check_field(const Location& location, AstExpr* base, std::string_view name, Use use)
{
    Shape shape = shape_of(definitions, inference.type_of(base));
    bool is_table = !shape.any && !shape.string && !shape.number && !shape.boolean && !shape.function && !shape.yes && !shape.no &&
                    shape.strings.empty() && shape.tables.size() == 1 && !shape.tables[0].elements();
    if (!is_table)
        return;
    const TableShape& table = shape.tables[0];
    std::string missing = ".";
    missing += name;
    if (use == Use::tested)
        tested.insert(missing);
    bool can_be_there = table.field(name) || table.other_fields() || facts.assigned_fields.count(name) || facts.has_dynamic_fields;
    if (use == Use::tested || can_be_there || table.names().empty())
        return;
    std::string message = "there is no field '" + std::string(name) + "'" + did_you_mean(name, table.names());
    // A field of a file handle is nil until it is called.
    bool is_closed = table.is_closed(definitions) && (is_needed(use) || !definitions.is_closed(table.parts[0]));
    report(location,
           message + (is_closed             ? ""
                      : table.is_observed() ? "; earlier responses did not have it"
                                            : "; the response schema does not declare it"),
           missing, is_closed);
}

// A function of `sdk` raises an error if it is called with a colon.
void Checker::check_colon(AstExprCall* call)
{
    auto* method = call->self ? call->func->as<AstExprIndexName>() : nullptr;
    std::string path = method ? inference.path_of(method->expr) : "";
    if (path != "sdk" && !starts_with(path, "sdk."))
        return;
    std::string name = (path + "." + method->index.value).substr(4);
    if (is_sdk_built_in(name) || functions.has(name))
        report(method->indexLocation, name + ": call it with a dot: sdk." + name + "(...)");
}
