"""The result of `diagnose` for predictions of classes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..results import CombinedResult
from .class_words import message_of, statements_of, text_of
from .shares import Bin, CalibrationError
from .sizes import Estimate
from .within import is_above


class ClassShare(NamedTuple):
    """A class: the share of targets that predictions `claimed` for it on average, and what was `found`."""

    name: str
    claimed: float
    found: Estimate


class Places(NamedTuple):
    """Errors of classes in order, by their places 0, 1, ...

    The `bias` is the mean place of predictions less that of targets, positive where predictions are too high, and the
    `ratio` that of the true over the claimed spread of places.
    """

    bias: Estimate
    ratio: Estimate


@dataclass(frozen=True, eq=False)
class ClassLevel:
    """Some rows, by a covariate: those with one label, in one quarter of the values, in a region, or all others.

    Attributes
    ----------
    covariate, name : str
        The covariate, and these rows in words, such as "station = north" or "x > 1.04".
    n : int
        Number of rows.
    claimed_accuracy, accuracy : float, Estimate
        Mean probability of the most probable class, and how often it was right; the latter is NaN, "cannot be
        estimated", for fewer than ten rows.
    classes : tuple of ClassShare
        For each class the share claimed and found in these rows.
    """

    covariate: str
    name: str
    n: int
    claimed_accuracy: float
    accuracy: Estimate
    classes: tuple[ClassShare, ...]


@dataclass(frozen=True, eq=False)
class ClassRegion:
    """The rows, chosen by one covariate, in which predictions differ most from the rest.

    Attributes
    ----------
    there, elsewhere : ClassLevel
        The region, with its name, and all other rows. Intervals allow for having chosen it among all regions.
    pvalue, contrast_pvalue : float
        That predictions are calibrated there; and that they are wrong there as they are on average over all rows. Both
        are adjusted for having looked at all regions of all covariates.
    """

    there: ClassLevel
    elsewhere: ClassLevel
    pvalue: float
    contrast_pvalue: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassDiagnosis:
    """Result of `diagnose` for `Categorical` predictions.

    Attributes
    ----------
    result : CombinedResult
        The test of the same data, at level 1 - `confidence_level` of which statements are made.
    statements : tuple of str
        What is wrong, in sentences; empty where the test does not reject, or no size is clear.
    message : str
        The verdict of the test, and the statements.
    names : tuple of str
        Names of the classes.
    claimed_accuracy, accuracy : float, Estimate
        Mean probability of the most probable class, and how often it was right. An `Estimate` has `value`, `low` and
        `high`.
    classes : tuple of ClassShare
        For each class its `name`, the share of targets `claimed` for it, and the share `found`.
    bins : tuple of Bin
        The reliability table: for rows whose largest probability lies from `low` to `high`, their number `n`, what they
        `claimed` on average, and how often they were `found` right.
    calibration_error : CalibrationError
        Its `estimate`, the mean distance of claimed and found over the rows of the bins, which is positive by chance
        alone; what it would be on average `if_calibrated`.
    temperature : Estimate
        What logits would have to be divided by: above 1, predictions are over-confident.
    places : Places or None
        Of three or more classes in order, `bias` and `ratio` of spreads of their places 0, 1, ...
    levels : tuple of ClassLevel
        The same for every label, or every quarter of the numbers or times, of every covariate.
    regions : tuple of ClassRegion
        One region for each covariate, the clearest first.
    where : ClassRegion or None
        The first of these, if the test rejects and the region differs from the rest; otherwise None.
    covariates : mapping of str to ndarray, shape (n,)
        The covariates that divide rows into levels and regions.
    n, n_clusters : int
        Number of rows, and of independent groups or blocks of them.
    confidence_level : float
        Confidence level of all intervals together, or of each with `simultaneous=False`.
    simultaneous : bool
        Whether the intervals hold together.
    """

    result: CombinedResult
    names: tuple[str, ...]
    claimed_accuracy: float
    accuracy: Estimate
    classes: tuple[ClassShare, ...]
    bins: tuple[Bin, ...]
    calibration_error: CalibrationError
    temperature: Estimate
    places: Places | None
    levels: tuple[ClassLevel, ...]
    regions: tuple[ClassRegion, ...]
    where: ClassRegion | None
    covariates: Mapping[str, np.ndarray] = field(repr=False)
    n: int
    n_clusters: int
    confidence_level: float
    simultaneous: bool
    _one_sided_error: Estimate = field(repr=False)  # the calibration error with one-sided bounds at level alpha

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

    def within(self, *, error: float) -> bool | None:
        """Return whether the calibration error is small enough: True, False, or None where the data cannot tell.

        Parameters
        ----------
        error : float
            Largest expected calibration error that is good enough, such as 0.05: the mean distance of claimed and true
            accuracy over the bins of `bins`.

        Returns
        -------
        bool or None
            True if the upper one-sided bound, at level 1 - `confidence_level`, is below the limit: it is wrongly True
            with no larger probability. False if the whole interval of `calibration_error` is above it. None otherwise.

        Examples
        --------
        >>> import numpy as np, scorecal as sc
        >>> p = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], size=5000)
        >>> predictions = sc.Categorical(p)
        >>> sc.diagnose(predictions, predictions.sample(1, 0)[0], rng=0).within(error=0.05)
        True
        """
        if not is_above(error, 0.0) or error >= 1:
            raise ValueError(
                "`error` must be the largest calibration error that is good enough, a number between 0 and 1 such as "
                f"0.05, but is {error!r}."
            )
        if self._one_sided_error.high < error:
            return True
        return False if self.calibration_error.estimate.low > error else None

    def plot(self) -> Any:
        """Draw the reliability diagram, and return matplotlib axes."""
        from ..plots import plot_reliability

        return plot_reliability(self)

    def _repr_html_(self) -> str:
        from ..report.notebook import class_diagnosis_html

        return class_diagnosis_html(self)

    def __str__(self) -> str:
        return text_of(self)
