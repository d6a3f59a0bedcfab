// Encodes a value as JSON text.
#pragma once

#include "lib/json/json.h"
#include "lib/json/text_buffer.h"

#include <string_view>

// Appends a finite number.
void add_json_number(TextBuffer& text, double number);

// A step of the path to the current value.
struct JsonStep
{
    const JsonStep* outer;
    const void* table;
    const char* key; // null for an index
    size_t key_size;
    double index;
    bool is_in_array;
};

// Raises an error that names the path to a value that JSON can't represent. A subclass can write something else instead.
class JsonEncoder
{
public:
    // `root` is the first word of a path in an error message.
    JsonEncoder(lua_State* L, const char* root, int indent);

    // Encodes the value at this index, which must be the top of the stack.
    void write(int index);

    TextBuffer text;

protected:
    // Replaces the text since `start`, which has U+FFFD for each byte that is not UTF-8.
    virtual void on_invalid_utf8(size_t start, std::string_view bytes, const JsonStep* step, bool is_key);
    // Writes a number that is NaN or infinite.
    virtual void on_not_finite(double number, const JsonStep* step);
    // Writes a buffer.
    virtual void on_buffer(std::string_view bytes, const JsonStep* step);

    // Adds the path of a value, such as `result.items[3]`.
    void add_path(TextBuffer& message, const JsonStep* step);
    [[noreturn]] void fail(const JsonStep* step, const char* reason, const char* detail = "");

    lua_State* L;

private:
    void write_value(int index, const JsonStep* step, int depth);
    void write_number(double number, const JsonStep* step);
    void write_string(const char* bytes, size_t size, const JsonStep* step, bool is_key = false);
    void write_table(int index, const JsonStep* step, int depth);
    void write_array(int index, int count, const void* pointer, const JsonStep* outer, int depth);
    void write_object(int index, const void* pointer, const JsonStep* outer, int depth);
    void write_key(int index, JsonStep* step);
    void break_line(int depth);

    const char* root;
    int indent;
};
