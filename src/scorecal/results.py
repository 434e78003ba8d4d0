"""Results of the tests."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._lib.checks import check_share
from ._lib.tables import Table, table
from .resampling.clusters import Clusters


@dataclass(frozen=True, eq=False)
class CalibrationResult:
    """Outcome of a calibration test.

    Attributes
    ----------
    statistic : float
        The U-statistic. Its mean is 0 for calibrated predictions, so it is often negative, and positive for others. Its
        size depends on the units of the targets: compare statistics on the same targets only.
    pvalue : float
        (1 + number of null draws at least as large as the statistic) / (1 + n_resamples), but at least `least_pvalue`;
        never 0.
    null_distribution : ndarray, shape (n_resamples,)
        Draws of the statistic under the null hypothesis; of more draws than `n_resamples`, every so many in order, from
        the largest on, and only larger ones where p-values are raised, as those of random signs of few rows are.
    contributions : ndarray, shape (n,)
        Contribution of each row to the statistic, of either sign; they sum to it. Large where many rows are wrong in
        the same way; a single wrong row does not stand out.
    bandwidths : mapping
        The bandwidths used: "target", "distribution" and, for kernels that have one, "ground".
    n, n_resamples : int
        Number of predictions and of null draws.
    coordinates : str
        The map of the targets before the test; "identity" if there was none.
    null : str
        How the null distribution was found, such as "signs", "simulate" or "student-t".
    estimator : str
        Which pairs of rows were averaged, where pairs were compared, such as "complete" or "low-rank".
    pvalue_error : float
        Monte Carlo error of the p-value: its standard deviation over other random draws, for the same data.
    n_draws : int
        Number of null draws that the p-value comes from; at least `n_resamples`, which are kept.
    n_clusters : int
        Number of groups or blocks of rows that are independent of each other; n for independent rows.
    least_pvalue : float
        Smallest p-value that the groups or blocks of rows allow; 0 for independent rows.
    warnings : tuple of str
        What may make this verdict wrong, with the cure; empty where nothing was noticed.
    """

    statistic: float
    pvalue: float
    null_distribution: np.ndarray = field(repr=False)
    contributions: np.ndarray = field(repr=False)
    bandwidths: Mapping[str, float]
    n: int
    n_resamples: int
    coordinates: str = field(default="identity", kw_only=True)
    null: str = field(default="signs", kw_only=True)
    estimator: str = field(default="complete", kw_only=True)
    pvalue_error: float = field(default=0.0, kw_only=True)
    n_draws: int = field(default=0, kw_only=True)
    n_clusters: int = field(default=0, kw_only=True)
    least_pvalue: float = field(default=0.0, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)

    def rejects(self, alpha: float = 0.05) -> bool:
        """Return whether calibration is rejected at level `alpha`."""
        return self.pvalue <= check_share("alpha", alpha)

    def critical_value(self, alpha: float = 0.05) -> float:
        """Null draw that the statistic must exceed for `rejects(alpha)`; infinite if no statistic could reject."""
        pvalues = (1.0 + np.arange(self.n_resamples + 1)) / (1.0 + self.n_resamples)
        n_rejecting = int(np.sum(pvalues <= check_share("alpha", alpha)))
        if n_rejecting == 0 or self.least_pvalue > alpha:
            return math.inf
        if n_rejecting > self.n_resamples:
            return -math.inf
        return float(np.sort(self.null_distribution)[-n_rejecting])

    def plot(self) -> Any:
        """Draw the statistic among its null draws, and return matplotlib axes. For other pictures see `plots`."""
        from .plots import plot_null

        return plot_null(self)

    @property
    def null_sentence(self) -> str:
        """How the null distribution was found, the Monte Carlo error of the p-value, and which pairs, in words."""
        error = f"; Monte Carlo error of the p-value {self.pvalue_error:.2g}" if self.pvalue_error else ""
        shared = f", one for each of {self.n_clusters} groups or blocks of rows" if self.n_clusters < self.n else ""
        pairs = "" if self.estimator == "complete" else f" Pairs of rows: {self.estimator}."
        return f"Null distribution: {self._nulls}{shared}, {self.n_draws} draws{error}.{pairs}"

    @property
    def _nulls(self) -> str:
        return self.null

    def _repr_html_(self) -> str:
        from .report.notebook import result_html

        return result_html(self)


@dataclass(frozen=True, eq=False)
class ViewResult:
    """Outcome of one view of `calibration_test`.

    Attributes
    ----------
    name, sees, about : str
        Name of the view, the kind of miscalibration that it looks for, and that flaw in a plain sentence.
    statistic : float
        Its U-statistic, or the largest of those of its features.
    pvalue : float
        P-value of this view alone: its rank among the draws.
    adjusted_pvalue : float
        P-value adjusted for the number of views (single-step, Westfall and Young), and raised as that of the test is.
    null_distribution : ndarray, shape (n_resamples,)
    contributions : ndarray, shape (n,)
        Contribution of each row to the statistic.
    null : str
        How the null distribution of this view was found.
    """

    name: str
    sees: str
    statistic: float
    pvalue: float
    adjusted_pvalue: float
    null_distribution: np.ndarray = field(repr=False)
    contributions: np.ndarray = field(repr=False)
    about: str = field(default="", kw_only=True)
    null: str = field(default="signs", kw_only=True)


@dataclass(frozen=True, eq=False)
class CombinedResult(CalibrationResult):
    """Outcome of `calibration_test`.

    Attributes
    ----------
    statistic : float
        Minus the log10 of the smallest p-value of a view, divided by its weight.
    pvalue, null_distribution
        As in `CalibrationResult`, for this statistic.
    contributions : ndarray, shape (n,)
        Contribution of each row to the view with the smallest adjusted p-value, in units that sum to `statistic`.
    views : tuple of ViewResult
        Outcome of each view.
    seen : tuple of str
        Kinds of miscalibration for which there is evidence at this level, the one that explains most first: "bias",
        "over-confidence", "under-confidence", "correlation", "dependence", "shape", "outliers", "modes", "covariates",
        "serial"; "any" alone where no view names the kind; empty if not rejected.
    level : float
        The level of `seen` and `message`: .05, or that of `diagnose`.
    message : str
        The outcome in words.
    cannot_see : tuple of str
        What this test could not have seen with these predictions.
    """

    views: tuple[ViewResult, ...] = field(kw_only=True)
    seen: tuple[str, ...] = field(kw_only=True)
    message: str = field(kw_only=True)
    cannot_see: tuple[str, ...] = field(kw_only=True)
    level: float = field(default=0.05, kw_only=True)

    def plot(self) -> Any:
        """Draw the statistic among its null draws, and the p-value of each view; return two matplotlib axes."""
        from .plots import plot_null, plot_views
        from .plots.style import new_axes

        axes = new_axes(None, 2, figsize=(11, 1.0 + 0.28 * len(self.views)))
        return [draw(self, ax=ax) for draw, ax in zip((plot_null, plot_views), axes, strict=True)]

    @property
    def _nulls(self) -> str:
        other = [view for view in self.views if view.null != self.null]
        apart = " and ".join(f"{view.name!r}" for view in other)
        return f"{self.null} ({other[0].null} for {apart})" if other else self.null

    def table(self) -> Table:
        """The views with their p-values, the clearest first."""
        views = sorted(self.views, key=lambda view: (view.adjusted_pvalue, view.pvalue))
        rows = [(view.name, view.pvalue, view.adjusted_pvalue, view.about) for view in views]
        return table(("view", "p-value", "adjusted", "looks for"), rows)

    def __str__(self) -> str:
        noticed = "\n".join(f"Warning: {sentence}" for sentence in self.warnings)
        unseen = "\n".join(f"Cannot see here: {what}" for what in self.cannot_see)
        parts = [self.message, noticed, self.table().text(), unseen, self.null_sentence]
        return "\n\n".join(part for part in parts if part)


def calibration_result(
    statistic: float,
    null: np.ndarray,
    contributions: np.ndarray,
    bandwidths: Mapping[str, float],
    precision: float,
    null_name: str = "signs",
    clusters: Clusters | None = None,
    estimator: str = "complete",
) -> CalibrationResult:
    """Rank the statistic among its null draws. `precision` is the machine epsilon of the arithmetic behind them."""
    check_overflow(statistic, null)
    # With few rows the signs repeat; rounding, of each contribution too, must not make equal draws differ.
    tolerance = 64 * precision * np.max(np.abs(null)) + len(contributions) * np.finfo(np.float64).smallest_subnormal
    if null_name != "simulate":  # draws of targets are never equal, but may be of very different size
        null = np.where(np.abs(null - statistic) <= tolerance, statistic, null)
    least_pvalue = 0.0 if clusters is None else clusters.least_pvalue
    pvalue = max((1.0 + float(np.sum(null >= statistic))) / (1.0 + len(null)), least_pvalue)
    error = 0.0 if null_name == "student-t" else math.sqrt(pvalue * (1.0 - pvalue) / (1.0 + len(null)))
    n, n_resamples = len(contributions), len(null)
    return CalibrationResult(
        statistic,
        pvalue,
        null,
        contributions,
        bandwidths,
        n,
        n_resamples,
        null=null_name,
        estimator=estimator,
        pvalue_error=error,
        n_draws=n_resamples,
        n_clusters=n if clusters is None else clusters.n_clusters,
        least_pvalue=least_pvalue,
        warnings=() if clusters is None else clusters.warnings,
    )


def check_overflow(*values: float | np.ndarray) -> None:
    """Raise if a value is not finite."""
    if not all(np.all(np.isfinite(each)) for each in values):
        raise ValueError(
            "The statistic overflowed: `y`, the scores or the distances between predictions, in units of their "
            "bandwidths, are too large for their dtype. Likely causes: float32 arrays (convert them to float64), "
            "targets in very unequal units, or a given `bandwidth` that is far too small."
        )
