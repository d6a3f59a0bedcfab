#include "lib/json/escape.h"
#include "lib/json/json.h"

#include "lnumutils.h"
#include "lualib.h"

namespace
{

constexpr char kEllipsis[] = "\u2026";

// The nesting up to which tables are shown. The C stack needs room for it wherever a script calls `print`.
constexpr int kMaxShownDepth = 16;

// The tables that contain the current one.
struct Outer
{
    const Outer* outer;
    const void* table;
};

// Writes until the text is full. A value may exceed that by its own length, which is bounded; the caller truncates.
class Printer
{
public:
    Printer(lua_State* L, TextBuffer& text)
        : L(L)
        , text(text)
    {
    }

    // Writes the table on top of the stack.
    void write_table(const Outer* outer, int depth)
    {
        int index = lua_gettop(L);
        const void* pointer = lua_topointer(L, index);
        bool is_cycle = false;
        for (const Outer* step = outer; step; step = step->outer)
            is_cycle = is_cycle || step->table == pointer;
        int count = lua_objlen(L, index);
        if (!lua_checkstack(L, 8))
            luaD_throw(L, LUA_ERRMEM);
        bool is_array = json_is_array(L, index, count);
        text.add(is_array ? '[' : '{');
        Outer here = {outer, pointer};
        if (is_cycle || depth == kMaxShownDepth)
            text.add(kEllipsis);
        else if (is_array)
            write_items(index, count, &here, depth);
        else
            write_fields(index, &here, depth);
        text.add(is_array ? ']' : '}');
    }

private:
    lua_State* L;
    TextBuffer& text;

    bool is_full() const
    {
        return text.size > kMaxPrintedTable;
    }

    void write_items(int index, int count, const Outer* outer, int depth)
    {
        for (int position = 1; position <= count && !is_full(); position++)
        {
            if (position > 1)
                text.add(',');
            lua_rawgeti(L, index, position);
            write_value(outer, depth + 1);
            lua_pop(L, 1);
        }
    }

    void write_fields(int index, const Outer* outer, int depth)
    {
        bool is_first = true;
        for (int iterator = 0; !is_full() && (iterator = lua_rawiter(L, index, iterator)) >= 0; lua_settop(L, index))
        {
            if (!is_first)
                text.add(',');
            is_first = false;
            lua_pushvalue(L, -2);
            write_key();
            lua_pop(L, 1);
            text.add(':');
            write_value(outer, depth + 1);
        }
    }

    void write_key()
    {
        if (lua_type(L, -1) == LUA_TSTRING)
            return write_string();
        text.add('"');
        write_scalar();
        text.add('"');
    }

    void write_value(const Outer* outer, int depth)
    {
        if (lua_type(L, -1) == LUA_TTABLE)
            write_table(outer, depth);
        else if (lua_type(L, -1) == LUA_TSTRING)
            write_string();
        else
            write_scalar();
    }

    void write_string()
    {
        size_t size = 0;
        const char* bytes = lua_tolstring(L, -1, &size);
        add_json_string(text, bytes, size < kMaxPrintedTable ? size : kMaxPrintedTable + 1, [this] { text.add("\ufffd"); });
    }

    // Writes a value other than a string. Calls no metamethods, which could raise an error.
    void write_scalar()
    {
        switch (lua_type(L, -1))
        {
        case LUA_TNIL:
            return text.add("null");
        case LUA_TBOOLEAN:
            return text.add(lua_toboolean(L, -1) ? "true" : "false");
        case LUA_TNUMBER:
        {
            char digits[LUAI_MAXNUM2STR];
            return text.add(digits, luai_num2str(digits, lua_tonumber(L, -1)) - digits);
        }
        case LUA_TTABLE:
        case LUA_TUSERDATA:
            if (json_is_null(L, lua_gettop(L)))
                return text.add("null");
            lua_pushfstring(L, "%s: 0x%016llx", luaL_typename(L, -1), (unsigned long long)lua_encodepointer(L, uintptr_t(lua_topointer(L, -1))));
            break;
        default:
            // Scripts cannot give these types a metatable.
            luaL_tolstring(L, -1, nullptr);
            break;
        }
        text.add(lua_tostring(L, -1));
        lua_pop(L, 1);
    }
};

} // namespace

void json_push_printed(lua_State* L, int index)
{
    TextBuffer text(L);
    lua_pushvalue(L, index);
    Printer(L, text).write_table(nullptr, 0);
    lua_pop(L, 1);
    if (text.size > kMaxPrintedTable)
    {
        text.size = kMaxPrintedTable;
        // The first byte that is removed must not continue a character.
        while ((text.data[text.size] & 0xc0) == 0x80)
            text.size--;
        text.add(kEllipsis);
    }
    text.push();
}
