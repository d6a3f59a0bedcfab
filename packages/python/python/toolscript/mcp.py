"""The MCP server of this package for clients of the `MCP SDK <https://pypi.org/project/mcp/>`_.

>>> from mcp import Client
>>> from toolscript.mcp import server_parameters
>>> async with Client(server_parameters(io_dir="./data")) as client:
...     await client.call_tool("execute_script", {"script": "return 6 * 7"})
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from . import _agents

try:
    from mcp import StdioServerParameters
except ImportError as error:
    raise _agents.missing("mcp", "mcp", error) from error


def server_parameters(
    *specs: str | os.PathLike[str],
    io_dir: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> StdioServerParameters:
    """Returns the parameters that start ``toolscript serve`` with the Python interpreter of this process.

    :param specs: OpenAPI specifications, whose operations scripts call.
    :param io_dir: the directory that scripts and the file tools can access, by default ``./toolscript-files``.
    :param config: the configuration file, by default ``toolscript.toml`` in the working directory.
    :param arguments: other arguments of ``toolscript serve``.
    :param env: environment variables of the server, for example with credentials of APIs.
    :param cwd: the working directory of the server.
    """
    options = [("--config", config), ("--io-dir", io_dir)]
    flags = [text for flag, value in options if value is not None for text in (flag, os.fspath(value))]
    return StdioServerParameters(
        command=sys.executable,
        # Without the working directory in the module path: scripts may be able to write files there.
        args=["-P" if sys.version_info >= (3, 11) else "-I", "-m", "toolscript", "serve", *flags, *arguments, *(os.fspath(spec) for spec in specs)],
        env=None if env is None else dict(env),
        cwd=None if cwd is None else os.fspath(cwd),
    )
