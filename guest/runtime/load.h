// Checks, compiles and loads a script.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

// Pushes the main function of the script onto the stack of the thread. Returns false and sets the failure if the text is not a valid script
// or memory runs out. May change the first bytes of the text.
bool load_script(lua_State* thread, const guest_list_u8_t& text, guest_failure_t* failure);
