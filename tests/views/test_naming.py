"""Words for what the views found, for flaws that look like others."""

from collections import Counter

import numpy as np
import pytest
import scipy.stats

import scorecal as sc
from scorecal.experiments import flawed, skewed
from scorecal.views import View


def outliers(count, dim, n=1000):
    """A value that stands for a missing one, in some rows."""

    def draw(rng):
        mean, sd = rng.normal(size=(n, dim)), np.exp(0.3 * rng.normal(size=(n, dim)))
        y = mean + sd * rng.normal(size=(n, dim))
        y[rng.choice(n, count, replace=False)] = -999.0
        return sc.Gaussian(mean, sd), y

    return draw


def ensembles(n_members, width, n=150):
    """Members with kernels, of which each hides among the others; targets spread more, by 1 / .85, about the mean."""

    def draw(rng):
        members = 2.0 * rng.normal(size=(n, 1, 1)) + rng.normal(size=(n, n_members, 1))
        weights = np.full((n, n_members), 1.0 / n_members)
        predictions = sc.GaussianMixture(weights, members, np.full((n, n_members), width))
        mean = predictions.moments()[0]
        return predictions, mean + (predictions.sample(1, rng)[0] - mean) / 0.8

    return draw


def smooth_bias(function, dim, n=300):
    def draw(rng):
        mean = rng.uniform(-2.0, 2.0, size=(n, dim))
        return sc.Gaussian(mean, 1.0), mean + function(mean) + rng.normal(size=(n, dim))

    return draw


def nearly_equal_errors(correlation, factor, dim, n=400):
    """Errors of dimensions that go together as claimed, and are larger or smaller than claimed."""

    def draw(rng):
        covariance = np.full((dim, dim), correlation) + (1.0 - correlation) * np.eye(dim)
        mean = rng.normal(size=(n, dim))
        errors = rng.normal(size=(n, dim)) @ np.linalg.cholesky(covariance).T
        return sc.Gaussian(mean, covariance=np.tile(covariance, (n, 1, 1))), mean + factor * errors

    return draw


def heavy_tails(dim, n=1000, together=False):
    """Student's t with 5 degrees of freedom, of the right variance, in each dimension or in all together."""

    def draw(rng):
        mean = rng.normal(size=(n, dim))
        chi = rng.chisquare(5, size=(n, 1 if together else dim)) / 5.0
        return sc.Gaussian(mean, 1.0), mean + np.sqrt(0.6 / chi) * rng.normal(size=(n, dim))

    return draw


def outliers_of_mixtures(count, dim, n=1000):
    """Which are far from both components."""

    def draw(rng):
        means = rng.normal(size=(n, 1, dim)) + np.array([-1.0, 1.0])[:, None]
        predictions = sc.GaussianMixture(np.full((n, 2), 0.5), means, np.ones((n, 2)))
        y = predictions.sample(1, rng)[0]
        y[rng.choice(n, count, replace=False)] = -999.0
        return predictions, y

    return draw


def opposite_correlation(correlation, dim, n=200):
    """Errors with the claimed correlation, but for the sign of one dimension."""

    def draw(rng):
        predictions, y = nearly_equal_errors(correlation, 1.0, dim, n)(rng)
        y[:, -1] = 2.0 * predictions.mean[:, -1] - y[:, -1]
        return predictions, y

    return draw


def flaw(make, **options):
    return lambda rng: make(rng=rng, **options)


def words(draw, seeds, **options):
    """The first word of each data set with p <= .01, and how many there are."""
    found = Counter()
    for seed in seeds:
        predictions, y = draw(np.random.default_rng(seed))
        result = sc.calibration_test(predictions, y, rng=seed, **options)
        found[result.seen[0] if result.pvalue <= 0.01 else "not clear"] += 1
    return found


CASES = {
    **{f"{count} outliers, d = {d}": (outliers(count, d), "outliers") for count in (1, 3, 5) for d in (1, 3)},
    **{f"{k} members": (ensembles(k, width), "over-confidence") for k, width in ((10, 0.7), (30, 0.5))},
    **{
        f"{count} outliers of mixtures, d = {d}": (outliers_of_mixtures(count, d), "outliers")
        for count in (1, 5)
        for d in (1, 3)
    },
    "opposite correlation": (opposite_correlation(0.9, 2), "correlation"),
    "opposite correlation, d = 3": (opposite_correlation(0.5, 3), "correlation"),
    "skewed, too narrow": (flaw(skewed, n=1000, dim=1, flaw="scale", size=0.85), "over-confidence"),
    "skewed, too wide": (flaw(skewed, n=1000, dim=3, flaw="scale", size=1.15), "under-confidence"),
    "skewed, biased": (flaw(skewed, n=1000, dim=3, flaw="location", size=0.2), "bias"),
    "narrow in one dimension": (flaw(flawed, n=1000, dim=3, flaw="one scale", size=0.8), "over-confidence"),
    "skew, d = 10": (flaw(flawed, n=200, dim=10, flaw="skew", size=4.0), "shape"),
    "spread by location": (flaw(flawed, n=300, dim=3, flaw="scale by x", size=0.7), "dependence"),
    "spread by location, by far": (flaw(flawed, n=300, dim=1, flaw="scale by x", size=0.5), "dependence"),
    "waves": (smooth_bias(lambda m: 0.5 * np.sin(2.0 * m), 1), "dependence"),
    "waves, d = 3": (smooth_bias(lambda m: 0.5 * np.sin(2.0 * m), 3), "dependence"),
    "squares": (smooth_bias(lambda m: 0.3 * (m**2 - 4.0 / 3.0), 1), "dependence"),
    "squares, d = 3": (smooth_bias(lambda m: 0.3 * (m**2 - 4.0 / 3.0), 3), "dependence"),
    "correlation .95, too wide": (nearly_equal_errors(0.95, 1.1, 2), "over-confidence"),
    "correlation .99, too wide": (nearly_equal_errors(0.99, 1.1, 3), "over-confidence"),
    "correlation .95, too narrow": (nearly_equal_errors(0.95, 1 / 1.1, 3), "under-confidence"),
    "correlation .99, too narrow": (nearly_equal_errors(0.99, 1 / 1.1, 2), "under-confidence"),
    "heavy tails": (heavy_tails(1), "shape"),
    "heavy tails of 300": (heavy_tails(1, 300), "shape"),
    "heavy tails, d = 3": (heavy_tails(3), "shape"),
    "heavy tails together": (heavy_tails(3, 300, True), "shape"),
}


@pytest.mark.parametrize(
    "name",
    [
        "1 outliers, d = 3",
        "1 outliers of mixtures, d = 1",
        "opposite correlation",
        "skewed, too narrow",
        "skew, d = 10",
        "spread by location, by far",
        "10 members",
        "waves",
        "squares, d = 3",
        "correlation .99, too wide",
        "correlation .95, too narrow",
        "heavy tails of 300",
        "heavy tails together",
    ],
)
def test_words_are_right(name):
    """Three data sets, of which at most one is not clear or has another word first; the study below has 40."""
    draw, kind = CASES[name]
    assert words(draw, range(3), n_resamples=199)[kind] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_words_are_right_in_nine_of_ten(name):
    """40 data sets; by far most of them are clear."""
    draw, kind = CASES[name]
    found = words(draw, range(100, 140))
    assert found["not clear"] <= 16, found
    assert found[kind] >= 0.9 * (40 - found["not clear"]), found


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (smooth_bias(lambda m: 0.5 * np.sin(2.0 * m), 1), "a bias that depends on the prediction"),
        (smooth_bias(lambda m: 0.3 * (m**2 - 4.0 / 3.0), 3), "a bias that depends on the prediction"),
        (flaw(flawed, n=400, dim=1, flaw="shrinkage", size=0.8), "a bias that depends on the prediction"),
        (flaw(flawed, n=400, dim=3, flaw="spread wave", size=0.4), "a wrong spread that depends on the prediction"),
    ],
    ids=["wave", "square", "shrinkage", "spread"],
)
def test_sentences_say_what_depends_on_the_prediction(make, what):
    for seed in range(2):
        predictions, y = make(np.random.default_rng(seed))
        result = sc.calibration_test(predictions, y, n_resamples=199, rng=seed)
        assert result.seen[0] == "dependence"
        assert f"the predictions have {what}, on its location or its spread." in result.message


def test_a_bias_and_a_spread_that_both_depend_on_the_prediction():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=600)
    y = mean + 0.3 * np.sign(mean) + np.exp(0.35 * np.sign(mean)) * rng.normal(size=600)
    result = sc.calibration_test(sc.Gaussian(mean, 1.0), y, n_resamples=199, rng=0)
    assert "a bias and a wrong spread that depend on the prediction" in result.message


def wrong_in_part(spread=1.0, bias=0.0, gain=0.0, claimed=0.5, dim=3, n=300):
    """Errors of correlation .5 in all dimensions, with spreads and a bias in units of what is claimed."""

    def draw(rng):
        right, matrix = (np.full((dim, dim), rho) + (1.0 - rho) * np.eye(dim) for rho in (0.5, claimed))
        mean = rng.normal(size=(n, dim))
        errors = rng.normal(size=(n, dim)) @ np.linalg.cholesky(right).T
        return sc.Gaussian(mean, covariance=np.tile(matrix, (n, 1, 1))), mean + bias + gain * mean + spread * errors

    return draw


def scores_alone(draw):
    def drawn(rng):
        predictions, y = draw(rng)
        base = 2.0 * np.random.default_rng(0).normal(size=(30, predictions.dim))
        at_base = np.moveaxis(predictions.score(np.tile(base[:, None, :], (1, len(y), 1))), 0, 1)
        return sc.Scores(predictions.score(y), at_base, base), y

    return drawn


ALONE = {
    "one spread too small": (wrong_in_part(spread=np.array([1.6, 1.0, 1.0])), "over-confidence"),
    "one spread too large": (wrong_in_part(spread=np.array([1.0 / 1.6, 1.0, 1.0])), "under-confidence"),
    "one mean": (wrong_in_part(bias=np.array([0.5, 0.0, 0.0])), "bias"),
    "all spreads": (wrong_in_part(spread=1.25), "over-confidence"),
    "correlation": (wrong_in_part(claimed=0.0), "correlation"),
    "one spread, scores alone": (scores_alone(wrong_in_part(spread=np.array([1.6, 1.0, 1.0]))), "over-confidence"),
    "spread that depends on the prediction": (flaw(flawed, n=600, dim=3, flaw="spread wave", size=0.4), "dependence"),
    "bias that depends on the prediction": (flaw(flawed, n=600, dim=3, flaw="bias wave", size=0.8), "dependence"),
    "skewed predictions, spread": (flaw(skewed, n=1000, dim=3, flaw="scale", size=0.85), "over-confidence"),
}


@pytest.mark.parametrize("name", ALONE)
def test_nothing_is_named_beside_the_one_flaw(name):
    """One spread of three made a wrong correlation and shape "seen" in every data set; with 3, one may err."""
    draw, kind = ALONE[name]
    seen = [sc.calibration_test(*draw(np.random.default_rng(seed)), n_resamples=99, rng=seed).seen for seed in range(3)]
    assert seen.count((kind,)) >= 2, seen


@pytest.mark.parametrize(
    ("flaws", "kinds"),
    [
        ({"spread": np.array([1.6, 1.0, 1.0]), "claimed": 0.0}, {"over-confidence", "correlation"}),
        ({"bias": 0.5, "claimed": 0.9}, {"bias", "correlation"}),
        ({"bias": 0.5, "spread": 0.6}, {"bias", "under-confidence"}),
        ({"gain": 0.25, "spread": np.array([1.8, 1.0, 1.0])}, {"dependence", "over-confidence"}),  # tails look heavy
    ],
)
def test_two_flaws_are_both_named(flaws, kinds):
    for seed in range(2):
        predictions, y = wrong_in_part(**flaws)(np.random.default_rng(seed))
        assert set(sc.calibration_test(predictions, y, n_resamples=99, rng=seed).seen) == kinds


@pytest.mark.parametrize("count", [1, 3, 5])
@pytest.mark.parametrize("dim", [1, 3])
def test_outliers_by_signs(count, dim):
    """Which do not change the largest error: a formula judges it."""
    found = words(outliers(count, dim), range(2), null="signs", n_resamples=199)
    assert found == {"outliers": 2}


def test_a_few_outliers_do_not_hide_a_bias_or_a_wrong_spread():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mean = rng.normal(size=600)
        for y, kind in (
            (mean + 0.4 + rng.normal(size=600), "bias"),
            (mean + 0.7 * rng.normal(size=600), "under-confidence"),
        ):
            y[5] = -30.0
            seen = sc.calibration_test(sc.Gaussian(mean, 1.0), y, null="signs", n_resamples=199, rng=seed).seen
            assert {"outliers", kind} <= set(seen)


def test_scores_alone_do_not_see_outliers_and_say_so():
    """Random signs judge scores at the targets; a formula for the largest is not known."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=(150, 1))
    base = np.linspace(-3.0, 3.0, 9)[:, None]
    known = sc.Scores(-y, np.tile(-base, (150, 1, 1)), base)
    function = sc.ScoreFunction(lambda points: np.zeros((150, 1)) - points, 150, 1)
    for predictions in (known, function):
        result = sc.calibration_test(predictions, y, n_resamples=99, rng=0)
        assert result.null == "signs"
        names = {view.name for view in result.views}
        assert {"bias", "spread", "skewness", "tails"} <= names
        assert not {"outliers", "share of outliers"} & names
        assert "a few outliers among many rows: no view looks at the largest error." in result.cannot_see
    few = sc.calibration_test(
        sc.ScoreFunction(lambda points: np.zeros((60, 1)) - points, 60, 1), y[:60], n_resamples=99, rng=0
    )
    assert few.null == "simulate"
    assert {"outliers", "share of outliers"} <= {view.name for view in few.views}
    assert not any("outliers" in what for what in few.cannot_see)


def test_a_few_outliers_of_scores_that_can_be_drawn_from():
    y = np.random.default_rng(0).normal(size=(60, 1))
    y[7] = -999.0
    result = sc.calibration_test(
        sc.ScoreFunction(lambda points: np.zeros((60, 1)) - points, 60, 1), y, n_resamples=99, rng=0
    )
    assert result.pvalue == 0.01
    assert result.seen[0] == "outliers"


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [(sc.kernels.Outlying(), "outliers"), (sc.views.Largest(), "outliers")],
    ids=["share", "largest"],
)
def test_views_that_signs_cannot_judge_may_be_alone(kernel, kind):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(60, 2, 1))
    predictions = sc.GaussianMixture(np.full((60, 2), 0.5), means, np.ones((60, 2)))
    y = means[:, 0] + 8.0 * rng.normal(size=(60, 1))
    result = sc.calibration_test(predictions, y, views=[View("v", kind, kernel)], n_resamples=99, rng=0)
    assert result.pvalue == 0.01
    assert len(result.seen) == 1


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("null", ["auto", "signs"])
def test_gaussians_hide_nothing_from_the_views(d, null):
    """Predictions that differ, of which nothing is left that no view looks at."""
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=(60, d)), np.exp(0.3 * rng.normal(size=(60, d)))
    result = sc.calibration_test(sc.Gaussian(mean, sd), mean + sd * rng.normal(size=(60, d)), null=null, rng=0)
    assert result.cannot_see == ()


def test_messages_have_no_gaps():
    """Each kind has its words, and they are whole sentences."""
    from scorecal.views import KINDS
    from scorecal.views.naming import _SHORT, _WORDS

    assert set(_WORDS) == (set(KINDS) - {"confidence"}) | {"over-confidence", "under-confidence"}
    assert set(_SHORT) <= set(_WORDS)


@pytest.mark.parametrize(("bias", "factor"), [(1.0, 0.5), (1.0, 1.5)])
@pytest.mark.parametrize(
    "law", [scipy.stats.t(3), scipy.stats.laplace, scipy.stats.logistic], ids=["t3", "laplace", "logistic"]
)
def test_a_bias_and_a_wrong_spread_of_heavy_tails(law, bias, factor):
    """Steps to where scores have mean zero must not go to and fro."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=300)
    make = scipy.stats.t if not hasattr(law, "_shape_info") else law
    predictions = sc.from_scipy(make(3, mean) if make is scipy.stats.t else make(mean))
    y = mean + bias + factor * law.rvs(size=300, random_state=rng)
    seen = sc.calibration_test(predictions, y, n_resamples=99, rng=0).seen
    assert set(seen) == {"bias", "under-confidence" if factor < 1 else "over-confidence"}
