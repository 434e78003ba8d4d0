"""The result of `diagnose`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..results import CombinedResult
from .estimates import Correlation, Direction
from .extremes import ExtremeRow
from .levels import Level
from .sizes import Estimate, Sizes
from .within import check_limits, is_near, is_within
from .words import message_of, statements_of, text_of


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
        For each dimension, in this region. Intervals allow for having chosen it among all regions.
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis:
    """Result of `diagnose`.

    Attributes
    ----------
    result : CombinedResult
        The test of the same data, at level 1 - `confidence_level` of which statements are made.
    statements : tuple of str
        What is wrong, in sentences that hold together; empty where the test does not reject, or no size is clear.
    message : str
        The verdict of the test, and the statements.
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
    levels : tuple of Level
        Sizes for every label, or every quarter of the numbers or times, of every covariate that was given.
    regions : tuple of Region
        One region for each covariate, the clearest first.
    where : Region or None
        The first of these, if the test rejects and the region differs from the rest; otherwise None.
    extremes : tuple of ExtremeRow
        The ten rows that are farthest from their own predictions, each with its p-value.
    outliers : tuple of int
        Rows that are left out of all sizes, where the test names outliers: a few far ones would decide them.
    covariates : mapping of str to ndarray, shape (n,)
        The covariates that divide rows into regions.
    n, n_clusters : int
        Number of rows that sizes are of, and of independent groups or blocks of them: as many as rows without
        `groups` or `horizon`.
    confidence_level : float
        Confidence level of all intervals together, or of each with `simultaneous=False`.
    simultaneous : bool
        Whether the intervals hold together.
    source : str
        "moments" of the predictions, or "scores".
    coordinates : str
        The space of biases and spreads: "identity", or what targets were mapped by.
    understated : bool
        Whether sizes are those of ranks, among quantiles, members or counts, which do not tell how far a target lies
        beyond the last of them: the true ones may be larger, and no extreme rows are listed.
    """

    result: CombinedResult
    names: tuple[str, ...]
    bias: tuple[Estimate, ...]
    confidence_ratio: tuple[Estimate, ...]
    overall_bias: Estimate
    overall_confidence_ratio: Estimate
    worst_direction: Direction
    correlations: tuple[Correlation, ...]
    levels: tuple[Level, ...]
    regions: tuple[Region, ...]
    where: Region | None
    extremes: tuple[ExtremeRow, ...]
    outliers: tuple[int, ...]
    covariates: Mapping[str, np.ndarray] = field(repr=False)
    n: int
    n_clusters: int
    confidence_level: float
    simultaneous: bool
    source: str
    coordinates: str
    understated: bool
    _sizes: tuple[Sizes, Sizes] = field(repr=False)  # biases and ratios of each dimension
    _plain_bias: Sizes | None = field(repr=False)  # mean of location less target, where the biases are from scores
    _tail: float = field(repr=False)  # of each interval, where all hold together

    @property
    def alpha(self) -> float:
        """Level of the test, 1 - `confidence_level`."""
        return round(1.0 - self.confidence_level, 12)

    @property
    def statements(self) -> tuple[str, ...]:
        """Sentences on what is wrong."""
        return tuple(statements_of(self))

    @property
    def message(self) -> str:
        """The verdict of the test, then the statements."""
        return " ".join(message_of(self))

    def within(self, *, bias: float | None = None, spread: float | None = None) -> bool | None:
        """Return whether predictions are good enough: True, False, or None where the data cannot tell.

        Parameters
        ----------
        bias : float, optional
            Largest bias that is good enough, in predicted standard deviations, to either side.
        spread : float, optional
            Largest ratio of spreads that is good enough, above 1, and the inverse of the smallest.

        Returns
        -------
        bool or None
            True if in every dimension two one-sided tests, each at level 1 - `confidence_level`, show that the size is
            inside its limits: it is wrongly True with no larger probability. False if an interval lies wholly outside
            them, where all intervals hold together. None otherwise, and in place of True where the test names
            outliers, which sizes leave out, or sizes are `understated`. Only sizes over all rows are looked at.

        Examples
        --------
        >>> import numpy as np, scorecal as sc
        >>> rng = np.random.default_rng(0)
        >>> mean = rng.normal(size=5000)
        >>> diagnosis = sc.diagnose(sc.Gaussian(mean, 1.0), mean + rng.normal(size=5000), rng=0)
        >>> diagnosis.within(bias=0.1, spread=1.1)
        True
        """
        check_limits(bias, spread)
        within = is_within(*self._sizes, bias, spread, self.alpha, self._tail)
        if within and self._plain_bias is not None and not is_near(self._plain_bias, bias or 0.0, self.alpha):
            return None
        unsure = self.understated or "outliers" in self.result.seen
        return None if within and unsure else within

    def plot(self) -> Any:
        """Draw biases and confidence ratios with their intervals; return two matplotlib axes."""
        from ..plots import plot_estimates

        return plot_estimates(self)

    def _repr_html_(self) -> str:
        from ..report.notebook import diagnosis_html

        return diagnosis_html(self)

    def __str__(self) -> str:
        return text_of(self)
