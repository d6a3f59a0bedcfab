// The JSON library of the guest in a native Luau VM: random texts are decoded, and random values are encoded.
//
// The standard library of the machine can differ from that of the guest in numbers that are out of range. The target `json` compares the results
// of the real guest with another implementation.
#include "input.h"

#include "lib/error_value.h"
#include "lib/json/json.h"
#include "runtime/utf8.h"

#include "Luau/Common.h"
#include "lualib.h"

#include <math.h>

// Without this flag, Luau itself leaves a table in an invalid state if memory runs out while it is resized.
LUAU_DYNAMIC_FASTFLAG(LuauTableRobustOom)

namespace
{

// The allocations that succeed before one fails. Negative: none fails.
int64_t allocations_left = -1;

void* allocate(void*, void* block, size_t old_size, size_t new_size)
{
    if (new_size == 0)
    {
        free(block);
        return nullptr;
    }
    if (new_size > old_size && allocations_left >= 0 && allocations_left-- == 0)
    {
        allocations_left = 0;
        return nullptr;
    }
    return realloc(block, new_size);
}

bool is_same(lua_State* L, int left, int right);

// Returns the number of entries.
int count_entries(lua_State* L, int index)
{
    int count = 0;
    for (int iterator = 0; (iterator = lua_rawiter(L, index, iterator)) >= 0; lua_pop(L, 2))
        count++;
    return count;
}

// Returns true if the table at `right` has all entries of that at `left`.
bool contains_all(lua_State* L, int left, int right)
{
    for (int iterator = 0; (iterator = lua_rawiter(L, left, iterator)) >= 0; lua_pop(L, 2))
    {
        int value = lua_gettop(L);
        lua_pushvalue(L, value - 1);
        lua_rawget(L, right);
        bool same = is_same(L, value, value + 1);
        lua_pop(L, 1);
        if (!same)
        {
            lua_pop(L, 2);
            return false;
        }
    }
    return true;
}

bool is_same(lua_State* L, int left, int right)
{
    luaL_checkstack(L, 8, "comparison");
    // A number such as 1e19 is written with all its digits, and integers of that size are read as strings.
    if (lua_type(L, left) == LUA_TNUMBER && lua_type(L, right) == LUA_TSTRING)
        return fabs(lua_tonumber(L, left)) > 9007199254740992.0 && strtod(lua_tostring(L, right), nullptr) == lua_tonumber(L, left);
    if (lua_type(L, left) != lua_type(L, right))
        return false;
    switch (lua_type(L, left))
    {
    case LUA_TNUMBER:
    {
        double a = lua_tonumber(L, left);
        double b = lua_tonumber(L, right);
        return memcmp(&a, &b, sizeof(a)) == 0;
    }
    case LUA_TTABLE:
    {
        bool is_left_array = json_is_array(L, left, lua_objlen(L, left));
        bool is_right_array = json_is_array(L, right, lua_objlen(L, right));
        return is_left_array == is_right_array && count_entries(L, left) == count_entries(L, right) && contains_all(L, left, right);
    }
    default:
        return lua_rawequal(L, left, right);
    }
}

void push_encoded(lua_State* L, int index, int indent)
{
    json_push_encoded(L, index, "value", indent);
    size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    CHECK(is_utf8({text, size}));
}

void push_decoded(lua_State* L, int index, JsonNull null)
{
    size_t size = 0;
    const char* text = lua_tolstring(L, index, &size);
    json_push_decoded(L, text, size, null);
}

void check_printed(lua_State* L, int index)
{
    if (lua_type(L, index) != LUA_TTABLE)
        return;
    json_push_printed(L, index);
    size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    CHECK(size <= kMaxPrintedTable + 3);
    CHECK(is_utf8({text, size}));
    lua_pop(L, 1);
}

// Decodes the text in the first argument. What is decoded must survive a round trip.
int decode(lua_State* L)
{
    for (JsonNull null : {JsonNull::keep, JsonNull::to_nil})
        for (int indent : {kCompactJson, 0, 3})
        {
            lua_settop(L, 1);
            push_decoded(L, 1, null);
            push_encoded(L, 2, indent);
            push_decoded(L, 3, null);
            CHECK(is_same(L, 2, 4));
            check_printed(L, 2);
        }
    return 0;
}

double take_number(Input& input)
{
    double number = 0;
    uint64_t bits = input.take<uint64_t>();
    memcpy(&number, &bits, sizeof(number));
    return number;
}

void push_value(lua_State* L, Input& input, int depth);

// Adds entries of any kind to the table on top of the stack.
void add_entries(lua_State* L, Input& input, int depth)
{
    int table = lua_gettop(L);
    for (int count = input.take<uint8_t>() % 8; count > 0; count--)
    {
        switch (input.take<uint8_t>() % 6)
        {
        case 0:
        case 1:
            lua_pushinteger(L, lua_objlen(L, table) + 1);
            break;
        case 2:
        {
            std::string_view key = input.take_text();
            lua_pushlstring(L, key.data(), key.size());
            break;
        }
        case 3:
            lua_pushinteger(L, input.take<uint8_t>());
            break;
        case 4:
        {
            double number = take_number(input);
            lua_pushnumber(L, isnan(number) ? 0 : number);
            break;
        }
        default:
            lua_pushboolean(L, true);
        }
        // A cycle, now and then.
        if (input.take<uint8_t>() == 255)
            lua_pushvalue(L, table);
        else
            push_value(L, input, depth + 1);
        lua_rawset(L, table);
    }
}

int function(lua_State*)
{
    return 0;
}

void push_value(lua_State* L, Input& input, int depth)
{
    luaL_checkstack(L, 8, "value");
    constexpr int kMaxDepth = 140;
    uint8_t kind = depth == kMaxDepth ? 0 : input.take<uint8_t>();
    switch (kind % 16)
    {
    case 0:
        return lua_pushnil(L);
    case 1:
        return lua_pushboolean(L, kind & 16);
    case 2:
        return lua_pushnumber(L, take_number(input));
    case 3:
        return lua_pushnumber(L, input.take<int16_t>());
    case 4:
    case 5:
    {
        std::string_view text = input.take_text();
        return lua_pushlstring(L, text.data(), text.size());
    }
    case 6:
        return json_push_null(L);
    case 7:
        lua_newtable(L);
        return json_mark_object(L, -1);
    case 8:
    {
        // Many levels cost one byte.
        lua_createtable(L, 1, 0);
        push_value(L, input, depth + 1);
        return lua_rawseti(L, -2, 1);
    }
    case 9:
    {
        std::string_view text = input.take_text();
        memcpy(lua_newbuffer(L, text.size()), text.data(), text.size());
        return;
    }
    case 10:
        lua_newuserdata(L, 1);
        return;
    case 11:
        return lua_pushcfunction(L, function, "function");
    case 12:
    {
        std::string_view message = input.take_text();
        lua_newtable(L);
        lua_pushlstring(L, message.data(), message.size());
        lua_rawsetfield(L, -2, "message");
        return error_value_seal(L);
    }
    default:
        lua_newtable(L);
        return add_entries(L, input, depth);
    }
}

// Encodes random values. An encoded text can be decoded, and the result of a script always has a text unless a value is of a type that can't.
int encode(lua_State* L)
{
    Input& input = *static_cast<Input*>(lua_tolightuserdata(L, 1));
    int indent = int(input.take<uint8_t>() % 18) - 1;
    int count = 1 + input.take<uint8_t>() % 3;
    for (int index = 0; index < count; index++)
        push_value(L, input, 0);
    int first = lua_gettop(L) - count + 1;
    check_printed(L, first);
    for (int index = 0; index < count; index++)
        lua_pushvalue(L, first + index);
    json_push_encoded_results(L, count);
    int encoded = lua_gettop(L) - 1;
    CHECK(lua_type(L, encoded) == LUA_TSTRING && lua_type(L, encoded + 1) == LUA_TSTRING);
    push_decoded(L, encoded, JsonNull::keep);
    push_encoded(L, first, indent);
    push_decoded(L, lua_gettop(L), JsonNull::keep);
    return 0;
}

int open(lua_State* L)
{
    luaL_openlibs(L);
    error_value_init(L);
    json_open_library(L);
    return 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Input input(data, size);
    uint8_t mode = input.take<uint8_t>();
    DFFlag::LuauTableRobustOom.value = true;
    allocations_left = -1;
    lua_State* L = lua_newstate(allocate, nullptr);
    CHECK(lua_cpcall(L, open, nullptr) == 0);
    if (mode & 2)
        allocations_left = input.take<uint16_t>() % 1024;
    int status;
    if (mode & 1)
        status = lua_cpcall(L, encode, &input);
    else
    {
        std::string_view text = input.take_rest();
        int64_t limit = allocations_left;
        allocations_left = -1;
        lua_pushcfunction(L, decode, "decode");
        lua_pushlstring(L, text.data(), text.size());
        allocations_left = limit;
        status = lua_pcall(L, 1, 0, 0);
    }
    allocations_left = -1;
    // Any other status is a fault of the library.
    CHECK(status == LUA_OK || status == LUA_ERRRUN || status == LUA_ERRMEM);
    lua_close(L);
    return 0;
}
