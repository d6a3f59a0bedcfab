#include "lib/error_value.h"
#include "lib/json/encoder.h"
#include "lib/json/escape.h"

#include "lnumutils.h"
#include "lualib.h"

#include <charconv>
#include <cmath>

namespace
{

// Integers up to this value are written without an exponent: a double represents each of them exactly.
constexpr double kMaxInteger = 9007199254740992.0;

} // namespace

void add_json_number(TextBuffer& text, double number)
{
    text.reserve(LUAI_MAXNUM2STR);
    char* at = text.data + text.size;
    // The other branch keeps the sign of negative zero.
    if (std::fabs(number) <= kMaxInteger && number == std::trunc(number) && !(number == 0 && std::signbit(number)))
        text.size = std::to_chars(at, at + LUAI_MAXNUM2STR, int64_t(number)).ptr - text.data;
    else
        text.size = luai_num2str(at, number) - text.data;
}

JsonEncoder::JsonEncoder(lua_State* L, const char* root, int indent)
    : text(L)
    , L(L)
    , root(root)
    , indent(indent)
{
}

void JsonEncoder::write(int index)
{
    write_value(index, nullptr, 0);
}

void JsonEncoder::on_invalid_utf8(size_t, std::string_view, const JsonStep* step, bool)
{
    fail(step, "is not UTF-8");
}

void JsonEncoder::on_not_finite(double number, const JsonStep* step)
{
    fail(step, std::isnan(number) ? "is NaN" : "is infinite");
}

void JsonEncoder::on_buffer(std::string_view, const JsonStep* step)
{
    fail(step, "is a buffer");
}

void JsonEncoder::write_value(int index, const JsonStep* step, int depth)
{
    switch (lua_type(L, index))
    {
    case LUA_TNIL:
        return text.add("null", 4);
    case LUA_TBOOLEAN:
        return lua_toboolean(L, index) ? text.add("true", 4) : text.add("false", 5);
    case LUA_TNUMBER:
        return write_number(lua_tonumber(L, index), step);
    case LUA_TSTRING:
    {
        size_t size = 0;
        const char* bytes = lua_tolstring(L, index, &size);
        return write_string(bytes, size, step);
    }
    case LUA_TTABLE:
    {
        size_t size = 0;
        if (const char* message = error_value_message(L, index, &size))
            return write_string(message, size, step);
        return write_table(index, step, depth);
    }
    case LUA_TBUFFER:
    {
        size_t size = 0;
        const char* bytes = static_cast<char*>(lua_tobuffer(L, index, &size));
        return on_buffer({bytes, size}, step);
    }
    default:
        if (json_is_null(L, index))
            return text.add("null", 4);
        fail(step, "is a ", luaL_typename(L, index));
    }
}

void JsonEncoder::write_number(double number, const JsonStep* step)
{
    if (!std::isfinite(number))
        return on_not_finite(number, step);
    add_json_number(text, number);
}

void JsonEncoder::write_string(const char* bytes, size_t size, const JsonStep* step, bool is_key)
{
    size_t start = text.size;
    bool is_valid = true;
    add_json_string(text, bytes, size,
                    [&]
                    {
                        is_valid = false;
                        text.add(kReplacementCharacter.data(), kReplacementCharacter.size());
                    });
    if (!is_valid)
        on_invalid_utf8(start, {bytes, size}, step, is_key);
}

void JsonEncoder::write_table(int index, const JsonStep* step, int depth)
{
    const void* pointer = lua_topointer(L, index);
    for (const JsonStep* outer = step; outer; outer = outer->outer)
        if (outer->table == pointer)
            fail(step, "contains itself");
    if (depth == kMaxJsonDepth)
        fail(step, "is nested too deeply (128 levels at most)");
    if (!lua_checkstack(L, 8))
        luaD_throw(L, LUA_ERRMEM);

    int count = lua_objlen(L, index);
    if (json_is_array(L, index, count))
        write_array(index, count, pointer, step, depth);
    else
        write_object(index, pointer, step, depth);
}

// Starts a line at this depth.
void JsonEncoder::break_line(int depth)
{
    if (indent == kCompactJson)
        return;
    size_t spaces = size_t(indent) * size_t(depth);
    text.reserve(spaces + 1);
    text.data[text.size] = '\n';
    memset(text.data + text.size + 1, ' ', spaces);
    text.size += spaces + 1;
}

void JsonEncoder::write_array(int index, int count, const void* pointer, const JsonStep* outer, int depth)
{
    text.add('[');
    for (int position = 1; position <= count; position++)
    {
        lua_rawgeti(L, index, position);
        if (position > 1)
            text.add(',');
        break_line(depth + 1);
        JsonStep step = {outer, pointer, nullptr, 0, double(position), true};
        write_value(index + 1, &step, depth + 1);
        lua_pop(L, 1);
    }
    if (count > 0)
        break_line(depth);
    text.add(']');
}

void JsonEncoder::write_object(int index, const void* pointer, const JsonStep* outer, int depth)
{
    text.add('{');
    bool first = true;
    for (int iterator = 0; (iterator = lua_rawiter(L, index, iterator)) >= 0; lua_pop(L, 2))
    {
        if (!first)
            text.add(',');
        first = false;
        break_line(depth + 1);
        JsonStep step = {outer, pointer, nullptr, 0, 0, false};
        write_key(index, &step);
        text.add(':');
        if (indent != kCompactJson)
            text.add(' ');
        write_value(index + 2, &step, depth + 1);
    }
    if (!first)
        break_line(depth);
    text.add('}');
}

// Writes the key at `index + 1`, which is a string or a number.
void JsonEncoder::write_key(int index, JsonStep* step)
{
    if (lua_type(L, index + 1) == LUA_TSTRING)
    {
        step->key = lua_tolstring(L, index + 1, &step->key_size);
        return write_string(step->key, step->key_size, step, true);
    }
    if (lua_type(L, index + 1) != LUA_TNUMBER)
        fail(step->outer, "has a key that is a ", luaL_typename(L, index + 1));
    step->index = lua_tonumber(L, index + 1);
    text.add('"');
    size_t start = text.size;
    write_number(step->index, step);
    lua_pushlstring(L, text.data + start, text.size - start);
    text.add('"');
    lua_rawget(L, index);
    if (!lua_isnil(L, -1))
        fail(step, "occurs twice, as a number key and as a string key");
    lua_pop(L, 1);
}

void JsonEncoder::add_path(TextBuffer& message, const JsonStep* step)
{
    if (!step)
        return message.add(root);
    add_path(message, step->outer);
    if (!step->key)
    {
        char digits[LUAI_MAXNUM2STR];
        message.add('[');
        message.add(digits, luai_num2str(digits, step->index) - digits);
        return message.add(']');
    }
    bool plain = step->key_size > 0 && step->key_size <= 64 && !(step->key[0] >= '0' && step->key[0] <= '9');
    for (size_t index = 0; plain && index < step->key_size; index++)
    {
        char letter = step->key[index];
        plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '_';
    }
    message.add(plain ? "." : "[\"");
    for (size_t index = 0; index < step->key_size && index < 64; index++)
        message.add(uint8_t(step->key[index]) < ' ' ? '?' : step->key[index]);
    message.add(plain ? "" : "\"]");
}

void JsonEncoder::fail(const JsonStep* step, const char* reason, const char* detail)
{
    {
        TextBuffer message(L);
        add_path(message, step);
        message.add(' ');
        message.add(reason);
        message.add(detail);
        message.add(": it can't be written as JSON");
        luaL_where(L, 1);
        message.push();
        lua_concat(L, 2);
    }
    lua_error(L);
}

void json_push_encoded(lua_State* L, int index, const char* root, int indent)
{
    lua_pushvalue(L, index);
    JsonEncoder encoder(L, root, indent);
    encoder.write(lua_gettop(L));
    encoder.text.push();
    lua_remove(L, -2);
}
