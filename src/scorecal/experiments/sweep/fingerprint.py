"""Fingerprints of models and tests: the code and the values behind p-values, which a name alone does not tell."""

import hashlib
import random
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from types import EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from ..._lib.arrays import to_numpy
from .bytecode import instructions, references
from .dataset import Model
from .procedures import AnyTest

PYTHON = "Python"  # the part that says which one's bytecode the others are made of

_PLAIN = (bool, int, float, complex, str, bytes, EllipsisType, type(None))
_RANDOM = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_INSTALLED = {"dist-packages", "site-packages"}
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")


def fingerprint(value: Model | AnyTest) -> dict[str, str]:
    """Digests of the code and the values behind a model or a test, by name: the same in every process.

    A function is known by what it does (comments, docstrings and layout do not count), its defaults, and the globals
    and enclosing variables that it reads. Functions and classes among these are followed, to any depth, in files of
    one's own and in the package of the function given; those of scorecal, of other installed packages and of the
    standard library are known by name. A dataclass is known by the fields that it compares, any other object by what
    `pickle` would save, or by its type where that is nothing. States of random numbers of NumPy and Python do not
    count.

    What a function finds out only when it runs is not seen: imports inside it, files, the environment, methods of
    its arguments.
    """
    chosen = {entry.name: getattr(value, entry.name) for entry in fields(value) if entry.name != "name"}
    search = _Search({_package(each) for each in chosen.values()})
    for name, each in chosen.items():
        search.note(name, search.describe(each))
    return search.parts


@dataclass
class _Search:
    """The parts found so far, and the texts that stand for objects met before."""

    packages: set[str]
    parts: dict[str, str] = field(default_factory=dict)
    # By identity, with the object: the identity of one that is gone may be given to another.
    _texts: dict[int, tuple[object, str]] = field(default_factory=dict)

    def note(self, name: str, text: str) -> None:
        """Add a part, unless it is there; another one of the same name gets a number."""
        digest = _digest(text)
        self.parts[next(each for each in _numbered(name) if self.parts.get(each, digest) == digest)] = digest

    def describe(self, value: Any) -> str:
        """Return text that is the same for the same value in every process."""
        if isinstance(value, _PLAIN):
            return f"{type(value).__name__} {value!r}"
        if id(value) not in self._texts:
            self._texts[id(value)] = (value, "itself")  # until it is known: an object may hold itself
            self._texts[id(value)] = (value, self._describe(value))
        return self._texts[id(value)][1]

    def _describe(self, value: Any) -> str:
        kind = type(value)
        if isinstance(value, FunctionType) and self._is_own(value.__globals__.get("__name__", "")):
            return self._own(value, f"{value.__name__}()", self._read_function)
        if isinstance(value, type) and self._is_own(value.__module__):
            return self._own(value, f"class {value.__name__}", self._read_class)
        if isinstance(value, ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, FunctionType):  # of a library, even if it took over the name of what it decorates
            return self._by_name(value, f"{value.__globals__['__name__']}.{value.__code__.co_qualname}")
        if isinstance(value, type):
            return _name(value)
        if isinstance(value, partial):
            return self._all(kind, (value.func, value.args, value.keywords))
        if isinstance(value, MethodType):
            return self._all(kind, (value.__func__, value.__self__))
        if isinstance(value, property):
            return self._all(kind, (value.fget, value.fset))
        if kind in (list, tuple):
            return self._all(kind, value)
        if kind is dict:
            return self._all(kind, (part for item in value.items() for part in item))
        if kind in (set, frozenset):
            return _digest(_name(kind), *sorted(map(self.describe, value)))
        if isinstance(value, _RANDOM):
            return _name(kind)
        if is_array_api_obj(value):
            return self._array(value)
        if is_dataclass(value):
            return self._all(kind, (getattr(value, entry.name) for entry in fields(value) if entry.compare))
        return self._pickled(value)

    def _own(self, value: Any, name: str, read: Callable[[Any], str]) -> str:
        """Make a part of a function or a class, and return its name."""
        name = next(each for each in _numbered(name) if each not in self.parts)
        self._texts[id(value)] = (value, name)
        self.parts[name] = ""  # its place: what it refers to may have the same name
        self.parts[name] = read(value)
        return name

    def _read_function(self, function: FunctionType) -> str:
        self.parts[PYTHON] = f"{sys.version_info.major}.{sys.version_info.minor}"
        for name, value in references(function, self._is_own):
            text = self.describe(value)
            if text != f"{name}()":
                self.note(name, text)
        defaults = self.describe((function.__defaults__, function.__kwdefaults__))
        return _digest(instructions(function.__code__), defaults)

    def _read_class(self, kind: type) -> str:
        """Bases, methods and values; of what Python itself adds, under names like `__module__`, only the methods."""
        own = {
            name: value
            for name, value in sorted(vars(kind).items())  # their order is lost where a class was sent to a worker
            if isinstance(value, (FunctionType, classmethod, staticmethod)) or not name.startswith("__")
        }
        return self._all(type, (kind.__bases__, own))

    def _array(self, value: Any) -> str:
        for read in (to_numpy, _listed):  # NumPy has no bfloat16
            with suppress(Exception):
                array = read(value)
                content = self.describe(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
                return _digest(f"array {value.dtype} {tuple(value.shape)}", hashlib.sha256(content).hexdigest())
        return self._pickled(value)  # sparse, or without values

    def _pickled(self, value: Any) -> str:
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # a lock, an open file: whatever the type says of why it cannot be pickled
            return self._by_name(value, _name(type(value)))
        if isinstance(reduced, str):
            return self._by_name(value, f"{_name(type(value))} {reduced}")
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        return self._all(type(value), (make, arguments, state, list(items or ()), list(pairs or ())))

    def _by_name(self, value: Any, name: str) -> str:
        """Return the name, with the function that a library's decorator has made the value from."""
        wrapped = getattr(value, "__wrapped__", None)
        return name if wrapped is None else _digest(name, self.describe(wrapped))

    def _all(self, kind: type, values: Iterable[Any]) -> str:
        return _digest(self.describe(kind), *map(self.describe, values))

    def _is_own(self, module: str) -> bool:
        top = module.partition(".")[0]
        file = getattr(sys.modules.get(module), "__file__", None)
        if top == "scorecal" or top in self.packages:
            return top != "scorecal"
        if file is None:  # typed into Python, or built into it
            return top not in sys.stdlib_module_names
        return not (_INSTALLED & set(Path(file).parts) or Path(file).is_relative_to(_STANDARD_LIBRARY))


def _package(value: Any) -> str:
    while isinstance(value, partial):
        value = value.func
    module: str = getattr(value, "__module__", None) or type(value).__module__
    return module.partition(".")[0]


def _numbered(name: str) -> Iterator[str]:
    return chain([name], (f"{name} {number}" for number in count(2)))


def _listed(array: Any) -> np.ndarray:
    return np.asarray(array.tolist())


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _digest(*texts: str) -> str:
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:32]
