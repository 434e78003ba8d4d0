"""Properties that are computed once."""

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")


def cached_property(function: Callable[[Any], Value]) -> functools.cached_property[Value]:
    """As `functools.cached_property` of Python 3.12, which has no lock, in Python 3.11, too.

    All instances of a class share that lock. Were one thread to hold it while another forks, the child would wait for
    it for ever.
    """
    made = functools.cached_property(function)
    made.lock = nullcontext()  # type: ignore[attr-defined]
    return made
