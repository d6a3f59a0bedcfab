// Finds the functions whose errors a script catches.
#pragma once

#include "Luau/Ast.h"

#include <string_view>
#include <unordered_set>
#include <vector>

// Errors in a function are caught if it is an argument of `pcall`, `xpcall` or `coroutine.create`, or of a function of the script that passes it on
// to one of them.
struct Protection
{
    std::vector<Luau::AstExprCall*> calls;

    // Adds a function with a name. `local` is null for a global.
    void add_definition(std::string_view name, const Luau::AstLocal* local, Luau::AstExprFunction* function);

    // Returns the functions whose errors are caught.
    std::unordered_set<const Luau::AstExprFunction*> functions() const;

private:
    struct Definition
    {
        std::string_view name;
        const Luau::AstLocal* local;
        Luau::AstExprFunction* function;
    };

    std::vector<Definition> definitions;

    const Definition* find(Luau::AstExpr* expression) const;
};
