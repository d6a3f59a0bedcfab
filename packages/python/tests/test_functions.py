"""Python functions that scripts call."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from toolscript import FunctionError, Limits, Sandbox, ScriptError


def test_arguments_are_positional_or_one_table() -> None:
    box, calls = Sandbox(), []

    @box.function
    def weather(city: str, days: int = 1, *, unit: str = "C") -> dict[str, object]:
        calls.append((city, days, unit))
        return {"city": city}

    script = """
        sdk.weather('Cairo')
        sdk.weather('Oslo', 2)
        sdk.weather({ city = 'Lima', unit = 'F' })
        return sdk.weather({ days = 3, city = 'Rome' }).city
    """
    assert box.run(script).result == "Rome"
    assert calls == [("Cairo", 1, "C"), ("Oslo", 2, "C"), ("Lima", 1, "F"), ("Rome", 3, "C")]


def test_a_table_that_is_not_parameters_is_an_argument() -> None:
    box = Sandbox()

    def save(record: dict[str, object], overwrite: bool = False) -> object:
        return [record, overwrite]

    box.add(save)
    assert box.run("return sdk.save({ name = 'a' })").result == [{"name": "a"}, False]
    assert box.run("return sdk.save({ record = { name = 'a' }, overwrite = true })").result == [{"name": "a"}, True]
    # An empty table is a dict for a parameter that is one.
    assert box.run("return sdk.save({}, true)").result == [[], True]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda limit=10: limit, 10),
        (lambda: "none", "none"),
        (lambda values: values, []),
        (lambda **options: len(options), 0),
    ],
)
def test_an_empty_table_is_no_arguments_if_none_is_required(function: Callable[..., Any], expected: object) -> None:
    assert Sandbox(functions={"f": function}).run("return sdk.f({})").result == expected


def test_values_in_both_directions() -> None:
    received: list[object] = []

    def echo(value: object = None) -> object:
        received.append(value)
        return value

    box = Sandbox(functions=[echo])
    script = "return sdk.echo({1, 'two', {a = true}}), sdk.echo(2.5), sdk.echo(nil), sdk.echo('é')"
    assert box.run(script).result == [[1, "two", {"a": True}], 2.5, None, "é"]
    assert received == [[1, "two", {"a": True}], 2.5, None, "é"]


def test_bytes_are_passed_in_both_directions() -> None:
    received: list[object] = []

    def echo(value: object) -> object:
        received.append(value)
        return {"list": [b"\xff\x00"], "a/b~": bytearray(b"\xfe"), "text": "x"}

    box = Sandbox(functions=[echo])
    script = """
        local back = sdk.echo({ raw = '\\xff\\x00', { '\\xfe' } })
        sdk.echo(buffer.fromstring('ab'))
        return #back.list[1], back.list[1] == '\\xff\\x00', back['a/b~'] == '\\xfe', back.text
    """
    assert box.run(script).result == [2, True, True, "x"]
    assert received[1] == b"ab"
    assert received[0] == {"raw": b"\xff\x00", "1": [b"\xfe"]}


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    tag: str | None = None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point(1), {"x": 1}),
        (Colour.RED, "red"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.timedelta(minutes=1), 60),
        (Path("a/b"), "a/b"),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        ({1: "a"}, {"1": "a"}),
        (2**60, str(2**60)),
        (-(2**53), str(-(2**53))),
        (2**53 - 1, 2**53 - 1),
        (float("nan"), None),
        (range(3), [0, 1, 2]),
    ],
)
def test_other_types_are_converted(value: object, expected: object) -> None:
    assert Sandbox(functions={"f": lambda: value}).run("return sdk.f()").result == expected


def test_values_that_can_not_be_converted() -> None:
    loop: list[object] = []
    loop.append(loop)
    for value, message in [
        (object(), "f: TypeError: a value of the type object can't be passed to a script"),
        (loop, "f: ValueError: the value is nested more than 128 levels deep, or contains itself"),
        (["x" * (5 << 20)] * 3, "f: ValueError: the value is larger than 8388608 bytes"),
        ({(1, 2): 3}, "f: TypeError: a key of a dict must be a str, not tuple"),
    ]:
        with pytest.raises(ScriptError) as raised:
            Sandbox(functions={"f": lambda value=value: value}).run("return sdk.f()")
        assert raised.value.message == f"script:1: {message}"


def test_an_exception_becomes_an_error_and_is_the_cause() -> None:
    box = Sandbox()

    @box.function
    def fail(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ScriptError) as raised:
        box.run("\nsdk.fail('first line\\nsecond')")
    assert raised.value.message == "script:2: fail: ValueError: first line\\nsecond"
    assert raised.value.line == 2
    assert isinstance(raised.value.__cause__, ValueError)
    assert raised.value.__cause__.__traceback__ is not None

    caught = box.run("local ok, message = pcall(sdk.fail, 'x') return ok, tostring(message)")
    assert caught.result == [False, "fail: ValueError: x"] or "fail: ValueError: x" in caught.result[1]
    with pytest.raises(ScriptError) as raised:
        box.run("pcall(sdk.fail, 'x') error('another')")
    assert raised.value.__cause__ is None


def test_wrong_arguments_are_an_error_of_the_script() -> None:
    box = Sandbox(functions={"f": lambda a: a})
    with pytest.raises(ScriptError, match="missing 1 required positional argument: 'a'"):
        box.run("sdk.f()")


def test_a_function_error_has_fields() -> None:
    box = Sandbox()

    @box.function
    def busy() -> None:
        raise FunctionError("too many requests", status=429, body={"wait": 2}, headers={"retry-after": "2"}, retry_after=2.5)

    result = box.run("local _, e = pcall(sdk.busy) return e.status, e.body.wait, e.retry_after, e.message").result
    assert result == [429, 2, 2.5, "busy: too many requests"]


def test_an_exit_in_a_function_stops_the_run() -> None:
    box = Sandbox()

    @box.function
    def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        box.run("while true do pcall(sdk.leave) end")


def test_functions_are_documented_for_scripts() -> None:
    class Forecast(TypedDict, total=False):
        degrees: float
        wind: str

    box = Sandbox()

    @box.function(name="weather.forecast")
    def forecast(city: str, days: int | None = None, unit: Literal["C", "F"] = "C", tags: list[str] = []) -> dict[str, float]:
        """Returns the forecast of a city.

        The unit is that of the temperature.
        """
        return {}

    run = box.run("return sdk.docs('weather.forecast'), sdk.search('city forecast'), sdk.search('nothing'), sdk.docs('io.open')")
    documentation, found, nothing, built_in = run.result
    assert documentation.splitlines() == [
        'sdk.weather.forecast(city: string, days: number?, unit: "C" | "F"?, tags: { string }?): { [string]: number }',
        "Arguments can also be one table: sdk.weather.forecast({ city = …, days = …, unit = …, tags = … })",
        "Returns the forecast of a city.",
        "",
        "The unit is that of the temperature.",
    ]
    assert found == [{"name": "weather.forecast", "summary": "Returns the forecast of a city."}]
    assert nothing == []
    assert built_in.startswith("io.open(path, mode?)")
    with pytest.raises(ScriptError, match="there is no function 'missing'"):
        box.run("sdk.docs('missing')")


def test_names_are_checked() -> None:
    box = Sandbox(functions={"a.b": lambda: 1})
    for name, message in [
        ("a", "invalid function name 'a': it conflicts with 'a.b'"),
        ("search", "invalid function name 'search': sdk.all, sdk.docs, sdk.response and sdk.search are reserved"),
        ("no spaces", "needs a name"),
    ]:
        with pytest.raises(ValueError, match=message):
            box.add(lambda: 1, name=name)
    box.add(lambda: 2, name="a.b")
    assert box.run("return sdk.a.b()").result == 2
    with pytest.raises(TypeError, match="a function must be callable, not int"):
        box.add(3)  # type: ignore[arg-type]


def test_an_async_function_in_a_blocking_run() -> None:
    box, threads = Sandbox(), []
    entered = 0
    both = asyncio.Event()

    @box.function
    async def meet(name: str) -> str:
        nonlocal entered
        threads.append(threading.current_thread().name)
        entered += 1
        if entered == 2:
            both.set()
        await both.wait()
        return name

    # Both calls must be in progress at the same time.
    assert box.run("return sdk.all({{sdk.meet, 'a'}, {sdk.meet, 'b'}})").result == ["a", "b"]
    assert threads == ["toolscript-asyncio", "toolscript-asyncio"]


def test_an_async_function_is_cancelled_at_the_timeout() -> None:
    box, cancelled = Sandbox(limits=Limits(timeout=0.1)), threading.Event()

    @box.function
    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(ScriptError) as raised:
        box.run("sdk.forever()")
    assert raised.value.kind == "timeout"
    assert cancelled.wait(timeout=10)


def test_a_function_can_use_the_sandbox(box: Sandbox) -> None:
    @box.function
    def save(text: str) -> int:
        box.write("a.txt", text)
        return int(box.run("return #io.open('a.txt'):read('a')").result)

    assert box.run("return sdk.save('four')").result == 4


def test_the_number_of_calls_is_limited() -> None:
    box = Sandbox(functions={"f": lambda: 1}, limits=Limits(api_calls=3))
    with pytest.raises(ScriptError) as raised:
        box.run("for i = 1, 10 do print(sdk.f()) end")
    assert (raised.value.kind, raised.value.logs) == ("calls", ["1", "1", "1"])
