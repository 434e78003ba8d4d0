"""Text of a function's bytecode, and the values it refers to: the code that runs, even if its file has changed."""

import dis
import inspect
from bisect import bisect_left
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

# They fill space: the compiler leaves some of them where a statement goes over several lines.
_FILLING = {"CACHE", "EXTENDED_ARG", "NOP"}
_JUMPS = {*dis.hasjabs, *dis.hasjrel}
_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME"}
_ENCLOSED = {"LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_EMPTY = CellType()  # an enclosing variable that has no value yet


def instructions(code: CodeType) -> str:
    """Return all that a function does, as text; comments, docstrings, layout and places in a file are no part of it."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in _FILLING]
    offsets = [step.offset for step in steps]
    lines = [
        f"{step.opname} {bisect_left(offsets, step.argval) if step.opcode in _JUMPS else _constant(step.argval)}"
        for step in steps
    ]
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    kinds = (code.co_argcount, code.co_posonlyargcount, code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
    return "\n".join([f"{arguments} {kinds} {code.co_exceptiontable!r}", *lines])


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return f"({instructions(value)})"
    if isinstance(value, frozenset):  # their order changes from process to process
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)


def references(function: FunctionType, is_own: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    """Names and values of globals and enclosing variables that a function reads; modules of one's own by attribute."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    enclosed = {name: cell.cell_contents for name, cell in cells if cell != _EMPTY}
    for code in _with_nested(function.__code__):
        steps = list(dis.get_instructions(code))
        for place, step in enumerate(steps):
            space = function.__globals__ if step.opname in _GLOBAL else enclosed if step.opname in _ENCLOSED else {}
            if step.argval in space:
                name, value = step.argval, space[step.argval]
                for following in steps[place + 1 :]:
                    if following.opname not in _ATTRIBUTE or not isinstance(value, ModuleType):
                        break
                    if not is_own(value.__name__) or not hasattr(value, following.argval):
                        break
                    name, value = f"{name}.{following.argval}", getattr(value, following.argval)
                yield name, value


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_nested(constant)
