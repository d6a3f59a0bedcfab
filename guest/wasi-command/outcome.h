// Prints the outcome of a run as JSON, in the same format as `host/engine/outcome.rs`.
#pragma once

#include "runtime/bindings.h"

enum ExitCode
{
    kSuccess = 0,
    kFailed = 1,
    kUsageError = 2,
    kLimit = 3,
};

// Prints the result, or the failure if `success` is null, with the log lines and the touched files.
ExitCode outcome_print(const guest_success_t* success, const guest_failure_t* failure);
