// The function `io.list` of the contract.
#include "wasi-command/directory.h"
#include "wasi-command/utf8_lossy.h"

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

// Large, because some hosts read a directory from its start for each block.
char block[256 * 1024];

// Collects the names in a directory and checks their limits.
struct Names
{
    const FilePath& path;
    Error* error;
    std::vector<std::string> all;
    size_t bytes = 0;

    bool add(std::string_view name)
    {
        if (name == "." || name == ".." || path_is_hidden(name))
            return true;
        std::string text;
        bool is_invalid = false;
        for (std::string_view rest = name; !rest.empty();)
        {
            const char* at = rest.data();
            std::string_view character = next_character(&rest);
            is_invalid |= character.data() != at;
            text += character;
        }
        if (is_invalid)
            text += " (not UTF-8)";
        bytes += text.size();
        all.push_back(std::move(text));
        if (all.size() <= kMaxNames && bytes <= kMaxBytes)
            return true;
        std::string_view directory = path.display();
        return fail_limit(error, "%.*s: too many names to list (max %zu, %zu bytes)", int(directory.size()), directory.data(), kMaxNames, kMaxBytes);
    }

    // Adds the names in the block and moves the cookie past them. The next block starts with a name that the end of this block truncated.
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

    bool read(Descriptor directory)
    {
        uint64_t cookie = __WASI_DIRCOOKIE_START;
        for (size_t size = sizeof(block); size == sizeof(block);)
        {
            Errno number = preview1_fd_readdir(directory, block, sizeof(block), cookie, &size);
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

// Allocates the list as the bindings do.
void copy_names(const std::vector<std::string>& names, guest_list_string_t* list)
{
    // The list is valid after each step, so that it can be freed if memory runs out.
    list->ptr = new guest_string_t[names.size() + 1]();
    list->len = names.size();
    for (size_t index = 0; index < names.size(); index++)
    {
        const std::string& name = names[index];
        list->ptr[index] = {new uint8_t[name.size()], name.size()};
        memcpy(list->ptr[index].ptr, name.data(), name.size());
    }
}

bool list_names(std::string_view bytes, guest_list_string_t* list, Error* error)
{
    FilePath path;
    Directory directory;
    if (!path_parse(bytes, Access::read, &path, error))
        return false;
    Lookup lookup = directory.open(path, {path.name, path.size}, error);
    if (lookup == Lookup::missing)
        fail_system(error, path, __WASI_ERRNO_NOENT);
    Names names = {path, error, {}, 0};
    if (lookup != Lookup::found || !names.read(directory.descriptor()))
        return false;
    std::sort(names.all.begin(), names.all.end());
    copy_names(names.all, list);
    return true;
}

} // namespace

extern "C" bool toolscript_sandbox_io_list(guest_list_u8_t* path, guest_list_string_t* list, Error* error)
{
    *list = {};
    try
    {
        return list_names({reinterpret_cast<char*>(path->ptr), path->len}, list, error);
    }
    catch (std::bad_alloc&)
    {
        guest_list_string_free(list);
        return fail_limit(error, "not enough memory");
    }
}
