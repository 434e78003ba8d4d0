"""Divergences against quadrature and each other; proposition 4.3 and appendix E on Ornstein-Uhlenbeck flows."""

import pickle

import jax
import numpy as np
import pytest
from scipy import stats
from sklearn.kernel_ridge import KernelRidge

import scorecal as sc
from scorecal._lib.linalg import symmetric_root
from scorecal.predictions.join import join

K = sc.kernels
RNG = np.random.default_rng(12)
D = 2
P = sc.Gaussian(RNG.normal(size=(3, D)), RNG.uniform(0.5, 2, 3))
ROOT = RNG.normal(size=(4, D, D))
Q = sc.Gaussian(RNG.normal(size=(4, D)), covariance=ROOT @ np.swapaxes(ROOT, 1, 2) + 0.3 * np.eye(D))


def test_gfd_kgfd_mmd_by_quadrature_on_the_line():
    p, q, tau = sc.Gaussian([0.3], 0.8), sc.Gaussian([-0.5], 1.4), 1.1
    z = np.linspace(-9, 9, 2001)
    step = z[1] - z[0]
    nu = stats.norm.pdf(z) * step
    gap = (p.score(z[:, None, None]) - q.score(z[:, None, None]))[:, 0, 0]
    k = np.exp(-((z[:, None] - z[None]) ** 2) / (2 * tau**2))
    assert sc.gfd(p, q)[0, 0] == pytest.approx(np.sum(nu * gap**2), rel=1e-8)
    assert sc.kgfd(p, q, ground=K.Gaussian(tau))[0, 0] == pytest.approx((nu * gap) @ k @ (nu * gap), rel=1e-8)
    signed = (stats.norm.pdf(z, 0.3, 0.8) - stats.norm.pdf(z, -0.5, 1.4)) * step
    assert sc.mmd(p, q, ground=K.Gaussian(tau))[0, 0] == pytest.approx(np.sqrt(signed @ k @ signed), rel=1e-8)
    assert sc.wasserstein(p, q)[0, 0] == pytest.approx(np.sqrt(0.8**2 + 0.6**2))
    gaps = (p.score(z[:, None, None]) - q.score(z[:, None, None]))[:, 0, 0] ** 2
    assert sc.fisher_divergence(p, q)[0, 0] == pytest.approx(
        np.sum(stats.norm.pdf(z, 0.3, 0.8) * step * gaps), rel=1e-8
    )


@pytest.mark.parametrize("kernel", [K.Gaussian(1.3), K.IMQ(1.3)], ids=str)
def test_diffusion_kernel_is_the_mixed_derivative(kernel):
    x, y, eps = RNG.normal(size=D), RNG.normal(size=D), 1e-4

    def k(a, b):
        t = np.sum((a - b) ** 2) / 1.3**2
        return np.exp(-t / 2) if isinstance(kernel, K.Gaussian) else (1 + t) ** -0.5

    e = eps * np.eye(D)
    expected = [
        [(k(x + a, y + b) - k(x + a, y - b) - k(x - a, y + b) + k(x - a, y - b)) / (4 * eps**2) for b in e] for a in e
    ]
    np.testing.assert_allclose(K.Diffusion(kernel).blocks(x - y, 1.3), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
def test_exact_diffusion_kgfd_against_draws(kind):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(2, D))
    predictions = {
        "isotropic": sc.Gaussian(mean, [0.8, 1.5]),
        "diagonal": sc.Gaussian(mean, [[0.8, 1.5], [1.2, 0.6]]),
        "full": sc.Gaussian(mean, covariance=[[[1.0, 0.4], [0.4, 0.7]], [[2.0, -0.5], [-0.5, 1.0]]]),
    }[kind]
    base = sc.Gaussian([[0.3, -0.2]], covariance=[[[1.0, 0.3], [0.3, 0.5]]])
    p, q = (sc.Gaussian(mean[i : i + 1], covariance=predictions.moments()[1][i]) for i in (0, 1))
    exact = sc.kgfd(p, q, ground=K.Diffusion(K.Gaussian(1.2)), base=base)[0, 0]
    z, z2 = base.sample(400_000, rng)[:, 0], base.sample(400_000, rng)[:, 0]
    gap, gap2 = (predictions.score(x[:, None, :]) for x in (z, z2))
    values = K.Diffusion(K.Gaussian(1.2)).blocks(z - z2, 1.2)
    draws = np.einsum("ka,kab,kb->k", gap[:, 0] - gap[:, 1], values, gap2[:, 0] - gap2[:, 1])
    assert abs(draws.mean() - exact) < 5 * draws.std() / np.sqrt(len(draws))
    assert draws.std() / np.sqrt(len(draws)) < 0.1 * exact


def test_sampled_diffusion_kgfd_is_the_double_sum():
    points = RNG.normal(size=(5, D))
    for kernel in (K.Gaussian(1.2), K.IMQ(1.2)):
        gap = (P.score(points[:, None, :])[:, :, None] - Q.score(points[:, None, :])[:, None]).transpose(1, 2, 0, 3)
        blocks = K.Diffusion(kernel).blocks(points[:, None] - points[None], 1.2)
        expected = np.einsum("ijka,klab,ijlb->ij", gap, blocks, gap) / 25
        np.testing.assert_allclose(sc.kgfd(P, Q, ground=K.Diffusion(kernel), base=points), expected, rtol=1e-8)


def flow(target_mean, target_scale, t):
    """Law at time t of dX = s(X) dt + sqrt(2) dW towards N(mean, scale^2), from N(0, 1): Ornstein-Uhlenbeck."""
    decay = np.exp(-t / target_scale**2)
    return sc.Gaussian([target_mean * (1 - decay)], np.sqrt(target_scale**2 + (1 - target_scale**2) * decay**2))


def test_diffusions_part_at_the_rate_that_kgfd_says():
    """Proposition 4.3: MMD / t tends to sqrt(KGFD) with the ground kernel grad grad' k."""
    tau, targets = 1.3, ((0.7, 0.9), (-0.4, 1.6))
    limit = np.sqrt(sc.kgfd(*(sc.Gaussian([m], s) for m, s in targets), ground=K.Diffusion(K.Gaussian(tau)))[0, 0])
    times = 0.02 / 2.0 ** np.arange(5)
    rates = [sc.mmd(*(flow(m, s, t) for m, s in targets), ground=K.Gaussian(tau))[0, 0] / t for t in times]
    assert abs(rates[0] - limit) > 1e-4  # not there yet
    table = np.asarray(rates)
    for order in range(1, 5):  # Richardson: each pass removes the next power of t
        table = (2**order * table[1:] - table[:-1]) / (2**order - 1)
    assert table[0] == pytest.approx(limit, rel=1e-6)


def test_relative_entropy_falls_at_the_fisher_rate():
    """Appendix E: dKL/dt = -FD along the flow towards N(m, s^2)."""
    mean, scale = 0.7, 1.6

    def entropy(t):
        now = flow(mean, scale, t)
        m, s = float(now.mean[0, 0]), float(now.scale[0, 0])
        return np.log(scale / s) + (s**2 + (m - mean) ** 2) / (2 * scale**2) - 0.5

    for t in (0.1, 0.5, 2.0):
        slope = (entropy(t + 1e-4) - entropy(t - 1e-4)) / 2e-4
        assert slope == pytest.approx(
            -sc.fisher_divergence(flow(mean, scale, t), sc.Gaussian([mean], scale))[0, 0], rel=1e-6
        )


def test_shapes_pairs_and_symmetry():
    functions = [sc.gfd, sc.kgfd, sc.mmd, sc.fisher_divergence]
    other = sc.Gaussian(Q.mean[:3], covariance=Q.covariance[:3])
    for function in functions:
        assert function(P, Q).shape == (3, 4)
        np.testing.assert_allclose(function(P, other, paired=True), np.diagonal(function(P, other)), rtol=1e-9)
    for function, options in ((sc.gfd, {}), (sc.kgfd, {"ground": K.IMQ(1.0)}), (sc.mmd, {"ground": K.Gaussian(1.0)})):
        np.testing.assert_allclose(function(P, Q, rng=0, **options), function(Q, P, rng=0, **options).T, rtol=1e-9)
        np.testing.assert_allclose(np.diagonal(function(P, P, **options)), 0.0, atol=1e-6)
    assert sc.wasserstein(P, sc.Gaussian(Q.mean, 1.0)).shape == (3, 4)


def test_sampled_and_exact_agree():
    np.testing.assert_allclose(sc.gfd(P, Q, n_base=200_000, rng=0), sc.gfd(P, Q), rtol=0.05)
    exact = sc.mmd(P, Q, ground=K.Gaussian(1.0))
    np.testing.assert_allclose(sc.mmd(P, Q, ground=K.Gaussian(1.0), n_samples=2000, rng=0), exact, atol=0.05)
    np.testing.assert_allclose(
        sc.fisher_divergence(P, Q, n_samples=100_000, rng=0), sc.fisher_divergence(P, Q), rtol=0.1
    )


def test_different_kinds_of_predictions():
    mixture = sc.GaussianMixture([[1.0, 0.0]], [[[1.0, 0.0], [9.0, 9.0]]], [[0.7, 1.0]])
    same = sc.Gaussian([[1.0, 0.0]], 0.7)
    points = RNG.normal(size=(20, D))
    np.testing.assert_allclose(sc.gfd(P, mixture, base=points), sc.gfd(P, same, base=points), rtol=1e-10)
    function = sc.ScoreFunction(same.score, 1, D)
    np.testing.assert_allclose(sc.gfd(P, function, base=points), sc.gfd(P, same, base=points), rtol=1e-10)
    assert sc.mmd(P, mixture, n_samples=50, rng=0).shape == (3, 1)
    two = sc.GaussianMixture([[0.5, 0.5]], [[[1.0, 0.0], [1.0, 0.0]]], [[0.7, 0.7]])
    np.testing.assert_allclose(sc.mmd(mixture, two, ground=K.Gaussian(1.0)), 0.0, atol=1e-7)


GRAM_KERNELS = [
    K.GFD(),
    K.GFD(base="match"),
    K.GFD(n_base=5),
    K.GFD(base=RNG.normal(size=(4, D))),
    K.GFD(outer="linear"),
    K.KGFD(),
    K.KGFD(base="match"),
    K.KGFD(K.Diffusion()),
    K.MMD(),
    K.MMD(n_samples=5),
    K.MMD(K.IMQ()),
    K.Wasserstein(n_samples=5),
]


@pytest.mark.parametrize("kernel", GRAM_KERNELS, ids=lambda kernel: str(kernel)[:60])
def test_gram_matrices_belong_together(kernel):
    """Rows of the training set, handed in again among test rows, have the kernel values they had before."""
    again = sc.Gaussian(
        np.concatenate([Q.mean[:2], [[9.0, 9.0]]]), covariance=np.concatenate([Q.covariance[:2], [np.eye(2)]])
    )
    train = sc.gram_matrix(kernel, Q, rng=0)
    assert np.linalg.eigvalsh(train).min() > -1e-8
    cross = sc.gram_matrix(kernel, Q, again, rng=0)
    assert cross.shape == (4, 3)
    if getattr(kernel, "n_samples", None) is None and not isinstance(getattr(kernel, "ground", None), K.IMQ):
        np.testing.assert_allclose(cross[:, :2], train[:, :2], rtol=1e-7, atol=1e-9)
    else:  # the rows of `again` have draws of their own; those of Q must be what they were
        distance, _ = kernel.distance(Q, Q.mean, np.random.default_rng(0))
        joined, _ = kernel.distance(join(Q, again, draws_apart=True), Q.mean, np.random.default_rng(0))
        if getattr(kernel, "ground", None) is None or not isinstance(kernel.ground.bandwidth, str):
            np.testing.assert_allclose(joined.block(slice(0, 4), slice(0, 4)), distance.block(slice(0, 4), slice(0, 4)))


def test_wasserstein_of_full_covariances():
    """Commuting covariances reduce to the diagonal form; on the line the distance is that of quantiles."""
    turn = np.linalg.qr(RNG.normal(size=(2, 2)))[0]
    scales = RNG.uniform(0.5, 2, (3, 2))
    diagonal = sc.Gaussian(np.zeros((3, 2)), scales)
    full = sc.Gaussian(np.zeros((3, 2)), covariance=turn @ (scales[..., None] ** 2 * np.eye(2)) @ turn.T)
    np.testing.assert_allclose(sc.wasserstein(full, full), sc.wasserstein(diagonal, diagonal), atol=1e-7)
    samples = [part.sample(1, rng=0) for part in (P, Q)]
    assert all(part.shape[2] == 2 for part in samples)
    np.testing.assert_allclose(sc.wasserstein(P, Q), sc.wasserstein(Q, P).T, rtol=1e-9)
    # Never above the distance of any coupling, here of the same noise moved by both square roots.
    coupled = np.sqrt(
        np.sum((P.mean[:, None] - Q.mean[None]) ** 2, axis=-1)
        + np.sum((symmetric_root(P.moments()[1])[:, None] - symmetric_root(Q.covariance)[None]) ** 2, axis=(-2, -1))
    )
    assert np.all(sc.wasserstein(P, Q) <= coupled + 1e-12)


def test_exact_mmd_of_gaussians_and_mixtures():
    gaussian = sc.Gaussian([[1.0, 0.0]], 0.7)
    one = sc.GaussianMixture([[1.0]], [[[1.0, 0.0]]], [[0.7]])
    two = sc.GaussianMixture([[0.4, 0.6]], [[[1.0, 0.0], [1.0, 0.0]]], [[0.7, 0.7]])
    for p, q in ((gaussian, one), (one, two), (two, gaussian)):
        assert sc.mmd(p, q, ground=K.Gaussian(1.0))[0, 0] < 1e-7


def test_scores_can_be_compared():
    points = RNG.normal(size=(5, D))
    p, q = (
        sc.Scores(part.score(part.mean + 1.0), np.swapaxes(part.score(points[:, None, :]), 0, 1), points)
        for part in (P, Q)
    )
    np.testing.assert_allclose(sc.gfd(p, q), sc.gfd(P, Q, base=points), rtol=1e-10)


def test_derivatives_at_distance_zero_are_finite():
    def total(mean):
        p = sc.Gaussian(mean, 1.0)
        return sc.mmd(p, p, ground=K.Gaussian(1.0)).sum() + sc.wasserstein(p, p).sum()

    assert bool(jax.numpy.all(jax.numpy.isfinite(jax.jit(jax.grad(total))(jax.numpy.ones((2, 1))))))


def test_distribution_regression_with_sklearn():
    """Learn the standard deviation of a distribution from its score: kernel ridge on the precomputed GFD kernel."""
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.5, 2.0, 120)
    predictions = sc.Gaussian(rng.normal(size=120), scale)
    train, test = (sc.Gaussian(predictions.mean[part], scale[part]) for part in (slice(0, 80), slice(80, 120)))
    model = KernelRidge(kernel="precomputed", alpha=1e-3).fit(sc.gram_matrix(K.GFD(), train), scale[:80])
    predicted = model.predict(sc.gram_matrix(K.GFD(), train, test).T)
    assert np.corrcoef(predicted, scale[80:])[0, 1] > 0.95


def test_joined_predictions_can_be_sent_to_other_processes():
    joined = pickle.loads(pickle.dumps(join(sc.experiments.skewed(3, 2, "none", rng=0)[0], Q)))
    assert joined.n == 3 + Q.n
    assert joined.moments()[0].shape == (joined.n, 2)
