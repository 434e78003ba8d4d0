"""Predictions of classes from the columns of a table: probabilities, and a column of labels that were observed."""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..predictions import Categorical
from .table import InputError, Table, shown

_AS_ROUNDED, _MOST = 0.005, 0.05  # that sums of rounded probabilities are off by, for each class, and at most
_EXACT = 1e-5
_MOST_NAMED = 8
_YES = {"1": "0", "true": "false"}  # what a column alone is the probability of, and what it is not


class ClassColumn(NamedTuple):
    """A column of probabilities, and the class that it is for; None where the name of the column says it."""

    label: str | None
    column: str


def class_column(text: str) -> ClassColumn:
    """Return the class and the column of LABEL:COL, or of COL."""
    label, mark, column = text.partition(":")
    if not mark:
        label, column = "", text
    if not column or (mark and not label):
        raise argparse.ArgumentTypeError(f"must be LABEL:COL, such as cat:p_cat, or COL, but is {text[:40]!r}")
    return ClassColumn(label if mark else None, column)


def check_classes(chosen: argparse.Namespace) -> None:
    """Raise unless the options for classes go together."""
    given: Sequence[ClassColumn] = chosen.classes
    if not given:
        wrong = [f"--{option}" for option in ("ordinal", "tolerate-error") if getattr(chosen, option.replace("-", "_"))]
        if wrong:
            raise InputError(f"{wrong[0]} is for classes: give --classes with their columns as well.")
        return
    check_tolerances(chosen)
    for what, names in (("column", [each.column for each in given]), ("class", [_name(each) for each in given])):
        again = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if again is not None:
            raise InputError(f"--classes names the {what} {shown(again)} twice.")


def check_tolerances(chosen: argparse.Namespace) -> None:
    """Raise where a tolerance is not for classes."""
    for option in ("tolerate_bias", "tolerate_spread"):
        if getattr(chosen, option) is not None:
            raise InputError(
                f"--{option.replace('_', '-')} is not for classes, which have no bias or spread in units: give "
                "--tolerate-error with the largest calibration error that is good enough, such as 0.05."
            )


def classes_of(table: Table, chosen: argparse.Namespace) -> tuple[Categorical, np.ndarray, list[str]]:
    """Return predictions, observed labels, and what should be known about how they were read."""
    ((name, texts),) = table.labels.items()
    given: Sequence[ClassColumn] = chosen.classes
    for each in given:
        values = table.numbers[each.column]
        percent = "; percentages must be divided by 100" if 1 < np.nanmax(values) <= 100 else ""
        outside = (values < 0) | (values > 1)
        table.check(each.column, values, outside, f"a probability must lie between 0 and 1{percent}")
    said: list[str] = []
    if len(given) == 1:
        names, p = _of_two(name, texts, given[0]), table.numbers[given[0].column]
    else:
        names = tuple(map(_name, given))
        p, said = _adding_up(table, given)
    numbers = _numbers_of(table, name, texts, names, given)
    predictions = Categorical(p, labels=names, ordinal=chosen.ordinal)
    return predictions, np.array(names, dtype=object)[numbers], said


def _name(given: ClassColumn) -> str:
    return given.column if given.label is None else given.label


def _of_two(name: str, texts: np.ndarray, given: ClassColumn) -> tuple[str, ...]:
    """Return the names of two classes, of which the column holds the probability of the second."""
    found = sorted({_plain(text) for text in texts})
    if given.label is None:
        second = next((yes for yes, no in _YES.items() if {each.lower() for each in found} <= {yes, no}), None)
        if second is None:
            raise InputError(
                f"--classes {given.column} does not say of which class it is the probability: write LABEL:COL, such "
                f"as {found[-1]}:{given.column}, and name a column for each class if there are more than two. Column "
                f"{shown(name)} holds {_some(found)}."
            )
        return _YES[second], second
    others = [text for text in found if text != _plain(given.label)]
    if len(others) > 1:
        raise InputError(
            f"--classes names one column, for the class {shown(given.label)}, but column {shown(name)} holds "
            f"{len(found)} classes, {_some(found)}: name a column for each of them."
        )
    return others[0] if others else f"not {given.label}", given.label


def _adding_up(table: Table, given: Sequence[ClassColumn]) -> tuple[np.ndarray, list[str]]:
    """Return probabilities (n, K) that add up to 1, scaled if they were rounded."""
    p = np.stack([table.numbers[each.column] for each in given], axis=1)
    totals = np.sum(p, axis=1)
    off = np.abs(totals - 1.0)
    far = off > min(_MOST, _AS_ROUNDED * len(given)) + _EXACT
    if np.any(far):
        row = int(np.argmax(far))
        raise InputError(
            f"{table.place(row, given[0].column)}: the probabilities of --classes add up to {totals[row]:.6g} in this "
            "row, and not to 1. Likely causes: a class without a column, or scores that are no probabilities."
        )
    if np.max(off) <= _EXACT:
        return p, []
    ends = f"{np.min(totals):.4g} to {np.max(totals):.4g}"
    return p / totals[:, None], [f"Probabilities add up to {ends}, as rounded ones do, and were scaled to 1."]


def _numbers_of(
    table: Table, name: str, texts: np.ndarray, names: Sequence[str], given: Sequence[ClassColumn]
) -> np.ndarray:
    """Return the numbers of the observed classes; raise for the first that has no name."""
    folded = names in [(no, yes) for yes, no in _YES.items()]
    places = {_plain(each): k for k, each in enumerate(names)}
    plain = {text: _plain(text).lower() if folded else _plain(text) for text in set(texts.tolist())}
    numbers = np.array([places.get(plain[text], -1) for text in texts])
    if np.any(numbers < 0):
        row = int(np.argmax(numbers < 0))
        like = [each.column for each in given if str(texts[row]).lower() in each.column.lower()]
        cure = "spelling, or a class without a column"
        if like:
            cure = f"names of columns that are not those of classes; write {texts[row]}:{like[0]}"
        raise InputError(
            f"{table.place(row, name)}: the class is {shown(str(texts[row]))}, which --classes does not name; it names "
            f"{_some(names)}. Likely cause: {cure}."
        )
    return numbers


def _plain(text: str) -> str:
    """A label, with numbers written in one way: 1, 1.0 and 01 are the same."""
    try:
        return f"{float(text):.17g}"
    except ValueError:
        return text


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(shown, names[:_MOST_NAMED])) + more
