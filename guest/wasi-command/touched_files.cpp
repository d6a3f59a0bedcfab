#include "wasi-command/touched_files.h"
#include "wasi-command/file_sizes.h"
#include "wasi-command/output.h"

#include <algorithm>
#include <string.h>

namespace
{

constexpr size_t kMaxTouched = 20'000;
constexpr size_t kMaxNames = 1 << 20;

struct Entry
{
    uint32_t start; // offset of the name in `names`
    uint16_t size;
    bool is_changed; // other than by appending
    bool is_incomplete;
};

// Each open file may add an entry after the limit was checked, and a rename adds two entries after both were checked.
constexpr size_t kReserve = 65;

char names[kMaxNames + kReserve * kMaxPath];
size_t names_size = 0;
Entry entries[kMaxTouched + kReserve];
size_t entries_size = 0;

// A hash table. A slot contains the index of an entry plus one, or 0. There are more slots than entries, so a free slot always exists.
constexpr size_t kSlots = 1 << 16;
uint16_t slots[kSlots];

std::string_view name_of(const Entry& entry)
{
    return {names + entry.start, entry.size};
}

// Returns the slot of this name, or the free slot for it.
uint16_t* slot_of(std::string_view name)
{
    uint32_t hash = 2166136261;
    for (char byte : name)
        hash = (hash ^ uint8_t(byte)) * 16777619;
    size_t index = (hash ^ hash >> 16) % kSlots;
    while (slots[index] && name_of(entries[slots[index] - 1]) != name)
        index = (index + 1) % kSlots;
    return &slots[index];
}

// The caller has called `touched_check_limit` before.
Entry& find_or_add(const FilePath& path)
{
    std::string_view name = path.display();
    uint16_t* slot = slot_of(name);
    if (*slot)
        return entries[*slot - 1];
    memcpy(names + names_size, name.data(), name.size());
    entries[entries_size] = {uint32_t(names_size), uint16_t(name.size()), false, false};
    names_size += name.size();
    *slot = uint16_t(++entries_size);
    return entries[entries_size - 1];
}

void write_entry(const Entry& entry, FileSizes* sizes, Output* output)
{
    FilePath path;
    Error ignored;
    path.size = entry.size;
    memcpy(path.name, names + entry.start, entry.size);
    uint64_t size = 0;
    Lookup lookup = sizes->size(path, &size, &ignored);
    output->add("{\"name\":");
    output->add_string(path.display());
    if (lookup == Lookup::missing)
        return output->add(",\"op\":\"remove\"}");
    output->add(entry.is_changed ? ",\"op\":\"write\"" : ",\"op\":\"append\"");
    if (lookup == Lookup::found)
    {
        output->add(",\"bytes\":");
        output->add_number(size);
    }
    output->add(entry.is_incomplete ? ",\"cut\":true}" : "}");
}

} // namespace

bool touched_check_limit(const FilePath& path, Error* error)
{
    std::string_view name = path.display();
    if (*slot_of(name) || (entries_size < kMaxTouched && names_size + name.size() <= kMaxNames))
        return true;
    return fail_limit(error, "too many files touched (max %zu, with %zu bytes of names)", kMaxTouched, kMaxNames);
}

void touched_mark(const FilePath& path, bool append)
{
    find_or_add(path).is_changed |= !append;
}

void touched_mark_incomplete(const FilePath& path, bool append)
{
    Entry& entry = find_or_add(path);
    entry.is_changed |= !append;
    entry.is_incomplete = true;
}

void touched_write_json(Output* output)
{
    std::sort(entries, entries + entries_size, [](const Entry& left, const Entry& right) { return name_of(left) < name_of(right); });
    FileSizes sizes;
    output->add("[");
    for (size_t index = 0; index < entries_size; index++)
    {
        if (index > 0)
            output->add(",");
        write_entry(entries[index], &sizes, output);
    }
    output->add("]");
}
