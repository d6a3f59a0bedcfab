#include "lib/json/encoder.h"

#include <cmath>

namespace
{

// Replaces what JSON can't represent, so that the result of a script is not lost after it has changed files or called functions.
class ResultEncoder : public JsonEncoder
{
public:
    explicit ResultEncoder(lua_State* L)
        : JsonEncoder(L, "result", kCompactJson)
        , replaced(L)
    {
    }

    // Pushes one line for each replacement.
    void push_replaced()
    {
        if (count > kMaxLines)
            add_count();
        replaced.push();
    }

protected:
    void on_invalid_utf8(size_t, std::string_view, const JsonStep* step, bool) override
    {
        add_line(step, "bytes that are not UTF-8 became U+FFFD");
    }

    void on_not_finite(double number, const JsonStep* step) override
    {
        text.add("null", 4);
        add_line(step, std::isnan(number) ? "NaN became null" : number < 0 ? "-infinity became null" : "infinity became null");
    }

private:
    static constexpr int kMaxLines = 16;

    TextBuffer replaced;
    int count = 0;

    void add_line(const JsonStep* step, const char* replacement)
    {
        if (++count > kMaxLines)
            return;
        if (count > 1)
            replaced.add('\n');
        add_path(replaced, step);
        replaced.add(": ");
        replaced.add(replacement);
    }

    void add_count()
    {
        lua_pushinteger(L, count - kMaxLines);
        replaced.add("\nand ");
        replaced.add(lua_tostring(L, -1));
        replaced.add(" more");
        lua_pop(L, 1);
    }
};

// Replaces the `count` values on top of the stack by one: none by nil, several by an array.
void combine(lua_State* L, int count)
{
    if (count == 0)
        return lua_pushnil(L);
    if (count == 1)
        return;
    lua_createtable(L, count, 0);
    lua_insert(L, -count - 1);
    for (int position = count; position >= 1; position--)
    {
        // A nil would leave a hole, which would turn the array into an object.
        if (lua_isnil(L, -1))
        {
            lua_pop(L, 1);
            json_push_null(L);
        }
        lua_rawseti(L, -position - 1, position);
    }
}

} // namespace

void json_push_encoded_results(lua_State* L, int count)
{
    combine(L, count);
    ResultEncoder encoder(L);
    encoder.write(lua_gettop(L));
    encoder.text.push();
    encoder.push_replaced();
    lua_remove(L, -3);
}
