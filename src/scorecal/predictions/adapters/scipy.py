"""Predictions from frozen distributions of `scipy.stats`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._lib.arrays import Array
from ..._lib.cached import cached_property
from ..gaussian import Gaussian
from ..protocol import Predictions, describe
from ..supports import Box, Support, bounded_support
from .differences import slopes
from .discrete import IntegerPredictions, from_scipy_discrete
from .dispatch import comes_from

_FINEST = 2.0**-38  # smaller widths, relative to |y|, are lost in the rounding of y


def from_scipy(distribution: Any) -> Predictions | IntegerPredictions:
    """Predictions from a frozen distribution of `scipy.stats`.

    Parameters
    ----------
    distribution : frozen distribution
        Parameters must broadcast to (n,), for d = 1, or (n, d), for independent dimensions. Tests map a bounded support
        to one without a boundary.

    Returns
    -------
    Predictions
        `Gaussian` for `norm`; otherwise scores are numerical derivatives of `logpdf`, to a relative precision of 1e-6.
        Discrete ones, such as `poisson`, have no scores: their distribution function serves the tests.

    Examples
    --------
    >>> import numpy as np, scipy.stats, scorecal as sc
    >>> shape = np.linspace(1.0, 5.0, 200)
    >>> predictions = sc.from_scipy(scipy.stats.gamma(shape))
    >>> predictions, predictions.support
    (ScipyDistribution(n=200, dim=1, gamma), Box([0.], [inf]))
    >>> y = np.random.default_rng(0).gamma(shape)
    >>> sc.kccsd_test(predictions, y, rng=1).rejects(), sc.kccsd_test(predictions, 0.7 * y, rng=1).rejects()
    (False, True)
    """
    _check_kind(distribution)
    shape = _shape(distribution)
    if not 1 <= len(shape) <= 2 or 0 in shape:
        advice = "" if shape else " Its parameters are numbers; give `loc` as an array of length n."
        raise ValueError(f"`distribution` must have parameters of shape (n,) or (n, d), but they have {shape}.{advice}")
    bad = np.isnan(np.broadcast_to(distribution.support()[0], shape))
    if bad.any():
        place = tuple(int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"`distribution` has parameters that scipy does not accept, first at index {place}: it has no support "
            "there. Likely causes: a scale that is zero or negative, or NaN."
        )
    if type(distribution).__name__ == "rv_discrete_frozen":
        return from_scipy_discrete(distribution, shape)
    if type(distribution.dist).__name__ == "norm_gen":
        loc, scale = _location_and_scale(*distribution.args, **distribution.kwds)
        return Gaussian(np.broadcast_to(loc, shape), scale if np.ndim(scale) == 0 else np.broadcast_to(scale, shape))
    return ScipyDistribution(distribution)


@dataclass(frozen=True, eq=False)
class ScipyDistribution:
    """Predictions from a distribution of scipy without closed forms in scorecal."""

    distribution: Any

    @property
    def n(self) -> int:
        return _shape(self.distribution)[0]

    @property
    def dim(self) -> int:
        return (*_shape(self.distribution), 1)[1]

    @cached_property
    def support(self) -> Support | None:
        """Support of the distributions; None for all of R^dim."""
        return bounded_support(Box(*self._ends))

    def __repr__(self) -> str:
        return describe(self, self.distribution.dist.name)

    def score(self, y: Array) -> Array:
        """Derivatives of `logpdf` at `y`, broadcast against (n, dim); NaN where they are not precise."""
        points = self._broadcast(y)
        width = self._width(points)
        with np.errstate(over="ignore"):
            return slopes(self._logpdf, points, width) / width

    def log_prob(self, y: Array) -> Array:
        """Log-densities at `y`, broadcast against (n, dim)."""
        return np.sum(self._logpdf(self._broadcast(y)), axis=-1)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws (n_samples, n, dim)."""
        size = (n_samples, *_shape(self.distribution))
        draws = self.distribution.rvs(size=size, random_state=np.random.default_rng(rng))
        return np.reshape(draws, (n_samples, self.n, self.dim))

    def _broadcast(self, y: Array) -> Array:
        if not isinstance(y, np.ndarray):
            raise TypeError(f"`y` must be a NumPy array, as the predictions are SciPy's, but is a {type(y).__name__}.")
        return np.broadcast_to(y, (*y.shape[:-2], self.n, self.dim)).astype(np.float64)

    def _logpdf(self, points: Array) -> Array:
        if len(_shape(self.distribution)) == 2:
            return self.distribution.logpdf(points)
        return self.distribution.logpdf(points[..., 0])[..., None]

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        low, high = (self._column(end) for end in self.distribution.support())
        return low, high

    @cached_property
    def _quartiles(self) -> tuple[Array, Array]:
        first, third = (self._column(self.distribution.ppf(q)) for q in (0.25, 0.75))
        return first, third

    def _column(self, values: Array) -> Array:
        return np.broadcast_to(values, _shape(self.distribution)).astype(np.float64).reshape(self.n, self.dim)

    def _width(self, points: Array) -> Array:
        """Length over which the density changes: a power of two, at most the distance to an end; NaN outside.

        In the bulk it is the interquartile range, which every distribution has; in the tails it grows.
        """
        (low, high), (first, third) = self._ends, self._quartiles
        spread = np.maximum(third - first, 0.1 * np.abs(points - (0.5 * first + 0.5 * third)))
        width = np.minimum(spread, np.minimum(points - low, high - points))
        return np.where(width > _FINEST * np.abs(points), np.ldexp(0.5, np.frexp(width)[1]), np.nan)


def _shape(distribution: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*(np.shape(value) for value in (*distribution.args, *distribution.kwds.values())))


def _location_and_scale(loc: Any = 0.0, scale: Any = 1.0) -> tuple[Any, Any]:
    return loc, scale


def _check_kind(distribution: Any) -> None:
    """Raise, with advice, unless it is frozen, continuous, univariate and determined by its scores."""
    kind = type(distribution).__name__
    if comes_from(distribution, "scipy.stats._multivariate"):
        way = "`sc.Gaussian(mean, covariance=...)`" if "normal" in kind else "`sc.ScoreFunction` or `sc.LogDensity`"
        raise TypeError(f"`distribution` is a {kind}, one distribution of many variables; for n predictions use {way}.")
    if comes_from(distribution, "scipy.stats._distribution_infrastructure"):
        raise TypeError(
            f"`distribution` is a new-style random variable of scipy, {kind}; freeze the classic one instead, such as "
            "`scipy.stats.norm(loc, scale)`."
        )
    if comes_from(distribution, "scipy.stats") and hasattr(distribution, "freeze"):
        name = distribution.name
        raise TypeError(f"`distribution` is {name} without parameters; freeze it: `scipy.stats.{name}(...)`.")
    if kind not in ("rv_continuous_frozen", "rv_discrete_frozen"):
        raise TypeError(f"`distribution` must be a frozen distribution of `scipy.stats`, but is a {kind}.")
    name, generator = distribution.dist.name, type(distribution.dist).__name__
    if generator == "vonmises_gen" and np.isinf(distribution.support()[0]).any():  # scipy repeats it on the whole line
        raise TypeError("`distribution` is vonmises, on a circle; use `scipy.stats.vonmises_line`, on (-pi, pi).")
    if generator == "rv_histogram":
        raise TypeError(
            "`distribution` is an rv_histogram, whose density is constant between jumps: its scores are zero and do "
            "not determine it. Use a smooth density, such as a `sc.GaussianMixture`."
        )
