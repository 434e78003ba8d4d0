"""Predictions by their distribution functions."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._lib.arrays import as_arrays, check_finite, to_numpy
from .protocol import describe


@dataclass(frozen=True, eq=False)
class CdfFunction:
    """n predictions by the distribution function of each dimension, with or without jumps.

    Parameters
    ----------
    cdf : callable
        `cdf(y)` returns P(Y <= y) of each prediction, for targets (n, d), or (n,) if `mean` is (n,).
    mean, scale : array_like, shape (n,) or (n, d)
        Where each prediction lies and how wide it is, for views of what depends on the prediction, and as the units of
        a diagnosis: means and standard deviations, or other measures such as medians and half widths.
    below : callable, optional
        `below(y)` returns P(Y < y). By default it is `cdf(y)`: no single value has a probability of its own.

    Examples
    --------
    Rain: none with probability 0.6, otherwise exponential:

    >>> import numpy as np, scorecal as sc
    >>> size = np.linspace(1.0, 5.0, 200)
    >>> predictions = sc.CdfFunction(
    ...     lambda y: np.where(y < 0, 0.0, 1.0 - 0.4 * np.exp(-np.maximum(y, 0.0) / size)),
    ...     mean=0.4 * size,
    ...     scale=np.sqrt(0.64) * size,
    ...     below=lambda y: np.where(y <= 0, 0.0, 1.0 - 0.4 * np.exp(-np.maximum(y, 0.0) / size)),
    ... )
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(200) < 0.6, 0.0, size * rng.exponential(size=200))
    >>> sc.calibration_test(predictions, y, rng=0).rejects(), sc.calibration_test(predictions, 2 * y, rng=0).rejects()
    (False, True)
    """

    cdf: Callable[[np.ndarray], Any]
    _: KW_ONLY
    mean: Any
    scale: Any
    below: Callable[[np.ndarray], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("cdf", "below"):
            function = getattr(self, name)
            if not callable(function) and (name == "cdf" or function is not None):
                raise TypeError(f"`{name}` must be a function of targets, but is {function!r}.")
        mean, scale = (to_numpy(part).astype(np.float64) for part in as_arrays(mean=self.mean, scale=self.scale))
        if mean.ndim not in (1, 2) or 0 in mean.shape:
            raise ValueError(f"`mean` must have shape (n,) or (n, d), but has {mean.shape}.")
        try:
            scale = np.broadcast_to(scale, mean.shape)
        except ValueError:
            raise ValueError(f"`scale` must have the shape of `mean`, {mean.shape}, but has {scale.shape}.") from None
        for name, part in (("mean", mean), ("scale", scale)):
            check_finite(name, part)
        if np.any(scale < 0):
            raise ValueError(f"`scale` must not be negative, but the smallest is {np.min(scale):.4g}.")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "scale", scale)

    @property
    def n(self) -> int:
        return len(self.mean)

    @property
    def dim(self) -> int:
        return 1 if self.mean.ndim == 1 else int(self.mean.shape[1])

    def __repr__(self) -> str:
        return describe(self)

    def cdf_bounds(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(Y < y) and P(Y <= y), each (n, dim)."""
        points = y[:, 0] if self.mean.ndim == 1 else y
        below, at = (self._checked(call, points) for call in ("below" if self.below else "cdf", "cdf"))
        return below.reshape(y.shape), at.reshape(y.shape)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """`mean` (n, dim), and the squares of `scale` as diagonal matrices (n, dim, dim)."""
        mean, variances = self.spread_of
        return mean, variances[:, :, None] * np.eye(self.dim)

    @property
    def spread_of(self) -> tuple[np.ndarray, np.ndarray]:
        """`mean`, and the squares of `scale`, (n, dim) each."""
        mean, scale = (np.reshape(part, (self.n, self.dim)) for part in (self.mean, self.scale))
        return mean, scale**2

    def _checked(self, call: str, points: np.ndarray) -> np.ndarray:
        values = np.asarray(to_numpy(getattr(self, call)(points)), dtype=np.float64)
        if values.shape != points.shape:
            raise ValueError(
                f"`{call}(y)` must return a probability for each target, of shape {points.shape}, but gave "
                f"{values.shape}."
            )
        check_finite(f"{call}(y)", values)
        return values
