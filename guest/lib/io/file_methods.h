// Files as scripts have them: userdata with methods.
#pragma once

#include "lib/io/buffered_file.h"

constexpr int kFileTag = 1;

// Whether `nil, message, number` is returned for what the operating system refuses.
extern bool returns_refusals;

// Raises a problem with the script's place in front.
l_noret raise_problem(lua_State* L, const Problem& problem);
// What the operating system refused is raised or returned, as the settings say; the rest is raised.
int refuse(lua_State* L, const Problem& problem);

// Makes an iterator of the file on top of the stack and the formats from `first` on.
int push_lines(lua_State* L, int first, bool close);
int file_method_close(lua_State* L);

// A function that says that it is not available, and what to use instead.
void push_not_available(lua_State* L, const char* name, const char* instead);

// Called in `init`.
void open_file_methods(lua_State* L);
