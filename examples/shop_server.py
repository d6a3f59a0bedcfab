"""The API of `shop.yaml` for examples: a server on this machine that keeps its pets in memory. Needs only Python 3.

    python3 shop_server.py [PORT]

Every request needs the bearer token `secret`.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "secret"
TRANSACTIONS = [{"id": n, "amount": n * 7 % 500 / 4, "at": f"2026-01-{1 + n % 28:02}T09:00:00Z"} for n in range(1, 251)]


class Shop(BaseHTTPRequestHandler):
    """Handles one request."""

    pets: dict[int, dict[str, Any]] = {
        1: {"id": 1, "name": "Miro", "kind": "cat"},
        2: {"id": 2, "name": "Rex", "kind": "dog"},
        3: {"id": 3, "name": "Ada", "kind": "fish"},
    }

    def do_GET(self) -> None:
        path, query = self.route()
        limit, offset = int(query.get("limit", 20)), int(query.get("offset", 0))
        if path == ["pets"]:
            kind = query.get("kind")
            self.answer(200, [pet for pet in self.pets.values() if kind in (None, pet.get("kind"))][:limit])
        elif path == ["transactions"]:
            self.answer(200, TRANSACTIONS[offset : offset + limit])
        else:
            pet = self.find(path)
            self.answer(200 if pet else 404, pet or {"error": "no such pet"})

    def do_POST(self) -> None:
        path, _ = self.route()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if path != ["pets"]:
            return self.answer(404, {"error": "no such path"})
        number = max(self.pets, default=0) + 1
        self.pets[number] = {**json.loads(body), "id": number}
        self.answer(201, self.pets[number])

    def do_DELETE(self) -> None:
        pet = self.find(self.route()[0])
        if pet:
            del self.pets[pet["id"]]
        self.answer(204 if pet else 404, None if pet else {"error": "no such pet"})

    def route(self) -> tuple[list[str], dict[str, str]]:
        """Returns the parts of the path after `/v1`, and the query. A request without the token has no path."""
        url = urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        allowed = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        return parts[1:] if allowed and parts[0] == "v1" else [], {key: values[0] for key, values in parse_qs(url.query).items()}

    def find(self, path: list[str]) -> dict[str, Any] | None:
        return self.pets.get(int(path[1])) if len(path) == 2 and path[0] == "pets" and path[1].isdigit() else None

    def answer(self, status: int, value: Any) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            status, value = 401, {"error": "the bearer token is missing or wrong"}
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if value is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Prints nothing: the terminal shows the output of scripts."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8765), Shop)
    print(f"the shop is at http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
