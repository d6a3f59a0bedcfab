// Finds the functions whose errors a script may catch.
#pragma once

#include "checker/facts.h"

// Returns the functions that may run under `pcall`, `xpcall` or in a coroutine. A function certainly does not if the script only calls it by its
// name or passes it to a library that catches nothing, in code that does not run there either.
std::unordered_set<const Luau::AstExprFunction*> find_protected_functions(Luau::AstStatBlock* script, const Facts& facts);
