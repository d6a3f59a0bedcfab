// What a value of a type can be.
#pragma once

#include "checker/definitions.h"

#include <string_view>
#include <vector>

// A table type: the fields of all its parts.
struct TableShape
{
    // One table type, or the parts of an intersection.
    std::vector<const Luau::AstTypeTable*> parts;

    // Returns the type of a field. Returns null if it has none of that name.
    const Luau::AstType* field(std::string_view name) const;

    // Returns true if a field must be there.
    bool is_required(const Definitions& definitions, std::string_view name) const;

    // Returns the type of the fields that have no name in the type. Returns null if there are none.
    const Luau::AstType* other_fields() const;

    // Returns the type of the elements if it is a list, and null otherwise.
    const Luau::AstType* elements() const;

    // Returns true if there are no other fields: the type has the indexer `[never]: never`, or is a closed built-in type.
    bool is_closed(const Definitions& definitions) const;

    // Returns true if the fields are those of earlier responses.
    bool is_observed() const;

    // Returns the names of the fields, in the order of the type, without repetitions.
    std::vector<std::string_view> names() const;
};

// The alternatives of a type.
struct Shape
{
    bool any = false;
    bool nil = false;
    bool string = false;
    bool number = false;
    bool fraction = false; // any number
    bool integer = false;  // any integer
    bool boolean = false;
    bool function = false;
    bool yes = false; // the literal `true`
    bool no = false;  // the literal `false`
    std::vector<std::string_view> strings;
    std::vector<double> numbers;
    std::vector<TableShape> tables;

    // Returns true if the type has strings, but only these.
    bool is_enumeration() const
    {
        return !string && !strings.empty();
    }

    // Returns true if nil is a value of the type, or could be.
    bool is_optional() const
    {
        return any || nil;
    }

    // Returns true if a table is a value of the type, or could be.
    bool has_table() const
    {
        return any || !tables.empty();
    }
};

// Returns the alternatives of a type. A type that is unknown or too complex is `any`.
Shape shape_of(const Definitions& definitions, const Luau::AstType* type);

// Returns the type of the first result of a function. Returns null if it is unknown.
const Luau::AstType* first_result(const Luau::AstTypeFunction* function);
