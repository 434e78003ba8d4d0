"""Half precision, the fused tile and memory on a GPU; without one, on the CPU as far as that goes."""

import os
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context

import jax
import numpy as np
import pytest
import torch
from backends import make_backend

import scorecal as sc
from scorecal._kccsd import kccsd_statistic
from scorecal._lib.arrays import full_product, to_numpy
from scorecal._lib.linalg import distance_factors
from scorecal.pairwise import Product, products
from scorecal.resampling import ComputeOptions, RandomSigns, engine, layout, signs, u_statistics
from scorecal.resampling.clusters import clusters_of
from scorecal.resampling.gpu.float16 import scaled_float16
from scorecal.resampling.gpu.fused import fused_tile
from scorecal.resampling.gpu.fused_radial import fused_radial, fused_radial_tile, radial_parts, radial_products
from scorecal.resampling.gpu.split import split

CAN_RUN_TRITON = find_spec("triton") is not None and (
    torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"
)
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MIXED = ComputeOptions(precision="mixed")


def pairs_of(n, dtype, device, target_kernel=None, spread=1.0, unit=1.0):
    """H on predictions whose scales, and so the sizes of rows of H, differ by a factor of exp(spread)."""
    rng = np.random.default_rng(0)
    mean, scale = rng.normal(size=(n, 3)), np.exp(spread * rng.normal(size=n))
    y = mean + 1.1 * scale[:, None] * rng.normal(size=(n, 3))
    mean, scale, y = (torch.as_tensor(unit * part, dtype=dtype, device=device) for part in (mean, scale, y))
    return kccsd_statistic(
        sc.Gaussian(mean, scale), y, sc.kernels.GFD(n_base=5), target_kernel, None, np.random.default_rng(1)
    )


@pytest.fixture
def as_if_on_a_gpu(monkeypatch):
    if not torch.cuda.is_available():
        for module in (engine, signs, layout):
            monkeypatch.setattr(module, "is_on_gpu", lambda array: True)
        monkeypatch.setattr(layout, "free_memory", lambda array: 2**30)


@pytest.mark.parametrize("target_kernel", [sc.kernels.Gaussian(), sc.kernels.IMQ()])
def test_half_precision_has_small_errors_and_the_same_statistic(as_if_on_a_gpu, target_kernel):
    n, n_resamples = 1000, 200
    signs = RandomSigns().draw(n, n_resamples, np.random.default_rng(2))
    exact = pairs_of(n, torch.float64, DEVICE, target_kernel)
    single = pairs_of(n, torch.float32, DEVICE, target_kernel)
    expected = u_statistics([exact.function], exact.reference, signs, tile=256)
    full = u_statistics([single.function], single.reference, signs, tile=256)
    mixed = u_statistics([single.function], single.reference, signs, options=MIXED, tile=256)
    sd = float(expected.null.std())
    assert 1e-7 * sd < float((mixed.null - full.null).abs().max()) < 0.01 * sd
    assert float((mixed.null - expected.null).abs().max()) < 0.01 * sd
    assert float((mixed.statistic - expected.statistic).abs().max()) < 1e-3 * sd
    errors = [float((each.contributions - expected.contributions).abs().max()) for each in (mixed, full)]
    assert errors[0] < 4 * errors[1]  # on a GPU with Triton 22 bits for the 24 of float32; otherwise the same


@pytest.mark.parametrize("arguments", [(np.arange(1000) % 37, None), (None, 3)], ids=["groups", "blocks"])
def test_groups_and_blocks_in_half_precision(as_if_on_a_gpu, arguments):
    """Tiles with pairs inside a group are not fused; others are."""
    clusters = clusters_of(*arguments, 1000)
    signs = RandomSigns().draw(clusters.n_clusters, 200, np.random.default_rng(2))
    exact, single = (pairs_of(1000, dtype, DEVICE) for dtype in (torch.float64, torch.float32))
    expected, mixed = (
        u_statistics(
            [each.function],
            each.reference,
            signs,
            options=ComputeOptions(clusters=clusters, precision="mixed"),
            tile=256,
        )
        for each in (exact, single)
    )
    sd = float(expected.null.std())
    assert float((mixed.null - expected.null).abs().max()) < 0.01 * sd
    assert float((mixed.statistic - expected.statistic).abs().max()) < 1e-3 * sd


@pytest.mark.parametrize("estimator", [sc.estimators.Incomplete(20), sc.estimators.Linear()], ids=repr)
def test_stacks_in_half_precision(as_if_on_a_gpu, estimator):
    signs = RandomSigns().draw(1000, 200, np.random.default_rng(2))
    exact, single = (pairs_of(1000, dtype, DEVICE) for dtype in (torch.float64, torch.float32))
    expected, mixed = (
        u_statistics(
            [each.function], each.reference, signs, options=ComputeOptions(estimator, precision="mixed"), tile=tile
        )
        for each, tile in ((exact, 64), (single, None))
    )
    sd = float(expected.null.std())
    assert 1e-9 * sd < float((mixed.null - expected.null).abs().max()) < 0.01 * sd
    assert float((mixed.statistic - expected.statistic).abs().max()) < 1e-3 * sd


@pytest.mark.parametrize("target_kernel", [sc.kernels.Gaussian(), sc.kernels.IMQ()])
def test_float16_holds_every_entry(target_kernel):
    function = pairs_of(500, torch.float32, DEVICE, target_kernel, unit=1e-4).function
    everything = slice(0, 500)
    block = function(everything, everything)
    assert float(block.abs().max()) > 1e6  # float16 ends at 65504
    half = scaled_float16(function, 500)
    assert 0.5 < float(half.block(block, everything).abs().max()) <= 1.01


def test_rows_too_unequal_for_float16_are_multiplied_in_full(as_if_on_a_gpu):
    """One target far away sets the scale; then most rows would vanish, and the null distribution with them."""
    rng = np.random.default_rng(0)
    y = 1e-5 * rng.normal(size=(400, 1))
    y[7] = 60.0
    mean, scale, y = (torch.as_tensor(part, dtype=torch.float32) for part in (0 * y, np.full(400, 1e-5), y))
    predictions, y = sc.Gaussian(mean.to(DEVICE), scale.to(DEVICE)), y.to(DEVICE)
    kernels = {
        "distribution_kernel": sc.kernels.GFD(n_base=3, bandwidth=1.0),
        "target_kernel": sc.kernels.Gaussian(1e-5),
    }
    mixed, full = (
        sc.kccsd_test(predictions, y, n_resamples=99, precision=precision, rng=0, **kernels)
        for precision in ("mixed", "full")
    )
    assert mixed.null_distribution.std() > 0
    np.testing.assert_array_equal(mixed.null_distribution, full.null_distribution)


@pytest.mark.skipif(not CAN_RUN_TRITON, reason="no CUDA device, and no Triton with TRITON_INTERPRET=1")
@pytest.mark.parametrize(("p", "q", "size"), [(57, 12, 1.0), (5, 6, 1e-6), (5, 6, 1e6), (150, 70, 1.0)])
@pytest.mark.parametrize("cols", [slice(140, 300), slice(0, 130)])
def test_the_fused_tile_is_the_plain_one(p, q, size, cols):
    """Off the diagonal and on it; for scores in any unit, and with one row that is far larger than the others."""
    draw = torch.Generator().manual_seed(0)
    psi, phi = (torch.randn(300, k, generator=draw).to(DEVICE) / k**0.5 for k in (p, q))
    phi[3] *= 30.0
    units = size**2 * (torch.rand(300, generator=draw).to(DEVICE) + 0.5)
    exponent, bilinear = Product(*distance_factors(psi)), Product(size * phi, size * phi.flip(1))
    rows = slice(0, 130)
    block, *sums = fused_tile(split(exponent), split(bilinear), units, rows, cols)
    wide = [Product(each.left.double(), each.right.double())(rows, cols) for each in (exponent, bilinear)]
    expected = torch.exp(wide[0].clamp(max=0.0)) * wide[1]
    terms = torch.exp(wide[0].clamp(max=0.0)) * Product(bilinear.left.abs(), bilinear.right.abs())(rows, cols)
    if rows == cols:
        expected = 0.5 * expected.fill_diagonal_(0.0)
    for axis, found in zip((1, 0), sums, strict=True):
        # Products of about 1 are cut, not rounded, to the digits of float32 at every 16 columns of three parts.
        error = 2.0**-23 * (1 + 3 * (p + 2) / 16) * terms.sum(axis)
        assert bool(((found.double() - expected.sum(axis)).abs() <= error).all())
    torch.testing.assert_close(block.double() * units[rows, None], expected, rtol=2e-3, atol=1e-6 * size**2)


@pytest.mark.skipif(not CAN_RUN_TRITON, reason="no CUDA device, and no Triton with TRITON_INTERPRET=1")
@pytest.mark.parametrize("kernel", [sc.kernels.Gaussian(), sc.kernels.IMQ(), sc.kernels.IMQ(c=0.7, beta=-0.8)], ids=str)
@pytest.mark.parametrize("outer", ["gaussian", "imq"])
@pytest.mark.parametrize("cols", [slice(140, 300), slice(0, 130)])
def test_the_fused_tile_of_radial_kernels_is_the_plain_one(monkeypatch, kernel, outer, cols):
    if isinstance(kernel, sc.kernels.Gaussian) and outer == "gaussian":
        pytest.skip("two Gaussian kernels have a tile of their own")
    single, exact = (_radial(dtype, kernel, outer) for dtype in (torch.float32, torch.float64))
    if isinstance(kernel, sc.kernels.Gaussian):  # as of a long table
        monkeypatch.setattr(products, "_MOST_HELD", 0)
    rows, units = slice(0, 130), torch.linspace(0.5, 1.5, 300, device=DEVICE)
    parts = radial_parts(*radial_products(single))
    assert fused_radial(single) is not None  # it has compared a few rows with the plain path
    block, *sums = fused_radial_tile(parts, units, rows, cols)
    expected = exact(rows, cols)
    if rows == cols:
        expected = 0.5 * expected.fill_diagonal_(0.0)
    size = float(expected.abs().max())
    for axis, found in zip((1, 0), sums, strict=True):
        assert float((found.double() - expected.sum(axis)).abs().max()) < 3e-6 * size * 130**0.5
    torch.testing.assert_close(block.double() * units[rows, None].double(), expected, rtol=2e-3, atol=1e-5 * size)


def _radial(dtype, kernel, outer):
    rng = np.random.default_rng(0)
    mean, y = rng.normal(size=(2, 300, 3))
    mean, y = (torch.as_tensor(part, dtype=dtype, device=DEVICE) for part in (mean, mean + y))
    between = sc.kernels.GFD(n_base=5, outer=outer)
    return kccsd_statistic(sc.Gaussian(mean, 1.0), y, between, kernel, None, np.random.default_rng(1)).function


def test_float64_stays_float64(as_if_on_a_gpu):
    exact = pairs_of(300, torch.float64, DEVICE)
    signs = RandomSigns().draw(300, 19, np.random.default_rng(2))
    mixed, full = (
        u_statistics([exact.function], exact.reference, signs, options=ComputeOptions(precision=p))
        for p in ("mixed", "full")
    )
    torch.testing.assert_close(mixed.null, full.null, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("name", "setting"),
    [("jax", "none"), *((name, how) for name in ("torch", "cuda") for how in ("none", "legacy", "allow", "new"))],
)
def test_products_do_not_lose_digits_to_tf32(name, setting, restored_precision):
    """Whatever the user's setting, which is left as it was."""
    if setting == "legacy":
        torch.set_float32_matmul_precision("medium")
    elif setting == "allow":
        torch.backends.cuda.matmul.allow_tf32 = True
    elif setting == "new":
        torch.backends.fp32_precision = "tf32"
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    backend = make_backend(name)
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(200, 50)), rng.normal(size=(50, 200))
    arrays = [backend.xp.asarray(backend.array(part), dtype=backend.xp.float32) for part in (left, right)]
    with jax.default_matmul_precision("bfloat16"):
        found = to_numpy(full_product(*arrays))
    np.testing.assert_allclose(found, to_numpy(arrays[0]) @ to_numpy(arrays[1]), rtol=0, atol=2e-5)  # tf32: 1e-2
    if setting == "legacy":
        assert torch.get_float32_matmul_precision() == "medium"
    elif setting == "allow":
        assert torch.backends.cuda.matmul.allow_tf32
        assert torch.backends.mkldnn.matmul.fp32_precision == "none"
    elif setting == "new":
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
        torch.backends.fp32_precision = "ieee"
        assert torch.backends.cuda.matmul.fp32_precision == "ieee"  # inherited, as it was


@pytest.fixture
def restored_precision():
    yield
    torch.backends.fp32_precision = "none"
    torch.backends.cuda.matmul.fp32_precision = "none"
    torch.set_float32_matmul_precision("highest")
    torch.backends.mkldnn.matmul.fp32_precision = "none"
    torch.backends.cuda.matmul.fp32_precision = "none"  # what the line before the last made "ieee"


class Hungry:
    """H = 1, as long as tiles are small."""

    floats_per_pair = 1

    def __init__(self, largest):
        self.largest, self.seen = largest, []

    def __call__(self, rows, cols):
        edge = rows.stop - rows.start
        self.seen.append(edge)
        if edge > self.largest:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return torch.ones((edge, cols.stop - cols.start), dtype=torch.float64)


def test_out_of_memory_is_answered_by_smaller_tiles():
    hungry = Hungry(400)
    found = u_statistics([hungry], torch.zeros((2000, 1), dtype=torch.float64))
    assert hungry.seen[:3] == [1536, 768, 384]
    assert float(found.statistic[0]) == pytest.approx(1.0)
    with pytest.raises(MemoryError, match="no memory left for tiles of 256 x 256 pairs"):
        u_statistics([Hungry(100)], torch.zeros((2000, 1), dtype=torch.float64))


def test_workers_with_arrays_on_a_gpu():
    """Each process has the device; sums come back through the host."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    predictions, y = sc.experiments.mgm(3000, 0.0, rng=0)
    mean, y = (torch.as_tensor(part, dtype=torch.float32, device="cuda") for part in (predictions.mean, y))
    here = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, n_resamples=99, memory=2**25, rng=0)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, n_resamples=99, memory=2**25, workers=pool.map, rng=0)
    sd = here.null_distribution.std()
    assert there.statistic == pytest.approx(here.statistic, abs=1e-6 * sd)
    np.testing.assert_allclose(there.null_distribution, here.null_distribution, rtol=0, atol=1e-5 * sd)


def test_precision_is_checked():
    with pytest.raises(ValueError, match="`precision` must be 'mixed' or 'full', but is 'half'"):
        sc.kccsd_test(*sc.experiments.mgm(20, 0.0, rng=0), precision="half")


@pytest.mark.parametrize("name", ["cuda", "jax"])
def test_arrays_stay_on_their_device(name):
    backend = make_backend(name)
    rng = np.random.default_rng(0)
    mean, y = (backend.array(rng.normal(size=(500, 2))) for _ in range(2))
    mean, y = (backend.xp.asarray(part, dtype=backend.xp.float32) for part in (mean, y))
    here = sc.kccsd_test(sc.Gaussian(np.asarray(mean.tolist()), 1.0), np.asarray(y.tolist()), n_resamples=99, rng=0)
    there = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, n_resamples=99, rng=0)
    assert there.statistic == pytest.approx(here.statistic, rel=1e-4)
    sd = here.null_distribution.std()
    np.testing.assert_allclose(there.null_distribution, here.null_distribution, rtol=0, atol=0.01 * sd)
