"""Bad input is answered by an error that names the argument; odd but sound input works. One table for each."""

import warnings

import jax
import numpy as np
import pytest
import torch
from scipy import stats

import scorecal as sc

K = sc.kernels
RNG = np.random.default_rng(0)
N, D = 12, 2
MEAN = RNG.normal(size=(N, D))
Y = MEAN + RNG.normal(size=(N, D))
SCORES = MEAN - Y
POINTS = RNG.normal(size=(4, D))
AT_BASE = MEAN[:, None, :] - POINTS
GOOD = sc.Gaussian(MEAN, 1.0)
EYE = np.eye(D)


LOW_RANK = (lambda root: root @ np.swapaxes(root, 1, 2))(RNG.normal(size=(N, 3, 2)))


class Sampler:
    """Predictions with a sampler of one's own."""

    n, dim = N, D

    def __init__(self, sample):
        self.sample = lambda n_samples, rng: sample(n_samples)

    def score(self, y):
        return MEAN - y


def with_(array, value, at=(0, 0)):
    changed = np.array(array)
    changed[at] = value
    return changed


def run(predictions=GOOD, y=Y, **options):
    options = {"n_resamples": 9, "precision": "full", **options}
    return sc.kccsd_test(predictions, y, rng=0, **options)


# (what is wrong, the call, the kind of error, the argument it must name, words it must say)
BAD = [
    # values
    ("NaN target", lambda: run(y=with_(Y, np.nan)), ValueError, "y", "index (0, 0), is nan"),
    ("infinite target", lambda: run(y=with_(Y, np.inf, (3, 1))), ValueError, "y", "index (3, 1), is inf"),
    ("NaN mean", lambda: sc.Gaussian(with_(MEAN, np.nan), 1.0), ValueError, "mean", "finite"),
    ("infinite scale", lambda: sc.Gaussian(MEAN, np.inf), ValueError, "scale", "finite"),
    ("NaN covariance", lambda: sc.Gaussian(MEAN, covariance=EYE * np.nan), ValueError, "covariance", "finite"),
    ("NaN weights", lambda: sc.GaussianMixture([[np.nan, 1]], [[[0.0], [1.0]]], [[1, 1]]), ValueError, "weights", "finite"),
    ("NaN scores", lambda: sc.Scores(with_(SCORES, np.nan)), ValueError, "at_targets", "finite"),
    ("NaN base scores", lambda: sc.Scores(SCORES, AT_BASE * np.nan), ValueError, "at_base", "finite"),
    ("NaN base points", lambda: sc.Scores(SCORES, AT_BASE, POINTS * np.nan), ValueError, "base_points", "finite"),
    ("NaN from the score", lambda: run(sc.ScoreFunction(lambda y: y * np.nan, N, D)), ValueError, "predictions.score", "support"),
    ("NaN in base", lambda: K.GFD(base=POINTS * np.nan), ValueError, "base", "finite"),
    ("zero scores", lambda: run(sc.Scores(0 * SCORES, AT_BASE)), ValueError, "predictions.score", "zero everywhere"),
    ("float32 overflow", lambda: run(sc.Scores(np.float32(1e30) * SCORES.astype("f4"), AT_BASE.astype("f4")), Y.astype("f4")),
     ValueError, "y", "overflow"),
    # sizes
    ("one target", lambda: run(sc.Gaussian(MEAN[:1], 1.0), Y[:1]), ValueError, "y", "at least 2"),
    ("empty targets", lambda: run(y=Y[:0]), ValueError, "y", "(0, 2)"),
    ("empty predictions", lambda: sc.Gaussian(MEAN[:0], 1.0), ValueError, "mean", "(0, 2)"),
    ("no dimension", lambda: sc.Gaussian(MEAN[:, :0], 1.0), ValueError, "mean", "(12, 0)"),
    ("fewer targets", lambda: run(y=Y[:5]), ValueError, "y", "(5, 2)"),
    ("flat targets", lambda: run(y=Y[:, 0]), ValueError, "y", "(12,)"),
    ("deep targets", lambda: run(y=Y[None]), ValueError, "y", "(1, 12, 2)"),
    ("number for targets", lambda: run(y=1.0), ValueError, "y", "()"),
    ("deep means", lambda: sc.Gaussian(MEAN[None], 1.0), ValueError, "mean", "(1, 12, 2)"),
    ("short scales", lambda: sc.Gaussian(MEAN, np.ones(5)), ValueError, "scale", "(5,)"),
    ("scale per dimension", lambda: sc.Gaussian(MEAN, np.ones(D)), ValueError, "scale", "(12, 2)"),
    ("small covariance", lambda: sc.Gaussian(MEAN, covariance=np.eye(3)), ValueError, "covariance", "(3, 3)"),
    ("means of a mixture", lambda: sc.GaussianMixture([1.0], [0.0], [1.0]), ValueError, "means", "(1,)"),
    ("weights of a mixture", lambda: sc.GaussianMixture([[1.0]], [[[0.0], [1.0]]], [[1.0, 1.0]]), ValueError, "weights", "(1, 1)"),
    ("scales of a mixture", lambda: sc.GaussianMixture([[0.5, 0.5]], [[[0.0], [1.0]]], [[1.0]]), ValueError, "scales", "(1, 1)"),
    ("scores of 3 axes", lambda: sc.Scores(AT_BASE), ValueError, "at_targets", "(12, 4, 2)"),
    ("base scores", lambda: sc.Scores(SCORES, AT_BASE[:5]), ValueError, "at_base", "(5, 4, 2)"),
    ("base points", lambda: sc.Scores(SCORES, AT_BASE, POINTS[:, :1]), ValueError, "base_points", "(4, 1)"),
    ("number of base points", lambda: sc.Scores(SCORES, AT_BASE, POINTS[:3]), ValueError, "base_points", "3"),
    ("points without scores", lambda: sc.Scores(SCORES, base_points=POINTS), ValueError, "base_points", "at_base"),
    ("shape of the score", lambda: run(sc.ScoreFunction(lambda y: y[:3], N, D)), ValueError, "predictions.score", "(3, 2)"),
    ("base of three rows", lambda: K.GFD(base=sc.Gaussian(MEAN[:3], 1.0)), ValueError, "base", "3 rows"),
    ("dimension of the base", lambda: run(distribution_kernel=K.GFD(base=np.ones((3, 5)))), ValueError, "base", "dimension 5"),
    ("dimension of a base measure", lambda: run(distribution_kernel=K.GFD(base=sc.Gaussian([[0.0]], 1.0))), ValueError, "base", "dimension 1"),
    ("ragged list", lambda: run(y=[[1.0, 2.0], [3.0]]), ValueError, "y", "rectangular"),
    # ranges
    ("zero scale", lambda: sc.Gaussian(MEAN, with_(np.ones(N), 0.0, 3)), ValueError, "scale", "positive"),
    ("negative scale", lambda: sc.Gaussian(MEAN, -1.0), ValueError, "scale", "-1"),
    ("scale whose square is zero", lambda: sc.Gaussian(MEAN, 1e-200), ValueError, "scale", "squared"),
    ("scale whose square is infinite", lambda: sc.Gaussian(MEAN.astype(np.float32), np.float32(1e30)), ValueError, "scale", "squared"),
    ("scores that overflow", lambda: sc.calibration_test(sc.Gaussian(MEAN - 1e308, 0.1), MEAN), ValueError, "predictions.score(y)", "finite"),
    ("means whose squares overflow", lambda: sc.calibration_test(sc.Gaussian(with_(MEAN, 1e200, (0, 0)), 1.0), MEAN + 1.0), ValueError, "predictions.moments()", "missing value"),
    ("targets whose squares overflow", lambda: sc.calibration_test(sc.Gaussian(MEAN, 1.0), with_(MEAN + 1.0, -1e308, (3, 0))), ValueError, "y", "row 3 is [-1.00"),
    ("both spreads", lambda: sc.Gaussian(MEAN, 1.0, covariance=EYE), ValueError, "scale", "not both"),
    ("no spread", lambda: sc.Gaussian(MEAN), ValueError, "covariance", "either"),
    ("asymmetric covariance", lambda: sc.Gaussian(MEAN, covariance=with_(EYE, 0.5, (0, 1))), ValueError, "covariance", "symmetric"),
    ("indefinite covariance", lambda: sc.Gaussian(MEAN, covariance=-EYE), ValueError, "covariance", "positive definite"),
    ("singular covariance", lambda: sc.Gaussian(MEAN, covariance=np.ones((2, 2))), ValueError, "covariance", "positive definite"),
    ("covariance singular but for rounding", lambda: sc.Gaussian(MEAN, covariance=np.outer([0.75, 1.25], [0.75, 1.25])), ValueError, "covariance", "positive definite"),
    ("indefinite covariance, torch", lambda: sc.Gaussian(torch.tensor(MEAN), covariance=torch.tensor(-EYE)), ValueError, "covariance", "positive definite"),
    ("indefinite covariance, JAX", lambda: sc.Gaussian(jax.numpy.asarray(MEAN), covariance=jax.numpy.asarray(-EYE)), ValueError, "covariance", "positive definite"),
    ("weights that sum to 2", lambda: sc.GaussianMixture([[1.0, 1.0]], [[[0.0], [1.0]]], [[1.0, 1.0]]), ValueError, "weights", "sums to 2"),
    ("negative weight", lambda: sc.GaussianMixture([[-0.5, 1.5]], [[[0.0], [1.0]]], [[1.0, 1.0]]), ValueError, "weights", "-0.5"),
    ("zero mixture scale", lambda: sc.GaussianMixture([[0.5, 0.5]], [[[0.0], [1.0]]], [[0.0, 1.0]]), ValueError, "scales", "positive"),
    ("zero bandwidth", lambda: K.Gaussian(0.0), ValueError, "bandwidth", "positive"),
    ("NaN bandwidth", lambda: K.IMQ(float("nan")), ValueError, "bandwidth", "nan"),
    ("infinite bandwidth", lambda: K.GFD(bandwidth=float("inf")), ValueError, "bandwidth", "inf"),
    ("unknown bandwidth", lambda: K.Wasserstein("mean"), ValueError, "bandwidth", "'mean'"),
    ("bandwidth of no kind", lambda: K.MMD(bandwidth=None), TypeError, "bandwidth", "None"),
    ("IMQ offset", lambda: K.IMQ(c=0.0), ValueError, "c", "positive"),
    ("IMQ exponent", lambda: K.IMQ(beta=0.5), ValueError, "beta", "negative"),
    ("unknown outer", lambda: K.GFD(outer="cubic"), ValueError, "outer", "'cubic'"),
    ("unknown base", lambda: K.GFD(base="prior"), ValueError, "base", "'prior'"),
    ("no base point", lambda: K.GFD(n_base=0), ValueError, "n_base", "0"),
    ("half a base point", lambda: K.KGFD(n_base=1.5), ValueError, "n_base", "1.5"),
    ("points and a number", lambda: K.GFD(base=POINTS, n_base=3), ValueError, "n_base", "must be None"),
    ("flat base", lambda: K.GFD(base=POINTS[0]), ValueError, "base", "(2,)"),
    ("negative samples", lambda: K.MMD(n_samples=-1), ValueError, "n_samples", "-1"),
    ("no resample", lambda: run(n_resamples=0), ValueError, "n_resamples", "0"),
    ("float resamples", lambda: run(n_resamples=99.0), ValueError, "n_resamples", "99.0"),
    ("true resamples", lambda: run(n_resamples=True), ValueError, "n_resamples", "True"),
    ("alpha", lambda: run().rejects(5), ValueError, "alpha", "5"),
    ("unknown model shift", lambda: sc.experiments.mgm(5, 0.1, c="last"), ValueError, "c", "'last'"),
    # types
    ("complex targets", lambda: run(y=Y + 0j), TypeError, "y", "complex128"),
    ("text targets", lambda: run(y=np.full((N, D), "a")), TypeError, "y", "dtype"),
    ("text in a list", lambda: run(y=[["a", "b"]] * N), TypeError, "y", "Text"),
    ("missing targets", lambda: run(y=[[None, 1.0]] * N), TypeError, "y", "object"),
    ("boolean targets", lambda: run(y=Y > 0), TypeError, "y", "bool"),
    ("masked targets", lambda: run(y=np.ma.masked_greater(Y, 0)), TypeError, "y", "masked"),
    ("complex means", lambda: sc.Gaussian(MEAN + 0j, 1.0), TypeError, "mean", "complex128"),
    ("torch and NumPy", lambda: run(y=torch.tensor(Y)), TypeError, "predictions", "torch"),
    ("torch and JAX", lambda: sc.Gaussian(torch.tensor(MEAN), jax.numpy.ones(N)), TypeError, "scale", "jax"),
    ("two devices", lambda: sc.Gaussian(torch.tensor(MEAN), torch.ones(N, device="meta")), TypeError, "scale", "meta"),
    ("NumPy base, torch predictions", lambda: run(sc.Gaussian(torch.tensor(MEAN), 1.0), torch.tensor(Y), distribution_kernel=K.GFD(base=POINTS)),
     TypeError, "base", "one library"),
    ("score of another library", lambda: run(sc.ScoreFunction(torch.tensor, N, D)), TypeError, "predictions.score", "same library"),
    ("score that is a list", lambda: run(sc.ScoreFunction(lambda y: y.tolist(), N, D)), TypeError, "predictions.score", "list"),
    ("score of integers", lambda: run(sc.ScoreFunction(lambda y: np.ones((N, D), int), N, D)), TypeError, "predictions.score", "int64"),
    ("no score function", lambda: sc.ScoreFunction(1.0, N, D), TypeError, "score", "float"),
    ("no n", lambda: sc.ScoreFunction(lambda y: y, 2.0, D), ValueError, "n", "2.0"),
    ("array for predictions", lambda: run(MEAN), TypeError, "predictions", "ndarray"),
    ("class for target kernel", lambda: run(target_kernel="gaussian"), TypeError, "target_kernel", "'gaussian'"),
    ("distribution kernel on targets", lambda: run(target_kernel=K.GFD()), TypeError, "target_kernel", "GFD"),
    ("target kernel on predictions", lambda: run(distribution_kernel=K.Gaussian()), TypeError, "distribution_kernel", "Gaussian"),
    ("class instead of kernel", lambda: run(distribution_kernel=K.GFD), TypeError, "distribution_kernel", "GFD"),
    ("ground kernel", lambda: K.KGFD(ground=2.0), TypeError, "ground", "float"),
    ("coordinates", lambda: run(coordinates="white"), TypeError, "coordinates", "'white'"),
    ("shape from coordinates", lambda: run(coordinates=lambda p, y: (p, y[:3], y)), ValueError, "coordinates", "(3, 2)"),
    ("NaN from coordinates", lambda: run(coordinates=lambda p, y: (p, y * np.nan, y)), ValueError, "coordinates", "nan"),
    ("text for rng", lambda: sc.kccsd_test(GOOD, Y, rng="a"), TypeError, "rng", "'a'"),
    ("negative rng", lambda: sc.kccsd_test(GOOD, Y, rng=-1), ValueError, "rng", "-1"),
    ("text for alpha", lambda: run().rejects("a"), ValueError, "alpha", "'a'"),
    ("half a row", lambda: sc.experiments.mgm(2.5, 0.1), ValueError, "n", "2.5"),
    ("negative degree", lambda: sc.experiments.hgm(5, -1.0), ValueError, "delta", "-1.0"),
    ("no scores", lambda: sc.Scores(None), TypeError, "at_targets", "None"),
    ("no projections", lambda: K.Wasserstein(n_samples=3, n_projections=None), ValueError, "n_projections", "None"),
    ("huge bandwidth", lambda: K.KGFD(K.Gaussian(1e200)), ValueError, "bandwidth", "1e+200"),
    ("tiny bandwidth", lambda: K.MMD(bandwidth=1e-200), ValueError, "bandwidth", "1e-200"),
    ("huge offset", lambda: K.IMQ(c=1e200), ValueError, "c", "1e+200"),
    ("bandwidth beyond float32", lambda: run(sc.Gaussian(MEAN.astype("f4"), 1.0), Y.astype("f4"), target_kernel=K.Gaussian(1e30)), ValueError, "bandwidth", "float32"),
    ("units beyond float32", lambda: run(sc.Scores(SCORES.astype("f4"), AT_BASE.astype("f4")), 1e25 * Y.astype("f4")), ValueError, "bandwidth", "units"),
    ("units below float32", lambda: run(sc.Scores(SCORES.astype("f4"), AT_BASE.astype("f4")), 1e-25 * Y.astype("f4")), ValueError, "bandwidth", "units"),
    ("zero base scores", lambda: sc.Scores(SCORES, 0 * AT_BASE), ValueError, "at_base", "zero everywhere"),
    ("covariance of low rank", lambda: sc.Gaussian(np.zeros((N, 3)), covariance=LOW_RANK), ValueError, "covariance", "positive definite"),
    ("sampler of a wrong shape", lambda: run(Sampler(lambda m: np.zeros((m, 3))), distribution_kernel=K.MMD(K.Gaussian(1.0))), ValueError, "predictions.sample", "(10, 12, 2)"),
    ("sampler of NaN", lambda: run(Sampler(lambda m: np.full((m, N, D), np.nan)), distribution_kernel=K.MMD(K.Gaussian(1.0))), ValueError, "predictions.sample", "finite"),
    # what a prediction cannot do
    ("scores without base", lambda: run(sc.Scores(SCORES)), ValueError, "at_base", "base_points"),
    ("KGFD without points", lambda: run(sc.Scores(SCORES, AT_BASE), distribution_kernel=K.KGFD()), ValueError, "base_points", "KGFD"),
    ("other base points", lambda: run(sc.Scores(SCORES, AT_BASE, POINTS), distribution_kernel=K.GFD(base=POINTS + 1)), ValueError, "Scores", "base"),
    ("new base points", lambda: run(sc.Scores(SCORES, AT_BASE, POINTS), distribution_kernel=K.GFD(n_base=5)), ValueError, "n_base", "own"),
    ("samples from scores", lambda: run(sc.Scores(SCORES, AT_BASE), distribution_kernel=K.MMD()), TypeError, "predictions", "GFD"),
    ("match without moments", lambda: run(sc.Scores(SCORES, AT_BASE), distribution_kernel=K.GFD(base="match")), TypeError, "base", "moments"),
    ("Wasserstein, full", lambda: run(sc.Gaussian(MEAN, covariance=EYE), distribution_kernel=K.Wasserstein()), ValueError, "Wasserstein(n_samples", "Hilbertian"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "argument", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_input_is_named(call, error, argument, words):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert f"`{argument}" in message
    assert words in message


ONE_D = MEAN[:, 0]
FROZEN = np.array(Y)
FROZEN.flags.writeable = False
MIXTURE = sc.GaussianMixture([[0.5, 0.5]] * N, [[0.0, 1.0]] * N, [[1.0, 2.0]] * N)

FLAT, EVERY_OTHER = np.zeros((N, D)), (slice(None, None, 2), slice(None, None, -1))
LATE = with_(FLAT, 2.0)


def rounded(array, dtype):
    """What is left of an array in fewer digits, in double precision again."""
    return np.asarray(torch.tensor(array).to(dtype).double())


def gap(points):
    """The median distance between two of the points (n, d)."""
    i, j = np.triu_indices(len(points), 1)
    return np.median(np.linalg.norm(points[i] - points[j], axis=1))


def line_mixture_score(y):
    """Of .5 N(0, 1) + .5 N(1, 2^2), from its densities."""
    one, two = stats.norm.pdf(y, 0.0, 1.0), stats.norm.pdf(y, 1.0, 2.0)
    return (-y * one - (y - 1.0) / 4.0 * two) / (one + two) + np.zeros((N, 1))


F4, F2, B2 = torch.float32, torch.float16, torch.bfloat16
T = torch.tensor

# (what is odd, the call, the same said plainly, how closely the two agree)
FINE = [
    ("lists", lambda: run(sc.Gaussian(MEAN.tolist(), [1.0] * N), Y.tolist()), lambda: run(), 1e-12),
    ("integers", lambda: run(sc.Gaussian(np.arange(N), 1), np.arange(N)[::-1]),
     lambda: run(sc.Gaussian(np.arange(12.0)[:, None], 1.0), np.arange(12.0)[::-1, None]), 1e-12),
    ("one-dimensional means and targets", lambda: run(sc.Gaussian(ONE_D, 1.0), Y[:, 0]),
     lambda: run(sc.Gaussian(MEAN[:, :1], 1.0), Y[:, :1]), 1e-12),
    ("one-dimensional means, two-dimensional targets", lambda: run(sc.Gaussian(ONE_D, 1.0), Y[:, :1]),
     lambda: run(sc.Gaussian(MEAN[:, :1], 1.0), Y[:, :1]), 1e-12),
    ("read-only arrays", lambda: run(sc.Gaussian(FROZEN, 1.0), FROZEN + 1.0), lambda: run(sc.Gaussian(Y, 1.0), Y + 1.0), 1e-12),
    ("read-only targets", lambda: run(y=FROZEN), lambda: run(), 1e-12),
    ("strided arrays", lambda: run(sc.Gaussian(MEAN[EVERY_OTHER], 1.0), Y[EVERY_OTHER]),
     lambda: run(sc.Gaussian(MEAN[EVERY_OTHER].copy(), 1.0), Y[EVERY_OTHER].copy()), 1e-12),
    ("float32", lambda: run(sc.Gaussian(MEAN.astype("f4"), 1.0), Y.astype("f4")),
     lambda: run(sc.Gaussian(rounded(MEAN, F4), 1.0), rounded(Y, F4)), 1e-5),
    ("float16", lambda: run(sc.Gaussian(MEAN.astype("f2"), 1.0), Y.astype("f2")),
     lambda: run(sc.Gaussian(rounded(MEAN, F2), 1.0), rounded(Y, F2)), 1e-5),
    ("float32 predictions, float64 targets", lambda: run(sc.Gaussian(MEAN.astype("f4"), 1.0), Y),
     lambda: run(sc.Gaussian(rounded(MEAN, F4), 1.0), Y), 1e-12),
    ("float64 predictions, float32 targets", lambda: run(y=Y.astype("f4")), lambda: run(y=rounded(Y, F4)), 1e-12),
    ("bfloat16 in torch", lambda: run(sc.Gaussian(T(MEAN).bfloat16(), 1.0), T(Y).bfloat16()),
     lambda: run(sc.Gaussian(rounded(MEAN, B2), 1.0), rounded(Y, B2)), 1e-5),
    ("torch with gradients", lambda: run(sc.Gaussian(T(MEAN, requires_grad=True), 1.0), T(Y)), lambda: run(), 1e-12),
    ("torch predictions, list of targets", lambda: run(sc.Gaussian(T(MEAN), 1.0), Y.tolist()), lambda: run(), 1e-12),
    ("identical predictions", lambda: run(sc.Gaussian(FLAT, 1.0)),
     lambda: run(sc.Gaussian(FLAT, 1.0), distribution_kernel=K.Constant()), 1e-12),
    ("mostly identical predictions", lambda: run(sc.Gaussian(LATE, 1.0)),
     lambda: run(sc.Gaussian(LATE, 1.0), distribution_kernel=K.GFD(bandwidth=2.0)), 1e-12),
    ("two predictions", lambda: run(sc.Gaussian(MEAN[:2], 1.0), Y[:2]),
     lambda: run(sc.Gaussian(MEAN[:2], 1.0), Y[:2], target_kernel=K.Gaussian(gap(Y[:2])), distribution_kernel=K.GFD(bandwidth=gap(MEAN[:2]))), 1e-12),
    ("two identical rows", lambda: run(sc.Gaussian(np.zeros(2), 1.0), [0.1, 0.2]),
     lambda: run(sc.Gaussian(np.zeros(2), 1.0), [0.1, 0.2], target_kernel=K.Gaussian(0.1), distribution_kernel=K.Constant()), 1e-12),
    ("duplicated targets", lambda: run(y=with_(Y, Y[1], 0)),
     lambda: run(y=with_(Y, Y[1], 0), target_kernel=K.Gaussian(gap(with_(Y, Y[1], 0)))), 1e-12),
    ("a shared covariance", lambda: run(sc.Gaussian(MEAN, covariance=EYE)), lambda: run(), 1e-9),
    ("a mixture on the line", lambda: run(MIXTURE, Y[:, 0]), lambda: run(sc.ScoreFunction(line_mixture_score, N, 1), Y[:, :1]), 1e-9),
    ("a mixture with an empty component", lambda: run(sc.GaussianMixture([[0, 1]] * N, MEAN[:, None, :] + np.zeros((N, 2, D)), np.ones((N, 2)))),
     lambda: run(sc.ScoreFunction(lambda y: MEAN - y, N, D)), 1e-9),
    ("NumPy integers as options", lambda: run(n_resamples=np.int64(9), distribution_kernel=K.GFD(n_base=np.int64(3))),
     lambda: run(n_resamples=9, distribution_kernel=K.GFD(n_base=3)), 1e-12),
    ("NumPy integers for n and dim", lambda: run(sc.ScoreFunction(lambda y: MEAN - y, np.int64(N), np.int64(D))),
     lambda: run(sc.ScoreFunction(lambda y: MEAN - y, N, D)), 1e-12),
    ("one base point", lambda: run(sc.ScoreFunction(lambda y: MEAN - y, N, D), distribution_kernel=K.KGFD(n_base=1)),
     lambda: run(distribution_kernel=K.GFD(n_base=1, bandwidth=gap(MEAN))), 1e-9),
    ("torch, two precisions, full", lambda: run(sc.Gaussian(T(MEAN).float(), covariance=torch.eye(D)), T(Y)),
     lambda: run(sc.Gaussian(rounded(MEAN, F4), 1.0), Y), 1e-5),
    ("torch, two precisions, sliced", lambda: run(sc.Gaussian(T(MEAN).float(), 1.0), T(Y), distribution_kernel=K.Wasserstein(n_samples=4)),
     lambda: run(sc.Gaussian(rounded(MEAN, F4), 1.0), Y, distribution_kernel=K.Wasserstein(n_samples=4)), 1e-5),
    ("torch, two precisions, MMD", lambda: run(sc.Gaussian(T(MEAN).float(), 1.0), T(Y), distribution_kernel=K.MMD()),
     lambda: run(sc.Gaussian(rounded(MEAN, F4), 1.0), Y, distribution_kernel=K.MMD()), 1e-5),
    ("torch mixture with gradients", lambda: run(sc.GaussianMixture(torch.full((N, 2), 0.5), T(MEAN).float()[:, None, :] + torch.zeros(N, 2, D, requires_grad=True), torch.ones(N, 2)), T(Y).float()),
     lambda: run(sc.ScoreFunction(lambda y: rounded(MEAN, F4) - y, N, D), rounded(Y, F4)), 1e-5),
    ("covariances in very unequal units", lambda: run(sc.Gaussian(MEAN, covariance=np.diag([1e-8, 1e8])), Y),
     lambda: run(sc.Gaussian(MEAN, np.tile([1e-4, 1e4], (N, 1))), Y), 1e-9),
    ("integer bandwidth", lambda: run(target_kernel=K.Gaussian(2)), lambda: run(target_kernel=K.Gaussian(2.0)), 1e-12),
    ("scores on the line", lambda: run(sc.Scores(SCORES[:, 0], AT_BASE[..., 0], POINTS[:, 0]), Y[:, 0]),
     lambda: run(sc.ScoreFunction(lambda y: MEAN[:, :1] - y, N, 1), Y[:, :1], distribution_kernel=K.GFD(base=POINTS[:, :1])), 1e-9),
    ("duplicate base points", lambda: run(distribution_kernel=K.KGFD(base=np.concatenate([POINTS, POINTS]))),
     lambda: run(distribution_kernel=K.KGFD(base=POINTS)), 1e-9),
    ("very distant predictions", lambda: run(sc.Gaussian(MEAN * 1e9, 1.0), MEAN * 1e9 + 1.0, distribution_kernel=K.KGFD()),
     lambda: run(sc.Gaussian(MEAN * 1e9, 1.0), MEAN * 1e9 + 1.0, distribution_kernel=K.GFD(bandwidth=1e9 * gap(MEAN))), 1e-9),
]  # fmt: skip


@pytest.mark.parametrize(("call", "plain", "rtol"), [row[1:] for row in FINE], ids=[row[0] for row in FINE])
def test_sound_input_works(call, plain, rtol):
    """As the same input does that is not odd: written otherwise, rounded beforehand, or with bandwidths by hand."""
    found, expected = call(), plain()
    assert found.statistic == pytest.approx(expected.statistic, rel=rtol)
    size = np.abs(expected.null_distribution).max()
    np.testing.assert_allclose(found.null_distribution, expected.null_distribution, rtol=rtol, atol=rtol * size)
    assert found.pvalue == expected.pvalue


def test_one_resample():
    """Its p-value is a half, or one where the only draw is as large."""
    for seed in range(10):
        found = sc.kccsd_test(GOOD, Y, n_resamples=1, rng=seed)
        assert found.statistic == pytest.approx(run().statistic)
        assert found.pvalue == (1.0 if found.null_distribution[0] >= found.statistic else 0.5)


@pytest.mark.filterwarnings("default")
def test_constant_targets_warn():
    with pytest.warns(UserWarning, match="`y` is constant") as caught:
        result = run(y=0 * Y)
    assert np.isfinite(result.statistic)
    assert caught[0].filename == __file__


def test_values_are_not_looked_at_while_jax_traces():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = jax.jit(lambda mean, y: sc.kccsd(sc.Gaussian(mean, 1.0), y))(MEAN, with_(Y, np.nan))
    assert np.isnan(value)
    with pytest.raises(TypeError, match="while JAX is tracing"):
        jax.jit(lambda m, y: sc.kccsd_test(sc.Gaussian(m, 1.0), y))(MEAN, Y)
    with pytest.raises(TypeError, match="`ground` must have a number"):
        jax.jit(lambda m, y: sc.kccsd(sc.Gaussian(m, 1.0), y, distribution_kernel=K.KGFD()))(MEAN, Y)
