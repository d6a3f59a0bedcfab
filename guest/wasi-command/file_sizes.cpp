#include "wasi-command/file_sizes.h"

Search Surveyor::go_to(const FilePath& path, Error* error)
{
    std::string_view names = path.folders();
    std::string_view known = last.folders();
    size_t common = 0;
    while (common < depth && !names.empty())
    {
        std::string_view rest = names;
        if (path_next(&rest) != path_next(&known))
            break;
        names = rest;
        common++;
    }
    while (depth > common)
        folders[--depth].close();
    last = path;
    while (!names.empty())
    {
        Search search = folders[depth].open_in(folder(), path, path_next(&names), error);
        if (search != Search::found)
            return search;
        depth++;
    }
    return Search::found;
}

Search Surveyor::size(const FilePath& path, uint64_t* size, Error* error)
{
    Search search = go_to(path, error);
    if (search != Search::found)
        return search;
    std::string_view name = path.last();
    __wasi_filestat_t filestat;
    Errno number = preview1_path_filestat_get(folder().descriptor(), 0, name.data(), name.size(), &filestat);
    if (number == __WASI_ERRNO_NOENT)
        return Search::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        fail_system(error, path, number);
        return Search::failed;
    }
    *size = filestat.size;
    return filestat.filetype == __WASI_FILETYPE_REGULAR_FILE ? Search::found : Search::missing;
}
