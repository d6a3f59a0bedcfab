"""A host for the toolscript component: functions and limits, no files. Run it with the path of the component."""

import json
import secrets
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime.component import Component, Linker, Record, Variant

FUEL = 2_000_000_000  # about one unit per instruction
MEMORY = 64 << 20
SECONDS = 2.0
MAX_LOGS = 1 << 20
MAX_RESULT = 1 << 20
MAX_RESPONSE = 1 << 20
MAX_ERROR = 8 << 10
MAX_CALLS = 1000

# The texts of traps, because the package has no codes for them, and the kinds of errors that they become.
TRAPS = {"all fuel consumed": "fuel", "wasm trap: interrupt": "timeout", "too many calls": "calls"}

Functions = dict[str, Callable[..., Any]]


def record(**fields: Any) -> Record:
    made = Record()
    made.__dict__.update(fields)
    return made


def text(data: bytes, limit: int) -> str:
    return data[:limit].decode("utf-8", "replace")


class Imports:
    """The imports of one run. `toolscript wit` prints what each must do."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.start = time.monotonic()
        self.calls = 0
        self.log_bytes = 0
        self.logs: list[str] = []

    def interfaces(self) -> dict[str, dict[str, Callable[..., Any]]]:
        return {
            # Starts at 0, so that a script does not learn the uptime of the machine.
            "wasi:clocks/monotonic-clock@0.2.0": {"now": lambda _: int((time.monotonic() - self.start) * 1e9)},
            "wasi:clocks/wall-clock@0.2.0": {"now": lambda _: record(seconds=int(time.time()), nanoseconds=0)},
            "toolscript:sandbox/log@0.3.0": {"line": self.line, "progress": lambda *_: None},
            "toolscript:sandbox/timer@0.3.0": {"sleep": self.sleep},
            "toolscript:sandbox/tools@0.3.0": {
                "names": lambda _: sorted(self.functions),
                "call": lambda _, calls: [self.call(call, MAX_RESPONSE // len(calls)) for call in calls],
                "search": lambda _, query: "[]",
                "docs": lambda _, name: Variant("err", "there is no documentation"),
            },
        }

    def line(self, _: Any, line: bytes) -> None:
        self.log_bytes += len(line) + 24  # Empty lines use memory, too.
        if self.log_bytes <= MAX_LOGS:
            self.logs.append(text(line, MAX_LOGS))

    def sleep(self, _: Any, nanoseconds: int) -> None:
        left = self.start + SECONDS - time.monotonic()
        time.sleep(max(0.0, min(nanoseconds / 1e9, left)))
        if nanoseconds / 1e9 > left:
            raise WasmtimeError("wasm trap: interrupt")

    def call(self, call: Record, limit: int) -> Variant:
        self.calls += 1
        if self.calls > MAX_CALLS:
            # Ends the run. A script can't catch this error.
            raise WasmtimeError("too many calls")
        try:
            if call.name not in self.functions:
                raise LookupError("there is no such function")
            reply = json.dumps(self.functions[call.name](*map(decode, call.arguments)), allow_nan=False)
            if len(reply) > limit:
                raise ValueError("the response is too large")
            return Variant("ok", record(body=record(json=reply, attachments=[]), details=None))
        except Exception as error:
            message = text(f"{call.name}: {error}".encode(), min(limit, MAX_ERROR))
            return Variant("err", record(name=None, message=message, body=None, details=None))


def decode(argument: Record | bytes) -> Any:
    if isinstance(argument, bytes) or argument.attachments:
        raise ValueError("bytes are not supported")
    return json.loads(argument.json)


def run(engine: Engine, component: Component, script: str, functions: Functions) -> dict[str, Any]:
    """Runs a script in a new instance. Use one engine per thread, because the deadline applies to all runs of an engine."""
    # `io=None` means that scripts have no `io`.
    options = {"arguments": [], "environment": None, "io": None, "tools": MAX_RESPONSE}
    request = record(script=script.encode(), seed=secrets.randbits(64), memory=MEMORY, **options)
    imports = Imports(functions)
    deadline = threading.Timer(SECONDS, engine.increment_epoch)
    with Linker(engine) as linker, Store(engine) as store:
        store.set_fuel(FUEL)
        store.set_limits(memory_size=MEMORY)
        store.set_epoch_deadline(1)
        with linker.root() as root:
            for interface, implementations in imports.interfaces().items():
                with root.add_instance(interface) as instance:
                    for name, implementation in implementations.items():
                        instance.add_func(name, implementation)
        # The functions of `io`. A guest that calls one of them without files ends its run.
        linker.define_unknown_imports_as_traps(component)
        deadline.start()
        try:
            answer = linker.instantiate(store, component).get_func(store, "run")(store, request)
            if answer.tag == "err":
                outcome = {"error": answer.payload.kind, "message": text(answer.payload.message, MAX_ERROR)}
            elif len(answer.payload.json) > MAX_RESULT:
                outcome = {"error": "result", "message": "the result is too large"}
            else:
                outcome = {"result": json.loads(answer.payload.json)}
        except (WasmtimeError, ValueError, RecursionError) as error:
            outcome = {"error": next((kind for trap, kind in TRAPS.items() if trap in str(error)), "internal")}
        finally:
            deadline.cancel()
            deadline.join()
    return {**outcome, "logs": imports.logs}


def price(item: Any) -> float:
    if item != "tea":
        raise ValueError(f"no price for {item}")
    return 3.5


def main(path: str) -> None:
    config = Config()
    config.consume_fuel = config.epoch_interruption = True
    config.wasm_exceptions = True  # Luau raises errors as WebAssembly exceptions.
    config.max_wasm_stack = 2 << 20  # Scripts reach Luau's own depth limits first.
    engine = Engine(config)
    component = Component.from_file(engine, path)  # Compiles for a few seconds.
    for script in (
        "print('asking') return 2 * sdk.price('tea'), io == nil",
        "return sdk.price('gold')",
        "while true do pcall(sdk.price, 'gold') end",
        "print('started') while true do end",
        "sleep(60)",
        "return ('x'):rep(1e9)",
    ):
        print(json.dumps(run(engine, component, script, {"price": price})))


if __name__ == "__main__":
    main(*sys.argv[1:])
