"""Speeds up `list<u8>` in the wasmtime package.

The package converts each byte through several Python objects, which takes about two microseconds per byte. A script could then occupy
the host for two seconds with one `print` of a megabyte. The bytes of a list have a fixed stride in memory, so one slice can copy all of
them. This module replaces two methods of the package, which is why `examples/embed-component/requirements.txt` pins its version. The host also
works without this module, only slower.
"""

from __future__ import annotations

import ctypes
from typing import Any

from wasmtime import _ffi as ffi
from wasmtime.component import ListType

VALUE = ffi.wasmtime_component_val_t
STRIDE = ctypes.sizeof(VALUE)
KIND_OFFSET = VALUE.kind.offset
BYTE_OFFSET = VALUE.of.offset

slow_convert_from_c = ListType.convert_from_c
slow_convert_to_c = ListType.convert_to_c


def convert_from_c(self: ListType, value: Any) -> Any:
    size = value.of.list.size
    if size == 0 or not self._is_bytes():
        return slow_convert_from_c(self, value)
    try:
        memory = (ctypes.c_ubyte * (size * STRIDE)).from_address(ctypes.addressof(value.of.list.data.contents))
        return memoryview(memory)[BYTE_OFFSET::STRIDE].tobytes()
    finally:
        ffi.wasmtime_component_vallist_delete(ctypes.byref(value.of.list))


def convert_to_c(self: ListType, store: Any, data: Any, pointer: Any) -> None:
    if not data or not isinstance(data, bytes) or not self._is_bytes():
        slow_convert_to_c(self, store, data, pointer)
        return
    image = bytearray(len(data) * STRIDE)
    image[KIND_OFFSET::STRIDE] = bytes([ffi.WASMTIME_COMPONENT_U8.value]) * len(data)
    image[BYTE_OFFSET::STRIDE] = data
    values = ffi.wasmtime_component_vallist_t()
    ffi.wasmtime_component_vallist_new_uninit(ctypes.byref(values), len(data))
    ctypes.memmove(values.data, bytes(image), len(image))
    pointer.contents.kind = ffi.WASMTIME_COMPONENT_LIST
    pointer.contents.of.list = values


def install() -> None:
    """Replaces the conversions of the package."""
    ListType.convert_from_c = convert_from_c  # type: ignore[method-assign]
    ListType.convert_to_c = convert_to_c  # type: ignore[method-assign]
