"""Whether components of mixtures are modes."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.views.components import separated
from scorecal.views.frame import frame_of


def frame(places, sd=1.0, weights=None, n=30):
    places = np.asarray(places, dtype=float)
    k = len(places)
    weights = np.full(k, 1.0 / k) if weights is None else np.asarray(weights)
    mean = np.random.default_rng(0).normal(size=(n, 1, 1))
    predictions = sc.GaussianMixture(np.tile(weights, (n, 1)), mean + places[:, None], np.full((n, k), sd))
    return frame_of(predictions, predictions.sample(1, 0)[0], 0.0)


@pytest.mark.parametrize(
    ("places", "sd", "expected"),
    [
        ([0.0, 5.0], 1.0, True),
        ([0.0, 2.2], 1.0, True),  # as the comment in the source has it: 2.1 are enough
        ([0.0, 2.0], 1.0, False),
        ([0.0, 5.0], 3.0, False),
        ([-6.0, 0.0, 6.0], 1.0, True),
        ([0.0, 0.1, 6.0], 1.0, False),
        (np.linspace(-2.0, 2.0, 20), 0.5, False),  # an ensemble, each member with a kernel
        ([0.0], 1.0, True),
    ],
)
def test_components_of_mixtures(places, sd, expected):
    assert separated(frame(places, sd)) is expected


def test_distance_at_which_components_are_apart():
    """Mean probability of a component at its own mean, 1 / (1 + exp(-distance^2 / 2)), is .9 at a distance of 2.1."""
    edge = np.sqrt(2.0 * np.log(9.0))
    assert edge == pytest.approx(2.1, abs=0.01)
    assert [separated(frame([0.0, edge + shift])) for shift in (-0.01, 0.01)] == [False, True]


def test_components_without_weight_do_not_count():
    assert separated(frame([0.0, 6.0, 0.1], weights=[0.5, 0.5, 0.0]))
    assert not separated(frame([0.0, 6.0, 0.1], weights=[0.4, 0.4, 0.2]))


def test_other_predictions_may_have_modes():
    y = np.random.default_rng(0).normal(size=20)
    assert separated(frame_of(sc.ScoreFunction(lambda points: -points, 20, 1), y, 0.0))
