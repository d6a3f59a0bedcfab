"""Runs LLM-written Luau scripts in a WebAssembly sandbox with hard resource limits.

>>> from toolscript import Sandbox
>>> Sandbox().run("return 6 * 7").result
42
"""

from ._errors import EngineError, FileError, FunctionError, RunRejected, ScriptError, SourceError, ToolscriptError
from ._sandbox import Sandbox
from ._sources import from_openapi, mcp_server
from ._toolscript import (
    BinaryFile,
    Cancellation,
    DeleteResult,
    Diagnostic,
    EditResult,
    Engine,
    Execution,
    FileInfo,
    FunctionSource,
    GlobResult,
    GrepMatch,
    GrepResult,
    Limits,
    Receipt,
    Run,
    TextPage,
    TouchedFile,
    WriteResult,
    __version__,
)

__all__ = [
    "BinaryFile",
    "Cancellation",
    "DeleteResult",
    "Diagnostic",
    "EditResult",
    "Engine",
    "EngineError",
    "Execution",
    "FileError",
    "FileInfo",
    "FunctionError",
    "FunctionSource",
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "Limits",
    "Receipt",
    "Run",
    "RunRejected",
    "Sandbox",
    "ScriptError",
    "SourceError",
    "TextPage",
    "ToolscriptError",
    "TouchedFile",
    "WriteResult",
    "__version__",
    "from_openapi",
    "mcp_server",
]
