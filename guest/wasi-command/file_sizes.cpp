#include "wasi-command/file_sizes.h"

Lookup FileSizes::open_parent(const FilePath& path, Error* error)
{
    std::string_view names = path.parent();
    std::string_view open_names = last.parent();
    size_t common = 0;
    while (common < depth && !names.empty())
    {
        std::string_view rest = names;
        if (next_component(&rest) != next_component(&open_names))
            break;
        names = rest;
        common++;
    }
    while (depth > common)
        directories[--depth].close();
    last = path;
    while (!names.empty())
    {
        Lookup lookup = directories[depth].open_in(current(), path, next_component(&names), error);
        if (lookup != Lookup::found)
            return lookup;
        depth++;
    }
    return Lookup::found;
}

Lookup FileSizes::size(const FilePath& path, uint64_t* size, Error* error)
{
    Lookup lookup = open_parent(path, error);
    if (lookup != Lookup::found)
        return lookup;
    std::string_view name = path.file_name();
    __wasi_filestat_t filestat;
    Errno number = preview1_path_filestat_get(current().descriptor(), 0, name.data(), name.size(), &filestat);
    if (number == __WASI_ERRNO_NOENT)
        return Lookup::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        fail_system(error, path, number);
        return Lookup::failed;
    }
    *size = filestat.size;
    return filestat.filetype == __WASI_FILETYPE_REGULAR_FILE ? Lookup::found : Lookup::missing;
}
