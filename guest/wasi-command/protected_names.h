// Names that other programs execute or trust, or in which they keep credentials: the same list as in `host/files/protected_names.rs`.
#pragma once

#include "wasi-command/folded_name.h"

enum class Protection
{
    none,
    read_only, // can't be written
    hidden,    // can't be read or listed either
};

// Sets whether names are protected, which is the default.
void set_names_protected(bool value);
// Returns the protection of a component of a path.
Protection find_protection(std::string_view name);
