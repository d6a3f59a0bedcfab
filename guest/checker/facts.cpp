#include "checker/facts.h"
#include "checker/protection.h"

#include <vector>

namespace
{

using namespace Luau;

// Returns true for an expression whose value can only be a number. Writing to it adds no field.
bool is_numeric(AstExpr* expression)
{
    expression = without_groups(expression);
    auto* binary = expression->as<AstExprBinary>();
    return expression->is<AstExprConstantNumber>() || expression->is<AstExprUnary>() || (binary && binary->op < AstExprBinary::Op::Concat);
}

struct Visitor : AstVisitor
{
    Facts facts;
    Protection protection;

    // The tables in which the script writes fields whose names are not constant.
    std::vector<AstExpr*> dynamic_tables;

    // The variables that can only be numbers.
    std::unordered_set<const AstLocal*> counters;

    bool visit(AstStatLocal* statement) override
    {
        for (size_t index = 0; index < statement->vars.size && index < statement->values.size; index++)
        {
            AstExpr* value = without_groups(statement->values.data[index]);
            facts.locals[statement->vars.data[index]] = {LocalFact::value, value};
            if (auto* function = value->as<AstExprFunction>())
                protection.add_definition(statement->vars.data[index]->name.value, statement->vars.data[index], function);
        }
        return true;
    }

    bool visit(AstStatLocalFunction* statement) override
    {
        facts.locals[statement->name] = {LocalFact::value, statement->func};
        protection.add_definition(statement->name->name.value, statement->name, statement->func);
        return true;
    }

    bool visit(AstStatFor* statement) override
    {
        counters.insert(statement->var);
        return true;
    }

    bool visit(AstStatForIn* statement) override
    {
        if (statement->values.size != 1 || statement->vars.size != 2)
            return true;
        AstExpr* iterated = without_groups(statement->values.data[0]);
        if (auto* call = iterated->as<AstExprCall>())
        {
            std::string_view function = global_name(call->func);
            if ((function == "ipairs" || function == "pairs") && call->args.size == 1)
                iterated = call->args.data[0];
        }
        facts.locals[statement->vars.data[1]] = {LocalFact::element, iterated};
        return true;
    }

    // The comparator of `table.sort` receives elements.
    bool visit(AstExprCall* call) override
    {
        protection.calls.push_back(call);
        AstExpr* base = nullptr;
        bool is_sort = constant_field(call->func, &base) == "sort" && global_name(base) == "table" && call->args.size == 2;
        auto* comparator = is_sort ? without_groups(call->args.data[1])->as<AstExprFunction>() : nullptr;
        if (comparator)
            for (AstLocal* argument : comparator->args)
                facts.locals[argument] = {LocalFact::element, call->args.data[0]};
        return true;
    }

    bool visit(AstStatAssign* statement) override
    {
        for (AstExpr* target : statement->vars)
            assign(target);
        return true;
    }

    bool visit(AstStatCompoundAssign* statement) override
    {
        assign(statement->var);
        return true;
    }

    bool visit(AstStatFunction* statement) override
    {
        assign(statement->name);
        if (auto* global = statement->name->as<AstExprGlobal>())
            protection.add_definition(global->name.value, nullptr, statement->func);
        return true;
    }

    bool visit(AstExprGlobal* global) override
    {
        std::string_view name = global->name.value;
        facts.has_dynamic_globals |= name == "getfenv" || name == "setfenv";
        facts.has_dynamic_fields |= name == "setmetatable" || name == "rawset";
        return true;
    }

    void assign(AstExpr* target)
    {
        target = without_groups(target);
        if (auto* local = target->as<AstExprLocal>())
            facts.locals[local->local].is_reassigned = true;
        else if (auto* global = target->as<AstExprGlobal>())
            facts.assigned_globals.insert(global->name.value);
        AstExpr* base = nullptr;
        std::string_view field = constant_field(target, &base);
        if (!field.empty())
            facts.assigned_fields.insert(field);
        else if (auto* index = target->as<AstExprIndexExpr>())
        {
            auto* local = without_groups(index->index)->as<AstExprLocal>();
            if (!is_numeric(index->index) && !(local && counters.count(local->local)))
                dynamic_tables.push_back(index->expr);
        }
    }

    // Returns true for a variable that the script initialized with a table constructor.
    bool is_own_table(AstExpr* expression) const
    {
        auto* local = without_groups(expression)->as<AstExprLocal>();
        if (!local)
            return false;
        auto found = facts.locals.find(local->local);
        return found != facts.locals.end() && !found->second.is_reassigned && found->second.kind == LocalFact::value &&
               without_groups(found->second.source)->is<AstExprTable>();
    }
};

} // namespace

Facts collect_facts(AstStatBlock* script)
{
    Visitor visitor;
    script->visit(&visitor);
    visitor.facts.protected_functions = visitor.protection.functions();
    for (AstExpr* table : visitor.dynamic_tables)
        visitor.facts.has_dynamic_fields |= !visitor.is_own_table(table);
    return visitor.facts;
}

AstExpr* without_groups(AstExpr* expression)
{
    while (auto* group = expression->as<AstExprGroup>())
        expression = group->expr;
    return expression;
}

std::string_view global_name(AstExpr* expression)
{
    auto* global = expression ? without_groups(expression)->as<AstExprGlobal>() : nullptr;
    return global ? global->name.value : std::string_view();
}

std::string_view constant_field(AstExpr* expression, AstExpr** base)
{
    expression = without_groups(expression);
    if (auto* index = expression->as<AstExprIndexName>())
    {
        *base = index->expr;
        return index->index.value;
    }
    if (auto* index = expression->as<AstExprIndexExpr>())
    {
        if (auto* text = without_groups(index->index)->as<AstExprConstantString>())
        {
            *base = index->expr;
            return {text->value.data, text->value.size};
        }
    }
    return {};
}
