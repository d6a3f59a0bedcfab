"""Checks the server over HTTP with the official Python client.

Usage: streamable_http.py PROGRAM
"""

import sys

# Keeps bytecode files out of this directory.
sys.dont_write_bytecode = True

import asyncio
import signal
import tempfile

import checks

OPTIONS = ["serve", "--transport", "http", "--listen", "127.0.0.1:0", "--io-dir", "files"]


async def wait_for_url(server):
    """Returns the URL that the server prints when it listens."""
    async for line in server.stderr:
        if line.startswith(b"serving MCP on "):
            return line.decode().split()[-1]
    raise AssertionError("the server exited before it listened")


async def forward(lines):
    """Forwards the log of the server. Unread, it would fill the pipe and block the server."""
    async for line in lines:
        print("server:", line.decode().rstrip(), file=sys.stderr)


async def check(program, directory, revision):
    # An empty working directory, so that no toolscript.toml is read.
    server = await asyncio.create_subprocess_exec(program, *OPTIONS, cwd=directory, stderr=asyncio.subprocess.PIPE)
    try:
        url = await asyncio.wait_for(wait_for_url(server), checks.TIMEOUT)
        log = asyncio.create_task(forward(server.stderr))
        await checks.check(url, revision)
        server.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(server.wait(), checks.TIMEOUT) == 0, server.returncode
        await log
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()


async def main(program):
    for revision in checks.REVISIONS:
        with tempfile.TemporaryDirectory() as directory:
            await check(program, directory, revision)
        print(f"Python client over HTTP, revision {revision}: passed")


asyncio.run(main(sys.argv[1]))
