// What a script does with its variables and tables, wherever it does it.
#pragma once

#include "Luau/Ast.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

// The value of a local variable.
struct LocalFact
{
    enum Kind
    {
        unknown,
        value,   // the value of the expression
        element, // an element of the table that the expression returns
    };

    Kind kind = unknown;
    Luau::AstExpr* source = nullptr;
    bool is_reassigned = false;
};

struct Facts
{
    std::unordered_map<const Luau::AstLocal*, LocalFact> locals;

    // The globals and the fields that the script assigns.
    std::unordered_set<std::string_view> assigned_globals;
    std::unordered_set<std::string_view> assigned_fields;

    // The functions that run under `pcall` or `xpcall`, because the script passes them to one of both.
    std::unordered_set<const Luau::AstExprFunction*> protected_functions;

    // The script can create globals or fields that these lists do not have.
    bool has_dynamic_globals = false;
    bool has_dynamic_fields = false;
};

Facts collect_facts(Luau::AstStatBlock* script);

// Removes parentheses.
Luau::AstExpr* without_groups(Luau::AstExpr* expression);

// Returns the name of the global that an expression is. Returns an empty text for any other expression.
std::string_view global_name(Luau::AstExpr* expression);

// Returns the name of the field that an expression accesses, and sets `base` to the table. Returns an empty text if the name is not constant.
std::string_view constant_field(Luau::AstExpr* expression, Luau::AstExpr** base);
