"""Confines file access to one directory.

A path is resolved one component at a time, and no symlink is followed at any step. Each step is relative to a directory that is already
open, so a concurrent rename cannot redirect it outside the io directory. This needs `openat` and `O_NOFOLLOW`: Linux, macOS, the BSDs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from paths import REASONS, FileError, FilePath, is_hidden, limit_error, not_regular_error, refused_error, symlink_error, system_error

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Attempts to open a file that another process creates and removes at the same time.
MAX_OPEN_ATTEMPTS = 8
# Names that `io.list` returns, and their bytes in total.
MAX_NAMES = 100_000
MAX_NAME_BYTES = 4 << 20

OPEN_FLAGS = {
    "read": os.O_RDONLY,
    "write": os.O_WRONLY,
    "append": os.O_WRONLY | os.O_APPEND,
    "read-update": os.O_RDWR,
    "write-update": os.O_RDWR,
    "append-update": os.O_RDWR | os.O_APPEND,
}
# The errors of a path with a component that is a symlink or not a directory.
UNREACHABLE = {REASONS["ENOTDIR"][0], REASONS["ELOOP"][0]}
READ_MODES = {"read", "read-update", "write-update", "append-update"}
APPEND_MODES = {"append", "append-update"}
TRUNCATE_MODES = {"write", "write-update"}


class CreationQuota:
    """Counts the files and directories that a run creates, because each uses an inode of the host."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.files = 0
        self.directories = 0

    def check_file(self) -> None:
        self._check(self.files + 1, "files")

    def check_directories(self, count: int) -> None:
        self._check(self.directories + count, "folders")

    def _check(self, count: int, kind: str) -> None:
        if count > self.limit:
            raise limit_error(f"too many {kind} created (max {self.limit})")


class Directory:
    """The io directory. It is opened once, and created on the first write."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # An empty path would be resolved to the working directory.
        if not os.fspath(path):
            raise FileNotFoundError("the io directory cannot be an empty path")
        # `abspath` removes a trailing slash, which would make `open` follow a symlink in the last component.
        self._path = os.path.abspath(path)
        self._root: int | None = None
        self._open_root()

    def close(self) -> None:
        if self._root is not None:
            os.close(self._root)
            self._root = None

    def _open_root(self) -> None:
        try:
            self._root = os.open(self._path, DIRECTORY_FLAGS)
        except FileNotFoundError:
            pass

    def _find_root(self, path: FilePath, create: bool) -> int | None:
        try:
            if self._root is None:
                if create:
                    os.makedirs(self._path, exist_ok=True)
                self._open_root()
        except OSError as error:
            raise system_error(path, error) from None
        return self._root

    @contextmanager
    def _subdirectory(
        self, path: FilePath, names: tuple[str, ...], quota: CreationQuota | None = None
    ) -> Iterator[int | None]:
        """Opens the directory that the names lead to, or yields `None`. With a quota, missing directories are created."""
        opened: list[int] = []
        try:
            current = self._find_root(path, create=False)
            if current is None and quota is not None:
                quota.check_directories(len(names))
                current = self._find_root(path, create=True)
            for depth, name in enumerate(names):
                if current is None:
                    break
                child = open_child(current, path, name)
                if child is None and quota is not None:
                    # Create either all missing directories or none.
                    quota.check_directories(len(names) - depth)
                    child = create_child(current, path, name, quota)
                if child is not None:
                    opened.append(child)
                current = child
            yield current
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def open(self, path: FilePath, mode: str, quota: CreationQuota) -> tuple[int, bool]:
        """Opens a regular file. Returns its descriptor, and `True` if the file is new."""
        for _ in range(MAX_OPEN_ATTEMPTS):
            descriptor = self._open_existing(path, mode)
            if descriptor is not None:
                return descriptor, False
            if mode not in APPEND_MODES | TRUNCATE_MODES:
                raise refused_error(path, "ENOENT")
            descriptor = self._open_new(path, mode, quota)
            if descriptor is not None:
                return descriptor, True
        raise refused_error(path, "EBUSY")

    def _open_existing(self, path: FilePath, mode: str) -> int | None:
        parents, name = path.split()
        with self._subdirectory(path, parents) as parent:
            # Opening a FIFO or a device can block or have side effects, so the type is checked before the open. If the file was
            # replaced in between, `O_NONBLOCK` keeps the open from blocking, and the type is checked again below.
            if parent is None or stat_regular(parent, path, name) is None:
                return None
            try:
                descriptor = os.open(name.encode(), OPEN_FLAGS[mode] | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise open_error(parent, path, name, error) from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise not_regular_error(path)
            # Truncated only here, when the descriptor is known to be a regular file.
            if mode in TRUNCATE_MODES:
                os.ftruncate(descriptor, 0)
        except OSError as error:
            os.close(descriptor)
            raise system_error(path, error) from None
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _open_new(self, path: FilePath, mode: str, quota: CreationQuota) -> int | None:
        """Creates a file and its parent directories. Returns `None` if another process created the file first."""
        parents, name = path.split()
        quota.check_file()
        with self._subdirectory(path, parents, quota) as parent:
            if parent is None:
                raise refused_error(path, "ENOENT")
            flags = OPEN_FLAGS[mode] | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            try:
                descriptor = os.open(name.encode(), flags, 0o666, dir_fd=parent)
            except FileExistsError:
                return None
            except OSError as error:
                raise open_error(parent, path, name, error) from None
        quota.files += 1
        return descriptor

    def list(self, path: FilePath, protect_names: bool) -> list[str]:
        """Returns the names in a directory, sorted. An io directory that does not exist yet is empty."""
        names: list[str] = []
        size = 0
        with self._subdirectory(path, path.components) as directory:
            if directory is None:
                if path.components:
                    raise refused_error(path, "ENOENT")
                return names
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        name = display_name(os.fsencode(entry.name))
                        if is_hidden(name, protect_names):
                            continue
                        names.append(name)
                        size += len(name.encode())
                        if len(names) > MAX_NAMES or size > MAX_NAME_BYTES:
                            raise limit_error(f"{path.display}: too many names to list (max {MAX_NAMES}, {MAX_NAME_BYTES} bytes)")
            except OSError as error:
                raise system_error(path, error) from None
        return sorted(names)

    def remove(self, path: FilePath) -> None:
        """Removes a regular file."""
        parents, name = path.split()
        with self._subdirectory(path, parents) as parent:
            if parent is None or stat_regular(parent, path, name) is None:
                raise refused_error(path, "ENOENT")
            try:
                os.unlink(name.encode(), dir_fd=parent)
            except OSError as error:
                raise system_error(path, error) from None

    def rename(self, old: FilePath, new: FilePath, quota: CreationQuota) -> None:
        """Renames a regular file. Replaces a regular file, and creates the parent directories of the new path."""
        old_parents, old_name = old.split()
        new_parents, new_name = new.split()
        with self._subdirectory(old, old_parents) as source:
            if source is None or stat_regular(source, old, old_name) is None:
                raise refused_error(old, "ENOENT")
            with self._subdirectory(new, new_parents, quota) as target:
                if target is None:
                    raise refused_error(new, "ENOENT")
                stat_regular(target, new, new_name)
                try:
                    os.replace(old_name.encode(), new_name.encode(), src_dir_fd=source, dst_dir_fd=target)
                except OSError as error:
                    raise system_error(old, error) from None

    def exists(self, path: FilePath) -> bool:
        """Returns `True` for a regular file or a directory. Anything else, and a path through anything else, does not exist."""
        if not path.components:
            return True
        try:
            with self._subdirectory(path, path.components[:-1]) as parent:
                status = None if parent is None else stat_entry(parent, path, path.components[-1])
        except FileError as error:
            if error.number in UNREACHABLE:
                return False
            raise
        if status is None:
            return False
        return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and not path.is_directory)

    def size(self, path: FilePath) -> int | None:
        """Returns the size of a regular file, or `None` if there is no such file."""
        parents, name = path.split()
        with self._subdirectory(path, parents) as parent:
            status = None if parent is None else stat_entry(parent, path, name)
        return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None


def open_child(parent: int, path: FilePath, name: str) -> int | None:
    """Opens a subdirectory, or returns `None` if it does not exist."""
    try:
        return os.open(name.encode(), DIRECTORY_FLAGS, dir_fd=parent)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise open_error(parent, path, name, error) from None


def create_child(parent: int, path: FilePath, name: str, quota: CreationQuota) -> int:
    """Creates a subdirectory and opens it."""
    try:
        os.mkdir(name.encode(), dir_fd=parent)
        quota.directories += 1
    except FileExistsError:
        pass
    except OSError as error:
        raise system_error(path, error) from None
    child = open_child(parent, path, name)
    if child is None:
        raise refused_error(path, "ENOENT")
    return child


def stat_entry(parent: int, path: FilePath, name: str) -> os.stat_result | None:
    """Returns the status of an entry without following a symlink, or `None` if nothing has this name."""
    try:
        return os.stat(name.encode(), dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise system_error(path, error) from None


def stat_regular(parent: int, path: FilePath, name: str) -> os.stat_result | None:
    """Returns the status of a regular file, or `None` if nothing has this name. Any other type raises an error."""
    status = stat_entry(parent, path, name)
    if status is None:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise symlink_error(path)
    if stat.S_ISDIR(status.st_mode):
        raise refused_error(path, "EISDIR")
    if not stat.S_ISREG(status.st_mode):
        raise not_regular_error(path)
    return status


def open_error(parent: int, path: FilePath, name: str, error: OSError) -> Exception:
    """Converts the error of a failed open. Systems report different errors for a symlink that `O_NOFOLLOW` rejects."""
    try:
        if stat.S_ISLNK(os.stat(name.encode(), dir_fd=parent, follow_symlinks=False).st_mode):
            return symlink_error(path)
    except OSError:
        pass
    return system_error(path, error)


def display_name(name: bytes) -> str:
    """Decodes a file name. A name that is not UTF-8 is marked as such."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace") + " (not UTF-8)"
