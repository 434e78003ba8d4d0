"""Rows that depend on each other: which of them share a sign, and statistics and null draws by brute force."""

import datetime

import numpy as np
import pandas as pd
import pytest
import torch
from pair_table import Table

import scorecal as sc
from scorecal.pairwise import Features
from scorecal.resampling import ComputeOptions, RandomSigns, u_statistics
from scorecal.resampling.clusters import BLOCK_PER_HORIZON, clusters_of
from scorecal.resampling.estimators import Block, Complete, Incomplete, Linear, pairing_of
from scorecal.resampling.nulls import pack_signs
from scorecal.views import default_views

RNG = np.random.default_rng(0)
N = 90
SORTED = np.repeat(np.arange(9), 10)
SHUFFLED = RNG.integers(0, 12, size=N)
UNEQUAL = np.repeat(np.arange(6), [40, 1, 1, 8, 30, 10])
STATIONS = np.tile([0, 1, 2], 30)
ARGUMENTS = [
    {"groups": SORTED},
    {"groups": SHUFFLED},
    {"groups": UNEQUAL},
    {"horizon": 3},
    {"groups": STATIONS, "horizon": 2},
    {"groups": np.sort(STATIONS), "horizon": 2},
]
MEAN = RNG.normal(size=(N, 2))
Y = MEAN + RNG.normal(size=(N, 2)) * np.exp(0.3 * RNG.normal(size=(N, 1)))
PREDICTIONS = sc.Gaussian(MEAN, np.exp(0.2 * RNG.normal(size=N)))


def options_of(arguments, estimator=None):
    clusters = clusters_of(arguments.get("groups"), arguments.get("horizon"), N)
    return ComputeOptions(estimator or Complete(), clusters=clusters), clusters.labels


def signs_of(labels, n_draws=7):
    e = np.random.default_rng(3).choice([-1.0, 1.0], size=(labels.max() + 1, n_draws))
    return pack_signs(e), e[labels]


def apart_of(arguments, labels):
    """Pairs of rows of different clusters that do not overlap."""
    stations, place = np.asarray(arguments.get("groups", np.zeros(N))), np.zeros(N)
    for station in np.unique(stations):
        place[stations == station] = np.arange(np.sum(stations == station))
    near = (stations[:, None] == stations) & (np.abs(place[:, None] - place) < arguments.get("horizon", 0))
    return (labels[:, None] != labels) & ~near


def name(value):
    return "+".join(value) if isinstance(value, dict) else repr(value)


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=name)
@pytest.mark.parametrize(
    "estimator", [Complete(), Incomplete(4), Incomplete(50), Block(), Block(13), Linear()], ids=name
)
def test_pairs_against_a_double_loop(arguments, estimator):
    """Over the pairs that are near, once the second row of each is moved back, of rows that are apart."""
    values = RNG.normal(size=(N, N))
    values = values + values.T
    options, labels = options_of(arguments, estimator)
    apart = apart_of(arguments, labels)
    signs, e = signs_of(labels)
    plain, pairing = estimator.pairing(N), pairing_of(estimator, N, options.shared)
    total, by_row, drawn, count = 0.0, np.zeros(N), np.zeros(7), 0
    for i in range(N):
        for j in range(i + 1, N):
            near = j - pairing.shift
            far = near <= i or near - i > plain.reach or plain.block_of(np.array(i)) != plain.block_of(np.array(near))
            if far or not apart[i, j]:
                continue
            count += 1
            total += values[i, j]
            by_row[[i, j]] += 0.5 * values[i, j]
            drawn += e[i] * e[j] * values[i, j]
    assert count == pairing.n_pairs
    for tile in (None, 8, 24):
        found = u_statistics([Table(values)], Y, signs, options=options, tile=tile)
        assert found.statistic[0] == pytest.approx(total / count)
        np.testing.assert_allclose(found.contributions[0], by_row / count, atol=1e-12)
        np.testing.assert_allclose(found.null[0], drawn / count, atol=1e-12)


def corrected(plain, squares, cubes):
    """Hall's transform of a sum, in the units of the sum."""
    t, k = plain / squares**0.5, np.clip(cubes / squares**1.5, -0.3, 0.3)
    return squares**0.5 * (t + k * (2 * t**2 + 1) / 6 + k**2 * t**3 / 27)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("unskewed", [False, True])
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=name)
def test_features_against_sums_over_clusters(arguments, largest, unskewed):
    """The mean of f_i.f_j over pairs of rows that are apart, corrected for the skewness of clusters."""
    f = RNG.exponential(size=(N, 3)) - 0.8
    options, labels = options_of(arguments)
    signs, e = signs_of(labels)
    apart = apart_of(arguments, labels)
    across = (labels[:, None] != labels) & ~apart
    assert np.any(across) == ("horizon" in arguments)
    assert np.sum(apart) < N * (N - 1)

    def statistic(flips):
        sums = np.array([np.sum((flips * f)[labels == k], axis=0) for k in range(labels.max() + 1)])
        plain, squares, cubes = (np.sum(sums**k, axis=0) for k in (1, 2, 3))
        of_pairs = (corrected(plain, squares, cubes) if unskewed else plain) ** 2 - squares
        of_pairs -= np.einsum("iq,ij,jq->q", flips * f, across, flips * f)
        return np.max(of_pairs / squares) * N / np.sum(apart) if largest else np.sum(of_pairs) / np.sum(apart)

    if not largest and not unskewed:
        assert statistic(1.0) == pytest.approx(np.sum((f @ f.T)[apart]) / np.sum(apart))
    for tile in (None, 8):
        features = Features(lambda rows: f[rows], largest=largest, unskewed=unskewed)
        found = u_statistics([features], Y, signs, options=options, tile=tile)
        assert found.statistic[0] == pytest.approx(statistic(1.0))
        assert np.sum(found.contributions[0]) == pytest.approx(statistic(1.0))
        np.testing.assert_allclose(found.null[0], [statistic(column[:, None]) for column in e.T], atol=1e-12)
        if not largest and not unskewed:
            expected = np.sum(np.where(apart, f @ f.T, 0.0), axis=1) / np.sum(apart)
            np.testing.assert_allclose(found.contributions[0], expected, atol=1e-12)


def test_neighbours_are_of_different_clusters():
    """Although all near rows are of one group, few pairs are lost."""
    labels = np.repeat(np.arange(40), 25)
    for estimator in (Incomplete(5), Incomplete(100), Block(), Linear()):
        pairing = pairing_of(estimator, 1000, clusters_of(labels, None, 1000))
        assert pairing.n_pairs > 0.85 * estimator.pairing(1000).n_pairs
    assert pairing_of(Incomplete(5), 1000, clusters_of(np.arange(1000), None, 1000)).shift == 0
    assert pairing_of(Incomplete(5), 1000, clusters_of(np.arange(1000) % 40, None, 1000)).shift == 0


@pytest.mark.parametrize("estimator", ["complete", "incomplete", "block", "linear", "low-rank"])
def test_groups_of_one_row_are_no_groups(estimator):
    one = sc.kernels.Constant()
    for test, more in (
        (sc.kccsd_test, {"null": "signs"}),
        (sc.kccsd_test, {"null": "signs", "target_kernel": sc.kernels.Linear(), "distribution_kernel": one}),
        (sc.calibration_test, {"null": "signs"}),
    ):
        arguments = {"n_resamples": 99, "rng": 1, "estimator": estimator, **more}
        plain = test(PREDICTIONS, Y, **arguments)
        grouped = test(PREDICTIONS, Y, groups=[f"row {i}" for i in range(N)], **arguments)
        assert (grouped.statistic, grouped.pvalue) == (plain.statistic, plain.pvalue)
        np.testing.assert_array_equal(grouped.null_distribution, plain.null_distribution)
        np.testing.assert_array_equal(grouped.contributions, plain.contributions)
        assert grouped.warnings == ()


def every_test(**arguments):
    arguments = {"n_resamples": 49, "rng": 0, **arguments}
    one = sc.Gaussian([[0.0, 0.0]], 1.0)
    return [
        sc.kccsd_test(PREDICTIONS, Y, **arguments),
        sc.skce_test(PREDICTIONS, Y, **arguments),
        sc.kcsd_test(PREDICTIONS, Y, MEAN, **arguments),
        sc.ksd_test(one, Y, **arguments),
        sc.calibration_test(PREDICTIONS, Y, **arguments),
    ]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=name)
def test_every_test_takes_groups_and_horizon(arguments):
    for plain, found in zip(every_test(), every_test(**arguments), strict=True):
        assert np.sum(found.contributions) == pytest.approx(found.statistic)
        assert found.statistic != plain.statistic
        assert found.null == "signs"
        assert found.n == N


@pytest.mark.parametrize("estimator", ["incomplete", "block", "linear", "low-rank"])
def test_every_estimator_takes_groups(estimator):
    tests = [sc.kccsd_test, sc.calibration_test]
    for test in tests:
        found = test(PREDICTIONS, Y, groups=SORTED, estimator=estimator, n_resamples=49, rng=0)
        assert np.sum(found.contributions) == pytest.approx(found.statistic)
        assert found.null == "signs"


def test_workers_and_tiles_change_nothing_with_groups():
    arguments = {"groups": SHUFFLED, "n_resamples": 99, "precision": "full", "rng": 1}
    expected = sc.kccsd_test(PREDICTIONS, Y, **arguments)
    for more in ({"workers": 2}, {"workers": map}, {"memory": 2**20}):
        found = sc.kccsd_test(PREDICTIONS, Y, **arguments, **more)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
        np.testing.assert_allclose(found.null_distribution, expected.null_distribution, atol=1e-14)
        np.testing.assert_allclose(found.contributions, expected.contributions, atol=1e-15)


@pytest.mark.parametrize("n_groups", [2, 5, 9, 10, 12])
def test_few_groups_cannot_reject_and_say_so(n_groups):
    """Predictions that are wrong in every row: p is the share of signs that are all equal, or is held above 5 %."""
    groups = np.arange(N) % n_groups
    far = sc.Gaussian(MEAN + 3.0, 1.0)
    by_signs = [view for view in default_views(far) if view.name != "outliers"]  # a formula judges these
    for test, options in ((sc.kccsd_test, {}), (sc.calibration_test, {"views": by_signs})):
        found = test(far, Y, groups=groups, n_resamples=999, rng=0, **options)
        if n_groups < 10:
            # By chance, more than half of the signs of two are equal.
            assert 1 / n_groups <= found.pvalue < 1.1 / n_groups
            assert not found.rejects(0.05)
            assert found.critical_value(0.05) == np.inf
            assert f"only {n_groups} independent groups" in found.warnings[0]
        else:
            assert 2.0 ** (1 - n_groups) <= found.pvalue < 0.02
            assert found.rejects()
            assert f"{n_groups} independent groups are few" in found.warnings[0]


def test_equal_signs_are_ties():
    """With ten groups, one draw in 512 flips all or none of them: it is the statistic itself."""
    groups, n_draws = np.arange(N) % 10, 4000
    bits = np.frombuffer(np.random.default_rng(5).bytes(10 * n_draws // 8), np.uint8)
    n_plus = np.sum(np.unpackbits(bits).reshape(10, n_draws), axis=0)
    same = (n_plus == 0) | (n_plus == 10)
    assert np.sum(same) > 2
    one = sc.kernels.Constant()
    for kernels in ({}, {"target_kernel": one, "distribution_kernel": one}):
        options = {"groups": groups, "n_resamples": n_draws, **kernels}
        found = sc.kccsd_test(sc.Gaussian(MEAN + 3.0, 1.0), Y, rng=np.random.default_rng(5), **options)
        np.testing.assert_array_equal(found.null_distribution[same], found.statistic)
        assert found.pvalue == (1 + np.sum(same)) / (1 + n_draws)


KINDS = [
    ["b", "a", "b", "c"],
    ("b", "a", "b", "c"),
    [7, 3, 7, 5],
    [7, "a", 7, None.__class__],
    np.array([1.5, -2.0, 1.5, 9.0]),
    np.array(["b", "a", "b", "c"]),
    np.array(["2020-01-02", "2020-01-01", "2020-01-02", "2021-01-01"], dtype="datetime64[D]"),
    [datetime.date(2020, 1, d) for d in (2, 1, 2, 3)],
    pd.Series(["b", "a", "b", "c"], index=[9, 8, 7, 6]),
    pd.Series(["b", "a", "b", "c"], dtype="category"),
    pd.Series([2, 1, 2, 3], dtype="Int64"),
    torch.tensor([2, 1, 2, 3]),
]


@pytest.mark.parametrize("groups", KINDS, ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}")
def test_labels_of_any_kind(groups):
    np.testing.assert_array_equal(clusters_of(groups, None, 4).labels, [0, 1, 0, 2])


BAD = [
    ("too few", ["a", "b"], ValueError, "4 rows of `y`, but has shape (2,)"),
    ("a table", [[1, 2]] * 4, TypeError, "row 0 has [1, 2]"),
    ("a column", np.zeros((4, 1)), ValueError, "shape (4, 1)"),
    ("one word", "abcd", ValueError, "shape ()"),
    ("all the same", [1, 1, 1, 1], ValueError, "at least two different labels"),
    ("NaN", [1.0, np.nan, 2.0, np.nan], ValueError, "2 of 4 are missing, the first in row 1"),
    ("None", ["a", None, "b", "b"], ValueError, "1 of 4 are missing, the first in row 1"),
    ("text and NaN", ["a", "b", np.nan, "b"], ValueError, "the first in row 2"),
    ("NaT", pd.to_datetime(["2020", None, "2021", "2022"]), ValueError, "the first in row 1"),
    ("pd.NA", pd.Series([1, None, 2, 3], dtype="Int64"), ValueError, "the first in row 1"),
    ("masked", np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]), TypeError, "masked"),
    ("dictionaries", [{}, {}, {}, {}], TypeError, "row 0 has {}"),
]


@pytest.mark.parametrize(("groups", "error", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_labels_are_refused_by_name(groups, error, words):
    with pytest.raises(error, match="`groups`") as caught:
        clusters_of(groups, None, 4)
    assert words in str(caught.value)


@pytest.mark.parametrize("horizon", [0, -1, 1.5, True, "2"])
def test_bad_horizons_are_refused_by_name(horizon):
    with pytest.raises(ValueError, match="`horizon` must be a positive integer or None"):
        sc.kccsd_test(PREDICTIONS, Y, horizon=horizon)


def test_a_horizon_needs_two_blocks():
    fewest = 2 * 7 * BLOCK_PER_HORIZON
    with pytest.raises(ValueError, match=f"`horizon` must leave at least two blocks .* `y` has {fewest - 1}"):
        clusters_of(None, 7, fewest - 1)
    assert clusters_of(None, 7, fewest).n_clusters == 2


@pytest.mark.parametrize("null", ["student-t", "simulate"])
@pytest.mark.parametrize("arguments", [{"groups": SORTED}, {"horizon": 1}, {"horizon": 3}], ids=name)
def test_nulls_for_independent_rows_are_refused(arguments, null):
    for test in (sc.kccsd_test, sc.calibration_test):
        with pytest.raises(ValueError, match=f"`null` must not be '{null}' with `groups` or `horizon`"):
            test(PREDICTIONS, Y, estimator="linear", null=null, **arguments)


def test_signs_of_rows_where_groups_have_one_are_refused():
    class SignsOfRows:
        def distribution(self, averages, pairing, n_resamples, rng):
            return averages(RandomSigns().draw(pairing.n, n_resamples, rng))

    with pytest.raises(ValueError, match=r"signs of 9 rows .* in place of `pairing.n_clusters` signs"):
        sc.kccsd_test(PREDICTIONS, Y, groups=SORTED, null=SignsOfRows())


def test_blocks_are_of_consecutive_rows_and_nearly_equal_in_size():
    n, h = 1000, 6
    found = clusters_of(None, h, n)
    sizes = np.bincount(found.labels)
    assert np.all(np.diff(found.labels) >= 0)
    assert sizes.min() >= BLOCK_PER_HORIZON * h >= 4 * h
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == found.n_clusters == n // (BLOCK_PER_HORIZON * h)
    assert found.ordered
    assert not clusters_of(np.arange(n) % 5, None, n).ordered


def test_blocks_of_several_stations_are_within_each():
    stations, h = RNG.permuted(np.repeat(["a", "b", "c"], [200, 90, 3])), 2
    found = clusters_of(stations, h, 293)
    for station in "abc":
        own = found.labels[stations == station]
        assert np.all(np.diff(own) >= 0)
        sizes = np.unique(own, return_counts=True)[1]
        assert len(sizes) == max(1, len(own) // (BLOCK_PER_HORIZON * h))
        assert sizes.max() - sizes.min() <= 1
    assert len(set(zip(stations, found.labels, strict=True))) == found.n_clusters
    one_step = clusters_of(stations, 1, 293)
    assert (one_step.n_clusters, one_step.ordered) == (293, True)
    assert len(np.unique(one_step.series)) == 3


@pytest.mark.parametrize("estimator", ["linear", sc.estimators.Block(3), sc.estimators.Incomplete(2)])
def test_blocks_of_pairs_that_are_the_groups_are_shifted(estimator):
    """Rows of a block are of one group: each row is then paired with rows of the next block."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(2), 3)
    result = sc.kccsd_test(sc.Gaussian(np.zeros(6), 1.0), rng.normal(size=6), groups=groups, estimator=estimator, rng=0)
    assert np.sum(result.contributions) == pytest.approx(result.statistic)
