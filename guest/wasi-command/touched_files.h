// Records the files that a run creates, changes or removes. Allocates nothing, because a script may have exhausted the memory.
#pragma once

#include "wasi-command/path.h"

class Output;

// Fails if the file would exceed the limit of recorded files.
bool touched_check_limit(const FilePath& path, Error* error);
// Records that a file was created, changed or removed. `append` means that bytes were only appended.
void touched_mark(const FilePath& path, bool append);
// Records that the file lacks bytes that the script has written.
void touched_mark_incomplete(const FilePath& path, bool append);
// Writes the files as a JSON array, sorted by name, with their current sizes.
void touched_write_json(Output* output);
