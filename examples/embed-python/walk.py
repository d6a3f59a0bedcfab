"""From a path to a file, one component at a time, without following a link at any step.

Every step is relative to a folder that is already open, so nothing that others rename meanwhile leads out of the directory.
It needs `openat` and `O_NOFOLLOW`: Linux, macOS, the BSDs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from paths import FilePath, irregular, is_reserved, limit, link, refused, system

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# How often a file that others make and remove at the same time is looked for again.
ATTEMPTS = 8
MAX_NAMES = 100_000
MAX_NAME_BYTES = 4 << 20

FLAGS = {
    "read": os.O_RDONLY,
    "write": os.O_WRONLY,
    "append": os.O_WRONLY | os.O_APPEND,
    "read-update": os.O_RDWR,
    "write-update": os.O_RDWR,
    "append-update": os.O_RDWR | os.O_APPEND,
}
READS = {"read", "read-update", "write-update", "append-update"}
APPENDS = {"append", "append-update"}
EMPTIES = {"write", "write-update"}


class Made:
    """Counts the files and folders that a run makes: inodes of the host's disk."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.files = 0
        self.folders = 0

    def check_file(self) -> None:
        self._check(self.files + 1, "files")

    def check_folders(self, more: int) -> None:
        self._check(self.folders + more, "folders")

    def _check(self, count: int, what: str) -> None:
        if count > self.most:
            raise limit(f"too many {what} created (max {self.most})")


class Directory:
    """One directory of the host's. It is opened once, and made when something is first written to it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # The empty name would be the working directory, which nobody has named.
        if not os.fspath(path):
            raise FileNotFoundError("the folder has no name")
        # Without a slash at its end, which would follow a link in the directory's own name.
        self._path = os.path.abspath(path)
        self._root: int | None = None
        self._open_root()

    def close(self) -> None:
        if self._root is not None:
            os.close(self._root)
            self._root = None

    def _open_root(self) -> None:
        try:
            self._root = os.open(self._path, FOLDER)
        except FileNotFoundError:
            pass

    def _find_root(self, path: FilePath, make: bool) -> int | None:
        try:
            if self._root is None:
                if make:
                    os.makedirs(self._path, exist_ok=True)
                self._open_root()
        except OSError as error:
            raise system(path, error) from None
        return self._root

    @contextmanager
    def _folder(self, path: FilePath, names: tuple[str, ...], made: Made | None = None) -> Iterator[int | None]:
        """The folder at the end of the names, if it exists; with `made`, what of it does not exist is made."""
        opened: list[int] = []
        try:
            current = self._find_root(path, make=False)
            if current is None and made is not None:
                made.check_folders(len(names))
                current = self._find_root(path, make=True)
            for depth, name in enumerate(names):
                if current is None:
                    break
                following = step(current, path, name)
                if following is None and made is not None:
                    # Room for all that are missing, or none is made.
                    made.check_folders(len(names) - depth)
                    following = make_folder(current, path, name, made)
                if following is not None:
                    opened.append(following)
                current = following
            yield current
        finally:
            for folder in opened:
                os.close(folder)

    def open(self, path: FilePath, mode: str, made: Made) -> tuple[int, bool]:
        """A descriptor of a regular file, and whether the file is new; what `w` empties is known to be a regular file by then."""
        for _ in range(ATTEMPTS):
            file = self._open_existing(path, mode)
            if file is not None:
                return file, False
            if mode not in APPENDS | EMPTIES:
                raise refused(path, "ENOENT")
            file = self._open_new(path, mode, made)
            if file is not None:
                return file, True
        raise refused(path, "EBUSY")

    def _open_existing(self, path: FilePath, mode: str) -> int | None:
        folders, name = path.split()
        with self._folder(path, folders) as folder:
            # What can block or has side effects when it is opened is not opened at all, unless it came this very moment: then
            # opening it does not block, and what was opened is looked at again.
            if folder is None or regular(folder, path, name) is None:
                return None
            try:
                file = os.open(name.encode(), FLAGS[mode] | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise explain(folder, path, name, error) from None
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise irregular(path)
            if mode in EMPTIES:
                os.ftruncate(file, 0)
        except OSError as error:
            os.close(file)
            raise system(path, error) from None
        except BaseException:
            os.close(file)
            raise
        return file

    def _open_new(self, path: FilePath, mode: str, made: Made) -> int | None:
        """A new file, with the folders on its way; nothing if somebody else was faster."""
        folders, name = path.split()
        made.check_file()
        with self._folder(path, folders, made) as folder:
            if folder is None:
                raise refused(path, "ENOENT")
            try:
                file = os.open(name.encode(), FLAGS[mode] | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
            except FileExistsError:
                return None
            except OSError as error:
                raise explain(folder, path, name, error) from None
        made.files += 1
        return file

    def list(self, path: FilePath) -> list[str]:
        """The names in a folder, sorted; a directory that does not exist yet has none."""
        names: list[str] = []
        size = 0
        with self._folder(path, path.components) as folder:
            if folder is None:
                if path.components:
                    raise refused(path, "ENOENT")
                return names
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        name = shown_name(os.fsencode(entry.name))
                        if is_reserved(name):
                            continue
                        names.append(name)
                        size += len(name.encode())
                        if len(names) > MAX_NAMES or size > MAX_NAME_BYTES:
                            raise limit(f"{path.shown}: too many names to list (max {MAX_NAMES}, {MAX_NAME_BYTES} bytes)")
            except OSError as error:
                raise system(path, error) from None
        return sorted(names)

    def remove(self, path: FilePath) -> None:
        """Removes a regular file."""
        folders, name = path.split()
        with self._folder(path, folders) as folder:
            if folder is None or regular(folder, path, name) is None:
                raise refused(path, "ENOENT")
            try:
                os.unlink(name.encode(), dir_fd=folder)
            except OSError as error:
                raise system(path, error) from None

    def size(self, path: FilePath) -> int | None:
        """Bytes of a regular file, if there is one by this name."""
        folders, name = path.split()
        with self._folder(path, folders) as folder:
            if folder is None:
                return None
            try:
                found = os.stat(name.encode(), dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise system(path, error) from None
        return found.st_size if stat.S_ISREG(found.st_mode) else None


def step(folder: int, path: FilePath, name: str) -> int | None:
    """One folder further."""
    try:
        return os.open(name.encode(), FOLDER, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explain(folder, path, name, error) from None


def make_folder(folder: int, path: FilePath, name: str, made: Made) -> int:
    try:
        os.mkdir(name.encode(), dir_fd=folder)
        made.folders += 1
    except FileExistsError:
        pass
    except OSError as error:
        raise system(path, error) from None
    following = step(folder, path, name)
    if following is None:
        raise refused(path, "ENOENT")
    return following


def regular(folder: int, path: FilePath, name: str) -> os.stat_result | None:
    """What is known of a regular file, if there is one; anything else is refused."""
    try:
        found = os.stat(name.encode(), dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise system(path, error) from None
    if stat.S_ISLNK(found.st_mode):
        raise link(path)
    if stat.S_ISDIR(found.st_mode):
        raise refused(path, "EISDIR")
    if not stat.S_ISREG(found.st_mode):
        raise irregular(path)
    return found


def explain(folder: int, path: FilePath, name: str, error: OSError) -> Exception:
    """An error of the system's, which has several for a link that it did not follow."""
    try:
        if stat.S_ISLNK(os.stat(name.encode(), dir_fd=folder, follow_symlinks=False).st_mode):
            return link(path)
    except OSError:
        pass
    return system(path, error)


def shown_name(name: bytes) -> str:
    """A name in a folder; one that is not UTF-8 is marked as such."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace") + " (not UTF-8)"
