// `list` of the contract: the names in a folder.
#include "wasi-command/utf8_lossy.h"
#include "wasi-command/directory.h"

#include <algorithm>
#include <new>
#include <stdlib.h>
#include <string>
#include <string.h>
#include <vector>

namespace
{

constexpr size_t kMaxNames = 100'000;
constexpr size_t kMaxBytes = 4 << 20;

// Large, as some hosts read a folder from its start for each block of it.
char block[256 * 1024];

struct Names
{
    const FilePath& path;
    Error* error;
    std::vector<std::string> all;
    size_t bytes = 0;

    bool add(std::string_view name)
    {
        if (name == "." || name == ".." || path_is_reserved(name))
            return true;
        std::string shown;
        bool broken = false;
        for (std::string_view rest = name; !rest.empty();)
        {
            const char* at = rest.data();
            std::string_view character = next_character(&rest);
            broken |= character.data() != at;
            shown += character;
        }
        if (broken)
            shown += " (not UTF-8)";
        bytes += shown.size();
        all.push_back(std::move(shown));
        if (all.size() <= kMaxNames && bytes <= kMaxBytes)
            return true;
        std::string_view folder = path.shown();
        return fail_limit(error, "%.*s: too many names to list (max %zu, %zu bytes)", int(folder.size()), folder.data(), kMaxNames, kMaxBytes);
    }

    // The names in the block; where the next begin is moved along. A name that is cut at the end comes again.
    bool add_all(size_t size, uint64_t* cookie)
    {
        __wasi_dirent_t entry;
        for (size_t at = 0; size - at >= sizeof(entry);)
        {
            memcpy(&entry, block + at, sizeof(entry));
            at += sizeof(entry);
            if (entry.d_namlen > size - at)
                break;
            if (!add({block + at, entry.d_namlen}))
                return false;
            at += entry.d_namlen;
            *cookie = entry.d_next;
        }
        return true;
    }

    bool read(Descriptor folder)
    {
        uint64_t cookie = __WASI_DIRCOOKIE_START;
        for (size_t size = sizeof(block); size == sizeof(block);)
        {
            Errno number = preview1_fd_readdir(folder, block, sizeof(block), cookie, &size);
            if (number != __WASI_ERRNO_SUCCESS)
                return fail_system(error, path, number);
            uint64_t before = cookie;
            if (!add_all(size, &cookie))
                return false;
            if (size == sizeof(block) && cookie == before)
                return fail_system(error, path, __WASI_ERRNO_IO);
        }
        return true;
    }
};

// The list as the bindings would have made it.
void hand_over(const std::vector<std::string>& names, unprepared_list_string_t* list)
{
    // In this order: what is there is freed if memory runs out in between.
    list->ptr = new unprepared_string_t[names.size() + 1]();
    list->len = names.size();
    for (size_t index = 0; index < names.size(); index++)
    {
        const std::string& name = names[index];
        list->ptr[index] = {new uint8_t[name.size()], name.size()};
        memcpy(list->ptr[index].ptr, name.data(), name.size());
    }
}

bool list_names(std::string_view bytes, unprepared_list_string_t* list, Error* error)
{
    FilePath path;
    Folder folder;
    if (!path_parse(bytes, &path, error))
        return false;
    Search search = folder.open(path, {path.name, path.size}, error);
    if (search == Search::missing)
        fail_system(error, path, __WASI_ERRNO_NOENT);
    Names names = {path, error, {}, 0};
    if (search != Search::found || !names.read(folder.descriptor()))
        return false;
    std::sort(names.all.begin(), names.all.end());
    hand_over(names.all, list);
    return true;
}

} // namespace

extern "C" bool toolscript_sandbox_io_list(unprepared_list_u8_t* path, unprepared_list_string_t* list, Error* error)
{
    *list = {};
    try
    {
        return list_names({reinterpret_cast<char*>(path->ptr), path->len}, list, error);
    }
    catch (std::bad_alloc&)
    {
        unprepared_list_string_free(list);
        return fail_limit(error, "not enough memory");
    }
}
