// Literals in arguments of functions of `sdk`. Whatever is not a literal can be right, and is not examined.
#include "checker/checker.h"
#include "checker/nearest_name.h"

#include <charconv>
#include <math.h>

using namespace Luau;

namespace
{

// Returns true for the digits of an integer, which the host accepts as a number: scripts have integers beyond 2^53 as strings.
bool is_digits(const AstArray<char>& text)
{
    size_t start = text.size > 0 && text.data[0] == '-' ? 1 : 0;
    for (size_t index = start; index < text.size; index++)
        if (text.data[index] < '0' || text.data[index] > '9')
            return false;
    return text.size > start;
}

// Describes what is expected in the words of JSON Schema, as errors of calls do: `of type "string" or "null"`.
std::string describe(const Shape& shape)
{
    std::vector<std::string_view> names;
    if (shape.string || !shape.strings.empty())
        names.push_back("string");
    if (shape.number)
        names.push_back(shape.fraction || !shape.integer ? "number" : "integer");
    if (shape.boolean || shape.yes || shape.no)
        names.push_back("boolean");
    if (shape.function)
        names.push_back("function");
    if (!shape.tables.empty())
        names.push_back(shape.tables[0].elements() ? "array" : "object");
    return "of type " + join_names(names, " or ", "\"");
}

std::string join_numbers(const std::vector<double>& numbers)
{
    std::vector<std::string> texts;
    for (double number : numbers)
    {
        char text[32];
        texts.emplace_back(text, std::to_chars(text, text + sizeof(text), number).ptr - text);
    }
    return join_names({texts.begin(), texts.end()}, " or ", "");
}

std::string describe_literal(AstExpr* literal)
{
    if (auto* text = literal->as<AstExprConstantString>())
        return text->value.size > 40 ? "a string" : "\"" + std::string(text->value.data, text->value.size) + "\"";
    if (literal->is<AstExprConstantBool>())
        return literal->as<AstExprConstantBool>()->value ? "true" : "false";
    return literal->is<AstExprConstantNumber>() ? "a number"
           : literal->is<AstExprTable>()        ? "a table"
           : literal->is<AstExprFunction>()     ? "a function"
                                                : "this";
}

} // namespace

void Checker::check_literal(const std::string& path, AstExpr* literal, const AstType* type)
{
    Shape shape = shape_of(definitions, type);
    if (shape.any)
        return;
    literal = inference.constant_of(literal);
    auto* minus = literal->as<AstExprUnary>();
    bool is_negative = minus && minus->op == AstExprUnary::Op::Minus && without_groups(minus->expr)->is<AstExprConstantNumber>();
    if (is_negative)
        literal = without_groups(minus->expr);
    if (auto* table = literal->as<AstExprTable>())
        check_table(path, table, shape);
    else
        check_scalar(path, literal, shape, is_negative);
}

void Checker::check_scalar(const std::string& path, AstExpr* literal, const Shape& shape, bool is_negative)
{
    auto* text = literal->as<AstExprConstantString>();
    bool is_right = true;
    if (text)
    {
        std::string_view value(text->value.data, text->value.size);
        bool is_listed = false;
        for (std::string_view known : shape.strings)
            is_listed |= known == value;
        is_right = shape.string || is_listed || (shape.number && is_digits(text->value));
        if (!is_right && shape.is_enumeration())
        {
            std::string message = path + ": " + describe_literal(literal) + " is not one of " + join_names(shape.strings, " or ", "\"");
            return report(literal->location, message + did_you_mean(value, shape.strings));
        }
    }
    else if (auto* number = literal->as<AstExprConstantNumber>())
    {
        bool is_listed = false;
        for (double known : shape.numbers)
            is_listed |= known == (is_negative ? -number->value : number->value);
        is_right = shape.fraction || is_listed || (shape.integer && trunc(number->value) == number->value);
        if (!is_right && !shape.integer && !shape.numbers.empty())
            return report(literal->location, path + ": the number is not one of " + join_numbers(shape.numbers));
    }
    else if (auto* boolean = literal->as<AstExprConstantBool>())
        is_right = shape.boolean || (boolean->value ? shape.yes : shape.no);
    else if (literal->is<AstExprFunction>())
        is_right = shape.function;
    if (!is_right)
        report(literal->location, path + ": " + describe_literal(literal) + " is not " + describe(shape));
}

void Checker::check_table(const std::string& path, AstExprTable* table, const Shape& shape)
{
    if (shape.tables.empty())
        return report(table->location, path + ": a table is not " + describe(shape));
    if (table->items.size == 0 && shape.tables.size() > 1)
        return;
    if (shape.tables.size() > 1 || !shape.tables[0].elements())
        return check_fields(path, table, shape.tables);
    // A list. The size of a table without elements, which can be written as `{}`, is not known.
    bool has_elements = false;
    for (const AstExprTable::Item& item : table->items)
        has_elements |= item.kind != AstExprTable::Item::Kind::Record;
    if (!has_elements && table->items.size > 0)
        return report(table->location, path + ": a table with named fields is not a list; write {{…}} for a list of one table");
    size_t index = 0;
    for (const AstExprTable::Item& item : table->items)
        if (item.kind == AstExprTable::Item::Kind::List)
            check_literal(path + "[" + std::to_string(++index) + "]", item.value, shape.tables[0].elements());
}

// Checks the fields of a table literal. With several alternatives, a field is wrong only if it is wrong in all of them. Without a literal, all
// fields are missing.
void Checker::check_fields(const std::string& path, AstExprTable* table, const std::vector<TableShape>& shapes)
{
    bool is_single = shapes.size() == 1;
    bool is_open = false;
    std::vector<std::string_view> known;
    for (const TableShape& shape : shapes)
    {
        is_open |= shape.other_fields() || shape.elements();
        std::vector<std::string_view> names = shape.names();
        known.insert(known.end(), names.begin(), names.end());
    }
    // The parameters of an operation have the path of its function, which has no colon.
    bool are_parameters = path.find(": ") == std::string::npos;
    auto field_path = [&](std::string_view name) { return path + (are_parameters ? ": " : ".") + std::string(name); };
    std::set<std::string, std::less<>> given;
    bool is_complete = true;
    size_t elements = 0;
    for (const AstExprTable::Item& item : table ? table->items : AstArray<AstExprTable::Item>())
    {
        auto* key = item.key ? without_groups(item.key)->as<AstExprConstantString>() : nullptr;
        elements += item.kind == AstExprTable::Item::Kind::List;
        is_complete &= key || item.kind == AstExprTable::Item::Kind::List;
        if (!key)
            continue;
        std::string name(key->value.data, key->value.size);
        const AstType* type = nullptr;
        for (const TableShape& shape : shapes)
            type = type ? type : shape.field(name);
        std::string_view alias = type || !are_parameters ? std::string_view() : functions.parameter(path, name);
        if (!alias.empty() && shapes[0].field(alias))
        {
            name = alias;
            type = shapes[0].field(alias);
        }
        if (!without_groups(item.value)->is<AstExprConstantNil>())
            given.insert(name);
        if (type && is_single)
            check_literal(field_path(name), item.value, type);
        else if (!type && !is_open)
        {
            std::string hint = did_you_mean(name, known);
            std::string message = path + (are_parameters ? ": there is no parameter '" : ": there is no field '") + name + "'" + hint;
            message += "; available: " + (known.empty() ? "none" : join_names(known, ", ", ""));
            report(item.key->location, message, "", true, caught_name(nearest_names(name, known)));
        }
    }
    if (elements > 0 && given.empty() && is_complete && !is_open && !known.empty())
        return report(table->location, path + ": a list is not a table with named fields; available: " + join_names(known, ", ", ""));
    if (!is_single || !is_complete || elements > 0)
        return;
    for (std::string_view name : known)
    {
        if (given.find(name) == given.end() && shapes[0].is_required(definitions, name))
            report(table ? table->location : Location(),
                   path + (are_parameters ? ": the parameter '" : ": the field '") + std::string(name) + "' is missing");
    }
}
