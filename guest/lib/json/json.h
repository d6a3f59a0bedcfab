// The library `json`, and its encoder and decoder for other libraries.
#pragma once

#include "lua.h"

#include <stddef.h>

void json_open_library(lua_State* L);

// The maximum nesting of arrays and objects.
constexpr int kMaxJsonDepth = 128;

// Pushes the value at `index` as JSON text. Raises an error that names the path to a value that cannot be encoded, starting with `root`.
void json_push_encoded(lua_State* L, int index, const char* root);
// Pushes the `count` values on top of the stack as JSON text: none as null, one as itself, several as an array.
void json_push_encoded_results(lua_State* L, int count);

// Pushes the value of a JSON text. Raises an error with line and column if the text is invalid.
void json_push_decoded(lua_State* L, const char* text, size_t size);

// Pushes `json.null`.
void json_push_null(lua_State* L);
bool json_is_null(lua_State* L, int index);

// Marks the table at `index` as an object, so that it is encoded as `{}` when it is empty.
void json_mark_object(lua_State* L, int index);
bool json_is_object(lua_State* L, int index);
