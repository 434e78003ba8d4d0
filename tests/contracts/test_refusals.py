"""What parts of a user's own give is checked where it is used: what is wrong is refused by name."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal.kernels.distances import Euclidean
from scorecal.views import View

K = sc.kernels
N, D, B = 40, 2, 19
MANY = 4200  # more rows than are computed at a time
RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=(MANY, D))
Y = MEAN + RNG.normal(size=(MANY, D))
GOOD = sc.Gaussian(MEAN[:N], 1.0)
BITS = RNG.integers(2, size=(N, B), dtype=np.uint8)
COVARIANCES = np.broadcast_to(np.eye(D), (N, D, D))


class Null:
    def __init__(self, give):
        self.give = give

    def distribution(self, averages, pairing, n_resamples, rng):
        return self.give(averages)


class Kernel:
    def __init__(self, give, bandwidth: Any = "median"):
        self.give, self.bandwidth, self.outer = give, bandwidth, "gaussian"

    def distance(self, predictions, reference, rng):
        return self.give(predictions)


def unchanged(i, j, squared):
    return squared


@dataclass(frozen=True)
class Gaps:
    """Squared distances between means, changed by a function of rows, columns and distances."""

    change: Any = unchanged
    n: Any = N
    floats_per_pair: Any = 3

    def pairs(self, i, j):
        return self.change(i, j, np.sum((MEAN[i] - MEAN[j]) ** 2, axis=-1))

    def block(self, rows, cols):
        i, j = np.arange(N)[rows, None], np.arange(N)[None, cols]
        return self.pairs(*np.broadcast_arrays(i, j))


class FlatBlocks(Gaps):
    def block(self, rows, cols):
        return super().block(rows, cols)[0]


class TablesOfPairs(Gaps):
    def pairs(self, i, j):
        return (
            super().pairs(*np.broadcast_arrays(np.asarray(i)[:, None], j)) if np.ndim(i) == 1 else super().pairs(i, j)
        )


class Bare:
    """Predictions with scores, and whatever else is given."""

    def __init__(self, **attributes):
        self.n, self.dim = N, D
        vars(self).update(attributes)

    def score(self, y):
        return MEAN[:N] - y


class Drawn(Bare):
    def sample(self, n_samples, rng=None):
        return MEAN[:N] + np.random.default_rng(rng).normal(size=(n_samples, N, D))

    def log_prob(self, y):
        return -0.5 * np.sum((y - MEAN[:N]) ** 2, axis=-1)


class Spread(Bare):
    def moments(self):
        return MEAN[:N], COVARIANCES


class Pairs(sc.estimators.Estimator):
    def __init__(self, give):
        self.give = give

    def pairing(self, n):
        return self.give(n)


class NoPairing(sc.estimators.Estimator):
    pass


class NoFunction(NoPairing):
    def pairing(self, n):
        return sc.estimators.Pairing(n, n, n)

    def apply(self, function, rng):
        pass


class Rows:
    """A kernel between predictions, from features, what is known of predictions, and rows."""

    def __init__(self, give, differs=True):
        self.give, self.found = give, differs

    def differs(self, frame):
        return self.found

    def combine(self, features, frame, coordinates, rows):
        return self.give(features, frame, rows)


class Framed:
    def __init__(self, give):
        self.give = give

    def frame_features(self, frame, rows):
        return self.give(frame, rows)


class Phi:
    """Test functions, by their features."""

    def __init__(self, give):
        self.give = give

    def features(self, targets, scores):
        return self.give(targets, scores)


def run(**options):
    return sc.kccsd_test(GOOD, Y[:N], n_resamples=B, rng=0, **options)


def null(give):
    return run(null=Null(give))


def draws(values):
    return null(lambda averages: replace(averages(None), null=values))


def kernel(give, **options):
    return run(distribution_kernel=Kernel(give, **options))


def gaps(change, **options):
    return kernel(lambda p: (Gaps(change), {}), **options)


def nan_in_row_3(i, j, squared):
    return np.where((i == 3) != (j == 3), np.nan, squared)


def view(target_kernel, between=None, n=N):
    views = [View("mine", "any", target_kernel, *([] if between is None else [between]))]
    return sc.calibration_test(sc.Gaussian(MEAN[:n], 1.0), Y[:n], views=views, n_resamples=B, rng=0)


combined, framed = partial(view, K.Constant()), lambda give, n=N: view(Framed(give), n=n)
pairs = lambda give: run(estimator=Pairs(give))  # noqa: E731
Pairing, Signs, pack = sc.estimators.Pairing, sc.nulls.Signs, np.packbits
NAN = np.full((1, B), np.nan)

# (what is wrong, the call, the kind of error, what it must name, words it must say)
BAD = [
    # signs and null distributions
    ("bits that are not packed", lambda: null(lambda a: a(Signs(BITS.astype(bool), B))), TypeError, "packed", "pack_signs"),
    ("bits packed row by row", lambda: null(lambda a: a(Signs(pack(BITS, axis=1), B))), TypeError, "packed", "(40, 3)"),
    ("rows padded to bytes", lambda: null(lambda a: a(Signs(pack(BITS, axis=1).ravel(), B))), ValueError, "packed", "95 bytes"),
    ("bits as floats", lambda: null(lambda a: a(Signs(1.0 * pack(BITS), B))), TypeError, "packed", "float64"),
    ("too few bits", lambda: null(lambda a: a(Signs(pack(BITS)[:-5], B))), ValueError, "packed", "90"),
    ("half a draw", lambda: Signs(pack(BITS), 1.5), ValueError, "n_resamples", "1.5"),
    ("signs of 0 and 1", lambda: sc.nulls.pack_signs(BITS), ValueError, "signs", "+1 and -1"),
    ("signs of one draw", lambda: sc.nulls.pack_signs([1, -1]), ValueError, "signs", "(2,)"),
    ("signs of other rows", lambda: null(lambda a: a(sc.nulls.pack_signs(np.ones((N - 9, B))))), ValueError, "packed", "40 rows"),
    ("normal multipliers", lambda: null(lambda a: a(RNG.normal(size=(N, B)))), TypeError, "averages", "nulls.Signs"),
    ("nothing from a null", lambda: null(lambda a: None), TypeError, "null", "NoneType"),
    ("draws alone", lambda: null(lambda a: np.zeros((1, B))), TypeError, "null", "replace(averages(None), null=draws)"),
    ("a statistic of one's own", lambda: null(lambda a: replace(a(None), null=np.zeros((1, B)), statistic=np.zeros(3))), ValueError, "null", "(3,)"),
    ("no contributions", lambda: null(lambda a: replace(a(None), null=np.zeros((1, B)), contributions=None)), ValueError, "null", "()"),
    ("complex features", lambda: run(target_kernel=Phi(lambda y, s: s * 1j)), TypeError, "features", "complex128"),
    ("complex features in a view", lambda: view(Phi(lambda y, s: s * 1j)), TypeError, "features", "complex128"),
    ("masked features", lambda: run(target_kernel=Phi(lambda y, s: np.ma.array(s, mask=s > 0))), TypeError, "features", "masked"),
    ("complex distances", lambda: gaps(lambda i, j, squared: squared * 1j), TypeError, "Gaps", "complex128"),
    ("no memory for a pair", lambda: kernel(lambda p: (Gaps(floats_per_pair=0), {})), ValueError, "Gaps.floats_per_pair", "0"),
    ("no columns", lambda: kernel(lambda p: (Euclidean(MEAN[:N, :0]), {})), ValueError, "Kernel.distance", "(40, 0)"),
    ("text as bandwidth", lambda: kernel(lambda p: (Euclidean(MEAN[:N]), {"ground": "b"})), TypeError, "Kernel.distance", "'b'"),
    ("no draws", lambda: null(lambda a: a(None)), ValueError, "null", "None"),
    ("too few draws", lambda: draws(np.zeros((1, 3))), ValueError, "null", "(1, 3)"),
    ("complex draws", lambda: draws(1j * np.ones((1, B))), ValueError, "null", "complex128"),
    ("text for draws", lambda: draws(np.full((1, B), "a")), ValueError, "null", "<U1"),
    ("draws of NaN", lambda: draws(NAN), ValueError, "null", "19 of the 19"),
    # kernels between predictions
    ("NaN features", lambda: kernel(lambda p: (Euclidean(np.where(MEAN[:N] > 1, np.nan, 0.0)), {})), ValueError, "Kernel.distance", "finite"),
    ("NaN distances", lambda: gaps(nan_in_row_3), ValueError, "Gaps.pairs", "nan"),
    ("NaN distances, known bandwidth", lambda: gaps(nan_in_row_3, bandwidth=1.0), ValueError, "Gaps.block", "nan"),
    ("negative distances", lambda: gaps(lambda i, j, squared: -squared, bandwidth=1.0), ValueError, "Gaps.block", "zero or more"),
    ("flat blocks", lambda: kernel(lambda p: (FlatBlocks(), {})), ValueError, "FlatBlocks.block", "(40,)"),
    ("a table for pairs", lambda: kernel(lambda p: (TablesOfPairs(), {})), ValueError, "TablesOfPairs.pairs", "(780,)"),
    ("other rows", lambda: kernel(lambda p: (Gaps(n=9), {})), ValueError, "Kernel.distance", "`n` is 9"),
    ("features of other rows", lambda: kernel(lambda p: (Euclidean(MEAN[:9]), {})), ValueError, "Kernel.distance", "(9, 2)"),
    ("flat features", lambda: kernel(lambda p: (Euclidean(MEAN[:N, 0]), {})), ValueError, "Kernel.distance", "(40,)"),
    ("an array for distances", lambda: kernel(lambda p: (np.zeros((N, N)), {})), TypeError, "Kernel.distance", "kernels.Euclidean"),
    ("an array alone", lambda: kernel(lambda p: np.zeros((N, N))), TypeError, "Kernel.distance", "dictionary"),
    ("no bandwidths", lambda: kernel(lambda p: Euclidean(MEAN[:N])), TypeError, "Kernel.distance", "Euclidean"),
    ("None for bandwidths", lambda: kernel(lambda p: (Euclidean(MEAN[:N]), None)), TypeError, "Kernel.distance", "dictionary"),
    ("unknown bandwidth", lambda: gaps(unchanged, bandwidth="med"), ValueError, "bandwidth", "'med'"),
    ("negative bandwidth", lambda: gaps(unchanged, bandwidth=-1), ValueError, "bandwidth", "-1"),
    ("bandwidth of no kind", lambda: gaps(unchanged, bandwidth=None), TypeError, "bandwidth", "None"),
    # estimators
    ("an array of pairs", lambda: pairs(lambda n: np.ones((n, n))), TypeError, "estimator", "ndarray"),
    ("pairing not defined", lambda: run(estimator=NoPairing()), TypeError, "estimator", "estimators.Pairing(n, reach, size)"),
    ("pairs of other rows", lambda: pairs(lambda n: Pairing(n - 5, n, n - 5)), ValueError, "estimator", "35 rows"),
    ("blocks of nothing", lambda: pairs(lambda n: Pairing(n, n, 0)), ValueError, "size", "0"),
    ("blocks of all and more", lambda: pairs(lambda n: Pairing(n, n, n + 1)), ValueError, "size", "41"),
    ("half a block", lambda: pairs(lambda n: Pairing(n, n, n / 2)), ValueError, "size", "20.0"),
    ("no reach", lambda: pairs(lambda n: Pairing(n, 0, n)), ValueError, "reach", "0"),
    ("nothing to average", lambda: run(estimator=NoFunction()), TypeError, "estimator", "apply(function, rng)"),
    # views
    ("flat products", lambda: combined(Rows(lambda f, frame, rows: f[:, 0])), ValueError, "combine", "view 'mine'"),
    ("products of all rows", lambda: combined(Rows(lambda f, frame, rows: frame.location), n=MANY), ValueError, "combine", "(4200, 2)"),
    ("products of all of few rows", lambda: combined(Rows(lambda f, frame, rows: frame.location)), ValueError, "combine", "(40, 2)"),
    ("no products", lambda: combined(Rows(lambda f, frame, rows: None)), ValueError, "combine", "NoneType"),
    ("NaN products", lambda: combined(Rows(lambda f, frame, rows: f * np.nan)), ValueError, "combine", "view 'mine'"),
    ("NaN products, later", lambda: combined(Rows(lambda f, frame, rows: np.where(rows.start + np.arange(len(f))[:, None] == 4160, np.nan, f)), n=MANY), ValueError, "combine", "row 4096"),
    ("flat features of a frame", lambda: framed(lambda frame, rows: frame.targets[0, rows, 0]), ValueError, "frame_features", "view 'mine'"),
    ("features of all rows", lambda: framed(lambda frame, rows: frame.targets[0], MANY), ValueError, "frame_features", "(4200, 2)"),
    ("features of all of few rows", lambda: framed(lambda frame, rows: frame.targets[0]), ValueError, "frame_features", "(40, 2)"),
    ("features as a list", lambda: framed(lambda frame, rows: frame.targets[0, rows].tolist()), ValueError, "frame_features", "list"),
    ("features of another library", lambda: framed(lambda frame, rows: torch.tensor(frame.targets[0, rows])), ValueError, "frame_features", "torch"),
    ("no feature", lambda: framed(lambda frame, rows: frame.targets[0, rows, :0]), ValueError, "frame_features", "(1, 0)"),
    ("NaN features of a frame", lambda: framed(lambda frame, rows: np.nan * frame.targets[0, rows]), ValueError, "frame_features", "finite"),
    ("NaN features of a test function", lambda: run(target_kernel=Phi(lambda y, s: s * np.nan)), ValueError, "features(targets, scores)`", "of `target_kernel`"),
    ("NaN features in a view", lambda: view(Phi(lambda y, s: s * np.nan)), ValueError, "features(targets, scores)`", "of view 'mine'"),
    ("flat features in a view of pairs", lambda: view(Phi(lambda y, s: s[:, 0]), K.GFD()), ValueError, "features(targets, scores)`", "of view 'mine'"),
    ("no difference", lambda: combined(Rows(lambda f, frame, rows: f, differs=False)), ValueError, "views", "`differs(frame)` is False"),
    ("not said to be separable", lambda: View("v", "any", Phi(None), coordinates="marginal"), ValueError, "separable = True", "Marginal"),
    # draws that are missing
    ("draws of two bare batches", lambda: sc.mmd(Bare(), Bare()), TypeError, "sample(n_samples, rng)", "missing from Bare."),
    ("draws of one of two", lambda: sc.mmd(GOOD, Bare()), TypeError, "sample(n_samples, rng)", "missing from Bare."),
    ("draws of two with moments", lambda: sc.mmd(Spread(), Spread()), TypeError, "sample(n_samples, rng)", "missing from Spread."),
    ("draws of two kinds", lambda: sc.wasserstein(Bare(), Spread()), TypeError, "sample(n_samples, rng)", "missing from Bare and Spread."),
    ("draws, mapped", lambda: sc.kccsd_test(Bare(), Y[:N], distribution_kernel=K.MMD(), coordinates=sc.coordinates.whiten()),
     TypeError, "sample(n_samples, rng)", "missing from Bare."),
    ("draws for the SKCE", lambda: sc.skce_test(Bare(), Y[:N]), TypeError, "predictions", "sampler=MALA()"),
    ("a base to match", lambda: sc.kgfd(Bare(), Bare(), base="match"), TypeError, 'base="match"', "missing from Bare."),
    # classes and names
    ("class of a test function", lambda: View("v", "any", Phi), TypeError, "target_kernel", "write `Phi()`"),
    ("class of a row kernel", lambda: View("v", "any", K.Constant(), Rows), TypeError, "distribution_kernel", "write `Rows()`"),
    ("class of a radial kernel", lambda: sc.skce_test(GOOD, Y[:N], target_kernel=K.IMQ), TypeError, "target_kernel", "write `IMQ()`"),
    ("class of a null", lambda: run(null=sc.nulls.RandomSigns), TypeError, "null", "write `RandomSigns()`"),
    ("class of an estimator", lambda: run(estimator=sc.estimators.Block), TypeError, "estimator", "write `Block()`"),
    ("unknown null", lambda: run(null="bootstrap"), ValueError, "null", "'auto', 'signs', 'simulate', 'student-t'"),
    ("null of no kind", lambda: run(null=3), TypeError, "null", "distribution(averages, pairing, n_resamples, rng)"),
    ("unknown estimator", lambda: run(estimator="all"), ValueError, "estimator", "'complete'"),
    ("estimator of no kind", lambda: run(estimator=3), TypeError, "estimator", "pairing(n)"),
    ("a function for a kernel", lambda: run(target_kernel=lambda a, b: a), TypeError, "target_kernel", "features(targets, scores)"),
    ("no random features", lambda: run(distribution_kernel=K.Operator([(K.GFD(), np.eye(2))]), estimator="low-rank"), TypeError, "estimator", "operator-valued"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "argument", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_parts_are_refused_by_name(call, error, argument, words):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert f"`{argument}" in message
    assert words in message
    assert "``" not in message
    assert "overflow" not in message


BOX = sc.coordinates.Box
ODD = [
    ("a tuple for the support", {"support": (0, 1)}, TypeError, "`support`"),
    ("text for the support", {"support": "positive"}, TypeError, "`support`"),
    ("a class for the support", {"support": BOX}, TypeError, "`support`"),
    ("a prior of three rows", {"prior": sc.Gaussian(MEAN[:3], 1.0)}, ValueError, "`prior`"),
    ("a prior of one dimension", {"prior": sc.Gaussian([[0.0]], 1.0)}, ValueError, "`prior`"),
    ("a prior without draws", {"prior": "normal"}, ValueError, "`prior`"),
    ("a float for n", {"n": float(N)}, ValueError, ".n`"),
    ("a function for n", {"n": lambda: N}, ValueError, ".n`"),
    ("a float for dim", {"dim": 2.0}, ValueError, ".dim`"),
]
EVERYWHERE = {
    "kccsd_test": lambda p: sc.kccsd_test(p, Y[:N], rng=0),
    "whitened": lambda p: sc.kccsd_test(p, Y[:N], coordinates=sc.coordinates.whiten(), rng=0),
    "standardised": lambda p: sc.kccsd_test(p, Y[:N], coordinates=sc.coordinates.standardise("prior"), rng=0),
    "calibration_test": lambda p: sc.calibration_test(p, Y[:N], rng=0),
    "diagnose": lambda p: sc.diagnose(p, Y[:N], rng=0),
    "skce_test": lambda p: sc.skce_test(p, Y[:N], rng=0),
    "kcsd_test": lambda p: sc.kcsd_test(p, Y[:N], Y[:N], rng=0),
    "ksd_test": lambda p: sc.ksd_test(p, Y[:N], rng=0),
    "expected_coverage": lambda p: sc.expected_coverage(p, Y[:N], n_samples=9, rng=0),
    "gfd": lambda p: sc.gfd(GOOD, p),
    "mmd": lambda p: sc.mmd(p, GOOD),
    "fisher_divergence": lambda p: sc.fisher_divergence(p, p, n_samples=3),
    "gram_matrix": lambda p: sc.gram_matrix(K.GFD(), p),
    "plot_witness": lambda p: sc.plots.plot_witness(p, Y[:N]),
    "MALA": lambda p: sc.MALA(n_warmup=1).draw(p, 1, rng=0),
}


@pytest.mark.parametrize(("attributes", "error", "name"), [row[1:] for row in ODD], ids=[row[0] for row in ODD])
@pytest.mark.parametrize("call", EVERYWHERE.values(), ids=EVERYWHERE.keys())
def test_predictions_are_refused_by_every_function(call, attributes, error, name):
    with pytest.raises(error, match=name):
        call(Drawn(**attributes))


class Positive(Drawn):
    """Exponential predictions on the half-line, with a support of torch."""

    def __init__(self, support):
        super().__init__(support=support)

    def score(self, y):
        return np.exp(MEAN[:N]) / 2.0 / np.sqrt(y) - 1.0

    def sample(self, n_samples, rng=None):
        return np.random.default_rng(rng).gamma(3.0, size=(n_samples, N, D))


def test_a_constraint_of_torch_is_a_support_everywhere():
    y = np.exp(Y[:N])
    for test in (sc.kccsd_test, sc.skce_test, sc.calibration_test):
        found, same = (
            test(Positive(support), y, n_resamples=B, rng=0)
            for support in (torch.distributions.constraints.positive, BOX(0.0))
        )
        assert found.pvalue == same.pvalue
        assert found.statistic == same.statistic


FINE_KERNELS = {
    "test": lambda kernel, p: sc.kccsd_test(p, Y[:N], distribution_kernel=kernel, n_resamples=B, rng=0).statistic,
    "skce": lambda kernel, p: sc.skce_test(p, Y[:N], distribution_kernel=kernel, n_resamples=B, rng=0).statistic,
    "view": lambda kernel, p: (
        sc.calibration_test(
            p, Y[:N], views=[View("v", "any", K.Gaussian(), kernel, coordinates="natural")], n_resamples=B, rng=0
        ).statistic
    ),
    "gram": lambda kernel, p: sc.gram_matrix(kernel, p),
}


@pytest.mark.parametrize("call", FINE_KERNELS.values(), ids=FINE_KERNELS.keys())
def test_every_function_checks_kernels(call):
    found = call(Kernel(lambda p: (Gaps(), {})), GOOD)
    np.testing.assert_allclose(found, call(Kernel(lambda p: (Euclidean(p.mean), {})), GOOD), rtol=1e-9)
    for error, words, wrong in (
        (ValueError, "'med'", Kernel(lambda p: (Gaps(), {}), bandwidth="med")),
        (TypeError, r"`Kernel.distance\(", Kernel(lambda p: (MEAN[:N], {}))),
        (ValueError, r"`Gaps.block\(", Kernel(lambda p: (Gaps(nan_in_row_3), {}), bandwidth=1.0)),
    ):
        with pytest.raises(error, match=words):
            call(wrong, GOOD)


def test_distances_of_numpy_serve_targets_of_torch():
    predictions, y = sc.Gaussian(torch.tensor(MEAN[:N]), 1.0), torch.tensor(Y[:N])
    found = sc.kccsd_test(predictions, y, distribution_kernel=Kernel(lambda p: (Gaps(), {})), n_resamples=B, rng=0)
    assert found.statistic == pytest.approx(kernel(lambda p: (Gaps(), {})).statistic, rel=1e-9)


def test_values_are_not_looked_at_while_jax_traces():
    nothing = Kernel(lambda p: (Euclidean(p.mean + np.nan), {}))
    value = jax.jit(lambda mean, y: sc.kccsd(sc.Gaussian(mean, 1.0), y, distribution_kernel=nothing))(MEAN[:N], Y[:N])
    assert np.isnan(value)
    flat = Kernel(lambda p: (Gaps(lambda i, j, squared: np.nan * squared), {}), bandwidth=1.0)
    value = jax.jit(lambda mean, y: sc.kccsd(sc.Gaussian(mean, 1.0), y, distribution_kernel=flat))(MEAN[:N], Y[:N])
    assert np.isnan(value)


def test_packed_signs():
    """Both ways of packing the same signs give the same draws."""
    one, other = (
        null(lambda averages, signs=signs: averages(signs))
        for signs in (Signs(pack(BITS), B), sc.nulls.pack_signs(2.0 * BITS - 1.0))
    )
    np.testing.assert_array_equal(one.null_distribution, other.null_distribution)


def test_an_estimator_without_a_null_has_random_signs():
    class Own(NoPairing):
        def pairing(self, n):
            return Pairing(n, n, n)

        def null(self):
            return None

    np.testing.assert_array_equal(run(estimator=Own()).null_distribution, run().null_distribution)


def test_names_of_nulls_and_kernels():
    by_name, by_value = (run(estimator="block", null=null) for null in ("student-t", sc.nulls.StudentT()))
    np.testing.assert_array_equal(by_name.null_distribution, by_value.null_distribution)
    assert K.Euclidean is Euclidean
    assert hasattr(K.Distance, "block")
