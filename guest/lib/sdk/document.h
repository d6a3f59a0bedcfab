// Converts JSON values of the host, with the bytes inside them, to values of the script.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

using Document = toolscript_sandbox_tools_document_t;

// Pushes nil if the whole text is null.
void sdk_push_json(lua_State* L, const guest_string_t& json);

// Pushes the value, with a string for each of its attachments.
void sdk_push_document(lua_State* L, const Document& document);
