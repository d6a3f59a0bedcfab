"""Runs on asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading

import pytest

from toolscript import Sandbox, ScriptError


def test_runs_do_not_block_the_loop() -> None:
    """The script ends only after another task of the loop has run."""
    box, ready = Sandbox(), asyncio.Event()

    @box.function
    async def wait() -> str:
        await ready.wait()
        return "done"

    async def main() -> None:
        task = asyncio.create_task(box.arun("return sdk.wait()"))
        await asyncio.sleep(0)
        ready.set()
        assert (await task).result == "done"

    asyncio.run(main())


def test_async_functions_run_on_the_loop_and_others_in_a_thread() -> None:
    box, threads = Sandbox(), []
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    @box.function
    async def on_loop() -> str:
        threads.append(threading.current_thread() is threading.main_thread())
        return name.get()

    @box.function
    def in_thread() -> str:
        threads.append(threading.current_thread() is threading.main_thread())
        return name.get()

    async def main() -> None:
        name.set("context")
        run = await box.arun("return sdk.on_loop(), sdk.in_thread()")
        assert run.result == ["context", "context"]

    asyncio.run(main())
    assert threads == [True, False]


def test_events_are_delivered_on_the_loop_before_the_result() -> None:
    events: list[object] = []

    async def main() -> None:
        script = "for i = 1, 3 do print(i) end progress(1) return 'end'"
        run = await Sandbox().arun(script, on_print=events.append, on_progress=lambda *report: events.append(report))
        events.append(run.result)

    asyncio.run(main())
    assert events == ["1", "2", "3", (1.0, None, None), "end"]


def test_an_exception_in_a_callback_is_raised() -> None:
    def fail(line: str) -> None:
        raise LookupError(line)

    async def main() -> None:
        for script in ("print('x') while true do end", "print('x')"):
            with pytest.raises(LookupError, match="x"):
                await Sandbox().arun(script, on_print=fail)

    asyncio.run(main())


def test_cancelling_the_task_stops_the_script_and_its_functions() -> None:
    box, state = Sandbox(), []
    started = asyncio.Event()

    @box.function
    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            state.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(box.arun("sdk.forever()"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        busy = asyncio.Event()
        task = asyncio.create_task(box.arun("print(1) while true do end", on_print=lambda _: busy.set()))
        await busy.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert state == ["cancelled"]


def test_errors_have_causes() -> None:
    box = Sandbox()

    @box.function
    async def fail() -> None:
        raise KeyError("missing")

    async def main() -> None:
        with pytest.raises(ScriptError) as raised:
            await box.arun("sdk.fail()")
        assert raised.value.message == "script:1: fail: KeyError: 'missing'"
        assert isinstance(raised.value.__cause__, KeyError)

    asyncio.run(main())


def test_many_runs_at_once() -> None:
    box = Sandbox(functions={"double": lambda number: number * 2})

    async def main() -> None:
        runs = await asyncio.gather(*(box.arun("return sdk.double(tonumber(...))", arguments=[str(number)]) for number in range(100)))
        assert [run.result for run in runs] == [number * 2 for number in range(100)]

    asyncio.run(main())


def test_the_interpreter_exits_while_a_thread_calls_the_event_loop() -> None:
    program = """
import asyncio, time
from toolscript import Sandbox

class SlowLoop(asyncio.SelectorEventLoop):
    def call_soon_threadsafe(self, *arguments, **options):
        handle = super().call_soon_threadsafe(*arguments, **options)
        # The GIL is released here, and the main thread exits.
        time.sleep(0.1)
        return handle

class SlowExit:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

loop, slow_exit = SlowLoop(), SlowExit()
print(loop.run_until_complete(Sandbox().arun("return 42")).result)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("42\n", "", 0)


def test_no_operation_starts_after_the_last_handler_of_the_exit() -> None:
    program = """
import asyncio, atexit

def late():
    try:
        asyncio.run(box.arun("return 1"))
    except RuntimeError as error:
        print(error)

atexit.register(late)
from toolscript import Sandbox
box = Sandbox()
print(asyncio.run(box.arun("return 42")).result)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("42\nthe interpreter is exiting\n", "", 0)
