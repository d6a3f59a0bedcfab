#include "checker/inference.h"

using namespace Luau;

namespace
{

// The number of expressions that lead from one to the next. Each step can be a variable, so a script can make long chains.
constexpr int kMaxDepth = 48;

struct Returns : AstVisitor
{
    int count = 0;
    AstExpr* result = nullptr;

    bool visit(AstStatReturn* statement) override
    {
        count++;
        result = statement->list.size == 1 ? statement->list.data[0] : nullptr;
        return false;
    }

    bool visit(AstExpr*) override
    {
        return false;
    }
};

// Returns the expression that a function returns, if it has one return statement with one value.
AstExpr* only_result(AstExprFunction* function)
{
    Returns returns;
    function->body->visit(&returns);
    return returns.count == 1 ? returns.result : nullptr;
}

} // namespace

// Returns the expression that a variable gets its value from, if it is never assigned again.
AstExpr* Inference::source_of(AstExpr* expression, LocalFact::Kind kind)
{
    auto* local = expression->as<AstExprLocal>();
    auto found = local ? facts.locals.find(local->local) : facts.locals.end();
    bool is_known = found != facts.locals.end() && found->second.kind == kind && !found->second.is_reassigned;
    return is_known ? found->second.source : nullptr;
}

const AstType* Inference::type_of(AstExpr* expression)
{
    if (depth >= kMaxDepth)
        return nullptr;
    depth++;
    const AstType* type = compute(without_groups(expression));
    depth--;
    return type;
}

const AstType* Inference::compute(AstExpr* expression)
{
    if (AstExpr* source = source_of(expression, LocalFact::value))
        return type_of(source);
    if (AstExpr* list = source_of(expression, LocalFact::element))
        return type_of_element(list);
    if (auto* global = expression->as<AstExprGlobal>())
        return facts.has_dynamic_globals || facts.assigned_globals.count(global->name.value) ? nullptr : definitions.global(global->name.value);
    AstExpr* base = nullptr;
    std::string_view field = constant_field(expression, &base);
    if (!field.empty())
        return type_of_field(base, field);
    if (auto* index = expression->as<AstExprIndexExpr>())
        return is_position(index->index) ? type_of_element(index->expr) : nullptr;
    if (auto* call = expression->as<AstExprCall>())
        return type_of_call(call);
    if (expression->is<AstExprConstantString>() || expression->is<AstExprInterpString>())
        return definitions.global("_VERSION");
    if (auto* binary = expression->as<AstExprBinary>())
    {
        // The fallback `{}` has no fields that could be read.
        auto* table = binary->op == AstExprBinary::Op::Or ? without_groups(binary->right)->as<AstExprTable>() : nullptr;
        return table && table->items.size == 0 ? type_of(binary->left) : nullptr;
    }
    return nullptr;
}

const AstType* Inference::type_of_call(AstExprCall* call)
{
    // `assert` returns its arguments.
    if (global_name(call->func) == "assert" && call->args.size > 0 && !path_of(call->func).empty())
        return type_of(call->args.data[0]);
    if (AstExprFunction* function = facts.callee(call))
    {
        AstExpr* result = only_result(function);
        return result ? type_of(result) : nullptr;
    }
    const AstType* callee = definitions.resolve(type_of(call->func));
    const auto* function = callee ? callee->as<AstTypeFunction>() : nullptr;
    return function ? first_result(function) : nullptr;
}

AstExpr* Inference::constant_of(AstExpr* expression)
{
    AstExpr* found = without_groups(expression);
    for (int count = 0; count < kMaxDepth; count++)
    {
        AstExpr* source = source_of(found, LocalFact::value);
        if (!source)
            return found->is<AstExprTable>() ? without_groups(expression) : found;
        found = without_groups(source);
    }
    return expression;
}

const AstType* Inference::type_of_field(AstExpr* base, std::string_view name)
{
    const AstType* type = type_of(base);
    if (!type)
        return nullptr;
    Shape shape = shape_of(definitions, type);
    if (shape.string && shape.tables.empty())
        return type_of_field_of_strings(name);
    if (shape.any || shape.tables.size() != 1)
        return nullptr;
    const AstType* field = shape.tables[0].field(name);
    // A field that the script assigns can have any value.
    bool is_assigned = facts.has_dynamic_fields || facts.assigned_fields.count(name);
    return is_assigned && path_of(base).empty() ? nullptr : field ? field : shape.tables[0].other_fields();
}

const AstType* Inference::type_of_field_of_strings(std::string_view name)
{
    Shape library = shape_of(definitions, definitions.global("string"));
    return library.tables.size() == 1 ? library.tables[0].field(name) : nullptr;
}

// Returns true for an index that is a number: a literal or the counter of a loop.
bool Inference::is_position(AstExpr* index) const
{
    index = without_groups(index);
    auto* local = index->as<AstExprLocal>();
    return index->is<AstExprConstantNumber>() || (local && facts.counters.count(local->local));
}

const AstType* Inference::type_of_element(AstExpr* list)
{
    if (facts.has_dynamic_elements)
        return nullptr;
    const AstType* type = type_of(list);
    if (!type)
        return nullptr;
    Shape shape = shape_of(definitions, type);
    return shape.any || shape.tables.size() != 1 ? nullptr : shape.tables[0].elements();
}

std::string Inference::path_of(AstExpr* expression)
{
    if (depth >= kMaxDepth)
        return "";
    expression = without_groups(expression);
    if (auto* global = expression->as<AstExprGlobal>())
        return facts.has_dynamic_globals || facts.assigned_globals.count(global->name.value) ? "" : global->name.value;
    depth++;
    std::string path;
    AstExpr* base = nullptr;
    if (AstExpr* source = source_of(expression, LocalFact::value))
        path = path_of(source);
    else if (std::string_view field = constant_field(expression, &base); !field.empty())
    {
        path = path_of(base);
        if (!path.empty())
            path.append(".").append(field);
    }
    depth--;
    return path;
}
