"""``toolscript.mcp``: the server of the package with a client of the MCP SDK."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp import Client

from toolscript import Sandbox
from toolscript.mcp import server_parameters


def test_the_parameters() -> None:
    parameters = server_parameters("shop.yaml", Path("b.yaml"), io_dir="data", config="c.toml", arguments=["--timeout", "5s"], env={"A": "b"}, cwd="/")
    assert parameters.command == sys.executable
    arguments = ["-m", "toolscript", "serve", "--config", "c.toml", "--io-dir", "data", "--timeout", "5s", "shop.yaml", "b.yaml"]
    assert parameters.args[1:] == arguments
    assert (parameters.env, parameters.cwd) == ({"A": "b"}, "/")


def test_a_client_runs_a_script_and_reads_the_description_of_the_package(tmp_path: Path) -> None:
    async def session() -> None:
        # A module of this name in the working directory must not be imported.
        (tmp_path / "toolscript.py").write_text("raise SystemExit('imported from the working directory')")
        async with Client(server_parameters(io_dir=tmp_path / "data", cwd=tmp_path)) as client:
            result = await client.call_tool("execute_script", {"script": "return 6 * 7"})
            assert result.structured_content == {"result": 42, "logs": [], "files_touched": []}
            (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "execute_script"]
            assert tool.description == Sandbox(tmp_path / "data").description()

    asyncio.run(session())
