#include "lib/json/json.h"
#include "lib/json/scanner.h"
#include "lib/json/text_buffer.h"
#include "runtime/utf8.h"

#include "lualib.h"

#include <charconv>

namespace
{

// A strict parser.
class Decoder : Scanner
{
public:
    Decoder(lua_State* L, const char* text, size_t size, JsonNull null)
        : Scanner(L, text, size)
        , keeps_null(null == JsonNull::keep)
        , scratch(L)
    {
    }

    void parse_document()
    {
        skip_space();
        if (at < end && *at == 'n' && !keeps_null)
        {
            skip_word("null");
            lua_pushnil(L);
        }
        else
            parse_value(0);
        skip_space();
        if (at != end)
            fail("expected the end of the text");
    }

private:
    bool keeps_null;
    TextBuffer scratch; // the string that is being decoded

    void parse_value(int depth)
    {
        if (at == end)
            fail("expected a value");
        switch (*at)
        {
        case '{':
            return parse_object(depth);
        case '[':
            return parse_array(depth);
        case '"':
            return parse_string();
        case 't':
            skip_word("true");
            return lua_pushboolean(L, true);
        case 'f':
            skip_word("false");
            return lua_pushboolean(L, false);
        case 'n':
            skip_word("null");
            return json_push_null(L);
        default:
            return parse_number();
        }
    }

    void enter_nested(int depth)
    {
        if (depth == kMaxJsonDepth)
            fail("nested too deeply (128 levels at most)");
        if (!lua_checkstack(L, 4))
            luaD_throw(L, LUA_ERRMEM);
        at++;
        skip_space();
    }

    void parse_object(int depth)
    {
        enter_nested(depth);
        lua_newtable(L);
        if (at < end && *at == '}')
        {
            at++;
            return json_mark_object(L, -1);
        }
        bool has_null = false;
        for (;;)
        {
            if (at == end || *at != '"')
                fail("expected a string key");
            parse_string();
            skip_space();
            if (at == end || *at != ':')
                fail("expected ':'");
            at++;
            skip_space();
            if (at < end && *at == 'n' && !keeps_null)
            {
                skip_word("null");
                has_null = true;
                remove_key();
            }
            else
            {
                parse_value(depth + 1);
                lua_rawset(L, -3);
            }
            if (!take_comma('}', "expected ',' or '}'"))
                break;
        }
        // A table whose fields are all nil would be encoded as an array.
        if (has_null && is_empty_table())
            json_mark_object(L, -1);
    }

    // Pops the key on top of the stack and removes it from the table below. It exists only if the text contains it twice.
    void remove_key()
    {
        lua_pushvalue(L, -1);
        bool exists = lua_rawget(L, -3) != LUA_TNIL;
        lua_pop(L, 1);
        if (!exists)
            return lua_pop(L, 1);
        lua_pushnil(L);
        lua_rawset(L, -3);
    }

    bool is_empty_table()
    {
        if (lua_rawiter(L, -1, 0) < 0)
            return true;
        lua_pop(L, 2);
        return false;
    }

    void parse_array(int depth)
    {
        enter_nested(depth);
        lua_newtable(L);
        if (at < end && *at == ']')
        {
            at++;
            return;
        }
        for (int position = 1;; position++)
        {
            parse_value(depth + 1);
            lua_rawseti(L, -2, position);
            if (!take_comma(']', "expected ',' or ']'"))
                return;
        }
    }

    // Skips the comma or closing bracket after an element. Returns true for a comma.
    bool take_comma(char close, const char* expected)
    {
        skip_space();
        if (at == end || (*at != ',' && *at != close))
            fail(expected);
        bool comma = *at++ == ',';
        if (comma)
            skip_space();
        return comma;
    }

    void parse_number()
    {
        const char* begin = at;
        if (*at == '-')
            at++;
        const char* first = at;
        if (!skip_digits())
        {
            at = begin;
            fail("expected a value");
        }
        if (*first == '0' && at - first > 1)
        {
            at = first;
            fail("a number must not start with 0");
        }
        if (at == end || (*at != '.' && *at != 'e' && *at != 'E'))
            return push_integer(begin, first);
        if (*at == '.')
        {
            at++;
            if (!skip_digits())
                fail("expected a digit");
        }
        if (at < end && (*at == 'e' || *at == 'E'))
        {
            at++;
            if (at < end && (*at == '+' || *at == '-'))
                at++;
            if (!skip_digits())
                fail("expected a digit");
        }
        double number = 0;
        if (std::from_chars(begin, at, number).ec == std::errc::result_out_of_range && !(number > -1 && number < 1))
        {
            at = begin;
            fail("the number is too large");
        }
        lua_pushnumber(L, number);
    }

    // Pushes the integer from `begin` to `at`, whose digits start at `first`. A double cannot hold every integer beyond 2^53, so those become
    // strings.
    void push_integer(const char* begin, const char* first)
    {
        constexpr int kMaxDigits = 16;
        constexpr uint64_t kMaxInteger = uint64_t(1) << 53;
        if (at - first > kMaxDigits)
            return lua_pushlstring(L, begin, at - begin);
        uint64_t value = 0;
        for (const char* digit = first; digit < at; digit++)
            value = value * 10 + uint64_t(*digit - '0');
        if (value > kMaxInteger)
            return lua_pushlstring(L, begin, at - begin);
        lua_pushnumber(L, first > begin ? -double(value) : double(value));
    }

    unsigned parse_hex()
    {
        unsigned code = 0;
        for (int count = 0; count < 4; count++, at++)
        {
            char digit = at < end ? *at : 0;
            int value = digit >= '0' && digit <= '9' ? digit - '0' : (digit | 32) >= 'a' && (digit | 32) <= 'f' ? (digit | 32) - 'a' + 10 : -1;
            if (value < 0)
                fail("expected four hexadecimal digits");
            code = code * 16 + value;
        }
        return code;
    }

    void add_character(unsigned code)
    {
        char bytes[4];
        scratch.add(bytes, encode_utf8(code, bytes));
    }

    void parse_escape()
    {
        at++;
        char letter = at < end ? *at++ : 0;
        switch (letter)
        {
        case '"':
        case '\\':
        case '/':
            return scratch.add(letter);
        case 'b':
            return scratch.add('\b');
        case 'f':
            return scratch.add('\f');
        case 'n':
            return scratch.add('\n');
        case 'r':
            return scratch.add('\r');
        case 't':
            return scratch.add('\t');
        case 'u':
        {
            unsigned code = parse_hex();
            if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u')
            {
                at += 2;
                unsigned low = parse_hex();
                if (low < 0xdc00 || low > 0xdfff)
                    fail("unpaired surrogate");
                return add_character(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            }
            if (code >= 0xd800 && code < 0xe000)
                fail("unpaired surrogate");
            return add_character(code);
        }
        default:
            at--;
            fail("invalid escape");
        }
    }

    void parse_string()
    {
        const char* begin = ++at;
        while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20 && static_cast<unsigned char>(*at) < 0x80)
            at++;
        if (at < end && *at == '"')
        {
            lua_pushlstring(L, begin, at - begin);
            at++;
            return;
        }
        scratch.size = 0;
        scratch.add(begin, at - begin);
        while (at < end && *at != '"')
        {
            if (*at == '\\')
            {
                parse_escape();
                continue;
            }
            if (static_cast<unsigned char>(*at) < 0x20)
                fail("a control character must be escaped");
            size_t length = utf8_length(reinterpret_cast<const unsigned char*>(at), reinterpret_cast<const unsigned char*>(end));
            if (length == 0)
                fail("not UTF-8");
            scratch.add(at, length);
            at += length;
        }
        if (at == end)
            fail("unterminated string");
        at++;
        scratch.push();
    }
};

} // namespace

void json_push_decoded(lua_State* L, const char* text, size_t size, JsonNull null)
{
    Decoder(L, text, size, null).parse_document();
}
