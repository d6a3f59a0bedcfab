#include "wasi-command/log.h"
#include "runtime/bindings.h"
#include "wasi-command/output.h"
#include "wasi-command/utf8_lossy.h"

#include <string.h>

namespace
{

constexpr size_t kMaxLogs = 1 << 20;
// Counted for each line, as in the native host.
constexpr size_t kLineOverhead = 24;

// Each line is stored as its size in four bytes and its text. That is less than its cost, so the lines always fit.
char lines[kMaxLogs];
size_t lines_size = 0;
size_t used = 0;
bool is_truncated = false;

void add_size(uint32_t size)
{
    memcpy(lines + lines_size, &size, sizeof(size));
    lines_size += sizeof(size);
}

} // namespace

extern "C" void toolscript_sandbox_log_line(guest_list_u8_t* text)
{
    if (is_truncated || kMaxLogs - used < kLineOverhead)
    {
        is_truncated = true;
        return;
    }
    size_t capacity = kMaxLogs - used - kLineOverhead;
    size_t start = lines_size + sizeof(uint32_t);
    size_t size = 0;
    for (std::string_view rest(reinterpret_cast<char*>(text->ptr), text->len); !rest.empty() && !is_truncated;)
    {
        std::string_view character = next_character(&rest);
        is_truncated = size + character.size() > capacity;
        if (!is_truncated)
        {
            memcpy(lines + start + size, character.data(), character.size());
            size += character.size();
        }
    }
    add_size(uint32_t(size));
    lines_size += size;
    used += size + kLineOverhead;

    print_line(kStandardError, {lines + start, size});
}

// WASI has no channel for progress.
extern "C" void toolscript_sandbox_log_progress(double, double*, guest_list_u8_t*) {}

void log_write_json(Output* output)
{
    output->add("[");
    for (size_t at = 0; at < lines_size;)
    {
        uint32_t size;
        memcpy(&size, lines + at, sizeof(size));
        if (at > 0)
            output->add(",");
        at += sizeof(size);
        output->add_string({lines + at, size});
        at += size;
    }
    output->add("]");
}

bool log_is_truncated()
{
    return is_truncated;
}
