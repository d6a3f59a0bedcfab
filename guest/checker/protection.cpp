#include "checker/protection.h"

#include <vector>

using namespace Luau;

namespace
{

bool is_catching(std::string_view global)
{
    return global == "pcall" || global == "xpcall" || global == "coroutine";
}

// Returns true for a call of a library function that calls its argument and catches nothing.
bool calls_its_argument(AstExprCall* call)
{
    AstExpr* base = nullptr;
    std::string_view name = constant_field(call->func, &base);
    return (name == "sort" && global_name(base) == "table") || (name == "gsub" && (call->self || global_name(base) == "string"));
}

struct Visitor : AstVisitor
{
    const Facts& facts;
    explicit Visitor(const Facts& facts)
        : facts(facts)
    {
    }

    bool has_catching = false;
    // The innermost function around the visited code. Null is the script itself.
    const AstExprFunction* current = nullptr;
    // The functions that call each function.
    std::unordered_map<const AstExprFunction*, std::vector<const AstExprFunction*>> callers;
    // The functions that are stored, returned or passed to code that may catch their errors.
    std::unordered_set<const AstExprFunction*> escaped;
    // The expressions that only call a function or define its name.
    std::unordered_set<const AstExpr*> harmless;

    bool visit(AstStatLocal* statement) override
    {
        for (size_t index = 0; index < statement->vars.size && index < statement->values.size; index++)
            if (facts.local_functions.count(statement->vars.data[index]))
                harmless.insert(without_groups(statement->values.data[index]));
        return true;
    }

    bool visit(AstStatLocalFunction* statement) override
    {
        if (facts.local_functions.count(statement->name))
            harmless.insert(statement->func);
        return true;
    }

    bool visit(AstStatFunction* statement) override
    {
        auto found = facts.global_functions.find(global_name(statement->name));
        if (found != facts.global_functions.end() && found->second == statement->func)
        {
            harmless.insert(statement->func);
            harmless.insert(statement->name);
        }
        return true;
    }

    bool visit(AstExprCall* call) override
    {
        AstExpr* callee = without_groups(call->func);
        if (AstExprFunction* function = function_of(callee))
        {
            callers[function].push_back(current);
            harmless.insert(callee);
        }
        if (calls_its_argument(call))
            for (AstExpr* argument : call->args)
                if (AstExprFunction* function = function_of(without_groups(argument)))
                {
                    callers[function].push_back(current);
                    harmless.insert(without_groups(argument));
                }
        return true;
    }

    bool visit(AstExprFunction* function) override
    {
        if (!harmless.count(function))
            escaped.insert(function);
        const AstExprFunction* outer = current;
        current = function;
        function->body->visit(this);
        current = outer;
        return false;
    }

    bool visit(AstExprLocal* local) override
    {
        mention(local);
        return true;
    }

    bool visit(AstExprGlobal* global) override
    {
        has_catching |= is_catching(global->name.value);
        mention(global);
        return true;
    }

    void mention(AstExpr* name)
    {
        AstExprFunction* function = harmless.count(name) ? nullptr : function_of(name);
        if (function)
            escaped.insert(function);
    }

    // Returns the function that an expression without parentheses is.
    AstExprFunction* function_of(AstExpr* expression) const
    {
        if (auto* function = expression->as<AstExprFunction>())
            return function;
        if (auto* local = expression->as<AstExprLocal>())
        {
            auto found = facts.local_functions.find(local->local);
            return found == facts.local_functions.end() ? nullptr : found->second;
        }
        auto found = facts.global_functions.find(global_name(expression));
        return found == facts.global_functions.end() ? nullptr : found->second;
    }
};

} // namespace

std::unordered_set<const AstExprFunction*> find_protected_functions(AstStatBlock* script, const Facts& facts)
{
    Visitor visitor(facts);
    script->visit(&visitor);
    bool can_catch = visitor.has_catching || facts.has_dynamic_globals;
    for (std::string_view name : facts.guarded_globals)
        can_catch |= is_catching(name);
    if (!can_catch)
        return {};
    // Follows the calls from each escaped function.
    std::unordered_map<const AstExprFunction*, std::vector<const AstExprFunction*>> callees;
    for (const auto& [function, callers] : visitor.callers)
        for (const AstExprFunction* caller : callers)
            callees[caller].push_back(function);
    std::unordered_set<const AstExprFunction*> found;
    std::vector<const AstExprFunction*> open(visitor.escaped.begin(), visitor.escaped.end());
    while (!open.empty())
    {
        const AstExprFunction* function = open.back();
        open.pop_back();
        if (!found.insert(function).second)
            continue;
        auto calls = callees.find(function);
        if (calls != callees.end())
            open.insert(open.end(), calls->second.begin(), calls->second.end());
    }
    return found;
}
