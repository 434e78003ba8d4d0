"""The result of `diagnose`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .estimates import Correlation, Direction, Estimate
from .words import sentences_of, text_of


@dataclass(frozen=True, eq=False)
class Region:
    """The rows, chosen by one covariate, in which predictions differ most from the rest.

    Attributes
    ----------
    name, covariate : str
        The region in words, such as "x > 1.04", and its covariate.
    n : int
        Number of rows in it.
    pvalue, contrast_pvalue : float
        That predictions are calibrated there; and that they are wrong there as they are on average over all rows. Both
        are adjusted for having looked at all regions of all covariates.
    bias, confidence_ratio : tuple of Estimate
        For each dimension, in this region. It was chosen for being wrong: these are on the large side.
    correlations : tuple of Correlation
        Correlations of errors in this region.
    rest_bias, rest_confidence_ratio, rest_correlations
        The same in all other rows.
    """

    name: str
    covariate: str
    n: int
    pvalue: float
    contrast_pvalue: float
    bias: tuple[Estimate, ...]
    confidence_ratio: tuple[Estimate, ...]
    correlations: tuple[Correlation, ...]
    rest_bias: tuple[Estimate, ...]
    rest_confidence_ratio: tuple[Estimate, ...]
    rest_correlations: tuple[Correlation, ...]


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Result of `diagnose`.

    Attributes
    ----------
    names : tuple of str
        Names of the dimensions.
    bias : tuple of Estimate
        For each dimension, mean of prediction less target, in predicted standard deviations: positive where predictions
        are too high. An `Estimate` has `value`, `low` and `high`.
    confidence_ratio : tuple of Estimate
        For each dimension, true over claimed spread: above 1, predictions are over-confident.
    overall_bias, overall_confidence_ratio : Estimate
        The mean of the biases, and the ratio over all directions together.
    worst_direction : Direction
        `weights` of whitened dimensions along which the spread is most wrong, found in one half of the rows, and the
        confidence `ratio` along it, measured in the other half.
    correlations : tuple of Correlation
        For every two `dimensions`, the correlation of errors that predictions `claimed` on average, and that `found`.
    regions : tuple of Region
        One region for each covariate, the clearest first.
    where : Region or None
        The first of these, if it differs from the rest at level 1 - `confidence_level`; otherwise None.
    covariates : mapping of str to ndarray, shape (n,)
        The covariates that divide rows into regions.
    n, n_clusters : int
        Number of rows used, and of independent groups or blocks of them: as many as rows without `groups` or `horizon`.
    confidence_level : float
        Confidence level of each interval.
    source : str
        "moments" of the predictions, or "scores".
    coordinates : str
        The space of biases and spreads: "identity", or what targets were mapped by.
    """

    names: tuple[str, ...]
    bias: tuple[Estimate, ...]
    confidence_ratio: tuple[Estimate, ...]
    overall_bias: Estimate
    overall_confidence_ratio: Estimate
    worst_direction: Direction
    correlations: tuple[Correlation, ...]
    regions: tuple[Region, ...]
    where: Region | None
    covariates: Mapping[str, np.ndarray] = field(repr=False)
    n: int
    n_clusters: int
    confidence_level: float
    source: str
    coordinates: str

    def plot(self) -> Any:
        """Draw biases and confidence ratios with their intervals; return two matplotlib axes."""
        from ..plots import plot_estimates

        return plot_estimates(self)

    def _repr_html_(self) -> str:
        from ..report.notebook import diagnosis_html

        return diagnosis_html(self)

    def __str__(self) -> str:
        return text_of(self)

    @property
    def message(self) -> str:
        """Errors that are clear, in sentences."""
        return " ".join(sentences_of(self))
