// Finds what a script calls the operand of a failed instruction. Only used while an error is raised.
#pragma once

#include "lobject.h"

struct lua_State;

// The name of an operand.
struct OperandName
{
    // Such as `local 'x'`, `field 'size'` or `result of method 'find'`. Empty if the bytecode does not tell.
    char text[200] = "";
    // The name of a global, or of a field of a global, for a hint. Empty for any other operand.
    char base[68] = ""; // the global that has the field
    char name[68] = "";
};

// Finds the name of a value that the running instruction uses. `key` is the key if that instruction indexes the value.
OperandName find_operand_name(lua_State* L, const TValue* value, const TValue* key = nullptr);
