"""Divergences between batches of predictions, and Gram matrices of the kernels built on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._arrays import Array, array_namespace
from ._pipeline import as_distribution_kernel, as_generator
from .kernels import GFD, KGFD, MMD, DistributionKernel, Radial, Wasserstein
from .kernels import Gaussian as GaussianKernel
from .kernels.bandwidth import resolve_bandwidth
from .kernels.base import check_count
from .kernels.distances import pairwise
from .kernels.gram import block_of
from .predictions import Gaussian, Predictions, draw_samples, evaluate_score, held_array
from .predictions.join import join

__all__ = ["fisher_divergence", "gfd", "gram_matrix", "kgfd", "mmd", "wasserstein"]

DEFAULT_N_SAMPLES = 1000


def gfd(
    p: Predictions,
    q: Predictions,
    *,
    base: Any = None,
    n_base: int | None = None,
    paired: bool = False,
    rng: Any = None,
) -> Array:
    """Generalised Fisher divergence E_nu |s_p - s_q|^2 (the paper's definition 4.1).

    Parameters
    ----------
    p, q : Predictions
        Batches of n and n' predictions.
    base, n_base
        As for `kernels.GFD`.
    paired : bool
        Compare row with row (n = n') instead of all with all.
    rng : seed or numpy.random.Generator, optional

    Returns
    -------
    array, shape (n, n') or, paired, (n,)

    Examples
    --------
    >>> import scorecal as sc
    >>> sc.gfd(sc.Gaussian([0.0, 1.0], 1.0), sc.Gaussian([3.0], 1.0))
    array([[9.],
           [4.]])
    """
    return _compare(GFD(base, n_base), p, q, paired, rng)


def kgfd(
    p: Predictions,
    q: Predictions,
    *,
    ground: Any = None,
    base: Any = None,
    n_base: int | None = None,
    paired: bool = False,
    rng: Any = None,
) -> Array:
    """Kernelised generalised Fisher divergence, a squared norm (the paper's section 4.2).

    Parameters are those of `gfd`, and `ground` as for `kernels.KGFD`: `kernels.Gaussian`, `kernels.IMQ`, or
    `kernels.Diffusion`, with which it is the speed at which two diffusions part (proposition 4.3).
    """
    return _compare(KGFD(GaussianKernel() if ground is None else ground, base, n_base), p, q, paired, rng)


def mmd(
    p: Predictions,
    q: Predictions,
    *,
    ground: Radial | None = None,
    n_samples: int | None = None,
    paired: bool = False,
    rng: Any = None,
) -> Array:
    """Maximum mean discrepancy, a distance (not squared).

    Parameters are those of `gfd`, and `ground` and `n_samples` as for `kernels.MMD`.
    """
    squared = _compare(MMD(GaussianKernel() if ground is None else ground, n_samples), p, q, paired, rng)
    return squared**0.5


def wasserstein(
    p: Predictions,
    q: Predictions,
    *,
    n_samples: int | None = None,
    n_projections: int = 20,
    paired: bool = False,
    rng: Any = None,
) -> Array:
    """Wasserstein-2 distance (not squared); between samples, the sliced one.

    Parameters are those of `gfd`, and `n_samples` and `n_projections` as for `kernels.Wasserstein`.
    """
    kernel = Wasserstein(n_samples=n_samples, n_projections=n_projections)
    return _compare(kernel, p, q, paired, rng) ** 0.5


def fisher_divergence(
    p: Predictions, q: Predictions, *, n_samples: int | None = None, paired: bool = False, rng: Any = None
) -> Array:
    """Fisher divergence E_p |s_p - s_q|^2; not symmetric.

    Parameters
    ----------
    p, q : Predictions
        Batches of n and n' predictions; expectations are under `p`.
    n_samples : int, optional
        Draws from each row of `p`. None: the closed form for Gaussians, otherwise 1000 draws.
    paired, rng
        As for `gfd`.

    Examples
    --------
    >>> import scorecal as sc
    >>> sc.fisher_divergence(sc.Gaussian([0.0], 1.0), sc.Gaussian([2.0], 1.0))
    array([[4.]])
    """
    check_count(n_samples, "n_samples")
    rows = [_fisher_row(p, q, i, n_samples, as_generator(rng)) for i in range(p.n)]
    values = array_namespace(rows[0]).stack(rows)
    return _diagonal(values, p, q) if paired else values


def gram_matrix(kernel: DistributionKernel, p: Predictions, q: Predictions | None = None, *, rng: Any = None) -> Array:
    """Gram matrix k(p_i, q_j) of a kernel between predictions; with `q` left out, of `p` with itself.

    "median" bandwidths are those of `p`, so that the matrices of training rows, `gram_matrix(kernel, train)`, and of
    test rows against them, `gram_matrix(kernel, train, test).T`, belong together; so do sampled ones with the same
    `rng`, given as a seed.

    Examples
    --------
    Regression on distributions, with the kernel precomputed:

    >>> import numpy as np, scorecal as sc
    >>> train, test = sc.Gaussian([0.0, 1.0, 2.0], 1.0), sc.Gaussian([0.5], 1.0)
    >>> K = sc.gram_matrix(sc.kernels.GFD(), train)
    >>> weights = np.linalg.solve(K + 1e-6 * np.eye(3), [0.0, 1.0, 2.0])  # e.g. KernelRidge(kernel="precomputed")
    >>> bool(0.0 < (sc.gram_matrix(sc.kernels.GFD(), train, test).T @ weights)[0] < 1.0)
    True
    """
    kernel = as_distribution_kernel(kernel, GFD())
    reference = _reference(p)
    distance, found = kernel.distance(p, reference, as_generator(rng))
    bandwidth = resolve_bandwidth(kernel.bandwidth, distance, reference)
    if q is not None:
        if "ground" in found:
            kernel = replace(kernel, ground=replace(kernel.ground, bandwidth=found["ground"]))  # type: ignore[type-var, attr-defined]
        distance, _ = kernel.distance(join(p, q), reference, as_generator(rng))
    rows, cols = slice(0, p.n), slice(0, p.n) if q is None else slice(p.n, p.n + q.n)
    return block_of(distance, bandwidth, kernel.outer, rows, cols)


def _compare(kernel: DistributionKernel, p: Predictions, q: Predictions, paired: bool, rng: Any) -> Array:
    both = join(p, q)
    reference = _reference(p)
    distance, _ = kernel.distance(both, reference, as_generator(rng))
    if not paired:
        return distance.block(slice(0, p.n), slice(p.n, p.n + q.n))
    _check_paired(p, q)
    return pairwise(distance, np.arange(p.n), p.n + np.arange(p.n), reference)


def _fisher_row(p: Predictions, q: Predictions, i: int, n_samples: int | None, rng: np.random.Generator) -> Array:
    """Divergences of row i of `p` from all rows of `q`, (n',)."""
    if n_samples is None and isinstance(p, Gaussian) and isinstance(q, Gaussian):
        xp = array_namespace(p.mean)
        mean, covariance = (part[i, ...] for part in p.moments())
        own, others = (_full_precision(part) for part in (p, q))
        gap = own[i, ...] - others
        spread = xp.linalg.trace(gap @ covariance @ gap)
        return spread + xp.sum(q.score(mean) ** 2, axis=-1)
    points = draw_samples(p, n_samples or DEFAULT_N_SAMPLES, rng)[i, ...][:, None, :]
    xp = array_namespace(points)
    own_scores = evaluate_score(p, points)[:, i, :][:, None, :]
    return xp.mean(xp.sum((own_scores - evaluate_score(q, points)) ** 2, axis=-1), axis=0)


def _full_precision(predictions: Gaussian) -> Array:
    _, covariance = predictions.moments()
    return array_namespace(covariance).linalg.inv(covariance)


def _diagonal(values: Array, p: Predictions, q: Predictions) -> Array:
    _check_paired(p, q)
    return array_namespace(values).linalg.diagonal(values)


def _check_paired(p: Predictions, q: Predictions) -> None:
    if p.n != q.n:
        raise ValueError(f"`paired` needs as many rows in `p` as in `q`, but they have {p.n} and {q.n}.")


def _reference(p: Predictions) -> Array:
    held = held_array(p)
    return np.zeros((1, 1)) if held is None else held
