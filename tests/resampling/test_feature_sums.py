"""Sums of features of several statistics side by side, by their definition, in batches that add up."""

import numpy as np

from scorecal.pairwise import Features
from scorecal.resampling.feature_sums import are_unequal, side_by_side, sums_of_block


def test_sums_of_batches_add_up():
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(50, q)) for q in (2, 1, 3)]
    signs = rng.choice([-1.0, 1.0], size=(50, 7))
    features = [Features(lambda rows, v=v: v[rows, :], unskewed=v.shape[1] < 3) for v in values]
    parts = []
    for rows in (slice(0, 13), slice(13, 50)):
        block, widths = side_by_side(features, rows)
        parts.append(sums_of_block(block, widths, 3, signs[rows]))
    sums, every = parts[0] + parts[1], np.concatenate(values, axis=1)
    assert sums.columns == [slice(0, 2), slice(2, 3), slice(3, 6)]
    for found, power in ((sums.plain, 1), (sums.squares, 2)):
        np.testing.assert_allclose(found, np.sum(every**power, axis=0))
    np.testing.assert_allclose(sums.cubes, np.sum(every[:, :3] ** 3, axis=0))
    np.testing.assert_allclose(sums.signed, every.T @ signs)
    np.testing.assert_allclose(sums.signed_cubes, (every[:, :3] ** 3).T @ signs)
    second, last = sums.of(1), sums.of(2)
    np.testing.assert_array_equal(second.signed_cubes, sums.signed_cubes[2:3])
    assert (second.widths, last.cubes.shape, last.plain.shape) == ((1,), (0,), (3,))


def test_one_huge_feature_is_noticed_and_summed_in_full():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(200, 2))
    f[7, 1] = 1e6
    np.testing.assert_array_equal(are_unequal(f, [1, 1]), [False, True])
    signs = rng.choice([-1.0, 1.0], size=(200, 9))
    short, full = (sums_of_block(f, (1, 1), 2, signs.astype(dtype)) for dtype in (np.float32, np.float64))
    mended = short.where_unequal(full)
    np.testing.assert_array_equal(mended.signed[0], short.signed[0])
    np.testing.assert_array_equal(mended.signed[1], full.signed[1])
    np.testing.assert_array_equal(mended.signed_cubes[1], full.signed_cubes[1])
