"""Unconstrained coordinates: level and power of the test on bounded supports, asked for or declared."""

import numpy as np
import pytest
from posteriors import box_posterior, dirichlet, half_line_posterior, inside
from torch.distributions import constraints

import scorecal as sc

POSTERIORS = {
    "box": (box_posterior, sc.coordinates.Box(0.0, 1.0)),
    "half-line": (half_line_posterior, sc.coordinates.Box(0.0)),
    "simplex": (dirichlet, sc.coordinates.Simplex()),
}


def count_rejections(kind, n_repetitions, mapped=True, n=200, **spoiled):
    draw, support = POSTERIORS[kind]
    coordinates = sc.coordinates.unconstrain(support) if mapped else sc.coordinates.identity
    rejections = 0
    for repetition in range(n_repetitions):
        rng = np.random.default_rng([repetition, list(POSTERIORS).index(kind)])
        predictions, y = draw(n, rng, **spoiled)
        rejections += sc.kccsd_test(predictions, y, coordinates=coordinates, n_resamples=199, rng=rng).rejects()
    return rejections


@pytest.mark.parametrize(
    ("kind", "n"),
    [("box", 80), ("simplex", 80), *(pytest.param(kind, 200, marks=pytest.mark.slow) for kind in POSTERIORS)],
)
def test_level(kind, n):
    assert count_rejections(kind, 1000, n=n) <= 70


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
    ("support", "y", "error", "message"),
    [
        (sc.coordinates.Box(0.0, 1.0), inside() + 1.0, ValueError, "`y` must lie inside the support, .* row 0 is"),
        (sc.coordinates.Box(0.0, 1.0), np.round(inside()), ValueError, "rounded or clipped to its ends"),
        (sc.coordinates.Box([0.0] * 3, 1.0), inside(), ValueError, "have dimension 3, but the targets have 2"),
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


def test_declared_supports_are_mapped_without_being_asked():
    predictions, y = box_posterior(200, np.random.default_rng(3))
    box = sc.coordinates.Box(0.0, 1.0)
    declared = sc.ScoreFunction(predictions.score, 200, 2, support=box)
    result = sc.kccsd_test(declared, y, rng=0)
    asked = sc.kccsd_test(predictions, y, coordinates=sc.coordinates.unconstrain(box), rng=0)
    assert result.statistic == asked.statistic
    assert result.coordinates == asked.coordinates == "unconstrain(Box(0., 1.))"
    assert sc.kccsd(declared, y, rng=0) == result.statistic
    with pytest.raises(ValueError, match=r"have a bounded support, Box.*Leave `coordinates` unset"):
        sc.kccsd_test(declared, y, coordinates=sc.coordinates.identity, rng=0)
    assert sc.kcsd_test(declared, y, y, rng=0).coordinates == "unconstrain(Box(0., 1.))"
    assert sc.kccsd_test(sc.Gaussian(y, 1.0), y + 1.0, rng=0).coordinates == "identity"
    whole = sc.ScoreFunction(predictions.score, 200, 2, support=constraints.real)
    assert whole.support is None


def test_one_bounded_distribution():
    y = np.random.default_rng(0).beta(2.0, 3.0, size=(300, 1))
    beta = sc.ScoreFunction(lambda z: 1.0 / z - 2.0 / (1.0 - z), 1, 1, support=sc.coordinates.Box(0.0, 1.0))
    wrong = sc.ScoreFunction(lambda z: 2.0 / z - 2.0 / (1.0 - z), 1, 1, support=sc.coordinates.Box(0.0, 1.0))
    assert not sc.ksd_test(beta, y, rng=0).rejects()
    assert sc.ksd_test(wrong, y, rng=0).rejects()


def test_ends_that_differ_between_predictions():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(300, 1))
    high = low + np.exp(rng.normal(size=(300, 1)))
    y = low + (high - low) * rng.beta(2.0, 2.0, size=(300, 1))
    box = sc.coordinates.Box(low, high)
    calibrated = sc.ScoreFunction(lambda z: 1.0 / (z - low) - 1.0 / (high - z), 300, 1, support=box)
    spoiled = sc.ScoreFunction(lambda z: 3.0 / (z - low) - 1.0 / (high - z), 300, 1, support=box)
    assert not sc.kccsd_test(calibrated, y, rng=0).rejects()
    assert sc.kccsd_test(spoiled, y, rng=0).rejects()
    assert repr(box) == "Box(300 rows of ends)"
    with pytest.raises(ValueError, match="have 300 rows, but there are 2 predictions"):
        sc.kccsd_test(sc.ScoreFunction(lambda z: 1.0 + z, 2, 1, support=box), y[:2], rng=0)
