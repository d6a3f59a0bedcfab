"""Checks the functions that scripts call as `sdk.…`."""

from __future__ import annotations

from typing import Any

from expect import expect, expect_raises
from functions import FunctionError
from toolscript_host import Sandbox


def fail() -> None:
    raise RuntimeError("it is broken")


def limit_rate() -> None:
    raise FunctionError("slow down", status=429, body={"code": "rate"}, headers={"x-limit": "5"}, retry_after=2.5)


def story() -> None:
    """Tells a story.

    A long one."""


def interrupt() -> None:
    raise KeyboardInterrupt


FUNCTIONS = {
    "add": lambda first, second: first + second,
    "deep.echo": lambda value: value,
    "reverse": lambda data: data[::-1],
    "fail": fail,
    "limit_rate": limit_rate,
    "nothing": lambda: None,
    "not_json": lambda: object(),
    "large": lambda: "x" * (8 << 20),
}


def check_functions(sandbox: Sandbox) -> str:
    check_results(sandbox)
    check_errors(sandbox)
    check_documentation(sandbox)
    check_names(sandbox)
    return "functions: results, bytes, exceptions, limits; no sdk without functions"


def check_results(sandbox: Sandbox) -> None:
    def result(source: str) -> Any:
        return sandbox.run(source, functions=FUNCTIONS)["result"]

    expect(result("return sdk.add(40, 2)"), 42, "result of a function")
    echoed = result("return sdk.deep.echo{ a = { 1, 'ä\\0' }, b = { json.null }, c = json.null }")
    expect(echoed, {"a": [1, "ä\0"], "b": [None]}, "JSON round trip; null in an object is nil")
    expect(result("return sdk.reverse(buffer.fromstring('\\1\\2\\255')):byte(1, 3)"), [255, 2, 1], "bytes round trip")
    echoed = result("return sdk.deep.echo{ a = { '\\255' }, ['b/'] = buffer.fromstring('\\254') }.a[1]:byte()")
    expect(echoed, 255, "bytes inside tables round trip")
    several = result("return sdk.all({ { sdk.add, 1, 2 }, { sdk.nothing }, { sdk.fail } }, { errors = 'return' })")
    expect(several, [3, None, {"error": "fail: it is broken"}], "several calls in one batch")
    expect(result("local r = sdk.response(sdk.add, 1, 2) return r.ok, r.body, r.status"), [True, 3, None], "response of a function")


def check_errors(sandbox: Sandbox) -> None:
    def message(call: str) -> Any:
        return sandbox.run(f"return (select(2, pcall(function() {call} end)))", functions=FUNCTIONS)["result"]

    expect(message("sdk.fail()"), "script:1: fail: it is broken", "exception of a function")
    expect(message("sdk.not_json()"), "script:1: not_json: the result can't be written as JSON", "result that is not JSON")
    expect(message("sdk.large()"), "script:1: the response is 8388610 bytes; at most 8388608 are allowed at once", "result that is too large")
    expect(message("sdk.nope()"), "script:1: there is no function 'nope'", "unknown function")
    outcome = sandbox.run("sdk.fail()", functions=FUNCTIONS)
    expect(outcome["error"]["message"], "script:1: fail: it is broken", "uncaught exception of a function")
    script = "local _, e = pcall(sdk.limit_rate) return e.name, e.status, e.body.code, e.headers['x-limit'], e.retry_after, tostring(e)"
    data = ["limit_rate", 429, "rate", "5", 2.5, "limit_rate: slow down"]
    expect(sandbox.run(script, functions=FUNCTIONS)["result"], data, "error with data")
    script = "local r = sdk.response(sdk.limit_rate) return r.ok, r.status, r.headers['x-limit'], r.retry_after, r.body.code"
    expect(sandbox.run(script, functions=FUNCTIONS)["result"], [False, 429, "5", 2.5, "rate"], "response with an error status")
    outcome = sandbox.run("while pcall(sdk.add, 1, 2) do print('called') end", functions=FUNCTIONS, max_calls=3)
    message = "3 function calls were made, the limit; if this is a loop over pages, check that the cursor ends"
    expect((outcome["error"], len(outcome["logs"])), ({"kind": "calls", "message": message}, 3), "limit on calls")
    run = lambda: sandbox.run("pcall(sdk.interrupt) return 'caught'", functions={"interrupt": interrupt})
    expect_raises(KeyboardInterrupt, run, "keyboard interrupt inside a function")


def check_documentation(sandbox: Sandbox) -> None:
    message = sandbox.run("return (select(2, pcall(function() sdk.docs('add') end)))", functions=FUNCTIONS)["result"]
    expect(message, "script:1: add: there is no documentation", "function without a docstring")
    script = "return sdk.docs('old.story'), sdk.search('story'), #sdk.search('other')"
    docs = sandbox.run(script, functions={"old.story": story})["result"]
    expect(docs, ["Tells a story.\n\nA long one.", [{"name": "old.story", "summary": "Tells a story."}], 0], "documentation")


def check_names(sandbox: Sandbox) -> None:
    expect(sandbox.run("return sdk == nil, io == nil, os.remove == nil")["result"], [True] * 3, "globals of a run without options")
    for names in (["a b"], ["all"], ["a", "a.b"]):
        run = lambda: sandbox.run("return 1", functions=dict.fromkeys(names, print))
        expect_raises(ValueError, run, f"invalid function names: {names}")
