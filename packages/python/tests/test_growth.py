"""Many runs must not use up memory, descriptors or threads."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path

from toolscript import Sandbox

RUNS = 10_000

MAX_GROWTH = 8 << 20
"""The resident memory that may be added after the warm-up, in bytes. One leaked result of the test would add ten times as much."""


MAX_THREADS = 2
"""The threads that may be added. File operations use a pool whose threads end after ten idle seconds, and one run at a time needs two."""


def resources() -> tuple[int, int, int]:
    """Returns the resident memory in bytes, the number of descriptors and the number of threads."""
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) << 10, len(os.listdir("/proc/self/fd")), int(status["Threads"])


def test_many_runs_without_growth(tmp_path: Path) -> None:
    box = Sandbox(tmp_path)

    @box.function
    def echo(value: object) -> object:
        if value == "fail":
            raise ValueError(value)
        return value

    script = "pcall(sdk.echo, 'fail') io.open('a.txt', 'w'):write('x'):close() return sdk.echo({ text = string.rep('x', 10000) })"

    def runs(count: int) -> None:
        for _ in range(count):
            assert len(box.run(script).result["text"]) == 10_000

    runs(500)
    before = resources()
    runs(RUNS)
    memory, descriptors, threads = resources()
    assert memory - before[0] < MAX_GROWTH
    assert descriptors == before[1]
    assert threads <= before[2] + MAX_THREADS


def test_many_async_runs_without_growth() -> None:
    box = Sandbox()

    @box.function
    async def echo(value: object) -> object:
        return value

    async def runs(count: int) -> None:
        for _ in range(count):
            assert len((await box.arun("return sdk.echo({ text = string.rep('x', 10000) })")).result["text"]) == 10_000

    async def measure() -> None:
        await runs(500)
        before = resources()
        await runs(RUNS)
        memory, descriptors, threads = resources()
        assert memory - before[0] < MAX_GROWTH
        assert descriptors == before[1]
        assert threads <= before[2] + MAX_THREADS

    asyncio.run(measure())
