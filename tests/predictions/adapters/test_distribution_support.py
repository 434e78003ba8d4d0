"""Supports of distributions of torch and numpyro: found, mapped without being asked, or refused where they hide."""

import numpy as np
import pytest

import scorecal as sc


@pytest.mark.parametrize("library", ["torch", "numpyro"])
@pytest.mark.parametrize("kind", ["Beta", "Gamma", "Uniform", "Dirichlet", "LogNormal"])
def test_bounded_distributions_of_libraries(library, kind):
    """Their own draws are not rejected; those of others are. Some are NumPy's, which JAX is slow to compile."""
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
    a, b = (array(np.exp(rng.normal(size=200)) + 0.5) for _ in range(2))
    parameters = {
        "Beta": (a, b),
        "Gamma": (a, b),
        "Uniform": (a, a + b),
        "Dirichlet": (array(np.exp(rng.normal(size=(200, 3))) + 0.5),),
        "LogNormal": (a, 0.5 * b),
    }[kind]
    predictions = wrap(getattr(family, kind)(*parameters))
    if library == "numpyro" and kind in ("Beta", "Dirichlet"):
        parts = rng.standard_gamma(np.stack(parameters, axis=1) if kind == "Beta" else np.asarray(parameters[0]))
        shares = parts / np.sum(parts, axis=1, keepdims=True)
        y = wrong = array(shares[:, :1] if kind == "Beta" else shares)
    else:
        y, wrong = predictions.sample(2, rng)
    if kind == "Uniform":
        unmapped = sc.ScoreFunction(predictions.score, 200, 1)
        with pytest.raises(ValueError, match="zero everywhere"):
            sc.kccsd_test(unmapped, y, rng=0)
    result = sc.kccsd_test(predictions, y, rng=0)
    assert result.coordinates.startswith("unconstrain")
    assert result.pvalue > 0.01
    if kind != "Uniform":  # whose other targets lie outside
        wrong = wrong[::-1] if library == "numpyro" else wrong.flip(0)
        assert sc.kccsd_test(predictions, wrong, rng=0).rejects()


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
    with pytest.raises(TypeError, match="in a way that hides its support"):
        sc.from_torch(folded)  # on (0, 3), and not between the images of the ends
    hidden = td.TransformedDistribution(td.Dirichlet(torch.ones(200, 3)), [td.AffineTransform(0.0, 2.0)])
    with pytest.raises(TypeError, match="in a way that hides its support"):
        sc.from_torch(hidden)
    with pytest.raises(TypeError, match="VonMises, on a circle"):
        sc.from_torch(td.VonMises(half_normal, 1.0))
    truncated = sc.from_numpyro(nd.TruncatedNormal(jax.numpy.asarray(a), low=0.0))
    assert float(np.min(truncated.support.low)) == 0.0
