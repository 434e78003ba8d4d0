"""One p-value from several views: min-p, views by their definitions, noise, backends, errors."""

import numpy as np
import pytest
import torch
from backends import B, D, N
from numpy.polynomial import legendre
from scipy import stats
from skewness import corrected

import scorecal as sc
from scorecal.experiments import bounded, flawed, modes
from scorecal.views import Gain, Shares, Traits, View, default_views
from scorecal.views.combine import Draws, combine
from scorecal.views.evaluate import evaluate
from scorecal.views.frame import frame_of

ONE = sc.kernels.Constant()
GOOD = View("bias", "bias", ONE)


def combined_of(statistics, null, weights, *precision):
    return combine(statistics, null, [None] * len(statistics), weights, Draws(null.shape[1]), *precision)


# Min-p ----------------------------------------------------------------------------------------------------------------


def test_min_p_is_exact_for_replicates_that_are_alike():
    """Whoever is the observed one of 20: k of them, and no more but for ties, have p-values of at most k / 20."""
    rng = np.random.default_rng(0)
    values = rng.gamma(1.0, size=(4, 20)) * np.array([[1.0], [10.0], [0.1], [5.0]])
    values[1] += 0.5 * values[0]
    weights = np.array([1.0, 5.0, 2.0, 1.0])
    found = [combined_of(values[:, i], np.delete(values, i, axis=1), weights).pvalue for i in range(20)]
    excess = np.sort(found) - np.arange(1, 21) / 20
    assert np.all(excess > -1e-12)
    assert np.sum(excess > 1e-12) <= 2


def test_min_p_of_one_view_is_its_own_pvalue():
    null = np.random.default_rng(1).normal(size=(1, 99))
    for statistic in (-3.0, 0.3, 1.5, 9.0):
        combined = combined_of(np.array([statistic]), null, np.ones(1))
        expected = (1 + np.sum(null >= statistic)) / 100
        assert combined.pvalue == combined.own[0] == combined.adjusted[0] == pytest.approx(expected)
        assert (1 + np.sum(combined.null >= combined.statistic)) / 100 == pytest.approx(expected)


def test_ties_count_against_the_observed_data():
    combined = combined_of(np.array([1.0, 2.0]), np.tile([[1.0], [2.0]], (1, 9)), np.ones(2))
    assert combined.pvalue == 1.0
    assert np.all(combined.own == 1.0)


@pytest.mark.parametrize("precision", [1.2e-7, 2.2e-16])
def test_a_view_far_beyond_its_draws_is_not_rounded_away(precision):
    null = np.random.default_rng(3).chisquare(1, size=(2, 999))
    for statistic in (1e2, 1e7, 1e30):
        assert combined_of(np.array([statistic, 0.5]), null, np.ones(2), precision).pvalue == 0.001


def test_adjusted_pvalues_are_those_of_the_smallest():
    rng = np.random.default_rng(2)
    statistics, null = rng.normal(size=5) + 1.0, rng.normal(size=(5, 199))
    combined = combined_of(statistics, null, np.ones(5))
    assert combined.pvalue == np.min(combined.adjusted)
    assert np.all(combined.adjusted >= combined.own)
    order = np.argsort(combined.own)
    assert np.all(np.diff(combined.adjusted[order]) >= -0.02)  # own p-values are ranks, adjusted ones have a tail


# The test -------------------------------------------------------------------------------------------------------------


def test_result_is_consistent():
    predictions, y = flawed(150, 3, "scale", 0.8, rng=0)
    result = sc.calibration_test(predictions, y, rng=1)
    assert result.pvalue == pytest.approx((1 + np.sum(result.null_distribution >= result.statistic)) / 1000)
    assert result.rejects() == (result.statistic > result.critical_value())
    assert np.sum(result.contributions) == pytest.approx(result.statistic)
    assert result.contributions.shape == (150,)
    assert (result.n, result.n_resamples) == (150, 999)
    assert set(result.bandwidths) == {"target", "distribution"}
    assert result.coordinates == "whiten()"
    assert isinstance(result, sc.CalibrationResult)
    for view in result.views:
        own = (1 + np.sum(view.null_distribution >= view.statistic)) / 1000
        assert view.pvalue == pytest.approx(own, abs=0.002)
        assert np.sum(view.contributions) == pytest.approx(view.statistic, abs=1e-12)
    again = sc.calibration_test(predictions, y, rng=1)
    assert again.pvalue == result.pvalue
    np.testing.assert_array_equal(again.null_distribution, result.null_distribution)
    for part in ("over-confiden", *(view.name for view in result.views)):
        assert part in str(result)


def test_the_kernel_view_is_that_of_kccsd_in_whitened_coordinates():
    """The same statistic by another road."""
    predictions, y = flawed(80, 2, "none", rng=0)
    found = {view.name: view.statistic for view in sc.calibration_test(predictions, y, rng=0).views}
    kernels = {"target_kernel": sc.kernels.Gaussian(2.0), "distribution_kernel": sc.kernels.GFD()}
    result = sc.kccsd_test(predictions, y, coordinates=sc.coordinates.whiten(), rng=0, **kernels)
    assert found["any, kernels"] == pytest.approx(result.statistic)


def test_views_of_features_from_their_definitions():
    """In whitened coordinates of Gaussians with one covariance each, and corrected as a bias of the same size is."""
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=(60, 2)), np.exp(0.3 * rng.normal(size=(60, 1)))
    y = mean + std * rng.standard_normal((60, 2))
    predictions = sc.Gaussian(mean, std * np.ones((60, 2)))
    found = {view.name: view for view in sc.calibration_test(predictions, y, null="signs", rng=0).views}
    z = (y - mean) / std
    squared = np.sum(z**2, axis=1, keepdims=True)
    gain = np.sum(predictions.score(y) * (mean - mean.mean(axis=0)), axis=1, keepdims=True)
    ranks = np.stack([stats.rankdata(column) - 0.5 for column in mean.T], axis=1) / 30.0 - 1.0
    curves = [legendre.legval(ranks, np.eye(5)[k]) for k in (2, 3, 4)]
    curves = np.stack([(c - c.mean(axis=0)) / c.std(axis=0) for c in curves], axis=2)
    for name, f in {
        "bias, common": -np.sum(z, axis=1, keepdims=True) / 2**0.5,
        "spread": np.exp(-squared / 12.0) * (2.0 - squared - squared / 6.0),
        "tails": np.exp(-squared / 16.0) * ((squared - 4.0) * (2.0 - squared - squared / 8.0) + 2.0 * squared) / 4.0,
        "bias by curves": (-z[:, :, None] * curves).reshape(60, 6),
        "gain": gain,
    }.items():
        squares = np.sum(f**2, axis=0)
        expected = (np.array([corrected(column) ** 2 for column in f.T]) @ squares - np.sum(squares)) / (60 * 59)
        assert found[name].statistic == pytest.approx(expected), name
    frame = frame_of(predictions, y, 0.0)  # its whitened coordinates are turned, by a ten-thousandth
    ranks = 3**0.5 * (2.0 * stats.norm.cdf(frame.whitened[0][0, ...]) - 1.0)
    largest = (max(corrected(column) ** 2 for column in np.einsum("nb,nba->an", ranks, frame.axes)) - 1.0) / 59
    assert found["bias, one dimension"].statistic == pytest.approx(largest)


def test_features_of_components_have_mean_zero():
    """Quadrature over a mixture whose components overlap, and weigh and spread differently."""
    y = np.linspace(-15.0, 15.0, 4001)[:, None]
    mixture = sc.GaussianMixture([[0.3, 0.7]] * 4001, [[-1.5, 1.0]] * 4001, [[0.6, 1.4]] * 4001)
    space = frame_of(mixture, y, 0.0)
    density = np.exp(mixture.log_prob(y))
    tried = (sc.kernels.BoundedRadial(2.0), sc.kernels.Trace(), sc.kernels.Rank(2), sc.kernels.Constant(), Shares())
    for kernel in tried:
        view = View("c", "any", kernel, coordinates="component")
        features, _ = evaluate(view, space, np.random.default_rng(0), {})
        f = features.function(slice(0, 4001))[:, 0]
        assert np.trapezoid(f * density, y[:, 0]) == pytest.approx(0.0, abs=1e-9), kernel
        assert np.trapezoid(f**2 * density, y[:, 0]) > 0.01


# Noise ----------------------------------------------------------------------------------------------------------------


def test_noisy_predictions_are_those_of_targets_with_noise():
    """Their density against Monte Carlo over the noise; their noise against its own standard deviation."""
    rng = np.random.default_rng(0)
    mixture = sc.GaussianMixture([[0.3, 0.7]], [[[-2.0, 0.0], [1.0, 3.0]]], [[0.5, 1.5]])
    noisy = mixture.noisy(0.8)
    point = np.array([[0.4, 1.1]])
    shifts = 0.8 * np.sqrt(np.diagonal(mixture.moments()[1][0])) * rng.normal(size=(200_000, 1, 2))
    density = np.exp(mixture.log_prob(point - shifts))
    assert np.exp(noisy.convolved.log_prob(point)) == pytest.approx(density.mean(), abs=4 * density.std() / 450)
    np.testing.assert_allclose(noisy.score(point), noisy.convolved.score(point))
    cov = np.array([[[1.0, 0.5], [0.5, 2.0]]])
    for gaussian in (sc.Gaussian([[0.0, 1.0]], [[0.5, 2.0]]), sc.Gaussian([[0.0, 1.0]], covariance=cov)):
        more = gaussian.noisy(2.0).moments()[1][0] - gaussian.moments()[1][0]
        np.testing.assert_allclose(more, np.diag(4.0 * np.diagonal(gaussian.moments()[1][0])))
    many = sc.Gaussian(np.zeros((20_000, 1)), 3.0).noisy(0.5)
    assert np.std(many.noised(np.zeros((20_000, 1)), rng)) == pytest.approx(1.5, rel=0.03)


# Backends and bad input -----------------------------------------------------------------------------------------------


def test_every_backend_gives_the_same(backend):
    predictions, y = flawed(N, D, "scale", 0.8, rng=0)
    names = ("bias", "spread", "any, kernels")
    chosen = [view for view in default_views(D) if view.name in names]
    expected = sc.calibration_test(predictions, y, views=chosen, null="simulate", n_resamples=B, rng=0)
    array = backend.array
    moved = sc.Gaussian(array(predictions.mean), covariance=array(predictions.covariance.copy()))
    result = sc.calibration_test(moved, array(y), views=chosen, null="simulate", n_resamples=B, rng=0)
    assert result.pvalue == expected.pvalue
    for ours, theirs in zip(result.views, expected.views, strict=True):
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-8, abs=1e-12)
        np.testing.assert_allclose(ours.null_distribution, theirs.null_distribution, rtol=1e-8, atol=1e-12)
        assert ours.pvalue == theirs.pvalue


def test_float32_is_enough():
    predictions, y = flawed(100, 3, "none", rng=0)
    narrow = sc.Gaussian(predictions.mean.astype(np.float32), covariance=predictions.covariance.astype(np.float32))
    a, b = (sc.calibration_test(p, t, rng=0) for p, t in ((predictions, y), (narrow, y.astype(np.float32))))
    for one, other in zip(a.views, b.views, strict=True):
        assert one.pvalue == pytest.approx(other.pvalue, abs=0.01)


def test_predictions_that_are_all_alike():
    y = np.random.default_rng(0).normal(size=(50, 2))
    result = sc.calibration_test(sc.Gaussian(np.zeros((50, 2)), 1.0), y, rng=0)
    assert not any(view.sees == "dependence" for view in result.views)
    assert any("do not differ" in what for what in result.cannot_see)
    with pytest.raises(ValueError, match="`views` see nothing here"):
        sc.calibration_test(
            sc.Gaussian(np.zeros((50, 2)), 1.0), y, views=[View("t", "dependence", sc.kernels.Constant(), Traits())]
        )


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_few_targets(n):
    """Of n signs there are 2^(n - 1) that differ: too few targets reject by chance only, and the result says so."""
    predictions, y = flawed(n, 2, "location", 30.0, rng=0)
    views = [view for view in default_views(2) if view.name != "outliers"]
    result = sc.calibration_test(predictions, y, views=views, null="signs", rng=0)
    assert result.rejects() == (n == 10)
    assert any("anything at the 5 % level" in what for what in result.cannot_see) == (n < 6)
    exact = sc.calibration_test(predictions, y, rng=0)
    assert exact.rejects()
    assert not any("anything at the 5 % level" in what for what in exact.cannot_see)
    by_formula = sc.calibration_test(predictions, y, null="signs", rng=0)
    assert by_formula.rejects()
    assert any("anything but outliers at the 5 % level" in what for what in by_formula.cannot_see) == (n < 6)
    few_draws = sc.calibration_test(predictions, y, n_resamples=9, rng=0)
    assert any("n_resamples = 9" in what for what in few_draws.cannot_see)


def test_smallest_pvalue_of_five_targets_is_what_the_result_says():
    predictions, y = flawed(5, 2, "location", 30.0, rng=0)
    views = [view for view in default_views(2) if view.name != "outliers"]
    results = [sc.calibration_test(predictions, y, views=views, null="signs", rng=seed) for seed in range(40)]
    assert "has p-values near 0.062" in results[0].cannot_see[0]
    pvalues = np.array([result.pvalue for result in results])
    # More than that, if a pattern that is not the one of the bias comes first in a view of more weight.
    assert 2.0**-4 - 4 * np.std(pvalues) / 40**0.5 - 1e-3 < np.mean(pvalues) < 0.15
    assert min(pvalues) < 2.0**-4  # by chance, so that it is no bound


def test_models_in_float32():
    """A network that takes no other dtype."""
    layer = torch.nn.Linear(1, 1)
    torch.nn.init.constant_(layer.weight, -1.0)
    torch.nn.init.constant_(layer.bias, 0.0)
    mean = torch.linspace(-1.0, 1.0, 200)[:, None]
    y = mean + torch.randn((200, 1), generator=torch.Generator().manual_seed(0))
    result = sc.calibration_test(sc.ScoreFunction(lambda points: layer(points - mean), 200, 1), y, rng=0)
    expected = sc.calibration_test(sc.Gaussian(mean, 1.0), y, null="signs", rng=0)
    found = {view.name: view.statistic for view in result.views}
    for view in expected.views:
        if view.name not in ("any, kernels", "outliers"):  # of base points, here drawn and there exact; of Gaussians
            assert found[view.name] == pytest.approx(view.statistic, abs=1e-4), view.name
    far = y.clone()
    far[0] = 1e7
    assert np.isfinite(sc.calibration_test(sc.Gaussian(mean, 1.0), far, rng=0).statistic)


def test_scores_of_the_wrong_sign():
    predictions, y = flawed(50, 2, "none", rng=0)
    wrong = sc.ScoreFunction(lambda points: -predictions.score(points), 50, 2)
    with (
        pytest.warns(UserWarning, match="50 of 50 have scores that do not point back") as caught,
        pytest.raises(ValueError, match="nothing is left to judge"),
    ):
        sc.calibration_test(wrong, y, rng=0)
    assert caught[0].filename == __file__


def test_predictions_that_are_left_out_are_named():
    predictions, y = flawed(60, 1, "none", rng=0)
    wrong = np.arange(60)[:, None] < 20
    partly = sc.ScoreFunction(lambda points: np.where(wrong, 1, -1) * -predictions.score(points), 60, 1)
    with pytest.warns(UserWarning, match="20 of 60"):
        result = sc.calibration_test(partly, y, rng=0)
    assert any("20 of 60 predictions" in what for what in result.cannot_see)


def test_arrays_of_scores_on_a_box():
    """The same statistics as from the function, with the same base points."""
    predictions, y = bounded(80, 1, "none", rng=0)
    points = np.linspace(0.05, 0.95, 12)[:, None]
    scores = sc.Scores(predictions.score(y), np.swapaxes(predictions.score(points[:, None, :]), 0, 1), points)
    coordinates = sc.coordinates.unconstrain(sc.coordinates.Box(0.0, 1.0))
    result = sc.calibration_test(scores, y, coordinates=coordinates, rng=0)
    bias = {view.name: view.statistic for view in result.views}["bias"]
    known = sc.calibration_test(predictions, y, null="signs", rng=0)
    assert bias == pytest.approx({view.name: view.statistic for view in known.views}["bias"], rel=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p, y: sc.calibration_test(p, y, views=[]), TypeError, "`views` must hold"),
        (lambda p, y: sc.calibration_test(p, y, views=[ONE]), TypeError, "`views` must hold"),
        (lambda p, y: sc.calibration_test(p, y, views=[GOOD, GOOD]), ValueError, "different names"),
        (lambda p, y: sc.calibration_test(p, y, n_resamples=0), ValueError, "`n_resamples`"),
        (lambda p, y: sc.calibration_test(p, y[:-1]), ValueError, "`y` must have shape"),
        (lambda p, y: sc.calibration_test(p, np.where(y > 9, y, np.nan)), ValueError, "`y`"),
        (lambda p, y: sc.calibration_test(p, y, rng="x"), TypeError, "`rng`"),
        (lambda p, y: sc.calibration_test(sc.Categorical([[0.5, 0.5]] * 30), y), ValueError, "`y` must hold classes"),
        (
            lambda p, y: sc.calibration_test(
                sc.ScoreFunction(p.score, 30, 2), y, views=[View("n", "modes", ONE, noise=1.0)]
            ),
            TypeError,
            "need predictions that can have it",
        ),
        (lambda p, y: View("a", "spread", ONE), ValueError, "`sees` must be one of"),
        (lambda p, y: View("a", "bias", ONE, coordinates="raw"), ValueError, "`coordinates` must be one of"),
        (lambda p, y: View("a", "bias", sc.kernels.Constant), TypeError, "not its class"),
        (lambda p, y: View("a", "bias", "constant"), TypeError, "`target_kernel` must be a kernel"),
        (lambda p, y: View("a", "bias", ONE, "all"), TypeError, "`distribution_kernel` must be a kernel"),
        (lambda p, y: View("a", "bias", ONE, weight=0.0), ValueError, "`weight`"),
        (lambda p, y: View("a", "bias", ONE, noise=-1.0), ValueError, "`noise`"),
        (lambda p, y: View("a", "bias", sc.kernels.Gaussian(), Traits()), TypeError, "finite rank"),
        (lambda p, y: View("a", "bias", sc.kernels.Gaussian(), largest=True), ValueError, "finite rank"),
        (lambda p, y: View("a", "bias", sc.kernels.Linear(), coordinates="marginal"), ValueError, "one dimension at a"),
        (lambda p, y: View("a", "bias", sc.kernels.Linear(), Gain()), ValueError, "`Gain` is for"),
        (lambda p, y: sc.calibration_test(p, y, views=5), TypeError, "`views` must hold"),
        (lambda p, y: sc.calibration_test(p, y, views=GOOD), TypeError, "`views` must hold"),
        (
            lambda p, y: sc.calibration_test(p, y, views=[View("c", "any", ONE, coordinates="component")]),
            TypeError,
            "for `GaussianMixture`",
        ),
        (lambda p, y: sc.calibration_test(p, y, coordinates=3), TypeError, "`coordinates` must be a function"),
        (
            lambda p, y: sc.calibration_test(
                p, y, views=[View("n", "modes", ONE, noise=1.0)], coordinates=sc.coordinates.whiten()
            ),
            ValueError,
            "in their own `coordinates`",
        ),
        (lambda p, y: View("a", "modes", Shares()), ValueError, "`Shares` are for coordinates of components"),
        (lambda p, y: View(3, "bias", ONE), TypeError, "`name` must be text"),
        (lambda p, y: View("a", "bias", ONE, largest="no"), TypeError, "`largest` must be True or False"),
        (lambda p, y: View("a", "bias", ONE, noise=1e200), ValueError, "`noise` must be between"),
        (lambda p, y: View("a", "bias", ONE, noise=1.0, coordinates="component"), ValueError, "without `noise`"),
        (lambda p, y: View("a", "any", sc.kernels.IMQ(), coordinates="component"), ValueError, "finite rank"),
        (lambda p, y: default_views("3"), ValueError, "`dim` must be a positive integer"),
        (lambda p, y: default_views(0), ValueError, "`dim` must be a positive integer"),
        (lambda p, y: p.noisy(0.0), ValueError, "`level` must be a positive number"),
    ],
)
def test_bad_input(make, error, message):
    predictions, y = flawed(30, 2, "none", rng=0)
    with pytest.raises(error, match=message):
        make(predictions, y)


class Broken:
    """Test functions that a user got wrong."""

    def __init__(self, shape=None):
        self.shape = shape

    def features(self, targets, scores):
        return np.zeros(self.shape) if self.shape else np.where(targets > 1.0, np.nan, targets)


def test_test_functions_that_a_user_got_wrong():
    predictions, y = flawed(30, 2, "none", rng=0)
    with pytest.raises(ValueError, match="of view 'mine' must return an array"):
        sc.calibration_test(predictions, y, views=[View("mine", "any", Broken((30,)))])
    with pytest.raises(ValueError, match=r"must be finite.* of view 'mine'"):
        sc.calibration_test(predictions, y, views=[View("mine", "any", Broken())])


def test_views_in_natural_coordinates_need_no_base_points():
    predictions, y = flawed(60, 2, "none", rng=0)
    scores = sc.Scores(predictions.score(y))
    view = View("raw", "bias", ONE, coordinates="natural")
    expected = sc.calibration_test(predictions, y, views=[view], null="signs", rng=0)
    assert sc.calibration_test(scores, y, views=[view], null="signs", rng=0).pvalue == expected.pvalue


def test_views_a_user_may_choose():
    """All kinds of coordinates and kernels in one test, the paper's own view among them."""
    predictions, y = flawed(60, 2, "none", rng=0)
    chosen = [
        View("paper", "any", sc.kernels.Gaussian(), sc.kernels.GFD(), coordinates="natural"),
        View("imq", "any", sc.kernels.IMQ(1.0), sc.kernels.KGFD()),
        View("linear by gfd", "correlation", sc.kernels.Linear(), sc.kernels.GFD()),
        View("raw trace", "confidence", sc.kernels.Trace(), coordinates="natural"),
        View("noise", "shape", sc.kernels.Polynomial(2), coordinates="marginal", noise=0.5),
    ]
    result = sc.calibration_test(predictions, y, views=chosen, rng=0)
    assert [view.name for view in result.views] == [view.name for view in chosen]
    paper = sc.kccsd_test(predictions, y, rng=0)
    assert result.views[0].statistic == pytest.approx(paper.statistic)


def test_default_views_of_a_user_dimension():
    names = [view.name for view in default_views(4, several_modes=True, components=True)]
    assert len(names) == len(set(names))
    assert {view.name for view in default_views(4)} < set(names)
    assert default_views(np.int64(2)) == default_views(2)
    assert default_views(modes(5, 2, rng=0)[0]) == default_views(2, several_modes=True, components=True)
    *same, near_modes = default_views(bounded(5, 2, "none", rng=0)[0])
    assert default_views(flawed(5, 2, "none", rng=0)[0]) == tuple(same)
    assert near_modes.name == "spread near modes"


def test_coordinates_of_predictions_with_noise():
    """They go through the same door: what is not a function is refused, and a function is used for every draw."""
    mixture, y = sc.experiments.modes(60, 2, rng=0)
    noisy = mixture.noisy(1.0)
    with pytest.raises(TypeError, match="`coordinates` must be a function"):
        sc.calibration_test(noisy, y, coordinates=3)
    with pytest.raises(ValueError, match="`coordinates` must return targets of shape"):
        sc.calibration_test(noisy, y, coordinates=lambda p, z: (p, z[:5], p.score(z)))
    plain, given = (
        sc.calibration_test(noisy, y, coordinates=each, n_resamples=49, rng=0)
        for each in (None, lambda p, z: (p, z, p.score(z)))
    )
    names = {view.name for view in given.views}
    for found in (view for view in plain.views if view.name in names):
        same = next(view for view in given.views if view.name == found.name)
        np.testing.assert_allclose(same.null_distribution, found.null_distribution, rtol=1e-9, atol=1e-12)
    assert given.coordinates.startswith("noised by 1 predictive sd")
