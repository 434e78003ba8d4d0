"""Estimates of bias, spread and correlation of errors, and the regions in which they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from .._calibration_test import calibration_test_at
from .._lib.checks import as_generator, check_count, check_share
from .._lib.covariates import as_covariates
from .._lib.linalg import diagonals
from ..coordinates.normal_scores import are_coarse, in_normal_scores
from ..predictions import AnyPredictions, Categorical, Rankable, on_host
from ..resampling import RandomSigns
from ..resampling.clusters import clusters_of
from ..results import CombinedResult
from .arguments import check_result, check_same_rows, checked_names, in_blocks, own_covariates, units_of
from .class_result import ClassDiagnosis
from .classes import diagnose_classes
from .estimates import Direction, as_correlations, biases, correlations, marginal_ratios, ratios, worst_direction
from .extremes import extreme_rows, outliers_in
from .levels import level_sizes
from .regions import partitions_of
from .residuals import residuals_of
from .result import Diagnosis
from .simultaneous import agreeing, simultaneous_tail
from .sizes import Sizes
from .where import Search, regions_of

_LEAST_ROWS = 10


@overload
def diagnose(
    predictions: Categorical,
    y: Any,
    *,
    covariates: Any = None,
    names: Sequence[str] | None = None,
    result: CombinedResult | None = None,
    confidence_level: float = 0.95,
    simultaneous: bool = True,
    groups: Any = None,
    horizon: int | None = None,
    n_resamples: int = 999,
    rng: Any = None,
) -> ClassDiagnosis: ...


@overload
def diagnose(
    predictions: AnyPredictions,
    y: Any,
    *,
    covariates: Any = None,
    names: Sequence[str] | None = None,
    result: CombinedResult | None = None,
    confidence_level: float = 0.95,
    simultaneous: bool = True,
    groups: Any = None,
    horizon: int | None = None,
    n_resamples: int = 999,
    rng: Any = None,
) -> Diagnosis: ...


def diagnose(
    predictions: AnyPredictions | Categorical,
    y: Any,
    *,
    covariates: Any = None,
    names: Sequence[str] | None = None,
    result: CombinedResult | None = None,
    confidence_level: float = 0.95,
    simultaneous: bool = True,
    groups: Any = None,
    horizon: int | None = None,
    n_resamples: int = 999,
    rng: Any = None,
) -> Diagnosis | ClassDiagnosis:
    r"""Test whether predictions are calibrated and, if not, tell how they are wrong, by how much, and where.

    Parameters
    ----------
    predictions : Predictions or Categorical
        As for `calibration_test`.
    y : array_like, shape (n, d)
        The n observed targets; (n,) for d = 1 and for classes.
    covariates : optional
        Numbers, dates or labels that divide rows into levels and regions: a data frame, a mapping from names to n
        values, or an array (n, q). Times with a time zone are taken in UTC. By default regions are those of the
        predicted location and spread of each dimension, of classes there are none, and there are no levels.
    names : sequence of str, optional
        Names of the d dimensions.
    result : CombinedResult, optional
        Result of `calibration_test` on the same data. By default the test is made here, with the same covariates,
        groups, horizon, draws and `rng`.
    confidence_level : float
        Confidence level of all intervals together; 1 - it is the level of the test.
    simultaneous : bool
        If False, intervals have the confidence level each. Statements are then those of single intervals.
    groups, horizon : optional
        As for `calibration_test`: labels of rows that depend on each other, and the number of steps ahead of forecasts
        in time order. Intervals then rest on the groups, or on blocks of consecutive rows, as independent units, and
        p-values of regions on one sign for each. Fewer than ten of them make intervals rough, which is said, and
        no sizes are stated.
    n_resamples : int
        Number of null draws of the test, and of random signs for the p-values of regions; with fewer than 79 no region
        can be named at the default level.
    rng : seed or numpy.random.Generator, optional
        Source of noise, where predictions come with it, of null draws, and of signs.

    Returns
    -------
    Diagnosis
        With `statements`, `message`, `bias`, `confidence_ratio`, `correlations`, `levels`, `where`, `extremes` and
        `within`; `print` it. Of classes, a `ClassDiagnosis` with `statements`, `message`, `accuracy`, `classes`,
        `bins`, `calibration_error`, `temperature`, `levels`, `where` and `within`.

    Notes
    -----
    Something is stated only if the test rejects at level 1 - `confidence_level`, so that calibrated predictions are
    blamed with no larger probability; if it does not, intervals are widened just so far that all contain what is
    expected of calibrated predictions.

    Residuals come from the means and covariances of the predictions where these are known. Otherwise, with
    :math:`\Sigma_i` the covariance of the Gaussian that is fitted to the scores of prediction i, :math:`\Sigma_i s_i`
    stands for the mean less the target, and its mean square is compared with :math:`-\Sigma_i \nabla s_i \Sigma_i`,
    which is the same on average for calibrated predictions; for `Scores`, which cannot be differentiated, with
    :math:`\Sigma_i`, as for Gaussians.

    Standard errors come from leaving out one row at a time or, with `groups` or `horizon`, one of G groups or blocks.
    They are enlarged where influences have heavy tails, as by the degrees of freedom of Welch and Satterthwaite, and to
    the side to which these are skewed, by one and a half times the term of Cornish and Fisher. Intervals are those of
    Student's t. For all to hold at once they have one level, from the largest of all sizes under Gaussian multipliers.
    Shares of classes have the exact intervals of Clopper and Pearson, at a level for all to hold at once (Sidak).
    Where there are regions, sizes over all rows and of levels get half of 1 - `confidence_level`; the contrasts of
    regions, and the sizes of the region that is named, as one of all (Sidak), get a quarter each.

    Examples
    --------
    Forecasts that are too high in the second dimension and too narrow in both:

    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=(1000, 2))
    >>> y = mean + rng.normal(size=(1000, 2))
    >>> diagnosis = sc.diagnose(sc.Gaussian(mean + np.array([0.0, 0.3]), 0.75), y, rng=0)
    >>> print(diagnosis.bias[1])
    0.38 (0.26 to 0.51)
    >>> print(diagnosis.statements[0])
    y_1: over-confident, the true spread being 1.31 (1.23 to 1.40) times the claimed one.

    A classifier that is too sure:

    >>> logits = rng.normal(size=(1000, 3))
    >>> y = sc.Categorical(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)).sample(1, rng)[0]
    >>> sure = sc.Categorical(np.exp(2 * logits) / np.exp(2 * logits).sum(axis=1, keepdims=True))
    >>> print(sc.diagnose(sure, y, rng=0).statements[0])
    Over-confident: says 74 %, is right 59 % (55 to 64 %); logits would have to be divided by 2.08 (1.76 to 2.45).
    """
    predictions, y = on_host(predictions, y)
    if isinstance(predictions, Categorical):
        check_result(result)
        return diagnose_classes(
            predictions,
            y,
            result=result,
            confidence_level=confidence_level,
            simultaneous=simultaneous,
            groups=groups,
            horizon=horizon,
            covariates=covariates,
            n_resamples=n_resamples,
            rng=rng,
            refused={"names": names},
        )
    level = check_share("confidence_level", confidence_level)
    alpha = round(1.0 - level, 12)
    check_count("n_resamples", n_resamples)
    check_result(result)
    generator = as_generator(rng)
    given_predictions, given_y = predictions, y
    predictions, y = in_normal_scores(predictions, y, generator)
    coarse = are_coarse(given_predictions, given_y)
    found = residuals_of(predictions, y, generator)
    n, d = found.marginal.shape
    if n < _LEAST_ROWS:
        raise ValueError(f"`y` must hold at least {_LEAST_ROWS} targets for `diagnose`, but {n} can be used.")
    labels = checked_names(names, d)
    given = {} if covariates is None else as_covariates(covariates, predictions.n)
    given_clusters = clusters_of(groups, horizon, predictions.n)
    if result is None:
        result = calibration_test_at(
            alpha,
            given_predictions,
            given_y,
            groups=groups,
            horizon=horizon,
            covariates=given or None,
            n_resamples=n_resamples,
            rng=rng,
        )
    else:
        check_same_rows(result, predictions.n, given_clusters)
    rejected = result.rejects(alpha)
    all_clusters, every = in_blocks(given_clusters, predictions.n, result), found
    outliers = outliers_in(found, result, all_clusters, _LEAST_ROWS) if rejected else np.zeros(n, dtype=bool)
    found = every.without(outliers) if np.any(outliers) else every
    columns = {name: column[found.rows] for name, column in given.items()}
    with_spread = not isinstance(given_predictions, Rankable)
    divided = own_covariates(found, labels, with_spread=with_spread) if covariates is None else columns
    clusters, units = units_of(all_clusters, found)
    warn = covariates is not None and len(found.rows) == n  # a column may tell outliers from all others
    partitions = partitions_of(divided, len(found.rows), warn=warn, clusters=clusters)
    weights, along = worst_direction(found, units)
    sizes = _Overall(
        biases(found.marginal, units),
        marginal_ratios(found, units),
        biases(np.mean(found.marginal, axis=1, keepdims=True), units),
        ratios(found.whitened[:, None, :], np.sum(diagonals(found.expected), axis=1, keepdims=True), units),
        correlations(found, units),
        along,
    )
    levels = level_sizes(found, columns, units)
    family = [*sizes.all, *(each for one in levels for each in one.sizes)]
    together = agreeing(simultaneous_tail(family, units.n, 0.5 * alpha if partitions else alpha), family, rejected)
    tail = together if simultaneous else alpha
    signs = RandomSigns().draw(units.n, n_resamples, generator)
    least = 0.0 if clusters is None else clusters.least_pvalue
    search = Search(found, units, signs, least, 0.25 * alpha, None if simultaneous else alpha, rejected)
    regions = regions_of(search, partitions)
    return Diagnosis(
        result=result,
        names=labels,
        bias=sizes.biases.estimates(tail),
        confidence_ratio=sizes.ratios.estimates(tail),
        overall_bias=sizes.bias.estimates(tail)[0],
        overall_confidence_ratio=sizes.ratio.estimates(tail)[0],
        worst_direction=Direction(weights, sizes.along.estimates(tail)[0]),
        correlations=as_correlations(sizes.correlations, d, tail),
        levels=tuple(one.at(d, tail) for one in levels),
        regions=regions,
        where=regions[0] if rejected and regions and regions[0].contrast_pvalue <= 0.25 * alpha else None,
        extremes=() if coarse else extreme_rows(predictions, every, generator),
        outliers=tuple(every.rows[outliers].tolist()),
        covariates=divided,
        n=len(found.rows),
        n_clusters=units.n,
        confidence_level=level,
        simultaneous=simultaneous,
        source=found.source,
        coordinates=found.coordinates if predictions is given_predictions else "normal scores",
        understated=coarse,
        _sizes=(sizes.biases.alone(), sizes.ratios.alone()),
        _plain_bias=biases(found.plain_marginal, units).alone() if found.source == "scores" else None,
        _tail=together,
    )


@dataclass(frozen=True, eq=False)
class _Overall:
    """Sizes over all rows: of each dimension, over all of them, of every two, and along the worst direction."""

    biases: Sizes
    ratios: Sizes
    bias: Sizes
    ratio: Sizes
    correlations: Sizes
    along: Sizes

    @property
    def all(self) -> tuple[Sizes, ...]:
        """All that differ: in one dimension, those of this dimension are those over all."""
        one = len(self.biases.values) == 1
        rest = (self.along,) if one else (self.bias, self.ratio, self.correlations, self.along)
        return (self.biases, self.ratios, *rest)
