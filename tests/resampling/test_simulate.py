"""The null by simulation in the tests of one statistic, and the choice of a null."""

import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal.predictions import drawn_targets
from scorecal.resampling import RandomSigns
from scorecal.resampling.automatic import automatic_null, draws_per_resample
from scorecal.resampling.estimators import Complete, Linear

RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=(25, 2))
PREDICTIONS = sc.Gaussian(MEAN, 1.0)
Y = PREDICTIONS.sample(1, 1)[0]
OPERATOR = sc.kernels.Operator([(sc.kernels.GFD(), np.eye(2))])
CLASSES = sc.Categorical(RNG.dirichlet(np.ones(3), size=25))


def last_draws(n_draws, state):
    """The targets that a test draws from a generator in this state."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return list(drawn_targets(PREDICTIONS, 25, n_draws, rng))


@pytest.mark.parametrize(
    ("test", "statistic"),
    [
        (sc.kccsd_test, sc.kccsd),
        (sc.skce_test, sc.skce),
        (lambda p, y, **options: sc.kcsd_test(p, y, MEAN, **options), lambda p, y: sc.kcsd(p, y, MEAN)),
        (
            lambda p, y, **options: sc.kccsd_test(p, y, distribution_kernel=OPERATOR, **options),
            lambda p, y: sc.kccsd(p, y, distribution_kernel=OPERATOR),
        ),
    ],
    ids=["kccsd", "skce", "kcsd", "operator"],
)
def test_draws_are_statistics_of_drawn_targets(test, statistic):
    rng = np.random.default_rng(3)
    state = rng.bit_generator.state
    result = test(PREDICTIONS, Y, null="simulate", n_resamples=5, rng=rng)
    expected = [float(statistic(PREDICTIONS, y)) for y in last_draws(5, state)]
    np.testing.assert_allclose(result.null_distribution, expected, rtol=1e-9)
    assert result.null == "simulate"


def test_draws_of_one_distribution():
    one = sc.Gaussian([[0.0, 1.0]], 1.0)
    rng = np.random.default_rng(3)
    y = one.sample(25, 5)[:, 0, :]
    result = sc.ksd_test(one, y, null="simulate", n_resamples=3, rng=rng)
    draws = np.reshape(one.sample(75, np.random.default_rng(3)), (3, 25, 2))
    expected = [sc.ksd_test(one, drawn, n_resamples=9, rng=0).statistic for drawn in draws]
    np.testing.assert_allclose(result.null_distribution, expected, rtol=1e-9)


def test_classes_have_the_drawn_frequencies_and_can_be_simulated():
    draws = CLASSES.sample(4000, 0)
    found = np.mean(draws[:, :, None] == np.arange(3), axis=0)
    assert np.max(np.abs(found - CLASSES.probabilities)) < 4 * 0.5 / 4000**0.5
    result = sc.skce_test(CLASSES, draws[0], null="simulate", n_resamples=19, rng=0)
    expected = [float(sc.skce(CLASSES, y)) for y in CLASSES.sample(19, np.random.default_rng(0))]
    np.testing.assert_allclose(result.null_distribution, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("test", "predictions"),
    [
        (sc.kccsd_test, sc.ScoreFunction(PREDICTIONS.score, 25, 2)),
        (sc.kccsd_test, PREDICTIONS.noisy(0.5)),
        (sc.calibration_test, PREDICTIONS.noisy(0.5)),
        (sc.calibration_test, sc.Scores(PREDICTIONS.score(Y), PREDICTIONS.score(Y[:5, None, :]).swapaxes(0, 1), Y[:5])),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_predictions_that_cannot_be_drawn_from_are_told_by_name(test, predictions):
    with pytest.raises(TypeError, match=f"draws targets from the predictions.*{type(predictions).__name__}"):
        test(predictions, Y, null="simulate", rng=0)


@pytest.mark.parametrize("dependent", [{"groups": np.arange(25) // 2}, {"horizon": 1}])
def test_dependent_rows_are_not_simulated(dependent):
    for test in (sc.kccsd_test, sc.calibration_test):
        with pytest.raises(ValueError, match="'simulate' with `groups` or `horizon`"):
            test(PREDICTIONS, Y, null="simulate", rng=0, **dependent)
    assert sc.calibration_test(PREDICTIONS, Y, rng=0, **dependent).null == "signs"


def test_automatic_choice():
    mixture = sc.GaussianMixture(np.ones((25, 1)), MEAN[:, None, :], np.ones((25, 1)))
    assert sc.calibration_test(PREDICTIONS, Y, rng=0).null == "simulate"
    assert sc.kccsd_test(PREDICTIONS, Y, rng=0).null == "signs"  # the paper's
    assert automatic_null(PREDICTIONS, Complete(), 5000) == sc.nulls.Simulate(0)
    assert automatic_null(mixture, Complete(), 200) == sc.nulls.Simulate()
    for predictions, estimator, n in (
        (PREDICTIONS, Complete(), 5001),
        (mixture, Complete(), 201),
        (PREDICTIONS, Linear(), 25),
        (PREDICTIONS.noisy(1.0), Complete(), 25),
        (sc.ScoreFunction(PREDICTIONS.score, 25, 2), Complete(), 101),
    ):
        assert automatic_null(predictions, estimator, n) == RandomSigns()


def test_more_draws_than_resamples_give_the_rank_rounded_up():
    assert draws_per_resample(RandomSigns(), 99, 25, 2) == 20
    assert draws_per_resample(RandomSigns(), 999, 10**5, 2) == 1
    result = sc.calibration_test(PREDICTIONS, Y, n_resamples=99, rng=0)
    assert result.null_distribution.shape == (99,)
    for each in (result, *result.views):
        assert each.null_distribution.shape == (99,)
        assert each.pvalue == pytest.approx((1 + np.sum(each.null_distribution >= each.statistic)) / 100)
    for alpha in (0.01, 0.05, 0.3, 0.9):
        assert result.rejects(alpha) == (result.statistic > result.critical_value(alpha))
    every = sc.calibration_test(PREDICTIONS, Y, null=sc.nulls.Simulate(0), n_resamples=result.n_draws, rng=0)
    assert result.n_draws == 100 * draws_per_resample(RandomSigns(), 99, 25, 2) - 1
    assert result.pvalue == pytest.approx(np.ceil(every.pvalue * 100) / 100)


def test_the_error_of_a_pvalue_is_its_spread_over_seeds():
    mixture = sc.GaussianMixture(np.ones((25, 1)), MEAN[:, None, :], np.ones((25, 1)))
    views = [view for view in sc.views.default_views(2) if view.name != "any, kernels"]
    for options in ({"null": "simulate"}, {"null": "signs"}):
        results = [sc.calibration_test(mixture, Y + 0.5, views=views, rng=seed, **options) for seed in range(25)]
        spread = np.std([result.pvalue for result in results], ddof=1)
        told = np.mean([result.pvalue_error for result in results])
        assert 0.5 * spread < told < 2.0 * spread


class Undrawable(sc.GaussianMixture):
    """Mixtures with a rare component, whose draws are missing values."""

    def sample(self, n_samples, rng=None):
        return np.nan * super().sample(n_samples, rng)


def test_draws_that_cannot_be_judged_lead_to_signs_and_say_so():
    means = np.stack([np.zeros((60, 1)), np.full((60, 1), 6.0)], axis=1)
    predictions = Undrawable(np.tile([0.99, 0.01], (60, 1)), means, np.ones((60, 2)))
    y = np.random.default_rng(0).normal(size=60)  # none from the rare component
    result = sc.calibration_test(predictions, y, n_resamples=99, rng=0)
    expected = sc.calibration_test(predictions, y, null="signs", n_resamples=99, rng=0)
    assert result.null == "signs"
    assert result.pvalue == pytest.approx(expected.pvalue, abs=0.15)  # of 99 signs; the default makes more
    assert not any("simulate" in line for line in result.warnings[1:])  # which has just failed
    assert "drawn from the predictions could not be judged" in result.warnings[0]
    assert "must be finite" in result.warnings[0]
    with pytest.raises(ValueError, match="must be finite"):
        sc.calibration_test(predictions, y, null="simulate", n_resamples=99, rng=0)


def test_draws_at_the_ends_of_an_interval_are_judged():
    predictions = sc.from_torch(torch.distributions.Beta(torch.full((60,), 0.3), torch.full((60,), 0.3)))
    draws = np.concatenate([np.asarray(y) for y in drawn_targets(predictions, 60, 200, np.random.default_rng(0))])
    assert np.min(draws) > 0.0
    assert np.max(draws) < 1.0
    y = np.clip(np.asarray(predictions.sample(1, 1)[0]), 1e-6, 1.0 - 1e-6)
    result = sc.calibration_test(predictions, torch.as_tensor(y), n_resamples=99, rng=0)
    assert (result.null, result.warnings) == ("simulate", ())


def test_nulls_that_draw_need_independent_rows():
    class Own:
        def distribution(self, averages, pairing, n_resamples, rng):
            averages.redrawn(n_resamples, rng)

    with pytest.raises(TypeError, match="leave `groups` and `horizon` out"):
        sc.calibration_test(PREDICTIONS, Y, null=Own(), groups=np.arange(25) // 2, rng=0)


def test_auto_on_single_tests_needs_draws():
    only_scores = sc.ScoreFunction(PREDICTIONS.score, 25, 2)
    assert sc.kccsd_test(only_scores, Y, null="auto", n_resamples=9, rng=0).null == "signs"
    assert sc.kccsd_test(PREDICTIONS, Y, null="auto", n_resamples=9, rng=0).null == "simulate"
