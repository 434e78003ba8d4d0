"""Sizes for every level of every covariate: each label, and each quarter of a number or a time."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._lib.covariates import is_label
from ..views.covariates import MOST_LABELS
from .cuts import quarters_of
from .estimates import biases, marginal_ratios
from .residuals import Residuals
from .sizes import Estimate, Sizes, Units

LEAST_ROWS = 10
_UNTOLD = Estimate(np.nan, np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class Level:
    """The rows with one label of a covariate, or in one quarter of its values, and the sizes of errors there.

    Attributes
    ----------
    covariate, name : str
        The covariate, and these rows in words, such as "station = north" or "x > 1.04".
    n : int
        Number of rows.
    bias, confidence_ratio : tuple of Estimate
        For each dimension, over these rows; NaN, "cannot be estimated", for fewer than ten of them.
    """

    covariate: str
    name: str
    n: int
    bias: tuple[Estimate, ...]
    confidence_ratio: tuple[Estimate, ...]


@dataclass(frozen=True, eq=False)
class LevelSizes:
    """A level before its intervals are known: biases and ratios, or none for too few rows."""

    covariate: str
    name: str
    n: int
    sizes: tuple[Sizes, ...]

    def at(self, d: int, tail: float) -> Level:
        """Return the level with intervals of level 1 - `tail`."""
        estimates = tuple(each.estimates(tail) for each in self.sizes) or ((_UNTOLD,) * d,) * 2
        return Level(self.covariate, self.name, self.n, *estimates)


def level_sizes(found: Residuals, covariates: Mapping[str, np.ndarray], units: Units) -> list[LevelSizes]:
    """Biases and ratios of the rows of each level of each covariate that has more than one."""
    levels = []
    for covariate, values in covariates.items():
        for name, rows in rows_of_levels(covariate, values):
            enough = len(rows) >= LEAST_ROWS
            sizes = (biases(found.marginal, units, rows), marginal_ratios(found, units, rows)) if enough else ()
            levels.append(LevelSizes(covariate, name, len(rows), sizes))
    return levels


def rows_of_levels(name: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return the name and the rows of each level of a covariate; none if there is one only."""
    codes, names = _levels(name, values)
    if len(names) == 1:
        return []
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1])
    return list(zip(names, parts, strict=True))


def _levels(name: str, values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """For each row the number of its level, and the names of the levels."""
    if not is_label(values):
        cuts, names = quarters_of(name, values)
        return np.searchsorted(cuts, values, side="left"), names
    labels, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    names = [f"{name} = {label}" for label in labels]
    if len(labels) > MOST_LABELS:
        often = np.sort(np.argsort(-counts, kind="stable")[:MOST_LABELS])
        place = np.full(len(labels), MOST_LABELS)
        place[often] = np.arange(MOST_LABELS)
        codes, names = place[codes], [*(names[k] for k in often), f"{name} = another of {len(labels)} labels"]
    return codes, names
