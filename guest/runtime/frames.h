// The calls of a thread, including those that the compiler has inlined.
#pragma once

#include "lstate.h"

// Iterates over the calls, innermost call first.
class Frames
{
public:
    explicit Frames(lua_State* L)
        : L(L)
        , call(L->ci)
    {
    }

    bool is_valid() const
    {
        return call > L->base_ci;
    }

    void next();

    // Does what `lua_getinfo` does with the level of the call. For an inlined call, `f` pushes the function that contains it.
    void describe(const char* what, lua_Debug* frame) const;

private:
    lua_State* L;
    CallInfo* call;
    int inlined = 0; // the number of inlined calls of `call` that are already visited
};

// Returns the number of calls.
int frames_count(lua_State* L);
