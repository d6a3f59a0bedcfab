"""One run's use of a directory: its open files, its quota, what it touched."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paths import FileError, FilePath, invalid, limit, refused, system
from walk import APPENDS, EMPTIES, READS, Directory, Made

# Files open at once: descriptors of the host's, of which a process has few.
MAX_HANDLES = 64
# Bytes that one call may read: the host holds them meanwhile.
MAX_BLOCK = 1 << 20
# Files that a run may touch, and bytes of their names: the host looks at each when the run has ended.
MAX_TOUCHED = 20_000
MAX_TOUCHED_NAMES = 1 << 20

WHENCE = {"start": os.SEEK_SET, "current": os.SEEK_CUR, "end": os.SEEK_END}


@dataclass
class Handle:
    """An open file. `waiting` is the guest's word that it holds more bytes for it."""

    descriptor: int
    path: FilePath
    mode: str
    waiting: bool = False

    def check_reads(self) -> None:
        if self.mode not in READS:
            raise refused(self.path, "EBADF")

    def check_writes(self) -> None:
        if self.mode == "read":
            raise refused(self.path, "EBADF")

    def position_and_size(self) -> tuple[int, int]:
        try:
            return os.lseek(self.descriptor, 0, os.SEEK_CUR), os.fstat(self.descriptor).st_size
        except OSError as error:
            raise system(self.path, error) from None

    def seek(self, whence: str, offset: int) -> int:
        if whence == "start" and offset < 0:
            raise refused(self.path, "EINVAL")
        try:
            return os.lseek(self.descriptor, offset, WHENCE[whence])
        except OSError as error:
            raise system(self.path, error) from None


@dataclass
class Mark:
    """How a file was touched."""

    path: FilePath
    only_appended: bool = True
    cut: bool = False


class Session:
    """The files of one run. Each method is a call of the guest's: whatever it passes is checked here."""

    def __init__(self, folder: str | os.PathLike[str], max_bytes: int, max_files: int) -> None:
        self._directory = Directory(folder)
        self._made = Made(max_files)
        self._max_bytes = max_bytes
        self._bytes = 0
        self._handles: dict[int, Handle] = {}
        self._touched: dict[str, Mark] = {}
        self._touched_names = 0

    def allowance(self) -> int:
        """Bytes that may still be written."""
        return self._max_bytes - self._bytes

    def open(self, path: bytes, mode: str) -> int:
        """Opens a file; the number of its handle."""
        file_path = FilePath.parse(path)
        number = next((number for number in range(MAX_HANDLES) if number not in self._handles), None)
        if number is None:
            raise limit(f"too many open files (max {MAX_HANDLES})")
        if mode != "read":
            self._check_touched(file_path)
        descriptor, is_new = self._directory.open(file_path, mode, self._made)
        handle = self._handles[number] = Handle(descriptor, file_path, mode)
        if mode in APPENDS and is_new:
            self._mark(file_path, append=True)
        elif is_new or mode in EMPTIES:
            self._mark(file_path, append=False)
        # As in C: the position of `a` is at the end from the start on, that of `a+` only once something was written.
        if mode == "append":
            try:
                handle.seek("end", 0)
            except FileError:
                self.close(number)
                raise
        return number

    def read(self, number: int, most: int) -> bytes:
        """At most `most` bytes from the position on; none is the end of the file."""
        rest = min(most, MAX_BLOCK, self.remaining(number))
        handle = self._handle(number)
        blocks: list[bytes] = []
        while rest > 0:
            try:
                block = os.read(handle.descriptor, rest)
            except OSError as error:
                raise system(handle.path, error) from None
            if not block:
                break
            blocks.append(block)
            rest -= len(block)
        return b"".join(blocks)

    def remaining(self, number: int) -> int:
        """Bytes from the position to the end."""
        handle = self._handle(number)
        handle.check_reads()
        position, size = handle.position_and_size()
        return max(0, size - position)

    def write(self, number: int, data: bytes, waiting: bool) -> int:
        """Writes all the bytes, after they were counted; what may still be written."""
        handle = self._handle(number)
        handle.check_writes()
        # After an error nothing is on its way.
        handle.waiting = False
        if data:
            position, size = handle.position_and_size()
            hole = 0 if handle.mode in APPENDS else max(0, position - size)
            if hole + len(data) > self.allowance():
                raise limit(f"I/O write limit exceeded ({self._max_bytes} bytes)")
            self._bytes += hole + len(data)
            rest = memoryview(data)
            while rest:
                try:
                    count = os.write(handle.descriptor, rest)
                except OSError as error:
                    raise system(handle.path, error) from None
                self._mark(handle.path, append=handle.mode in APPENDS)
                rest = rest[count:]
        handle.waiting = waiting
        return self.allowance()

    def seek(self, number: int, whence: str, offset: int) -> int:
        """Moves the position, and answers with it."""
        return self._handle(number).seek(whence, offset)

    def list(self, path: bytes) -> list[str]:
        """The names in a folder, sorted."""
        return self._directory.list(FilePath.parse(path))

    def remove(self, path: bytes) -> None:
        """Removes a file."""
        file_path = FilePath.parse(path)
        self._check_touched(file_path)
        self._directory.remove(file_path)
        self._mark(file_path, append=False)

    def close(self, number: int) -> None:
        """Lets go of a file; what the guest kept waiting for it is lost, and the report says so."""
        handle = self._handles.pop(number, None)
        if handle is not None:
            if handle.waiting:
                self._mark(handle.path, append=handle.mode in APPENDS).cut = True
            with suppress(OSError):
                os.close(handle.descriptor)

    def finish(self) -> list[dict[str, Any]]:
        """Closes everything, and tells what became of each file that was touched, in name order."""
        for number in list(self._handles):
            self.close(number)
        try:
            return [self._report(name, self._touched[name]) for name in sorted(self._touched)]
        finally:
            self._directory.close()

    def _report(self, name: str, mark: Mark) -> dict[str, Any]:
        report: dict[str, Any] = {"name": name, "op": "append" if mark.only_appended else "write"}
        try:
            size = self._directory.size(mark.path)
        except FileError:
            pass
        else:
            if size is None:
                return {"name": name, "op": "remove"}
            report["bytes"] = size
        if mark.cut:
            report["cut"] = True
        return report

    def _handle(self, number: int) -> Handle:
        handle = self._handles.get(number)
        if handle is None:
            # Only a guest that breaks the contract gets here.
            raise invalid("attempt to use a closed file")
        return handle

    def _check_touched(self, path: FilePath) -> None:
        name = path.shown
        is_full = len(self._touched) >= MAX_TOUCHED or self._touched_names + len(name.encode()) > MAX_TOUCHED_NAMES
        if name not in self._touched and is_full:
            raise limit(f"too many files touched (max {MAX_TOUCHED}, with {MAX_TOUCHED_NAMES} bytes of names)")

    def _mark(self, path: FilePath, append: bool) -> Mark:
        name = path.shown
        mark = self._touched.get(name)
        if mark is None:
            mark = self._touched[name] = Mark(path)
            self._touched_names += len(name.encode())
        mark.only_appended &= append
        return mark
