// What the build adds to the interpreter loop of Luau, lvmexecute.cpp. See guest/build/luau_changes.rs.
#pragma once

// The functions that FASTCALL instructions call. In the same file as the interpreter, the compiler can inline them.
#include "lbuiltins.cpp"

namespace FFlag
{
constexpr bool kOn = true;
constexpr bool kOff = false;
} // namespace FFlag

// Flags that the interpreter reads. runtime/libraries.cpp sets one, and the others keep their default.
#define LuauBackedgeHeapCheck kOn
#define DebugLuauUserDefinedClassesRuntime kOff
#define LuauCallFeedback kOff
#define LuauFastpcall kOff
#define LuauFastpcallInterrupt kOff

// Executes a builtin function. The frequent ones are inlined with a constant number of parameters; the others are called.
static inline __attribute__((always_inline)) int call_builtin(int id, lua_State* L, StkId res, TValue* arg0, int nresults, StkId args, int nparams)
{
#define INLINED(id, function)                                                                                                                        \
    case id:                                                                                                                                         \
        return function(L, res, arg0, nresults, args, nparams);
    switch (id)
    {
        INLINED(LBF_MATH_ABS, luauF_abs)
        INLINED(LBF_MATH_CEIL, luauF_ceil)
        INLINED(LBF_MATH_FLOOR, luauF_floor)
        INLINED(LBF_MATH_MAX, luauF_max)
        INLINED(LBF_MATH_MIN, luauF_min)
        INLINED(LBF_MATH_SQRT, luauF_sqrt)
        INLINED(LBF_BIT32_BAND, luauF_band)
        INLINED(LBF_BIT32_BNOT, luauF_bnot)
        INLINED(LBF_BIT32_BOR, luauF_bor)
        INLINED(LBF_BIT32_BXOR, luauF_bxor)
        INLINED(LBF_BIT32_EXTRACTK, luauF_extractk)
        INLINED(LBF_BIT32_LROTATE, luauF_lrotate)
        INLINED(LBF_BIT32_LSHIFT, luauF_lshift)
        INLINED(LBF_BIT32_RROTATE, luauF_rrotate)
        INLINED(LBF_BIT32_RSHIFT, luauF_rshift)
        INLINED(LBF_STRING_BYTE, luauF_byte)
        INLINED(LBF_BUFFER_READU8, (luauF_readinteger<uint8_t>))
    default:
        return luauF_table[id](L, res, arg0, nresults, args, nparams);
    }
#undef INLINED
}
