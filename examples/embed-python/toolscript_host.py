"""A host in Python for the toolscript component: runs Luau scripts inside WebAssembly.

    box = Box("toolscript.wasm")
    box.run("return 1 + 1")     # {"result": 2, "logs": [], "files_touched": []}
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime.component import Component, Linker, LinkerInstance, Record, ResourceAny, ResourceHost, ResourceType, Variant

import outcome
import quick_bytes
from files import Session
from functions import MAX_ANSWER, Function, Functions
from paths import FileError, invalid

quick_bytes.install()
logger = logging.getLogger(__name__)

# About an instruction each: ten seconds of a busy script or so. There is no other end to a run.
DEFAULT_FUEL = 100_000_000_000
# For each of the guest's two memories: its own, and the heap of its exceptions.
DEFAULT_MEMORY = 64 << 20
MIN_MEMORY = 4 << 20
MAX_MEMORY = 4 << 30
DEFAULT_BYTES = 50 << 20
DEFAULT_FILES = 10_000
DEFAULT_CALLS = 100
MAX_SCRIPT = 1 << 20
MAX_ARGUMENTS = 1 << 20

# What a call to the host costs, and each byte or name that it moves: about what the script could have computed in that time.
# Without it, a script that only calls the host would hardly use fuel.
CALL_FUEL = 500_000
BYTE_FUEL = 1_000
NAME_FUEL = 50_000

# Luau's own limits on depth must be reached before the end of this stack, so that a script sees an error that it can catch. It is
# part of the stack of the thread that calls `run`, which must be larger.
WASM_STACK = 2 << 20

# The package wants a number for each type of resource. There is one.
FILE_TYPE = 1


class OutOfFuel(Exception):
    """A call to the host costs more fuel than there is."""


class Box:
    """The component, compiled once. It can be used by several threads."""

    def __init__(self, component: str | os.PathLike[str]) -> None:
        self._engine = new_engine()
        self._component = Component.from_file(self._engine, component)

    def run(
        self,
        script: str | bytes,
        arguments: Sequence[str] = (),
        folder: str | os.PathLike[str] | None = None,
        functions: Mapping[str, Function] | None = None,
        *,
        fuel: int = DEFAULT_FUEL,
        memory: int = DEFAULT_MEMORY,
        max_bytes: int = DEFAULT_BYTES,
        max_files: int = DEFAULT_FILES,
        max_calls: int = DEFAULT_CALLS,
        errors: str = "raise",
        seed: int | None = None,
    ) -> dict[str, Any]:
        """Runs a script in a fresh instance; the outcome is what `toolscript run --json` prints.

        Without a folder scripts have no `io`, without functions no `sdk`. `errors` is `raise` or `return`: what scripts see of
        refusals of the operating system. A `ValueError`, or an `OSError` about the folder, says that the run was not made.
        """
        source = script.encode() if isinstance(script, str) else bytes(script)
        check(source, arguments, fuel, memory, errors)
        request = record(
            script=source,
            arguments=list(arguments),
            io=None if folder is None else errors,
            tools=MAX_ANSWER if functions else None,
            seed=secrets.randbits(64) if seed is None else seed,
            memory=memory,
        )
        toolbox = Functions(functions or {}, max_calls)
        session = None if folder is None else Session(folder, max_bytes, max_files)
        store = Store(self._engine)
        store.set_fuel(fuel)
        store.set_limits(memory_size=memory)
        run = Run(store, session, toolbox)
        try:
            ending, truncated = self._call(run, request, fuel)
        finally:
            touched = session.finish() if session else []
            store.close()
        if run.log.cut:
            truncated.insert(0, "logs")
        whole = {**ending, "logs": run.log.lines, "files_touched": touched}
        return {**whole, "truncated": truncated} if truncated else whole

    def _call(self, run: Run, request: Record, fuel: int) -> tuple[dict[str, Any], list[str]]:
        # A linker for each run: the package gives its functions no other way to know for which run they are called.
        with Linker(self._engine) as linker:
            run.add_to(linker)
            try:
                instance = linker.instantiate(run.store, self._component)
                function = instance.get_func(run.store, "run")
                if function is None:
                    raise outcome.InvalidResult("there is no export 'run'")
                answer = function(run.store, request)
                if isinstance(answer, str):
                    return outcome.result(answer), []
                error, truncated = outcome.failure(answer.kind, answer.message, answer.traceback)
                return {"error": error}, truncated
            except Exception as error:
                cause = run.stopped_by or error
                if not isinstance(cause, Exception):
                    raise cause from None
                return {"error": explain(cause, fuel)}, []


class Run:
    """What the guest reaches of the host during one run: the imports of the contract."""

    def __init__(self, store: Store, session: Session | None, functions: Functions) -> None:
        self.store = store
        self.log = outcome.LogBook()
        self.stopped_by: BaseException | None = None
        self._session = session
        # The guest need not know how long the machine is up.
        self._started = time.monotonic_ns()
        self._functions = functions

    def add_to(self, linker: Linker) -> None:
        with linker.root() as root:
            self._add(root, "wasi:clocks/monotonic-clock@0.2.0", {"now": lambda store: time.monotonic_ns() - self._started})
            self._add(root, "wasi:clocks/wall-clock@0.2.0", {"now": lambda store: wall_now()})
            self._add(root, "toolscript:sandbox/log@0.1.0", {"line": self._line, "progress": self._progress})
            tools = {
                "names": self._names,
                "call": self._call_functions,
                "search": lambda store, query: self._functions.search(query),
                "docs": self._docs,
            }
            self._add(root, "toolscript:sandbox/tools@0.1.0", tools)
            files = {
                "[method]file.read": self._read,
                "[method]file.remaining": lambda store, file: self._files().remaining(number(store, file)),
                "[method]file.write": self._write,
                "[method]file.seek": self._seek,
                "open": self._open,
                "list": self._list,
                "remove": lambda store, path: self._files().remove(path),
            }
            self._add(root, "toolscript:sandbox/io@0.1.0", files, has_files=True)

    def _add(self, root: LinkerInstance, name: str, functions: dict[str, Callable[..., Any]], has_files: bool = False) -> None:
        with root.add_instance(name) as instance:
            if has_files:
                close = self._guard(lambda store, handle: self._files().close(handle))
                instance.add_resource("file", ResourceType.host(FILE_TYPE), close)
            for function_name, function in functions.items():
                instance.add_func(function_name, self._guard(function))

    def _guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Counts the call, turns a failure of files into the contract's, and keeps any other one: it ends the run."""

        def call(store: Any, *arguments: Any) -> Any:
            try:
                self._charge(CALL_FUEL + BYTE_FUEL * size_of(arguments))
                answer = function(store, *arguments)
                self._charge(BYTE_FUEL * size_of((answer,)))
                return answer
            except FileError as error:
                return file_error(error)
            except BaseException as error:
                # The package loses an interrupt from the keyboard, and has one place for the exceptions of all threads.
                self.stopped_by = error
                raise WasmtimeError("a call to the host ended the run") from None

        return call

    def _charge(self, cost: int) -> None:
        left = self.store.get_fuel() - cost
        self.store.set_fuel(max(0, left))
        if left < 0:
            raise OutOfFuel

    def _files(self) -> Session:
        if self._session is None:
            # A guest that breaks the contract: its scripts have no `io`.
            raise invalid("there are no files")
        return self._session

    def _open(self, store: Any, path: bytes, mode: str) -> Record:
        session = self._files()
        return record(file=ResourceHost.own(session.open(path, mode), FILE_TYPE), allowance=session.allowance())

    def _read(self, store: Any, file: ResourceAny, most: int) -> bytes:
        return self._files().read(number(store, file), most)

    def _write(self, store: Any, file: ResourceAny, data: bytes, waiting: bool) -> int:
        return self._files().write(number(store, file), data, waiting)

    def _seek(self, store: Any, file: ResourceAny, whence: str, offset: int) -> Record:
        session = self._files()
        return record(offset=session.seek(number(store, file), whence, offset), allowance=session.allowance())

    def _list(self, store: Any, path: bytes) -> list[str]:
        names = self._files().list(path)
        self._charge(NAME_FUEL * len(names))
        return names

    def _line(self, store: Any, text: bytes) -> None:
        self.log.line(text)

    def _progress(self, store: Any, done: float, total: float | None, message: bytes | None) -> None:
        """Nobody listens."""

    def _names(self, store: Any) -> list[str]:
        return self._functions.names()

    def _docs(self, store: Any, name: str) -> Variant:
        # Both are texts, so that the package wants to be told which it is.
        try:
            return Variant("ok", self._functions.docs(name))
        except LookupError as error:
            return Variant("err", str(error.args[0]))

    def _call_functions(self, store: Any, calls: list[Record]) -> str | list[Record | str]:
        answers = self._functions.call([(call.name, call.arguments) for call in calls])
        if isinstance(answers, str):
            return answers
        return [str(answer) if isinstance(answer, Exception) else record(body=answer, details=None) for answer in answers]


def new_engine() -> Engine:
    """The settings that the guest needs, in both of its flavours."""
    config = Config()
    config.consume_fuel = True
    config.max_wasm_stack = WASM_STACK
    # Luau's errors are exceptions of WebAssembly: the one proposal that the guest needs. The collector that keeps them is on unless
    # somebody turns `gc_support` off.
    config.wasm_exceptions = True
    return Engine(config)


def check(script: bytes, arguments: Sequence[str], fuel: int, memory: int, errors: str) -> None:
    """Whether a run can be made at all."""
    if len(script) > MAX_SCRIPT:
        raise ValueError(f"the script is {len(script)} bytes; at most {MAX_SCRIPT} are allowed")
    size = sum(len(argument.encode()) + 16 for argument in arguments)
    if size > MAX_ARGUMENTS:
        raise ValueError(f"the arguments are {size} bytes; at most {MAX_ARGUMENTS} are allowed")
    if fuel <= 0:
        raise ValueError("fuel must be more than 0")
    if not MIN_MEMORY <= memory <= MAX_MEMORY:
        raise ValueError("memory must be between 4 MiB and 4096 MiB")
    if errors not in ("raise", "return"):
        raise ValueError("errors must be 'raise' or 'return'")


def explain(error: Exception, fuel: int) -> dict[str, Any]:
    """Why a run ended from outside. The package has no code for a trap of a component, only its text."""
    text = str(error) if isinstance(error, WasmtimeError) else ""
    if isinstance(error, OutOfFuel) or "all fuel consumed by WebAssembly" in text:
        return {"kind": "fuel", "message": f"the script used up its fuel ({fuel})"}
    if "call stack exhausted" in text:
        return {"kind": "runtime", "message": "stack overflow"}
    if "fuel allocated for hostcalls has been exhausted" in text:
        # wasmtime makes a value of some fifty bytes of each byte of a list, and has a limit on them that the package can't set.
        message = "the script passed more bytes than the host takes at once: write less than 2 MiB a time"
        return {"kind": "runtime", "message": message}
    logger.error("the sandbox failed", exc_info=error)
    return {"kind": "internal", "message": outcome.INTERNAL}


def size_of(values: Sequence[Any]) -> int:
    """Bytes that cross the border in lists, which is what takes time."""
    return sum(len(value) for value in values if isinstance(value, bytes))


def record(**fields: Any) -> Record:
    made = Record()
    made.__dict__.update(fields)
    return made


def file_error(error: FileError) -> Variant:
    payload = record(message=error.message, number=error.number) if error.kind == "refused" else error.message
    return Variant(error.kind, payload)


def number(store: Any, file: ResourceAny) -> int:
    """The number of the handle that the guest holds."""
    return file.to_host(store).rep


def wall_now() -> Record:
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return record(seconds=seconds, nanoseconds=nanoseconds)
