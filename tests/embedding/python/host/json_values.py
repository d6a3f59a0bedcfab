"""JSON values that contain bytes, as functions receive and return them. JSON itself cannot represent bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class JsonValue:
    """JSON text with an empty string at the location of each attachment, which is bytes by a JSON pointer (RFC 6901)."""

    text: str
    attachments: dict[str, bytes] = field(default_factory=dict)

    def size(self) -> int:
        return len(self.text.encode()) + sum(len(pointer.encode()) + len(content) for pointer, content in self.attachments.items())


def encode(value: Any) -> JsonValue | bytes:
    """Encodes the result of a function. Raises an error if it cannot be written as JSON."""
    if isinstance(value, bytes):
        return value
    attachments: dict[str, bytes] = {}
    text = json.dumps(take_bytes(value, "", attachments), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Raises an error for a text with surrogates, which are not UTF-8.
    text.encode("utf-8")
    return JsonValue(text, attachments)


def take_bytes(value: Any, pointer: str, attachments: dict[str, bytes]) -> Any:
    """Returns the value with an empty string instead of each `bytes`."""
    if isinstance(value, bytes):
        attachments[pointer] = value
        return ""
    if isinstance(value, dict):
        return {key: take_bytes(item, f"{pointer}/{escape(str(key))}", attachments) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [take_bytes(item, f"{pointer}/{index}", attachments) for index, item in enumerate(value)]
    return value


def decode(value: JsonValue | bytes) -> Any:
    """Decodes an argument. Raises an error if the text is not JSON."""
    if isinstance(value, bytes):
        return value
    decoded = json.loads(value.text, parse_constant=reject_constant)
    for pointer, content in value.attachments.items():
        decoded = put_bytes(decoded, pointer, content)
    return decoded


def put_bytes(value: Any, pointer: str, content: bytes) -> Any:
    """Returns the value with the bytes at this location. Ignores a location that does not exist."""
    if not pointer:
        return content
    *parents, last = [unescape(part) for part in pointer.split("/")[1:]]
    try:
        target = value
        for part in parents:
            target = target[int(part) if isinstance(target, list) else part]
        target[int(last) if isinstance(target, list) else last] = content
    except (LookupError, TypeError, ValueError):
        pass
    return value


def escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def unescape(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def reject_constant(name: str) -> Any:
    """Rejects NaN and Infinity, which `json.loads` accepts although they are not JSON."""
    raise ValueError(name)
