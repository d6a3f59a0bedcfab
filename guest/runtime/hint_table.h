// The table of hints for names that other Luas, Roblox or other languages have.
#pragma once

struct Hint
{
    const char* base; // the library, or empty for a global
    const char* name;
    const char* text;
    const char* needs = nullptr; // a global without which the hint would be wrong
};

// Returns the hint for a missing global, or for a missing field of the global `base` if that is not empty. Returns null if there is none.
const Hint* find_hint_entry(const char* base, const char* name);

// Returns the text of the hint for a missing member of a library, such as the method `trim` of strings. Returns null if there is none.
const char* find_library_hint(const char* library, const char* name);
