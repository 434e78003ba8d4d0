"""Every number the authors' code gives (see data/README.md)."""

from pathlib import Path

import numpy as np
import pytest

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal._skce import skce_statistic
from scorecal.coordinates import identity
from scorecal.kernels.gram import distribution_gram
from scorecal.kernels.second_order import isotropic_pair_medians
from scorecal.resampling import u_statistics
from scorecal.resampling.signs import Signs

GOLDEN = np.load(Path(__file__).parent / "data" / "golden.npz")
CASES = sorted(name.removesuffix("/K") for name in GOLDEN if name.endswith("/K"))
UPPER = np.triu_indices(32, 1)
WHOLE = slice(0, 32)


def load(case):
    model = case.split("/")[0]
    predictions = sc.Gaussian(GOLDEN[f"{model}/mu"], GOLDEN[f"{model}/sigma"])
    return predictions, GOLDEN[f"{model}/y"], model


def kernels(case, ground):
    model, _, target, distribution, version = case.split("/")
    width = "median" if version == "median" else 1.0
    ground = sc.kernels.Gaussian(ground)
    points = GOLDEN[f"{model}/base_points"]
    target_kernel = {"gaussian": sc.kernels.Gaussian, "imq": sc.kernels.IMQ}[target](width)
    distribution_kernel = {
        "fisher_exact": lambda: sc.kernels.GFD(bandwidth=width),
        "fisher_mc10": lambda: sc.kernels.GFD(base=points, bandwidth=width),
        "kfisher_exact": lambda: sc.kernels.KGFD(ground, bandwidth=width),
        "kfisher_mc10": lambda: sc.kernels.KGFD(ground, base=points, bandwidth=width),
        "mmd_exact": lambda: sc.kernels.MMD(ground, bandwidth=width),
        "wasserstein": lambda: sc.kernels.Wasserstein(width),
    }[distribution]()
    return distribution_kernel, target_kernel


def compute(case, ground):
    predictions, y, model = load(case)
    distribution_kernel, target_kernel = kernels(case, ground)
    rng = np.random.default_rng(0)
    gram, _ = distribution_gram(distribution_kernel, predictions, y, rng)
    if "/skce/" in case:
        pairs, how = skce_statistic(predictions, y, distribution_kernel, target_kernel, None, None, rng)
        assert how["expectations"] == "exact"
    else:
        pairs = kccsd_statistic(predictions, y, distribution_kernel, target_kernel, identity, rng)
    signs = Signs(np.packbits(GOLDEN[f"{model}/signs"].T > 0), 500)
    return (
        gram(WHOLE, WHOLE)[UPPER],
        pairs.function(WHOLE, WHOLE)[UPPER],
        u_statistics([pairs.function], pairs.reference, signs),
        pairs.bandwidths,
    )


def assert_agrees(actual, expected, rtol):
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * np.max(np.abs(expected)))


def test_all_cases_are_here():
    assert len(CASES) == 54


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    _, _, ground = GOLDEN[f"{case}/bandwidths"]
    K, H, totals, bandwidths = compute(case, 1.0 if np.isnan(ground) else float(ground))
    expected = GOLDEN[f"{case}/bandwidths"]
    assert_agrees(float(bandwidths["target"]), expected[0], 1e-10)
    assert_agrees(float(bandwidths["distribution"]), expected[1], 1e-10)
    np.testing.assert_allclose(K, GOLDEN[f"{case}/K"], rtol=1e-10)
    np.testing.assert_allclose(H, GOLDEN[f"{case}/H"], rtol=1e-10)
    assert_agrees(totals.statistic[0], GOLDEN[f"{case}/statistic"], 1e-10)
    assert_agrees(totals.null[0], GOLDEN[f"{case}/null"], 1e-10)
    np.testing.assert_allclose(totals.contributions[0].sum(), totals.statistic[0], rtol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if "exact/median" in case and "/fisher" not in case])
def test_ground_bandwidth_and_what_rests_on_it(case):
    K, H, totals, bandwidths = compute(case, "median")
    assert_agrees(float(bandwidths["ground"]), GOLDEN[f"{case}/bandwidths"][2], 1e-4)
    assert_agrees(K, GOLDEN[f"{case}/K"], 1e-4)
    assert_agrees(H, GOLDEN[f"{case}/H"], 1e-4)
    assert_agrees(totals.null[0], GOLDEN[f"{case}/null"], 1e-4)


@pytest.mark.parametrize("model", ["hgm", "mgm"])
def test_pair_medians(model):
    predictions, _, _ = load(f"{model}/")
    i, j = UPPER
    scale = predictions.scale[:, 0]
    gap = np.linalg.norm(predictions.mean[i] - predictions.mean[j], axis=1)
    medians = isotropic_pair_medians(gap, scale[i], scale[j], predictions.dim)
    np.testing.assert_allclose(medians, GOLDEN[f"{model}/pair_medians"], rtol=2e-4)
