"""The files of one run: its open handles, its quotas and the report of changed files."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from directory import APPEND_MODES, READ_MODES, TRUNCATE_MODES, CreationQuota, Directory
from paths import FileError, FilePath, check_protection, invalid_error, limit_error, refused_error, system_error

# Files that a run can have open at once. Each uses a descriptor of the host process.
MAX_HANDLES = 64
# Bytes that one call can read. The host holds them in memory during the call.
MAX_BLOCK = 1 << 20
# Files that a run can touch, and the bytes of their names. The host stats each of them after the run.
MAX_TOUCHED = 20_000
MAX_TOUCHED_NAMES = 1 << 20

WHENCE = {"start": os.SEEK_SET, "current": os.SEEK_CUR, "end": os.SEEK_END}


@dataclass
class Handle:
    """An open file. `has_buffered_data` is set if the guest reported that it buffers more bytes for the file."""

    descriptor: int
    path: FilePath
    mode: str
    has_buffered_data: bool = False

    def check_readable(self) -> None:
        if self.mode not in READ_MODES:
            raise refused_error(self.path, "EBADF")

    def check_writable(self) -> None:
        if self.mode == "read":
            raise refused_error(self.path, "EBADF")

    def position_and_size(self) -> tuple[int, int]:
        try:
            return os.lseek(self.descriptor, 0, os.SEEK_CUR), os.fstat(self.descriptor).st_size
        except OSError as error:
            raise system_error(self.path, error) from None

    def seek(self, whence: str, offset: int) -> int:
        if whence == "start" and offset < 0:
            raise refused_error(self.path, "EINVAL")
        try:
            return os.lseek(self.descriptor, offset, WHENCE[whence])
        except OSError as error:
            raise system_error(self.path, error) from None


@dataclass
class TouchedFile:
    """A file that a run changed. `truncated` is set if bytes that the guest buffered were lost."""

    path: FilePath
    only_appended: bool = True
    truncated: bool = False


class FileSession:
    """The files of one run. Each public method serves a call from the guest and validates every argument."""

    def __init__(self, io_dir: str | os.PathLike[str], max_bytes: int, max_files: int, protect_names: bool) -> None:
        self._protect_names = protect_names
        self._directory = Directory(io_dir)
        self._creation_quota = CreationQuota(max_files)
        self._max_bytes = max_bytes
        self._bytes_written = 0
        self._handles: dict[int, Handle] = {}
        self._touched: dict[str, TouchedFile] = {}
        self._touched_name_bytes = 0

    def allowance(self) -> int:
        """Returns the number of bytes that can still be written."""
        return self._max_bytes - self._bytes_written

    def open(self, path: bytes, mode: str) -> int:
        """Opens a file and returns its handle number."""
        file_path = self._parse(path, writes=mode != "read")
        number = next((number for number in range(MAX_HANDLES) if number not in self._handles), None)
        if number is None:
            raise limit_error(f"too many open files (max {MAX_HANDLES})")
        if mode != "read":
            self._check_touched(file_path)
        descriptor, is_new = self._directory.open(file_path, mode, self._creation_quota)
        handle = self._handles[number] = Handle(descriptor, file_path, mode)
        if mode in APPEND_MODES and is_new:
            self._touch(file_path, append=True)
        elif is_new or mode in TRUNCATE_MODES:
            self._touch(file_path, append=False)
        # As in C: mode `a` starts at the end of the file. Mode `a+` moves there on the first write.
        if mode == "append":
            try:
                handle.seek("end", 0)
            except FileError:
                self.close(number)
                raise
        return number

    def read(self, number: int, max_bytes: int) -> bytes:
        """Reads up to `max_bytes` bytes at the current position. An empty result means end of file."""
        remaining = min(max_bytes, MAX_BLOCK, self.remaining(number))
        handle = self._handle(number)
        blocks: list[bytes] = []
        while remaining > 0:
            try:
                block = os.read(handle.descriptor, remaining)
            except OSError as error:
                raise system_error(handle.path, error) from None
            if not block:
                break
            blocks.append(block)
            remaining -= len(block)
        return b"".join(blocks)

    def remaining(self, number: int) -> int:
        """Returns the number of bytes from the current position to the end of the file."""
        handle = self._handle(number)
        handle.check_readable()
        position, size = handle.position_and_size()
        return max(0, size - position)

    def write(self, number: int, data: bytes, has_buffered_data: bool) -> int:
        """Counts the bytes against the quota, then writes all of them. Returns the number of bytes that can still be written."""
        handle = self._handle(number)
        handle.check_writable()
        # Stays unset if the write fails: the guest then drops its buffer.
        handle.has_buffered_data = False
        if data:
            position, size = handle.position_and_size()
            hole = 0 if handle.mode in APPEND_MODES else max(0, position - size)
            if hole + len(data) > self.allowance():
                raise limit_error(f"I/O write limit exceeded ({self._max_bytes} bytes)")
            self._bytes_written += hole + len(data)
            remaining = memoryview(data)
            while remaining:
                try:
                    count = os.write(handle.descriptor, remaining)
                except OSError as error:
                    raise system_error(handle.path, error) from None
                self._touch(handle.path, append=handle.mode in APPEND_MODES)
                remaining = remaining[count:]
        handle.has_buffered_data = has_buffered_data
        return self.allowance()

    def seek(self, number: int, whence: str, offset: int) -> int:
        """Moves the position and returns the new one."""
        return self._handle(number).seek(whence, offset)

    def list(self, path: bytes) -> list[str]:
        """Returns the names in a directory, sorted."""
        return self._directory.list(self._parse(path), self._protect_names)

    def exists(self, path: bytes) -> bool:
        """Returns `True` if there is a regular file or a directory."""
        return self._directory.exists(self._parse(path))

    def rename(self, old: bytes, new: bytes) -> None:
        """Renames a file, and replaces a file at the new path."""
        old_path, new_path = self._parse(old, writes=True), self._parse(new, writes=True)
        self._check_touched(old_path)
        self._check_touched(new_path)
        self._directory.rename(old_path, new_path, self._creation_quota)
        if old_path.display == new_path.display:
            return
        self._touch(old_path, append=False)
        self._touch(new_path, append=False)
        # Later writes through an open handle change the file at its new path.
        for handle in self._handles.values():
            if handle.path.display == old_path.display:
                handle.path = new_path

    def remove(self, path: bytes) -> None:
        """Removes a file."""
        file_path = self._parse(path, writes=True)
        self._check_touched(file_path)
        self._directory.remove(file_path)
        self._touch(file_path, append=False)

    def close(self, number: int) -> None:
        """Closes a file. Bytes that the guest still buffers are lost, and the report marks the file as truncated."""
        handle = self._handles.pop(number, None)
        if handle is not None:
            if handle.has_buffered_data:
                self._touch(handle.path, append=handle.mode in APPEND_MODES).truncated = True
            with suppress(OSError):
                os.close(handle.descriptor)

    def finish(self) -> list[dict[str, Any]]:
        """Closes everything and reports each touched file, sorted by name."""
        for number in list(self._handles):
            self.close(number)
        try:
            return [self._report(name, self._touched[name]) for name in sorted(self._touched)]
        finally:
            self._directory.close()

    def _report(self, name: str, touched: TouchedFile) -> dict[str, Any]:
        report: dict[str, Any] = {"name": name, "op": "append" if touched.only_appended else "write"}
        try:
            size = self._directory.size(touched.path)
        except FileError:
            pass
        else:
            if size is None:
                return {"name": name, "op": "remove"}
            report["bytes"] = size
        if touched.truncated:
            report["cut"] = True
        return report

    def _parse(self, path: bytes, writes: bool = False) -> FilePath:
        file_path = FilePath.parse(path)
        if self._protect_names:
            check_protection(file_path, writes)
        return file_path

    def _handle(self, number: int) -> Handle:
        handle = self._handles.get(number)
        if handle is None:
            # Only a guest that violates the contract gets here.
            raise invalid_error("attempt to use a closed file")
        return handle

    def _check_touched(self, path: FilePath) -> None:
        name = path.display
        is_full = len(self._touched) >= MAX_TOUCHED or self._touched_name_bytes + len(name.encode()) > MAX_TOUCHED_NAMES
        if name not in self._touched and is_full:
            raise limit_error(f"too many files touched (max {MAX_TOUCHED}, with {MAX_TOUCHED_NAMES} bytes of names)")

    def _touch(self, path: FilePath, append: bool) -> TouchedFile:
        name = path.display
        touched = self._touched.get(name)
        if touched is None:
            touched = self._touched[name] = TouchedFile(path)
            self._touched_name_bytes += len(name.encode())
        touched.only_appended &= append
        return touched
