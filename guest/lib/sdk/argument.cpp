#include "lib/sdk/argument.h"
#include "lib/json/encoder.h"
#include "runtime/utf8.h"

using Attachment = toolscript_sandbox_tools_attachment_t;

namespace
{

// Replaces bytes by an empty string, and collects them with their locations.
class ArgumentEncoder : public JsonEncoder
{
public:
    explicit ArgumentEncoder(lua_State* L)
        : JsonEncoder(L, "argument", kCompactJson)
        , attachments(L)
        , pointers(L)
    {
    }

    size_t attachment_count() const
    {
        return attachments.size / sizeof(Attachment);
    }

    // Pushes a copy of the attachments and their pointers, which the garbage collector owns.
    Attachment* push_attachments()
    {
        char* memory = static_cast<char*>(lua_newuserdata(L, attachments.size + pointers.size));
        memcpy(memory, attachments.data, attachments.size);
        memcpy(memory + attachments.size, pointers.data, pointers.size);
        Attachment* copied = reinterpret_cast<Attachment*>(memory);
        uint8_t* pointer = reinterpret_cast<uint8_t*>(memory + attachments.size);
        for (size_t index = 0; index < attachment_count(); index++)
        {
            copied[index].pointer.ptr = pointer;
            pointer += copied[index].pointer.len;
        }
        return copied;
    }

protected:
    void on_invalid_utf8(size_t start, std::string_view bytes, const JsonStep* step, bool is_key) override
    {
        if (is_key)
            fail(step, "is not UTF-8");
        text.size = start;
        attach(bytes, step);
    }

    void on_buffer(std::string_view bytes, const JsonStep* step) override
    {
        attach(bytes, step);
    }

private:
    TextBuffer attachments;
    TextBuffer pointers;

    void attach(std::string_view bytes, const JsonStep* step)
    {
        text.add("\"\"", 2);
        size_t start = pointers.size;
        add_pointer(step);
        // The address of the pointer is set when the text does not move any more.
        Attachment attachment = {{nullptr, pointers.size - start}, borrow_bytes(bytes.data(), bytes.size())};
        attachments.add(reinterpret_cast<char*>(&attachment), sizeof(attachment));
    }

    void add_pointer(const JsonStep* step)
    {
        if (!step)
            return;
        add_pointer(step->outer);
        pointers.add('/');
        if (!step->key)
            return add_json_number(pointers, step->is_in_array ? step->index - 1 : step->index);
        for (char letter : std::string_view(step->key, step->key_size))
        {
            if (letter == '~' || letter == '/')
                pointers.add(letter == '~' ? "~0" : "~1");
            else
                pointers.add(letter);
        }
    }
};

} // namespace

toolscript_sandbox_tools_value_t sdk_push_argument(lua_State* L, int index)
{
    lua_pushvalue(L, index);
    toolscript_sandbox_tools_value_t value;
    size_t size = 0;
    const char* bytes = static_cast<char*>(lua_tobuffer(L, -1, &size));
    if (!bytes && lua_type(L, -1) == LUA_TSTRING)
    {
        bytes = lua_tolstring(L, -1, &size);
        bytes = is_utf8({bytes, size}) ? nullptr : bytes;
    }
    if (bytes)
    {
        value.tag = TOOLSCRIPT_SANDBOX_TOOLS_VALUE_BYTES;
        value.val.bytes = borrow_bytes(bytes, size);
        return value;
    }
    ArgumentEncoder encoder(L);
    encoder.write(lua_gettop(L));
    encoder.text.push();
    const char* json = lua_tolstring(L, -1, &size);
    value.tag = TOOLSCRIPT_SANDBOX_TOOLS_VALUE_JSON;
    value.val.json = {borrow_string(json, size), {nullptr, encoder.attachment_count()}};
    if (encoder.attachment_count() > 0)
    {
        // The table of the script keeps the bytes alive until the call is made.
        value.val.json.attachments.ptr = encoder.push_attachments();
        lua_createtable(L, 2, 0);
        lua_insert(L, -3);
        lua_rawseti(L, -3, 1);
        lua_rawseti(L, -2, 2);
    }
    lua_remove(L, -2);
    return value;
}
