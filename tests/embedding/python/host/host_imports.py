"""The imports of the component's WIT contract (`toolscript wit`): everything in the host that the guest can call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from wasmtime import Store, WasmtimeError
from wasmtime.component import Linker, LinkerInstance, Record, ResourceAny, ResourceHost, ResourceType, Variant

import outcome
from file_session import FileSession
from functions import Failure, Functions, Reply
from json_values import JsonValue
from paths import FileError, invalid_error

# Fuel for a call to the host, and for each byte or name that it transfers: about as much as the script could have computed in the same
# time. Without this, a script that only calls the host would use almost no fuel.
CALL_FUEL = 500_000
BYTE_FUEL = 1_000
NAME_FUEL = 50_000

# The package needs a number for each resource type. The contract has one type.
FILE_TYPE = 1


# Seconds that a run can wait in `sleep`, in total.
MAX_SLEEP = 30.0


class SleptTooLong(Exception):
    """The script waited longer than the run allows."""


class OutOfFuel(Exception):
    """A call to the host costs more fuel than the run has left."""


class HostImports:
    """The imports of one run."""

    def __init__(self, store: Store, session: FileSession | None, functions: Functions) -> None:
        self.store = store
        self.log = outcome.LogBuffer()
        self.stopped_by: BaseException | None = None
        self._session = session
        # The clock is relative to the start, so that the guest does not learn the uptime of the machine.
        self._started = time.monotonic_ns()
        self._functions = functions
        self._sleep_left = MAX_SLEEP

    def add_to(self, linker: Linker) -> None:
        """Registers all imports."""
        with linker.root() as root:
            self._add(root, "wasi:clocks/monotonic-clock@0.2.0", {"now": lambda store: time.monotonic_ns() - self._started})
            self._add(root, "wasi:clocks/wall-clock@0.2.0", {"now": lambda store: wall_clock_now()})
            self._add(root, "toolscript:sandbox/log@0.3.0", {"line": self._line, "progress": self._progress})
            self._add(root, "toolscript:sandbox/timer@0.3.0", {"sleep": self._sleep})
            tools = {
                "names": self._names,
                "call": self._call_functions,
                "search": lambda store, query: self._functions.search(query),
                "docs": self._docs,
            }
            self._add(root, "toolscript:sandbox/tools@0.3.0", tools)
            files = {
                "[method]file.read": self._read,
                "[method]file.remaining": lambda store, file: self._files().remaining(handle_number(store, file)),
                "[method]file.write": self._write,
                "[method]file.seek": self._seek,
                "open": self._open,
                "list": self._list,
                "exists": lambda store, path: self._files().exists(path),
                "rename": lambda store, old, new: self._files().rename(old, new),
                "remove": lambda store, path: self._files().remove(path),
            }
            self._add(root, "toolscript:sandbox/io@0.3.0", files, has_files=True)

    def _add(self, root: LinkerInstance, name: str, functions: dict[str, Callable[..., Any]], has_files: bool = False) -> None:
        with root.add_instance(name) as instance:
            if has_files:
                close = self._guard(lambda store, handle: self._files().close(handle))
                instance.add_resource("file", ResourceType.host(FILE_TYPE), close)
            for function_name, function in functions.items():
                instance.add_func(function_name, self._guard(function))

    def _guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps an import: charges fuel, returns file errors to the guest, and ends the run on any other exception."""

        def call(store: Any, *arguments: Any) -> Any:
            try:
                self._charge(CALL_FUEL + BYTE_FUEL * count_bytes(arguments))
                answer = function(store, *arguments)
                self._charge(BYTE_FUEL * count_bytes((answer,)))
                return answer
            except FileError as error:
                return file_error(error)
            except BaseException as error:
                # Stored here because the package loses a `KeyboardInterrupt` and shares one exception slot between all threads.
                self.stopped_by = error
                raise WasmtimeError("a call to the host ended the run") from None

        return call

    def _charge(self, cost: int) -> None:
        left = self.store.get_fuel() - cost
        self.store.set_fuel(max(0, left))
        if left < 0:
            raise OutOfFuel

    def _files(self) -> FileSession:
        if self._session is None:
            # Only a guest that violates the contract gets here: its scripts have no `io`.
            raise invalid_error("this run has no files")
        return self._session

    def _open(self, store: Any, path: bytes, mode: str) -> Record:
        session = self._files()
        # This host has no other directory of modules.
        number = session.open(path, "read" if mode == "module" else mode)
        return record(file=ResourceHost.own(number, FILE_TYPE), allowance=session.allowance())

    def _read(self, store: Any, file: ResourceAny, max_bytes: int) -> bytes:
        return self._files().read(handle_number(store, file), max_bytes)

    def _write(self, store: Any, file: ResourceAny, data: bytes, has_buffered_data: bool) -> int:
        return self._files().write(handle_number(store, file), data, has_buffered_data)

    def _seek(self, store: Any, file: ResourceAny, whence: str, offset: int) -> Record:
        session = self._files()
        return record(offset=session.seek(handle_number(store, file), whence, offset), allowance=session.allowance())

    def _list(self, store: Any, path: bytes) -> list[str]:
        names = self._files().list(path)
        self._charge(NAME_FUEL * len(names))
        return names

    def _line(self, store: Any, text: bytes) -> None:
        self.log.add(text)

    def _progress(self, store: Any, done: float, total: float | None, message: bytes | None) -> None:
        """Ignores progress: this host does not report it."""

    def _sleep(self, store: Any, nanoseconds: int) -> None:
        # This host has no deadline, so waiting has a limit of its own: a wait costs no fuel.
        seconds = nanoseconds / 1e9
        if seconds > self._sleep_left:
            time.sleep(self._sleep_left)
            raise SleptTooLong
        self._sleep_left -= seconds
        time.sleep(seconds)

    def _names(self, store: Any) -> list[str]:
        return self._functions.names()

    def _docs(self, store: Any, name: str) -> Variant:
        # Both cases of the result are strings, so the package needs the case explicitly.
        try:
            return Variant("ok", self._functions.docs(name))
        except LookupError as error:
            return Variant("err", str(error.args[0]))

    def _call_functions(self, store: Any, calls: list[Record]) -> str | list[Variant]:
        results = self._functions.call([(call.name, [to_value(value) for value in call.arguments]) for call in calls])
        return results if isinstance(results, str) else [call_result(result) for result in results]


def count_bytes(values: Sequence[Any]) -> int:
    """Returns the number of bytes in byte lists, which dominate the cost of a call."""
    return sum(len(value) for value in values if isinstance(value, bytes))


def record(**fields: Any) -> Record:
    """Returns a WIT record with these fields."""
    made = Record()
    made.__dict__.update(fields)
    return made


def call_result(result: Reply | Failure) -> Variant:
    # Both cases are records, so the package needs the case explicitly.
    if isinstance(result, Failure):
        body, details = from_value(result.body), from_value(result.details)
        return Variant("err", record(name=None, message=result.message, body=body, details=details))
    return Variant("ok", record(body=from_value(result.body), details=None))


def to_value(value: Record | bytes) -> JsonValue | bytes:
    """Converts a WIT value."""
    if isinstance(value, bytes):
        return value
    return JsonValue(value.json, {attachment.pointer: attachment.content for attachment in value.attachments})


def from_value(value: JsonValue | bytes | None) -> Record | bytes | None:
    """Converts to a WIT value."""
    if value is None or isinstance(value, bytes):
        return value
    attachments = [record(pointer=pointer, content=content) for pointer, content in value.attachments.items()]
    return record(json=value.text, attachments=attachments)


def file_error(error: FileError) -> Variant:
    payload = record(message=error.message, number=error.number) if error.kind == "refused" else error.message
    return Variant(error.kind, payload)


def handle_number(store: Any, file: ResourceAny) -> int:
    """Returns the handle number of a file resource."""
    return file.to_host(store).rep


def wall_clock_now() -> Record:
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return record(seconds=seconds, nanoseconds=nanoseconds)
