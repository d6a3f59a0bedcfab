#include "runtime/operand_name.h"
#include "runtime/work.h"

#include "Luau/BytecodeUtils.h"
#include "ldebug.h"
#include "lfunc.h"
#include "lstate.h"

#include <stdio.h>

namespace
{

// Longer names are not shown.
constexpr size_t kMaxName = 64;

// How many instructions a name is followed through, such as the call in `f(x).y` and then its function.
constexpr int kMaxSteps = 4;

LuauOpcode opcode(Instruction instruction)
{
    return LuauOpcode(LUAU_INSN_OP(instruction));
}

// Returns true if the instruction may change the register.
bool changes(Instruction instruction, int reg)
{
    int a = LUAU_INSN_A(instruction);
    switch (opcode(instruction))
    {
    case LOP_NOP:
    case LOP_BREAK:
    case LOP_SETGLOBAL:
    case LOP_SETUPVAL:
    case LOP_CLOSEUPVALS:
    case LOP_SETTABLE:
    case LOP_SETTABLEKS:
    case LOP_SETTABLEN:
    case LOP_SETUDATAKS:
    case LOP_SETLIST:
    case LOP_RETURN:
    case LOP_JUMP:
    case LOP_JUMPBACK:
    case LOP_JUMPX:
    case LOP_JUMPIF:
    case LOP_JUMPIFNOT:
    case LOP_JUMPIFEQ:
    case LOP_JUMPIFLE:
    case LOP_JUMPIFLT:
    case LOP_JUMPIFNOTEQ:
    case LOP_JUMPIFNOTLE:
    case LOP_JUMPIFNOTLT:
    case LOP_JUMPXEQKNIL:
    case LOP_JUMPXEQKB:
    case LOP_JUMPXEQKN:
    case LOP_JUMPXEQKS:
    case LOP_CMPPROTO:
    case LOP_PREPVARARGS:
    case LOP_COVERAGE:
    case LOP_CAPTURE:
    case LOP_NEWCLASSMEMBER:
    // A fast call sets the registers of the call that follows it.
    case LOP_FASTCALL:
    case LOP_FASTCALL1:
    case LOP_FASTCALL2:
    case LOP_FASTCALL2K:
    case LOP_FASTCALL3:
    case LOP_FASTPCALL:
        return false;
    case LOP_CALL:
    case LOP_CALLFB:
    case LOP_GETVARARGS:
    case LOP_FORGLOOP:
        return reg >= a;
    case LOP_FORNPREP:
    case LOP_FORNLOOP:
    case LOP_FORGPREP:
    case LOP_FORGPREP_INEXT:
    case LOP_FORGPREP_NEXT:
        return reg >= a && reg <= a + 3;
    case LOP_NAMECALL:
    case LOP_NAMECALLUDATA:
        return reg == a || reg == a + 1;
    default:
        return reg == a;
    }
}

struct Code
{
    const Proto* function;
    // Returned as the position if there is none.
    static constexpr int kNone = -1;

    // Returns the position of the instruction that includes a word, which may be the second word of an instruction.
    int instruction_at(int word) const
    {
        count_work(size_t(word) * sizeof(Instruction));
        int pc = 0;
        for (int next = 0; next <= word; next += Luau::getOpLength(opcode(function->code[next])))
            pc = next;
        return pc;
    }

    // Returns the position of the instruction that set a register before `end`, unless that depends on a condition.
    int find_setter(int end, int reg) const
    {
        count_work(size_t(end) * sizeof(Instruction));
        int setter = kNone;
        int conditional_until = 0;
        for (int pc = 0; pc < end; pc += Luau::getOpLength(opcode(function->code[pc])))
        {
            Instruction instruction = function->code[pc];
            if (changes(instruction, reg))
                setter = pc < conditional_until ? kNone : pc;
            if (Luau::isFastCall(opcode(instruction)))
                continue;
            int target = Luau::getJumpTarget(instruction, uint32_t(pc));
            if (target > conditional_until && target > pc && target <= end)
                conditional_until = target;
        }
        return setter;
    }

    // Returns a string constant, or null if it is not one that can be shown.
    const char* text(uint32_t constant) const
    {
        if (constant >= uint32_t(function->sizek) || !ttisstring(&function->k[constant]))
            return nullptr;
        const TString* string = tsvalue(&function->k[constant]);
        return string->len <= kMaxName ? getstr(string) : nullptr;
    }
};

void set(OperandName& result, const char* kind, const char* name)
{
    if (name)
        snprintf(result.text, sizeof(result.text), "%s '%s'", kind, name);
}

void set_global(OperandName& result, const char* name)
{
    set(result, "global", name);
    if (name)
        snprintf(result.name, sizeof(result.name), "%s", name);
}

void set_field(OperandName& result, const char* base, const char* name)
{
    set(result, "field", name);
    if (!name || !base)
        return;
    snprintf(result.base, sizeof(result.base), "%s", base);
    snprintf(result.name, sizeof(result.name), "%s", name);
}

// The constants of the path of an import, such as `os` and `exit`.
struct Import
{
    uint32_t count;
    uint32_t ids[3];

    explicit Import(uint32_t word)
        : count(word >> 30)
        , ids{(word >> 20) & 1023, (word >> 10) & 1023, word & 1023}
    {
    }

    // Sets the name of the value that the first `length` parts refer to.
    void set_name(OperandName& result, const Code& code, uint32_t length) const
    {
        if (length == 1)
            set_global(result, code.text(ids[0]));
        else
            set_field(result, length == 2 ? code.text(ids[0]) : nullptr, code.text(ids[length - 1]));
    }
};

OperandName find_name(const Code& code, int end, int reg, int steps);

// Puts words before the name of another register, such as `result of` before the name of the function.
OperandName name_with_prefix(const char* prefix, const OperandName& of)
{
    OperandName result;
    if (*of.text)
        snprintf(result.text, sizeof(result.text), "%s %s", prefix, of.text);
    return result;
}

// Returns the name of a register before the instruction at `end`.
OperandName find_name(const Code& code, int end, int reg, int steps)
{
    OperandName result;
    if (const LocVar* local = luaF_findlocal(code.function, reg, end))
    {
        if (local->varname->len <= kMaxName)
            set(result, "local", getstr(local->varname));
        return result;
    }
    int pc = steps > 0 ? code.find_setter(end, reg) : Code::kNone;
    if (pc == Code::kNone)
        return result;
    Instruction instruction = code.function->code[pc];
    int a = LUAU_INSN_A(instruction);
    int b = LUAU_INSN_B(instruction);
    bool has_second_word = Luau::getOpLength(opcode(instruction)) == 2;
    uint32_t second_word = has_second_word ? code.function->code[pc + 1] : 0;
    switch (opcode(instruction))
    {
    case LOP_MOVE:
        return find_name(code, pc, b, steps - 1);
    case LOP_GETGLOBAL:
        set_global(result, code.text(second_word));
        return result;
    case LOP_GETIMPORT:
    {
        Import import(second_word);
        import.set_name(result, code, import.count);
        return result;
    }
    case LOP_GETUPVAL:
        if (b < code.function->sizeupvalues && code.function->upvalues[b]->len <= kMaxName)
            set(result, "upvalue", getstr(code.function->upvalues[b]));
        return result;
    case LOP_GETTABLEKS:
    case LOP_GETUDATAKS:
    {
        OperandName table = find_name(code, pc, b, steps - 1);
        bool is_global = *table.name && !*table.base;
        set_field(result, is_global ? table.name : nullptr, code.text(opcode(instruction) == LOP_GETUDATAKS ? second_word & 0xffff : second_word));
        return result;
    }
    case LOP_GETTABLEN:
    {
        char prefix[32];
        snprintf(prefix, sizeof(prefix), "element %d of", LUAU_INSN_C(instruction) + 1);
        return name_with_prefix(prefix, find_name(code, pc, b, steps - 1));
    }
    case LOP_GETTABLE:
        return name_with_prefix("element of", find_name(code, pc, b, steps - 1));
    case LOP_NAMECALL:
    case LOP_NAMECALLUDATA:
        if (reg == a)
            set(result, "method", code.text(opcode(instruction) == LOP_NAMECALLUDATA ? second_word & 0xffff : second_word));
        return result;
    case LOP_CALL:
    case LOP_CALLFB:
        if (reg == a)
            return name_with_prefix("result of", find_name(code, pc, a, steps - 1));
        return result;
    default:
        return result;
    }
}

} // namespace

OperandName find_operand_name(lua_State* L, const TValue* value, const TValue* key)
{
    CallInfo* call = L->ci;
    if (!isLua(call))
        return {};
    Code code = {call->p};
    // The value is an element of a table or a constant if it is not in a register.
    if (value < call->base || value >= call->base + code.function->maxstacksize)
        return {};
    int reg = int(value - call->base);
    int pc = code.instruction_at(pcRel(call->savedpc, call->p));
    Instruction instruction = code.function->code[pc];
    if (opcode(instruction) == LOP_GETIMPORT)
    {
        // The register holds the part of the path that was read so far, and the key is the constant of the next part.
        Import import(code.function->code[pc + 1]);
        OperandName result;
        bool is_ambiguous = import.count == 3 && import.ids[1] == import.ids[2];
        for (uint32_t length = 1; length < import.count && !is_ambiguous; length++)
            if (key == &code.function->k[import.ids[length]])
                import.set_name(result, code, length);
        return result;
    }
    bool is_self = opcode(instruction) == LOP_NAMECALL && reg == LUAU_INSN_A(instruction) + 1;
    return find_name(code, pc, is_self ? LUAU_INSN_B(instruction) : reg, kMaxSteps);
}
