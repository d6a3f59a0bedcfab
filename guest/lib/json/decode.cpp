// JSON text to Luau values: strict, with the line and column of what is wrong.
#include "lib/json/json.h"
#include "lib/json/text_buffer.h"

#include <charconv>

namespace
{

class Decoder
{
public:
    Decoder(lua_State* L, const char* text, size_t size)
        : L(L)
        , start(text)
        , at(text)
        , end(text + size)
        , scratch(L)
    {
    }

    void document()
    {
        space();
        value(0);
        space();
        if (at != end)
            fail("expected the end of the text");
    }

private:
    lua_State* L;
    const char* start;
    const char* at;
    const char* end;
    Text scratch;

    void value(int depth)
    {
        if (at == end)
            fail("expected a value");
        switch (*at)
        {
        case '{':
            return object(depth);
        case '[':
            return array(depth);
        case '"':
            return string();
        case 't':
            word("true");
            return lua_pushboolean(L, true);
        case 'f':
            word("false");
            return lua_pushboolean(L, false);
        case 'n':
            word("null");
            return json_push_null(L);
        default:
            return number();
        }
    }

    void enter(int depth)
    {
        if (depth == kJsonDepth)
            fail("nested too deeply (128 levels at most)");
        if (!lua_checkstack(L, 4))
            luaD_throw(L, LUA_ERRMEM);
        at++;
        space();
    }

    void object(int depth)
    {
        enter(depth);
        lua_newtable(L);
        if (at < end && *at == '}')
        {
            at++;
            return json_mark_object(L, -1);
        }
        for (;;)
        {
            if (at == end || *at != '"')
                fail("expected a string as the key");
            string();
            space();
            if (at == end || *at != ':')
                fail("expected ':'");
            at++;
            space();
            value(depth + 1);
            lua_rawset(L, -3);
            if (!more('}', "expected ',' or '}'"))
                return;
        }
    }

    void array(int depth)
    {
        enter(depth);
        lua_newtable(L);
        if (at < end && *at == ']')
        {
            at++;
            return;
        }
        for (int position = 1;; position++)
        {
            value(depth + 1);
            lua_rawseti(L, -2, position);
            if (!more(']', "expected ',' or ']'"))
                return;
        }
    }

    // After an element: true at a comma, false at the end.
    bool more(char close, const char* expected)
    {
        space();
        if (at == end || (*at != ',' && *at != close))
            fail(expected);
        bool comma = *at++ == ',';
        if (comma)
            space();
        return comma;
    }

    void word(const char* text)
    {
        const char* begin = at;
        for (; *text; text++, at++)
            if (at == end || *at != *text)
            {
                at = begin;
                fail("expected a value");
            }
    }

    bool digits()
    {
        const char* begin = at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        return at > begin;
    }

    void number()
    {
        const char* begin = at;
        if (*at == '-')
            at++;
        const char* first = at;
        if (!digits())
        {
            at = begin;
            fail("expected a value");
        }
        if (*first == '0' && at - first > 1)
        {
            at = first;
            fail("a number must not start with 0");
        }
        if (at < end && *at == '.')
        {
            at++;
            if (!digits())
                fail("expected a digit");
        }
        if (at < end && (*at == 'e' || *at == 'E'))
        {
            at++;
            if (at < end && (*at == '+' || *at == '-'))
                at++;
            if (!digits())
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

    unsigned hex()
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

    void character(unsigned code)
    {
        if (code < 0x80)
            return scratch.add(char(code));
        if (code < 0x800)
            scratch.add(char(0xc0 | code >> 6));
        else
        {
            if (code < 0x10000)
                scratch.add(char(0xe0 | code >> 12));
            else
            {
                scratch.add(char(0xf0 | code >> 18));
                scratch.add(char(0x80 | (code >> 12 & 63)));
            }
            scratch.add(char(0x80 | (code >> 6 & 63)));
        }
        scratch.add(char(0x80 | (code & 63)));
    }

    void escape()
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
            unsigned code = hex();
            if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u')
            {
                at += 2;
                unsigned low = hex();
                if (low < 0xdc00 || low > 0xdfff)
                    fail("half of a surrogate pair");
                return character(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            }
            if (code >= 0xd800 && code < 0xe000)
                fail("half of a surrogate pair");
            return character(code);
        }
        default:
            at--;
            fail("unknown escape");
        }
    }

    void string()
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
                escape();
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
            fail("the string does not end");
        at++;
        scratch.push();
    }

    void space()
    {
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
            at++;
    }

    [[noreturn]] void fail(const char* what)
    {
        int line = 1;
        const char* line_start = start;
        for (const char* scan = start; scan < at; scan++)
            if (*scan == '\n')
            {
                line++;
                line_start = scan + 1;
            }
        luaL_error(L, "json.decode: %s at line %d, column %d", what, line, int(at - line_start) + 1);
    }
};

} // namespace

void json_push_decoded(lua_State* L, const char* text, size_t size)
{
    Decoder(L, text, size).document();
}
