"""Words of `calibration_test`: the flaw that is there comes first, whatever else goes with it."""

from collections import Counter

import numpy as np
import pytest

import scorecal as sc
from scorecal.experiments import flawed
from scorecal.experiments.power.grid import situations


def test_a_far_target_does_not_hide_a_bias():
    predictions, y = flawed(300, 2, "location", 0.6, rng=0)
    y[0] = 1e4
    assert "bias" in sc.calibration_test(predictions, y, rng=0).seen


def test_weights_of_many_modes():
    """Four modes whose weights are wrong, but not the mean and the variance; and two, each way in its own direction."""
    rng, n = np.random.default_rng(0), 300
    places = np.array([-15.0, -5.0, 5.0, 15.0])
    y = places[rng.choice(4, n, p=[0.17, 0.49, 0.01, 0.33])] + rng.standard_normal(n)
    four = sc.GaussianMixture(np.full((n, 4), 0.25), np.tile(places, (n, 1)), np.ones((n, 4)))
    assert sc.calibration_test(four, y, rng=0).seen == ("modes",)
    way = rng.standard_normal((n, 2))
    way *= 4.0 / np.linalg.norm(way, axis=1, keepdims=True)
    means = np.stack([way, -way], axis=1)
    y = means[np.arange(n), (rng.random(n) > 0.8).astype(int)] + rng.standard_normal((n, 2))
    two = sc.GaussianMixture(np.full((n, 2), 0.5), means, np.ones((n, 2)))
    assert sc.calibration_test(two, y, rng=0).seen == ("modes",)


@pytest.mark.parametrize(
    ("n", "dims", "repeats"),
    [
        (500, (1,), 1),
        *(pytest.param(n, (1, 3, 10), 10, marks=pytest.mark.slow) for n in (100, 200, 500, 1000)),
    ],
)
def test_words_are_right_in_clear_cases(n, dims, repeats):
    """Every flaw of the power study: the first kind named, where p <= .01 at B = 999."""
    right, wrong = 0, Counter()
    flaws = [row for row in situations() if not row.calibrated and row.dim in dims]
    for row in flaws:
        for seed in range(repeats):
            predictions, y = row.draw(n, rng=seed)
            result = sc.calibration_test(predictions, y, rng=seed)
            # Rows of which some are wider have heavier tails as well, and targets that are cut off spread less.
            right_kinds = {row.kind, "shape"} if row.name.startswith(("hidden wide", "truncation")) else {row.kind}
            if result.pvalue <= 0.01 and result.seen[0] in right_kinds:
                right += 1
            elif result.pvalue <= 0.01:
                wrong[row.name, row.dim, result.seen[0]] += 1
    n_clear, n_flawed = right + wrong.total(), repeats * len(flaws)
    assert n_clear >= n_flawed * (1 / 3 if n == 100 else 3 / 5)  # enough to judge by
    assert right >= 0.9 * (right + wrong.total()), wrong


def test_a_wrong_correlation_of_many_dimensions_is_not_taken_for_spread():
    """No dimension and no two of them show it, all together do: 100 rows of 10 dimensions, 10 data sets."""
    seen = []
    for seed in range(10):
        predictions, y = flawed(100, 10, "correlation", 0.3, rng=seed)
        seen.append(sc.calibration_test(predictions, y, rng=seed).seen[0])
    assert seen.count("correlation") >= 7


@pytest.mark.parametrize("dim", [1, 3])
def test_a_bias_is_not_taken_for_over_confidence(dim):
    """Targets 3 sd off spread too much about their predicted means, and as claimed about their own."""
    for seed in range(5):
        predictions, y = flawed(200, dim, "location", 3.0, rng=seed)
        assert sc.calibration_test(predictions, y, rng=seed).seen[0] == "bias"


@pytest.mark.parametrize(("bias", "sd", "dim"), [(2.0, 0.5, 1), (1.0, 0.8, 3), (1.0, 1.4, 3), (0.7, 1.0, 20)])
def test_words_for_a_bias_and_a_wrong_spread_together(bias, sd, dim):
    """The spread is judged about the targets' own mean. 8 data sets."""
    allowed = {"bias", "under-confidence" if sd < 1 else "over-confidence"} if sd != 1 else {"bias"}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        mean = rng.normal(size=(150, dim))
        y = mean - bias + sd * rng.normal(size=(150, dim))
        seen = sc.calibration_test(sc.Gaussian(mean, 1.0), y, n_resamples=199, rng=seed).seen
        assert seen[0] == "bias"
        assert set(seen) <= allowed


def test_words():
    predictions, y = flawed(300, 2, "none", rng=0)
    result = sc.calibration_test(predictions, y, rng=0)
    assert result.seen == ()
    assert result.message.startswith("Calibration is not rejected (p = ")
    predictions, y = flawed(300, 2, "location", 0.5, rng=0)
    result = sc.calibration_test(predictions, y, rng=0)
    assert result.seen[0] == "bias"
    assert "biased" in result.message
    assert result.cannot_see == ()


@pytest.mark.parametrize("size", [10.0, 25.0, 30.0, 40.0, 1e3, 1e6])
def test_targets_that_test_functions_do_not_reach(size):
    for dim in (1, 2):
        predictions, y = flawed(100, dim, "location", size, rng=0)
        assert sc.calibration_test(predictions, y, n_resamples=199, rng=0).seen == ("bias",)
    predictions, y = flawed(100, 2, "scale", 1.0 / size, rng=0)
    assert sc.calibration_test(predictions, y, n_resamples=199, rng=0).seen[0] == "over-confidence"


@pytest.mark.parametrize(
    ("bias", "ratio", "seen"),
    [
        (3.0, 0.1, {"bias", "under-confidence"}),
        (1.5, 0.6, {"bias", "under-confidence"}),
        (3.0, 2.0, {"bias", "over-confidence"}),
        (1.0, 0.1, {"bias", "under-confidence"}),  # squares are as large as claimed
    ],
)
@pytest.mark.parametrize("dim", [1, 3])
def test_a_bias_and_a_wrong_spread_that_hide_each_other(bias, ratio, seen, dim):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        mean = rng.normal(size=(150, dim))
        y = mean + ratio * rng.normal(size=(150, dim))
        found = sc.calibration_test(sc.Gaussian(mean + bias, 1.0), y, n_resamples=199, rng=seed)
        assert set(found.seen) == seen


def test_spreads_that_are_wrong_both_ways():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mean = rng.normal(size=(500, 3))
        y = mean + np.array([1.3, 0.75, 1.0]) * rng.normal(size=(500, 3))
        found = sc.calibration_test(sc.Gaussian(mean, 1.0), y, n_resamples=199, rng=seed)
        assert set(found.seen) == {"over-confidence", "under-confidence"}


@pytest.mark.parametrize("n_groups", [6, 9, 12])
def test_words_of_few_groups(n_groups):
    """Random signs of fewer than ten groups cannot tell; a far target by the formula is no wrong shape."""
    rng = np.random.default_rng(n_groups)
    mean, groups = rng.normal(size=200), np.arange(200) % n_groups
    y = mean + 0.8 + 1.8 * rng.normal(size=200)
    found = sc.calibration_test(sc.Gaussian(mean, 1.0), y, groups=groups, rng=0)
    assert set(found.seen) == ({"over-confidence"} if n_groups < 10 else {"over-confidence", "bias"})


def test_views_that_cannot_see_a_bias_do_not_call_it_something_else():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 3))
    views = [view for view in sc.views.default_views(3) if view.name in ("spread", "correlation")]
    found = sc.calibration_test(
        sc.Gaussian(mean, 1.0), mean + 0.8 + rng.normal(size=mean.shape), views=views, n_resamples=199, rng=0
    )
    assert found.seen == ("bias",)
