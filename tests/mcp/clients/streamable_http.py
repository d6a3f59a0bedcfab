"""The server over HTTP through the protocol's own Python client.

Usage: streamable_http.py PROGRAM
"""

import sys

# Nothing is to be written into this folder.
sys.dont_write_bytecode = True

import asyncio
import signal
import tempfile

import checks

OPTIONS = ["serve", "--transport", "http", "--listen", "127.0.0.1:0", "--io-dir"]


async def address_of(server):
    """The server chooses its port, and says which in its first lines."""
    async for line in server.stderr:
        if line.startswith(b"serving MCP on "):
            return line.decode().split()[-1]
    raise AssertionError("the server ended before it served")


async def pass_on(lines):
    """What the server says later; unread, it would fill the pipe and stop the server."""
    async for line in lines:
        print("server:", line.decode().rstrip(), file=sys.stderr)


async def check(program, folder, revision):
    # The working directory too, or a toolscript.toml that happens to lie there would count.
    server = await asyncio.create_subprocess_exec(program, *OPTIONS, folder, cwd=folder, stderr=asyncio.subprocess.PIPE)
    try:
        address = await asyncio.wait_for(address_of(server), checks.PATIENCE)
        later = asyncio.create_task(pass_on(server.stderr))
        await checks.check(address, revision)
        server.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(server.wait(), checks.PATIENCE) == 0, server.returncode
        await later
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()


async def main(program):
    for revision in checks.REVISIONS:
        with tempfile.TemporaryDirectory() as folder:
            await check(program, folder, revision)
        print(f"the Python client is content over HTTP, by {revision}")


asyncio.run(main(sys.argv[1]))
