#include "runtime/source_position.h"

#include <algorithm>

uint32_t count_characters(const char* start, const char* end)
{
    return uint32_t(std::count_if(start, end, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

uint32_t to_column(std::string_view text, const Luau::Position& position)
{
    const char* end = text.data() + text.size();
    const char* line = text.data();
    for (unsigned number = 0; number < position.line && line < end; number++)
        line = std::find(line, end, '\n') + 1;
    if (line >= end)
        return 1;
    return count_characters(line, line + std::min<size_t>(position.column, end - line)) + 1;
}
