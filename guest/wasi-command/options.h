// The command line of the WASI command.
#pragma once

#include "wasi-command/write_budget.h"

#include <string_view>

struct Options
{
    bool help = false;
    bool version = false;
    bool has_code = false;
    bool has_file = false;
    bool no_io = false;
    bool unprotected_names = false;
    std::string_view code; // `-e`
    std::string_view file; // `-` for standard input
    toolscript_sandbox_types_refusals_t system_errors = TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RAISE;
    Quota quota;
    guest_list_string_t arguments = {}; // of the script
};

extern const char kHelp[];

// Parses the command line. Returns an error message, or null.
const char* options_parse(Options* options);
