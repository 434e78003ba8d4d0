"""Bounded supports: maps against their inverses, scores against finite differences, level and power of the test."""

import numpy as np
import pytest
from torch.distributions import constraints

import scorecal as sc
from scorecal._lib.arrays import to_numpy
from scorecal.predictions.supports import as_support

RNG = np.random.default_rng(11)
INF = np.inf
SUPPORTS = {
    "unit interval": (sc.coordinates.Box(0.0, 1.0), 1),
    "box": (sc.coordinates.Box([-1.0, 2.0], [3.0, 2.5]), 2),
    "positive": (sc.coordinates.Box(0.0), 2),
    "all kinds": (sc.coordinates.Box([0.0, -INF, -INF, 1.0], [1.0, 2.0, INF, INF]), 4),
    "simplex": (sc.coordinates.Simplex(), 4),
    "two parts": (sc.coordinates.Simplex(), 2),
}


def points(kind, *shape):
    support, dim = SUPPORTS[kind]
    return support, RNG.normal(size=(*shape, support.check(50, dim)))


@pytest.mark.parametrize("kind", SUPPORTS)
def test_maps_are_inverses_and_stay_inside(backend, kind):
    support, z = points(kind, 3, 50)
    y = support.forward(backend.array(z))
    assert bool(backend.xp.all(support.contains(y)))
    np.testing.assert_allclose(to_numpy(support.inverse(y)), z, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", SUPPORTS)
def test_scores_carry_the_jacobian(backend, kind):
    """Against finite differences of log p(forward(z)) + log |det J|, J by finite differences too."""
    support, z = points(kind, 20)
    dim, step = z.shape[1], 1e-4

    def free(y):
        """Coordinates of y that determine it: all of them but, on the simplex, the last."""
        return y[..., :dim]

    def log_density(z):
        shifts = step * np.eye(dim)
        columns = [(free(support.forward(z + e)) - free(support.forward(z - e))) / (2 * step) for e in shifts]
        y = support.forward(z)
        return np.sum(np.sin(y) + y**3, axis=-1) + np.linalg.slogdet(np.stack(columns, axis=-1))[1]

    y = support.forward(z)
    carried = to_numpy(support.carry(backend.array(z), backend.array(np.cos(y) + 3.0 * y**2)))
    for k in range(dim):
        e = step * np.eye(dim)[k]
        slope = (log_density(z + e) - log_density(z - e)) / (2 * step)
        np.testing.assert_allclose(carried[:, k], slope, rtol=1e-4, atol=1e-5)


def test_far_points_do_not_overflow():
    box, z = SUPPORTS["all kinds"][0], np.asarray([[800.0, -800.0, 800.0, -800.0], [-800.0, 5.0, -800.0, 5.0]])
    assert np.all(np.isfinite(box.forward(z)))
    assert np.all(np.isfinite(box.carry(z, np.ones_like(z))))


def box_posterior(n, rng, scale=1.0, shift=0.0):
    """Prior U(0, 1)^2 and observations x ~ N(theta, 0.3^2 I): the posterior is N(x, 0.3^2 I), cut off at the box."""
    theta = rng.uniform(size=(n, 2))
    x = theta + 0.3 * rng.normal(size=(n, 2))
    return sc.ScoreFunction(lambda z: (x + shift - z) / (0.3 * scale) ** 2, n, 2), theta


def half_line_posterior(n, rng, scale=1.0):
    """Prior Exp(1) and observations x ~ N(theta, 1): the posterior is N(x - 1, 1), cut off at 0."""
    theta = rng.exponential(size=(n, 1))
    x = theta + rng.normal(size=(n, 1))
    return sc.ScoreFunction(lambda z: (x - 1.0 - z) / scale**2, n, 1), theta


def dirichlet(n, rng, factor=1.0):
    """The score on the simplex is (alpha - 1) / y."""
    alpha = np.exp(rng.normal(size=(n, 3))) + 0.5
    parts = rng.standard_gamma(alpha)
    return sc.ScoreFunction(lambda z: (factor * alpha - 1.0) / z, n, 3), parts / np.sum(parts, axis=1, keepdims=True)


POSTERIORS = {
    "box": (box_posterior, sc.coordinates.Box(0.0, 1.0)),
    "half-line": (half_line_posterior, sc.coordinates.Box(0.0)),
    "simplex": (dirichlet, sc.coordinates.Simplex()),
}


def count_rejections(kind, n_repetitions, mapped=True, **spoiled):
    draw, support = POSTERIORS[kind]
    coordinates = sc.coordinates.unconstrain(support) if mapped else sc.coordinates.identity
    rejections = 0
    for repetition in range(n_repetitions):
        rng = np.random.default_rng([repetition, list(POSTERIORS).index(kind)])
        predictions, y = draw(200, rng, **spoiled)
        rejections += sc.kccsd_test(predictions, y, coordinates=coordinates, n_resamples=199, rng=rng).rejects()
    return rejections


@pytest.mark.parametrize("kind", ["box", "simplex", pytest.param("half-line", marks=pytest.mark.slow)])
def test_level(kind):
    assert count_rejections(kind, 1000) <= 70


@pytest.mark.parametrize("kind", ["box", "half-line"])
def test_without_the_map_the_exact_posterior_is_rejected(kind):
    """Which is why there is one."""
    assert count_rejections(kind, 20, mapped=False) >= 15


@pytest.mark.parametrize(
    ("kind", "spoiled"),
    [("box", {"shift": 0.15}), ("box", {"scale": 0.5}), ("half-line", {"scale": 0.5}), ("simplex", {"factor": 3.0})],
)
def test_power(kind, spoiled):
    assert count_rejections(kind, 20, **spoiled) >= 15


@pytest.mark.parametrize(
    ("constraint", "low", "high"),
    [
        (constraints.unit_interval, 0.0, 1.0),
        (constraints.interval(-1.0, 2.0), -1.0, 2.0),
        (constraints.positive, 0.0, INF),
        (constraints.greater_than(3.0), 3.0, INF),
        (constraints.less_than(3.0), -INF, 3.0),
        (constraints.real, -INF, INF),
        (constraints.independent(constraints.positive, 1), 0.0, INF),
    ],
)
def test_constraints_of_torch(constraint, low, high):
    found = as_support(constraint)
    assert (float(found.low), float(found.high)) == (low, high)
    assert isinstance(as_support(constraints.simplex), sc.coordinates.Simplex)


def inside(n=5, dim=2):
    return RNG.uniform(0.1, 0.9, size=(n, dim))


@pytest.mark.parametrize(
    ("support", "y", "error", "message"),
    [
        (sc.coordinates.Box(0.0, 1.0), inside() + 1.0, ValueError, "`y` must lie inside the support, .* row 0 is"),
        (sc.coordinates.Box(0.0, 1.0), np.round(inside()), ValueError, "rounded or clipped to its ends"),
        (sc.coordinates.Box([0.0] * 3, 1.0), inside(), ValueError, "are of dimension 3, but the targets of 2"),
        (sc.coordinates.Simplex(), inside(), ValueError, "`y` must lie inside the support"),
        (constraints.nonnegative_integer, inside(), TypeError, "`support` is discrete"),
        (constraints.lower_cholesky, inside(), TypeError, "`support` must be `coordinates.Box`"),
        ((0.0, 1.0), inside(), TypeError, "`support` must be `coordinates.Box`"),
    ],
)
def test_bad_input(support, y, error, message):
    predictions = sc.ScoreFunction(lambda z: 1.0 + 0.0 * z, len(y), 2)
    with pytest.raises(error, match=message):
        sc.kccsd_test(predictions, y, coordinates=sc.coordinates.unconstrain(support), rng=0)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, [3.0, 1.0]), (np.nan, 1.0)])
def test_ends_in_disorder(low, high):
    with pytest.raises(ValueError, match="`low` must be below `high`"):
        sc.coordinates.Box(low, high)


def test_scores_of_elsewhere_are_mapped():
    """The same numbers, as arrays and as a function."""
    predictions, y = box_posterior(50, np.random.default_rng(0))
    base = inside(8)
    at_base = np.moveaxis(predictions.score(base[:, None, :]), 0, 1)
    coordinates = sc.coordinates.unconstrain(sc.coordinates.Box(0.0, 1.0))
    arrays = sc.kccsd_test(sc.Scores(predictions.score(y), at_base, base), y, coordinates=coordinates, rng=0)
    mapped_base = sc.coordinates.Box(0.0, 1.0).inverse(base)
    kernel = sc.kernels.GFD(mapped_base)
    function = sc.kccsd_test(predictions, y, coordinates=coordinates, distribution_kernel=kernel, rng=0)
    assert arrays.statistic == pytest.approx(function.statistic, rel=1e-12)
    with pytest.raises(ValueError, match="hold the `base_points`"):
        sc.kccsd_test(sc.Scores(predictions.score(y), at_base), y, coordinates=coordinates, rng=0)
    with pytest.raises(ValueError, match="`base_points` must lie inside the support"):
        sc.kccsd_test(sc.Scores(predictions.score(y), at_base, base + 1.0), y, coordinates=coordinates, rng=0)


def test_declared_supports_are_mapped_without_being_asked():
    predictions, y = box_posterior(200, np.random.default_rng(3))
    box = sc.coordinates.Box(0.0, 1.0)
    declared = sc.ScoreFunction(predictions.score, 200, 2, support=box)
    result = sc.kccsd_test(declared, y, rng=0)
    asked = sc.kccsd_test(predictions, y, coordinates=sc.coordinates.unconstrain(box), rng=0)
    assert result.statistic == asked.statistic
    assert result.coordinates == asked.coordinates == "unconstrain(Box(0., 1.))"
    assert sc.kccsd(declared, y, rng=0) == result.statistic
    with pytest.raises(ValueError, match=r"live on a bounded support, Box.*Leave `coordinates` unset"):
        sc.kccsd_test(declared, y, coordinates=sc.coordinates.identity, rng=0)
    assert sc.kcsd_test(declared, y, y, rng=0).coordinates == "unconstrain(Box(0., 1.))"
    assert sc.kccsd_test(sc.Gaussian(y, 1.0), y + 1.0, rng=0).coordinates == "identity"
    whole = sc.ScoreFunction(predictions.score, 200, 2, support=constraints.real)
    assert whole.support is None


def test_one_bounded_distribution():
    y = np.random.default_rng(0).beta(2.0, 3.0, size=(300, 1))
    beta = sc.ScoreFunction(lambda z: 1.0 / z - 2.0 / (1.0 - z), 1, 1, support=sc.coordinates.Box(0.0, 1.0))
    wrong = sc.ScoreFunction(lambda z: 2.0 / z - 2.0 / (1.0 - z), 1, 1, support=sc.coordinates.Box(0.0, 1.0))
    assert not sc.ksd_test(beta, y, rng=0).rejects()
    assert sc.ksd_test(wrong, y, rng=0).rejects()


@pytest.mark.parametrize("library", ["torch", "numpyro"])
@pytest.mark.parametrize("kind", ["Beta", "Gamma", "Uniform", "Dirichlet", "LogNormal"])
def test_bounded_distributions_of_libraries(library, kind):
    """Their own draws are not rejected; those of others are."""
    if library == "torch":
        import torch.distributions as family
        from torch import as_tensor as array

        wrap = sc.from_torch
    else:
        import jax
        import numpyro.distributions as family

        jax.config.update("jax_enable_x64", True)
        array, wrap = jax.numpy.asarray, sc.from_numpyro
    rng = np.random.default_rng(5)
    a, b = (array(np.exp(0.5 * rng.normal(size=200)) + 0.5) for _ in range(2))
    parameters = {
        "Beta": (a, b),
        "Gamma": (a, b),
        "Uniform": (a, a + b),
        "Dirichlet": (array(np.exp(rng.normal(size=(200, 3))) + 0.5),),
        "LogNormal": (a, 0.5 * b),
    }[kind]
    predictions = wrap(getattr(family, kind)(*parameters))
    y = predictions.sample(1, rng)[0]
    if kind == "Uniform":
        unmapped = sc.ScoreFunction(predictions.score, 200, 1)
        with pytest.raises(ValueError, match="zero everywhere"):
            sc.kccsd_test(unmapped, y, rng=0)
    result = sc.kccsd_test(predictions, y, rng=0)
    assert result.coordinates.startswith("unconstrain")
    assert result.pvalue > 0.01
    if kind != "Uniform":  # whose other targets lie outside
        wrong = predictions.sample(1, rng)[0][::-1] if library == "numpyro" else predictions.sample(1, rng)[0].flip(0)
        assert sc.kccsd_test(predictions, wrong, rng=0).rejects()


def test_ends_that_differ_between_predictions():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(300, 1))
    high = low + np.exp(rng.normal(size=(300, 1)))
    y = low + (high - low) * rng.beta(2.0, 2.0, size=(300, 1))
    box = sc.coordinates.Box(low, high)
    calibrated = sc.ScoreFunction(lambda z: 1.0 / (z - low) - 1.0 / (high - z), 300, 1, support=box)
    spoiled = sc.ScoreFunction(lambda z: 3.0 / (z - low) - 1.0 / (high - z), 300, 1, support=box)
    assert not sc.kccsd_test(calibrated, y, rng=0).rejects()
    assert sc.kccsd_test(spoiled, y, rng=0).rejects()
    assert repr(box) == "Box(300 rows of ends)"
    with pytest.raises(ValueError, match="have 300 rows, but there are 2 predictions"):
        sc.kccsd_test(sc.ScoreFunction(lambda z: 1.0 + z, 2, 1, support=box), y[:2], rng=0)


def linear_gaussian(n, rng, offset=0.0, unit=1.0):
    """Prior N(offset, 1) in the given units; the posterior, as a function, with the prior."""
    theta = rng.normal(size=(n, 2))
    x = theta + 0.5 * rng.normal(size=(n, 2))
    mean, variance = x / 1.25, 0.25 / 1.25
    prior = sc.Gaussian(np.full((1, 2), offset), unit)
    return (
        sc.ScoreFunction(lambda y: (mean - (y - offset) / unit) / (variance * unit), n, 2, prior=prior),
        offset + unit * theta,
    )


def test_standardised_coordinates_do_not_depend_on_units():
    """Nor on the origin: those of the prior, or of the predictions."""
    statistics = []
    for offset, unit in ((0.0, 1.0), (30.0, 1.0), (-5.0, 100.0)):
        predictions, y = linear_gaussian(200, np.random.default_rng(0), offset, unit)
        coordinates = sc.coordinates.standardise("prior")
        result = sc.kccsd_test(predictions, y, coordinates=coordinates, rng=0)
        assert result.coordinates == 'standardise("prior")'
        statistics.append(result.statistic)
        # Closed forms stay: exact GFD of standardised Gaussians
        mean = offset + unit * np.random.default_rng(1).normal(size=(200, 2))
        gaussian = sc.Gaussian(mean, unit * np.linspace(0.5, 1.5, 400).reshape(200, 2))
        target = mean + unit * np.random.default_rng(2).normal(size=(200, 2))
        for form in (gaussian, sc.Gaussian(gaussian.mean, covariance=gaussian.moments()[1])):
            statistics.append(sc.kccsd(form, target, coordinates=sc.coordinates.standardise()))
    assert statistics[0::3] == pytest.approx([statistics[0]] * 3, rel=1e-8)
    assert statistics[1::3] == pytest.approx([statistics[1]] * 3, rel=1e-8)
    assert statistics[2::3] == pytest.approx([statistics[1]] * 3, rel=1e-8)


def test_standardised_predictions_carry_their_scores():
    """A mixture in closed form against the same one as a function."""
    rng = np.random.default_rng(0)
    mixture = sc.GaussianMixture(
        rng.dirichlet([2.0, 2.0], size=50), 5.0 + rng.normal(size=(50, 2, 3)), 0.5 + rng.random(size=(50, 2, 3))
    )
    y = mixture.sample(1, rng)[0]
    moved, z, scores = sc.coordinates.standardise()(mixture, y)
    assert isinstance(moved, sc.GaussianMixture)
    means, covariances = moved.moments()
    np.testing.assert_allclose(np.mean(means, axis=0), 0.0, atol=1e-12)
    total = np.mean(covariances, axis=0) + means.T @ means / 50
    np.testing.assert_allclose(np.diag(total), 1.0)
    step = 1e-6
    for k in range(3):
        e = step * np.eye(3)[k]
        np.testing.assert_allclose(
            scores[:, k], (moved.log_prob(z + e) - moved.log_prob(z - e)) / (2 * step), rtol=1e-5, atol=1e-5
        )


def test_bad_standardise():
    with pytest.raises(ValueError, match='`by` must be "predictions" or "prior"'):
        sc.coordinates.standardise("targets")
    predictions, y = box_posterior(10, np.random.default_rng(0))
    with pytest.raises(TypeError, match="carry a `prior`"):
        sc.kccsd_test(predictions, y, coordinates=sc.coordinates.standardise("prior"), rng=0)
    with pytest.raises(TypeError, match=r"cannot be sampled.*standardise\(.prior.\)"):
        sc.kccsd_test(predictions, y, coordinates=sc.coordinates.standardise(), rng=0)
    with pytest.raises(ValueError, match="`prior` must be one distribution"):
        sc.ScoreFunction(predictions.score, 10, 2, prior=sc.Gaussian(np.zeros((2, 2)), 1.0))


def test_the_prior_is_the_base_measure():
    predictions, y = linear_gaussian(100, np.random.default_rng(0), offset=30.0)
    bare = sc.ScoreFunction(lambda z: np.arctan(predictions.score(z)), 100, 2)  # the base matters: not affine
    carried = sc.ScoreFunction(bare.score, 100, 2, prior=predictions.prior)
    for kernel in (sc.kernels.GFD, sc.kernels.KGFD):
        given = sc.kccsd(bare, y, distribution_kernel=kernel(base=predictions.prior), rng=0)
        assert sc.kccsd(carried, y, distribution_kernel=kernel(), rng=0) == given
        assert sc.kccsd(bare, y, distribution_kernel=kernel(), rng=0) != given
    gram = sc.gram_matrix(sc.kernels.GFD(), carried, rng=0)
    np.testing.assert_array_equal(gram, sc.gram_matrix(sc.kernels.GFD(predictions.prior), bare, rng=0))


def test_the_match_of_predictions_known_by_draws():
    """Of a mixture, in closed form and from draws."""
    rng = np.random.default_rng(0)
    mixture = sc.GaussianMixture(np.ones((500, 1)), rng.normal(size=(500, 1, 2)), np.full((500, 1), 0.5))
    exact = sc.kernels.base.base_measure("match", mixture, mixture.means, rng)
    drawn = sc.coordinates.unconstrain(sc.coordinates.Box())(mixture, mixture.sample(1, rng)[0])[0]
    assert not hasattr(drawn, "moments")
    found = sc.kernels.base.base_measure("match", drawn, mixture.means, rng)
    for a, b in zip(exact.moments(), found.moments(), strict=True):
        np.testing.assert_allclose(a, b, atol=0.06)


def test_supports_that_contradict_each_other():
    predictions, y = box_posterior(50, np.random.default_rng(0))
    declared = sc.ScoreFunction(predictions.score, 50, 2, support=sc.coordinates.Box(0.0, 1.0))
    with pytest.raises(ValueError, match=r"unconstrain Box\(0., inf\), but `predictions` live on Box\(0., 1.\)"):
        sc.kccsd_test(declared, y, coordinates=sc.coordinates.unconstrain(sc.coordinates.Box(0.0)), rng=0)
    wide = sc.ScoreFunction(predictions.score, 50, 2, support=sc.coordinates.Box(0.0, 1.0), prior=normal())
    with pytest.raises(ValueError, match=r"`prior` must lie inside the support"):
        sc.kccsd_test(wide, y, rng=0)
    rows = sc.coordinates.Box(np.linspace(-1.0, -0.1, 50)[:, None], 1.0)
    each = sc.ScoreFunction(predictions.score, 50, 2, support=rows, prior=normal())
    with pytest.raises(ValueError, match="`prior` cannot be mapped by a `Box` whose ends differ"):
        sc.kccsd_test(each, y, rng=0)
    scores = sc.Scores(predictions.score(y), np.ones((50, 50, 2)), inside(50))
    with pytest.raises(ValueError, match="`base_points` cannot be mapped by a `Box` whose ends differ"):
        sc.kccsd_test(scores, y, coordinates=sc.coordinates.unconstrain(rows), rng=0)
    with pytest.raises(ValueError, match="`base` must lie inside the support of the predictions"):
        sc.gram_matrix(sc.kernels.GFD(), declared, rng=0)


def normal():
    return sc.Gaussian(np.zeros((1, 2)), 1.0)


def test_transformed_distributions_end_where_their_base_does():
    """By themselves they say where the last transform may end."""
    import jax
    import numpyro.distributions as nd
    import torch
    import torch.distributions as td

    jax.config.update("jax_enable_x64", True)
    a = np.linspace(1.0, 2.0, 200)
    half_normal = torch.abs(torch.randn(200, generator=torch.Generator().manual_seed(0))).double()
    shifted = td.TransformedDistribution(
        td.Exponential(torch.as_tensor(a), validate_args=False), [td.AffineTransform(3.0, -2.0)], validate_args=False
    )
    predictions = sc.from_torch(shifted)
    assert repr(predictions.support) == "Box(-inf, 3.)"
    rng = np.random.default_rng(0)
    y = torch.as_tensor(3.0 - 2.0 * rng.exponential(1.0 / a))
    assert sc.kccsd_test(predictions, y, rng=0).pvalue > 0.01
    base = nd.Uniform(jax.numpy.asarray(a), 3.0)
    moved = nd.TransformedDistribution(base, [nd.transforms.AffineTransform(1.0, 2.0)])
    np.testing.assert_allclose(sc.from_numpyro(moved).support.low[:, 0], 1.0 + 2.0 * a)
    np.testing.assert_allclose(sc.from_numpyro(moved).support.high[:, 0], 7.0)
    log_normal = sc.from_torch(td.LogNormal(half_normal, 1.0))
    assert repr(log_normal.support) == "Box(0., inf)"
    assert sc.from_torch(td.Gumbel(half_normal, 1.0)).support is None
    folded = td.TransformedDistribution(td.Uniform(-half_normal - 1.0, 3.0), [td.AbsTransform()])
    with pytest.raises(TypeError, match="in a way that hides where it ends"):
        sc.from_torch(folded)  # on (0, 3), and not between the images of the ends
    hidden = td.TransformedDistribution(td.Dirichlet(torch.ones(200, 3)), [td.AffineTransform(0.0, 2.0)])
    with pytest.raises(TypeError, match="in a way that hides where it ends"):
        sc.from_torch(hidden)
    with pytest.raises(TypeError, match="VonMises, on a circle"):
        sc.from_torch(td.VonMises(half_normal, 1.0))
    truncated = sc.from_numpyro(nd.TruncatedNormal(jax.numpy.asarray(a), low=0.0))
    assert float(np.min(truncated.support.low)) == 0.0
