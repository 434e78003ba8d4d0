"""Level and power of `calibration_test`. `scorecal bench power` has 2000 data sets of each situation."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.experiments import bounded, flawed, modes
from scorecal.views import View, default_views


@pytest.mark.parametrize("flaw", ["location", "scale", "skew", "shrinkage", "scale by x", "correlation", "tails"])
def test_the_smallest_pvalue_is_reached_by_every_kind_of_flaw(flaw):
    """1 / (B + 1), though there are many views and some weigh little."""
    size = {"location": 2.0, "scale": 0.4, "skew": 0.3, "shrinkage": 0.2, "correlation": -0.4, "tails": 2.5}.get(
        flaw, 0.4
    )
    predictions, y = flawed(1000, 3, flaw, size, rng=0)
    result = sc.calibration_test(predictions, y, n_resamples=999, rng=0)
    assert result.pvalue == 0.001
    assert {view.name for view in result.views} == {view.name for view in default_views(predictions)}


def test_the_correction_for_skewness_keeps_the_level():
    """The trace at d = 1, n = 50, 500 data sets: 38 or fewer in 99.5 % of such studies; signs alone reject more."""
    rng, one, trace = np.random.default_rng(0), sc.kernels.Constant(), sc.kernels.Trace()
    predictions = sc.Gaussian(np.zeros((50, 1)), 1.0)
    corrected, signs_alone = 0, 0
    for seed in range(500):
        y, options = rng.standard_normal((50, 1)), {"n_resamples": 199, "rng": seed}
        corrected += sc.calibration_test(predictions, y, views=[View("t", "confidence", trace)], **options).rejects()
        plain = sc.kccsd_test(predictions, y, target_kernel=trace, distribution_kernel=one, **options)
        signs_alone += plain.rejects()
    assert corrected <= 38 < signs_alone


def test_components_show_what_far_modes_hide():
    """Modes 10 sd apart, their spreads too small by a fifth: 40 data sets. As one spread, the mixture shows little."""
    rejections, named, whole = 0, 0, 0
    for seed in range(40):
        predictions, y = modes(200, 1, separation=10.0, scale=0.8, rng=seed)
        result = sc.calibration_test(predictions, y, null="signs", n_resamples=199, rng=seed)
        rejections += result.rejects()
        named += result.seen[:1] == ("over-confidence",)
        whole += sc.calibration_test(
            predictions, y, views=default_views(1), null="signs", n_resamples=199, rng=seed
        ).rejects()
    assert rejections >= 30
    assert named >= rejections - 3
    assert whole <= 20


@pytest.mark.parametrize(
    ("draw", "kwargs", "n_sets", "most"),
    [
        (flawed, {"dim": 1, "flaw": "none"}, 60, 9),
        pytest.param(flawed, {"dim": 1, "flaw": "none"}, 120, 14, marks=pytest.mark.slow),
        pytest.param(flawed, {"dim": 3, "flaw": "none"}, 120, 14, marks=pytest.mark.slow),
        pytest.param(modes, {"dim": 1, "weight": 0.5}, 120, 14, marks=pytest.mark.slow),
        pytest.param(bounded, {"dim": 2, "flaw": "none"}, 120, 14, marks=pytest.mark.slow),
    ],
)
def test_level(draw, kwargs, n_sets, most):
    """Data sets of 100: `most` or fewer rejections in 99.9 % of such studies."""
    rejections = 0
    for seed in range(n_sets):
        predictions, y = draw(100, rng=seed, **kwargs)
        rejections += sc.calibration_test(predictions, y, n_resamples=199, rng=seed).rejects()
    assert rejections <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "score"),
    [
        (lambda rng: rng.gumbel(size=(100, 1)), lambda z: np.exp(np.minimum(-z, 30.0)) - 1.0),
        (lambda rng: rng.standard_t(3, size=(100, 1)), lambda z: -4.0 * z / (3.0 + z**2)),
        (lambda rng: rng.logistic(size=(100, 1)), lambda z: -np.tanh(0.5 * z)),
    ],
    ids=["gumbel", "t3", "logistic"],
)
def test_level_of_predictions_that_are_not_gaussian(draw, score):
    """From scores alone, skewed or heavy-tailed: 120 data sets of 100."""
    rejections = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        mean, scale = rng.normal(size=(100, 1)), np.exp(0.3 * rng.normal(size=(100, 1)))
        predictions = sc.ScoreFunction(lambda y, mean=mean, scale=scale: score((y - mean) / scale) / scale, 100, 1)
        rejections += sc.calibration_test(predictions, mean + scale * draw(rng), n_resamples=199, rng=rng).rejects()
    assert rejections <= 14


@pytest.mark.parametrize("n_sets", [20, pytest.param(40, marks=pytest.mark.slow)])
def test_power_beside_the_papers_test(n_sets):
    """Over-confidence by a fifth, of which the paper's test sees next to nothing."""
    ours, paper = 0, 0
    for seed in range(n_sets):
        predictions, y = flawed(200, 3, "scale", 0.85, rng=seed)
        ours += sc.calibration_test(predictions, y, n_resamples=199, rng=seed).rejects()
        paper += sc.kccsd_test(predictions, y, n_resamples=199, rng=seed).rejects()
    assert ours >= 0.9 * n_sets
    assert paper <= 0.3 * n_sets


@pytest.mark.parametrize("n_sets", [20, pytest.param(40, marks=pytest.mark.slow)])
def test_noise_sees_the_weights_of_modes(n_sets):
    """.7 for .5, four standard deviations apart, n = 200: .99 of 100 at B = 999."""
    rejections, named = 0, 0
    for seed in range(n_sets):
        predictions, y = modes(200, 1, 0.7, rng=seed)
        result = sc.calibration_test(predictions, y, n_resamples=199, rng=seed)
        rejections += result.rejects()
        named += result.seen[:1] == ("modes",)
    assert rejections >= 0.9 * n_sets
    assert named >= 0.85 * n_sets
    blind = sc.calibration_test(sc.ScoreFunction(predictions.score, 200, 1), y, rng=0)
    assert any("weights of modes" in what for what in blind.cannot_see)
    assert result.cannot_see == ()


@pytest.mark.parametrize("n_sets", [20, pytest.param(40, marks=pytest.mark.slow)])
def test_predictions_that_come_with_noise(n_sets):
    """As posteriors of diffusion models do: their features are averages over draws of the noise."""
    rejections = {0.5: 0, 0.7: 0}
    for weight in rejections:
        for seed in range(n_sets):
            mixture, y = modes(200, 1, weight, rng=seed)
            result = sc.calibration_test(mixture.noisy(1.0), y, n_resamples=199, rng=seed)
            rejections[weight] += result.rejects()
    assert result.coordinates == "noised by 1 predictive sd, whiten()"
    assert rejections[0.5] <= 0.175 * n_sets
    assert rejections[0.7] >= 0.875 * n_sets
