"""Runs the coroutines of functions, and waits for operations, on asyncio event loops."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import threading
from collections.abc import Callable
from typing import Any, Protocol

from ._toolscript import stop_calls

# A thread of the extension module that calls an event loop while the interpreter exits would crash the process.
atexit.register(stop_calls)


class Reply(Protocol):
    """Receives the result of a call."""

    def resolve(self, value: Any, /) -> None: ...
    def reject(self, error: BaseException, /) -> None: ...


class Job(Protocol):
    """An operation in progress."""

    def cancel(self) -> bool: ...


class Call:
    """A call of a function on an event loop. Its methods can be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, reply: Reply, call: tuple[Any, ...], in_thread: bool) -> None:
        self._loop = loop
        self._reply = reply
        self._call = call
        self._in_thread = in_thread
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """Cancels the call."""
        self._loop.call_soon_threadsafe(self._cancel)

    def start(self) -> None:
        """Starts the call. The loop executes this method, in the context of the caller."""
        if not self._cancelled:
            self._task = self._loop.create_task(self._execute())

    def _cancel(self) -> None:
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    async def _execute(self) -> None:
        try:
            if len(self._call) == 1:
                value = self._call[0]
            else:
                function, arguments, keywords = self._call
                keywords = keywords or {}
                if self._in_thread:
                    value = await asyncio.to_thread(function, *arguments, **keywords)
                else:
                    value = function(*arguments, **keywords)
            if hasattr(type(value), "__await__"):
                value = await value
        except asyncio.CancelledError as error:
            self._reply.reject(error if self._cancelled else RuntimeError("the function was cancelled"))
            raise
        except BaseException as error:
            self._reply.reject(error)
            if not isinstance(error, Exception):
                raise
        else:
            self._reply.resolve(value)
        finally:
            # The task and the exception refer to this object.
            self._call = ()
            self._task = None


class Caller:
    """Starts calls on an event loop, each in a copy of the context in which this object was created."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._context = contextvars.copy_context()

    def start(self, reply: Reply, call: tuple[Any, ...], in_thread: bool) -> Call:
        """Starts a call from any thread."""
        started = Call(self._loop, reply, call, in_thread)
        self._loop.call_soon_threadsafe(started.start, context=self._context)
        return started


_background_loop: asyncio.AbstractEventLoop | None = None
_starting = threading.Lock()


def background_caller() -> Caller:
    """Returns a caller for the event loop of this module, which executes async functions of blocking runs on a thread of its own."""
    global _background_loop
    with _starting:
        if _background_loop is None:
            _background_loop = asyncio.new_event_loop()
            threading.Thread(target=_background_loop.run_forever, name="toolscript-asyncio", daemon=True).start()
        return Caller(_background_loop)


class Completion:
    """Waits for an operation on the running event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self.loop.create_future()

    def done(self, value: Any, error: BaseException | None) -> None:
        """Ends the wait. The loop calls this method."""
        if self._future.done():
            return
        if error is None:
            self._future.set_result(value)
        else:
            self._future.set_exception(error)

    async def wait(self, job: Job) -> Any:
        """Waits. If the waiting task is cancelled, the operation is stopped first."""
        try:
            return await asyncio.shield(self._future)
        except asyncio.CancelledError:
            if not self._future.done() and job.cancel():
                await asyncio.wait([self._future])
            if self._future.done() and not self._future.cancelled():
                # Marks the exception as retrieved.
                self._future.exception()
            raise


class Listener:
    """Calls ``on_print`` and ``on_progress`` on an event loop. The first exception of theirs stops the run, and is kept in ``error``."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_print: Callable[[str], object] | None,
        on_progress: Callable[[float, float | None, str | None], object] | None,
    ) -> None:
        self.job: Job | None = None
        self.error: BaseException | None = None
        self._loop = loop
        self._print = on_print
        self._show = on_progress
        self._progress: tuple[float, float | None, str | None] | None = None
        self._context = contextvars.copy_context()

    @property
    def on_print(self) -> Callable[[str], None] | None:
        """The function for the thread that runs the script."""
        return None if self._print is None else self._line

    @property
    def on_progress(self) -> Callable[[float, float | None, str | None], None] | None:
        """The function for the thread that runs the script."""
        return None if self._show is None else self._report

    def _line(self, line: str) -> None:
        """Receives a line on the thread that runs the script."""
        self._loop.call_soon_threadsafe(self._call, self._print, (line,), context=self._context)

    def _report(self, done: float, total: float | None, message: str | None) -> None:
        """Receives progress on the thread that runs the script. A report that the loop has not shown yet is replaced."""
        is_waiting = self._progress is not None
        self._progress = (done, total, message)
        if not is_waiting:
            self._loop.call_soon_threadsafe(self._show_progress, context=self._context)

    def _show_progress(self) -> None:
        progress, self._progress = self._progress, None
        if progress is not None:
            self._call(self._show, progress)

    def _call(self, callback: Callable[..., object] | None, arguments: tuple[Any, ...]) -> None:
        if callback is None or self.error is not None:
            return
        try:
            callback(*arguments)
        except BaseException as error:
            self.error = error
            if self.job is not None:
                self.job.cancel()
            if not isinstance(error, Exception):
                raise
