"""Bounded supports: maps against their inverses, Jacobians against finite differences, constraints of torch."""

import numpy as np
import pytest
from backends import to_numpy
from torch.distributions import constraints

import scorecal as sc
from scorecal.predictions.supports import as_support

RNG = np.random.default_rng(11)
INF = np.inf
SUPPORTS = {
    "unit interval": (sc.coordinates.Box(0.0, 1.0), 1),
    "box": (sc.coordinates.Box([-1.0, 2.0], [3.0, 2.5]), 2),
    "positive": (sc.coordinates.Box(0.0), 2),
    "all kinds": (sc.coordinates.Box([0.0, -INF, -INF, 1.0], [1.0, 2.0, INF, INF]), 4),
    "simplex": (sc.coordinates.Simplex(), 4),
    "two parts": (sc.coordinates.Simplex(), 2),
}


def points(kind, *shape):
    support, dim = SUPPORTS[kind]
    return support, RNG.normal(size=(*shape, support.check(50, dim)))


@pytest.mark.parametrize("kind", SUPPORTS)
def test_maps_are_inverses_and_stay_inside(backend, kind):
    support, z = points(kind, 3, 50)
    y = support.forward(backend.array(z))
    assert bool(backend.xp.all(support.contains(y)))
    np.testing.assert_allclose(to_numpy(support.inverse(y)), z, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", SUPPORTS)
def test_scores_carry_the_jacobian(backend, kind):
    """Against finite differences of log p(forward(z)) + log |det J|, J by finite differences too."""
    support, z = points(kind, 20)
    dim, step = z.shape[1], 1e-4

    def free(y):
        """Coordinates of y that determine it: all of them but, on the simplex, the last."""
        return y[..., :dim]

    def log_density(z):
        shifts = step * np.eye(dim)
        columns = [(free(support.forward(z + e)) - free(support.forward(z - e))) / (2 * step) for e in shifts]
        y = support.forward(z)
        return np.sum(np.sin(y) + y**3, axis=-1) + np.linalg.slogdet(np.stack(columns, axis=-1))[1]

    y = support.forward(z)
    carried = to_numpy(support.carry(backend.array(z), backend.array(np.cos(y) + 3.0 * y**2)))
    for k in range(dim):
        e = step * np.eye(dim)[k]
        slope = (log_density(z + e) - log_density(z - e)) / (2 * step)
        np.testing.assert_allclose(carried[:, k], slope, rtol=1e-4, atol=1e-5)


def test_far_points_do_not_overflow():
    box, z = SUPPORTS["all kinds"][0], np.asarray([[800.0, -800.0, 800.0, -800.0], [-800.0, 5.0, -800.0, 5.0]])
    assert np.all(np.isfinite(box.forward(z)))
    assert np.all(np.isfinite(box.carry(z, np.ones_like(z))))


@pytest.mark.parametrize(
    ("constraint", "low", "high"),
    [
        (constraints.unit_interval, 0.0, 1.0),
        (constraints.interval(-1.0, 2.0), -1.0, 2.0),
        (constraints.positive, 0.0, INF),
        (constraints.greater_than(3.0), 3.0, INF),
        (constraints.less_than(3.0), -INF, 3.0),
        (constraints.real, -INF, INF),
        (constraints.independent(constraints.positive, 1), 0.0, INF),
    ],
)
def test_constraints_of_torch(constraint, low, high):
    found = as_support(constraint)
    assert (float(found.low), float(found.high)) == (low, high)
    assert isinstance(as_support(constraints.simplex), sc.coordinates.Simplex)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, [3.0, 1.0]), (np.nan, 1.0)])
def test_ends_in_disorder(low, high):
    with pytest.raises(ValueError, match="`low` must be below `high`"):
        sc.coordinates.Box(low, high)
