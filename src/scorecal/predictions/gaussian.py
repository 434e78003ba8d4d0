"""Gaussian predictions: isotropic, diagonal or with full covariances."""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._lib.arrays import (
    Array,
    array_namespace,
    as_arrays,
    as_float,
    check_finite,
    full_product,
    has_values,
    like,
    to_numpy,
)
from .noisy import Noisy, check_level
from .protocol import describe


@dataclass(frozen=True, eq=False)
class Gaussian:
    """n Gaussian predictions N(mean_i, scale_i^2) or N(mean_i, covariance_i).

    Parameters
    ----------
    mean : array_like, shape (n, d) or (n,)
        Means; (n,) is taken as d = 1.
    scale : array_like, optional
        Standard deviations: a number, shape (n,) for isotropic or (n, d) for diagonal covariances.
    covariance : array_like, shape (n, d, d) or (d, d), optional
        Full covariances, instead of `scale`.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions = sc.Gaussian([[0.0, 1.0], [2.0, 3.0]], [1.0, 2.0])
    >>> predictions.score(predictions.mean + 1.0)
    array([[-1.  , -1.  ],
           [-0.25, -0.25]])
    """

    mean: Array
    scale: Array | None = None
    _: KW_ONLY
    covariance: Array | None = None

    def __post_init__(self) -> None:
        if (self.scale is None) == (self.covariance is None):
            raise ValueError("Give either `scale` or `covariance`, and not both.")
        if self.covariance is None:
            mean, scale = as_arrays(mean=self.mean, scale=self.scale)
            mean = _as_means(mean)
            object.__setattr__(self, "scale", _as_scales(scale, mean))
        else:
            mean, covariance = as_arrays(mean=self.mean, covariance=self.covariance)
            mean = _as_means(mean)
            object.__setattr__(self, "covariance", _as_covariances(covariance, mean))
        object.__setattr__(self, "mean", mean)

    def __repr__(self) -> str:
        return describe(self, "isotropic" if self.isotropic else "full" if self.scale is None else "diagonal")

    @property
    def n(self) -> int:
        return int(self.mean.shape[0])

    @property
    def dim(self) -> int:
        return int(self.mean.shape[1])

    @property
    def isotropic(self) -> bool:
        return self.scale is not None and self.scale.shape[1] == 1

    @property
    def precision(self) -> Array:
        """Precisions in the shape that was given: (n, 1) isotropic, (n, d) diagonal, (n, d, d) full."""
        if self.scale is not None:
            return 1.0 / self.scale**2
        whitener = self._whitener
        return full_product(whitener.mT, whitener)

    # Not cached: a cached array would keep a graph of derivatives, or a tracer of JAX.
    @property
    def _cholesky(self) -> Array:
        return _cholesky(self.covariance)

    @property
    def _whitener(self) -> Array:
        factor = self._cholesky
        xp = array_namespace(factor)
        sizes = xp.linalg.diagonal(factor)
        # With rows of equal size, solving does not swap them: small spreads keep their digits beside large ones.
        unit = 0.0 * factor + like(np.eye(self.dim), factor)
        return xp.linalg.solve(factor / sizes[..., None], unit) / sizes[..., None, :]

    def score(self, y: Array) -> Array:
        """Gradient of the log-density at `y`, broadcast against (n, d)."""
        if self.scale is not None:
            return (self.mean - y) * self.precision
        gap = self.mean - y
        return full_product(like(self.precision, gap), gap[..., None])[..., 0]

    def log_prob(self, y: Array) -> Array:
        """Log-density at `y`, broadcast against (n, d); the last axis is summed away."""
        xp = array_namespace(self.mean)
        if self.scale is not None:
            z = (y - self.mean) / self.scale
            log_scale = xp.sum(xp.log(self.scale) + xp.zeros_like(self.mean), axis=-1)
        else:
            gap = y - self.mean
            z = full_product(like(self._whitener, gap), gap[..., None])[..., 0]
            log_scale = xp.sum(xp.log(xp.linalg.diagonal(self._cholesky)), axis=-1)
        return -0.5 * xp.sum(z**2, axis=-1) - log_scale - 0.5 * self.dim * math.log(2 * math.pi)

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws of shape (n_samples, n, d)."""
        noise = np.random.default_rng(rng).standard_normal((n_samples, self.n, self.dim))
        z = like(noise, self.mean)
        if self.scale is not None:
            return self.mean + self.scale * z
        return self.mean + full_product(self._cholesky, z[..., None])[..., 0]

    def components(self) -> tuple[Array, Array, Array]:
        """Weights (n, 1), means (n, 1, d) and variances (n, 1, 1 or d) or covariances, as a mixture of one."""
        spread: Array = self.covariance if self.scale is None else self.scale**2
        weights = array_namespace(self.mean).ones_like(self.mean[:, :1])
        return weights, self.mean[:, None, :], spread[:, None, ...]

    def moments(self) -> tuple[Array, Array]:
        """Means (n, d) and covariances (n, d, d)."""
        if self.covariance is not None:
            return self.mean, self.covariance
        scale: Array = self.scale
        return self.mean, (scale**2)[..., None] * like(np.eye(self.dim), self.mean)

    def noisy(self, level: float) -> Noisy:
        """Predictions of targets with noise of `level` predictive standard deviations in each dimension.

        Tests draw the noise and add it to the targets; give them the targets without noise.
        """
        check_level(level)
        xp = array_namespace(self.mean)
        if self.scale is not None:
            convolved = Gaussian(self.mean, self.scale * (1.0 + level**2) ** 0.5)
            return Noisy(convolved, level * self.scale + xp.zeros_like(self.mean), level)
        variances = xp.linalg.diagonal(self.covariance)
        noise = (level**2 * variances)[..., None] * like(np.eye(self.dim), self.mean)
        return Noisy(Gaussian(self.mean, covariance=self.covariance + noise), level * xp.sqrt(variances), level)


def _as_means(mean: Array) -> Array:
    if mean.ndim == 1:
        mean = mean[:, None]
    if mean.ndim != 2 or 0 in mean.shape:
        raise ValueError(f"`mean` must have shape (n, d) or (n,), n and d at least 1, but has {tuple(mean.shape)}.")
    check_finite("mean", mean)
    return mean


def _as_scales(scale: Array, mean: Array) -> Array:
    n, d = mean.shape
    xp = array_namespace(mean)
    found = tuple(scale.shape)
    if found not in {(), (n,), (n, 1), (n, d)}:
        raise ValueError(
            f"`scale` must be a number or have shape (n,) = ({n},) or (n, d) = ({n}, {d}) to fit `mean`, "
            f"but has {found}."
        )
    check_finite("scale", scale)
    if has_values(scale) and not bool(xp.all(scale > 0)):
        raise ValueError(
            f"`scale` must be positive, but its smallest value is {as_float(xp.min(scale)):.4g}. Standard deviations "
            "are expected, not variances or logarithms."
        )
    with np.errstate(over="ignore"):
        variance = scale**2
    if has_values(scale) and not bool(xp.all((variance > 0) & xp.isfinite(variance))):
        raise ValueError(
            f"`scale` must be positive and finite, also when squared, but ranges from {as_float(xp.min(scale)):.4g} to "
            f"{as_float(xp.max(scale)):.4g} in {scale.dtype}. Rescale `mean`, `scale` and `y`."
        )
    return scale + xp.zeros_like(mean[:, :1]) if scale.ndim == 0 else xp.reshape(scale, (n, -1))


def _as_covariances(covariance: Array, mean: Array) -> Array:
    n, d = mean.shape
    xp = array_namespace(mean)
    if tuple(covariance.shape) not in {(d, d), (n, d, d)}:
        raise ValueError(
            f"`covariance` must have shape (d, d) = ({d}, {d}) or (n, d, d) = ({n}, {d}, {d}) to fit `mean`, "
            f"but has {tuple(covariance.shape)}."
        )
    check_finite("covariance", covariance)
    if has_values(covariance):
        eps = float(xp.finfo(covariance.dtype).eps)
        size = xp.max(xp.abs(covariance), axis=(-2, -1))
        asymmetry = xp.max(xp.abs(covariance - covariance.mT), axis=(-2, -1))
        if bool(xp.any(asymmetry > 1e3 * eps * size)):
            raise ValueError(
                f"`covariance` must be symmetric, but entries differ by up to {as_float(xp.max(asymmetry)):.4g}."
            )
        pivots = xp.linalg.diagonal(_cholesky(covariance)) ** 2
        if not bool(xp.all(pivots > d * eps * xp.linalg.diagonal(covariance))):  # with JAX, NaN if indefinite
            raise ValueError(_NOT_POSITIVE_DEFINITE)
    return xp.broadcast_to(covariance, (n, d, d))


_NOT_POSITIVE_DEFINITE = (
    "`covariance` must be positive definite, but has an eigenvalue that is zero or negative. Likely causes: a "
    "standard deviation of zero, perfectly correlated dimensions, or too few samples in its estimate; adding a small "
    "multiple of the identity helps."
)


def _cholesky(covariance: Array) -> Array:
    try:
        return array_namespace(covariance).linalg.cholesky(covariance)
    except (np.linalg.LinAlgError, RuntimeError):  # torch's error is a RuntimeError; JAX returns NaN instead
        if not has_values(covariance) or _is_singular(to_numpy(covariance)):
            raise ValueError(_NOT_POSITIVE_DEFINITE) from None
        raise


def _is_singular(covariance: np.ndarray) -> bool:
    """Return whether a covariance has an eigenvalue that rounding may have made zero or negative."""
    values = np.linalg.eigvalsh(covariance)
    return not np.all(values[..., 0] > 10 * values.shape[-1] * np.finfo(values.dtype).eps * values[..., -1])
