// Walks through a script and collects its mistakes.
#pragma once

#include "checker/inference.h"

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

struct Mistake
{
    Luau::Location location;
    std::string message;
    bool is_certain;
    // Names what is missing, such as `string.trim`. If the script asks anywhere whether it exists, the mistake is not certain.
    std::string missing;
};

// The functions that `sdk` has: their full names without `sdk.`, and their parameters' other names.
struct FunctionNames
{
    std::string_view names;   // one per line, sorted; `x.*` stands for all names that begin with `x.`, and `x=` is not suggested
    std::string_view aliases; // per line the function, the other name and the name of a parameter, with tabs

    // Returns true if there is a function of this name, or a table of functions.
    bool has(std::string_view name) const;

    // Returns the name of a parameter of a function by its other name. Returns an empty text if it has none.
    std::string_view parameter(std::string_view function, std::string_view alias) const;

    // Returns the names after a prefix such as `shop.`, up to the next dot.
    std::vector<std::string_view> members(std::string_view prefix) const;

    // Returns all names that have this prefix.
    std::vector<std::string_view> all(std::string_view prefix) const;
};

// Returns true for the members of `sdk` that are not functions of the host.
bool is_sdk_built_in(std::string_view name);

class Checker
{
public:
    Checker(const Definitions& definitions, const FunctionNames& functions, const Facts& facts)
        : definitions(definitions)
        , functions(functions)
        , facts(facts)
        , inference(definitions, facts)
    {
    }

    // Returns the mistakes, sorted by position.
    std::vector<Mistake> check(Luau::AstStatBlock* script);

private:
    // What happens to the value of an expression.
    enum class Use
    {
        value,  // it is stored, passed or returned
        needed, // the script fails if it is nil, because it is called, indexed or computed with
        method, // it is a method that is called
        equal,  // it is compared with a literal other than nil
        tested, // the script asks whether it is nil
    };

    // Returns true if the script fails without the value.
    static bool is_needed(Use use)
    {
        return use == Use::needed || use == Use::method;
    }

    const Definitions& definitions;
    const FunctionNames& functions;
    const Facts& facts;
    Inference inference;
    std::vector<Mistake> mistakes;
    // The full names of functions by the names that the script uses.
    std::unordered_map<std::string, std::string> full_names;
    // What the script tests, in the form of `Mistake::missing`.
    std::unordered_set<std::string> tested;
    // The variables that the script tests, and what is stored in variables: something in the form of `Mistake::missing`, or another variable.
    std::unordered_set<const Luau::AstLocal*> tested_variables;
    std::vector<std::pair<const Luau::AstLocal*, std::string>> stored_names;
    std::vector<std::pair<const Luau::AstLocal*, const Luau::AstLocal*>> stored_variables;
    // The number of constructs around the code whose errors are caught, or that is not executed.
    int protected_depth = 0;
    // The checked calls are in a list for `sdk.all`.
    bool is_in_batch = false;

    // Whether a mistake is certain although the script catches its error.
    enum class Caught
    {
        is_note,
        is_error,
    };

    void report(const Luau::Location& location, std::string message, std::string missing = "", bool is_certain = true,
                Caught caught = Caught::is_note);
    Caught caught_name(const std::vector<std::string_view>& near) const;

    // walk.cpp
    void visit(Luau::AstStat* statement);
    void visit(Luau::AstExpr* expression, Use use);
    void visit_all(const Luau::AstArray<Luau::AstExpr*>& expressions, Use use);
    void visit_target(Luau::AstExpr* target);
    void visit_call(Luau::AstExprCall* call);
    void visit_function(Luau::AstExprFunction* function);
    void store(const Luau::AstLocal* variable, Luau::AstExpr* value);
    void follow_variables();
    bool is_never_nil(Luau::AstExpr* expression);

    // names.cpp
    void check_global(Luau::AstExprGlobal* global, Use use);
    void check_member(Luau::AstExpr* access, Use use);
    void check_library_member(const Luau::Location& location, const std::string& base, std::string_view name, Use use);
    void check_library_change(Luau::AstExpr* target);
    void check_function_name(const Luau::Location& location, const std::string& path, Use use);
    void check_field(const Luau::Location& location, Luau::AstExpr* base, std::string_view name, Use use);
    void check_colon(Luau::AstExprCall* call);
    const std::string& full_name(const std::string& name);

    // calls.cpp
    void check_call(Luau::AstExprCall* call);
    void check_batch(Luau::AstExpr* calls);
    void check_arguments(Luau::AstExpr* function, const Luau::Location& call, Luau::AstExpr* const* arguments, size_t count);
    void check_parameters(const std::string& name, Luau::AstExpr* argument, const Luau::AstType* type);

    // literals.cpp
    void check_literal(const std::string& path, Luau::AstExpr* literal, const Luau::AstType* type);
    void check_table(const std::string& path, Luau::AstExprTable* table, const Shape& shape);
    void check_fields(const std::string& path, Luau::AstExprTable* table, const std::vector<TableShape>& shapes);
    void check_scalar(const std::string& path, Luau::AstExpr* literal, const Shape& shape, bool is_negative);
};
