"""SKCE against enumeration, quadrature and Monte Carlo; MALA against moments; levels; bad input."""

import types
import warnings

import numpy as np
import pytest
import torch
from scipy import stats

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal._skce import skce_statistic
from scorecal.coordinates import identity

K = sc.kernels
RNG = np.random.default_rng(6)


def pairs(predictions, y, distribution=None, target=None, n_samples=None, sampler=None, rng=0):
    (function, *_), how = skce_statistic(
        predictions, y, distribution, target, n_samples, sampler, np.random.default_rng(rng)
    )
    n = predictions.n
    return function(slice(0, n), slice(0, n)), how["expectations"]


def test_classes_against_enumeration():
    """All expectations of equation 4 as sums over pairs of classes."""
    probabilities = RNG.dirichlet(np.ones(3), 5)
    y = np.asarray([0, 2, 1, 1, 0])
    G, how = pairs(sc.Categorical(probabilities), y, K.MMD(bandwidth=0.7))
    assert how == "classes"
    for i in range(5):
        for j in range(5):
            k = np.exp(-np.sum((probabilities[i] - probabilities[j]) ** 2) / (2 * 0.7**2))
            expected = float(y[i] == y[j])
            expected -= sum(probabilities[i, a] * (a == y[j]) for a in range(3))
            expected -= sum(probabilities[j, b] * (y[i] == b) for b in range(3))
            expected += sum(probabilities[i, a] * probabilities[j, b] * (a == b) for a in range(3) for b in range(3))
            assert G[i, j] == pytest.approx(k * expected, abs=1e-14)


def test_classes_level_and_power():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(3), 400)
    y = np.asarray([rng.choice(3, p=row) for row in probabilities])
    assert sc.skce_test(sc.Categorical(probabilities), y, rng=0).pvalue > 0.05
    sharpened = probabilities**3 / np.sum(probabilities**3, axis=1, keepdims=True)
    assert sc.skce_test(sc.Categorical(sharpened), y, rng=0).pvalue <= 0.01


def test_mixtures_against_quadrature():
    """Every component must count; one of them has almost no weight in one row."""
    weights = np.asarray([[0.3, 0.7], [0.98, 0.02]])
    means = np.asarray([[[-1.0], [2.0]], [[0.5], [4.0]]])
    scales = np.asarray([[0.5, 1.5], [1.0, 0.3]])
    mixture, y, sigma = sc.GaussianMixture(weights, means, scales), np.asarray([[0.2], [3.0]]), 1.3
    G, how = pairs(mixture, y, K.Wasserstein(1.0, n_samples=5), K.Gaussian(sigma))
    assert how == "exact"
    grid = np.linspace(-12.0, 12.0, 4001)
    density = np.exp(mixture.log_prob(grid[:, None, None])).T * (grid[1] - grid[0])
    l = np.exp(-((grid[:, None] - grid[None, :]) ** 2) / (2 * sigma**2))  # noqa: E741 - the paper's name
    to_y = np.exp(-((grid[:, None] - y[:, 0]) ** 2) / (2 * sigma**2))
    expected = np.exp(-((y[0, 0] - y[1, 0]) ** 2) / (2 * sigma**2)) - density[0] @ to_y[:, 1] - density[1] @ to_y[:, 0]
    expected += density[0] @ l @ density[1]
    draws = np.sort(mixture.sample(5, np.random.default_rng(0))[..., 0], axis=0)
    k = np.exp(-np.mean((draws[:, 0] - draws[:, 1]) ** 2) / 2)
    assert G[0, 1] == pytest.approx(k * expected, rel=1e-6)


@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full", "mixture"])
def test_exact_expectations_against_draws(kind):
    n, d = 4, 3
    rng = np.random.default_rng(1)
    mean, root = rng.normal(size=(n, d)), rng.normal(size=(n, d, d))
    predictions = {
        "isotropic": lambda: sc.Gaussian(mean, rng.uniform(0.5, 2, n)),
        "diagonal": lambda: sc.Gaussian(mean, rng.uniform(0.5, 2, (n, d))),
        "full": lambda: sc.Gaussian(mean, covariance=root @ np.swapaxes(root, 1, 2) + 0.2 * np.eye(d)),
        "mixture": lambda: sc.GaussianMixture(
            rng.dirichlet([1, 1], n), rng.normal(size=(n, 2, d)), rng.uniform(0.5, 2, (n, 2, d))
        ),
    }[kind]()
    y = mean + rng.normal(size=(n, d))
    kernel, sigma = K.GFD(n_base=3, bandwidth=2.0), 1.4
    G, how = pairs(predictions, y, kernel, K.Gaussian(sigma))
    assert how == "exact"
    z, z2 = predictions.sample(200_000, rng=2), predictions.sample(200_000, rng=3)
    k = sc.gram_matrix(kernel, predictions, rng=0)

    def l(a, b):  # noqa: E743
        return np.exp(-np.sum((a - b) ** 2, axis=-1) / (2 * sigma**2))

    for i, j in ((0, 1), (2, 3)):
        draws = l(y[i], y[j]) - l(z[:, i], y[j]) - l(y[i], z[:, j]) + l(z[:, i], z2[:, j])
        assert abs(k[i, j] * draws.mean() - G[i, j]) < 5 * k[i, j] * draws.std() / np.sqrt(200_000)


@pytest.mark.parametrize("target", [K.Gaussian(1.2), K.IMQ(1.2)], ids=str)
def test_samples_are_the_double_sum(target):
    predictions = sc.Gaussian(RNG.normal(size=(5, 2)), 1.0)
    y = RNG.normal(size=(5, 2))
    G, how = pairs(predictions, y, K.Wasserstein(1.0), target, n_samples=3)
    assert how == "samples"
    z = np.swapaxes(predictions.sample(3, np.random.default_rng(0)), 0, 1)
    k = sc.gram_matrix(K.Wasserstein(1.0), predictions)

    def l(a, b):  # noqa: E743
        t = np.sum((a - b) ** 2, axis=-1) / 1.2**2
        return np.exp(-t / 2) if isinstance(target, K.Gaussian) else (1 + t) ** -0.5

    for i in range(5):
        for j in range(5):
            expected = l(y[i], y[j]) - l(z[i], y[j]).mean() - l(y[i], z[j]).mean() + l(z[i][:, None], z[j][None]).mean()
            assert G[i, j] == pytest.approx(k[i, j] * expected, rel=1e-10, abs=1e-13)


def test_kccsd_is_the_skce_with_kernel_h():
    """Proposition 3.1: all expectations of H over predictions vanish, within error bars that shrink as 1 / sqrt(m)."""
    rng = np.random.default_rng(0)
    predictions = sc.Gaussian(rng.normal(size=(2, 2)), [0.8, 1.5])
    y = rng.normal(size=(2, 2))
    bars = []
    for m in (1_000, 100_000):
        z, z2 = predictions.sample(m, rng), predictions.sample(m, rng)

        def h(left, right, m=m):
            """H((P_0, left_k), (P_1, right_k)) for every k, by rows of one batch."""
            both = sc.Gaussian(np.repeat(predictions.mean, m, axis=0), np.repeat(predictions.scale[:, 0], m))
            targets = np.concatenate([np.broadcast_to(left, (m, 2)), np.broadcast_to(right, (m, 2))])
            kernels = (K.GFD(bandwidth=1.0), K.Gaussian(1.0))
            function, *_ = kccsd_statistic(both, targets, *kernels, identity, np.random.default_rng(0))
            step = 500
            return np.concatenate(
                [np.diagonal(function(slice(a, a + step), slice(m + a, m + a + step))) for a in range(0, m, step)]
            )

        terms = [h(z[:, 0], y[1]), h(y[0], z[:, 1]), h(z[:, 0], z2[:, 1])]
        for term in terms:
            assert abs(term.mean()) < 5 * term.std() / np.sqrt(m)
        bars.append(max(term.std() / np.sqrt(m) for term in terms))
    assert bars[1] < 0.2 * bars[0]


def test_result_says_how_expectations_were_found():
    predictions, y = sc.experiments.lgm(40, 0.0, rng=0)
    assert sc.skce_test(predictions, y, n_resamples=9, rng=1).expectations == "exact"
    assert sc.skce_test(predictions, y, target_kernel=K.IMQ(), n_resamples=9, rng=1).expectations == "samples"
    by_chains = sc.skce_test(predictions, y, sampler=sc.MALA(), n_samples=2, n_resamples=9, rng=1)
    assert by_chains.expectations == "mcmc"
    assert 0.4 < by_chains.acceptance < 0.75
    assert set(by_chains.bandwidths) == {"target", "distribution", "ground"}
    assert float(sc.skce(predictions, y)) == sc.skce_test(predictions, y, n_resamples=9, rng=1).statistic


@pytest.mark.parametrize("kind", ["correlated", "mixture"])
def test_mala_reaches_its_target(kind):
    n = 3000
    if kind == "correlated":
        one = sc.Gaussian([[3.0, -2.0]], covariance=[[[1.0, 0.8], [0.8, 1.0]]])
        predictions = sc.Gaussian(np.repeat(one.mean, n, axis=0), covariance=one.covariance[0])
    else:
        one = sc.GaussianMixture([[0.3, 0.7]], [[[-1.0, 0.0], [1.0, 0.5]]], [[0.7, 1.0]])
        predictions = sc.GaussianMixture(
            *(np.repeat(part, n, axis=0) for part in (one.weights, one.means, one.scales[..., 0]))
        )
    draws = sc.MALA(n_warmup=400).draw(predictions, 1, rng=0)
    x = draws.samples[:, 0]
    mean, covariance = (part[0] for part in one.moments())
    assert np.all(np.abs(x.mean(axis=0) - mean) < 5 * np.sqrt(np.diag(covariance) / n))
    products = (x - mean)[:, :, None] * (x - mean)[:, None, :]
    assert np.all(np.abs(products.mean(axis=0) - covariance) < 5 * products.std(axis=0) / np.sqrt(n))
    assert np.mean(draws.acceptance) == pytest.approx(0.574, abs=0.1)


@pytest.mark.filterwarnings("ignore:The MALA chains have not mixed", "ignore:.* never accepted a proposal")
def test_mala_leaves_its_target_alone():
    """Started from exact draws, one step of any size keeps the distribution."""
    n = 20_000
    predictions = sc.GaussianMixture([[0.5, 0.5]] * n, [[-2.0, 2.0]] * n, [[1.0, 0.5]] * n)
    start = predictions.sample(1, rng=0)[0]
    draws = sc.MALA(step_size=0.4, n_warmup=0, n_thin=1, adapt=False, start=start).draw(predictions, 1, rng=1)
    levels = stats.norm.cdf(draws.samples[:, 0, 0], -2, 1) / 2 + stats.norm.cdf(draws.samples[:, 0, 0], 2, 0.5) / 2
    assert stats.kstest(levels, "uniform").pvalue > 1e-3
    assert 0.1 < np.mean(draws.acceptance) < 0.95


@pytest.mark.filterwarnings("ignore:The MALA chains have not mixed")
@pytest.mark.parametrize("backend_name", ["torch", "cuda", "jax", "strict"])
def test_mala_and_skce_on_other_backends(backend_name):
    from backends import B, D, M, N, make_backend

    backend = make_backend(backend_name)
    mean, y = RNG.normal(size=(N, D)), RNG.normal(size=(N, D))
    for options in (
        {},
        {"n_samples": M},
        {"sampler": sc.MALA(n_warmup=20), "n_samples": M},
        {"target_kernel": K.IMQ()},
    ):
        options = {"n_resamples": B, "precision": "full", "rng": 2, **options}
        expected = sc.skce_test(sc.Gaussian(mean, 1.0), y, **options)
        actual = sc.skce_test(sc.Gaussian(backend.array(mean), 1.0), backend.array(y), **options)
        np.testing.assert_allclose(actual.null_distribution, expected.null_distribution, rtol=1e-9, atol=1e-13)


def test_chains_that_have_not_mixed_are_reported():
    predictions, y = sc.experiments.lgm(200, 0.0, rng=0)
    with pytest.warns(UserWarning, match="have not mixed"):
        sc.skce_test(
            predictions, y, n_samples=2, sampler=sc.MALA(n_warmup=0, n_thin=1, adapt=False), n_resamples=9, rng=1
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sc.skce_test(predictions, y, n_samples=2, sampler=sc.MALA(), n_resamples=9, rng=1)


@pytest.mark.filterwarnings("ignore:The MALA chains have not mixed")
def test_chains_that_never_move_are_reported():
    scale = np.ones(40)
    scale[:10] = 1e-4
    with pytest.warns(UserWarning, match="10 of 40 MALA chains never accepted a proposal, the first of them 0"):
        sc.MALA(n_warmup=0, adapt=False).draw(sc.Gaussian(np.zeros((40, 1)), scale), 2, rng=0)


@pytest.mark.parametrize(("scale", "options"), [(10.0, {"n_warmup": 100, "adapt": False}), (1e4, {"n_warmup": 20})])
def test_chains_that_are_too_narrow_are_reported(scale, options):
    """They have found the middle of their prediction, but not its width."""
    with pytest.warns(UserWarning, match="have not mixed"):
        sc.MALA(**options).draw(sc.Gaussian(np.zeros((200, 1)), scale), 2, rng=0)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3])
def test_adapted_chains_find_their_scale(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draws = sc.MALA(n_warmup=1500).draw(sc.Gaussian(np.zeros((400, 2)), scale), 1, rng=3)
    assert draws.samples.std() == pytest.approx(scale, rel=0.1)


def test_well_tuned_chains_raise_no_alarm():
    alarms = 0
    for repetition in range(40):
        predictions, _ = sc.experiments.lgm(200, 0.0, rng=[1, repetition])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sc.MALA(n_warmup=300).draw(predictions, 1, rng=[2, repetition])
        alarms += bool(caught)
    assert alarms <= 1


def test_chains_on_densities_that_torch_differentiates():
    """The score may need autograd itself; the chains keep no graph of it."""
    mean = torch.tensor(GOOD.mean, requires_grad=True)

    class ByAutograd:
        n, dim = 12, 2
        parameters = mean

        def log_prob(self, y):
            return -0.5 * torch.sum((y - mean) ** 2, dim=-1)

        def score(self, y):
            y = y.detach().requires_grad_()
            return torch.autograd.grad(self.log_prob(y).sum(), y, create_graph=True)[0]

    draws = sc.MALA(n_warmup=20).draw(ByAutograd(), 2, rng=0, reference=torch.tensor(Y))
    assert not draws.samples.requires_grad
    expected = sc.MALA(n_warmup=20).draw(GOOD, 2, rng=0)
    np.testing.assert_allclose(draws.samples.numpy(), expected.samples, rtol=1e-9)


def test_chains_serve_predictions_that_cannot_be_sampled():
    y = GOOD.sample(1, rng=5)[0]
    result = sc.skce_test(Unsampled(), y, sampler=sc.MALA(n_warmup=50), n_samples=2, n_resamples=9, rng=6)
    assert result.expectations == "mcmc"
    start_at_modes = sc.MALA(start=GOOD.mean, n_warmup=20).draw(Unsampled(), 1, rng=0)
    assert start_at_modes.samples.shape == (12, 1, 2)


@pytest.mark.parametrize("options", [{}, {"n_samples": 5}], ids=str)
@pytest.mark.parametrize("test", [sc.skce_test, sc.kccsd_test], ids=["skce", "operator"])
def test_float32_with_distant_clusters(test, options):
    """What float64 says, since it is float64 that is used."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(200, 1))
    mean[::2] += 1e4
    mean = mean.astype("f4")
    y = (mean + rng.normal(size=(200, 1))).astype("f4")
    if test is sc.kccsd_test:
        options = {"distribution_kernel": K.Operator([(K.GFD(bandwidth=1.0), np.eye(1))])}
    else:
        options = options | {"distribution_kernel": K.Wasserstein(1.0)}
    options = options | {"target_kernel": K.Gaussian(1.0), "n_resamples": 199, "rng": 1}
    single = test(sc.Gaussian(mean, np.float32(1.0)), y, **options)
    exact = test(sc.Gaussian(mean.astype(float), 1.0), y.astype(float), **options)
    assert single.pvalue == pytest.approx(exact.pvalue, abs=0.011)


def test_probabilities_of_a_float32_softmax_are_taken():
    logits = RNG.normal(size=(500, 7)).astype("f4") * 5
    softmax = np.exp(logits - logits.max(axis=1, keepdims=True))
    softmax /= softmax.sum(axis=1, keepdims=True)
    sc.Categorical(softmax)
    sc.Categorical(softmax.astype(float))


@pytest.mark.slow
def test_exact_skce_holds_its_level():
    low, high = stats.binom.ppf([0.005, 0.995], 1000, 0.05)
    rejections = 0
    for repetition in range(1000):
        rng = np.random.default_rng([77, repetition])
        predictions, y = sc.experiments.mgm(256, 0.0, rng=rng)
        kernel = K.MMD(K.Gaussian(3.5))  # near the second-order median, which would take most of the time
        rejections += sc.skce_test(predictions, y, distribution_kernel=kernel, n_resamples=300, rng=rng).rejects()
    assert low <= rejections <= high


@pytest.mark.filterwarnings("ignore:The MALA chains have not mixed", "ignore:.* never accepted a proposal")
@pytest.mark.slow
def test_short_untuned_chains_break_the_level_and_long_tuned_ones_do_not():
    """The point of the paper's figure 2, on LGM at n = 200."""

    def rate(sampler, repetitions):
        rejections = 0
        for repetition in range(repetitions):
            rng = np.random.default_rng([78, repetition])
            predictions, y = sc.experiments.lgm(200, 0.0, rng=rng)
            result = sc.skce_test(
                predictions,
                y,
                n_samples=2,
                sampler=sampler,
                distribution_kernel=K.Wasserstein(),
                n_resamples=200,
                rng=rng,
            )
            rejections += result.rejects()
        return rejections

    low, high = stats.binom.ppf([0.005, 0.995], 500, 0.05)
    assert low <= rate(sc.MALA(n_warmup=150, n_thin=5), 500) <= high
    for n_steps in range(1, 6):
        assert rate(sc.MALA(step_size=0.1, n_warmup=n_steps - 1, n_thin=1, adapt=False), 40) > 30


GOOD = sc.Gaussian(RNG.normal(size=(12, 2)), 1.0)
Y = RNG.normal(size=(12, 2))
CLASSES = sc.Categorical(np.full((4, 2), 0.5))


class Unsampled:
    """A score and a log-density, and no sampler."""

    n, dim = 12, 2

    def score(self, y):
        return GOOD.score(y)

    def log_prob(self, y):
        return GOOD.log_prob(y)


class Flat(Unsampled):
    def log_prob(self, y):
        return GOOD.log_prob(y)[..., None]


class NaNs(Unsampled):
    def log_prob(self, y):
        return np.nan * GOOD.log_prob(y) if y.ndim == 3 else GOOD.log_prob(y)

    def sample(self, n_samples, rng):
        return GOOD.sample(n_samples, rng)


TORCH = sc.Gaussian(torch.tensor(GOOD.mean), 1.0)


class Frozen(Unsampled):
    def log_prob(self, y):
        return -1e10 * np.sum((y - np.round(y, 1)) ** 2, axis=-1) - 1e10 * np.sum(y**2, axis=-1)


BAD = [
    ("sum of probabilities", lambda: sc.Categorical([[0.5, 0.6]]), ValueError, "probabilities", "sums to 1.1"),
    ("negative probability", lambda: sc.Categorical([[-0.5, 1.5]]), ValueError, "probabilities", "-0.5"),
    ("probabilities in a block", lambda: sc.Categorical(np.full((2, 2, 2), 0.5)), ValueError, "probabilities", "(2, 2, 2)"),
    ("NaN probability", lambda: sc.Categorical([[np.nan, 1.0]]), ValueError, "probabilities", "finite"),
    ("class too large", lambda: sc.skce_test(CLASSES, [0, 1, 2, 0]), ValueError, "y", "0 to 2"),
    ("negative class", lambda: sc.skce_test(CLASSES, [0, 1, -1, 0]), ValueError, "y", "-1"),
    ("float classes", lambda: sc.skce_test(CLASSES, [0.0, 0.5, 1.0, 0.0]), TypeError, "y", "float64"),
    ("too few classes", lambda: sc.skce_test(CLASSES, [0, 1]), ValueError, "y", "(2,)"),
    ("one prediction of classes", lambda: sc.skce_test(sc.Categorical([[0.5, 0.5]]), [0]), ValueError, "y", "at least 2"),
    ("kernel on classes", lambda: sc.skce_test(CLASSES, [0, 1, 1, 0], target_kernel=K.Gaussian()), ValueError, "target_kernel", "for classes"),
    ("scores of classes", lambda: sc.skce_test(CLASSES, [0, 1, 1, 0], distribution_kernel=K.GFD()), TypeError, "distribution_kernel", "MMD"),
    ("KCCSD of classes", lambda: sc.kccsd_test(CLASSES, [0, 1, 1, 0]), TypeError, "predictions", "Categorical"),
    ("no sampler", lambda: sc.skce_test(Unsampled(), Y, distribution_kernel=K.GFD(n_base=2)), TypeError, "predictions", "MALA"),
    ("samples of scores", lambda: sc.skce_test(sc.ScoreFunction(GOOD.score, 12, 2), Y, distribution_kernel=K.GFD()), TypeError, "predictions", "`sample(n_samples, rng)` is missing"),
    ("chains of scores", lambda: sc.MALA().draw(sc.ScoreFunction(GOOD.score, 12, 2), 1), TypeError, "predictions", "log_prob"),
    ("chains that never move", lambda: sc.MALA(n_warmup=0, adapt=False, step_size=1e3).draw(GOOD, 1, rng=0), ValueError, "step_size", "single proposal"),
    ("class for sampler", lambda: sc.skce_test(GOOD, Y, sampler=sc.MALA), TypeError, "sampler", "MALA"),
    ("text for sampler", lambda: sc.skce_test(GOOD, Y, sampler="mala"), TypeError, "sampler", "'mala'"),
    ("text for step size", lambda: sc.MALA(step_size="x"), ValueError, "step_size", "'x'"),
    ("text for adapt", lambda: sc.MALA(adapt="no"), TypeError, "adapt", "'no'"),
    ("zero draws", lambda: sc.MALA().draw(GOOD, 0), ValueError, "n_samples", "0"),
    ("shape of log_prob", lambda: sc.MALA().draw(Flat(), 2), ValueError, "predictions.log_prob", "(12, 1)"),
    ("NaN log_prob", lambda: sc.expected_coverage(NaNs(), Y), ValueError, "predictions.log_prob", "NaN"),
    ("samples of classes", lambda: sc.skce_test(CLASSES, [0, 1, 1, 0], distribution_kernel=K.MMD(n_samples=3)), ValueError, "distribution_kernel", "classes"),
    ("no kernel", lambda: sc.kccsd_test(TORCH, TORCH.mean + 1, distribution_kernel=K.OperatorFunction(lambda p, y, p2, y2: torch.exp(-torch.sum((y - 2 * y2) ** 2) / 50) * torch.eye(2), TORCH.mean)), ValueError, "function(p, y, p2, y2)", "transpose"),
    ("negative kernel", lambda: sc.kccsd_test(TORCH, TORCH.mean + 1, distribution_kernel=K.OperatorFunction(lambda *a: -torch.eye(2), TORCH.mean)), ValueError, "function(p, y, p, y)", "negative"),
    ("no function", lambda: sc.kccsd_test(TORCH, TORCH.mean + 1, distribution_kernel=K.OperatorFunction(2.0, TORCH.mean)), TypeError, "function", "2.0"),
    ("Fisher of two dimensions", lambda: sc.fisher_divergence(GOOD, sc.Gaussian([0.0], 1.0)), ValueError, "p", "dimension 1"),
    ("Fisher of an array", lambda: sc.fisher_divergence(GOOD, Y), TypeError, "q", "ndarray"),
    ("two libraries", lambda: sc.gfd(GOOD, TORCH), TypeError, "q", "torch"),
    ("Gram of an array", lambda: sc.gram_matrix(K.GFD(), Y), TypeError, "p", "ndarray"),
    ("Gram of swapped arguments", lambda: sc.gram_matrix(GOOD, K.GFD()), TypeError, "kernel", "Gaussian(n=12"),
    ("Gram of two kinds", lambda: sc.gram_matrix(K.GFD(), sc.Gaussian(GOOD.mean, np.linspace(1.0, 2.0, 12)), sc.ScoreFunction(GOOD.score, 12, 2)), TypeError, "q", "n_base"),
    ("scores at other points", lambda: sc.gfd(sc.Scores(Y, Y[:, None, :], [[0.0, 0.0]]), sc.Scores(Y, Y[:, None, :], [[1.0, 0.0]])), ValueError, "p", "base_points"),
    ("level in per cent", lambda: sc.expected_coverage(GOOD, Y).curve(90), ValueError, "nominal", "90"),
    ("class for predictions", lambda: sc.kccsd_test(sc.Gaussian, Y), TypeError, "predictions", "class Gaussian"),
    ("object without dim", lambda: sc.kccsd_test(types.SimpleNamespace(n=3), Y), TypeError, "predictions", "no `dim`"),
    ("score of another density", lambda: sc.MALA(n_warmup=0, adapt=False, start=np.zeros((12, 2))).draw(Frozen(), 1, rng=0), ValueError, "step_size", "log_prob"),
    ("start of another shape", lambda: sc.MALA(start=Y[:3]).draw(GOOD, 1), ValueError, "start", "(3, 2)"),
    ("step size", lambda: sc.MALA(step_size=0.0), ValueError, "step_size", "0.0"),
    ("warm-up", lambda: sc.MALA(n_warmup=-1), ValueError, "n_warmup", "-1"),
    ("no draws", lambda: sc.skce_test(GOOD, Y, n_samples=0), ValueError, "n_samples", "0"),
    ("inputs", lambda: sc.kcsd_test(GOOD, Y, Y[:3]), ValueError, "x", "(3, 2)"),
    ("NaN inputs", lambda: sc.kcsd_test(GOOD, Y, Y * np.nan), ValueError, "x", "finite"),
    ("input kernel", lambda: sc.kcsd_test(GOOD, Y, Y, input_kernel=K.GFD()), TypeError, "input_kernel", "GFD"),
    ("several distributions", lambda: sc.ksd_test(GOOD, Y), ValueError, "predictions", "12 rows"),
    ("no term", lambda: K.Operator([]), ValueError, "terms", "at least one"),
    ("indefinite matrix", lambda: K.Operator([(K.GFD(), -np.eye(2))]), ValueError, "terms[0]", "positive semi-definite"),
    ("asymmetric matrix", lambda: K.Operator([(K.GFD(), [[1.0, 0.5], [0.0, 1.0]])]), ValueError, "terms[0]", "symmetric"),
    ("oblong matrix", lambda: K.Operator([(K.GFD(), np.ones((2, 3)))]), ValueError, "terms[0]", "(2, 3)"),
    ("matrix of another size", lambda: sc.kccsd_test(GOOD, Y, distribution_kernel=K.Operator([(K.GFD(), np.eye(3))])), ValueError, "terms[0]", "(3, 3)"),
    ("kernel of an operator", lambda: K.Operator([(K.Gaussian(), np.eye(2))]), TypeError, "terms[0]", "Gaussian"),
    ("function on NumPy arrays", lambda: sc.kccsd_test(GOOD, Y, distribution_kernel=K.OperatorFunction(lambda *a: np.eye(2), Y)), TypeError, "function", "JAX or torch"),
    ("value of a function", lambda: sc.kccsd_test(TORCH, TORCH.mean + 1, distribution_kernel=K.OperatorFunction(lambda *a: torch.eye(3), TORCH.mean)), ValueError, "function", "(3, 3)"),
    ("features of a function", lambda: sc.kccsd_test(GOOD, Y, distribution_kernel=K.OperatorFunction(lambda *a: np.eye(2), Y[:2])), ValueError, "features", "(2, 2)"),
    ("two target kernels", lambda: sc.kccsd_test(GOOD, Y, target_kernel=K.IMQ(), distribution_kernel=K.OperatorFunction(lambda *a: np.eye(2), Y)), ValueError, "target_kernel", "None"),
    ("diffusion of a number", lambda: K.Diffusion(2.0), TypeError, "kernel", "2.0"),
    ("diffusion in MMD", lambda: K.MMD(K.Diffusion()), TypeError, "ground", "Diffusion"),
    ("two dimensions", lambda: sc.gfd(GOOD, sc.Gaussian([0.0], 1.0)), ValueError, "p", "dimension 1"),
    ("unequal pairs", lambda: sc.gfd(GOOD, sc.Gaussian(Y[:3], 1.0), paired=True), ValueError, "paired", "12 and 3"),
    ("array for predictions", lambda: sc.gfd(GOOD, Y), TypeError, "q", "ndarray"),
    ("coverage of scores", lambda: sc.expected_coverage(sc.ScoreFunction(GOOD.score, 12, 2), Y), TypeError, "predictions", "log_prob"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "argument", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_input_is_named(call, error, argument, words):
    with pytest.raises(error) as caught:
        call()
    assert f"`{argument}" in str(caught.value)
    assert words in str(caught.value)
