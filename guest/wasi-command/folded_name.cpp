#include "wasi-command/folded_name.h"

#include <stdint.h>
#include <string.h>

namespace
{

// A character that is not ASCII, and what it becomes.
struct Folding
{
    std::string_view character;
    std::string_view folded;
};

// All characters whose uppercase or lowercase is ASCII, and all that some file systems ignore.
constexpr Folding kFoldings[] = {
    {"\u017f", "s"},  {"\u0131", "i"},   {"\u212a", "k"},   {"\u00df", "ss"}, {"\u1e9e", "ss"}, {"\ufb00", "ff"}, {"\ufb01", "fi"},
    {"\ufb02", "fl"}, {"\ufb03", "ffi"}, {"\ufb04", "ffl"}, {"\ufb05", "st"}, {"\ufb06", "st"}, {"\u200c", ""},   {"\u200d", ""},
    {"\u200e", ""},   {"\u200f", ""},    {"\u202a", ""},    {"\u202b", ""},   {"\u202c", ""},   {"\u202d", ""},   {"\u202e", ""},
    {"\u206a", ""},   {"\u206b", ""},    {"\u206c", ""},    {"\u206d", ""},   {"\u206e", ""},   {"\u206f", ""},   {"\ufeff", ""},
};

// The folding of the first character, which is not ASCII. Without one, the first byte stays as it is.
Folding find_folding(std::string_view text)
{
    for (const Folding& folding : kFoldings)
        if (text.starts_with(folding.character))
            return folding;
    return {text.substr(0, 1), text.substr(0, 1)};
}

} // namespace

FoldedName::FoldedName(std::string_view name)
{
    if (name.size() > sizeof(buffer))
        return;
    while (name.ends_with('.') || name.ends_with(' '))
        name.remove_suffix(1);
    while (!name.empty())
    {
        char letter = name.front();
        if (uint8_t(letter) < 0x80)
        {
            buffer[size++] = letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter;
            name.remove_prefix(1);
            continue;
        }
        Folding folding = find_folding(name);
        memcpy(buffer + size, folding.folded.data(), folding.folded.size());
        size += folding.folded.size();
        name.remove_prefix(folding.character.size());
    }
}
