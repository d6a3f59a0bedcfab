"""What all clients over HTTP are checked for: list, call, fail, progress, cancel, and a connection that is cut.

A client is an object with `list_tools()`, which returns names, and `call(tool, arguments, on_progress)`, which returns a `Result`.
"""

import sys

# Keeps `__pycache__` out of the repository.
sys.dont_write_bytecode = True

import asyncio
import contextlib
import dataclasses
import json
import pathlib
import tempfile
import urllib.request

OPTIONS = ["serve", "--transport", "http", "--listen", "127.0.0.1:0", "--io-dir", "files", "--timeout", "25"]

# Seconds for one check. Shorter than the timeout of a script, so that a check cannot pass only because a script timed out.
CHECK_TIMEOUT = 20

WAITING_SCRIPT = """
io.open("started", "w"):close()
repeat until io.exists("go")
progress(1, 2, "half")
return { answer = 42 }
"""

PROGRESS_SCRIPT = """
io.open("started", "w"):close()
repeat until io.exists("go")
progress(1, 2, "half")
repeat until io.exists("stop")
"""

ENDLESS_SCRIPT = """
io.open("started", "w"):close()
repeat until io.exists("stop")
"""


@dataclasses.dataclass
class Result:
    is_error: bool
    # The types of the content blocks, as the client passes them on to a model.
    blocks: list
    text: str
    # What the client shows of the structured content, or `None` if it shows only text.
    structured: dict | None = None

    def value(self):
        return (self.structured or json.loads(self.text))["result"]


class Server:
    """The program as an HTTP server, behind a proxy that can cut all connections."""

    def __init__(self, process, directory, address):
        self.process = process
        self.files = pathlib.Path(directory) / "files"
        self.address = address
        self.connections = set()
        # The requests that resume a stream, and the responses that are streams.
        self.resumes = 0
        self.streams = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/mcp"

    def cut(self):
        assert self.connections, "there is a connection to cut"
        for writer in list(self.connections):
            writer.transport.abort()

    async def serve(self, reader, writer):
        upstream_reader, upstream_writer = await asyncio.open_connection(*self.address)
        self.connections |= {writer, upstream_writer}

        async def copy(source, target, is_request):
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                while data := await source.read(65536):
                    if is_request and b"last-event-id" in data.lower():
                        self.resumes += 1
                    if not is_request and b"text/event-stream" in data:
                        self.streams += 1
                    target.write(data)
                    await target.drain()
            target.close()

        await asyncio.gather(copy(reader, upstream_writer, True), copy(upstream_reader, writer, False))
        self.connections -= {writer, upstream_writer}

    async def wait_for(self, condition):
        async with asyncio.timeout(CHECK_TIMEOUT):
            while not await asyncio.to_thread(condition):
                await asyncio.sleep(0.02)

    async def wait_for_start(self):
        await self.wait_for((self.files / "started").exists)
        (self.files / "started").unlink()

    def running(self):
        metrics = urllib.request.urlopen(f"http://{self.address[0]}:{self.address[1]}/metrics").read().decode()
        return "toolscript_runs_running 0\n" not in metrics


@contextlib.asynccontextmanager
async def start(program):
    with tempfile.TemporaryDirectory() as directory:
        # The working directory is temporary too, so that the server finds no toolscript.toml.
        process = await asyncio.create_subprocess_exec(program, *OPTIONS, cwd=directory, stderr=asyncio.subprocess.PIPE)
        try:
            line = (await asyncio.wait_for(process.stderr.readline(), CHECK_TIMEOUT)).decode()
            host, port = line.split("http://")[1].split("/")[0].split(":")
            server = Server(process, directory, (host, int(port)))
            proxy = await asyncio.start_server(server.serve, "127.0.0.1", 0)
            server.port = proxy.sockets[0].getsockname()[1]
            yield server
            proxy.close()
        finally:
            process.kill()
            await process.wait()


async def check(name, program, connect, *, resumes, cancels=True, has_progress=True):
    """Runs all checks. `connect` returns a context manager for a client.

    A client that `resumes` gets the result of a run whose connection was cut. In the newest revision, a lost connection cancels the
    request: the call must fail at once. Libraries for it also close the client. A client that does not `cancel` requests only stops to wait
    for them.
    """
    async with start(program) as server:
        async with connect(server.url) as client:
            for part in (check_list, check_call, check_failure, check_progress, check_cancellation):
                if part is not check_progress or has_progress:
                    await asyncio.wait_for(part(client, server, cancels), CHECK_TIMEOUT)
            if resumes:
                await asyncio.wait_for(check_resumption(client, server), CHECK_TIMEOUT)
        if not resumes:
            await asyncio.wait_for(check_lost_call(connect, server), CHECK_TIMEOUT)
    print(f"{name}: all checks passed")


async def check_list(client, server, cancels):
    names = ["execute_script", "read_file", "write_file", "edit_file", "list_files", "glob_files", "grep_files"]
    assert await client.list_tools() == names


async def check_call(client, server, cancels):
    result = await execute(client, "io.open('a.txt', 'w'):write('text'):close() return { answer = 42 }")
    assert not result.is_error and result.value() == {"answer": 42}, result
    # Model APIs reject other blocks, such as links.
    assert set(result.blocks) == {"text"}, result


async def check_failure(client, server, cancels):
    failed = await execute(client, "error('too bad')")
    assert failed.is_error and "script:1: too bad" in failed.text, failed


async def check_progress(client, server, cancels):
    received = asyncio.Queue()
    call = asyncio.create_task(execute(client, PROGRESS_SCRIPT, received.put))
    await server.wait_for_start()
    (server.files / "go").touch()
    assert await received.get() == (1.0, 2.0, "half")
    await cancel(call, server, cancels)
    (server.files / "go").unlink()


async def check_cancellation(client, server, cancels):
    call = asyncio.create_task(execute(client, ENDLESS_SCRIPT))
    await server.wait_for_start()
    await cancel(call, server, cancels)
    assert (await execute(client, "return 1")).value() == 1


async def cancel(call, server, cancels):
    call.cancel()
    await asyncio.wait([call])
    if not cancels:
        (server.files / "stop").touch()
    await server.wait_for(lambda: not server.running())
    (server.files / "stop").unlink(missing_ok=True)


async def check_resumption(client, server):
    resumes_before, streams_before = server.resumes, server.streams
    call = asyncio.create_task(execute(client, WAITING_SCRIPT))
    # Without the start of the response, a client cannot know what to resume.
    await server.wait_for(lambda: server.streams > streams_before)
    await lose_connection(server)
    result = await call
    assert result.value() == {"answer": 42}, result
    assert (await execute(client, "return 1")).value() == 1
    # A client that resumes the streams of cancelled requests for ever would do so every three seconds.
    assert server.resumes - resumes_before <= 4, server.resumes


async def check_lost_call(connect, server):
    call = None
    # A library that closes the client also cancels this block.
    with contextlib.suppress(Exception, BaseExceptionGroup):
        async with connect(server.url) as client:
            call = asyncio.create_task(execute(client, WAITING_SCRIPT))
            await lose_connection(server)
            await asyncio.wait([call])
    assert call.done() and (call.exception() or call.result().is_error), call
    async with connect(server.url) as client:
        assert (await execute(client, "return 1")).value() == 1


async def lose_connection(server):
    """Cuts the connection during a run, and waits for the end of the run."""
    await server.wait_for_start()
    server.cut()
    (server.files / "go").touch()
    await server.wait_for(lambda: not server.running())


def execute(client, script, on_progress=None):
    return client.call("execute_script", {"script": script}, on_progress)
