// The types of expressions, as far as they are certain.
#pragma once

#include "checker/facts.h"
#include "checker/shape.h"

#include <string>

class Inference
{
public:
    Inference(const Definitions& definitions, const Facts& facts)
        : definitions(definitions)
        , facts(facts)
    {
    }

    // Returns the type of the value of an expression. Returns null if it is not certain.
    const Luau::AstType* type_of(Luau::AstExpr* expression);

    // Returns the literal that a variable has, if it is never assigned again and is no table. Returns any other expression as it is.
    Luau::AstExpr* constant_of(Luau::AstExpr* expression);

    // Returns the path of a global or of a member of one, such as `sdk.shop.get_pet`, also if variables lead to it. Returns an empty text for
    // any other expression.
    std::string path_of(Luau::AstExpr* expression);

private:
    const Definitions& definitions;
    const Facts& facts;
    int depth = 0;

    const Luau::AstType* compute(Luau::AstExpr* expression);
    const Luau::AstType* type_of_call(Luau::AstExprCall* call);
    const Luau::AstType* type_of_field(Luau::AstExpr* base, std::string_view name);
    const Luau::AstType* type_of_field_of_strings(std::string_view name);
    const Luau::AstType* type_of_element(Luau::AstExpr* list);
    bool is_position(Luau::AstExpr* index) const;
    Luau::AstExpr* source_of(Luau::AstExpr* expression, LocalFact::Kind kind);
};
