#include "checker/protection.h"
#include "checker/facts.h"

using namespace Luau;

namespace
{

// The number of functions that pass a function on to the next.
constexpr int kMaxLevels = 8;

bool catches_errors(AstExpr* callee)
{
    std::string_view name = global_name(callee);
    AstExpr* base = nullptr;
    return name == "pcall" || name == "xpcall" || (constant_field(callee, &base) == "create" && global_name(base) == "coroutine");
}

bool has_argument(const AstExprFunction* function, const AstLocal* local)
{
    for (const AstLocal* argument : function->args)
        if (argument == local)
            return true;
    return false;
}

} // namespace

void Protection::add_definition(std::string_view name, const AstLocal* local, AstExprFunction* function)
{
    definitions.push_back({name, local, function});
}

const Protection::Definition* Protection::find(AstExpr* expression) const
{
    expression = without_groups(expression);
    auto* local = expression->as<AstExprLocal>();
    std::string_view global = global_name(expression);
    for (const Definition& definition : definitions)
        if (local ? definition.local == local->local : !definition.local && !global.empty() && definition.name == global)
            return &definition;
    return nullptr;
}

std::unordered_set<const AstExprFunction*> Protection::functions() const
{
    std::unordered_set<const AstExprFunction*> found;
    std::unordered_set<const AstExprFunction*> catching; // the functions that pass an argument on
    for (int level = 0; level < kMaxLevels; level++)
    {
        size_t before = found.size() + catching.size();
        for (AstExprCall* call : calls)
        {
            const Definition* callee = find(call->func);
            if (!catches_errors(call->func) && !(callee && catching.count(callee->function)))
                continue;
            for (AstExpr* argument : call->args)
            {
                argument = without_groups(argument);
                if (auto* function = argument->as<AstExprFunction>())
                    found.insert(function);
                else if (const Definition* definition = find(argument))
                    found.insert(definition->function);
                else if (auto* local = argument->as<AstExprLocal>())
                    for (const Definition& definition : definitions)
                        if (has_argument(definition.function, local->local))
                            catching.insert(definition.function);
            }
        }
        if (found.size() + catching.size() == before)
            break;
    }
    return found;
}
