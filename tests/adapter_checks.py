"""What adapters of several libraries are checked for, and parameters of their distributions."""

import warnings
from functools import cache

import numpy as np
import pytest
from backends import to_numpy
from scipy import special

import scorecal as sc

RNG = np.random.default_rng(5)
N = 6
LOC, SHAPE = RNG.normal(size=N), np.exp(0.5 * RNG.normal(size=N))


def heavy(package):
    """Import a package that `make test` does without; its tests are slow, and are skipped where it is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own, and of what it imports
        return pytest.importorskip(package, reason="heavy: pip install --group doors")


def check_scores(predictions, log_density, points, array=np.asarray, step=1e-5):
    """At targets, at points shared by all rows, and at others for each: against differences in units of the points."""
    n, dim = predictions.n, predictions.dim
    assert points.shape == (5, n, dim)
    for y in (points[0], points, points[:, :1]):
        scores = to_numpy(predictions.score(array(y)))
        shape = (*y.shape[:-2], n, dim)
        assert scores.shape == shape
        for k in range(dim):
            shift = step * np.eye(dim)[k]
            slope = (log_density(y + shift) - log_density(y - shift)) / (2 * step)
            np.testing.assert_allclose(scores[..., k], np.broadcast_to(slope, shape[:-1]), rtol=1e-6, atol=1e-6)


def check_verdicts(predictions, right, wrong, coordinates="unconstrain"):
    """At level 1 %: a dozen calibrated cases, one seed each, would hardly all pass at 5 %."""
    found = sc.kccsd_test(predictions, right, rng=0)
    assert found.coordinates.startswith(coordinates)
    assert not found.rejects(0.01)
    assert sc.kccsd_test(predictions, wrong, rng=0).rejects(0.01)


def log_normal(log_y, location, scale=1.0):
    return -log_y - 0.5 * ((log_y - location) / scale) ** 2


def points_in(where, dim):
    """Five points for each of the N rows."""
    points = np.random.default_rng(10).normal(size=(5, N, dim))
    return {"real": points, "positive": np.exp(points), "unit": special.expit(points)}[where]


@cache
def flow(dim):
    """A small normalising flow of flowjax on R^dim, with random weights, given three numbers."""
    import jax
    from flowjax.distributions import Normal
    from flowjax.flows import masked_autoregressive_flow

    jax.config.update("jax_enable_x64", True)
    base = Normal(jax.numpy.zeros(dim))
    return masked_autoregressive_flow(jax.random.key(0), base_dist=base, cond_dim=3, flow_layers=1, nn_width=8)
