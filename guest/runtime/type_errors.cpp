// Replaces the functions of Luau that raise errors about the type of an operand: these also name the operand, and add a hint if there is one.
// The build renames the originals in `ldebug.cpp`. All work is done while an error is raised, so other instructions cost what they did.
#include "runtime/hint_table.h"
#include "runtime/hints.h"
#include "runtime/operand_name.h"

#include "ldebug.h"
#include "lstate.h"
#include "ltm.h"

#include <string.h>

namespace
{

// The end of a message: the names of operands in parentheses, and a hint.
class Details
{
public:
    // Names the value that an operation does not support. `key` is the key if the operation indexes the value.
    static Details of_value(lua_State* L, const TValue* value, const TValue* key = nullptr)
    {
        Details details;
        OperandName name = find_operand_name(L, value, key);
        if (*name.text)
            details.add(" (", name.text, ")");
        details.add_hint(L, value, name);
        return details;
    }

    // Names each of two operands that is not null.
    static Details of_operands(lua_State* L, const TValue* first, const TValue* second)
    {
        Details details;
        OperandName names[2];
        if (first)
            names[0] = find_operand_name(L, first);
        if (second)
            names[1] = find_operand_name(L, second);
        bool are_both = *names[0].text && *names[1].text && strcmp(names[0].text, names[1].text) != 0;
        if (are_both)
            details.add(" (", names[0].text, " and ", names[1].text, ")");
        else if (*names[0].text || *names[1].text)
            details.add(" (", *names[0].text ? names[0].text : names[1].text, ")");
        if (!first || !details.add_hint(L, first, names[0]))
            if (second)
                details.add_hint(L, second, names[1]);
        return details;
    }

    // Appends texts. Text beyond the capacity is truncated.
    template <typename... Texts> void add(const Texts*... texts)
    {
        (append(texts), ...);
    }

    const char* text() const
    {
        return data;
    }

private:
    bool add_hint(lua_State* L, const TValue* value, const OperandName& name)
    {
        const char* hint = ttisnil(value) && *name.name ? find_hint(L, name.base, name.name) : nullptr;
        if (hint)
            add("; ", hint);
        return hint;
    }

    void append(const char* bytes)
    {
        size_t count = strlen(bytes);
        count = count < sizeof(data) - 1 - size ? count : sizeof(data) - 1 - size;
        memcpy(data + size, bytes, count);
        size += count;
    }

    size_t size = 0;
    char data[384] = "";
};

const TValue* unless_number(const TValue* value)
{
    return ttisnumber(value) ? nullptr : value;
}

const TValue* unless_text(const TValue* value)
{
    return ttisnumber(value) || ttisstring(value) ? nullptr : value;
}

} // namespace

l_noret luaG_typeerrorL(lua_State* L, const TValue* value, const char* operation)
{
    Details details = Details::of_value(L, value);
    luaG_runerror(L, "attempt to %s a %s value%s", operation, luaT_objtypename(L, value), details.text());
}

l_noret luaG_forerrorL(lua_State* L, const TValue* value, const char* what)
{
    Details details = Details::of_value(L, value);
    luaG_runerror(L, "invalid 'for' %s (number expected, got %s)%s", what, luaT_objtypename(L, value), details.text());
}

l_noret luaG_concaterror(lua_State* L, StkId first, StkId second)
{
    Details details = Details::of_operands(L, unless_text(first), unless_text(second));
    luaG_runerror(L, "attempt to concatenate %s with %s%s", luaT_objtypename(L, first), luaT_objtypename(L, second), details.text());
}

l_noret luaG_aritherror(lua_State* L, const TValue* first, const TValue* second, TMS event)
{
    const char* first_type = luaT_objtypename(L, first);
    const char* second_type = luaT_objtypename(L, second);
    const char* operation = luaT_eventname[event] + strlen("__");
    Details details = Details::of_operands(L, unless_number(first), unless_number(second));
    if (event == TM_ADD && ttisstring(first) + ttisstring(second) + ttisnumber(first) + ttisnumber(second) == 2)
        details.add("; use .. to join strings");
    if (first_type == second_type)
        luaG_runerror(L, "attempt to perform arithmetic (%s) on %s%s", operation, first_type, details.text());
    else
        luaG_runerror(L, "attempt to perform arithmetic (%s) on %s and %s%s", operation, first_type, second_type, details.text());
}

l_noret luaG_ordererror(lua_State* L, const TValue* first, const TValue* second, TMS event)
{
    const char* operation = event == TM_LT ? "<" : event == TM_LE ? "<=" : "==";
    Details details = Details::of_operands(L, unless_number(first), unless_number(second));
    luaG_runerror(L, "attempt to compare %s %s %s%s", luaT_objtypename(L, first), operation, luaT_objtypename(L, second), details.text());
}

l_noret luaG_indexerror(lua_State* L, const TValue* value, const TValue* key)
{
    // A longer key is not shown.
    constexpr unsigned int kMaxKey = 64;
    Details details = Details::of_value(L, value, key);
    const char* type = luaT_objtypename(L, value);
    if (ttisstring(key) && tsvalue(key)->len <= kMaxKey)
        luaG_runerror(L, "attempt to index %s with '%s'%s", type, svalue(key), details.text());
    else
        luaG_runerror(L, "attempt to index %s with %s%s", type, luaT_objtypename(L, key), details.text());
}

l_noret luaG_methoderror(lua_State* L, const TValue* value, const TString* name)
{
    const char* type = luaT_objtypename(L, value);
    const char* hint = ttisstring(value) ? find_library_hint("string", getstr(name)) : nullptr;
    luaG_runerror(L, "attempt to call missing method '%s' of %s%s%s", getstr(name), type, hint ? "; " : "", hint ? hint : "");
}
