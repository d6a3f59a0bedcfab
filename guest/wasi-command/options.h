// The command line.
#pragma once

#include "wasi-command/quota.h"

#include <string_view>

struct Options
{
    bool help = false;
    bool version = false;
    bool has_code = false;
    bool has_file = false;
    bool no_io = false;
    std::string_view code; // `-e`
    std::string_view file; // `-`, or none: standard input
    toolscript_sandbox_types_refusals_t refusals = TOOLSCRIPT_SANDBOX_TYPES_REFUSALS_RAISE;
    Quota quota;
    unprepared_list_string_t arguments = {}; // what the script gets
};

extern const char kHelp[];

// Reads the command line. Answers with what is wrong, or null; the text is valid until the end.
const char* options_read(Options* options);
