"""A backend for the agents of `deepagents <https://pypi.org/project/deepagents/>`_: files and Luau commands in a sandbox.

>>> from deepagents import create_deep_agent
>>> from toolscript import Sandbox
>>> from toolscript.deepagents import ToolscriptBackend
>>> backend = ToolscriptBackend(Sandbox("./data"))
>>> agent = create_deep_agent(model, backend=backend, system_prompt=backend.instructions)

Paths of the file tools are absolute: ``/notes/a.txt`` is ``notes/a.txt`` in the directory of the sandbox, and in scripts.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from functools import partial

from . import _agents
from ._errors import FileError
from ._sandbox import Sandbox
from ._toolscript import EditResult, GlobResult, GrepResult

try:
    from deepagents.backends import protocol

    from . import _deepagents as convert
except ImportError as error:
    raise _agents.missing("deepagents", "deepagents", error) from error

COMMAND = (
    "The tool execute runs one command, which is not a shell: luau FILE [ARGS…], luau -e CODE [ARGS…], or luau - [ARGS…] <<'END' followed by "
    "the script and a line with END. Paths in scripts are relative: /notes/a.txt of the file tools is notes/a.txt. The output has what the "
    "script prints and its return value.\n\n"
)

class ToolscriptBackend(protocol.SandboxBackendProtocol):
    """The files of a sandbox, and the command ``luau``, for deepagents.

    :param sandbox: a sandbox with a directory. Its functions can be called by scripts.
    :raises ValueError: if the sandbox has no directory.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        if not _agents.has_directory(sandbox):
            raise ValueError('ToolscriptBackend needs a sandbox with a directory; create it as Sandbox("./data")')
        self.sandbox = sandbox
        self._id = f"toolscript-{uuid.uuid4().hex}"

    @property
    def id(self) -> str:
        """The identifier, which never changes."""
        return self._id

    @property
    def instructions(self) -> str:
        """A text for the system prompt: the command that ``execute`` runs, and what scripts can do."""
        return COMMAND + self.sandbox.description()

    def ls(self, path: str) -> protocol.LsResult:
        return convert.attempt(path, self.sandbox.list, convert.listing, protocol.LsResult)

    async def als(self, path: str) -> protocol.LsResult:
        return await convert.aattempt(path, self.sandbox.alist, convert.listing, protocol.LsResult)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> protocol.ReadResult:
        first, lines = convert.page(offset, limit)
        read = partial(self.sandbox.read, offset=first, limit=lines)
        return convert.attempt(file_path, read, partial(convert.contents, limit), protocol.ReadResult)

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> protocol.ReadResult:
        first, lines = convert.page(offset, limit)
        read = partial(self.sandbox.aread, offset=first, limit=lines)
        return await convert.aattempt(file_path, read, partial(convert.contents, limit), protocol.ReadResult)

    def write(self, file_path: str, content: str) -> protocol.WriteResult:
        write = partial(self.sandbox.write, contents=content, mode="overwrite")
        return convert.attempt(file_path, write, lambda path, _: protocol.WriteResult(path=path), protocol.WriteResult)

    async def awrite(self, file_path: str, content: str) -> protocol.WriteResult:
        write = partial(self.sandbox.awrite, contents=content, mode="overwrite")
        return await convert.aattempt(file_path, write, lambda path, _: protocol.WriteResult(path=path), protocol.WriteResult)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> protocol.EditResult:
        def edit(path: str) -> EditResult:
            *others, last = convert.edit_texts(old_string, new_string)
            for old, new in others:
                try:
                    return self.sandbox.edit(path, old, new, all=replace_all)
                except FileError as error:
                    if not convert.is_not_found(error):
                        raise
            return self.sandbox.edit(path, *last, all=replace_all)

        return convert.attempt(file_path, edit, lambda path, done: protocol.EditResult(path=path, occurrences=done.count), protocol.EditResult)

    async def aedit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> protocol.EditResult:
        async def edit(path: str) -> EditResult:
            *others, last = convert.edit_texts(old_string, new_string)
            for old, new in others:
                try:
                    return await self.sandbox.aedit(path, old, new, all=replace_all)
                except FileError as error:
                    if not convert.is_not_found(error):
                        raise
            return await self.sandbox.aedit(path, *last, all=replace_all)

        return await convert.aattempt(file_path, edit, lambda path, done: protocol.EditResult(path=path, occurrences=done.count), protocol.EditResult)

    def delete(self, file_path: str) -> protocol.DeleteResult:
        return convert.attempt(file_path, self.sandbox.delete, lambda path, _: protocol.DeleteResult(path=path), protocol.DeleteResult)

    async def adelete(self, file_path: str) -> protocol.DeleteResult:
        return await convert.aattempt(file_path, self.sandbox.adelete, lambda path, _: protocol.DeleteResult(path=path), protocol.DeleteResult)

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None, context_lines: int = 0
    ) -> protocol.GrepResult:
        """Finds lines that contain a text. ``context_lines`` adds the lines around each match, as in ``FilesystemBackend``."""
        options = convert.grep_options(glob, max_count, context_lines)
        grep: Callable[[str], GrepResult] = lambda path: self.sandbox.grep(pattern, path=path, **options)
        return convert.attempt(path or "/", grep, partial(convert.matches, context_lines > 0), protocol.GrepResult)

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None, context_lines: int = 0
    ) -> protocol.GrepResult:
        options = convert.grep_options(glob, max_count, context_lines)
        grep: Callable[[str], Awaitable[GrepResult]] = lambda path: self.sandbox.agrep(pattern, path=path, **options)
        return await convert.aattempt(path or "/", grep, partial(convert.matches, context_lines > 0), protocol.GrepResult)

    def glob(self, pattern: str, path: str | None = None) -> protocol.GlobResult:
        glob: Callable[[str], GlobResult] = lambda path: self.sandbox.glob(path=path, **convert.glob_options(pattern))
        return convert.attempt(path or "/", glob, partial(convert.found, pattern), protocol.GlobResult)

    async def aglob(self, pattern: str, path: str | None = None) -> protocol.GlobResult:
        glob: Callable[[str], Awaitable[GlobResult]] = lambda path: self.sandbox.aglob(path=path, **convert.glob_options(pattern))
        return await convert.aattempt(path or "/", glob, partial(convert.found, pattern), protocol.GlobResult)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[protocol.FileUploadResponse]:
        written = self.sandbox.upload([(convert.sandbox_path(path, convert.INVALID), contents) for path, contents in files])
        return [protocol.FileUploadResponse(path=path, error=convert.error_code(result)) for (path, _), result in zip(files, written)]

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[protocol.FileUploadResponse]:
        written = await self.sandbox.aupload([(convert.sandbox_path(path, convert.INVALID), contents) for path, contents in files])
        return [protocol.FileUploadResponse(path=path, error=convert.error_code(result)) for (path, _), result in zip(files, written)]

    def download_files(self, paths: list[str]) -> list[protocol.FileDownloadResponse]:
        return convert.downloads(paths, self.sandbox.download([convert.sandbox_path(path, convert.INVALID) for path in paths]))

    async def adownload_files(self, paths: list[str]) -> list[protocol.FileDownloadResponse]:
        return convert.downloads(paths, await self.sandbox.adownload([convert.sandbox_path(path, convert.INVALID) for path in paths]))

    def execute(self, command: str, *, timeout: int | None = None) -> protocol.ExecuteResponse:
        """Runs a ``luau`` command. ``timeout`` can only lower the limit of the sandbox; 0 is that limit."""
        return convert.executed(self.sandbox.execute(command, timeout=timeout or None))

    async def aexecute(self, command: str, *, timeout: int | None = None) -> protocol.ExecuteResponse:
        return convert.executed(await self.sandbox.aexecute(command, timeout=timeout or None))
