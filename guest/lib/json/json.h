// What the two halves of `json` share.
#pragma once

#include "runtime/bindings.h"

// Deepest nesting of arrays and objects, in and out.
constexpr int kJsonDepth = 128;

// Pushes `json.null`.
void json_push_null(lua_State* L);
bool json_is_null(lua_State* L, int index);

// Marks the table at `index` as an object, so that it is `{}` when it is empty.
void json_mark_object(lua_State* L, int index);
bool json_is_object(lua_State* L, int index);

// json_decode.cpp: pushes the value of a JSON text, or raises an error with its line and column.
void json_push_decoded(lua_State* L, const char* text, size_t size);
