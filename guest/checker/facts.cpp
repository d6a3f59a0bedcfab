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

// Returns true for the functions of `table` that write elements.
bool writes_elements(std::string_view name)
{
    return name == "insert" || name == "move" || name == "clear";
}

struct Visitor : AstVisitor
{
    Facts facts;

    // A table in which the script writes an element, and the index. The index is null if a function of `table` writes it.
    struct ElementWrite
    {
        AstExpr* table;
        AstExpr* index;
    };
    std::vector<ElementWrite> element_writes;

    // How often the script mentions `_G` and functions that write elements, and how many of these uses are understood.
    int unknown_uses_of_g = 0;
    int unknown_writers = 0;

    // The functions with a name. They are those of the facts if the name is not assigned again.
    std::vector<std::pair<const AstLocal*, AstExprFunction*>> local_functions;
    std::unordered_map<std::string_view, std::vector<AstExprFunction*>> global_functions;
    std::unordered_map<std::string_view, int> global_assignments;

    bool visit(AstStatLocal* statement) override
    {
        for (size_t index = 0; index < statement->vars.size && index < statement->values.size; index++)
        {
            AstExpr* value = without_groups(statement->values.data[index]);
            facts.locals[statement->vars.data[index]] = {LocalFact::value, value};
            if (auto* function = value->as<AstExprFunction>())
                local_functions.emplace_back(statement->vars.data[index], function);
        }
        return true;
    }

    bool visit(AstStatLocalFunction* statement) override
    {
        facts.locals[statement->name] = {LocalFact::value, statement->func};
        local_functions.emplace_back(statement->name, statement->func);
        return true;
    }

    bool visit(AstStatFor* statement) override
    {
        facts.counters.insert(statement->var);
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

    bool visit(AstExprCall* call) override
    {
        AstExpr* base = nullptr;
        std::string_view name = constant_field(call->func, &base);
        bool is_of_table = base && global_name(base) == "table";
        // The comparator of `table.sort` receives elements.
        auto* comparator =
            is_of_table && name == "sort" && call->args.size == 2 ? without_groups(call->args.data[1])->as<AstExprFunction>() : nullptr;
        if (comparator)
            for (AstLocal* argument : comparator->args)
                facts.locals[argument] = {LocalFact::element, call->args.data[0]};
        if (is_of_table && writes_elements(name) && call->args.size > 0)
        {
            unknown_writers--;
            // `table.move` writes to its last argument.
            element_writes.push_back({call->args.data[name == "move" && call->args.size > 4 ? 4 : 0], nullptr});
        }
        if (global_name(call->func) == "rawget" && call->args.size == 2 && global_name(call->args.data[0]) == "_G")
            if (auto* text = without_groups(call->args.data[1])->as<AstExprConstantString>())
                read_from_g({text->value.data, text->value.size});
        return true;
    }

    bool visit(AstExprTable* table) override
    {
        for (const AstExprTable::Item& item : table->items)
            if (auto* key = item.key ? without_groups(item.key)->as<AstExprConstantString>() : nullptr)
                facts.member_names.insert({key->value.data, key->value.size});
        return true;
    }

    bool visit(AstExprIndexName* index) override
    {
        visit_member(index);
        return true;
    }

    bool visit(AstExprIndexExpr* index) override
    {
        visit_member(index);
        return true;
    }

    void visit_member(AstExpr* access)
    {
        AstExpr* base = nullptr;
        std::string_view name = constant_field(access, &base);
        unknown_writers += writes_elements(name);
        facts.member_names.insert(name);
        if (!name.empty() && global_name(base) == "_G")
            read_from_g(name);
    }

    void read_from_g(std::string_view name)
    {
        unknown_uses_of_g--;
        facts.guarded_globals.insert(name);
        mention(name);
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
            global_functions[global->name.value].push_back(statement->func);
        return true;
    }

    bool visit(AstExprGlobal* global) override
    {
        unknown_uses_of_g += global->name == "_G";
        mention(global->name.value);
        return true;
    }

    void mention(std::string_view name)
    {
        facts.has_dynamic_globals |= name == "getfenv" || name == "setfenv";
        facts.has_dynamic_fields |= name == "setmetatable" || name == "rawset";
    }

    void assign(AstExpr* target)
    {
        target = without_groups(target);
        if (auto* local = target->as<AstExprLocal>())
            facts.locals[local->local].is_reassigned = true;
        else if (auto* global = target->as<AstExprGlobal>())
        {
            facts.assigned_globals.insert(global->name.value);
            global_assignments[global->name.value]++;
        }
        AstExpr* base = nullptr;
        std::string_view field = constant_field(target, &base);
        if (!field.empty())
            facts.assigned_fields.insert(field);
        else if (auto* index = target->as<AstExprIndexExpr>())
            element_writes.push_back({index->expr, index->index});
    }

    bool is_reassigned(const AstLocal* local) const
    {
        auto found = facts.locals.find(local);
        return found != facts.locals.end() && found->second.is_reassigned;
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

    // Computes the facts that need the whole script.
    void finish(AstStatBlock* script)
    {
        for (auto counter = facts.counters.begin(); counter != facts.counters.end();)
            counter = is_reassigned(*counter) ? facts.counters.erase(counter) : std::next(counter);
        facts.has_dynamic_globals |= unknown_uses_of_g > 0;
        facts.has_dynamic_fields |= unknown_uses_of_g > 0;
        // With other functions of these names, loops and comparators receive other values.
        bool has_own_libraries =
            facts.assigned_globals.count("pairs") || facts.assigned_globals.count("ipairs") || facts.assigned_globals.count("table");
        facts.has_dynamic_elements |= unknown_writers > 0 || has_own_libraries || facts.has_dynamic_globals;
        for (const ElementWrite& write : element_writes)
        {
            if (is_own_table(write.table))
                continue;
            facts.has_dynamic_elements = true;
            auto* local = write.index ? without_groups(write.index)->as<AstExprLocal>() : nullptr;
            facts.has_dynamic_fields |= write.index && !is_numeric(write.index) && !(local && facts.counters.count(local->local));
        }
        for (auto [local, function] : local_functions)
            if (!is_reassigned(local))
                facts.local_functions[local] = function;
        for (auto& [name, functions] : global_functions)
            if (functions.size() == 1 && global_assignments[name] == 1 && !facts.has_dynamic_globals)
                facts.global_functions[name] = functions[0];
        facts.protected_functions = find_protected_functions(script, facts);
    }
};

} // namespace

Facts collect_facts(AstStatBlock* script)
{
    Visitor visitor;
    script->visit(&visitor);
    visitor.finish(script);
    return visitor.facts;
}

AstExprFunction* Facts::callee(const AstExprCall* call) const
{
    if (call->self)
        return nullptr;
    AstExpr* expression = without_groups(call->func);
    if (auto* local = expression->as<AstExprLocal>())
    {
        auto found = local_functions.find(local->local);
        return found == local_functions.end() ? nullptr : found->second;
    }
    auto found = global_functions.find(global_name(expression));
    return found == global_functions.end() ? nullptr : found->second;
}

AstExpr* without_groups(AstExpr* expression)
{
    while (auto* group = expression->as<AstExprGroup>())
        expression = group->expr;
    return expression;
}

bool is_literal(AstExpr* expression)
{
    expression = without_groups(expression);
    return expression->is<AstExprConstantString>() || expression->is<AstExprConstantNumber>() || expression->is<AstExprConstantBool>() ||
           expression->is<AstExprTable>() || expression->is<AstExprInterpString>() || expression->is<AstExprFunction>();
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
