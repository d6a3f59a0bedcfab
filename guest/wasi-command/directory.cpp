#include "wasi-command/directory.h"

namespace
{

// Retries if another program creates or removes the file at the same time.
constexpr int kMaxAttempts = 8;

// Lower descriptors are the standard streams.
constexpr Descriptor kFirstGranted = 3;

// Some hosts still check rights and reject more rights than the directory has.
constexpr __wasi_rights_t kDirectoryRights = __WASI_RIGHTS_PATH_CREATE_DIRECTORY | __WASI_RIGHTS_PATH_CREATE_FILE | __WASI_RIGHTS_PATH_OPEN |
                                             __WASI_RIGHTS_FD_READDIR | __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_PATH_FILESTAT_GET |
                                             __WASI_RIGHTS_PATH_UNLINK_FILE | __WASI_RIGHTS_PATH_RENAME_SOURCE | __WASI_RIGHTS_PATH_RENAME_TARGET;
constexpr __wasi_rights_t kReadRights = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_FILESTAT_GET;
constexpr __wasi_rights_t kWriteRights =
    __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_FD_FILESTAT_SET_SIZE;

Descriptor granted = 0;
__wasi_rights_t granted_rights = 0;

Lookup missing_or_failed(Errno number, const FilePath& path, Error* error)
{
    if (number == __WASI_ERRNO_NOENT)
        return Lookup::missing;
    fail_system(error, path, number);
    return Lookup::failed;
}

// Reports why an entry could not be opened. Hosts return different errors for a symbolic link, so its type is checked.
bool fail_open(Descriptor directory, const FilePath& path, std::string_view name, Errno number, Error* error)
{
    __wasi_filestat_t filestat;
    bool is_known = preview1_path_filestat_get(directory, 0, name.data(), name.size(), &filestat) == __WASI_ERRNO_SUCCESS;
    return is_known && filestat.filetype == __WASI_FILETYPE_SYMBOLIC_LINK ? fail_link(error, path) : fail_system(error, path, number);
}

bool check_type(__wasi_filetype_t type, __wasi_filetype_t expected, const FilePath& path, Error* error)
{
    if (type == expected)
        return true;
    if (type == __WASI_FILETYPE_SYMBOLIC_LINK)
        return fail_link(error, path);
    if (expected == __WASI_FILETYPE_DIRECTORY)
        return fail_system(error, path, __WASI_ERRNO_NOTDIR);
    return type == __WASI_FILETYPE_DIRECTORY ? fail_system(error, path, __WASI_ERRNO_ISDIR) : fail_not_regular(error, path);
}

// Checks that the entry has the expected type. An entry of another type is not opened, because that could block.
Lookup check_entry(Descriptor directory, const FilePath& path, std::string_view name, __wasi_filetype_t expected, __wasi_filestat_t* entry,
                   Error* error)
{
    Errno number = preview1_path_filestat_get(directory, 0, name.data(), name.size(), entry);
    if (number != __WASI_ERRNO_SUCCESS)
        return missing_or_failed(number, path, error);
    return check_type(entry->filetype, expected, path, error) ? Lookup::found : Lookup::failed;
}

Lookup check_file_entry(Descriptor directory, const FilePath& path, __wasi_filestat_t* entry, Error* error)
{
    return check_entry(directory, path, path.file_name(), __WASI_FILETYPE_REGULAR_FILE, entry, error);
}

// Checks that the opened file is the checked entry. Some hosts (Node) follow a symbolic link as the last component although the flags forbid it: a
// link created between the check and the opening would lead out of the directory.
bool check_unchanged(Descriptor file, const __wasi_filestat_t& entry, const FilePath& path, Error* error)
{
    __wasi_filestat_t filestat;
    Errno number = preview1_fd_filestat_get(file, &filestat);
    if (number != __WASI_ERRNO_SUCCESS)
        return fail_system(error, path, number);
    bool is_unchanged = filestat.dev == entry.dev && filestat.ino == entry.ino && filestat.filetype == entry.filetype;
    return is_unchanged || fail_system(error, path, __WASI_ERRNO_BUSY);
}

Errno open_file(Descriptor directory, std::string_view name, Mode mode, __wasi_oflags_t open_flags, Descriptor* file)
{
    __wasi_rights_t rights = (mode_reads(mode) ? kReadRights : 0) | (mode_writes(mode) ? kWriteRights : 0);
    // Nonblocking, because the entry may have been replaced by a FIFO since the check. `check_unchanged` then rejects it.
    __wasi_fdflags_t flags = __WASI_FDFLAGS_NONBLOCK | (mode_appends(mode) ? __WASI_FDFLAGS_APPEND : 0);
    return preview1_path_open(directory, 0, name.data(), name.size(), open_flags, rights & granted_rights, 0, flags, file);
}

Lookup open_existing(const FilePath& path, Mode mode, Descriptor* file, Error* error)
{
    Directory directory;
    __wasi_filestat_t entry;
    Lookup lookup = directory.open(path, path.parent(), error);
    if (lookup == Lookup::found)
        lookup = check_file_entry(directory.descriptor(), path, &entry, error);
    if (lookup != Lookup::found)
        return lookup;
    Errno number = open_file(directory.descriptor(), path.file_name(), mode, 0, file);
    if (number == __WASI_ERRNO_NOENT)
        return Lookup::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        fail_open(directory.descriptor(), path, path.file_name(), number, error);
        return Lookup::failed;
    }
    bool is_unchanged = check_unchanged(*file, entry, path, error);
    if (is_unchanged && mode_truncates(mode))
        number = preview1_fd_filestat_set_size(*file, 0);
    if (is_unchanged && number == __WASI_ERRNO_SUCCESS)
        return Lookup::found;
    if (is_unchanged)
        fail_system(error, path, number);
    preview1_fd_close(*file);
    return Lookup::failed;
}

// Creates a file and its parent directories. Returns `missing` if another program has created the file first.
Lookup create_file(const FilePath& path, Mode mode, Quota* quota, Descriptor* file, Error* error)
{
    Directory directory;
    if (!quota->check_file(error) || !directory.open_or_create(path, path.parent(), quota, error))
        return Lookup::failed;
    Errno number = open_file(directory.descriptor(), path.file_name(), mode, __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL, file);
    if (number == __WASI_ERRNO_EXIST)
        return Lookup::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        fail_open(directory.descriptor(), path, path.file_name(), number, error);
        return Lookup::failed;
    }
    quota->files++;
    return Lookup::found;
}

uint64_t count_components(std::string_view names)
{
    uint64_t count = 0;
    for (; !names.empty(); count++)
        next_component(&names);
    return count;
}

} // namespace

bool find_granted_directory()
{
    // Granted directories have consecutive descriptors.
    __wasi_prestat_t prestat;
    __wasi_fdstat_t fdstat;
    if (preview1_fd_prestat_get(kFirstGranted, &prestat) != __WASI_ERRNO_SUCCESS || prestat.tag != __WASI_PREOPENTYPE_DIR ||
        preview1_fd_fdstat_get(kFirstGranted, &fdstat) != __WASI_ERRNO_SUCCESS)
        return false;
    granted = kFirstGranted;
    granted_rights = fdstat.fs_rights_inheriting;
    return true;
}

Directory::~Directory()
{
    close();
}

void Directory::close()
{
    if (own)
        preview1_fd_close(own);
    own = 0;
}

Descriptor Directory::descriptor() const
{
    return own ? own : granted;
}

Lookup Directory::open_in(const Directory& parent, const FilePath& path, std::string_view name, Error* error)
{
    Descriptor directory = parent.descriptor();
    __wasi_filestat_t entry;
    Lookup lookup = check_entry(directory, path, name, __WASI_FILETYPE_DIRECTORY, &entry, error);
    if (lookup != Lookup::found)
        return lookup;
    Descriptor next;
    __wasi_rights_t rights = kDirectoryRights & granted_rights;
    __wasi_rights_t inheriting = (kDirectoryRights | kReadRights | kWriteRights) & granted_rights;
    Errno number = preview1_path_open(directory, 0, name.data(), name.size(), __WASI_OFLAGS_DIRECTORY, rights, inheriting, 0, &next);
    if (number == __WASI_ERRNO_NOENT)
        return Lookup::missing;
    if (number != __WASI_ERRNO_SUCCESS)
    {
        fail_open(directory, path, name, number, error);
        return Lookup::failed;
    }
    bool is_unchanged = check_unchanged(next, entry, path, error);
    // Closed only now, because the parent may be this directory.
    close();
    own = next;
    if (!is_unchanged)
        close();
    return is_unchanged ? Lookup::found : Lookup::failed;
}

Lookup Directory::open(const FilePath& path, std::string_view names, Error* error)
{
    Lookup lookup = Lookup::found;
    while (lookup == Lookup::found && !names.empty())
        lookup = open_in(*this, path, next_component(&names), error);
    return lookup;
}

bool Directory::open_or_create(const FilePath& path, std::string_view names, Quota* quota, Error* error)
{
    while (!names.empty())
    {
        std::string_view rest = names;
        std::string_view name = next_component(&rest);
        Lookup lookup = open_in(*this, path, name, error);
        if (lookup == Lookup::missing)
        {
            // Creates none of the missing directories if the quota does not allow all of them.
            if (!quota->check_directories(count_components(names), error))
                return false;
            Errno number = preview1_path_create_directory(descriptor(), name.data(), name.size());
            if (number != __WASI_ERRNO_SUCCESS && number != __WASI_ERRNO_EXIST)
                return fail_system(error, path, number);
            quota->directories += number == __WASI_ERRNO_SUCCESS;
            lookup = open_in(*this, path, name, error);
        }
        if (lookup == Lookup::missing)
            return fail_system(error, path, __WASI_ERRNO_NOENT);
        if (lookup == Lookup::failed)
            return false;
        names = rest;
    }
    return true;
}

bool open_regular_file(const FilePath& path, Mode mode, Quota* quota, Descriptor* file, bool* created, Error* error)
{
    if (path.is_directory)
        return fail_system(error, path, __WASI_ERRNO_ISDIR);
    for (int attempt = 0; attempt < kMaxAttempts; attempt++)
    {
        *created = false;
        Lookup lookup = open_existing(path, mode, file, error);
        if (lookup == Lookup::missing)
        {
            if (!mode_truncates(mode) && !mode_appends(mode))
                return fail_system(error, path, __WASI_ERRNO_NOENT);
            *created = true;
            lookup = create_file(path, mode, quota, file, error);
        }
        if (lookup != Lookup::missing)
            return lookup == Lookup::found;
    }
    return fail_system(error, path, __WASI_ERRNO_BUSY);
}

bool remove_regular_file(const FilePath& path, Error* error)
{
    if (path.is_directory)
        return fail_system(error, path, __WASI_ERRNO_ISDIR);
    Directory directory;
    __wasi_filestat_t entry;
    Lookup lookup = directory.open(path, path.parent(), error);
    if (lookup == Lookup::found)
        lookup = check_file_entry(directory.descriptor(), path, &entry, error);
    if (lookup == Lookup::failed)
        return false;
    std::string_view name = path.file_name();
    Errno number = lookup == Lookup::missing ? __WASI_ERRNO_NOENT : preview1_path_unlink_file(directory.descriptor(), name.data(), name.size());
    return number == __WASI_ERRNO_SUCCESS || fail_system(error, path, number);
}

bool rename_regular_file(const FilePath& from, const FilePath& to, Quota* quota, Error* error)
{
    for (const FilePath* path : {&from, &to})
        if (path->is_directory)
            return fail_system(error, *path, __WASI_ERRNO_ISDIR);
    Directory source;
    Directory target;
    __wasi_filestat_t entry;
    Lookup lookup = source.open(from, from.parent(), error);
    if (lookup == Lookup::found)
        lookup = check_file_entry(source.descriptor(), from, &entry, error);
    if (lookup == Lookup::missing)
        fail_system(error, from, __WASI_ERRNO_NOENT);
    if (lookup != Lookup::found || !target.open_or_create(to, to.parent(), quota, error) ||
        check_file_entry(target.descriptor(), to, &entry, error) == Lookup::failed)
        return false;
    std::string_view old_name = from.file_name();
    std::string_view new_name = to.file_name();
    Errno number = preview1_path_rename(source.descriptor(), old_name.data(), old_name.size(), target.descriptor(), new_name.data(), new_name.size());
    return number == __WASI_ERRNO_SUCCESS || fail_system(error, from, number);
}

bool entry_exists(const FilePath& path, bool* exists, Error* error)
{
    *exists = path.size == 0;
    if (*exists)
        return true;
    Directory directory;
    Lookup lookup = directory.open(path, path.parent(), error);
    if (lookup == Lookup::failed)
        return is_unreachable(*error);
    if (lookup == Lookup::missing)
        return true;
    __wasi_filestat_t entry;
    std::string_view name = path.file_name();
    Errno number = preview1_path_filestat_get(directory.descriptor(), 0, name.data(), name.size(), &entry);
    if (number != __WASI_ERRNO_SUCCESS)
        return number == __WASI_ERRNO_NOENT || fail_system(error, path, number);
    *exists = entry.filetype == __WASI_FILETYPE_DIRECTORY || (entry.filetype == __WASI_FILETYPE_REGULAR_FILE && !path.is_directory);
    return true;
}
