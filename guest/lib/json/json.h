// The library `json`, and its encoder and decoder for other libraries.
#pragma once

#include "lua.h"

#include <stddef.h>

void json_open_library(lua_State* L);

// The maximum nesting of arrays and objects.
constexpr int kMaxJsonDepth = 128;

// Pushes the value at `index` as JSON text. Raises an error that names the path to a value that cannot be encoded, starting with `root`.
// Each level is on lines of its own, indented by `indent` spaces, unless that is `kCompactJson`.
constexpr int kCompactJson = -1;
void json_push_encoded(lua_State* L, int index, const char* root, int indent = kCompactJson);
// Pushes the `count` values on top of the stack as JSON text: none as null, one as itself, several as an array. Replaces what JSON can't
// represent, and pushes one line about each replacement as a second string.
void json_push_encoded_results(lua_State* L, int count);

// The value of null in an object, and of a whole text that is null. In an array it is always `json.null`, so that positions hold.
enum class JsonNull
{
    to_nil,
    keep,
};

// Pushes the value of a JSON text. Raises an error with line and column if the text is invalid.
void json_push_decoded(lua_State* L, const char* text, size_t size, JsonNull null = JsonNull::to_nil);

// Pushes the table at `index` as compact JSON for people: at most `kMaxPrintedTable` bytes and an ellipsis. Runs no code of the script, and raises
// no error unless memory runs out. Values that JSON does not have are shown as `tostring` shows them.
constexpr size_t kMaxPrintedTable = 4096;
void json_push_printed(lua_State* L, int index);

// Pushes `json.null`.
void json_push_null(lua_State* L);
bool json_is_null(lua_State* L, int index);

// Marks the table at `index` as an object, so that it is encoded as `{}` when it is empty.
void json_mark_object(lua_State* L, int index);
bool json_is_object(lua_State* L, int index);
// Returns true if the table at `index` is encoded as an array: its keys are exactly 1 to `count`, or it is empty and not marked as an object.
bool json_is_array(lua_State* L, int index, int count);
