// Hints for names that other Luas, Roblox or other languages have.
#pragma once

struct lua_State;

// Returns how to do without a missing global, or without a missing field of the global `base` if that is not empty. Returns null if there is no
// hint, or if the running function, which must be a Luau function, has its own global of that name.
const char* find_hint(lua_State* L, const char* base, const char* name);
