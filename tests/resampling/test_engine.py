"""The engine against brute force, over tile sizes, threads and backends; signs against the bits they come from."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from pair_table import Table
from pairwise import pairwise

import scorecal as sc
from scorecal._lib.arrays import to_numpy
from scorecal.pairwise import Features
from scorecal.resampling import ComputeOptions, RandomSigns, engine, tiles, u_statistics
from scorecal.resampling.signs import Signs

RNG = np.random.default_rng(9)


def symmetric(n):
    values = RNG.normal(size=(n, n))
    return values + values.T


def expand(signs, n):
    bits = np.unpackbits(signs.packed, count=n * signs.n_resamples)
    return 2.0 * bits.reshape(n, signs.n_resamples) - 1.0


SIZES, TILES = [2, 7, 8, 9, 64, 101], [8, 24, 384]


@pytest.mark.parametrize(
    ("backend", "n", "tile"),
    [
        *(("numpy", n, tile) for n in SIZES for tile in TILES),
        *pairwise(["torch", "cuda", "jax", "strict"], SIZES, TILES),
    ],
    indirect=["backend"],
)
def test_against_brute_force(backend, n, tile):
    values = [symmetric(n), symmetric(n)]
    signs = RandomSigns().draw(n, 13, np.random.default_rng(1))
    e = expand(signs, n)
    totals = u_statistics([Table(backend.array(H)) for H in values], backend.array(np.zeros((n, 1))), signs, tile=tile)
    for v, H in enumerate(values):
        H = H - np.diag(np.diag(H))
        scale = n * (n - 1)
        np.testing.assert_allclose(float(totals.statistic[v]), H.sum() / scale, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(to_numpy(totals.contributions)[v], H.sum(axis=1) / scale, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(
            to_numpy(totals.null)[v], np.einsum("ib,ij,jb->b", e, H, e) / scale, rtol=1e-10, atol=1e-13
        )


def test_result_does_not_depend_on_the_number_of_threads(monkeypatch):
    H, reference = symmetric(200), np.zeros((200, 1))
    signs = RandomSigns().draw(200, 10, np.random.default_rng(1))
    results = []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(engine, "cpu_count", lambda n_threads=n_threads: n_threads)
        results.append(u_statistics([Table(H)], reference, signs, tile=24))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].null, other.null)
        np.testing.assert_array_equal(results[0].contributions, other.contributions)


def test_statistic_is_the_same_with_and_without_signs():
    H, reference = symmetric(300), np.zeros((300, 1))
    signs = RandomSigns().draw(300, 10, np.random.default_rng(1))
    assert u_statistics([Table(H)], reference).statistic == u_statistics([Table(H)], reference, signs).statistic
    assert u_statistics([Table(H)], reference).null is None


def test_float32_is_added_up_in_float64():
    n = 4000
    H = np.full((n, n), 0.1, dtype=np.float32)
    assert abs(np.cumsum(H)[-1] / H.size - H[0, 0]) > 1e-4  # what a running sum in float32 would give
    totals = u_statistics([Table(H)], np.zeros((n, 1), np.float32))
    assert totals.statistic.dtype == np.float64
    assert totals.statistic[0] == pytest.approx(np.float32(0.1), rel=1e-6)


def test_error_in_a_tile_reaches_the_caller():
    class Broken(Table):
        def __call__(self, rows, cols):
            raise RuntimeError("broken tile")

    with pytest.raises(RuntimeError, match="broken tile"):
        u_statistics([Broken(None)], np.zeros((100, 1)), tile=8)


def test_tile_must_start_on_a_byte():
    with pytest.raises(ValueError, match="`tile` must be a multiple of 8"):
        u_statistics([Table(symmetric(20))], np.zeros((20, 1)), tile=10)


def test_no_tile_exceeds_the_memory():
    seen = []

    class Watched(Table):
        floats_per_pair = 50

        def __call__(self, rows, cols):
            seen.append((rows.stop - rows.start) * (cols.stop - cols.start))
            return np.zeros((rows.stop - rows.start, cols.stop - cols.start))

    u_statistics([Watched(None)], np.zeros((3000, 1)), options=ComputeOptions(memory=4_000_000))
    assert max(seen) * 50 * 8 * engine.cpu_count() <= 4_000_000
    assert max(seen) > 1000


def test_signs_are_the_bits_row_by_row(backend):
    signs = RandomSigns().draw(50, 7, np.random.default_rng(4))
    raw = np.frombuffer(np.random.default_rng(4).bytes(44), dtype=np.uint8)
    expected = 2.0 * np.unpackbits(raw)[:350].reshape(50, 7) - 1.0
    placed = signs.on(backend.array(np.zeros((50, 1))))
    np.testing.assert_array_equal(to_numpy(placed(slice(0, 50))), expected)
    np.testing.assert_array_equal(to_numpy(placed(slice(8, 41))), expected[8:41])


def test_signs_are_fair_and_independent():
    e = expand(RandomSigns().draw(64, 4096, np.random.default_rng(0)), 64)
    assert abs(e.mean()) < 5 / np.sqrt(e.size)
    products = e @ e.T / 4096
    assert np.abs(products - np.eye(64)).max() < 5.5 / np.sqrt(4096)


def test_signs_of_given_bits():
    chosen = RNG.integers(0, 2, (9, 11)) * 2 - 1
    signs = Signs(np.packbits(chosen > 0), 11)
    np.testing.assert_array_equal(expand(signs, 9), chosen)


GROWTH = """
import sys
import scorecal as sc
def peak():  # of this process alone; ru_maxrss would begin at its parent's
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
predictions, y = sc.experiments.mgm(12_000, 0.0, rng=0)
sc.kccsd_test(*sc.experiments.mgm(10, 0.0, rng=0), rng=0)
before = peak()
if sys.argv[1] == "kccsd":
    sc.kccsd_test(predictions, y, rng=0)
elif sys.argv[1] == "skce and kcsd":
    predictions, y = sc.experiments.mgm(8_000, 0.0, rng=0)
    sc.skce_test(predictions, y, n_resamples=99, rng=0)
    sc.kcsd_test(predictions, y, y, n_resamples=99, rng=0)
else:  # what comes before the tiles, of the kernels that need draws
    import numpy as np
    from scorecal.kernels.gram import distribution_gram
    diagonal = sc.Gaussian(predictions.mean, np.ones((12_000, 5)))
    distribution_gram(sc.kernels.KGFD(), diagonal, y, np.random.default_rng(0))
    distribution_gram(sc.kernels.MMD(n_samples=20), diagonal, y, np.random.default_rng(0))
print(peak() - before)
"""


@pytest.mark.parametrize("what", ["kccsd", "skce and kcsd", "kernels"])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_memory_of_many_points(what):
    """In less than 400 MB, of 12,000 points, and 8,000 for the SKCE: a matrix of them would take 1150 or 510 MB."""
    run = subprocess.run([sys.executable, "-c", GROWTH, what], capture_output=True, text=True, check=True)
    assert 0 < float(run.stdout) < 400


def test_embeddings_are_held_once():
    """Fifty numbers a row, and as many while they are made; twice as much again before they were made so."""
    rng, n = np.random.default_rng(0), 90_000
    mean, y = rng.normal(size=(2, n, 5))
    options = {"distribution_kernel": sc.kernels.GFD(n_base=10), "n_resamples": 9, "rng": 0}
    sc.kccsd_test(sc.Gaussian(mean[:50], 1.0), y[:50], estimator="low-rank", **options)  # what is imported on first use
    tracemalloc.start()
    sc.kccsd_test(sc.Gaussian(mean, 1.0), y, estimator=sc.estimators.LowRank(4), **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 50 < peak / (8 * n) < 125


@pytest.mark.parametrize("per_strip", [1, 2, 5])
def test_strips_of_few_tiles_give_the_same(monkeypatch, per_strip):
    """Rows of blocks that are cut into several strips, as they are beyond some ten thousand points."""
    n = 90
    H, signs = symmetric(n), RandomSigns().draw(n, 11, np.random.default_rng(3))
    whole = u_statistics([Table(H)], np.zeros((n, 1)), signs, tile=8)
    monkeypatch.setattr(tiles, "_TILES_PER_STRIP", per_strip)
    monkeypatch.setattr(tiles, "_PAIRS_PER_STRIP", 0)
    cut = u_statistics([Table(H)], np.zeros((n, 1)), signs, tile=8)
    off = H - np.diag(np.diag(H))
    flips = signs.on(H)(slice(0, n))
    for found in (whole, cut):
        np.testing.assert_allclose(found.contributions[0], off.sum(axis=1) / (n * (n - 1)), atol=1e-14)
        expected = np.einsum("ib,ij,jb->b", flips, off, flips) / (n * (n - 1))
        np.testing.assert_allclose(found.null[0], expected, atol=1e-14)


@pytest.mark.parametrize("unit", [1.0, 1e-40, 1e40])
def test_signs_in_float32_change_draws_by_their_rounding_only(backend, unit):
    """Whatever the units: numbers that float32 cannot hold are multiplied in units of each row."""
    rng = np.random.default_rng(0)
    h, f = rng.standard_normal((2, 200, 200)) * np.exp(3.0 * rng.standard_normal(200))
    h, f = h + h.T, unit * f
    moved = backend.array(f)
    functions = [Table(backend.array(unit * h)), Features(lambda rows: moved[rows, :5], unskewed=unit == 1.0)]
    signs = RandomSigns().draw(200, 33, rng)
    full, mixed = (
        u_statistics(functions, moved, signs, options=ComputeOptions(precision=precision), tile=40)
        for precision in ("full", "mixed")
    )
    np.testing.assert_array_equal(to_numpy(mixed.statistic), to_numpy(full.statistic))
    for one, other in zip(to_numpy(mixed.null), to_numpy(full.null), strict=True):
        assert np.max(np.abs(one - other)) < 1e-6 * np.std(other)
        assert np.any(one != other) or backend.name == "cuda"
