"""The check of a script before it runs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from toolscript import Diagnostic, Limits, RunRejected, Sandbox, ScriptError, from_openapi, mcp_server

SPECIFICATION = """
openapi: 3.1.0
info: { title: Shop, version: '1' }
servers: [{ url: 'https://shop.example' }]
paths:
  /pets/{pet_id}:
    get:
      operationId: getPet
      parameters: [{ name: pet_id, in: path, required: true, schema: { type: integer } }]
      responses:
        '200':
          description: A pet
          content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } }
components:
  schemas:
    Pet: { type: object, additionalProperties: false, properties: { name: { type: string } } }
"""


@pytest.fixture
def specification(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(SPECIFICATION)
    return path


def messages(box: Sandbox, script: str) -> list[str]:
    return [mistake.message for mistake in box.check(script)]


def test_a_script_with_an_error_does_not_run() -> None:
    lines: list[str] = []
    with pytest.raises(ScriptError) as raised:
        Sandbox().run("print('started')\nlocal x = string.trim(' ')\nreturn totl", on_print=lines.append, check="errors")
    error = raised.value
    assert (error.kind, error.line, error.logs, lines) == ("check", 2, [], [])
    assert error.message.startswith("2 mistakes were found before the run, and nothing was executed: script:2:18: string has no 'trim'")
    assert [(found.severity, found.line, found.column, found.length) for found in error.diagnostics] == [("error", 2, 18, 4), ("error", 3, 8, 4)]
    assert str(error.diagnostics[1]) == "script:3:8: unknown global 'totl'"


def test_a_warning_does_not_prevent_a_run() -> None:
    run = Sandbox().run("return totl", check="warn")
    assert run.result is None
    assert [found.message for found in run.diagnostics] == ["unknown global 'totl'"]
    assert Sandbox().run("return 1", check="warn").diagnostics == []


def test_the_check_is_off_by_default() -> None:
    run = Sandbox().run("return totl")
    assert (run.result, run.diagnostics) == (None, [])
    assert Sandbox().run("return totl", check="off").result is None
    with pytest.raises(ValueError, match="check must be 'off', 'errors' or 'warn'"):
        Sandbox().run("return 1", check="all")  # type: ignore[arg-type]


def test_errors_at_run_time_have_no_diagnostics() -> None:
    with pytest.raises(ScriptError) as raised:
        Sandbox().run("error('x')", check="errors")
    assert (raised.value.kind, raised.value.diagnostics) == ("runtime", [])


def test_async_runs_and_checks() -> None:
    async def main() -> None:
        with pytest.raises(ScriptError) as raised:
            await Sandbox().arun("return totl", check="errors")
        assert await Sandbox().acheck("return totl") == raised.value.diagnostics
        assert (await Sandbox().arun("return totl", check="warn")).diagnostics == raised.value.diagnostics

    asyncio.run(main())


def test_a_diagnostic_is_a_value() -> None:
    first, second = Sandbox().check("return totl\n"), Sandbox().check("return totl")
    assert first == second and {*first} == {*second}
    assert Sandbox().check("return othr") != first
    assert repr(first[0]) == "Diagnostic(severity='error', line=1, column=8, length=4, message=\"unknown global 'totl'\")"
    with pytest.raises(AttributeError):
        first[0].line = 2  # type: ignore[misc]
    assert isinstance(first[0], Diagnostic)


def test_notes_are_listed_only_by_a_check() -> None:
    script = "if DEBUG then print(DEBUG) end return pcall(function() return strng.x end)"
    assert {found.severity for found in Sandbox().check(script)} == {"note"}
    assert Sandbox().run(script, check="warn").diagnostics == []
    assert Sandbox().run(script, check="errors").result[0] is False


def test_a_syntax_error_is_a_mistake() -> None:
    [found] = Sandbox().check("local a = 1\nlocal = 2")
    assert (found.severity, found.line, found.column) == ("error", 2, 7)
    assert found.message.startswith("Expected identifier")
    # Only the compiler finds this.
    [found] = Sandbox().check("function f()\n" + "".join(f"local v{number} = {{}}\n" for number in range(201)) + "end")
    assert "Out of local registers" in found.message
    with pytest.raises(ScriptError) as raised:
        Sandbox().run("local = 2", check="errors")
    assert raised.value.kind == "syntax"


def test_functions_of_the_sandbox_are_known() -> None:
    box = Sandbox()

    @box.function
    def weather(city: str, days: int = 1) -> str:
        return city * days

    box.add(lambda: 1, name="db.query")
    assert box.check("return sdk.weather('Oslo'), sdk.weather({ city = 'Oslo', days = 2 }), sdk.db.query(), sdk.docs('weather')") == []
    assert box.run("return sdk.weather('Oslo')", check="errors").result == "Oslo"
    assert messages(box, "sdk.wether('Oslo')") == ["there is no function 'wether'; did you mean weather?"]
    assert messages(box, "sdk.db.qery()") == ["there is no function 'db.qery'; did you mean db.query?"]
    assert messages(Sandbox(), "sdk.weather('Oslo')") == ["unknown global 'sdk'; no functions are configured"]


def test_functions_of_apis_are_known_with_their_types(specification: Path) -> None:
    shop, store = from_openapi(specification), from_openapi(specification, name="store")
    right = "local pet = sdk.shop.get_pet({ pet_id = 7 }) return pet.name, sdk.shop.getPet({ pet_id = 1 })"
    missing = "shop.get_pet: the parameter 'pet_id' is missing"
    boxes = [Sandbox(functions=[shop]), Sandbox(functions=[shop, len]), Sandbox(functions=[shop, store]), Sandbox(functions=[store, len, shop])]
    for box in boxes:
        assert box.check(right) == []
        assert messages(box, "sdk.shop.get_pet({})") == [missing]
        assert messages(box, "return sdk.shop.get_pet({ pet_id = 7 }).nme") == ["there is no field 'nme' (did you mean 'name'?)"]
        assert messages(box, "sdk.shop.get_pt({})") == ["there is no function 'shop.get_pt'; did you mean shop.get_pet?"]
    assert Sandbox(functions=[shop, store, len]).check(right.replace("shop", "store") + ", sdk.len('x')") == []
    # Without a credential for the API, as `check` has none.
    with pytest.raises(ScriptError) as raised:
        Sandbox(functions=[shop, len]).run("sdk.shop.get_pet({})", check="errors", credentials={"shop": "secret"})
    assert [found.message for found in raised.value.diagnostics] == [missing]


def test_a_python_function_that_hides_an_operation_is_not_checked_with_its_types(specification: Path) -> None:
    for name in ("get_pet", "getPet", "shop.get_pet"):
        box = Sandbox(functions=[from_openapi(specification)])
        box.add(lambda number: number, name=name)
        assert box.run(f"return sdk.{name}(7)", check="errors").result == 7


def test_apis_with_similar_names_keep_their_types(specification: Path) -> None:
    box = Sandbox(functions=[from_openapi(specification, name="shop1"), from_openapi(specification, name="shop_1")])
    assert messages(box, "return sdk.shop1.get_pet({}), sdk.shop_1.get_pet({}).nme") == [
        "shop1.get_pet: the parameter 'pet_id' is missing",
        "shop_1.get_pet: the parameter 'pet_id' is missing",
        "there is no field 'nme' (did you mean 'name'?)",
    ]
    assert messages(box, "sdk.shop1.get_pt({})") == ["there is no function 'shop1.get_pt'; did you mean shop1.get_pet?"]


def test_tools_of_an_mcp_server_are_known() -> None:
    server = mcp_server([sys.executable, str(Path(__file__).parent / "upstream_server.py")])
    box = Sandbox(functions=[server, len])
    assert box.check("return sdk.upstream.add_numbers({ a = 40, b = 2 }), sdk.len('x')") == []
    assert messages(box, "sdk.upstream.add_numbers({ a = 40 })") == ["upstream.add_numbers: the parameter 'b' is missing"]
    server.close()


def test_functions_of_a_server_that_is_down_are_not_mistakes() -> None:
    server = mcp_server("no-such-program-anywhere --flag", name="down")
    assert Sandbox(functions=[server, len]).check("return sdk.down.anything({ x = 1 })") == []
    server.close()


def test_files_and_env_are_known_if_the_run_has_them(tmp_path: Path) -> None:
    script = "return io.exists('a'), env.PLACE"
    assert Sandbox(tmp_path).check(script, env={"PLACE": "Oslo"}) == []
    assert messages(Sandbox(), script) == ["unknown global 'io'; files are disabled", "unknown global 'env'"]
    assert Sandbox(tmp_path).run("return env.PLACE", check="errors", env={"PLACE": "Oslo"}).result == "Oslo"
    assert Sandbox(tmp_path).check(b"return io.list()") == []


def test_a_check_is_rejected() -> None:
    with pytest.raises(RunRejected, match="the script is 11 bytes; at most 4 are allowed") as raised:
        Sandbox(limits=Limits(script=4)).check("return 1234")
    assert raised.value.code == "script_too_large"
