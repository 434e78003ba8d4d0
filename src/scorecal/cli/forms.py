"""Predictions from the columns of a table: means and spreads, quantiles, members of an ensemble, counts, or classes."""

import argparse
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..predictions import AnyPredictions, Gaussian, as_predictions, from_quantiles, from_samples
from .classes import check_classes
from .table import InputError, Table, shown

_RANGE = re.compile(r"(.*?)(\d+)\.\.(?:\1)?(\d+)")
_MOST_MEMBERS = 10_000


class Quantile(NamedTuple):
    """A column of quantiles, and the level that it is for."""

    level: float
    column: str


def quantile(text: str) -> Quantile:
    """Return the level and the column of LEVEL:COL."""
    number, _, column = text.partition(":")
    try:
        level = float(number)
    except ValueError:
        level = math.nan
    if not column or not 0 < level < 1:
        percent = f", or {level / 100:g}:{column}" if column and 1 <= level < 100 else ""
        raise argparse.ArgumentTypeError(
            f"must be a level between 0 and 1 and a column, such as 0.9:q90{percent}, but is {text[:40]!r}"
        )
    return Quantile(level, column)


def members(names: Sequence[str]) -> list[str]:
    """Return the names of columns, with ranges such as m1..m50 written out."""
    found = []
    for name in names:
        whole = _RANGE.fullmatch(name)
        if whole is None:
            found.append(name)
            continue
        first, last = int(whole[2]), int(whole[3])
        if not first < last < first + _MOST_MEMBERS:
            raise InputError(f"--samples {shown(name)}: the range must go up, by at most {_MOST_MEMBERS} columns.")
        width = len(whole[2]) if whole[2].startswith("0") else 0
        found += [f"{whole[1]}{k:0{width}d}" for k in range(first, last + 1)]
    return found


def check_forms(chosen: argparse.Namespace) -> None:
    """Raise unless the options say, in one way, what the predictions are."""
    if chosen.output_type:
        raise InputError("--output-type is for the output of a hub: give --hub as well.")
    check_classes(chosen)
    ways = [option for option in ("classes", "quantiles", "samples", "count") if getattr(chosen, option)]
    if not ways:
        if chosen.variance:
            raise InputError("--variance is for counts: give --count as well, or --std.")
        _check_gaussian(chosen)
        return
    form = ways[0]
    allowed = {"mean", "variance"} if form == "count" else set()
    other = [option for option in ("mean", "std", "covariance", "variance") if getattr(chosen, option)]
    unfit = [*ways[1:], *(option for option in other if option not in allowed)]
    if unfit:
        raise InputError(f"--{form} and --{unfit[0]} say in two ways what is predicted: leave one of them out.")
    if len(chosen.target) != 1:
        raise InputError(f"--{form} is for one target: --target must name one column, but names {len(chosen.target)}.")
    if form == "count" and (len(chosen.mean) != 1 or len(chosen.variance) > 1):
        raise InputError("--count needs --mean with one column, and --variance with one for a negative binomial.")
    if form == "quantiles" and len(chosen.quantiles) < 2:
        raise InputError("--quantiles needs at least two, such as 0.05:q05 0.95:q95.")


def columns_of_forms(chosen: argparse.Namespace) -> dict[str, list[str]]:
    """Columns that hold predictions, by option."""
    return {
        "--mean": chosen.mean,
        "--std": chosen.std,
        "--covariance": chosen.covariance,
        "--variance": chosen.variance,
        "--classes": [each.column for each in chosen.classes],
        "--quantiles": [each.column for each in chosen.quantiles],
        "--samples": members(chosen.samples),
    }


def numbers_of(table: Table, names: Sequence[str]) -> np.ndarray:
    """Return some columns of numbers, (n, q)."""
    return np.stack([table.numbers[name] for name in names], axis=1)


def predictions_of(table: Table, chosen: argparse.Namespace) -> AnyPredictions:
    """Return the predictions that the options say."""
    if chosen.quantiles:
        ordered = sorted(chosen.quantiles)
        levels = [each.level for each in ordered]
        if len(set(levels)) < len(levels):
            raise InputError("--quantiles names a level twice.")
        return from_quantiles(levels, numbers_of(table, [each.column for each in ordered]))
    if chosen.samples:
        return from_samples(numbers_of(table, members(chosen.samples)))
    return _counts(table, chosen) if chosen.count else _gaussian(table, chosen)


def _counts(table: Table, chosen: argparse.Namespace) -> AnyPredictions:
    from scipy import stats

    (name,), (target,) = chosen.mean, chosen.target
    mean, y = table.numbers[name], table.numbers[target]
    table.check(name, mean, mean <= 0, "the mean of a count must be positive")
    table.check(target, y, (y < 0) | (y % 1.0 != 0), "a count must be a whole number of 0 or more")
    if not chosen.variance:
        return as_predictions(stats.poisson(mean))  # type: ignore[no-any-return]
    (name,) = chosen.variance
    variance = table.numbers[name]
    less = "the variance of a count must be larger than its mean, or --variance be left out, for a Poisson distribution"
    table.check(name, variance, variance <= mean, less)
    return as_predictions(stats.nbinom(mean**2 / (variance - mean), mean / variance))  # type: ignore[no-any-return]


def _check_gaussian(chosen: argparse.Namespace) -> None:
    """Raise unless the options name columns for all that Gaussian predictions need."""
    d = len(chosen.target)
    if not chosen.mean and not d:
        raise InputError(
            "--mean, --target and one of --std and --covariance are needed, to say which columns they are."
        )
    if not d or len(chosen.mean) != d:
        raise InputError(
            f"--mean and --target must name as many columns each, one for each dimension, but name {len(chosen.mean)} "
            f"and {d}."
        )
    if bool(chosen.std) == bool(chosen.covariance):
        raise InputError("one of --std and --covariance is needed, and not both.")
    if chosen.std and len(chosen.std) != d:
        raise InputError(f"--std must name {d} columns, one for each of --mean, but names {len(chosen.std)}.")
    if chosen.covariance and len(chosen.covariance) not in (d * d, d * (d + 1) // 2):
        raise InputError(
            f"--covariance must name {d * (d + 1) // 2} columns, the upper triangle row by row, or {d * d}, but names "
            f"{len(chosen.covariance)}."
        )


def _gaussian(table: Table, chosen: argparse.Namespace) -> Gaussian:
    mean = numbers_of(table, chosen.mean)
    if chosen.covariance:
        return Gaussian(mean, covariance=_covariance(table, chosen.covariance, len(chosen.mean)))
    for name in chosen.std:
        sd = table.numbers[name]
        table.check(name, sd, sd <= 0, "a standard deviation must be positive")
        beyond = (sd < 1e-150) | (sd > 1e150)
        table.check(name, sd, beyond, "a standard deviation must have a square that can be computed")
    return Gaussian(mean, numbers_of(table, chosen.std))


def _covariance(table: Table, names: list[str], d: int) -> np.ndarray:
    covariance = np.empty((table.n, d, d))
    whole = len(names) == d * d
    places = [(k, m) for k in range(d) for m in range(0 if whole else k, d)]
    for (k, m), name in zip(places, names, strict=True):
        covariance[:, k, m] = table.numbers[name]
        if not whole:
            covariance[:, m, k] = table.numbers[name]
    smallest = np.linalg.eigvalsh(0.5 * (covariance + np.swapaxes(covariance, 1, 2)))[:, 0]
    if np.any(smallest <= 0):
        row = int(np.argmax(smallest <= 0))
        raise InputError(f"{table.place(row, names[0])}: the covariance of this row is not positive definite.")
    return covariance
