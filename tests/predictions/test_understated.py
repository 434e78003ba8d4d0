"""What quantiles and members do not tell, and what is said of it."""

import numpy as np
import pytest
from scipy import stats

import scorecal as sc

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def narrow(form, n=400):
    """Predictions whose spread is .6 of what it should be."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(n, 1))
    y = mean[:, 0] + rng.normal(size=n)
    if form == "quantiles":
        return sc.from_quantiles(LEVELS, stats.norm.ppf(LEVELS, mean, 0.6)), y
    return sc.from_samples(mean + 0.6 * rng.normal(size=(n, 10))), y


@pytest.mark.parametrize("form", ["quantiles", "members"])
def test_sizes_are_never_said_to_be_good_enough(form):
    """They come out nearer to 1 than the true ratio of 1.67."""
    diagnosis = sc.diagnose(*narrow(form), rng=0)
    assert diagnosis.understated
    assert diagnosis.confidence_ratio[0].value < 1.6
    assert diagnosis.within(spread=1.05) is False
    assert diagnosis.within(spread=3.0) is None
    assert "the true ones may be larger" in diagnosis.message


def test_the_spread_of_members_and_target_divides_no_regions():
    """It is largest where the target is far: every row would seem to be wrong there, and right elsewhere."""
    diagnosis = sc.diagnose(*narrow("members"), rng=0)
    assert set(diagnosis.covariates) == {"predicted y"}
    assert diagnosis.where is None


def test_quantiles_that_targets_are_equal_to_are_told():
    rng = np.random.default_rng(0)
    rate = np.exp(0.3 * rng.normal(size=300))
    predictions = sc.from_quantiles(LEVELS, stats.poisson.ppf(LEVELS, rate[:, None]))
    (told,) = sc.calibration_test(predictions, rng.poisson(rate), n_resamples=19, rng=0).warnings
    assert "equal to one of its quantiles in " in told


@pytest.mark.parametrize("impossible", [-1, -99])
def test_targets_below_the_support_are_told(impossible):
    y = np.random.default_rng(0).poisson(3.0, 60)
    y[7] = impossible
    (told,) = sc.calibration_test(sc.as_predictions(stats.poisson(np.full(60, 3.0))), y, n_resamples=19, rng=0).warnings
    assert f"1 of 60 targets are below all that the predictions allow, the first in row 7 ({impossible})" in told


@pytest.mark.parametrize("options", [{"null": "signs"}, {"groups": np.arange(200) // 4}, {"horizon": 1}], ids=str)
def test_members_in_several_dimensions_hold_their_level_by_signs(options):
    """Features of third and fourth moments of whitened ranks, which do not have mean zero, rejected up to all."""
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        draws = rng.normal(size=(200, 1, 3)) + rng.normal(size=(200, 6, 3))
        predictions = sc.from_samples(draws[:, :5])
        rejected += sc.calibration_test(predictions, draws[:, 5], n_resamples=99, rng=seed, **options).rejects()
    assert rejected <= 7  # of 40, as more in 1 of 1000 studies


@pytest.mark.parametrize("y", [np.zeros(3), 1.0, np.full(4, np.nan)], ids=["few", "one", "missing"])
@pytest.mark.parametrize("method", ["intervals", "pinball_loss"])
def test_targets_that_do_not_fit_are_refused(method, y):
    predictions = sc.from_quantiles([0.1, 0.9], np.array([[0.0, 1.0]] * 4))
    with pytest.raises(ValueError, match="`y` must"):
        getattr(predictions, method)(y)
