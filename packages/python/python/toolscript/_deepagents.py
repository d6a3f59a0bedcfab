"""Conversions between the file operations of a sandbox and the protocol of deepagents."""

from __future__ import annotations

import base64
import datetime
import errno
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from deepagents.backends import protocol

from ._errors import FileError
from ._toolscript import BinaryFile, Execution, FileInfo, GlobResult, GrepResult, TextPage

MAX_BINARY = 512_000
"""The maximum number of bytes of a file that is not text in ``read``, as in the other backends of deepagents."""

INVALID = "../"
"""A path that every operation of a sandbox rejects as invalid."""

LS_ERRORS = {"file_not_found": "path_not_found", "permission_denied": "permission_denied"}
"""The errors of a listing in the protocol, by the code of the exception."""

CODES = ("file_not_found", "permission_denied", "is_directory", "invalid_path")
"""The error codes of the protocol."""

NOT_FOUND = " is not in the file"
"""A part of the message of an edit whose text does not occur."""

PREFIXED = (protocol.LsResult, protocol.ReadResult, protocol.GlobResult)
"""The results whose errors deepagents shows after ``Error:``. The other errors must begin with it themselves."""

EDIT_ERRORS = {NOT_FOUND: "String not found in file: ", " times; include": "String appears multiple times: "}
"""The beginnings of the messages of failed edits, by a part of the message."""

Value = TypeVar("Value")
Result = TypeVar("Result")


def sandbox_path(path: str, if_relative: str | None = None) -> str:
    """Returns an absolute path of the protocol as a path in the directory of the sandbox."""
    if path.startswith("/"):
        return "/".join(["~", *(part for part in path.split("/") if part not in ("", "."))])
    if if_relative is None:
        raise FileError(f"{path}: the path must begin with /", code="invalid_path")
    return if_relative


def attempt(
    path: str, operation: Callable[[str], Value], convert: Callable[[str, Value], Result], result: Callable[..., Result]
) -> Result:
    """Performs an operation with a path, and returns its result or its error."""
    try:
        value = operation(sandbox_path(path))
    except FileError as error:
        return failure(path, error, result)
    return convert(path, value)


async def aattempt(
    path: str, operation: Callable[[str], Awaitable[Value]], convert: Callable[[str, Value], Result], result: Callable[..., Result]
) -> Result:
    """Async variant of ``attempt``."""
    try:
        value = await operation(sandbox_path(path))
    except FileError as error:
        return failure(path, error, result)
    return convert(path, value)


def failure(path: str, error: FileError, result: Callable[..., Result]) -> Result:
    """Returns an error as a result."""
    if result is protocol.LsResult:
        # deepagents looks for "not_a_directory" to find out whether a path to delete is a file.
        code = "not_a_directory" if error.errno == errno.ENOTDIR else LS_ERRORS.get(error.code)
        return result(error=f"Path '{path}': {code}" if code else str(error))
    if error.code == "file_not_found":
        # The other backends of deepagents find nothing in a directory that does not exist.
        if result in (protocol.GrepResult, protocol.GlobResult):
            return result(matches=[])
        message = f"File '{path}' not found"
    else:
        message = str(error)
    # The wording that models know from the other backends of deepagents.
    prefix = next((prefix for part, prefix in EDIT_ERRORS.items() if part in message), "") if result is protocol.EditResult else ""
    return result(error=f"{'' if result in PREFIXED else 'Error: '}{prefix}{message}")


def error_code(result: object) -> str | None:
    """Returns the error code of the protocol, or the message of an error that has none."""
    if not isinstance(result, FileError):
        return None
    return result.code if result.code in CODES else str(result)


def listing(path: str, entries: list[FileInfo]) -> protocol.LsResult:
    directory = path.rstrip("/")
    return protocol.LsResult(entries=[_info(f"{directory}/{entry.name}", entry) for entry in entries])


def _info(path: str, entry: FileInfo) -> protocol.FileInfo:
    info = protocol.FileInfo(path=path, is_dir=entry.kind == "directory", size=entry.bytes)
    if entry.modified is not None:
        info["modified_at"] = datetime.datetime.fromtimestamp(entry.modified, datetime.timezone.utc).isoformat()
    return info


def page(offset: int, limit: int) -> tuple[int, int]:
    """Returns the first line and the number of lines to read. A read of no lines reads one, so that the errors of the file are found."""
    return (max(int(offset), 0) + 1, int(limit)) if int(limit) > 0 else (1, 1)


def contents(limit: int, path: str, read: TextPage | BinaryFile) -> protocol.ReadResult:
    """Converts a page. A page of no lines still reports a missing file, an empty file and a file that is not text."""
    if isinstance(read, BinaryFile):
        if len(read.data) > MAX_BINARY:
            return protocol.ReadResult(error=f"File '{path}': Binary file exceeds maximum preview size of {MAX_BINARY} bytes")
        return protocol.ReadResult(file_data=protocol.FileData(content=base64.b64encode(read.data).decode(), encoding="base64"))
    if int(limit) <= 0 and read.lines > 0:
        return protocol.ReadResult(file_data=protocol.FileData(content="", encoding="utf-8"), no_lines_requested=True)
    # Lines are separated, not ended, by newlines in the protocol.
    data = protocol.FileData(content=read.text.replace("\r\n", "\n").removesuffix("\n"), encoding="utf-8")
    if read.lines == 0:
        return protocol.ReadResult(file_data=data)
    last = read.first_line + read.lines - 1
    following = None if read.next_line is None else last
    return protocol.ReadResult(file_data=data, total_lines=read.total_lines, start_line=read.first_line, end_line=last, next_offset=following)


def edit_texts(old: str, new: str) -> list[tuple[str, str]]:
    """Returns the texts of an edit, and then the same texts with other line endings, to try if the first text is not in the file.

    ``read`` shows all line endings alike, and a file can have both kinds.
    """
    unix = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    windows = (unix[0].replace("\n", "\r\n"), unix[1].replace("\n", "\r\n"))
    texts = [(old, new)]
    return texts + [other for other in (windows, unix) if other[0] != old]


def is_not_found(error: FileError) -> bool:
    """Returns whether the text of an edit is not in the file."""
    return NOT_FOUND in str(error)


def grep_options(glob: str | None, max_count: int | None, context: int) -> dict[str, Any]:
    if context < 0:
        raise ValueError("context_lines must be non-negative")
    return {"glob": glob and glob.lstrip("/"), "hidden": True, "context": context, "max_matches": max_count}


def matches(has_context: bool, path: str, found: GrepResult) -> protocol.GrepResult:
    converted: list[protocol.GrepMatch] = []
    for match in found.matches:
        result = protocol.GrepMatch(path=f"/{match.name}", line=match.line, text=match.text)
        if has_context:
            result["context_before"] = [protocol.ContextLine(line=line, text=text) for line, text in match.before]
            result["context_after"] = [protocol.ContextLine(line=line, text=text) for line, text in match.after]
        converted.append(result)
    return protocol.GrepResult(matches=converted, truncated=found.truncated)


def glob_options(pattern: str) -> dict[str, Any]:
    # A pattern without a slash matches names at any depth, also in directories that begin with a dot.
    is_name = "/" not in pattern
    return {"pattern": f"**/{pattern}" if is_name else pattern.lstrip("/"), "hidden": is_name, "files_only": True}


def found(pattern: str, path: str, globbed: GlobResult) -> protocol.GlobResult:
    # A name that begins with a dot matches only a pattern that begins with a dot.
    skips_hidden = "/" not in pattern and not pattern.lstrip("{").startswith((".", "["))
    # A pattern that ends with a slash matches directories only.
    entries = [] if pattern.endswith("/") else globbed.entries
    names = [entry for entry in entries if not (skips_hidden and entry.name.rpartition("/")[2].startswith("."))]
    result = protocol.GlobResult(matches=[_info(f"/{entry.name}", entry) for entry in names])
    if globbed.truncated or globbed.skipped:
        result.truncated, result.truncation_reason = True, "budget" if globbed.truncated else "unreadable"
    return result


def downloads(paths: list[str], read: list[bytes | FileError]) -> list[protocol.FileDownloadResponse]:
    return [
        protocol.FileDownloadResponse(path=path, error=error_code(result), content=None if isinstance(result, FileError) else result)
        for path, result in zip(paths, read)
    ]


def executed(done: Execution) -> protocol.ExecuteResponse:
    return protocol.ExecuteResponse(output=done.output, exit_code=done.exit_code, truncated=done.truncated)
