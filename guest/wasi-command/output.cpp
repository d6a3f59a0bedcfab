#include "wasi-command/output.h"
#include "wasi-command/utf8_lossy.h"

#include <charconv>
#include <string.h>

namespace
{

constexpr char kHex[] = "0123456789abcdef";

// Returns true for line separators and for characters that change the direction of text.
bool is_deceptive(uint32_t code)
{
    return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool is_printable(uint32_t code)
{
    return (!is_control(code) || code == '\t' || code == '\n') && !is_deceptive(code);
}

bool is_printable(std::string_view text)
{
    while (!text.empty())
        if (!is_printable(code_point_of(next_character(&text))))
            return false;
    return true;
}

} // namespace

void print_line(Descriptor stream, std::string_view text)
{
    Output output(stream);
    if (!is_printable(text))
    {
        output.add_escaped(text);
        return output.add("\n");
    }
    __wasi_ciovec_t parts[] = {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {reinterpret_cast<const uint8_t*>("\n"), 1}};
    size_t done = 0;
    if (preview1_fd_write(stream, parts, 2, &done) != __WASI_ERRNO_SUCCESS)
        done = 0;
    // Writes the rest if the host has accepted only a part.
    if (done <= text.size())
    {
        output.add(text.substr(done));
        output.add("\n");
    }
}

void Output::add(std::string_view text)
{
    while (!text.empty())
    {
        size_t part = text.size() < kBlock - size ? text.size() : kBlock - size;
        memcpy(block + size, text.data(), part);
        size += part;
        text.remove_prefix(part);
        if (size == kBlock)
            flush();
    }
}

void Output::add_number(uint64_t number)
{
    char digits[24];
    add({digits, size_t(std::to_chars(digits, digits + sizeof(digits), number).ptr - digits)});
}

void Output::add_string(std::string_view bytes)
{
    add("\"");
    while (!bytes.empty())
    {
        std::string_view character = next_character(&bytes);
        char byte = character[0];
        if (byte == '"' || byte == '\\')
            add("\\");
        if (uint8_t(byte) >= 0x20)
            add(character);
        else if (byte == '\n' || byte == '\r' || byte == '\t')
            add(byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t");
        else
        {
            char escape[] = {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
            add({escape, sizeof(escape)});
        }
    }
    add("\"");
}

void Output::add_escaped(std::string_view bytes)
{
    while (!bytes.empty())
    {
        std::string_view character = next_character(&bytes);
        uint32_t code = code_point_of(character);
        if (is_printable(code))
        {
            add(character);
            continue;
        }
        char digits[8];
        add("\\u{");
        add({digits, size_t(std::to_chars(digits, digits + sizeof(digits), code, 16).ptr - digits)});
        add("}");
    }
}

bool Output::flush()
{
    for (size_t at = 0; is_intact && at < size;)
    {
        __wasi_ciovec_t rest = {reinterpret_cast<uint8_t*>(block) + at, size - at};
        size_t done = 0;
        Errno number = preview1_fd_write(stream, &rest, 1, &done);
        // A full pipe accepts bytes later.
        is_intact = (number == __WASI_ERRNO_SUCCESS && done > 0) || number == __WASI_ERRNO_AGAIN || number == __WASI_ERRNO_INTR;
        at += number == __WASI_ERRNO_SUCCESS ? done : 0;
    }
    size = 0;
    return is_intact;
}
