#include "wasi-command/touched_files.h"
#include "wasi-command/output.h"
#include "wasi-command/file_sizes.h"

#include <algorithm>
#include <string.h>

namespace
{

constexpr size_t kMaxTouched = 20'000;
constexpr size_t kMaxNames = 1 << 20;

struct Mark
{
    uint32_t start; // of the name, in `names`
    uint16_t size;
    bool changed; // not only appended to
    bool cut;
};

// Each handle that is open may still bring one more than is let in.
constexpr size_t kLate = 64;

char names[kMaxNames + kLate * kMaxPath];
size_t names_size = 0;
Mark marks[kMaxTouched + kLate];
size_t marks_size = 0;

// Marks by the hash of their names, plus one. There are more places than marks, so that there is always a free one.
constexpr size_t kPlaces = 1 << 16;
uint16_t places[kPlaces];

std::string_view name_of(const Mark& mark)
{
    return {names + mark.start, mark.size};
}

// Where the mark of this name is, or would be.
uint16_t* place_of(std::string_view name)
{
    uint32_t hash = 2166136261;
    for (char byte : name)
        hash = (hash ^ uint8_t(byte)) * 16777619;
    size_t index = (hash ^ hash >> 16) % kPlaces;
    while (places[index] && name_of(marks[places[index] - 1]) != name)
        index = (index + 1) % kPlaces;
    return &places[index];
}

// There is room: `touched_check` came before.
Mark& find_or_add(const FilePath& path)
{
    std::string_view name = path.shown();
    uint16_t* place = place_of(name);
    if (*place)
        return marks[*place - 1];
    memcpy(names + names_size, name.data(), name.size());
    marks[marks_size] = {uint32_t(names_size), uint16_t(name.size()), false, false};
    names_size += name.size();
    *place = uint16_t(++marks_size);
    return marks[marks_size - 1];
}

void report(const Mark& mark, Surveyor* surveyor, Output* output)
{
    FilePath path;
    Error ignored;
    path.size = mark.size;
    memcpy(path.name, names + mark.start, mark.size);
    uint64_t size = 0;
    Search search = surveyor->size(path, &size, &ignored);
    output->add("{\"name\":");
    output->add_string(path.shown());
    if (search == Search::missing)
        return output->add(",\"op\":\"remove\"}");
    output->add(mark.changed ? ",\"op\":\"write\"" : ",\"op\":\"append\"");
    if (search == Search::found)
    {
        output->add(",\"bytes\":");
        output->add_number(size);
    }
    output->add(mark.cut ? ",\"cut\":true}" : "}");
}

} // namespace

bool touched_check(const FilePath& path, Error* error)
{
    std::string_view name = path.shown();
    if (*place_of(name) || (marks_size < kMaxTouched && names_size + name.size() <= kMaxNames))
        return true;
    return fail_limit(error, "too many files touched (max %zu, with %zu bytes of names)", kMaxTouched, kMaxNames);
}

void touched_mark(const FilePath& path, bool append)
{
    find_or_add(path).changed |= !append;
}

void touched_cut(const FilePath& path, bool append)
{
    Mark& mark = find_or_add(path);
    mark.changed |= !append;
    mark.cut = true;
}

void touched_report(Output* output)
{
    std::sort(marks, marks + marks_size, [](const Mark& left, const Mark& right) { return name_of(left) < name_of(right); });
    Surveyor surveyor;
    output->add("[");
    for (size_t index = 0; index < marks_size; index++)
    {
        if (index > 0)
            output->add(",");
        report(marks[index], &surveyor, output);
    }
    output->add("]");
}
