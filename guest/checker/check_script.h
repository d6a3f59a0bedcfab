// Checks one script.
#pragma once

#include "checker/checker.h"

#include <string>

// The input of a check; see `request` in the contract.
struct CheckRequest
{
    std::string_view script;
    std::string_view definitions;
    FunctionNames functions;
    std::string_view absent;
};

// A mistake, with its position in characters.
struct Finding
{
    Mistake mistake;
    uint32_t line;
    uint32_t column;
    uint32_t length;
};

// Checks a script against the definitions of the built-in globals, to which it adds those of the request. Returns false and sets `reason` if the
// script can't be checked.
bool check_script(Definitions& definitions, const CheckRequest& request, std::vector<Finding>& findings, std::string& reason);
