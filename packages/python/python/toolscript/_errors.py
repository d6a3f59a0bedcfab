"""The exceptions of the package."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._toolscript import Diagnostic, Receipt, TouchedFile


class ToolscriptError(Exception):
    """The base class of the exceptions of this package."""


class ScriptError(ToolscriptError):
    """A script failed, or was stopped by a limit.

    If a Python function raised the error, ``__cause__`` is its exception.
    """

    kind: str
    """``"syntax"``, ``"check"`` if mistakes were found before the run, ``"runtime"``, ``"result"``, ``"internal"``, or the reason of the
    stop: ``"fuel"``, ``"timeout"``, ``"memory"``, ``"calls"`` or ``"cancelled"``."""
    message: str
    """The message, in one line."""
    line: int | None
    """The line of the script, if it is known."""
    traceback: str | None
    """The call stack in the script, innermost call first."""
    logs: list[str]
    """The lines that the script printed."""
    files_touched: list[TouchedFile]
    """The files that the run changed before it ended."""
    receipt: Receipt | None
    """The cost of the run."""
    truncated: list[str]
    """The parts that were truncated: ``"logs"``, ``"message"``, ``"traceback"``."""
    diagnostics: list[Diagnostic]
    """The mistakes that were found before the run. Empty for all kinds but ``"check"``."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "runtime",
        line: int | None = None,
        traceback: str | None = None,
        logs: Sequence[str] = (),
        files_touched: Sequence[TouchedFile] = (),
        receipt: Receipt | None = None,
        truncated: Sequence[str] = (),
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line
        self.traceback = traceback
        self.logs = list(logs)
        self.files_touched = list(files_touched)
        self.receipt = receipt
        self.truncated = list(truncated)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class FileError(ToolscriptError):
    """A file operation failed."""

    code: str
    """``"file_not_found"``, ``"permission_denied"``, ``"is_directory"``, ``"invalid_path"``, ``"file_exists"``, ``"invalid_argument"``,
    ``"limit_exceeded"``, ``"interrupted"``, ``"failed"``, or ``"no_directory"`` if the sandbox has none."""
    errno: int | None
    """The error number of the operating system, as on Linux."""

    def __init__(self, message: str, *, code: str = "failed", errno: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.errno = errno


class RunRejected(ToolscriptError):
    """A run did not start, or a script was not checked."""

    code: str
    """``"script_too_large"``, ``"arguments_too_large"``, ``"environment_too_large"``, ``"invalid_limit"``, ``"busy"`` if too many runs
    wait, or ``"not_checked"`` if ``check`` needs too much time or memory."""

    def __init__(self, message: str, *, code: str = "busy") -> None:
        super().__init__(message)
        self.code = code


class SourceError(ToolscriptError):
    """An OpenAPI specification can't be loaded, or the options of an MCP server are invalid."""


class EngineError(ToolscriptError):
    """An engine can't be built, for example because the address space is limited."""


class FunctionError(ToolscriptError):
    """An error for scripts. Raise it in a function to choose the message and the fields of the error.

    A script that catches it with ``pcall`` reads ``status``, ``headers``, ``body`` and ``retry_after``.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = None if headers is None else dict(headers)
        self.body = body
        self.retry_after = retry_after
