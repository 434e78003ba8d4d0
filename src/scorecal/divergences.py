"""Divergences between batches of predictions, and Gram matrices of the kernels built on them."""

from dataclasses import replace
from typing import Any

import numpy as np

from ._lib.arrays import Array, array_namespace, full_product, has_values, like, to_numpy
from ._lib.checks import as_generator, check_count
from ._lib.linalg import symmetric_root
from .kernels import GFD, KGFD, MMD, DistributionKernel, Radial, Wasserstein
from .kernels import Gaussian as GaussianKernel
from .kernels.bandwidth import resolve_bandwidth
from .kernels.base import base_measure
from .kernels.distances import Distance, pairwise
from .kernels.gram import gram_of
from .kernels.protocol import as_distribution_kernel
from .kernels.radial import with_bandwidth
from .predictions import Gaussian, Predictions, check_predictions, draw_samples, evaluate_score, held_array
from .predictions.join import check_joinable, join

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
    """Generalised Fisher divergence ``E_nu |s_p - s_q|^2`` (the paper's definition 4.1).

    Parameters
    ----------
    p, q : Predictions
        Batches of n and n' predictions.
    base, n_base
        As for `kernels.GFD`.
    paired : bool
        Compare row i of `p` with row i of `q` (n = n') instead of all rows with all.
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
    `kernels.Diffusion`, for which it is the squared speed at which two diffusions move apart (proposition 4.3). A
    ground bandwidth "median" depends on all predictions in `p` and `q`; give a number to compare several calls.
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

    Parameters
    ----------
    p, q, paired, rng
        As for `gfd`.
    ground, n_samples
        As for `kernels.MMD`. The ground bandwidth "median" depends on all predictions in `p` and `q`; give a number to
        compare results of several calls.

    Examples
    --------
    >>> import scorecal as sc
    >>> sc.mmd(sc.Gaussian([0.0], 1.0), sc.Gaussian([3.0], 1.0), ground=sc.kernels.Gaussian(2.0)).round(3)
    array([[0.928]])
    """
    squared = _compare(MMD(GaussianKernel() if ground is None else ground, n_samples), p, q, paired, rng)
    return _root(squared)


def wasserstein(
    p: Predictions,
    q: Predictions,
    *,
    n_samples: int | None = None,
    n_projections: int = 20,
    paired: bool = False,
    rng: Any = None,
) -> Array:
    """Wasserstein-2 distance (not squared); between samples, the sliced distance.

    Parameters
    ----------
    p, q, paired, rng
        As for `gfd`.
    n_samples : int, optional
        None: the closed form for Gaussians; otherwise draws from each prediction (10 for other predictions).
    n_projections : int
        Number of random directions of the sliced distance.

    Examples
    --------
    >>> import scorecal as sc
    >>> sc.wasserstein(sc.Gaussian([0.0], 1.0), sc.Gaussian([3.0], 5.0))
    array([[5.]])
    """
    if n_samples is None and isinstance(both := join(p, q), Gaussian) and both.scale is None:
        if paired:
            _check_paired(p, q)
        squared = _bures(p, q)
        return _root(array_namespace(squared).linalg.diagonal(squared) if paired else squared)
    kernel = Wasserstein(n_samples=n_samples, n_projections=n_projections)
    return _root(_compare(kernel, p, q, paired, rng))


def fisher_divergence(
    p: Predictions, q: Predictions, *, n_samples: int | None = None, paired: bool = False, rng: Any = None
) -> Array:
    """Fisher divergence ``E_p |s_p - s_q|^2``; not symmetric.

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
    check_count("n_samples", n_samples, optional=True)
    check_joinable(p, q)
    if paired:
        _check_paired(p, q)
    if n_samples is None and isinstance(p, Gaussian) and isinstance(q, Gaussian):
        return _gaussian_fisher(p, q, paired)
    points = draw_samples(p, n_samples or DEFAULT_N_SAMPLES, as_generator(rng))
    xp = array_namespace(points)
    points = xp.permute_dims(points, (1, 0, 2))
    own = evaluate_score(p, points)
    if paired:
        return xp.mean(xp.sum((own - evaluate_score(q, points)) ** 2, axis=-1), axis=0)
    rows = [own[:, i, :][:, None, :] - evaluate_score(q, points[:, i, :][:, None, :]) for i in range(p.n)]
    return xp.stack([xp.mean(xp.sum(row**2, axis=-1), axis=0) for row in rows])


def gram_matrix(kernel: DistributionKernel, p: Predictions, q: Predictions | None = None, *, rng: Any = None) -> Array:
    """Gram matrix k(p_i, q_j) of a kernel between predictions; without `q`, of `p` with itself.

    "median" bandwidths are those of `p`, so that the matrix of training rows, `gram_matrix(kernel, train)`, and the
    matrix of test rows against them, `gram_matrix(kernel, train, test).T`, are consistent. So are sampled matrices with
    the same seed as `rng`.

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
    kernel = as_distribution_kernel(kernel, GFD(), "kernel")
    check_predictions("p", p)
    reference = _reference(p)
    if isinstance(kernel, GFD | KGFD) and isinstance(kernel.base, str):  # "match" refers to `p` alone
        kernel = replace(kernel, base=base_measure("match", p, reference, as_generator(rng).spawn(1)[0]))
    distance, found = kernel.distance(p, reference, as_generator(rng))
    gram = gram_of(distance, resolve_bandwidth(kernel.bandwidth, distance, reference), kernel.outer)
    if q is None:
        return gram(slice(0, p.n), slice(0, p.n))
    if isinstance(kernel, KGFD | MMD):  # the ground bandwidth also is that of `p` alone
        kernel = replace(kernel, ground=with_bandwidth(kernel.ground, found["ground"]))  # type: ignore[arg-type]
    joined, _ = kernel.distance(join(p, q, draws_apart=True), reference, as_generator(rng))
    _check_same(distance, joined, reference)
    gram = gram_of(joined, resolve_bandwidth(kernel.bandwidth, distance, reference), kernel.outer)
    return gram(slice(0, p.n), slice(p.n, p.n + q.n))


def _check_same(alone: Distance, joined: Distance, reference: Array) -> None:
    """Raise if distances within `p` change in the presence of `q`, since the Gram matrices would be inconsistent."""
    some = np.arange(min(alone.n, 64))
    one, other = (pairwise(distance, some, some[::-1], reference) for distance in (alone, joined))
    largest = float(np.max(to_numpy(one))) if has_values(one, other) else 0.0
    if largest and not np.allclose(to_numpy(one), to_numpy(other), rtol=1e-3, atol=1e-6 * largest):
        raise TypeError(
            "`q` must be of the same kind as `p`: the distances that the kernel finds within `p` change when `q` is "
            "added. Likely cause: a closed form that `p` has but `q` lacks. Give the kernel `n_base` or `n_samples`."
        )


def _compare(kernel: DistributionKernel, p: Predictions, q: Predictions, paired: bool, rng: Any) -> Array:
    both = join(p, q)
    reference = _reference(p)
    distance, _ = kernel.distance(both, reference, as_generator(rng))
    if not paired:
        return distance.block(slice(0, p.n), slice(p.n, p.n + q.n))
    _check_paired(p, q)
    return pairwise(distance, np.arange(p.n), p.n + np.arange(p.n), reference)


def _gaussian_fisher(p: Gaussian, q: Gaussian, paired: bool) -> Array:
    """|s_q(m_p)|^2 + tr((L_p - L_q) S_p (L_p - L_q)) with precisions L."""
    xp = array_namespace(p.mean)
    mean, covariance = p.moments()
    covariance2 = like(q.moments()[1], covariance)
    precision, precision2 = xp.linalg.inv(covariance), xp.linalg.inv(covariance2)
    if paired:
        gap, shift = precision - precision2, q.score(mean)
    else:
        gap, shift = precision[:, None, ...] - precision2[None, ...], q.score(mean[:, None, :])
        covariance = covariance[:, None, ...]
    return xp.linalg.trace(full_product(gap, covariance, gap)) + xp.sum(shift**2, axis=-1)


def _root(squared: Array) -> Array:
    """The square root, with derivative 0 where it has none."""
    xp = array_namespace(squared)
    positive = squared > 0
    return xp.where(positive, xp.sqrt(xp.where(positive, squared, xp.ones_like(squared))), xp.zeros_like(squared))


def _bures(p: Any, q: Any) -> Array:
    """Squared Wasserstein-2 distance of Gaussians: |m - m'|^2 + tr S + tr S' - 2 tr (S^(1/2) S' S^(1/2))^(1/2)."""
    (mean, covariance), (mean2, covariance2) = p.moments(), q.moments()
    xp = array_namespace(mean)
    root = symmetric_root(covariance)[:, None, ...]
    inner = xp.linalg.eigvalsh(full_product(root, covariance2[None, ...], root))
    overlap = xp.sum(xp.sqrt(xp.maximum(inner, 0.0)), axis=-1)
    traces = xp.linalg.trace(covariance)[:, None] + xp.linalg.trace(covariance2)[None, :]
    squared = xp.sum((mean[:, None, :] - mean2[None, ...]) ** 2, axis=-1) + traces - 2.0 * overlap
    return xp.maximum(squared, 0.0)


def _check_paired(p: Predictions, q: Predictions) -> None:
    if p.n != q.n:
        raise ValueError(f"`paired` needs as many rows in `p` as in `q`, but they have {p.n} and {q.n}.")


def _reference(p: Predictions) -> Array:
    held = held_array(p)
    return np.zeros((1, 1)) if held is None else held
