"""Converts return values of functions that are not of a JSON type."""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import os
import uuid
from typing import Any


def simplify(value: Any) -> Any:
    """Returns a value as a dict, a list, a str, a number or bytes. Raises ``TypeError`` if there is no conversion."""
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    # Models of pydantic, scalars and arrays of NumPy.
    for method in ("model_dump", "tolist"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if isinstance(value, (collections.abc.Set, collections.abc.Sequence, collections.abc.Iterator)):
        return list(value)
    raise TypeError(f"a value of the type {type(value).__name__} can't be passed to a script")
