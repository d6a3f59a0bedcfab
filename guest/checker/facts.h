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

    // The names of all fields and keys in the script.
    std::unordered_set<std::string_view> member_names;

    // The globals that the script reads from `_G`, where an unknown one is nil.
    std::unordered_set<std::string_view> guarded_globals;

    // The functions whose errors the script may catch.
    std::unordered_set<const Luau::AstExprFunction*> protected_functions;

    // The functions by the names that scripts call them with. A name that is assigned more than once is not among them.
    std::unordered_map<const Luau::AstLocal*, Luau::AstExprFunction*> local_functions;
    std::unordered_map<std::string_view, Luau::AstExprFunction*> global_functions;

    // The variables of numeric loops that are never assigned.
    std::unordered_set<const Luau::AstLocal*> counters;

    // The script can create globals or fields that these lists do not have, or elements of other types in a table that it did not create.
    bool has_dynamic_globals = false;
    bool has_dynamic_fields = false;
    bool has_dynamic_elements = false;

    // Returns the function of the script that a call executes. Returns null if it is not certain.
    Luau::AstExprFunction* callee(const Luau::AstExprCall* call) const;
};

Facts collect_facts(Luau::AstStatBlock* script);

// Removes parentheses.
Luau::AstExpr* without_groups(Luau::AstExpr* expression);

// Returns true for a literal other than nil.
bool is_literal(Luau::AstExpr* expression);

// Returns the name of the global that an expression is. Returns an empty text for any other expression.
std::string_view global_name(Luau::AstExpr* expression);

// Returns the name of the field that an expression accesses, and sets `base` to the table. Returns an empty text if the name is not constant.
std::string_view constant_field(Luau::AstExpr* expression, Luau::AstExpr** base);
