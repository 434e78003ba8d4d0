"""Parts of a user's own: what meets a protocol works in every function that takes one, or is refused by name."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import scorecal as sc
from scorecal.views import Gain, Traits, View

N = 60


@dataclass(frozen=True, eq=False)
class Laplace:
    """Predictions with every capability that closed forms or draws can give; written without scorecal."""

    centre: np.ndarray
    scale: float = 1.0

    @property
    def n(self):
        return len(self.centre)

    @property
    def dim(self):
        return self.centre.shape[1]

    def score(self, y):
        return -np.tanh((y - self.centre) / self.scale) / self.scale

    def log_prob(self, y):
        return -np.sum(np.log(np.cosh((y - self.centre) / self.scale)), axis=-1)

    def sample(self, n_samples, rng=None):
        """Draws from the density 1 / cosh: by its distribution function."""
        u = np.random.default_rng(rng).random((n_samples, *self.centre.shape))
        return self.centre + self.scale * np.log(np.tan(0.5 * np.pi * u))

    def moments(self):
        variance = (0.5 * np.pi * self.scale) ** 2
        return self.centre, np.broadcast_to(variance * np.eye(self.dim), (self.n, self.dim, self.dim))


def data(scale=1.0, n=N):
    rng = np.random.default_rng(0)
    truth = Laplace(rng.normal(size=(n, 2)))
    return Laplace(truth.centre, scale), truth.sample(1, rng)[0]


@pytest.mark.parametrize(
    "run",
    [
        lambda p, y: sc.kccsd_test(p, y, rng=0),
        lambda p, y: sc.kccsd_test(p, y, distribution_kernel=sc.kernels.MMD(), rng=0),
        lambda p, y: sc.kccsd_test(p, y, distribution_kernel=sc.kernels.KGFD(base="match"), rng=0),
        lambda p, y: sc.kccsd_test(p, y, coordinates=sc.coordinates.whiten(), rng=0),
        lambda p, y: sc.kccsd_test(p, y, coordinates=sc.coordinates.standardise(), rng=0),
        lambda p, y: sc.skce_test(p, y, rng=0),
        lambda p, y: sc.kcsd_test(p, y, p.centre, rng=0),
        lambda p, y: sc.calibration_test(p, y, rng=0),
    ],
)
def test_predictions(run):
    right, y = data(n=300)
    assert not run(right, y).rejects()
    assert run(Laplace(right.centre + 1.0), y).rejects()


def test_predictions_in_other_functions():
    predictions, y = data(0.5, 400)
    assert sc.diagnose(predictions, y, rng=0).source == "moments"
    assert sc.diagnose(predictions, y, rng=0).overall_confidence_ratio.low > 1.5
    assert not sc.expected_coverage(predictions, y, n_samples=200, rng=0).conservative()
    assert sc.as_predictions(predictions) is predictions
    assert sc.gfd(predictions, predictions, paired=True, rng=0).max() == 0.0
    assert sc.gram_matrix(sc.kernels.MMD(), predictions, rng=0).shape == (400, 400)


@dataclass(frozen=True)
class CentreDistance:
    """Squared distances between centres, without a finite embedding that scorecal would know of."""

    centre: np.ndarray
    floats_per_pair: int = 6

    @property
    def n(self):
        return len(self.centre)

    def pairs(self, i, j):
        return np.sum((self.centre[i] - self.centre[j]) ** 2, axis=-1)

    def block(self, rows, cols):
        return np.sum((self.centre[rows, None, :] - self.centre[None, cols, :]) ** 2, axis=-1)


@dataclass(frozen=True)
class OfCentres:
    """A kernel between predictions: of the distance of their means."""

    bandwidth: float | str = "median"
    outer: str = "gaussian"

    def distance(self, predictions, reference, rng):
        return CentreDistance(np.asarray(predictions.moments()[0])), {}


@pytest.mark.parametrize("outer", ["gaussian", "imq"])
def test_kernel_between_predictions(outer):
    """The Gram matrix by hand: that of the median distance between means."""
    predictions, y = data()
    kernel = OfCentres(outer=outer)
    gap = np.sum((predictions.centre[:, None, :] - predictions.centre[None]) ** 2, axis=-1)
    t = gap / np.median(np.sqrt(gap[np.triu_indices(N, 1)])) ** 2
    gram = np.exp(-0.5 * t) if outer == "gaussian" else 1.0 / (1.0 + t)
    np.testing.assert_allclose(sc.gram_matrix(kernel, predictions), gram, rtol=1e-12)
    np.testing.assert_allclose(sc.gram_matrix(kernel, predictions, predictions), gram, rtol=1e-12)
    one = sc.kernels.Constant()
    h = predictions.score(y) @ predictions.score(y).T
    value = (np.sum(gram * h) - np.trace(gram * h)) / (N * (N - 1))
    assert sc.kccsd(predictions, y, distribution_kernel=kernel, target_kernel=one) == pytest.approx(value, rel=1e-12)
    for test in (sc.kccsd_test, sc.skce_test):
        assert np.isfinite(test(predictions, y, distribution_kernel=kernel, n_resamples=19, rng=0).statistic)
    view = View("mine", "any", sc.kernels.Gaussian(), kernel, coordinates="natural")
    assert sc.calibration_test(predictions, y, views=[view], n_resamples=19, rng=0).views[0].name == "mine"
    terms = sc.kernels.Operator([(kernel, np.eye(2))])
    one_term = sc.kccsd(predictions, y, distribution_kernel=terms)
    assert one_term == pytest.approx(float(sc.kccsd(predictions, y, distribution_kernel=kernel)), rel=1e-9)


def test_kernels_are_refused_by_name():
    predictions, y = data()
    for run in (
        lambda kernel: sc.kccsd_test(predictions, y, distribution_kernel=kernel),
        lambda kernel: sc.skce_test(predictions, y, distribution_kernel=kernel),
        lambda kernel: sc.gram_matrix(kernel, predictions),
    ):
        with pytest.raises(ValueError, match="`outer` must be one of 'gaussian', 'imq', but is 'linear'"):
            run(OfCentres(outer="linear"))
        with pytest.raises(TypeError, match="which has no `distance`"):
            run(sc.kernels.Gaussian())
    low_rank = sc.kccsd_test(predictions, y, distribution_kernel=OfCentres(), estimator="low-rank")
    assert np.isfinite(low_rank.statistic)


class Cubes:
    """Test functions y_a^3, as the features s_a y_a^3 + 3 y_a^2."""

    separable = True

    def features(self, targets, scores):
        return scores * targets**3 + 3.0 * targets**2


class OfTheFirstLocation:
    """A kernel of rank one between predictions: the product of the first coordinates of their locations."""

    def differs(self, frame):
        return not frame.alike

    def combine(self, features, frame, coordinates, rows):
        return frame.location[rows, :1] * features


def test_views():
    """The same numbers as `Polynomial(3)`; and a kernel between predictions of one's own, from its definition."""
    predictions, y = sc.experiments.flawed(200, 2, "scale", 0.8, rng=0)
    mine, ours = (View("v", "shape", kernel, coordinates="marginal") for kernel in (Cubes(), sc.kernels.Polynomial(3)))
    found, expected = (sc.calibration_test(predictions, y, views=[view], rng=0).views[0] for view in (mine, ours))
    spread = np.std(expected.null_distribution)  # draws near 0 are differences of sums of that size
    np.testing.assert_allclose(found.null_distribution, expected.null_distribution, rtol=0.0, atol=1e-13 * spread)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    view = View("w", "dependence", sc.kernels.Constant(), OfTheFirstLocation())
    assert sc.calibration_test(predictions, y, views=[view], rng=0).views[0].sees == "dependence"
    statistic = sc.kccsd_test(predictions, y, target_kernel=Cubes(), n_resamples=19, rng=0).statistic
    same = sc.kccsd_test(predictions, y, target_kernel=sc.kernels.Polynomial(3), n_resamples=19, rng=0).statistic
    assert statistic == pytest.approx(same, rel=1e-12)
    for between in (OfTheFirstLocation(), Traits(), Gain()):
        with pytest.raises(TypeError, match=f"`{type(between).__name__}` needs a `target_kernel` of finite rank"):
            View("x", "any", sc.kernels.Gaussian(), between)


class EveryOther(sc.estimators.Estimator):
    """Blocks of three rows."""

    def pairing(self, n):
        return sc.estimators.Pairing(n, n, 3)


def test_estimator():
    predictions, y = data(0.5)
    found = sc.kccsd_test(predictions, y, estimator=EveryOther(), rng=0)
    expected = sc.kccsd_test(predictions, y, estimator=sc.estimators.Block(3), rng=0)
    np.testing.assert_array_equal(found.null_distribution, expected.null_distribution)
    assert found.statistic == expected.statistic
    for run in (
        lambda: sc.skce_test(predictions, y, estimator=EveryOther(), n_resamples=9, rng=0),
        lambda: sc.kcsd_test(predictions, y, y, estimator=EveryOther(), n_resamples=9, rng=0),
        lambda: sc.ksd_test(sc.Gaussian([[0.0, 0.0]], 1.0), y, estimator=EveryOther(), n_resamples=9, rng=0),
        lambda: sc.calibration_test(predictions, y, estimator=EveryOther(), n_resamples=9, rng=0),
    ):
        assert np.isfinite(run().statistic)


class SignsOfBlocks:
    """Signs that consecutive rows share, four at a time: a null distribution of one's own."""

    def distribution(self, averages, pairing, n_resamples, rng):
        signs = np.repeat(rng.integers(2, size=(-(-pairing.n // 4), n_resamples)), 4, axis=0)[: pairing.n]
        return averages(sc.nulls.pack_signs(2 * signs - 1))


def test_null():
    """e' H e by hand, for signs that rows share."""
    predictions, y = data()
    one = sc.kernels.Constant()
    found = sc.kccsd_test(
        predictions, y, target_kernel=one, null=SignsOfBlocks(), precision="full", n_resamples=13, rng=5
    )
    rng = np.random.default_rng(5)
    points = rng.standard_normal((1, 10, 2))  # the base points of GFD come first
    assert points.shape == (1, 10, 2)
    signs = 2.0 * np.repeat(rng.integers(2, size=(N // 4, 13)), 4, axis=0) - 1.0
    gram = sc.gram_matrix(sc.kernels.GFD(), predictions, rng=5)
    h = gram * (predictions.score(y) @ predictions.score(y).T)
    np.fill_diagonal(h, 0.0)
    np.testing.assert_allclose(
        found.null_distribution, np.einsum("ib,ij,jb->b", signs, h, signs) / (N * (N - 1)), rtol=1e-9
    )
    for run in (
        lambda null: sc.skce_test(predictions, y, null=null, n_resamples=9, rng=0),
        lambda null: sc.kcsd_test(predictions, y, y, null=null, n_resamples=9, rng=0),
        lambda null: sc.ksd_test(sc.Gaussian([[0.0, 0.0]], 1.0), y, null=null, n_resamples=9, rng=0),
        lambda null: sc.calibration_test(predictions, y, null=null, n_resamples=9, rng=0),
    ):
        assert np.isfinite(run(SignsOfBlocks()).statistic)
        with pytest.raises(ValueError, match="`null` must be one of 'auto', 'signs'"):
            run("bootstrap")


def test_named_null_is_the_default():
    predictions, y = data()
    by_name, default = (sc.kccsd_test(predictions, y, null=null, rng=0) for null in ("signs", None))
    np.testing.assert_array_equal(by_name.null_distribution, default.null_distribution)


class NoDraws:
    def distribution(self, averages, pairing, n_resamples, rng):
        return averages(None)


class NoPairs(sc.estimators.Estimator):
    def pairing(self, n):
        return sc.estimators.Pairing(n, n, 1)


def test_what_nulls_and_estimators_give_is_checked():
    predictions, y = data()
    with pytest.raises(ValueError, match="`null` must return 19 draws for each statistic"):
        sc.kccsd_test(predictions, y, null=NoDraws(), n_resamples=19)
    with pytest.raises(ValueError, match="`estimator` must average at least one pair"):
        sc.kccsd_test(predictions, y, estimator=NoPairs())
    with pytest.raises(TypeError, match=r"inherit from `estimators.Estimator` and define `pairing\(n\)`"):
        sc.kccsd_test(predictions, y, estimator=object())


def test_student_t_is_for_one_statistic_of_pairs():
    """Blocks of features are not independent, and quantiles of several views are not draws of all of them."""
    predictions, y = data()
    one, t = sc.kernels.Constant(), sc.nulls.StudentT()
    with pytest.raises(ValueError, match="`null` must not be `StudentT`"):
        sc.kccsd_test(predictions, y, target_kernel=one, distribution_kernel=one, estimator="linear", null=t)
    with pytest.raises(ValueError, match="`null` must not be `StudentT`"):
        sc.calibration_test(predictions, y, estimator="linear", null=t)
    with pytest.raises(ValueError, match="use `estimator='linear'`"):
        sc.kccsd_test(predictions, y, null=t)
    linear = (sc.kccsd_test(predictions, y, estimator="linear", null=null, rng=0) for null in (t, None))
    np.testing.assert_array_equal(*(result.null_distribution for result in linear))


class FlatFeatures:
    def features(self, targets, scores):
        return scores[:, 0]


def test_features_of_a_wrong_shape_are_refused():
    predictions, y = data()
    with pytest.raises(ValueError, match=r"of `target_kernel` must return an array \(n, q\)"):
        sc.kccsd_test(predictions, y, target_kernel=FlatFeatures())
    with pytest.raises(ValueError, match=r"of view 'v' must return an array \(n, q\)"):
        sc.calibration_test(predictions, y, views=[View("v", "any", FlatFeatures())])


def test_a_section_of_the_report_has_one_caller():
    """To add one, write it in `sections.py` and name it in `page.py`: no other module knows sections."""
    folder = Path(sc.report.__file__).parent
    assert {file.name for file in folder.glob("*.py") if "from .sections import" in file.read_text()} == {"page.py"}
