"""Statistics of drawn targets must be those that the test computes for the same targets when they are observed."""

import numpy as np
import pytest
import torch
from scipy.stats import kstest

import scorecal as sc
from scorecal.pairwise import Redrawn
from scorecal.predictions import drawn_targets
from scorecal.views import normal_draws as tables
from scorecal.views import redraw as module

N_DRAWS = 4


def diagonal(n=30, d=3):
    rng = np.random.default_rng(1)
    mean = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    return sc.Gaussian(mean, np.exp(0.5 * rng.normal(size=(n, d))))


def full(n=30, d=3):
    rng = np.random.default_rng(2)
    root = rng.normal(size=(n, d, d))
    return sc.Gaussian(rng.normal(size=(n, d)), covariance=root @ root.swapaxes(1, 2) + 0.1 * np.eye(d))


def mixture(n=30, d=2):
    rng = np.random.default_rng(3)
    return sc.GaussianMixture(rng.dirichlet([5.0, 2.0], size=n), 2.0 * rng.normal(size=(n, 2, d)), np.ones((n, 2)))


class HalfOfRows:
    """A kernel between predictions of one's own."""

    def differs(self, frame):
        return True

    def combine(self, features, frame, coordinates, rows):
        return features * (np.arange(rows.start, rows.stop)[:, None] % 2)


class Surprise:
    """Features of one's own that need no scores."""

    def frame_features(self, frame, rows):
        return np.tanh(frame.targets[0, rows, :] - frame.whitening.location[rows, :])


def redrawn(monkeypatch, predictions, views=None, seed=5, **options):
    """Statistics (V, N_DRAWS) of draws, and the units of each view, by name."""
    kept = {}

    def keep(self, n_draws, rng, average):
        found = original(self, N_DRAWS, np.random.default_rng(seed), average)
        kept["statistics"] = {view.name: row for view, row in zip(self.views, found.statistics, strict=True)}
        kept["units"] = {view.name: units for view, units in zip(self.views, found.units, strict=True)}
        return Redrawn(np.zeros((len(self.views), n_draws)), found.units)

    original = module.ViewRedraw.__call__
    with monkeypatch.context() as context:
        context.setattr(module.ViewRedraw, "__call__", keep)
        y = next(iter(drawn_targets(predictions, predictions.n, 1, np.random.default_rng(0))))
        sc.calibration_test(predictions, y, views=views, null="simulate", n_resamples=9, rng=0, **options)
    return kept["statistics"], kept["units"]


def observed(monkeypatch, predictions, draws, units, views=None, **options):
    """The statistics of data sets as the test computes them for observed targets, in the same units."""

    def known(self, n_draws, rng, average):
        return Redrawn(np.zeros((len(self.views), n_draws)), [units[view.name] for view in self.views])

    with monkeypatch.context() as context:
        context.setattr(module.ViewRedraw, "__call__", known)
        results = [
            sc.calibration_test(predictions, y, views=views, null="simulate", n_resamples=9, rng=0, **options)
            for y in draws
        ]
    return {view.name: np.array([r.views[v].statistic for r in results]) for v, view in enumerate(results[0].views)}


def assert_same(found, expected, rtol=1e-9):
    assert set(found) == set(expected)
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=1e-6 * np.max(np.abs(expected[name])))


@pytest.mark.parametrize("make", [diagonal, full, mixture], ids=lambda make: make.__name__)
def test_stacked_draws_are_those_of_one_test_each(monkeypatch, make):
    predictions = make()
    monkeypatch.setattr(module, "normal_draws", lambda *_: None)
    found, units = redrawn(monkeypatch, predictions)
    n_for_units = -(-N_DRAWS // 2)  # the first draws, which are not ranked
    draws = list(drawn_targets(predictions, predictions.n, n_for_units + N_DRAWS, np.random.default_rng(5)))
    expected = observed(monkeypatch, predictions, draws[n_for_units:], units)
    assert_same(found, expected)  # those with noise too, which is the same for all draws


def test_pairs_in_natural_coordinates_are_not_those_of_whitened_numbers(monkeypatch):
    predictions = diagonal(d=2)
    views = [sc.views.View("raw", "any", sc.kernels.Gaussian(2.0), sc.kernels.GFD(), coordinates="natural")]
    found, units = redrawn(monkeypatch, predictions, views)
    draws = list(drawn_targets(predictions, predictions.n, N_DRAWS, np.random.default_rng(5)))
    assert_same(found, observed(monkeypatch, predictions, draws, units, views))


@pytest.mark.parametrize("make", [lambda: diagonal(d=1), diagonal, full], ids=["line", "diagonal", "full"])
def test_draws_from_tables_are_those_of_one_test_each(monkeypatch, make):
    predictions = make()
    found, units = redrawn(monkeypatch, predictions)
    seed, n, d = int(np.random.default_rng(5).integers(2**63)), predictions.n, predictions.dim
    parts = [tables.table_of(n, d, N_DRAWS // 2, seed, part).numbers for part in range(2)]
    numbers = np.moveaxis(np.concatenate(parts, axis=2), 2, 0).swapaxes(1, 2)  # (draws, n, d)
    if predictions.scale is not None:
        draws = predictions.mean + predictions.scale * numbers
    else:
        y = predictions.sample(1, 0)[0]
        whitening = sc.views.frame.frame_of(predictions, y, 0.0).whitening
        roots = whitening.frame.root @ whitening.root
        draws = [whitening.location + np.einsum("nab,nb->na", roots, z) for z in numbers]
    assert_same(found, observed(monkeypatch, predictions, draws, units), rtol=1e-5)


def test_parts_of_ones_own_are_recomputed_for_each_draw(monkeypatch):
    predictions = diagonal(d=2)
    views = [
        sc.views.View("own kernel", "any", sc.kernels.Linear(), HalfOfRows()),
        sc.views.View("own features", "any", Surprise()),
        sc.views.View("median bandwidth", "any", sc.kernels.Gaussian(), sc.kernels.GFD(n_base=5)),
        sc.views.View("other kernel", "any", sc.kernels.IMQ(), sc.kernels.Wasserstein(), coordinates="natural"),
    ]
    found, units = redrawn(monkeypatch, predictions, views)
    draws = list(drawn_targets(predictions, predictions.n, N_DRAWS, np.random.default_rng(5)))
    assert_same(found, observed(monkeypatch, predictions, draws, units, views))


@pytest.mark.parametrize("estimator", ["low-rank", "incomplete"])
def test_estimators_use_the_same_random_numbers_for_draws(monkeypatch, estimator):
    predictions = diagonal(d=2)
    views = [view for view in sc.views.default_views(2) if view.name == "any, kernels"]
    found, units = redrawn(monkeypatch, predictions, views, estimator=estimator)
    draws = list(drawn_targets(predictions, predictions.n, N_DRAWS, np.random.default_rng(5)))
    assert_same(found, observed(monkeypatch, predictions, draws, units, views, estimator=estimator))


def test_pvalues_of_few_and_skewed_rows_are_uniform():
    """Ten rows of mixtures with a rare component, for which signs reject far too often."""
    pvalues = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        means = np.stack([np.zeros((10, 1)), 4.0 + rng.normal(size=(10, 1))], axis=1)
        predictions = sc.GaussianMixture(np.tile([0.95, 0.05], (10, 1)), means, np.ones((10, 2)))
        y = predictions.sample(1, rng)[0]
        views = [view for view in sc.views.default_views(predictions) if not view.noise]
        result = sc.calibration_test(predictions, y, views=views, null="simulate", n_resamples=39, rng=rng)
        pvalues.append(result.pvalue)
    smoothed = np.array(pvalues) - np.random.default_rng(0).uniform(size=300) / 40
    assert kstest(smoothed, "uniform").pvalue > 0.001
    assert np.mean(np.array(pvalues) <= 0.05) < 0.09


def test_draws_of_gaussians_are_shared_and_do_not_depend_on_the_seed():
    predictions = diagonal(d=2)
    y = predictions.sample(1, 7)[0]
    tables.table_of.cache_clear()
    results = [sc.calibration_test(predictions, y, n_resamples=99, rng=seed) for seed in range(3)]
    assert {result.null for result in results} == {"simulate"}
    assert len({result.pvalue for result in results}) == 1
    made = tables.table_of.cache_info()
    assert made.hits == 2 * made.misses


def test_observed_and_drawn_targets_are_exchangeable_in_float32():
    predictions = diagonal(d=2)
    y = predictions.sample(1, 7)[0]
    narrow = sc.Gaussian(torch.tensor(predictions.mean, dtype=torch.float32), torch.tensor(predictions.scale).float())
    single = sc.calibration_test(narrow, torch.tensor(y).float(), null="simulate", rng=0)
    double = sc.calibration_test(predictions, y, null="simulate", rng=0)
    assert single.pvalue == pytest.approx(double.pvalue, abs=0.003)


def skewed(n, seed=0, shift=0.0, **options):
    """Gumbel predictions that give their scores only, and their targets."""
    rng = np.random.default_rng(seed)
    mean = 2.0 * rng.normal(size=(n, 1))
    predictions = sc.ScoreFunction(lambda y: np.expm1(mean - y), n, 1, **options)
    return predictions, mean + shift + rng.gumbel(size=(n, 1))


def test_predictions_with_scores_only_have_their_targets_moved():
    calibrated = sc.calibration_test(*skewed(20, 1), n_resamples=99, rng=0)
    assert calibrated.null == "simulate"
    assert calibrated.pvalue > 0.05
    assert sc.calibration_test(*skewed(20, shift=2.0), n_resamples=99, rng=0).pvalue <= 0.02


def test_signs_serve_many_rows_and_scores_at_the_targets_alone():
    assert sc.calibration_test(*skewed(101), n_resamples=19, rng=0).null == "signs"
    y = np.random.default_rng(0).normal(size=(20, 1))
    base = np.linspace(-3.0, 3.0, 9)[:, None]
    known = sc.Scores(-y, np.tile(-base, (20, 1, 1)), base)
    assert sc.calibration_test(known, y, n_resamples=19, rng=0).null == "signs"
    with pytest.raises(TypeError, match=r"`sample\(n_samples, rng\)` is missing from Scores"):
        sc.calibration_test(known, y, null="simulate")


def test_targets_are_moved_within_a_bounded_support():
    rng = np.random.default_rng(0)
    shape = np.exp(rng.normal(size=(20, 1))) + 1.0
    y = rng.gamma(shape)
    predictions = sc.ScoreFunction(lambda points: (shape - 1.0) / points - 1.0, 20, 1, support=sc.coordinates.Box(0.0))
    result = sc.calibration_test(predictions, y, n_resamples=99, rng=0)
    assert result.null == "simulate"
    assert result.pvalue > 0.05


class Scaled:
    """A kernel of one's own that may change between tests, and cannot be hashed."""

    __hash__ = None

    def __init__(self, scale):
        self.scale = scale

    def features(self, targets, scores):
        return self.scale * (targets * scores + 1.0)


class TenTraits(sc.views.Traits):
    """A class that inherits from one of ours, and does otherwise."""

    def combine(self, features, frame, coordinates, rows):
        return 10.0 * super().combine(features, frame, coordinates, rows)


def test_kernels_of_ones_own_are_not_taken_for_ours():
    predictions = diagonal(d=1)
    y = predictions.sample(1, 7)[0]

    def pvalue(kernel, between=None):
        view = sc.views.View("own", "any", kernel, between or sc.kernels.Constant())
        return sc.calibration_test(predictions, y, views=[view], n_resamples=199, rng=0).pvalue

    kernel = Scaled(1.0)
    first = pvalue(kernel)
    kernel.scale = 10.0
    assert pvalue(kernel) == first
    linear = sc.kernels.Linear()
    assert pvalue(linear, TenTraits()) == pytest.approx(pvalue(linear, sc.views.Traits()), abs=0.1)


def test_words_name_nothing_that_draws_do_not_see():
    """No target is in the rare component: signs alone would take this for wrong weights of modes."""
    means = np.stack([np.zeros((100, 1)), np.full((100, 1), 8.0)], axis=1)
    predictions = sc.GaussianMixture(np.tile([0.98, 0.02], (100, 1)), means, np.ones((100, 2)))
    y = 0.7 + np.random.default_rng(0).normal(size=100)
    result = sc.calibration_test(predictions, y, n_resamples=199, rng=0)
    assert result.null == "simulate"
    own = {view.name: view.pvalue for view in result.views}
    assert own["weights of components"] > 0.05
    assert "bias" in result.seen
    assert result.pvalue <= 0.01  # .05 if draws with several rare targets, in which that view is far out, hid it
