// What a run ended in, in the shape that every host prints (`host/engine/outcome.rs`).
#pragma once

#include "runtime/bindings.h"

enum ExitCode
{
    kDone = 0,
    kFailed = 1,
    kWrongUsage = 2,
    kLimit = 3,
};

// Prints it, with the logs and the files: the result if there is one, or else the failure.
ExitCode outcome_print(const unprepared_string_t* result, const unprepared_failure_t* failure);
