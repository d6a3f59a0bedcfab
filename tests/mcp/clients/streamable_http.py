"""Checks the server over HTTP with the official Python MCP client.

Usage: streamable_http.py PROGRAM
"""

import sys

# Keeps `__pycache__` out of the repository.
sys.dont_write_bytecode = True

import asyncio
import signal
import tempfile

import checks

OPTIONS = ["serve", "--transport", "http", "--listen", "127.0.0.1:0", "--io-dir", "files"]


async def read_url(server):
    """Returns the URL that the server prints at startup, because the server chooses its port."""
    async for line in server.stderr:
        if line.startswith(b"serving MCP on "):
            return line.decode().split()[-1]
    raise AssertionError("the server ended before it was ready")


async def forward_lines(lines):
    """Prints the remaining output of the server. If nothing read it, the pipe would fill up and block the server."""
    async for line in lines:
        print("server:", line.decode().rstrip(), file=sys.stderr)


async def check(program, directory, revision):
    # The working directory is temporary too, so that the server finds no toolscript.toml.
    server = await asyncio.create_subprocess_exec(program, *OPTIONS, cwd=directory, stderr=asyncio.subprocess.PIPE)
    try:
        url = await asyncio.wait_for(read_url(server), checks.CHECK_TIMEOUT)
        forwarding = asyncio.create_task(forward_lines(server.stderr))
        await checks.check(url, revision)
        server.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(server.wait(), checks.CHECK_TIMEOUT) == 0, server.returncode
        await forwarding
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()


async def main(program):
    for revision in checks.REVISIONS:
        with tempfile.TemporaryDirectory() as directory:
            await check(program, directory, revision)
        print(f"Python client over HTTP, revision {revision}: all checks passed")


asyncio.run(main(sys.argv[1]))
