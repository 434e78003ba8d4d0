"""Columns of a table by their use; errors for options that name columns in a way that makes no sense."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .forms import columns_of_forms
from .table import InputError, shown

_AS_LABEL = ":label"
_MOST_NAMES = 20  # in a message
_NOT_THE_TARGET = {
    "by": "Among rows chosen by what was observed the best predictions look biased; choose them by what was known "
    "beforehand.",
    "group": "Name the column that says which rows belong together.",
    "time": "Name the column that says in which order rows follow each other.",
}


@dataclass(frozen=True)
class Columns:
    """Names of columns as options give them: of predictions and targets together, of targets, and by other uses.

    Targets that are classes are `labels`, and not numbers.
    """

    numbers: Sequence[str]
    targets: Sequence[str]
    by: Sequence[str] = ()
    group: str | None = None
    time: str | None = None
    labels: str | None = None
    rest_as_labels: bool = False  # all other columns of the file are read too


class Use(NamedTuple):
    """A column that is not read as numbers only: "by", "group", "time" or "labels", its name, and whether as labels."""

    role: str
    name: str
    as_label: bool


def columns_of(chosen: argparse.Namespace) -> Columns:
    """Columns that the options name; refuse targets that are used twice."""
    labels = chosen.target[0] if chosen.classes else None
    return Columns(_numbers_of(chosen), chosen.target, chosen.by, chosen.group, chosen.time, labels)


def _numbers_of(chosen: argparse.Namespace) -> list[str]:
    """Columns that hold predictions and targets, each once."""
    roles = columns_of_forms(chosen)
    for k, name in enumerate(chosen.target):
        if name in chosen.target[:k]:
            raise InputError(f"--target names the column {shown(name)} twice.")
        for option, names in roles.items():
            if name in names:
                raise InputError(
                    f"the column {shown(name)} is named by --target and by {option}; a prediction must not hold what "
                    "was observed."
                )
    targets = [] if chosen.classes else chosen.target
    return list(dict.fromkeys([*(name for names in roles.values() for name in names), *targets]))


def place_of(source: str, header: Sequence[str], name: str) -> int:
    """Return the place of the column of this name in the header."""
    if header.count(name) != 1:
        there = "more than one column" if name in header else "no column"
        some = ", ".join(map(shown, header[:_MOST_NAMES]))
        rest = f" and {len(header) - _MOST_NAMES} more" if len(header) > _MOST_NAMES else ""
        raise InputError(f"{source}: there is {there} {shown(name)}; the columns are {some}{rest}.")
    return header.index(name)


def uses_of(source: str, header: Sequence[str], columns: Columns) -> list[Use]:
    """Return the uses of columns beside numbers; refuse those that are not there or make no sense."""
    found: list[Use] = []
    targets = columns.targets
    if columns.labels is not None:
        observed = _as_labels_or_not(source, header, "target", columns.labels)._replace(role="labels")
        place_of(source, header, observed.name)
        targets = [observed.name]
    for given in columns.by:
        use = _as_labels_or_not(source, header, "by", given)
        if any(use.name == other.name for other in found):
            raise InputError(f"--by names the column {shown(use.name)} twice.")
        found.append(use)
    if columns.group is not None:
        found.append(_as_labels_or_not(source, header, "group", columns.group))
    if columns.time is not None:
        found.append(Use("time", columns.time, False))
    if columns.rest_as_labels:
        found += [Use("by", name, True) for name in header if name not in columns.numbers]
    for use in found:
        place_of(source, header, use.name)
        if use.name in targets:
            given = f"{use.name}{_AS_LABEL if use.as_label else ''}"
            raise InputError(f"--{use.role} {given}: that column is the --target. {_NOT_THE_TARGET[use.role]}")
    return found if columns.labels is None else [*found, observed]


def _as_labels_or_not(source: str, header: Sequence[str], role: str, given: str) -> Use:
    """NAME:label is the column NAME as labels; if there is a column of the whole name and none of NAME, that one."""
    name = given.removesuffix(_AS_LABEL)
    if name != given and given in header:
        if name in header:
            raise InputError(
                f"{source}: --{role} {given} may mean the column {shown(name)} as labels, or the column "
                f"{shown(given)}; write {given}{_AS_LABEL} for the latter, or rename a column."
            )
        name = given
    return Use(role, name, name != given)
