#include "lib/sdk/document.h"
#include "lib/json/json.h"
#include "lib/json/text_buffer.h"

#include <string.h>
#include <string_view>

namespace
{

// Removes the first part of a JSON pointer, and pushes it as a key of the table on top of the stack: a number for an array.
void push_key(lua_State* L, std::string_view& pointer)
{
    pointer.remove_prefix(1);
    std::string_view escaped = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(escaped.size());
    TextBuffer part(L);
    for (size_t index = 0; index < escaped.size(); index++)
    {
        bool is_escape = escaped[index] == '~' && index + 1 < escaped.size();
        part.add(!is_escape ? escaped[index] : escaped[++index] == '1' ? '/' : '~');
    }
    part.push();
    lua_pushvalue(L, -1);
    bool is_field = lua_rawget(L, -3) != LUA_TNIL;
    lua_pop(L, 1);
    // A decoded array has no string keys.
    double position = 0;
    int is_number = 0;
    if (!is_field)
        position = lua_tonumberx(L, -1, &is_number);
    if (!is_number)
        return;
    lua_pop(L, 1);
    lua_pushnumber(L, position + 1);
}

// Sets the string on top of the stack at a location in the value below it, and pops it. Ignores a location that does not exist.
void set_at(lua_State* L, std::string_view pointer)
{
    if (pointer.empty())
        return lua_replace(L, -2);
    int value = lua_gettop(L);
    lua_pushvalue(L, value - 1);
    while (lua_istable(L, -1) && !pointer.empty())
    {
        push_key(L, pointer);
        if (pointer.empty())
        {
            lua_pushvalue(L, value);
            lua_rawset(L, -3);
            break;
        }
        lua_rawget(L, -2);
        lua_remove(L, -2);
    }
    lua_settop(L, value - 1);
}

} // namespace

void sdk_push_json(lua_State* L, const guest_string_t& json)
{
    const char* text = reinterpret_cast<char*>(json.ptr);
    if (json.len == 4 && memcmp(text, "null", 4) == 0)
        lua_pushnil(L);
    else
        json_push_decoded(L, text, json.len);
}

void sdk_push_document(lua_State* L, const Document& document)
{
    sdk_push_json(L, document.json);
    for (size_t index = 0; index < document.attachments.len; index++)
    {
        const toolscript_sandbox_tools_attachment_t& attachment = document.attachments.ptr[index];
        lua_pushlstring(L, reinterpret_cast<char*>(attachment.content.ptr), attachment.content.len);
        set_at(L, {reinterpret_cast<char*>(attachment.pointer.ptr), attachment.pointer.len});
    }
}
