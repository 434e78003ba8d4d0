"""Radial kernels l(y, y') = f(|y - y'|^2 / bandwidth^2), on targets and on the ground space.

Derivatives are written as f' / f = slope v and t f'' / f' = offset + r. The constants `slope` and `offset` go into
matrix products, where they cost nothing; v and r depend on t. `profile(t, scale)` returns (f, v, scale r).
"""

import math
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np

from .._lib.arrays import Array, array_namespace, like
from .._lib.checks import check_positive


def check_bandwidth(bandwidth: float | str) -> None:
    """Raise unless `bandwidth` is "median" or a positive number."""
    if isinstance(bandwidth, str):
        if bandwidth != "median":
            raise ValueError(f'`bandwidth` must be "median" or a positive number, but is {bandwidth!r}.')
    elif isinstance(bandwidth, bool) or not isinstance(bandwidth, Real):
        raise TypeError(f'`bandwidth` must be "median" or a positive number, but is {bandwidth!r}.')
    else:
        check_positive("bandwidth", bandwidth)


@dataclass(frozen=True)
class Gaussian:
    """The Gaussian kernel, f(t) = exp(-t / 2).

    Parameters
    ----------
    bandwidth : "median" or float
        The unit of distance; by default the median distance between rows.

    Examples
    --------
    >>> import scorecal as sc
    >>> sc.kernels.Gaussian(2.0)
    Gaussian(bandwidth=2.0)
    """

    bandwidth: float | str = "median"

    def __post_init__(self) -> None:
        check_bandwidth(self.bandwidth)

    @property
    def slope(self) -> float:
        return -0.5

    @property
    def offset(self) -> float:
        return 0.0

    def profile(self, t: Array, scale: Array | float = 1.0) -> tuple[Array, Array | float, Array]:
        return array_namespace(t).exp(-0.5 * t), 1.0, (-0.5 * scale) * t

    def derivatives(self, t: Array) -> tuple[Array, Array | float, Array | float]:
        """Return f(t) and, relative to it, its derivatives in t: (f, f' / f, f'' / f)."""
        return array_namespace(t).exp(-0.5 * t), -0.5, 0.25

    @property
    def at_zero(self) -> float:
        return 1.0

    def frequencies(self, dim: int, number: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies w (dim, number) of waves whose mean is the kernel: f(x.x) = f(0) E cos(w.x)."""
        return rng.standard_normal((dim, number))


@dataclass(frozen=True)
class IMQ:
    """The inverse multiquadric kernel, f(t) = (c^2 + t)^beta.

    Parameters
    ----------
    bandwidth : "median" or float
        The unit of distance; by default the median distance between rows.
    c : float
        Positive offset.
    beta : float
        Exponent, below 0 for a bounded kernel.

    Examples
    --------
    >>> import scorecal as sc
    >>> sc.kernels.IMQ()
    IMQ(bandwidth='median', c=1.0, beta=-0.5)
    """

    bandwidth: float | str = "median"
    c: float = 1.0
    beta: float = -0.5

    def __post_init__(self) -> None:
        check_bandwidth(self.bandwidth)
        check_positive("c", self.c)
        if not (isinstance(self.beta, Real) and -math.inf < self.beta < 0):
            raise ValueError(f"`beta` must be negative and finite, but is {self.beta!r}.")

    @property
    def slope(self) -> float:
        return self.beta

    @property
    def offset(self) -> float:
        return self.beta - 1.0

    def profile(self, t: Array, scale: Array | float = 1.0) -> tuple[Array, Array | float, Array]:
        inverse = 1.0 / (self.c**2 + t)
        value = array_namespace(t).sqrt(inverse) if self.beta == -0.5 else inverse**-self.beta
        return value, inverse, ((1.0 - self.beta) * self.c**2 * scale) * inverse  # t / (c^2 + t) = 1 - c^2 / (c^2 + t)

    def derivatives(self, t: Array) -> tuple[Array, Array | float, Array | float]:
        """Return f(t) and, relative to it, its derivatives in t: (f, f' / f, f'' / f)."""
        inverse = 1.0 / (self.c**2 + t)
        return inverse**-self.beta, self.beta * inverse, self.beta * (self.beta - 1.0) * inverse**2

    @property
    def at_zero(self) -> float:
        return float(self.c ** (2.0 * self.beta))

    def frequencies(self, dim: int, number: int, rng: np.random.Generator) -> np.ndarray:
        """Draw frequencies w (dim, number) of waves whose mean is the kernel: f(x.x) = f(0) E cos(w.x).

        (c^2 + t)^beta is the integral of u^(-beta - 1) exp(-u (c^2 + t)) / Gamma(-beta) over u > 0, hence c^(2 beta)
        times the mean of the Gaussian kernels exp(-u t), whose frequencies have variance 2 u, over u from the Gamma
        distribution with shape -beta and rate c^2.
        """
        normal = rng.standard_normal((dim, number))
        return np.sqrt(2.0 * rng.gamma(-self.beta, self.c**-2.0, number)) * normal


Radial = Gaussian | IMQ


@dataclass(frozen=True)
class Diffusion:
    """The matrix-valued ground kernel grad_x grad_y' k(x, y) of a radial kernel k, for `KGFD`.

    With it, sqrt(KGFD) is the speed at which two diffusions that start from the base measure move apart, measured by
    the maximum mean discrepancy of k (the paper's proposition 4.3).

    Parameters
    ----------
    kernel : Gaussian or IMQ
        The real-valued kernel k.
    """

    kernel: Radial = field(default_factory=Gaussian)

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Radial):
            raise TypeError(f"`kernel` must be `kernels.Gaussian` or `kernels.IMQ`, but is {self.kernel!r}.")

    @property
    def bandwidth(self) -> float | str:
        return self.kernel.bandwidth

    def blocks(self, shift: Array, bandwidth: float) -> Array:
        """Values (..., d, d) at shift x - y (..., d): -(2 f' / tau^2) I - (4 f'' / tau^4) (x - y)(x - y)'."""
        xp = array_namespace(shift)
        shift = shift / bandwidth
        f, slope, curve = self.kernel.derivatives(xp.sum(shift**2, axis=-1))
        outer = shift[..., :, None] * shift[..., None, :]
        identity = like(np.eye(shift.shape[-1]), shift)
        first, second = -2.0 * (f * slope), -4.0 * (f * curve)
        return (first[..., None, None] * identity + second[..., None, None] * outer) / bandwidth**2


def with_bandwidth(ground: Radial | Diffusion, bandwidth: float) -> Radial | Diffusion:
    """Return the same kernel with a number as its bandwidth."""
    if isinstance(ground, Diffusion):
        return Diffusion(replace(ground.kernel, bandwidth=bandwidth))
    return replace(ground, bandwidth=bandwidth)
