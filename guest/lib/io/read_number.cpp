#include "lib/io/read.h"

#include "lualib.h"

#include <stdlib.h>

namespace
{

// Takes as many bytes as can be the beginning of a number.
struct NumberReader
{
    lua_State* L;
    File* file;
    IoError* error;
    luaL_Strbuf text;
    int next;

    void advance()
    {
        file->read_at++;
        next = peek_byte(L, file, error);
    }

    bool is(char letter) const
    {
        return next >= 0 && (next | 0x20) == letter;
    }

    bool take()
    {
        luaL_addchar(&text, char(next));
        advance();
        return true;
    }

    bool take_if(char letter)
    {
        return is(letter) && take();
    }

    bool take_word(const char* word)
    {
        for (; *word; word++)
            if (!take_if(*word))
                return false;
        return true;
    }

    bool is_digit(bool hex) const
    {
        return (next >= '0' && next <= '9') || (hex && next >= 0 && (next | 0x20) >= 'a' && (next | 0x20) <= 'f');
    }

    int take_digits(bool hex)
    {
        int count = 0;
        for (; is_digit(hex); count++)
            take();
        return count;
    }

    // Returns false if the bytes taken are not a number.
    bool take_number()
    {
        if (next == '+' || next == '-')
            take();
        if (is('n'))
            return take_word("nan");
        if (is('i'))
            return take_word("inf") && (!is('i') || take_word("inity"));
        bool zero = next == '0' && take();
        bool hex = zero && take_if('x');
        int digits = take_digits(hex) + (zero && !hex);
        if (next == '.')
        {
            take();
            digits += take_digits(hex);
        }
        if (digits == 0)
            return false;
        if (take_if(hex ? 'p' : 'e'))
        {
            if (next == '+' || next == '-')
                take();
            take_digits(false);
        }
        return true;
    }
};

} // namespace

ReadStatus read_number(lua_State* L, File* file, IoError* error)
{
    NumberReader reader = {L, file, error, {}, peek_byte(L, file, error)};
    while (reader.next == ' ' || (reader.next >= '\t' && reader.next <= '\r'))
        reader.advance();
    luaL_buffinit(L, &reader.text);
    bool is_number = reader.next >= 0 && reader.take_number();
    if (reader.next == kReadFailed)
        return ReadStatus::failed;
    if (!is_number)
    {
        lua_pushnil(L);
        return ReadStatus::end;
    }
    luaL_pushresult(&reader.text);
    double number = strtod(lua_tostring(L, -1), nullptr);
    lua_pop(L, 1);
    lua_pushnumber(L, number);
    return ReadStatus::done;
}
