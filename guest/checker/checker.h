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
    std::string_view aliases; // per line the other name, a tab and the name

    // Returns true if there is a function of this name, or a table of functions.
    bool has(std::string_view name) const;

    // Returns the name of a parameter by its other name. Returns an empty text if it has none.
    std::string_view parameter(std::string_view alias) const;

    // Returns the names after a prefix such as `shop.`, up to the next dot.
    std::vector<std::string_view> members(std::string_view prefix) const;

    // Returns all names that have this prefix.
    std::vector<std::string_view> all(std::string_view prefix) const;
};

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
        tested, // the script asks whether it is nil
    };

    const Definitions& definitions;
    const FunctionNames& functions;
    const Facts& facts;
    Inference inference;
    std::vector<Mistake> mistakes;
    // The full names of functions by the names that the script uses.
    std::unordered_map<std::string, std::string> full_names;
    // What the script tests, in the form of `Mistake::missing`.
    std::unordered_set<std::string> tested;
    // The number of functions around the code that `pcall` calls.
    int protected_depth = 0;

    // Whether a mistake is certain although the script catches its error. A script can test with `pcall` how something fails, but nobody tests
    // a misspelt name.
    enum class Caught
    {
        is_note,
        is_error,
    };

    void report(const Luau::Location& location, std::string message, std::string missing = "", bool is_certain = true,
                Caught caught = Caught::is_note);

    // walk.cpp
    void visit(Luau::AstStat* statement);
    void visit(Luau::AstExpr* expression, Use use);
    void visit_all(const Luau::AstArray<Luau::AstExpr*>& expressions, Use use);
    void visit_target(Luau::AstExpr* target);
    void visit_call(Luau::AstExprCall* call);
    void visit_function(Luau::AstExprFunction* function);

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
    void check_scalar(const std::string& path, Luau::AstExpr* literal, const Shape& shape);
};
