// Files as userdata of scripts.
#pragma once

#include "lib/io/buffered_file.h"

// Called by `init`. Takes the table of methods from the top of the stack.
void register_file_userdata(lua_State* L);

// Opens a file and pushes it. On failure, pushes an unspecified value.
bool push_opened_file(lua_State* L, const char* path, size_t size, OpenMode mode, IoError* error);

// Returns the file at this index, or null if the value is not a file.
File* to_file_or_null(lua_State* L, int index);
// Raises an error if the value is not a file.
File* to_file(lua_State* L, int index);
// Raises an error if the value is not an open file.
File* to_open_file(lua_State* L, int index);
