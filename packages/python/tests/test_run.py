"""Scripts, results, limits and errors."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

from toolscript import Cancellation, Engine, Limits, RunRejected, Sandbox, ScriptError


def test_a_result_is_decoded() -> None:
    run = Sandbox().run("print('hello', ...) return { sum = 1 + tonumber(...), list = {1, 2.5, 'x', true}, none = nil }", arguments=[41])
    assert run.result == {"sum": 42, "list": [1, 2.5, "x", True]}
    assert run.logs == ["hello\t41"]
    assert run.files_touched == []
    assert run.receipt.fuel > 0
    assert run.receipt.stopped_by is None
    assert (run.truncated, run.replaced) == ([], [])
    assert repr(run).startswith("Run(result={")


def test_results_of_all_types() -> None:
    box = Sandbox()
    assert box.run("").result is None
    assert box.run("return 1, 'two'").result == [1, "two"]
    assert box.run("return {}").result == []
    assert box.run("return 2^53").result == 2**53
    assert box.run("return 1e300").result == 1e300
    nested = box.run("local t = {} for _ = 1, 126 do t = {t} end return t").result
    assert isinstance(nested, list)
    replaced = box.run("return { ratio = 0 / 0 }")
    assert replaced.result == {} or replaced.result == {"ratio": None}
    assert replaced.replaced == ["result.ratio: NaN became null"]


def test_a_script_without_a_directory_has_no_io() -> None:
    assert Sandbox().run("return io == nil").result is True


def test_an_error_has_its_kind_line_and_traceback(box: Sandbox) -> None:
    with pytest.raises(ScriptError) as raised:
        box.run("print('before')\nio.open('a.txt', 'w'):write('abc'):close()\nlocal x = nil\nreturn x.field")
    error = raised.value
    assert (error.kind, error.line) == ("runtime", 4)
    assert error.message == "script:4: attempt to index nil with 'field' (local 'x')"
    assert str(error) == f"runtime: {error.message}"
    assert error.traceback == "script:4"
    assert error.logs == ["before"]
    assert [(file.name, file.op, file.bytes) for file in error.files_touched] == [("a.txt", "write", 3)]
    assert error.__cause__ is None


def test_a_syntax_error() -> None:
    with pytest.raises(ScriptError) as raised:
        Sandbox().run("local = 1")
    assert (raised.value.kind, raised.value.line) == ("syntax", 1)


@pytest.mark.parametrize(
    ("limits", "script", "kind"),
    [
        (Limits(timeout=0.1), "while true do end", "timeout"),
        (Limits(fuel=1_000_000), "while true do end", "fuel"),
        (Limits(memory="8MiB"), "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end", "memory"),
        (Limits(result=10), "return string.rep('x', 100)", "result"),
    ],
)
def test_a_limit_stops_a_script(limits: Limits, script: str, kind: str) -> None:
    with pytest.raises(ScriptError) as raised:
        Sandbox(limits=limits).run("print('started') " + script)
    assert raised.value.kind == kind
    assert raised.value.logs == ["started"]


def test_logs_over_the_limit_are_truncated() -> None:
    run = Sandbox(limits=Limits(logs=100)).run("for _ = 1, 100 do print('a line of text') end return 1")
    assert (run.result, run.truncated) == (1, ["logs"])


def test_limits_are_checked() -> None:
    assert Limits(memory="64MiB") == Limits()
    assert Limits(memory="64MiB").memory == 64 << 20
    assert Limits(memory="8 MB", timeout=2).timeout == 2
    for wrong in ({"timeout": 0}, {"timeout": -1}, {"timeout": float("nan")}, {"memory": "1KiB"}, {"memory": "much"}, {"fuel": 0}):
        with pytest.raises(ValueError):
            Limits(**wrong)
    with pytest.raises(ValueError, match='invalid size "much"; write bytes, or a size such as "512KiB", "64MiB" or "1GB"'):
        Limits(memory="much")


def test_a_run_is_rejected() -> None:
    with pytest.raises(RunRejected, match="the script is 11 bytes; at most 4 are allowed") as raised:
        Sandbox(limits=Limits(script=4)).run("return 1234")
    assert raised.value.code == "script_too_large"
    with pytest.raises(RunRejected) as raised:
        Sandbox().run("", arguments=["x" * (2 << 20)])
    assert raised.value.code == "arguments_too_large"
    with pytest.raises(RunRejected, match="the environment values are [0-9]+ bytes; at most 262144 are allowed") as raised:
        Sandbox().run("", env={"TEXT": "x" * (300 << 10)})
    assert raised.value.code == "environment_too_large"


def test_a_full_queue_rejects_runs() -> None:
    engine = Engine(concurrency=1, queue_limit=0)
    assert (engine.concurrency, engine.queue_limit, engine.running, engine.waiting) == (1, 0, 0, 0)
    box, cancellation, started = Sandbox(engine=engine), Cancellation(), threading.Event()
    errors: list[ScriptError] = []

    def run() -> None:
        try:
            box.run("print('started') while true do end", on_print=lambda _: started.set(), cancellation=cancellation)
        except ScriptError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    with pytest.raises(RunRejected, match="busy: 1 scripts are running and 0 are waiting; try again later") as raised:
        box.run("return 1")
    assert raised.value.code == "busy"
    cancellation.cancel()
    thread.join()
    assert cancellation.cancelled
    assert [error.kind for error in errors] == ["cancelled"]


def test_run_exec_and_execute_share_the_concurrency(tmp_path: Path) -> None:
    """A call from a script starts another run, which waits until it is cancelled. Without the limit, the full engine would reject it."""
    box, cancelled = Sandbox(tmp_path, concurrency=1, engine=Engine(concurrency=1, queue_limit=0)), Cancellation()
    cancelled.cancel()
    outcomes: list[object] = []

    @box.function
    def nested() -> None:
        with pytest.raises(ScriptError) as raised:
            box.run("return 1", cancellation=cancelled)
        outcomes.append(raised.value.kind)
        outcomes.append(box.exec("return 1", cancellation=cancelled).exit_code)
        outcomes.append(box.execute("luau -e 'return 1'", cancellation=cancelled).exit_code)

    box.run("sdk.nested()")
    assert box.exec("sdk.nested()").stderr == ""
    assert box.execute("luau -e 'sdk.nested()'").stderr == ""
    assert outcomes == ["cancelled", 130, 130] * 3


def test_other_threads_run_while_a_script_runs() -> None:
    """The script ends only when another thread, which needs the GIL, cancels it."""
    cancellation, started = Cancellation(), threading.Event()

    def cancel() -> None:
        started.wait()
        cancellation.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(ScriptError) as raised:
        Sandbox().run("print(1) while true do end", on_print=lambda _: started.set(), cancellation=cancellation)
    thread.join()
    assert raised.value.kind == "cancelled"


def test_prints_and_progress_are_live() -> None:
    events: list[object] = []
    script = "print('one') progress(1, 2, 'half') print('two') progress(2)"
    Sandbox().run(script, on_print=events.append, on_progress=lambda *progress: events.append(progress))
    assert events == ["one", (1.0, 2.0, "half"), "two", (2.0, None, None)]


def test_an_exception_in_a_callback_stops_the_run() -> None:
    def fail(line: str) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError, match="now"):
        Sandbox().run("print('now') while true do end", on_print=fail)


def test_a_seed_makes_random_numbers_reproducible() -> None:
    box = Sandbox()
    assert box.run("return math.random()", seed=7).result == box.run("return math.random()", seed=7).result


def test_environment_values() -> None:
    assert Sandbox().run("return env.PLACE", env={"PLACE": "Oslo"}).result == "Oslo"
    assert Sandbox().run("return env == nil").result is True


def test_arguments_must_be_a_list() -> None:
    with pytest.raises(TypeError, match="arguments must be a list of strings, not a string"):
        Sandbox().run("", arguments="abc")
    with pytest.raises(TypeError, match="an argument must be a string or a number, not dict; pass JSON"):
        Sandbox().run("", arguments=[{"a": 1}])  # type: ignore[list-item]


def test_a_script_receives_arguments_as_strings() -> None:
    assert Sandbox().run("return {...}", arguments=["a", 1, 0.5, True]).result == ["a", "1", "0.5", "true"]


def test_ctrl_c_stops_a_blocking_run() -> None:
    program = """
import sys
from toolscript import Sandbox
try:
    Sandbox().run("print('started') while true do end", on_print=lambda line: print(line, flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate()[0] == "interrupted\n"
    assert process.returncode == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_gets_an_error() -> None:
    Sandbox().run("return 1")
    child = os.fork()
    if child == 0:
        try:
            Sandbox().run("return 1")
        except RuntimeError as error:
            os._exit(7 if "was used before this process was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_sandbox_in_a_cycle_is_collected() -> None:
    def create() -> weakref.ref[Sandbox]:
        box = Sandbox()

        @box.function
        def nested() -> object:
            return box.run("return 5").result

        assert box.run("return sdk.nested()").result == 5
        return weakref.ref(box)

    reference = create()
    gc.collect()
    assert reference() is None


def test_an_invalid_directory(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the path contains '..'; name the directory itself"):
        Sandbox(tmp_path / ".." / "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        Sandbox(tmp_path / "file")
