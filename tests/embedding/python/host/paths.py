"""The rules for paths, and the errors that a script gets from a failed file operation.

A path that breaks a rule never reaches the operating system. Error messages contain no host path: only the name that the script used
and a reason from a fixed table.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from protected_names import fold, is_credential, is_executed_or_trusted

# Bytes of a path, components in it, and bytes of a component.
MAX_PATH = 4096
MAX_COMPONENTS = 64
MAX_COMPONENT = 255
# Names that scripts can neither use nor see.
RESERVED = (".toolscript-tmp", "toolscript.toml")

# File errors by name, with the number and text that Linux uses. Scripts see these on every system.
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
    """The error of a failed file operation. `kind` is `invalid`, `limit` or `refused`, as in the WIT contract."""

    def __init__(self, kind: str, message: str, number: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.number = number


def invalid_error(message: str) -> FileError:
    """Returns the error for a path or a call that breaks a rule."""
    return FileError("invalid", message)


def limit_error(message: str) -> FileError:
    """Returns the error for an operation that would exceed a limit of the run."""
    return FileError("limit", message)


def refused_error(path: FilePath, name: str, reason: str | None = None) -> FileError:
    """Returns the error for an operation that the operating system rejected, or would have rejected."""
    number, text = REASONS[name]
    return FileError("refused", f"{path.display}: {reason or text}", number)


def system_error(path: FilePath, error: OSError) -> FileError:
    """Converts an `OSError`. The text of the `OSError` is not used: it may contain a host path."""
    name = errno.errorcode.get(error.errno or 0, "EIO")
    return refused_error(path, name if name in REASONS else "EIO")


def symlink_error(path: FilePath) -> FileError:
    """Returns the error for a symlink, regardless of its target."""
    return refused_error(path, "ELOOP", "symbolic links are not followed")


def not_regular_error(path: FilePath) -> FileError:
    """Returns the error for a FIFO, a socket or a device."""
    return refused_error(path, "EINVAL", "not a regular file")


def is_hidden(name: str, protect_names: bool) -> bool:
    """Returns `True` if no listing shows this name."""
    return fold(name) in RESERVED or (protect_names and is_credential(name))


def check_protection(path: FilePath, writes: bool) -> None:
    """Raises an error if a name in the path is protected from being read or, if `writes`, from being changed."""
    switch = "; the operator can turn this protection off"
    for name in path.components:
        if is_credential(name):
            raise refused_error(path, "EACCES", f"cannot be read or changed, because '{name}' usually contains credentials{switch}")
        if writes and is_executed_or_trusted(name):
            raise refused_error(path, "EACCES", f"cannot be changed, because other programs execute or trust '{name}'{switch}")


@dataclass(frozen=True)
class FilePath:
    """A valid path. Two spellings of the same path have equal components."""

    components: tuple[str, ...]
    # The path ends with a slash or a dot, so it can only name a directory.
    is_directory: bool

    @classmethod
    def parse(cls, path: bytes) -> FilePath:
        """Parses and validates a path from a script. `check_protection` checks its names."""
        if not path:
            raise invalid_error("path cannot be empty")
        if len(path) > MAX_PATH:
            raise invalid_error("path is too long")
        if b"\0" in path:
            raise invalid_error("path cannot contain null bytes")
        try:
            text = path.decode("utf-8")
        except UnicodeDecodeError:
            raise invalid_error("path is not UTF-8") from None
        if text.startswith("/"):
            raise invalid_error("path must be relative")
        components = tuple(component for component in text.split("/") if component not in ("", "."))
        if ".." in components:
            raise invalid_error("path cannot contain '..' traversal")
        if len(components) > MAX_COMPONENTS or any(len(component.encode()) > MAX_COMPONENT for component in components):
            raise invalid_error("path is too long")
        for name in map(fold, components):
            if name in RESERVED:
                raise invalid_error(f"path cannot contain '{name}', a reserved name")
        return cls(components, not components or text.endswith(("/", "/.")))

    @property
    def display(self) -> str:
        """The path as it appears in messages and reports."""
        return "/".join(self.components) or "."

    def split(self) -> tuple[tuple[str, ...], str]:
        """Splits the path into its parent directories and the file name."""
        if self.is_directory:
            raise refused_error(self, "EISDIR")
        return self.components[:-1], self.components[-1]
