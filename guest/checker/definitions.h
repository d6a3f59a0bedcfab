// The type definitions that a script is checked against.
#pragma once

#include "Luau/Ast.h"
#include "Luau/Lexer.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

// Types and globals by their names. A type is a node of the syntax tree that the parser of Luau creates.
class Definitions
{
public:
    // Adds definitions. Returns false if they have a syntax error.
    bool add(std::string_view text);

    // Removes a global, such as `io`, or a member of one, such as `os.remove`.
    void remove(std::string_view name);

    // Declares that the tables of a named type have no other fields than those of the type.
    void close(std::string_view type_name);

    // Returns true if `close` was called for the type.
    bool is_closed(const Luau::AstTypeTable* table) const
    {
        return closed.count(table) > 0;
    }

    // Returns the type of a global. Returns null if there is none of that name.
    const Luau::AstType* global(std::string_view name) const;

    // Returns true if `remove` was called for the name.
    bool is_removed(std::string_view name) const;

    // Follows names of types. Returns null for a name without a definition.
    const Luau::AstType* resolve(const Luau::AstType* type) const;

    // Calls a function with the name of each global.
    template <typename F> void each_global(F visit) const
    {
        for (const auto& [name, type] : globals)
            if (!is_removed(name))
                visit(name);
    }

    // The names of the definitions and of the script. A name is the same pointer wherever it occurs.
    Luau::AstNameTable& names()
    {
        return table;
    }

    Luau::Allocator& allocator()
    {
        return memory;
    }

private:
    Luau::Allocator memory;
    Luau::AstNameTable table{memory};
    std::unordered_map<std::string_view, const Luau::AstType*> types;
    std::unordered_map<std::string_view, const Luau::AstType*> globals;
    std::unordered_set<std::string_view> removed;
    std::unordered_set<const Luau::AstTypeTable*> closed;
};
