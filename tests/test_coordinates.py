"""Bounded supports: maps against their inverses, scores against finite differences, level and power of the test."""

import numpy as np
import pytest
from torch.distributions import constraints

import scorecal as sc
from scorecal._arrays import to_numpy
from scorecal.coordinates.supports import as_support

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
    return support, RNG.normal(size=(*shape, support.check_dim(dim)))


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


def box_posterior(n, rng, scale=1.0, shift=0.0):
    """Prior U(0, 1)^2 and observations x ~ N(theta, 0.3^2 I): the posterior is N(x, 0.3^2 I), cut off at the box."""
    theta = rng.uniform(size=(n, 2))
    x = theta + 0.3 * rng.normal(size=(n, 2))
    return sc.ScoreFunction(lambda z: (x + shift - z) / (0.3 * scale) ** 2, n, 2), theta


def half_line_posterior(n, rng, scale=1.0):
    """Prior Exp(1) and observations x ~ N(theta, 1): the posterior is N(x - 1, 1), cut off at 0."""
    theta = rng.exponential(size=(n, 1))
    x = theta + rng.normal(size=(n, 1))
    return sc.ScoreFunction(lambda z: (x - 1.0 - z) / scale**2, n, 1), theta


def dirichlet(n, rng, factor=1.0):
    """The score on the simplex is (alpha - 1) / y."""
    alpha = np.exp(rng.normal(size=(n, 3))) + 0.5
    parts = rng.standard_gamma(alpha)
    return sc.ScoreFunction(lambda z: (factor * alpha - 1.0) / z, n, 3), parts / np.sum(parts, axis=1, keepdims=True)


POSTERIORS = {
    "box": (box_posterior, sc.coordinates.Box(0.0, 1.0)),
    "half-line": (half_line_posterior, sc.coordinates.Box(0.0)),
    "simplex": (dirichlet, sc.coordinates.Simplex()),
}


def count_rejections(kind, n_repetitions, mapped=True, **spoiled):
    draw, support = POSTERIORS[kind]
    coordinates = sc.coordinates.unconstrain(support) if mapped else sc.coordinates.identity
    rejections = 0
    for repetition in range(n_repetitions):
        rng = np.random.default_rng([repetition, list(POSTERIORS).index(kind)])
        predictions, y = draw(200, rng, **spoiled)
        rejections += sc.kccsd_test(predictions, y, coordinates=coordinates, n_resamples=199, rng=rng).rejects()
    return rejections


@pytest.mark.parametrize("kind", POSTERIORS)
def test_level(kind):
    assert count_rejections(kind, 1000) <= 70


@pytest.mark.parametrize("kind", ["box", "half-line"])
def test_without_the_map_the_exact_posterior_is_rejected(kind):
    """Which is why there is one."""
    assert count_rejections(kind, 20, mapped=False) >= 15


@pytest.mark.parametrize(
    ("kind", "spoiled"),
    [("box", {"shift": 0.15}), ("box", {"scale": 0.5}), ("half-line", {"scale": 0.5}), ("simplex", {"factor": 3.0})],
)
def test_power(kind, spoiled):
    assert count_rejections(kind, 20, **spoiled) >= 15


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


def inside(n=5, dim=2):
    return RNG.uniform(0.1, 0.9, size=(n, dim))


@pytest.mark.parametrize(
    ("support", "y", "error", "message"),
    [
        (sc.coordinates.Box(0.0, 1.0), inside() + 1.0, ValueError, "`y` must lie inside the support, .* row 0 is"),
        (sc.coordinates.Box(0.0, 1.0), np.round(inside()), ValueError, "rounded or clipped to its ends"),
        (sc.coordinates.Box([0.0] * 3, 1.0), inside(), ValueError, "are of dimension 3, but the targets of 2"),
        (sc.coordinates.Simplex(), inside(), ValueError, "`y` must lie inside the support"),
        (constraints.nonnegative_integer, inside(), TypeError, "`support` is discrete"),
        (constraints.lower_cholesky, inside(), TypeError, "`support` must be `coordinates.Box`"),
        ((0.0, 1.0), inside(), TypeError, "`support` must be `coordinates.Box`"),
    ],
)
def test_bad_input(support, y, error, message):
    predictions = sc.ScoreFunction(lambda z: 1.0 + 0.0 * z, len(y), 2)
    with pytest.raises(error, match=message):
        sc.kccsd_test(predictions, y, coordinates=sc.coordinates.unconstrain(support), rng=0)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, [3.0, 1.0]), (np.nan, 1.0)])
def test_ends_in_disorder(low, high):
    with pytest.raises(ValueError, match="`low` must be below `high`"):
        sc.coordinates.Box(low, high)


def test_scores_of_elsewhere_cannot_be_mapped():
    scores = sc.Scores(inside(), inside()[:, None, :])
    with pytest.raises(TypeError, match="map the targets, scores and base points before"):
        sc.kccsd_test(scores, inside(), coordinates=sc.coordinates.unconstrain(sc.coordinates.Box(0.0, 1.0)), rng=0)
