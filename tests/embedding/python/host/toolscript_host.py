"""A Python host for the toolscript component. It runs Luau scripts inside WebAssembly.

    sandbox = Sandbox("toolscript.wasm")
    sandbox.run("return 1 + 1")     # {"result": 2, "logs": [], "files_touched": []}
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime.component import Component, Linker, Record

import fast_byte_lists
import outcome
from file_session import FileSession
from functions import MAX_RESULT, CallLimitReached, Function, Functions
from host_imports import MAX_SLEEP, HostImports, OutOfFuel, SleptTooLong, record

fast_byte_lists.install()
logger = logging.getLogger(__name__)

# About one unit per instruction, which is about ten seconds of a busy script. Nothing else ends a run.
DEFAULT_FUEL = 100_000_000_000
# Applies separately to each of the two memories of the guest: its own, and the heap of its exceptions.
DEFAULT_MEMORY = 64 << 20
MIN_MEMORY = 4 << 20
MAX_MEMORY = 4 << 30
DEFAULT_BYTES = 50 << 20
DEFAULT_FILES = 10_000
DEFAULT_CALLS = 1000
MAX_SCRIPT = 1 << 20
MAX_ARGUMENTS = 1 << 20
# Bytes that each argument counts in addition to its text, so that empty arguments are bounded too.
ARGUMENT_OVERHEAD = 16
MAX_ENVIRONMENT = 256 << 10
# The same for each environment value.
VARIABLE_OVERHEAD = 64

# A script must reach Luau's own depth limits before the end of this stack, because only those raise an error that it can catch. The
# WebAssembly stack is part of the stack of the thread that calls `run`, so the thread needs a larger one.
WASM_STACK = 2 << 20


class Sandbox:
    """The compiled component. Several threads can use it at once."""

    def __init__(self, component: str | os.PathLike[str]) -> None:
        self._engine = new_engine()
        self._component = Component.from_file(self._engine, component)

    def run(
        self,
        script: str | bytes,
        arguments: Sequence[str] = (),
        io_dir: str | os.PathLike[str] | None = None,
        functions: Mapping[str, Function] | None = None,
        *,
        fuel: int = DEFAULT_FUEL,
        memory: int = DEFAULT_MEMORY,
        max_bytes: int = DEFAULT_BYTES,
        max_files: int = DEFAULT_FILES,
        max_calls: int = DEFAULT_CALLS,
        errors: str = "raise",
        protect_names: bool = True,
        environment: Mapping[str, str] | None = None,
        seed: int | None = None,
    ) -> dict[str, Any]:
        """Runs a script in a fresh instance and returns the outcome that `toolscript run --json` prints.

        Without `io_dir`, scripts have no `io`. Without `functions`, they have no `sdk`. Without `environment`, they have no `env`.
        `errors` is `raise` or `return` and decides how scripts see errors of the operating system. With `protect_names`, scripts cannot write files that other programs execute or
        trust, such as `.git`. Raises `ValueError` for an invalid option and `OSError` if the io directory cannot
        be opened; the script does not run in either case.
        """
        source = script.encode() if isinstance(script, str) else bytes(script)
        check_options(source, arguments, environment, fuel, memory, errors)
        request = record(
            script=source,
            arguments=list(arguments),
            environment=None if environment is None else [record(name=name, value=environment[name]) for name in sorted(environment)],
            io=None if io_dir is None else errors,
            tools=MAX_RESULT if functions else None,
            seed=secrets.randbits(64) if seed is None else seed,
            memory=memory,
        )
        run_functions = Functions(functions or {}, max_calls)
        session = None if io_dir is None else FileSession(io_dir, max_bytes, max_files, protect_names)
        store = Store(self._engine)
        store.set_fuel(fuel)
        store.set_limits(memory_size=memory)
        imports = HostImports(store, session, run_functions)
        try:
            ending, truncated = self._call(imports, request, fuel)
        finally:
            touched = session.finish() if session else []
            store.close()
        if imports.log.truncated:
            truncated.insert(0, "logs")
        replaced = ending.pop("replaced", None)
        whole = {**ending, "logs": imports.log.lines, "files_touched": touched}
        optional = {"truncated": truncated, "replaced": replaced}
        return {**whole, **{key: value for key, value in optional.items() if value}}

    def _call(self, imports: HostImports, request: Record, fuel: int) -> tuple[dict[str, Any], list[str]]:
        # Each run needs its own linker, because the package does not pass the run to its callbacks.
        with Linker(self._engine) as linker:
            imports.add_to(linker)
            try:
                instance = linker.instantiate(imports.store, self._component)
                function = instance.get_func(imports.store, "run")
                if function is None:
                    raise outcome.InvalidResult("the component has no export 'run'")
                answer = function(imports.store, request)
                # Both cases are records, so the package returns the case with the record.
                if answer.tag == "ok":
                    return outcome.result(answer.payload.json, answer.payload.replaced), []
                failed = answer.payload
                error, truncated = outcome.failure(failed.kind, failed.message, failed.traceback)
                return {"error": error}, truncated
            except Exception as error:
                cause = imports.stopped_by or error
                if not isinstance(cause, Exception):
                    raise cause from None
                return {"error": trap_error(cause, fuel)}, []


def new_engine() -> Engine:
    """Returns an engine with the settings that both variants of the guest need."""
    config = Config()
    config.consume_fuel = True
    config.max_wasm_stack = WASM_STACK
    # Luau raises errors as WebAssembly exceptions. They also need `gc_support`, which is on by default.
    config.wasm_exceptions = True
    return Engine(config)


def check_options(
    script: bytes, arguments: Sequence[str], environment: Mapping[str, str] | None, fuel: int, memory: int, errors: str
) -> None:
    """Raises `ValueError` if an option is out of range."""
    if len(script) > MAX_SCRIPT:
        raise ValueError(f"the script is {len(script)} bytes; at most {MAX_SCRIPT} are allowed")
    size = sum(len(argument.encode()) + ARGUMENT_OVERHEAD for argument in arguments)
    if size > MAX_ARGUMENTS:
        raise ValueError(f"the arguments are {size} bytes; at most {MAX_ARGUMENTS} are allowed")
    size = sum(len(name.encode()) + len(value.encode()) + VARIABLE_OVERHEAD for name, value in (environment or {}).items())
    if size > MAX_ENVIRONMENT:
        raise ValueError(f"the environment values are {size} bytes; at most {MAX_ENVIRONMENT} are allowed")
    if fuel <= 0:
        raise ValueError("fuel must be greater than 0")
    if not MIN_MEMORY <= memory <= MAX_MEMORY:
        raise ValueError("memory must be between 4 MiB and 4096 MiB")
    if errors not in ("raise", "return"):
        raise ValueError("errors must be 'raise' or 'return'")


def trap_error(error: Exception, fuel: int) -> dict[str, Any]:
    """Returns the error of a run that the host ended. The package has no codes for component traps, so the text is matched."""
    text = str(error) if isinstance(error, WasmtimeError) else ""
    if isinstance(error, OutOfFuel) or "all fuel consumed by WebAssembly" in text:
        return {"kind": "fuel", "message": f"the script used up its fuel ({fuel})"}
    if isinstance(error, SleptTooLong):
        return {"kind": "timeout", "message": f"the script waited longer than {MAX_SLEEP:g} s"}
    if isinstance(error, CallLimitReached):
        return {"kind": "calls", "message": str(error)}
    if "call stack exhausted" in text:
        return {"kind": "runtime", "message": "stack overflow"}
    if "fuel allocated for hostcalls has been exhausted" in text:
        # wasmtime uses about fifty bytes per byte of a list, and the package cannot raise the limit on them.
        message = "the script passed too many bytes in one call: write less than 2 MiB at a time"
        return {"kind": "runtime", "message": message}
    logger.error("the sandbox failed", exc_info=error)
    return {"kind": "internal", "message": outcome.INTERNAL}
