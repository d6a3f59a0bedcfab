// The walk through the syntax tree. It keeps track of what happens to each value.
#include "checker/checker.h"

#include <algorithm>

using namespace Luau;

namespace
{

// The number of mistakes after which the rest of a script is not examined. A script can have very many.
constexpr size_t kMaxMistakes = 400;

// The functions that accept nil, so that a script can ask with them whether something exists.
bool is_test(std::string_view name)
{
    return name == "type" || name == "typeof" || name == "rawequal";
}

} // namespace

void Checker::report(const Location& location, std::string message, std::string missing, bool is_certain, Caught caught)
{
    bool is_caught = protected_depth > 0 && caught == Caught::is_note;
    mistakes.push_back({location, std::move(message), is_certain && !is_caught, std::move(missing)});
}

// A script can test with `pcall` how something fails, and can try a name and then another. But nobody tests a misspelt name alone.
Checker::Caught Checker::caught_name(const std::vector<std::string_view>& near) const
{
    for (std::string_view name : near)
        if (!is_in_batch && facts.member_names.count(name))
            return Caught::is_note;
    return near.empty() ? Caught::is_note : Caught::is_error;
}

std::vector<Mistake> Checker::check(AstStatBlock* script)
{
    tested.insert(facts.guarded_globals.begin(), facts.guarded_globals.end());
    visit(script);
    follow_variables();
    for (Mistake& mistake : mistakes)
        if (!mistake.missing.empty() && tested.count(mistake.missing))
            mistake.is_certain = false;
    std::stable_sort(mistakes.begin(), mistakes.end(), [](const Mistake& a, const Mistake& b) { return a.location.begin < b.location.begin; });
    auto is_repeated = [](const Mistake& a, const Mistake& b) { return a.location.begin == b.location.begin && a.message == b.message; };
    mistakes.erase(std::unique(mistakes.begin(), mistakes.end(), is_repeated), mistakes.end());
    return std::move(mistakes);
}

void Checker::visit_all(const AstArray<AstExpr*>& expressions, Use use)
{
    for (AstExpr* expression : expressions)
        visit(expression, use);
}

void Checker::visit(AstStat* statement)
{
    if (mistakes.size() >= kMaxMistakes)
        return;
    if (auto* block = statement->as<AstStatBlock>())
    {
        for (AstStat* inner : block->body)
            visit(inner);
    }
    else if (auto* branch = statement->as<AstStatIf>())
    {
        visit(branch->condition, Use::tested);
        visit(branch->thenbody);
        if (branch->elsebody)
            visit(branch->elsebody);
    }
    else if (auto* loop = statement->as<AstStatWhile>())
    {
        visit(loop->condition, Use::tested);
        visit(loop->body);
    }
    else if (auto* loop = statement->as<AstStatRepeat>())
    {
        visit(loop->body);
        visit(loop->condition, Use::tested);
    }
    else if (auto* result = statement->as<AstStatReturn>())
        visit_all(result->list, Use::value);
    else if (auto* expression = statement->as<AstStatExpr>())
        visit(expression->expr, Use::value);
    else if (auto* local = statement->as<AstStatLocal>())
    {
        visit_all(local->values, Use::value);
        for (size_t index = 0; index < local->vars.size && index < local->values.size; index++)
            store(local->vars.data[index], local->values.data[index]);
    }
    else if (auto* loop = statement->as<AstStatFor>())
    {
        visit(loop->from, Use::needed);
        visit(loop->to, Use::needed);
        if (loop->step)
            visit(loop->step, Use::needed);
        visit(loop->body);
    }
    else if (auto* loop = statement->as<AstStatForIn>())
    {
        visit_all(loop->values, loop->values.size == 1 ? Use::needed : Use::value);
        visit(loop->body);
    }
    else if (auto* assignment = statement->as<AstStatAssign>())
    {
        for (AstExpr* target : assignment->vars)
            visit_target(target);
        visit_all(assignment->values, Use::value);
        for (size_t index = 0; index < assignment->vars.size && index < assignment->values.size; index++)
            if (auto* local = without_groups(assignment->vars.data[index])->as<AstExprLocal>())
                store(local->local, assignment->values.data[index]);
    }
    else if (auto* assignment = statement->as<AstStatCompoundAssign>())
    {
        // The script reads the field, too, but it is among those that the script assigns.
        visit_target(assignment->var);
        visit(assignment->value, Use::needed);
    }
    else if (auto* function = statement->as<AstStatFunction>())
    {
        visit_target(function->name);
        visit_function(function->func);
    }
    else if (auto* function = statement->as<AstStatLocalFunction>())
        visit_function(function->func);
}

// A target of an assignment is not read, but the table that contains it is.
void Checker::visit_target(AstExpr* target)
{
    target = without_groups(target);
    check_library_change(target);
    if (auto* index = target->as<AstExprIndexName>())
        visit(index->expr, Use::needed);
    else if (auto* index = target->as<AstExprIndexExpr>())
    {
        visit(index->expr, Use::needed);
        visit(index->index, Use::value);
    }
}

void Checker::visit(AstExpr* expression, Use use)
{
    if (auto* group = expression->as<AstExprGroup>())
        visit(group->expr, use);
    else if (auto* local = expression->as<AstExprLocal>())
    {
        if (use == Use::tested)
            tested_variables.insert(local->local);
    }
    else if (auto* global = expression->as<AstExprGlobal>())
        check_global(global, use);
    else if (auto* index = expression->as<AstExprIndexName>())
    {
        visit(index->expr, Use::needed);
        check_member(index, use);
    }
    else if (auto* index = expression->as<AstExprIndexExpr>())
    {
        visit(index->expr, Use::needed);
        visit(index->index, Use::value);
        check_member(index, use);
    }
    else if (auto* call = expression->as<AstExprCall>())
        visit_call(call);
    else if (auto* function = expression->as<AstExprFunction>())
        visit_function(function);
    else if (auto* table = expression->as<AstExprTable>())
    {
        for (const AstExprTable::Item& item : table->items)
        {
            if (item.key)
                visit(item.key, Use::value);
            visit(item.value, Use::value);
        }
    }
    else if (auto* unary = expression->as<AstExprUnary>())
        visit(unary->expr, unary->op == AstExprUnary::Op::Not ? Use::tested : Use::needed);
    else if (auto* binary = expression->as<AstExprBinary>())
    {
        bool is_choice = binary->op == AstExprBinary::Op::And || binary->op == AstExprBinary::Op::Or;
        bool is_comparison = binary->op == AstExprBinary::Op::CompareEq || binary->op == AstExprBinary::Op::CompareNe;
        auto compared_with = [](AstExpr* other) { return is_literal(other) ? Use::equal : Use::tested; };
        visit(binary->left, is_comparison ? compared_with(binary->right) : is_choice ? Use::tested : Use::needed);
        // The last of several alternatives may be missing, too, and is not evaluated after one that is always there.
        bool is_alternative = binary->op == AstExprBinary::Op::Or && use == Use::value;
        bool is_skipped = binary->op == AstExprBinary::Op::Or && is_never_nil(binary->left);
        protected_depth += is_skipped;
        visit(binary->right, is_comparison ? compared_with(binary->left) : is_alternative ? Use::tested : is_choice ? use : Use::needed);
        protected_depth -= is_skipped;
    }
    else if (auto* cast = expression->as<AstExprTypeAssertion>())
        visit(cast->expr, use);
    else if (auto* choice = expression->as<AstExprIfElse>())
    {
        visit(choice->condition, Use::tested);
        visit(choice->trueExpr, use);
        visit(choice->falseExpr, use);
    }
    else if (auto* text = expression->as<AstExprInterpString>())
        visit_all(text->expressions, Use::value);
    else if (auto* instantiation = expression->as<AstExprInstantiate>())
        visit(instantiation->expr, use);
}

void Checker::visit_call(AstExprCall* call)
{
    visit(call->func, call->self ? Use::method : Use::needed);
    std::string_view name = global_name(call->func);
    // `pcall` catches the error of a function that is nil, too.
    bool is_caught = name == "pcall" || name == "xpcall";
    AstExprFunction* function = facts.callee(call);
    for (size_t index = 0; index < call->args.size; index++)
    {
        visit(call->args.data[index], is_test(name) || (is_caught && index == 0) ? Use::tested : Use::value);
        if (function && index < function->args.size)
            store(function->args.data[index], call->args.data[index]);
    }
    check_call(call);
}

// Remembers what a variable or a parameter gets, because the script may test it there.
void Checker::store(const AstLocal* variable, AstExpr* value)
{
    value = without_groups(value);
    AstExpr* base = nullptr;
    std::string_view field = constant_field(value, &base);
    if (auto* local = value->as<AstExprLocal>())
        stored_variables.emplace_back(variable, local->local);
    else if (auto* global = value->as<AstExprGlobal>())
        stored_names.emplace_back(variable, global->name.value);
    else if (!field.empty())
        stored_names.emplace_back(variable, inference.path_of(base) + "." + std::string(field));
}

// Adds what is stored in the tested variables to what is tested.
void Checker::follow_variables()
{
    for (size_t before = 0; before != tested_variables.size();)
    {
        before = tested_variables.size();
        for (auto [variable, source] : stored_variables)
            if (tested_variables.count(variable))
                tested_variables.insert(source);
    }
    for (auto& [variable, name] : stored_names)
        if (tested_variables.count(variable))
            tested.insert(name);
}

// Returns true for a literal, a known global and a known member of a library.
bool Checker::is_never_nil(AstExpr* expression)
{
    expression = without_groups(expression);
    std::string path = inference.path_of(expression);
    if (path.empty())
        return is_literal(expression) && !expression->is<AstExprConstantBool>();
    return inference.type_of(expression) != nullptr && !definitions.is_removed(path);
}

void Checker::visit_function(AstExprFunction* function)
{
    bool is_protected = facts.protected_functions.count(function) > 0;
    protected_depth += is_protected;
    visit(function->body);
    protected_depth -= is_protected;
}
