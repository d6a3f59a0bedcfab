// The lines that a script prints. They are stored for the outcome, and written to standard error at once in case the host stops the run.
#pragma once

class Output;

// Writes the lines as a JSON array.
void log_write_json(Output* output);
// Returns true if lines were truncated or dropped at the limit.
bool log_is_truncated();
