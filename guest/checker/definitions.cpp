#include "checker/definitions.h"

#include "Luau/Parser.h"

namespace
{

// The number of names that lead from one to the next, such as `type A = B`.
constexpr int kMaxReferences = 32;

} // namespace

bool Definitions::add(std::string_view text)
{
    Luau::ParseOptions options;
    options.allowDeclarationSyntax = true;
    Luau::ParseResult parsed = Luau::Parser::parse(text.data(), text.size(), table, memory, options);
    if (!parsed.errors.empty())
        return false;
    for (Luau::AstStat* statement : parsed.root->body)
    {
        if (auto* alias = statement->as<Luau::AstStatTypeAlias>())
            types[alias->name.value] = alias->type;
        else if (auto* global = statement->as<Luau::AstStatDeclareGlobal>())
            globals[global->name.value] = global->type;
        else if (auto* function = statement->as<Luau::AstStatDeclareFunction>())
            globals[function->name.value] =
                memory.alloc<Luau::AstTypeFunction>(function->location, function->generics, function->genericPacks, function->params,
                                                    Luau::AstArray<std::optional<Luau::AstArgumentName>>(), function->retTypes);
    }
    return true;
}

void Definitions::remove(std::string_view name)
{
    removed.insert(table.getOrAdd(name.data(), name.size()).value);
}

void Definitions::close(std::string_view type_name)
{
    auto found = types.find(type_name);
    if (found != types.end())
        closed.insert(found->second->as<Luau::AstTypeTable>());
}

bool Definitions::is_removed(std::string_view name) const
{
    return removed.count(name) > 0;
}

const Luau::AstType* Definitions::global(std::string_view name) const
{
    auto found = globals.find(name);
    return found == globals.end() || is_removed(name) ? nullptr : found->second;
}

const Luau::AstType* Definitions::resolve(const Luau::AstType* type) const
{
    for (int count = 0; type && count < kMaxReferences; count++)
    {
        if (auto* group = type->as<Luau::AstTypeGroup>())
        {
            type = group->type;
            continue;
        }
        auto* reference = type->as<Luau::AstTypeReference>();
        if (!reference || reference->prefix)
            return type;
        auto found = types.find(reference->name.value);
        if (found == types.end())
            return type;
        type = found->second;
    }
    return nullptr;
}
