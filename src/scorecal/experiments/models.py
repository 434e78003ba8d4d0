"""The four synthetic models of the paper (section 6): predictions of a known degree of miscalibration.

Each returns (predictions, y): they are calibrated for `delta = 0`, and miscalibration grows with `delta`.
"""

from typing import Any

import numpy as np

from .._lib.checks import check_count
from ..predictions import Gaussian


def mgm(n: int, delta: float, c: str = "ones", rng: Any = None) -> tuple[Gaussian, np.ndarray]:
    """Mean Gaussian model on R^5: Y ~ N(x, I), predicted N(x + delta c, I), x ~ N(0, I).

    Parameters
    ----------
    n : int
        Number of predictions.
    delta : float
        Shift of the predicted means.
    c : {"ones", "first"}
        Shift all dimensions, or the first only.
    rng : seed or numpy.random.Generator, optional
        Source of predictions and targets.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.mgm(100, 0.1, c="first", rng=0)
    >>> y.shape
    (100, 5)
    """
    if c not in ("ones", "first"):
        raise ValueError(f'`c` must be "ones" or "first", but is {c!r}.')
    rng = _checked(n, delta, rng)
    x = rng.standard_normal((n, 5))
    y = x + rng.standard_normal((n, 5))
    return Gaussian(x + delta * (np.ones(5) if c == "ones" else np.eye(5)[0]), 1.0), y


def lgm(n: int, delta: float, rng: Any = None) -> tuple[Gaussian, np.ndarray]:
    """Linear Gaussian model on R: Y ~ N(m, 1), predicted N(m + delta, 1), m = sum_i i x_i, x ~ N(0, I_5).

    Parameters are those of `mgm`. `delta`: shift of the predicted means, in predicted standard deviations. The means
    themselves have spread 7.4.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.lgm(100, 0.0, rng=0)
    >>> predictions.n, y.shape
    (100, (100, 1))
    """
    rng = _checked(n, delta, rng)
    mean = rng.standard_normal((n, 5)) @ np.arange(1.0, 6.0)[:, None]
    return Gaussian(mean + delta, 1.0), mean + rng.standard_normal((n, 1))


def hgm(n: int, delta: float, rng: Any = None) -> tuple[Gaussian, np.ndarray]:
    """Heteroscedastic Gaussian model on R: Y ~ N(m, 1), predicted N(m, v(x)), m = sum_i x_i, x ~ N(0, I_3).

    ``v(x) = 1 + 10 delta exp(-|x - 2/3|^2 / (2 0.8^2))``: predictions are too wide near one point of the inputs.

    Parameters are those of `mgm`. `delta`: a tenth of the excess variance at that point.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.hgm(100, 1.0, rng=0)
    >>> bool((predictions.scale >= 1.0).all())
    True
    """
    rng = _checked(n, delta, rng)
    x = rng.standard_normal((n, 3))
    mean = np.sum(x, axis=1, keepdims=True)
    variance = 1.0 + 10.0 * delta * np.exp(-np.sum((x - 2.0 / 3.0) ** 2, axis=1) / (2.0 * 0.8**2))
    return Gaussian(mean, np.sqrt(variance)), mean + rng.standard_normal((n, 1))


def qgm(n: int, delta: float, rng: Any = None) -> tuple[Gaussian, np.ndarray]:
    """Quadratic Gaussian model on R: Y ~ N(x^2/10 + x + 1, 1), predicted with (1 - delta) x^2/10, x ~ U(-2, 2).

    Parameters are those of `mgm`. `delta`: share of the quadratic term that the predicted means lack.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions, y = sc.experiments.qgm(100, 1.0, rng=0)
    >>> y.shape
    (100, 1)
    """
    rng = _checked(n, delta, rng)
    x = rng.uniform(-2.0, 2.0, (n, 1))
    y = 0.1 * x**2 + x + 1.0 + rng.standard_normal((n, 1))
    return Gaussian(0.1 * (1.0 - delta) * x**2 + x + 1.0, 1.0), y


def _checked(n: int, delta: float, rng: Any) -> np.random.Generator:
    check_count("n", n)
    if not 0 <= delta < np.inf:
        raise ValueError(f"`delta` must be a number of at least 0, but is {delta!r}.")
    return np.random.default_rng(rng)
