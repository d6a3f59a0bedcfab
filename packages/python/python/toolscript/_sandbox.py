"""``Sandbox``: scripts, functions and files for one agent or tenant."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ._toolscript import FunctionSource, SandboxCore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal, TypeVar, overload

    from ._asyncio import Caller, Completion, Job, Listener
    from ._errors import FileError
    from ._toolscript import (
        BinaryFile,
        Cancellation,
        DeleteResult,
        Diagnostic,
        EditResult,
        Engine,
        Execution,
        FileInfo,
        GlobResult,
        GrepResult,
        Limits,
        Run,
        TextPage,
        WriteResult,
    )

    F = TypeVar("F", bound=Callable[..., Any])
    Path = str | os.PathLike[str]
    # `Sandbox.list` hides the name in the class.
    List = list
    CheckMode = Literal["off", "errors", "warn"]
    OnPrint = Callable[[str], object]
    OnProgress = Callable[[float, float | None, str | None], object]


def _argument(argument: str | int | float) -> str:
    if isinstance(argument, bool):
        return "true" if argument else "false"
    if isinstance(argument, (str, int, float)):
        return str(argument)
    found = type(argument).__name__
    raise TypeError(f"an argument must be a string or a number, not {found}; pass JSON, and read it in the script with json.decode")


class _RunOptions:
    """The options of a run, as the extension module reads them."""

    __slots__ = (
        "arguments", "caller", "cancellation", "check", "credentials", "env", "limits", "on_print", "on_progress", "seed", "timeout"
    )

    def __init__(
        self,
        arguments: Sequence[str | int | float],
        limits: Limits | None,
        timeout: float | None,
        on_print: OnPrint | None,
        on_progress: OnProgress | None,
        seed: int | None,
        credentials: Mapping[str, str] | None,
        env: Mapping[str, str] | None,
        cancellation: Cancellation | None,
        caller: Any,
        check: CheckMode = "off",
    ) -> None:
        if isinstance(arguments, str):
            raise TypeError("arguments must be a list of strings, not a string")
        self.arguments = [_argument(argument) for argument in arguments]
        self.limits = limits
        self.timeout = timeout
        self.on_print = on_print
        self.on_progress = on_progress
        self.seed = seed
        self.credentials = {} if credentials is None else dict(credentials)
        self.env = None if env is None else dict(env)
        self.cancellation = cancellation
        self.caller = caller
        self.check = check


class Sandbox:
    """Runs scripts with limits, functions and, if it has a directory, files.

    All methods can be called from any thread, and each has an async variant whose name begins with ``a``. The GIL is released while a script
    runs. Paths are relative to ``working_directory``; ``~`` is the directory itself. Symlinks are never followed.

    :param directory: the only directory that scripts and file operations can access. The first write creates it. Without it, scripts have no
        ``io`` library.
    :param limits: the limits of each run. ``Limits()`` has the defaults.
    :param functions: functions that scripts call as ``sdk.name(...)``: a dict of names, or a list of functions and of sources such as
        ``from_openapi("shop.yaml")``.
    :param engine: the engine that runs the scripts. By default, all sandboxes of the process share one.
    :param working_directory: the directory below ``directory`` at which relative paths start.
    :param max_bytes: the number of bytes that a run or a file operation can write, 50 MiB by default.
    :param max_files: the number of files that a run or a file operation can create, 10,000 by default.
    :param disk_quota: the size that all files together can have. Counts the existing files first.
    :param concurrency: the number of runs of this sandbox that execute at the same time. By default, only the engine limits them.
    :param io_errors: ``"raise"``, or ``"return"`` for ``nil, message, number`` as in Lua.
    :param protect_names: rejects changes of names such as ``.git``, and any access to names such as ``.env``.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        limits: Limits | None = None,
        functions: Mapping[str, Callable[..., Any] | FunctionSource] | Iterable[Callable[..., Any] | FunctionSource] = (),
        engine: Engine | None = None,
        working_directory: str | None = None,
        max_bytes: int | str | None = None,
        max_files: int | None = None,
        disk_quota: int | str | None = None,
        concurrency: int | None = None,
        io_errors: Literal["raise", "return"] = "raise",
        protect_names: bool = True,
    ) -> None:
        self._core = SandboxCore(
            directory, engine, limits, max_bytes, max_files, working_directory, io_errors, protect_names, disk_quota, concurrency
        )
        if isinstance(functions, Mapping):
            for name, function in functions.items():
                self.add(function, name=name)
        else:
            for function in functions:
                self.add(function)

    @property
    def limits(self) -> Limits:
        """The limits of runs."""
        return self._core.limits

    def description(self) -> str:
        """Returns the description of a tool that runs scripts, for a model: the language, the limits, the files and the functions.

        It is what the MCP server tells a model about its tool ``execute_script``.
        """
        return self._core.description()

    def add(self, function: Callable[..., Any] | FunctionSource, *, name: str | None = None) -> None:
        """Adds a function, or all functions of an API or an MCP server.

        A function of the same name is replaced. Runs that are in progress keep the functions they have.

        :raises ValueError: if the name is invalid, reserved or a part of another name.
        """
        if isinstance(function, FunctionSource):
            if name is not None and name != function.name:
                raise ValueError(f"the source has the name '{function.name}'; pass name= when you create it")
            self._core.add_source(function)
            return
        from ._functions import Description

        self._core.add_function(Description(function, name))

    if TYPE_CHECKING:

        @overload
        def function(self, function: F, /) -> F: ...
        @overload
        def function(self, /, *, name: str | None = None) -> Callable[[F], F]: ...

    def function(self, function: Any = None, /, *, name: str | None = None) -> Any:
        """Decorates a function that scripts call as ``sdk.name(...)``.

        Arguments are passed in order. A single table whose keys are names of parameters, with all that have no default, becomes keyword
        arguments. The docstring and the type hints are what scripts and models read with ``sdk.docs`` and ``sdk.search``.

        An exception becomes an error of the script. ``FunctionError`` chooses its message and fields.
        """
        def decorate(function: F) -> F:
            self.add(function, name=name)
            return function

        return decorate if function is None else decorate(function)

    def run(
        self,
        script: str | bytes,
        *,
        arguments: Sequence[str | int | float] = (),
        limits: Limits | None = None,
        timeout: float | None = None,
        on_print: OnPrint | None = None,
        on_progress: OnProgress | None = None,
        seed: int | None = None,
        credentials: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
        check: CheckMode = "off",
    ) -> Run:
        """Runs a script and waits for it.

        Functions are called on this thread; the timeout is checked when they return. Async functions run on an event loop of the module, on
        a thread of its own.

        :param script: Luau source text.
        :param arguments: the values of ``...`` in the script, which receives them as strings.
        :param limits: limits of this run, instead of those of the sandbox.
        :param timeout: wall time of this run in seconds.
        :param on_print: called with each line that the script prints.
        :param on_progress: called with the arguments of each call of ``progress``: done, total and message.
        :param seed: the seed of ``math.random``.
        :param credentials: credentials for this run, by the name of their API or MCP server.
        :param env: the values of the read-only table ``env`` in the script. The environment of the process is never visible to a script.
        :param cancellation: stops the run when another thread calls its ``cancel``.
        :param check: ``"errors"`` checks the script first, as ``check`` does, and does not run it if it has an error. ``"warn"`` runs it, and
            ``diagnostics`` of the result has the errors. ``"off"`` does not check it.
        :raises ScriptError: if the script fails, if a limit stops it, or if the check finds an error.
        :raises RunRejected: if the run does not start.
        """
        options = _RunOptions(arguments, limits, timeout, on_print, on_progress, seed, credentials, env, cancellation, None, check)
        return self._core.run(script, options, None)

    async def arun(
        self,
        script: str | bytes,
        *,
        arguments: Sequence[str | int | float] = (),
        limits: Limits | None = None,
        timeout: float | None = None,
        on_print: OnPrint | None = None,
        on_progress: OnProgress | None = None,
        seed: int | None = None,
        credentials: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
        check: CheckMode = "off",
    ) -> Run:
        """Runs a script without blocking the event loop; see ``run``.

        Async functions and callbacks run on the running event loop, other functions on its default executor. Cancelling the task stops the
        script.
        """

        def start(listener: Listener, completion: Completion, caller: Caller) -> Job:
            options = _RunOptions(
                arguments, limits, timeout, listener.on_print, listener.on_progress, seed, credentials, env, cancellation, caller, check
            )
            return self._core.run(script, options, completion)

        return await _start(start, on_print, on_progress)

    def check(self, script: str | bytes, *, env: Mapping[str, str] | None = None) -> List[Diagnostic]:
        """Finds mistakes in a script without running it.

        Unknown globals, functions and members of libraries are mistakes, and so are wrong literals in arguments of functions of an API or an
        MCP server. The parameters of Python functions are not checked. A syntax error is reported alone.

        :param env: the values of ``env`` that the script will have. Only a script that will have them can read ``env``.
        :raises RunRejected: if the script was not checked.
        """
        return self._core.check(script, env is not None, None)

    async def acheck(self, script: str | bytes, *, env: Mapping[str, str] | None = None) -> List[Diagnostic]:
        """Async variant of ``check``."""
        completion = _completion()
        return await completion.wait(self._core.check(script, env is not None, completion))

    def exec(
        self,
        script: str | bytes,
        *,
        arguments: Sequence[str | int | float] = (),
        timeout: float | None = None,
        working_directory: str | None = None,
        on_print: OnPrint | None = None,
        on_progress: OnProgress | None = None,
        env: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> Execution:
        """Runs a script like a command: it returns text and an exit code, and raises no ``ScriptError``. Needs a directory.

        :param timeout: wall time in seconds. It can only lower the limit of the sandbox.
        :param working_directory: the directory at which relative paths start, below that of the sandbox.
        """
        options = _RunOptions(arguments, None, timeout, on_print, on_progress, None, None, env, cancellation, None)
        return self._core.exec(script, False, working_directory, options, None)

    async def aexec(
        self,
        script: str | bytes,
        *,
        arguments: Sequence[str | int | float] = (),
        timeout: float | None = None,
        working_directory: str | None = None,
        on_print: OnPrint | None = None,
        on_progress: OnProgress | None = None,
        env: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> Execution:
        """Async variant of ``exec``; see ``arun``."""
        return await self._start_exec(script, False, working_directory, arguments, timeout, on_print, on_progress, env, cancellation)

    def execute(
        self,
        command: str,
        *,
        arguments: Sequence[str | int | float] = (),
        timeout: float | None = None,
        working_directory: str | None = None,
        on_print: OnPrint | None = None,
        on_progress: OnProgress | None = None,
        env: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> Execution:
        """Runs a ``luau`` command, the only one supported: ``luau FILE [ARGS…]``, ``luau -e CODE [ARGS…]``, or ``luau - [ARGS…]`` with the
        script as a here-document. Errors are reported in the output; see ``exec``.
        """
        options = _RunOptions(arguments, None, timeout, on_print, on_progress, None, None, env, cancellation, None)
        return self._core.exec(command, True, working_directory, options, None)

    async def aexecute(
        self,
        command: str,
        *,
        arguments: Sequence[str | int | float] = (),
        timeout: float | None = None,
        working_directory: str | None = None,
        on_print: OnPrint | None = None,
        on_progress: OnProgress | None = None,
        env: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> Execution:
        """Async variant of ``execute``; see ``arun``."""
        return await self._start_exec(command, True, working_directory, arguments, timeout, on_print, on_progress, env, cancellation)

    async def _start_exec(
        self,
        source: str | bytes,
        is_command: bool,
        working_directory: str | None,
        arguments: Sequence[str | int | float],
        timeout: float | None,
        on_print: OnPrint | None,
        on_progress: OnProgress | None,
        env: Mapping[str, str] | None,
        cancellation: Cancellation | None,
    ) -> Execution:
        def start(listener: Listener, completion: Completion, caller: Caller) -> Job:
            options = _RunOptions(
                arguments, None, timeout, listener.on_print, listener.on_progress, None, None, env, cancellation, caller
            )
            return self._core.exec(source, is_command, working_directory, options, completion)

        return await _start(start, on_print, on_progress)

    def read(self, path: Path, *, offset: int = 1, limit: int | None = None) -> TextPage | BinaryFile:
        """Reads lines of a text file, or a whole image or other binary file.

        :param offset: the number of the first line, counted from 1.
        :param limit: the number of lines. At most 2,000 lines and 50 KiB are returned.
        """
        return self._core.read(os.fspath(path), offset, limit, None)

    async def aread(self, path: Path, *, offset: int = 1, limit: int | None = None) -> TextPage | BinaryFile:
        """Async variant of ``read``."""
        completion = _completion()
        return await completion.wait(self._core.read(os.fspath(path), offset, limit, completion))

    def read_bytes(self, path: Path) -> bytes:
        """Reads all bytes of a file."""
        return self._core.read_bytes(os.fspath(path), None)

    async def aread_bytes(self, path: Path) -> bytes:
        """Async variant of ``read_bytes``."""
        completion = _completion()
        return await completion.wait(self._core.read_bytes(os.fspath(path), completion))

    def read_text(self, path: Path) -> str:
        """Reads a whole file as UTF-8."""
        return self.read_bytes(path).decode()

    async def aread_text(self, path: Path) -> str:
        """Async variant of ``read_text``."""
        return (await self.aread_bytes(path)).decode()

    def write(self, path: Path, contents: str | bytes, *, mode: Literal["create", "overwrite", "append"] = "create") -> WriteResult:
        """Writes a file. Missing parent directories are created, and an existing file is replaced atomically.

        :param mode: ``"create"`` raises ``FileError`` if the file exists.
        """
        return self._core.write(os.fspath(path), contents, mode, None)

    async def awrite(self, path: Path, contents: str | bytes, *, mode: Literal["create", "overwrite", "append"] = "create") -> WriteResult:
        """Async variant of ``write``."""
        completion = _completion()
        return await completion.wait(self._core.write(os.fspath(path), contents, mode, completion))

    def edit(self, path: Path, old: str, new: str, *, all: bool = False) -> EditResult:
        """Replaces text in a file: its only occurrence, or every occurrence."""
        return self._core.edit(os.fspath(path), old, new, all, None)

    async def aedit(self, path: Path, old: str, new: str, *, all: bool = False) -> EditResult:
        """Async variant of ``edit``."""
        completion = _completion()
        return await completion.wait(self._core.edit(os.fspath(path), old, new, all, completion))

    def list(self, path: Path = ".") -> List[FileInfo]:
        """Lists a directory, sorted by name."""
        return self._core.list(os.fspath(path), None)

    async def alist(self, path: Path = ".") -> List[FileInfo]:
        """Async variant of ``list``."""
        completion = _completion()
        return await completion.wait(self._core.list(os.fspath(path), completion))

    def glob(self, pattern: str, *, path: Path = ".", hidden: bool = False, files_only: bool = False, max_results: int | None = None) -> GlobResult:
        """Finds files and directories by a pattern such as ``"**/*.csv"``."""
        return self._core.glob(pattern, os.fspath(path), hidden, files_only, max_results, None)

    async def aglob(self, pattern: str, *, path: Path = ".", hidden: bool = False, files_only: bool = False, max_results: int | None = None) -> GlobResult:
        """Async variant of ``glob``."""
        completion = _completion()
        return await completion.wait(self._core.glob(pattern, os.fspath(path), hidden, files_only, max_results, completion))

    def grep(
        self,
        pattern: str,
        *,
        path: Path = ".",
        glob: str | None = None,
        regex: bool = False,
        hidden: bool = False,
        context: int = 0,
        max_matches: int | None = None,
    ) -> GrepResult:
        """Finds lines that contain a text, or match a regular expression.

        :param path: the directory or the file to search.
        :param glob: restricts the search to files that match a pattern.
        :param context: the number of lines before and after each match, at most 100.
        """
        return self._core.grep(pattern, os.fspath(path), glob, regex, hidden, context, max_matches, None)

    async def agrep(
        self,
        pattern: str,
        *,
        path: Path = ".",
        glob: str | None = None,
        regex: bool = False,
        hidden: bool = False,
        context: int = 0,
        max_matches: int | None = None,
    ) -> GrepResult:
        """Async variant of ``grep``."""
        completion = _completion()
        return await completion.wait(self._core.grep(pattern, os.fspath(path), glob, regex, hidden, context, max_matches, completion))

    def remove(self, path: Path) -> str:
        """Removes a file. Returns its path, relative to the directory of the sandbox."""
        return self._core.remove(os.fspath(path), None)

    async def aremove(self, path: Path) -> str:
        """Async variant of ``remove``."""
        completion = _completion()
        return await completion.wait(self._core.remove(os.fspath(path), completion))

    def delete(self, path: Path) -> DeleteResult:
        """Deletes a file, or a directory with everything in it."""
        return self._core.delete(os.fspath(path), None)

    async def adelete(self, path: Path) -> DeleteResult:
        """Async variant of ``delete``."""
        completion = _completion()
        return await completion.wait(self._core.delete(os.fspath(path), completion))

    def upload(self, files: Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]) -> List[WriteResult | FileError]:
        """Writes several files, and returns a result or an exception for each, in the same order. Existing files are replaced."""
        return self._core.upload(_pairs(files), None)

    async def aupload(self, files: Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]) -> List[WriteResult | FileError]:
        """Async variant of ``upload``."""
        completion = _completion()
        return await completion.wait(self._core.upload(_pairs(files), completion))

    def download(self, paths: Iterable[str]) -> List[bytes | FileError]:
        """Reads several files, and returns the contents or an exception for each, in the same order."""
        return self._core.download([*paths], None)

    async def adownload(self, paths: Iterable[str]) -> List[bytes | FileError]:
        """Async variant of ``download``."""
        completion = _completion()
        return await completion.wait(self._core.download([*paths], completion))


def _completion() -> Completion:
    # Programs without asyncio do not import it.
    from ._asyncio import Completion

    return Completion()


async def _start(
    start: Callable[[Listener, Completion, Caller], Job], on_print: OnPrint | None, on_progress: OnProgress | None
) -> Any:
    """Starts a run on the running event loop, and waits for it."""
    from ._asyncio import Caller, Completion, Listener

    completion = Completion()
    listener = Listener(completion.loop, on_print, on_progress)
    listener.job = start(listener, completion, Caller(completion.loop))
    try:
        return await completion.wait(listener.job)
    finally:
        if listener.error is not None:
            raise listener.error


def _pairs(files: Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]) -> list[tuple[str, str | bytes]]:
    return [*(files.items() if isinstance(files, Mapping) else files)]
