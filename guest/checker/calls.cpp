// Calls of functions of `sdk`.
#include "checker/checker.h"
#include "checker/nearest_name.h"

using namespace Luau;

namespace
{

// Returns true if the number of values of an expression is not known.
bool is_multiple(AstExpr* expression)
{
    return expression->is<AstExprCall>() || expression->is<AstExprVarargs>();
}

bool is_empty_table(AstExpr* expression)
{
    auto* table = without_groups(expression)->as<AstExprTable>();
    return table && table->items.size == 0;
}

std::string_view parameter_name(const AstTypeFunction* function, size_t index)
{
    bool is_named = index < function->argNames.size && function->argNames.data[index];
    return is_named ? std::string_view(function->argNames.data[index]->first.value) : std::string_view();
}

} // namespace

void Checker::check_call(AstExprCall* call)
{
    check_colon(call);
    std::string path = inference.path_of(call->func);
    std::string_view name = global_name(call->func);
    bool is_protected = name == "pcall" || name == "xpcall";
    if (is_protected && call->args.size > 0)
    {
        // `xpcall` has the handler between the function and its arguments.
        size_t first = name == "pcall" ? 1 : 2;
        protected_depth++;
        if (call->args.size >= first && inference.path_of(call->args.data[0]) == "sdk.all" && call->args.size > first)
            check_batch(call->args.data[first]);
        else if (call->args.size >= first)
            check_arguments(call->args.data[0], call->location, call->args.data + first, call->args.size - first);
        protected_depth--;
    }
    else if (path == "sdk.all" && !call->self && call->args.size > 0)
    {
        // With options, errors can be values.
        protected_depth += call->args.size > 1;
        is_in_batch = true;
        check_batch(call->args.data[0]);
        is_in_batch = false;
        protected_depth -= call->args.size > 1;
    }
    else if (path == "sdk.response" && !call->self && call->args.size > 0)
        check_arguments(call->args.data[0], call->location, call->args.data + 1, call->args.size - 1);
    else if (!call->self)
        check_arguments(call->func, call->location, call->args.data, call->args.size);
}

// The calls of `sdk.all`: a list of lists of a function and its arguments.
void Checker::check_batch(AstExpr* calls)
{
    auto* list = without_groups(calls)->as<AstExprTable>();
    if (!list)
        return;
    for (const AstExprTable::Item& item : list->items)
    {
        auto* call = item.kind == AstExprTable::Item::Kind::List ? without_groups(item.value)->as<AstExprTable>() : nullptr;
        if (!call)
            continue;
        std::vector<AstExpr*> values;
        for (const AstExprTable::Item& value : call->items)
            if (value.kind == AstExprTable::Item::Kind::List)
                values.push_back(value.value);
        if (values.size() == call->items.size && !values.empty())
            check_arguments(values[0], call->location, values.data() + 1, values.size() - 1);
    }
}

void Checker::check_arguments(AstExpr* callee, const Location& call, AstExpr* const* arguments, size_t count)
{
    std::string path = inference.path_of(callee);
    const AstType* type = path.substr(0, 4) == "sdk." ? definitions.resolve(inference.type_of(callee)) : nullptr;
    const auto* function = type ? type->as<AstTypeFunction>() : nullptr;
    if (!function || function->argTypes.tailType || is_sdk_built_in(path.substr(4)) || (count > 0 && is_multiple(arguments[count - 1])))
        return;
    // Nil at the end is no argument.
    while (count > 0 && without_groups(arguments[count - 1])->is<AstExprConstantNil>())
        count--;
    std::string name = full_name(path.substr(4));
    size_t declared = function->argTypes.types.size;
    auto parameter = [&](size_t index) { return parameter_name(function, index); };
    // The only argument of a function without parameters is the body. A table of parameters before it must be empty.
    bool is_body_only = declared == 1 && parameter(0) == "body";
    if (is_body_only && count == 2)
    {
        if (is_literal(arguments[0]) && !is_empty_table(arguments[0]))
            report(arguments[0]->location, name + ": the function has no parameters; pass the body alone");
        arguments++;
        count--;
    }
    for (size_t index = 0; index < count; index++)
    {
        AstExpr* argument = arguments[index];
        if (index < declared)
        {
            const AstType* expected = function->argTypes.types.data[index];
            bool is_table = parameter(index) == "params" || parameter(index) == "arguments";
            if (is_table)
                check_parameters(name, argument, expected);
            else
                check_literal(name + ": " + std::string(parameter(index)), argument, expected);
        }
        // An empty table is no argument.
        else if (is_literal(argument) && !(index == 0 && is_empty_table(argument)))
        {
            const char* reason = parameter(0) == "params" && index == 1 ? ": the function takes no body"
                                 : declared == 0                        ? ": the function takes no arguments"
                                                                        : ": too many arguments";
            report(argument->location, name + reason);
        }
    }
    for (size_t index = count; index < declared; index++)
    {
        const AstType* missing = function->argTypes.types.data[index];
        Shape shape = shape_of(definitions, missing);
        if (shape.is_optional())
            continue;
        if (parameter(index) == "body")
            report(call, name + ": the body is missing" + (declared > 1 ? "; pass it as the second argument" : ""));
        else if (shape.tables.size() == 1)
            check_fields(name + (parameter(index) == "params" ? "" : ": arguments"), nullptr, shape.tables);
        if (!mistakes.empty() && mistakes.back().location == Location())
            mistakes.back().location = call;
    }
}

// A table of parameters, or of the arguments of a tool.
void Checker::check_parameters(const std::string& name, AstExpr* argument, const AstType* type)
{
    Shape shape = shape_of(definitions, type);
    AstExpr* literal = without_groups(argument);
    if (shape.any || shape.tables.size() != 1)
        return;
    if (auto* table = literal->as<AstExprTable>())
        return check_fields(name, table, shape.tables);
    if (!is_literal(literal))
        return;
    std::vector<std::string_view> names = shape.tables[0].names();
    std::string example = names.empty() ? "" : ", such as {" + std::string(names[0]) + " = …}";
    report(argument->location, name + ": the first argument must be a table of parameters" + example + "; available: " + join_names(names, ", ", ""));
}
