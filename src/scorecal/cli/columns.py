"""Columns of a table by their use; errors for options that name columns in a way that makes no sense."""

import argparse
from collections.abc import Mapping, Sequence

from .table import InputError, shown

_AS_LABEL = ":label"
_MOST_NAMES = 20  # in a message


def numbers_of(chosen: argparse.Namespace) -> list[str]:
    """Columns that hold predictions and targets, each once; refuse targets that are used twice."""
    roles = {"--mean": chosen.mean, "--std": chosen.std, "--covariance": chosen.covariance}
    for k, name in enumerate(chosen.target):
        if name in chosen.target[:k]:
            raise InputError(f"--target names the column {shown(name)} twice.")
        for option, names in roles.items():
            if name in names:
                raise InputError(
                    f"the column {shown(name)} is named by --target and by {option}; a prediction must not hold what "
                    "was observed."
                )
    return list(dict.fromkeys([*chosen.mean, *chosen.std, *chosen.covariance, *chosen.target]))


def place_of(source: str, header: Sequence[str], name: str) -> int:
    """Return the place of the column of this name in the header."""
    if header.count(name) != 1:
        there = "more than one column" if name in header else "no column"
        some = ", ".join(map(shown, header[:_MOST_NAMES]))
        rest = f" and {len(header) - _MOST_NAMES} more" if len(header) > _MOST_NAMES else ""
        raise InputError(f"{source}: there is {there} {shown(name)}; the columns are {some}{rest}.")
    return header.index(name)


def columns_by(source: str, header: Sequence[str], by: Sequence[str], targets: Sequence[str]) -> Mapping[str, bool]:
    """Columns that `--by` names, and whether each is to be taken as labels.

    NAME:label is the column NAME as labels; if there is a column of the whole name and none of NAME, it is that one.
    """
    found: dict[str, bool] = {}
    for given in by:
        name = given.removesuffix(_AS_LABEL)
        if name != given and given in header:
            if name in header:
                raise InputError(
                    f"{source}: --by {given} may mean the column {shown(name)} as labels, or the column "
                    f"{shown(given)}; write {given}{_AS_LABEL} for the latter, or rename a column."
                )
            name = given
        place_of(source, header, name)
        if name in targets:
            raise InputError(
                f"--by {given}: that column is the --target. Among rows chosen by what was observed the best "
                "predictions look biased; choose them by what was known beforehand."
            )
        if name in found:
            raise InputError(f"--by names the column {shown(name)} twice.")
        found[name] = name != given
    return found
