"""Conversion of arguments to arrays: the same numbers from every container, and refusals by name."""

import ast
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest
import torch

import scorecal as sc
from scorecal._lib.arrays import as_arrays

SOURCES = Path(sc.__file__).parent
NUMPY_ONLY = {
    "cautions/copies.py",
    "cautions/rows.py",
    "cautions/serial.py",
    "demo.py",
    "diagnosis/classes.py",
    "diagnosis/estimates.py",
    "diagnosis/regions.py",
    "diagnosis/residuals.py",
    "diagnosis/simultaneous.py",
    "diagnosis/sums.py",
    "experiments/flaws.py",
    "experiments/models.py",
    "experiments/power/oracle.py",
    "kernels/landmarks.py",
    "predictions/adapters/sbi/proposals.py",
    "views/classes/features.py",
    "views/classes/kernel.py",
    "views/classes/words.py",
    "views/common_factors.py",
    "views/normal_draws.py",
    "views/taken_out.py",
}
N = 60


def far_off():
    """Predictions in float32 and targets whose digits float32 does not have."""
    rng = np.random.default_rng(0)
    mean = (2e7 + 2.0 * np.arange(N)).astype(np.float32)
    return mean, mean + 0.5 * rng.standard_normal(N)


CONTAINERS = {
    "list": list,
    "list of lists": lambda y: [[value] for value in y],
    "tuple": tuple,
    "Series": pd.Series,
    "DataFrame": lambda y: pd.DataFrame({"y": y}),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_targets_keep_their_digits_in_every_container(container):
    mean, y = far_off()
    predictions = sc.Gaussian(mean, np.full(N, 0.5, np.float32))
    expected = sc.kccsd_test(predictions, y, n_resamples=99, rng=1)
    found = sc.kccsd_test(predictions, CONTAINERS[container](y), n_resamples=99, rng=1)
    assert found.statistic == expected.statistic
    assert found.pvalue == expected.pvalue
    rounded = sc.kccsd_test(predictions, y.astype(np.float32), n_resamples=99, rng=1)
    assert rounded.statistic != pytest.approx(expected.statistic, rel=0.1)  # what the digits are worth


@pytest.mark.parametrize("values", [np.array([20_000_001, 3]), [20_000_001, 3], torch.tensor([20_000_001, 3])])
def test_integers_keep_their_digits(values):
    library = torch if isinstance(values, torch.Tensor) else np
    y, _ = as_arrays(y=values, mean=library.ones(2, dtype=library.float32))
    assert float(y[0]) == 20_000_001.0


def test_a_list_beside_torch_and_jax_arrays_counts_as_float64():
    y, _ = as_arrays(y=[0.1, 0.2], mean=torch.ones(2))
    assert y.dtype == torch.float64
    assert float(y[0]) == 0.1
    with jax.enable_x64(True):
        y, _ = as_arrays(y=[0.1, 0.2], mean=jax.numpy.ones(2, dtype="float32"))
    assert y.dtype == "float64"


def test_narrow_arrays_and_single_numbers_do_not_widen_the_rest():
    half, small, number, _ = as_arrays(
        half=np.ones(2, np.float16), small=np.ones(2, np.int16), number=0.1, mean=np.ones(2, np.float32)
    )
    assert half.dtype == small.dtype == number.dtype == np.float32


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize("y", [MASKED, [MASKED, MASKED], ([1.0, 2.0], MASKED), [1.0, np.ma.masked], [[MASKED]]])
def test_masked_values_are_refused_wherever_they_are(y):
    with pytest.raises(TypeError, match="`y` is or holds a masked array"):
        as_arrays(y=y)


WRONG = {
    "long double": (np.ones((N, 1), np.longdouble), "float128|longdouble"),
    "long double scalars": ([np.longdouble(1)] * N, "float128|longdouble"),
    "complex": (np.ones((N, 1), complex), "complex128"),
    "complex list": ([1j] * N, "complex128"),
    "objects": (np.array([None] * N, dtype=object), "object"),
    "text": (["1.0"] * N, "<U3"),
    "booleans": (np.ones((N, 1), bool), "bool"),
    "complex tensor": (torch.ones((N, 1), dtype=torch.complex64), "complex64"),
    "meta tensor": (torch.ones((N, 1), device="meta"), "'meta'"),
    "sparse tensor": (torch.ones((N, 1)).to_sparse(), "sparse"),
    "complex JAX": (jax.numpy.ones((N, 1), dtype="complex64"), "complex64"),
    "keys": (jax.random.split(jax.random.key(0), N), "key"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_hold_real_numbers_is_refused_by_name(what):
    values, found = WRONG[what]
    library = type(values).__module__.split(".")[0]
    mean = torch.zeros(N) if library == "torch" else jax.numpy.zeros(N) if library.startswith("jax") else np.zeros(N)
    with pytest.raises(TypeError, match=f"^`y` must .*({found})"):
        sc.kccsd_test(sc.Gaussian(mean, 1.0), values)
    with pytest.raises(TypeError, match=f"^`mean` must .*({found})"):
        sc.Gaussian(values, 1.0)


def test_scores_in_long_double_are_refused_by_name():
    predictions = sc.ScoreFunction(lambda y: -y.astype(np.longdouble), n=N, dim=1)
    with pytest.raises(TypeError, match=r"^`predictions\.score.* float128"):
        sc.kccsd_test(predictions, np.arange(N) + 0.5)


AUTOCAST = {
    "kccsd_test": lambda p, y: sc.kccsd_test(p, y, n_resamples=99, rng=1),
    "calibration_test": lambda p, y: sc.calibration_test(p, y, n_resamples=99, rng=1),
    "skce_test": lambda p, y: sc.skce_test(p, y, n_resamples=99, rng=1),
    "kcsd_test": lambda p, y: sc.kcsd_test(p, y, y, n_resamples=99, rng=1),
    "low-rank": lambda p, y: sc.kccsd_test(p, y, n_resamples=99, rng=1, estimator="low-rank"),
}


@pytest.mark.parametrize("test", AUTOCAST)
def test_autocast_changes_nothing(test):
    rng = np.random.default_rng(3)
    mean, noise = (torch.tensor(rng.normal(size=(100, 3)), dtype=torch.float32) for _ in range(2))
    root = torch.tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.1, 0.2, 1.0]])
    predictions, y = sc.Gaussian(mean, covariance=root @ root.T), mean + 1.1 * noise @ root.T
    expected = AUTOCAST[test](predictions, y)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = AUTOCAST[test](predictions, y)
    np.testing.assert_array_equal(found.null_distribution, expected.null_distribution)
    assert found.pvalue == expected.pvalue


def test_a_loss_within_autocast_has_the_same_derivatives():
    rng = np.random.default_rng(3)
    mean, y = (torch.tensor(rng.normal(size=(50, 2)), dtype=torch.float32) for _ in range(2))

    def slopes(enabled):
        shift = torch.zeros(2, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            loss = sc.kccsd(sc.Gaussian(mean + shift, 1.0), y)
        return torch.autograd.grad(loss, shift)[0]

    torch.testing.assert_close(slopes(True), slopes(False), rtol=0, atol=0)


def test_matrix_products_go_through_one_function():
    """The operator @ would follow autocast and tf32; rooms that hold NumPy arrays only may use it."""
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.MatMult)
    }
    assert found == NUMPY_ONLY
