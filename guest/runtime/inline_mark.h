// Marks the instructions of inlined calls, so that tracebacks show these calls.
//
// The compiler inlines small functions. The build adds a call of `push_inline_mark` to it, which stores each inlined call in the debug
// information of its function, as a local variable in a register that does not exist. The name of the variable is the byte 1, the line of the
// call, the line of the inlined function, and its name: `\1:12:3:name`.
#pragma once

#include <stdint.h>
#include <string>

constexpr uint8_t kInlineMarkRegister = 255;

template <typename Builder, typename Names, typename Call, typename Function>
void push_inline_mark(Builder& bytecode, Names& names, const Call* call, const Function* function, uint32_t start)
{
    uint32_t end = bytecode.getDebugPC();
    if (start >= end)
        return;
    std::string mark = "\1:" + std::to_string(call->func->location.end.line + 1) + ":" + std::to_string(function->location.begin.line + 1) + ":";
    if (function->debugname.value)
        mark += function->debugname.value;
    // The table of names keeps the text alive.
    auto name = names.getOrAdd(mark.c_str());
    bytecode.pushDebugLocal({name.value, mark.size()}, kInlineMarkRegister, start, end);
}
