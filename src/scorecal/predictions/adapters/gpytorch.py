"""Predictions from the joint Gaussians of gpytorch."""

from typing import Any

import numpy as np

from ..._lib.arrays import to_numpy
from ..cdf import CdfFunction
from ..gaussian import Gaussian
from .dispatch import comes_from


def from_gpytorch(distribution: Any) -> Gaussian | CdfFunction:
    """Predictions from what a Gaussian process of gpytorch returns: one Gaussian for all n points together.

    Parameters
    ----------
    distribution : gpytorch.distributions.MultivariateNormal or MultitaskMultivariateNormal
        `likelihood(model(x))`, and not `model(x)`, which leaves the noise of the targets out. Batch shape () for n
        points of one process; batch shape (b,) for b independent processes with the same number of points, or for b
        rows of several outputs that depend on each other.

    Returns
    -------
    CdfFunction or Gaussian
        For batch shape (), the prediction of each point given the targets of the points before it; for batch shape
        (b,), `Gaussian` with full covariances.

    Notes
    -----
    Batch shape () says that the n targets are a single draw from N(mean, K). The prediction of one point is not
    independent of those of the others, so that single points, each with its own mean and variance, must not be tested
    as independent rows: where errors are correlated, calibrated predictions would be rejected far too often. With
    K = L L', the entries of z = L^-1 (y - mean) are independent standard normals if the prediction is calibrated.
    The entry of row i is its target in units of its prediction given the targets of rows 0 to i - 1, and this is what
    tests judge: n independent rows, with the mean of the process as location and the diagonal of L as standard
    deviation. Any order of rows is valid; what is far into a correlated sequence says little new.

    Examples
    --------
    >>> import gpytorch, numpy as np, torch, scorecal as sc
    >>> x = torch.linspace(0.0, 10.0, 200, dtype=torch.float64)
    >>> covariance = torch.exp(-0.5 * (x[:, None] - x) ** 2) + 0.1 * torch.eye(200)
    >>> distribution = gpytorch.distributions.MultivariateNormal(torch.sin(x), covariance)
    >>> noise = torch.asarray(np.random.default_rng(0).normal(size=200))
    >>> y = torch.sin(x) + torch.linalg.cholesky(covariance) @ noise  # one smooth function with noise
    >>> sc.calibration_test(sc.from_gpytorch(distribution), y, rng=0).rejects()
    False
    >>> sc.calibration_test(sc.Gaussian(distribution.mean, distribution.stddev), y, rng=0).rejects()  # dependent rows
    True
    """
    kind = type(distribution)
    if not comes_from(distribution, "gpytorch.distributions") or not hasattr(distribution, "covariance_matrix"):
        raise TypeError(f"`distribution` must be a MultivariateNormal of gpytorch, but is a {kind.__name__}.")
    batch, event = tuple(distribution.batch_shape), tuple(distribution.event_shape)
    if len(batch) == 1 and len(event) == 1 and 0 not in batch + event:
        covariance = distribution.covariance_matrix
        return Gaussian(distribution.mean, covariance=0.5 * (covariance + covariance.mT))
    if batch or not event or 0 in event:
        raise ValueError(
            "`distribution` must have batch shape () for n points of one process, or (b,) with event shape (d,) for b "
            f"rows, but has batch shape {batch} and event shape {event}."
        )
    return _of_one_process(distribution, event)


def _of_one_process(distribution: Any, event: tuple[int, ...]) -> CdfFunction:
    """Predict each point, output after output, given all before it."""
    mean, covariance = (
        to_numpy(part).astype(np.float64) for part in (distribution.mean, distribution.covariance_matrix)
    )
    by_output = len(event) == 2 and not distribution._interleaved  # all points of one output come first
    order = np.arange(mean.size).reshape(event[::-1]).T if by_output else np.arange(mean.size).reshape(event)
    where = np.ravel(order)  # of each number of `mean`, among the rows of `covariance`
    factor = _cholesky(covariance[np.ix_(where, where)])
    unit = np.reshape(np.diagonal(factor), event)

    def conditional(y: np.ndarray) -> np.ndarray:
        from scipy.linalg import solve_triangular
        from scipy.special import ndtr

        z = solve_triangular(factor, np.ravel(y - mean), lower=True)
        return np.asarray(ndtr(np.reshape(z, event)))

    return CdfFunction(conditional, mean=mean, scale=unit)


def _cholesky(covariance: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor; raise, with advice, where a point is certain given those before it."""
    try:
        factor = np.linalg.cholesky(0.5 * (covariance + covariance.T))
    except np.linalg.LinAlgError:
        factor = np.zeros_like(covariance)
    smallest = np.diagonal(factor) ** 2 / np.diagonal(covariance)
    if not np.all(smallest > 10 * len(covariance) * np.finfo(np.float64).eps):
        raise ValueError(
            "`distribution` has a covariance that is not positive definite. Likely causes: the latent process without "
            "the noise of the targets (give `likelihood(model(x))`), or the same point twice; in float32, compute in "
            "float64."
        )
    return np.asarray(factor)
