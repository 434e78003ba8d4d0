"""`LogDensity`: scores against finite differences, shapes, precision, and what it says when it fails."""

import subprocess
import sys

import numpy as np
import pytest
from backends import B, M, make_backend
from backends import N as ROWS
from pairwise import pairwise

import scorecal as sc
from scorecal._lib.arrays import to_numpy
from scorecal.predictions import log_density as module

RNG = np.random.default_rng(4)
N, D = 7, 3
X = RNG.normal(size=(N, 2))


@pytest.fixture(params=["torch", "cuda", "jax"])
def framework(request):
    return make_backend(request.param)


def quartic(y, x):
    """Up to a constant of x, with parts that mix dimensions."""
    return -0.25 * ((y - x[0]) ** 4).sum() - 0.5 * (y[0] * y[-1] - x[1]) ** 2 + 100.0 * x[0] ** 2


def batched_quartic(y, x):
    value = -0.25 * np.sum((y - x[:, :1]) ** 4, axis=-1)
    return value - 0.5 * (y[..., 0] * y[..., -1] - x[:, 1]) ** 2 + 100.0 * x[:, 0] ** 2


BUDGETS = [1, 2_000, 256_000_000]  # bytes: one row at once, a few, all


@pytest.mark.parametrize(
    ("framework", "budget", "dim", "lead", "shared"),
    [*pairwise(["torch", "jax"], BUDGETS, [1, 3], [(), (4,)], [False, True]), ("cuda", 2000, 3, (4,), True)],
    indirect=["framework"],
)
def test_scores_against_finite_differences(framework, dim, lead, shared, budget, monkeypatch):
    monkeypatch.setattr(module, "_BUDGET", budget)
    y = RNG.normal(size=(*lead, 1 if shared else N, dim))
    predictions = sc.LogDensity(quartic, framework.array(X), dim)
    scores = to_numpy(predictions.score(framework.array(y)))
    assert scores.shape == (*lead, N, dim)
    step = 1e-5
    for k in range(dim):
        shift = step * np.eye(dim)[k]
        slope = (batched_quartic(y + shift, X) - batched_quartic(y - shift, X)) / (2 * step)
        np.testing.assert_allclose(scores[..., k], slope, rtol=1e-6, atol=1e-6)
    values = to_numpy(predictions.log_prob(framework.array(y)))
    np.testing.assert_allclose(values, batched_quartic(y, X), rtol=1e-12)


MEMORY = """
import resource
import numpy as np, scorecal as sc
{imports}
x = {array}(np.zeros((200, 1)))
def log_density(y, x):
    wide = {tile}(y[0] - x[0], ({million},))  # 3 MB for each row, and as much for every step from here
    return -{xp}.sum({xp}.cos(wide) * {xp}.sin(wide + 1.0))
predictions = sc.LogDensity(log_density, x, 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
predictions.score({array}(np.ones((200, 1))))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000)
"""


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_memory_is_bounded(library):
    """All rows at once would take 640 MB for each of several intermediate values."""
    names = {
        "torch": {"imports": "import torch", "array": "torch.as_tensor", "tile": "torch.tile", "xp": "torch"},
        "jax": {
            "imports": "import jax; jax.config.update('jax_enable_x64', True)",
            "array": "jax.numpy.asarray",
            "tile": "jax.numpy.tile",
            "xp": "jax.numpy",
        },
    }[library]
    script = MEMORY.format(million=400_000, **names)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 600  # MB


def test_a_gaussian_gives_the_test_of_a_gaussian(framework):
    mean = RNG.normal(size=(ROWS, 2))
    y = mean + RNG.normal(size=(ROWS, 2))
    given = sc.LogDensity(lambda y, x: -0.5 * ((y - x) ** 2).sum(), framework.array(mean), 2)
    options = {"distribution_kernel": sc.kernels.GFD(n_base=M), "n_resamples": B, "precision": "full", "rng": 3}
    found = sc.kccsd_test(given, framework.array(y), **options)
    expected = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, **options)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)
    np.testing.assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-9, atol=1e-12)
    assert found.pvalue == expected.pvalue


def test_inputs_may_be_numbers_of_rows(framework):
    table = framework.array(X)
    rows = framework.xp.arange(N, device=framework.device)
    by_row = sc.LogDensity(lambda y, i: quartic(y, table[i[None], :][0]), rows, D)
    y = framework.array(RNG.normal(size=(N, D)))
    expected = sc.LogDensity(quartic, table, D).score(y)
    np.testing.assert_allclose(to_numpy(by_row.score(y)), to_numpy(expected), rtol=1e-12)


def test_the_density_is_evaluated_in_the_dtype_of_its_inputs():
    import torch

    weights = torch.ones(2, D, dtype=torch.float32)  # float64 targets would not multiply with these
    x = torch.asarray(X, dtype=torch.float32)
    predictions = sc.LogDensity(lambda y, x: -((y - x @ weights) ** 2).sum(), x, D)
    y = torch.asarray(RNG.normal(size=(N, D)))
    assert sc.kccsd_test(predictions, y, rng=0).pvalue > 0


def test_derivatives_go_through_the_parameters_of_the_density():
    import torch

    x, y = torch.asarray(X), torch.asarray(RNG.normal(size=(N, D)))
    shift = torch.zeros(D, dtype=torch.float64, requires_grad=True)
    predictions = sc.LogDensity(lambda y, x: -((y - x[0] - shift) ** 2).sum(), x, D)
    sc.kccsd(predictions, y, rng=0).backward()
    step = 1e-6
    for k in range(D):
        ends = []
        for sign in (-1, 1):
            moved = sign * step * torch.eye(D, dtype=torch.float64)[k]
            moved = sc.LogDensity(lambda y, x, moved=moved: -((y - x[0] - moved) ** 2).sum(), x, D)
            ends.append(float(sc.kccsd(moved, y, rng=0)))
        assert float(shift.grad[k]) == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-5)


def test_chains_stay_inside_a_bounded_support(framework):
    """Proposals outside are refused, as -inf and no score."""

    def positive(y, x):
        inside = framework.xp.where(y[0] > 0, y[0], framework.xp.ones_like(y[0]))
        value = framework.xp.log(inside) - inside
        return framework.xp.where(y[0] > 0, value, -np.inf * framework.xp.ones_like(value))

    predictions = sc.LogDensity(positive, framework.array(X), 1)
    start = framework.array(np.ones((N, 1)))
    draws = sc.MALA(n_warmup=50, start=start).draw(predictions, 5, rng=0, reference=start)
    assert bool((draws.samples > 0).all())


def bad(framework):
    array = framework.array(X)
    return {
        "vector": (lambda y, x: -(y**2), array, D, ValueError, "must return one number, a 0-d array"),
        "number": (lambda y, x: 1.0, array, D, ValueError, "but returned float"),
        "numpy": (quartic, X, D, TypeError, "`x` must be a torch tensor or a JAX array"),
        "no function": (3.0, array, D, TypeError, "`log_density` must be a function"),
        "no rows": (quartic, array[:0], D, ValueError, "`x` must have one row for each prediction"),
        "no dimension": (quartic, array, 0, ValueError, "`dim` must be a positive integer"),
        "flat": (lambda y, x: 0.0 * y.sum(), array, D, ValueError, "zero everywhere"),
        "nan": (lambda y, x: (y * np.nan).sum(), array, D, ValueError, "must be finite"),
        "outside": (lambda y, x: y.sum() * 0.0 - np.inf, array, D, ValueError, "outside the support"),
        "no gradient": (lambda y, x: framework.array(1.0) * 2.0, array, D, ValueError, "zero everywhere|gradient"),
    }


@pytest.mark.parametrize("case", bad(make_backend("torch")))
def test_bad_input(framework, case):
    function, x, dim, error, message = bad(framework)[case]
    y = framework.array(RNG.normal(size=(N, D)))
    with pytest.raises(error, match=message):
        sc.kccsd_test(sc.LogDensity(function, x, dim), y, rng=0)
