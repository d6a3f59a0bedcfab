#include "checker/shape.h"

#include <algorithm>
#include <stdlib.h>
#include <string>

namespace
{

// The number of nodes that are visited for one type. Definitions can refer to each other many times.
constexpr int kMaxNodes = 4000;

bool is_named(const Luau::AstType* type, const char* name)
{
    const auto* reference = type->as<Luau::AstTypeReference>();
    return reference && !reference->prefix && reference->name == name;
}

struct Collector
{
    const Definitions& definitions;
    int nodes_left = kMaxNodes;

    void collect(const Luau::AstType* unresolved, Shape& shape)
    {
        const Luau::AstType* type = definitions.resolve(unresolved);
        if (!type || --nodes_left < 0)
        {
            shape.any = true;
            return;
        }
        if (const auto* alternatives = type->as<Luau::AstTypeUnion>())
        {
            for (const Luau::AstType* alternative : alternatives->types)
                collect(alternative, shape);
        }
        else if (type->is<Luau::AstTypeOptional>())
            shape.nil = true;
        else if (const auto* table = type->as<Luau::AstTypeTable>())
            shape.tables.push_back({{table}});
        else if (const auto* parts = type->as<Luau::AstTypeIntersection>())
            collect_intersection(parts, shape);
        else if (const auto* text = type->as<Luau::AstTypeSingletonString>())
            shape.strings.push_back({text->value.data, text->value.size});
        else if (const auto* boolean = type->as<Luau::AstTypeSingletonBool>())
            (boolean->value ? shape.yes : shape.no) = true;
        else if (type->is<Luau::AstTypeFunction>())
            shape.function = true;
        else if (is_named(type, "string"))
            shape.string = true;
        else if (is_named(type, "number"))
            shape.number = shape.fraction = true;
        else if (is_named(type, "integer"))
            shape.number = shape.integer = true;
        else if (is_named(type, "exactly"))
            collect_number(type->as<Luau::AstTypeReference>(), shape);
        else if (is_named(type, "boolean"))
            shape.boolean = true;
        else if (is_named(type, "nil"))
            shape.nil = true;
        else
            shape.any = true;
    }

    // A number is written as a text, because Luau has no types of single numbers.
    void collect_number(const Luau::AstTypeReference* exactly, Shape& shape)
    {
        const Luau::AstType* parameter = exactly->parameters.size == 1 ? exactly->parameters.data[0].type : nullptr;
        const auto* text = parameter ? parameter->as<Luau::AstTypeSingletonString>() : nullptr;
        if (!text)
        {
            shape.any = true;
            return;
        }
        shape.number = true;
        shape.numbers.push_back(strtod(std::string(text->value.data, text->value.size).c_str(), nullptr));
    }

    // An intersection of tables is one table. Any other intersection is not examined.
    void collect_intersection(const Luau::AstTypeIntersection* parts, Shape& shape)
    {
        TableShape merged;
        for (const Luau::AstType* part : parts->types)
        {
            Shape single;
            collect(part, single);
            bool is_table = !single.any && single.tables.size() == 1 && !single.nil && !single.string && !single.number && !single.boolean &&
                            !single.function && !single.yes && !single.no && single.strings.empty();
            if (!is_table)
            {
                shape.any = true;
                return;
            }
            merged.parts.insert(merged.parts.end(), single.tables[0].parts.begin(), single.tables[0].parts.end());
        }
        shape.tables.push_back(merged);
    }
};

bool is_number_key(const Luau::AstTypeTable* table)
{
    return table->indexer && is_named(table->indexer->indexType, "number");
}

bool is_never_key(const Luau::AstTypeTable* table)
{
    return table->indexer && is_named(table->indexer->indexType, "never");
}

bool is_unknown_key(const Luau::AstTypeTable* table)
{
    return table->indexer && is_named(table->indexer->indexType, "unknown");
}

} // namespace

const Luau::AstType* TableShape::field(std::string_view name) const
{
    for (const Luau::AstTypeTable* part : parts)
        for (const Luau::AstTableProp& property : part->props)
            if (property.name.value == name)
                return property.type;
    return nullptr;
}

bool TableShape::is_required(const Definitions& definitions, std::string_view name) const
{
    for (const Luau::AstTypeTable* part : parts)
        for (const Luau::AstTableProp& property : part->props)
            if (property.name.value == name && !shape_of(definitions, property.type).is_optional())
                return true;
    return false;
}

const Luau::AstType* TableShape::other_fields() const
{
    for (const Luau::AstTypeTable* part : parts)
        if (part->indexer && !is_number_key(part) && !is_never_key(part) && !is_unknown_key(part))
            return part->indexer->resultType;
    return nullptr;
}

const Luau::AstType* TableShape::elements() const
{
    bool is_list = parts.size() == 1 && parts[0]->props.size == 0 && is_number_key(parts[0]);
    return is_list ? parts[0]->indexer->resultType : nullptr;
}

bool TableShape::is_closed(const Definitions& definitions) const
{
    for (const Luau::AstTypeTable* part : parts)
        if (!is_never_key(part) && !definitions.is_closed(part))
            return false;
    return true;
}

bool TableShape::is_observed() const
{
    return std::any_of(parts.begin(), parts.end(), is_unknown_key);
}

std::vector<std::string_view> TableShape::names() const
{
    std::vector<std::string_view> names;
    for (const Luau::AstTypeTable* part : parts)
        for (const Luau::AstTableProp& property : part->props)
            if (std::find(names.begin(), names.end(), property.name.value) == names.end())
                names.push_back(property.name.value);
    return names;
}

Shape shape_of(const Definitions& definitions, const Luau::AstType* type)
{
    Shape shape;
    Collector{definitions}.collect(type, shape);
    return shape;
}

const Luau::AstType* first_result(const Luau::AstTypeFunction* function)
{
    const auto* results = function->returnTypes ? function->returnTypes->as<Luau::AstTypePackExplicit>() : nullptr;
    return results && results->typeList.types.size > 0 ? results->typeList.types.data[0] : nullptr;
}
