// The files that a run has left its mark on. Nothing in here needs memory: a script may have taken all of it.
#pragma once

#include "wasi-command/path.h"

class Output;

// Whether there is room for one more.
bool touched_check(const FilePath& path, Error* error);
// Notes that a file was made or changed; or only ever appended to.
void touched_mark(const FilePath& path, bool append);
// Bytes for the file are not in it, and won't be.
void touched_cut(const FilePath& path, bool append);
// Looks at each file, and writes what became of it, in name order, as the outcome has it.
void touched_report(Output* output);
