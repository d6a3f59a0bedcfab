"""Functions from OpenAPI specifications and MCP servers."""

from __future__ import annotations

import os

from ._toolscript import FunctionSource, connect_mcp_server, load_openapi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

GENERIC_NAMES = frozenset({"api", "index", "openapi", "schema", "spec", "specification", "swagger"})
"""Names of specification files that do not name the API."""

LAUNCHERS = frozenset({"bun", "bunx", "deno", "docker", "node", "npx", "pipx", "pnpm", "podman", "python", "python3", "uv", "uvx"})
"""Programs that start another one, which has the name of the server."""


def from_openapi(
    spec: str | os.PathLike[str],
    *,
    name: str | None = None,
    auth: str | Mapping[str, str] | None = None,
    auth_env: str | None = None,
    auth_scheme: str | None = None,
    base_url: str | None = None,
    allow_private: bool = False,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    read_only: bool = False,
    frozen_params: Mapping[str, Any] | None = None,
) -> FunctionSource:
    """Loads an OpenAPI specification. Scripts call its operations as ``sdk.NAME.operation({...})``.

    :param spec: the path or HTTP(S) URL of the specification, version 3.0 or 3.1, as JSON or YAML.
    :param name: the name of the API. By default, that of the file.
    :param auth: the credential, which scripts never see: a token, or a dict such as ``{"type": "basic", "username": …, "password": …}`` or
        ``{"type": "api_key", "key": …}``.
    :param auth_env: the environment variable that contains the credential.
    :param auth_scheme: the security scheme of the specification that the credential is for.
    :param base_url: the URL of the API, instead of the servers in the specification.
    :param allow_private: allows private and loopback addresses.
    :param allow: glob patterns of operations. If there are any, only operations that match one are available.
    :param deny: glob patterns of operations that are not available.
    :param read_only: keeps only operations with the method GET, HEAD or OPTIONS.
    :param frozen_params: values of parameters that scripts can neither see nor set.
    :raises SourceError: if the specification can't be loaded.
    """
    text = os.fspath(spec)
    options = {
        "spec": text,
        "auth": auth,
        "auth_env": auth_env,
        "auth_scheme": auth_scheme,
        "base_url": base_url,
        "allow_private": allow_private,
        "allow": list(allow),
        "deny": list(deny),
        "read_only": read_only,
        "frozen_params": dict(frozen_params or {}),
    }
    return load_openapi(name or _specification_name(text), _given(options))


def mcp_server(
    server: str | Sequence[str],
    *,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    inherit_env: Sequence[str] = (),
    working_directory: str | os.PathLike[str] | None = None,
    auth: str | None = None,
    auth_env: str | None = None,
    headers: Mapping[str, str] | None = None,
    allow_private: bool = False,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    read_only: bool = False,
    frozen_params: Mapping[str, Any] | None = None,
    decode: str | None = None,
) -> FunctionSource:
    """Connects to an MCP server. Scripts call its tools as ``sdk.NAME.tool({...})``.

    A server that is down or slow is not an error: ``notes`` reports it, and it is retried in the background.

    :param server: a command such as ``"npx -y @modelcontextprotocol/server-everything"``, quoted as in a shell or as a list, or the URL of a
        server with the streamable HTTP transport.
    :param name: the name of the server. By default, it is derived from the command or the URL.
    :param env: environment variables of the program.
    :param inherit_env: names of variables that the program inherits, in addition to a few such as ``PATH`` and ``HOME``.
    :param working_directory: the directory in which the program is started.
    :param auth: a bearer token for the URL, which scripts never see.
    :param auth_env: the environment variable that contains the token.
    :param headers: headers of every request to the URL.
    :param allow_private: allows private and loopback addresses.
    :param allow: glob patterns of tools. If there are any, only tools that match one are available.
    :param deny: glob patterns of tools that are not available.
    :param read_only: keeps only tools that are annotated as read-only.
    :param frozen_params: values of parameters that scripts can neither see nor set.
    :param decode: ``"json"`` decodes a text that is the only content of a result.
    :raises SourceError: if the options are invalid.
    """
    is_url = isinstance(server, str) and server.startswith(("http://", "https://"))
    words = [] if is_url else _words(server)
    options = {
        "url": server if is_url else None,
        "command": words[0] if words else None,
        "args": words[1:],
        "env": dict(env or {}),
        "inherit_env": list(inherit_env),
        "headers": dict(headers or {}),
        "auth": auth,
        "auth_env": auth_env,
        "allow_private": allow_private,
        "allow": list(allow),
        "deny": list(deny),
        "read_only": read_only,
        "frozen_params": dict(frozen_params or {}),
        "decode": decode,
    }
    name = name or (_host_name(str(server)) if is_url else _program_name(words))
    return connect_mcp_server(name, _given(options), working_directory)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _words(server: str | Sequence[str]) -> list[str]:
    if isinstance(server, str):
        import shlex

        words = shlex.split(server)
    else:
        words = list(server)
    if not words:
        raise ValueError("the command of the MCP server is missing")
    return words


def _identifier(text: str) -> str:
    name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in text).strip("_").lower()
    if not name or name[0].isdigit():
        raise ValueError(f"no name can be derived from {text!r}; pass name=")
    return name


def _specification_name(spec: str) -> str:
    path = spec.split("?", 1)[0].split("#", 1)[0].replace("\\", "/")
    stem = path.rstrip("/").rsplit("/", 1)[-1].split(".", 1)[0]
    name = _identifier(stem)
    if name in GENERIC_NAMES:
        raise ValueError(f"the file name of {spec!r} does not name the API; pass name=")
    return name


def _program_name(words: list[str]) -> str:
    program = words[0].replace("\\", "/").rsplit("/", 1)[-1]
    candidates = [program]
    if program.split(".", 1)[0] in LAUNCHERS:
        candidates = [word for word in words[1:] if not word.startswith("-") and word not in ("run", "exec", "dlx", "tool")] or candidates
    # `@scope/server-name@1.2` and `path/to/server.py`.
    package = candidates[0].replace("\\", "/").rsplit("/", 1)[-1].split("@", 1)[0]
    name = _identifier(package.removesuffix(".py").removesuffix(".js").removesuffix(".mjs").removesuffix(".exe"))
    for affix in ("mcp_server_", "server_", "mcp_"):
        name = name.removeprefix(affix) or name
    for affix in ("_mcp_server", "_server", "_mcp"):
        name = name.removesuffix(affix) or name
    return name


def _host_name(url: str) -> str:
    host = url.split("//", 1)[1].split("/", 1)[0].rsplit("@", 1)[-1].rsplit(":", 1)[0]
    labels = [label for label in host.split(".") if label not in ("mcp", "www", "api")]
    return _identifier(labels[0] if labels else host)
