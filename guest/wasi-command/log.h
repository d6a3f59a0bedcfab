// The lines that a script prints: kept for the outcome, and written to standard error as they come, for a host that stops the run.
#pragma once

class Output;

// Writes them as the outcome has them.
void log_report(Output* output);
// Whether some were left out.
bool log_is_cut();
