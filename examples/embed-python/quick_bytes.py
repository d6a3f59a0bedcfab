"""Makes `list<u8>` quick in the wasmtime package.

The package moves each byte through several Python objects, which takes about two microseconds: a megabyte is two seconds, which a
script could make the host spend by one `print`. All bytes of a list lie at equal distances in memory, so they can be taken, or
put there, at once. This replaces two methods of the package's, which is why `requirements.txt` names one version of it; everything
works without, only slower.
"""

from __future__ import annotations

import ctypes
from typing import Any

from wasmtime import _ffi as ffi
from wasmtime.component import ListType

VALUE = ffi.wasmtime_component_val_t
STRIDE = ctypes.sizeof(VALUE)
KIND = VALUE.kind.offset
BYTE = VALUE.of.offset

convert_from_c = ListType.convert_from_c
convert_to_c = ListType.convert_to_c


def quick_from_c(self: ListType, value: Any) -> Any:
    size = value.of.list.size
    if size == 0 or not self._is_bytes():
        return convert_from_c(self, value)
    try:
        memory = (ctypes.c_ubyte * (size * STRIDE)).from_address(ctypes.addressof(value.of.list.data.contents))
        return memoryview(memory)[BYTE::STRIDE].tobytes()
    finally:
        ffi.wasmtime_component_vallist_delete(ctypes.byref(value.of.list))


def quick_to_c(self: ListType, store: Any, data: Any, pointer: Any) -> None:
    if not data or not isinstance(data, bytes) or not self._is_bytes():
        convert_to_c(self, store, data, pointer)
        return
    image = bytearray(len(data) * STRIDE)
    image[KIND::STRIDE] = bytes([ffi.WASMTIME_COMPONENT_U8.value]) * len(data)
    image[BYTE::STRIDE] = data
    values = ffi.wasmtime_component_vallist_t()
    ffi.wasmtime_component_vallist_new_uninit(ctypes.byref(values), len(data))
    ctypes.memmove(values.data, bytes(image), len(image))
    pointer.contents.kind = ffi.WASMTIME_COMPONENT_LIST
    pointer.contents.of.list = values


def install() -> None:
    ListType.convert_from_c = quick_from_c  # type: ignore[method-assign]
    ListType.convert_to_c = quick_to_c  # type: ignore[method-assign]
