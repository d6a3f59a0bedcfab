"""Functions from OpenAPI specifications and MCP servers."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from toolscript import FunctionSource, Sandbox, ScriptError, SourceError, from_openapi, mcp_server
from toolscript import _sources as sources

SPECIFICATION = """
openapi: 3.1.0
info: { title: Shop, version: '1' }
servers: [{ url: 'URL' }]
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
security: [{ token: [] }]
paths:
  /pets/{pet_id}:
    get:
      operationId: getPet
      summary: Returns a pet
      parameters: [{ name: pet_id, in: path, required: true, schema: { type: integer } }]
    delete:
      operationId: removePet
      parameters: [{ name: pet_id, in: path, required: true, schema: { type: integer } }]
"""


class Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"path": self.path, "auth": self.headers["Authorization"] == "Bearer secret-token"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def specification(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = tmp_path_factory.mktemp("specification") / "shop.yaml"
    path.write_text(SPECIFICATION.replace("URL", f"http://127.0.0.1:{server.server_port}"))
    yield path
    server.shutdown()
    server.server_close()


def test_operations_of_an_api(specification: Path) -> None:
    shop = from_openapi(specification, auth="secret-token", allow_private=True)
    assert (shop.name, shop.functions, shop.notes) == ("shop", ["get_pet", "remove_pet"], [])
    assert shop.docs("get_pet").startswith("sdk.shop.get_pet(params: { pet_id: number }): ")
    box = Sandbox(functions=[shop, len])
    assert box.run("return sdk.shop.get_pet({ pet_id = 7 }), sdk.get_pet({ pet_id = 8 }).path, sdk.len('abc')").result == [
        {"path": "/pets/7", "auth": True},
        "/pets/8",
        3,
    ]
    assert box.run("return sdk.search('get pet')[1].name").result == "shop.get_pet"
    # The credential of a run replaces the other.
    assert box.run("return sdk.get_pet({ pet_id = 7 }).auth", credentials={"shop": "another-token"}).result is False
    with pytest.raises(ValueError, match="there is no API or MCP server 'store' for a credential"):
        box.run("", credentials={"store": "x"})


def test_options_of_an_api(specification: Path) -> None:
    assert from_openapi(specification, read_only=True).functions == ["get_pet"]
    assert from_openapi(specification, name="store", deny=["get_*"]).functions == ["remove_pet"]
    frozen = Sandbox(functions={"shop": from_openapi(specification, frozen_params={"pet_id": 3}, allow_private=True, auth="secret-token")})
    assert frozen.run("return sdk.shop.get_pet().path").result == "/pets/3"
    with pytest.raises(ScriptError, match="private"):
        Sandbox(functions=[from_openapi(specification)]).run("sdk.get_pet({ pet_id = 1 })")
    with pytest.raises(ValueError, match="unknown variant `magic`"):
        from_openapi(specification, auth={"type": "magic"})


def test_a_specification_that_can_not_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't load the API 'missing': can't read .*missing.yaml: No such file"):
        from_openapi(tmp_path / "missing.yaml")


def test_a_python_function_hides_a_short_name(specification: Path) -> None:
    shop = from_openapi(specification, allow_private=True)
    box = Sandbox(functions=[shop])
    box.add(lambda: "mine", name="get_pet")
    assert box.run("return sdk.get_pet(), sdk.shop.get_pet ~= nil").result == ["mine", True]
    # A short name that two sources have is not available.
    box = Sandbox(functions=[shop, from_openapi(specification, name="store")])
    assert box.run("return pcall(function() return sdk.remove_pet({ pet_id = 1 }) end)").result[0] is False
    assert box.run("return type(sdk.shop.get_pet), type(sdk.store.get_pet)").result == ["function", "function"]


@pytest.fixture
def numbers() -> Iterator[FunctionSource]:
    server = mcp_server([sys.executable, str(Path(__file__).parent / "upstream_server.py")])
    yield server
    server.close()


def test_tools_of_an_mcp_server(numbers: FunctionSource) -> None:
    assert (numbers.name, numbers.functions, numbers.notes) == ("upstream", ["add_numbers"], [])
    box = Sandbox(functions=[numbers])
    assert box.run("return sdk.upstream.add_numbers({ a = 40, b = 2 })").result == "42"
    numbers.close()
    with pytest.raises(ScriptError):
        box.run("sdk.upstream.add_numbers({ a = 40, b = 2 })")


def test_a_server_that_is_down_is_reported() -> None:
    server = mcp_server("no-such-program-anywhere --flag", name="down")
    assert server.notes[0].startswith("the MCP server 'down' is down: it can't be started (no-such-program-anywhere: ")
    server.close()
    with pytest.raises(SourceError, match="headers, auth and auth_env require a url"):
        mcp_server("program", auth="token")
    with pytest.raises(ValueError, match="the command of the MCP server is missing"):
        mcp_server("")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("uvx mcp-server-fetch@1.2", "fetch"),
        ("python -m weather_mcp", "weather"),
        ("/usr/bin/github-mcp-server stdio", "github"),
        ("node ./servers/files.mjs", "files"),
    ],
)
def test_names_of_servers(command: str, name: str) -> None:
    assert sources._program_name(command.split()) == name


def test_other_names() -> None:
    assert sources._host_name("https://mcp.example.com:8080/mcp") == "example"
    assert sources._specification_name("https://example.com/pet-shop.v2.yaml?x=1") == "pet_shop"
    with pytest.raises(ValueError, match="does not name the API; pass name="):
        sources._specification_name("openapi.yaml")
