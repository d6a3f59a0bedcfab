"""The rules for paths, and what a script is told when a call on files does not succeed.

A path that breaks a rule never reaches the operating system. No message holds anything of the host's: only the name that the
script used, and a reason from a fixed table.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

MAX_PATH = 4096
MAX_COMPONENTS = 64
MAX_COMPONENT = 255
RESERVED = (".toolscript-tmp", "toolscript.toml")

# Errors of files by name, with the number and the words that Linux has for them: scripts see these on every system.
REASONS: dict[str, tuple[int, str]] = {
    "EPERM": (1, "Operation not permitted"),
    "ENOENT": (2, "No such file or directory"),
    "EIO": (5, "Input/output error"),
    "EBADF": (9, "Bad file descriptor"),
    "EACCES": (13, "Permission denied"),
    "EBUSY": (16, "Device or resource busy"),
    "EEXIST": (17, "File exists"),
    "EXDEV": (18, "Invalid cross-device link"),
    "ENOTDIR": (20, "Not a directory"),
    "EISDIR": (21, "Is a directory"),
    "EINVAL": (22, "Invalid argument"),
    "ENFILE": (23, "Too many open files in system"),
    "EMFILE": (24, "Too many open files"),
    "ETXTBSY": (26, "Text file busy"),
    "EFBIG": (27, "File too large"),
    "ENOSPC": (28, "No space left on device"),
    "EROFS": (30, "Read-only file system"),
    "ENAMETOOLONG": (36, "File name too long"),
    "ELOOP": (40, "Too many levels of symbolic links"),
    "EDQUOT": (122, "Disk quota exceeded"),
}


class FileError(Exception):
    """Why a call on files did not succeed: `invalid`, `limit` or `refused`, as the contract has it."""

    def __init__(self, kind: str, message: str, number: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.number = number


def invalid(message: str) -> FileError:
    """The path breaks a rule, or the call does."""
    return FileError("invalid", message)


def limit(message: str) -> FileError:
    """A limit of the run would be passed."""
    return FileError("limit", message)


def refused(path: FilePath, name: str, reason: str | None = None) -> FileError:
    """The operating system said no, or would have."""
    number, words = REASONS[name]
    return FileError("refused", f"{path.shown}: {reason or words}", number)


def system(path: FilePath, error: OSError) -> FileError:
    """What the system said about a file. Its own text is not used: it may hold a path of the host's."""
    name = errno.errorcode.get(error.errno or 0, "EIO")
    return refused(path, name if name in REASONS else "EIO")


def link(path: FilePath) -> FileError:
    """A symbolic link, wherever it points."""
    return refused(path, "ELOOP", "symbolic links are not followed")


def irregular(path: FilePath) -> FileError:
    """A FIFO, a socket or a device."""
    return refused(path, "EINVAL", "not a regular file")


def is_reserved(name: str) -> bool:
    """Whether a name is not for files of scripts; some file systems take no notice of case."""
    return reserved_name(name) is not None


def reserved_name(name: str) -> str | None:
    """Returns the reserved name that this name equals without regard to case, or None."""
    return next((reserved for reserved in RESERVED if name.upper() == reserved.upper()), None)


@dataclass(frozen=True)
class FilePath:
    """A path that keeps to the rules. Two spellings of one path have the same components."""

    components: tuple[str, ...]
    # Written as only a folder is: with a slash or a dot at its end.
    is_folder: bool

    @classmethod
    def parse(cls, path: bytes) -> FilePath:
        """Checks the bytes that a script gave."""
        if not path:
            raise invalid("path cannot be empty")
        if len(path) > MAX_PATH:
            raise invalid("path is too long")
        if b"\0" in path:
            raise invalid("path cannot contain null bytes")
        try:
            text = path.decode("utf-8")
        except UnicodeDecodeError:
            raise invalid("path is not UTF-8") from None
        if text.startswith("/"):
            raise invalid("path must be relative")
        components = tuple(component for component in text.split("/") if component not in ("", "."))
        if ".." in components:
            raise invalid("path cannot contain '..' traversal")
        if len(components) > MAX_COMPONENTS or any(len(component.encode()) > MAX_COMPONENT for component in components):
            raise invalid("path is too long")
        for reserved in filter(None, map(reserved_name, components)):
            raise invalid(f"path cannot contain '{reserved}', a reserved name")
        return cls(components, not components or text.endswith(("/", "/.")))

    @property
    def shown(self) -> str:
        """The path as messages and reports show it."""
        return "/".join(self.components) or "."

    def split(self) -> tuple[tuple[str, ...], str]:
        """The folders on the way, and the file's own name."""
        if self.is_folder:
            raise refused(self, "EISDIR")
        return self.components[:-1], self.components[-1]
