#include "wasi-command/directory.h"

namespace
{

// How often a file that others make and remove at the same time is looked for again.
constexpr int kAttempts = 8;

// Those below are the standard streams.
constexpr Descriptor kFirstGranted = 3;

// Some hosts still keep rights, and refuse to open with more than a directory has.
constexpr __wasi_rights_t kFolderRights = __WASI_RIGHTS_PATH_CREATE_DIRECTORY | __WASI_RIGHTS_PATH_CREATE_FILE | __WASI_RIGHTS_PATH_OPEN |
                                          __WASI_RIGHTS_FD_READDIR | __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_PATH_FILESTAT_GET |
                                          __WASI_RIGHTS_PATH_UNLINK_FILE;
constexpr __wasi_rights_t kReadRights = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_FILESTAT_GET;
constexpr __wasi_rights_t kWriteRights =
    __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_FD_FILESTAT_SET_SIZE;

Descriptor granted = 0;
__wasi_rights_t granted_rights = 0;

Search missing_or_failed(Errno number, const FilePath& path, Error* error)
{
    if (number == __WASI_ERRNO_NOENT)
        return Search::missing;
    fail_system(error, path, number);
    return Search::failed;
}

// An error of WASI's, which has several for a link that was not followed.
bool explain(Descriptor folder, const FilePath& path, std::string_view name, Errno number, Error* error)
{
    __wasi_filestat_t filestat;
    bool known = preview1_path_filestat_get(folder, 0, name.data(), name.size(), &filestat) == __WASI_ERRNO_SUCCESS;
    return known && filestat.filetype == __WASI_FILETYPE_SYMBOLIC_LINK ? fail_link(error, path) : fail_system(error, path, number);
}

bool check_type(__wasi_filetype_t type, __wasi_filetype_t wanted, const FilePath& path, Error* error)
{
    if (type == wanted)
        return true;
    if (type == __WASI_FILETYPE_SYMBOLIC_LINK)
        return fail_link(error, path);
    if (wanted == __WASI_FILETYPE_DIRECTORY)
        return fail_system(error, path, __WASI_ERRNO_NOTDIR);
    return type == __WASI_FILETYPE_DIRECTORY ? fail_system(error, path, __WASI_ERRNO_ISDIR) : fail_irregular(error, path);
}

// Whether there is something of this type by this name; anything else is refused, and not opened at all: that could block.
Search look(Descriptor folder, const FilePath& path, std::string_view name, __wasi_filetype_t wanted, __wasi_filestat_t* seen, Error* error)
{
    Errno number = preview1_path_filestat_get(folder, 0, name.data(), name.size(), seen);
    if (number != __WASI_ERRNO_SUCCESS)
        return missing_or_failed(number, path, error);
    return check_type(seen->filetype, wanted, path, error) ? Search::found : Search::failed;
}

Search look_for_file(Descriptor folder, const FilePath& path, __wasi_filestat_t* seen, Error* error)
{
    return look(folder, path, path.last(), __WASI_FILETYPE_REGULAR_FILE, seen, error);
}

// Whether what was opened is what was seen. Some hosts (Node) follow a link in the last place although they are not asked to: one
// that came between the look and the opening would lead out.
bool check_same(Descriptor file, const __wasi_filestat_t& seen, const FilePath& path, Error* error)
{
    __wasi_filestat_t filestat;
    Errno number = preview1_fd_filestat_get(file, &filestat);
    if (number != __WASI_ERRNO_SUCCESS)
        return fail_system(error, path, number);
    bool same = filestat.dev == seen.dev && filestat.ino == seen.ino && filestat.filetype == seen.filetype;
    return same || fail_system(error, path, __WASI_ERRNO_BUSY);
}

Errno open_file(Descriptor folder, std::string_view name, Mode mode, __wasi_oflags_t how, Descriptor* file)
{
    __wasi_rights_t rights = (mode_reads(mode) ? kReadRights : 0) | (mode_writes(mode) ? kWriteRights : 0);
    // What came there this very moment and could block must not: what was opened is looked at again.
    __wasi_fdflags_t flags = __WASI_FDFLAGS_NONBLOCK | (mode_appends(mode) ? __WASI_FDFLAGS_APPEND : 0);
    return preview1_path_open(folder, 0, name.data(), name.size(), how, rights & granted_rights, 0, flags, file);
}

Search open_existing(const FilePath& path, Mode mode, Descriptor* file, Error* error)
{
    Folder folder;
    __wasi_filestat_t seen;
    Search search = folder.open(path, path.folders(), error);
    if (search == Search::found)
        search = look_for_file(folder.descriptor(), path, &seen, error);
    if (search != Search::found)
        return search;
    Errno number = open_file(folder.descriptor(), path.last(), mode, 0, file);
    if (number == __WASI_ERRNO_NOENT)
        return Search::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        explain(folder.descriptor(), path, path.last(), number, error);
        return Search::failed;
    }
    bool same = check_same(*file, seen, path, error);
    if (same && mode_empties(mode))
        number = preview1_fd_filestat_set_size(*file, 0);
    if (same && number == __WASI_ERRNO_SUCCESS)
        return Search::found;
    if (same)
        fail_system(error, path, number);
    preview1_fd_close(*file);
    return Search::failed;
}

// A new file, with the folders on its way; missing if somebody else was faster.
Search open_new(const FilePath& path, Mode mode, Quota* quota, Descriptor* file, Error* error)
{
    Folder folder;
    if (!quota->check_file(error) || !folder.make(path, path.folders(), quota, error))
        return Search::failed;
    Errno number = open_file(folder.descriptor(), path.last(), mode, __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL, file);
    if (number == __WASI_ERRNO_EXIST)
        return Search::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        explain(folder.descriptor(), path, path.last(), number, error);
        return Search::failed;
    }
    quota->files++;
    return Search::found;
}

uint64_t count_names(std::string_view names)
{
    uint64_t count = 0;
    for (; !names.empty(); count++)
        path_next(&names);
    return count;
}

} // namespace

bool walk_start()
{
    // The granted directories come first, without a gap.
    __wasi_prestat_t prestat;
    __wasi_fdstat_t fdstat;
    if (preview1_fd_prestat_get(kFirstGranted, &prestat) != __WASI_ERRNO_SUCCESS || prestat.tag != __WASI_PREOPENTYPE_DIR ||
        preview1_fd_fdstat_get(kFirstGranted, &fdstat) != __WASI_ERRNO_SUCCESS)
        return false;
    granted = kFirstGranted;
    granted_rights = fdstat.fs_rights_inheriting;
    return true;
}

Folder::~Folder()
{
    close();
}

void Folder::close()
{
    if (own)
        preview1_fd_close(own);
    own = 0;
}

Descriptor Folder::descriptor() const
{
    return own ? own : granted;
}

Search Folder::open_in(const Folder& parent, const FilePath& path, std::string_view name, Error* error)
{
    Descriptor folder = parent.descriptor();
    __wasi_filestat_t seen;
    Search search = look(folder, path, name, __WASI_FILETYPE_DIRECTORY, &seen, error);
    if (search != Search::found)
        return search;
    Descriptor next;
    __wasi_rights_t rights = kFolderRights & granted_rights;
    __wasi_rights_t inheriting = (kFolderRights | kReadRights | kWriteRights) & granted_rights;
    Errno number = preview1_path_open(folder, 0, name.data(), name.size(), __WASI_OFLAGS_DIRECTORY, rights, inheriting, 0, &next);
    if (number == __WASI_ERRNO_NOENT)
        return Search::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        explain(folder, path, name, number, error);
        return Search::failed;
    }
    bool same = check_same(next, seen, path, error);
    // It may be its own parent.
    close();
    own = next;
    if (!same)
        close();
    return same ? Search::found : Search::failed;
}

Search Folder::open(const FilePath& path, std::string_view names, Error* error)
{
    Search search = Search::found;
    while (search == Search::found && !names.empty())
        search = open_in(*this, path, path_next(&names), error);
    return search;
}

bool Folder::make(const FilePath& path, std::string_view names, Quota* quota, Error* error)
{
    while (!names.empty())
    {
        std::string_view rest = names;
        std::string_view name = path_next(&rest);
        Search search = open_in(*this, path, name, error);
        if (search == Search::missing)
        {
            // Room for all that are missing, or none is made.
            if (!quota->check_folders(count_names(names), error))
                return false;
            Errno number = preview1_path_create_directory(descriptor(), name.data(), name.size());
            if (number != __WASI_ERRNO_SUCCESS && number != __WASI_ERRNO_EXIST)
                return fail_system(error, path, number);
            quota->folders += number == __WASI_ERRNO_SUCCESS;
            search = open_in(*this, path, name, error);
        }
        if (search == Search::missing)
            return fail_system(error, path, __WASI_ERRNO_NOENT);
        if (search == Search::failed)
            return false;
        names = rest;
    }
    return true;
}

bool walk_open(const FilePath& path, Mode mode, Quota* quota, Descriptor* file, bool* made, Error* error)
{
    if (path.is_folder)
        return fail_system(error, path, __WASI_ERRNO_ISDIR);
    for (int attempt = 0; attempt < kAttempts; attempt++)
    {
        *made = false;
        Search search = open_existing(path, mode, file, error);
        if (search == Search::missing)
        {
            if (!mode_empties(mode) && !mode_appends(mode))
                return fail_system(error, path, __WASI_ERRNO_NOENT);
            *made = true;
            search = open_new(path, mode, quota, file, error);
        }
        if (search != Search::missing)
            return search == Search::found;
    }
    return fail_system(error, path, __WASI_ERRNO_BUSY);
}

bool walk_remove(const FilePath& path, Error* error)
{
    if (path.is_folder)
        return fail_system(error, path, __WASI_ERRNO_ISDIR);
    Folder folder;
    __wasi_filestat_t seen;
    Search search = folder.open(path, path.folders(), error);
    if (search == Search::found)
        search = look_for_file(folder.descriptor(), path, &seen, error);
    if (search == Search::failed)
        return false;
    std::string_view name = path.last();
    Errno number = search == Search::missing ? __WASI_ERRNO_NOENT : preview1_path_unlink_file(folder.descriptor(), name.data(), name.size());
    return number == __WASI_ERRNO_SUCCESS || fail_system(error, path, number);
}
