#include "wasi-command/log.h"
#include "wasi-command/utf8_lossy.h"
#include "wasi-command/output.h"

#include <string.h>

namespace
{

constexpr size_t kMaxLogs = 1 << 20;
// What an empty line costs, as in the host.
constexpr size_t kLineOverhead = 24;

// Each line is its size, in four bytes, and its text. As a line costs more than that, they can't be too many for this.
char lines[kMaxLogs];
size_t lines_size = 0;
size_t used = 0;
bool cut = false;

void add_size(uint32_t size)
{
    memcpy(lines + lines_size, &size, sizeof(size));
    lines_size += sizeof(size);
}

} // namespace

extern "C" void toolscript_sandbox_log_line(unprepared_list_u8_t* text)
{
    if (cut || kMaxLogs - used < kLineOverhead)
    {
        cut = true;
        return;
    }
    size_t room = kMaxLogs - used - kLineOverhead;
    size_t start = lines_size + sizeof(uint32_t);
    size_t size = 0;
    for (std::string_view rest(reinterpret_cast<char*>(text->ptr), text->len); !rest.empty() && !cut;)
    {
        std::string_view character = next_character(&rest);
        cut = size + character.size() > room;
        if (!cut)
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

// There is nobody to show it to.
extern "C" void toolscript_sandbox_log_progress(double, double*, unprepared_list_u8_t*) {}

void log_report(Output* output)
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

bool log_is_cut()
{
    return cut;
}
