"""`diagnose` on rows that depend on each other: intervals and p-values rest on groups or blocks of rows."""

import dependence_warnings as study
import numpy as np
import pytest

import scorecal as sc
from scorecal.diagnosis.estimates import biases
from scorecal.diagnosis.regions import Partition, adjusted_pvalues, statistics_of_regions
from scorecal.diagnosis.sizes import Units
from scorecal.resampling import RandomSigns

CASES = {
    "groups": (lambda rng: study.clusters(300, 10, 0.3, rng), {"groups": np.repeat(np.arange(30), 10)}),
    "horizon": (lambda rng: study.overlapping(400, 6, rng), {"horizon": 6}),
}


def held(draw, n_sets, **options):
    return study.held(draw, n_sets, np.random.default_rng(0), **options)


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_the_truth_where_plain_ones_do_not(name):
    draw, options = CASES[name]
    assert held(draw, 100)[0] < 0.8
    assert np.all(held(draw, 100, **options) >= 0.88)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_the_truth_in_most_of_many_data_sets(name):
    draw, options = CASES[name]
    assert np.all(held(draw, 2000, **options) >= 0.91)


@pytest.mark.parametrize("options", [{"horizon": 1}, {"groups": [f"row {k}" for k in range(300)]}])
def test_a_cluster_for_each_row_changes_nothing(options):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 2))
    predictions, y = sc.Gaussian(mean, 0.8), mean + rng.normal(size=(300, 2))
    given = {"covariates": {"day": np.arange(300.0)}, "rng": 0}
    plain, same = sc.diagnose(predictions, y, **given), sc.diagnose(predictions, y, **given, **options)
    for name in ("bias", "confidence_ratio", "overall_bias", "overall_confidence_ratio"):
        np.testing.assert_allclose(getattr(same, name), getattr(plain, name))
    np.testing.assert_allclose(same.worst_direction.ratio, plain.worst_direction.ratio)
    np.testing.assert_allclose(same.correlations[0].found, plain.correlations[0].found)
    assert [(r.name, r.pvalue, r.contrast_pvalue) for r in same.regions] == [
        (r.name, r.pvalue, r.contrast_pvalue) for r in plain.regions
    ]
    assert str(same) == str(plain)


def test_intervals_of_clusters_of_one_row_are_plain_ones():
    values, labels = np.random.default_rng(0).normal(size=(50, 1)), np.random.default_rng(1).permutation(50)
    plain, same = biases(values, Units(50)), biases(values, Units(50, labels))
    np.testing.assert_allclose(same.estimates(0.1), plain.estimates(0.1))


@pytest.mark.parametrize("against_the_rest", [False, True])
def test_regions_of_clusters_by_brute_force(against_the_rest):
    """One cluster is a row that has the sum of its features, all in one bin."""
    rng = np.random.default_rng(0)
    sums = rng.normal(size=(80, 2)) - (0.5 if against_the_rest else 0.0)
    shares = rng.dirichlet(np.ones(3), size=80)
    features = (shares[:, :, None] * sums[:, None, :]).reshape(-1, 2)
    labels, bins = np.repeat(np.arange(80), 3), rng.integers(2, size=80)
    signs, both = RandomSigns().draw(80, 99, rng), np.eye(2, dtype=bool)
    of_rows = Partition("x", np.repeat(bins, 3), ["a", "b"], both)
    of_clusters = Partition("x", bins, ["a", "b"], both)
    found = statistics_of_regions(features, [of_rows], signs, labels, against_the_rest=against_the_rest)
    expected = statistics_of_regions(sums, [of_clusters], signs, against_the_rest=against_the_rest)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(adjusted_pvalues(found), adjusted_pvalues(expected))


def test_regions_of_groups_do_not_differ_by_chance():
    """A covariate of the groups: some have larger errors than others, as they share them."""
    rng, found = np.random.default_rng(0), np.zeros(2, dtype=int)
    for _ in range(24):
        mean, sd, y = study.clusters(400, 10, 0.5, rng)
        options = {"covariates": {"x": np.repeat(rng.normal(size=40), 10)}, "n_resamples": 99, "rng": 0}
        plain = sc.diagnose(sc.Gaussian(mean, sd), y, **options)
        grouped = sc.diagnose(sc.Gaussian(mean, sd), y, groups=np.repeat(np.arange(40), 10), **options)
        found += [plain.where is not None, grouped.where is not None]
    assert found[0] >= 7
    assert found[1] <= 4


def test_few_clusters_are_told():
    mean, sd, y = study.clusters(400, 50, 0.3, np.random.default_rng(0))
    diagnosis = sc.diagnose(sc.Gaussian(mean, sd), y, groups=np.repeat(np.arange(8), 50), rng=0)
    assert diagnosis.n_clusters == 8
    assert diagnosis.message.endswith(
        "400 rows, in 8 groups or blocks only: intervals are rough, and no sizes are stated."
    )
    assert diagnosis.where is None
    assert min(region.contrast_pvalue for region in diagnosis.regions) >= 1 / 8
    many = sc.diagnose(sc.Gaussian(mean, sd), y, groups=np.repeat(np.arange(40), 10), rng=0)
    assert "rough" not in many.message
    assert str(many).endswith("400 rows, in 40 groups or blocks; from moments.")


def test_clusters_of_rows_that_have_a_spread():
    """Rows of the first group have scores that point away from any centre, and are left out with their labels."""
    rng = np.random.default_rng(0)
    mean, lost = rng.normal(size=(220, 1)), np.arange(220) < 20
    y = mean + rng.normal(size=(220, 1))
    predictions = sc.ScoreFunction(lambda z: np.where(lost[:, None], z - mean, mean - z), 220, 1)
    with pytest.warns(UserWarning, match="20 of 220"):
        found = sc.diagnose(predictions, y, groups=np.arange(220) // 20, covariates={}, rng=0)
    alone = sc.diagnose(sc.Gaussian(mean[20:], 1.0), y[20:], groups=np.arange(200) // 20, covariates={}, rng=0)
    assert (found.n, found.n_clusters) == (200, 10)
    np.testing.assert_allclose(found.bias[0], alone.bias[0], rtol=1e-6)


def test_a_region_within_one_group_has_no_interval():
    mean, sd, y = study.clusters(400, 200, 0.0, np.random.default_rng(0))
    groups = np.arange(400) // 200
    region = sc.diagnose(sc.Gaussian(mean, sd), y, groups=groups, covariates={"g": groups}, rng=0).regions[0]
    assert (region.bias[0].low, region.bias[0].high) == (-np.inf, np.inf)
    assert (region.confidence_ratio[0].low, region.confidence_ratio[0].high) == (0.0, np.inf)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"groups": [1, 2]}, "`groups` must hold one label for each of the 50 rows"), ({"horizon": 0}, "`horizon` must")],
)
def test_bad_arguments(options, message):
    y = np.random.default_rng(0).normal(size=(50, 1))
    with pytest.raises(ValueError, match=message):
        sc.diagnose(sc.Gaussian(np.zeros((50, 1)), 1.0), y, **options)


@pytest.mark.parametrize("n", [10, 12, 30, 79, 200])
def test_sizes_of_rows_in_time_order_rest_on_blocks_where_errors_follow_each_other(n):
    rng = np.random.default_rng(0)
    error = np.zeros(n)
    for k in range(1, n):
        error[k] = 0.95 * error[k - 1] + 0.3 * rng.normal()
    found = sc.diagnose(sc.Gaussian(np.zeros(n), 1.0), error + 2.0, horizon=1, n_resamples=99, rng=0)
    if n < 40:
        assert found.n_clusters == n
    else:
        assert 20 <= found.n_clusters < n
    calm = sc.diagnose(sc.Gaussian(np.zeros(n), 1.0), rng.normal(size=n), horizon=1, n_resamples=99, rng=1)
    assert calm.bias[0].high - calm.bias[0].low < found.bias[0].high - found.bias[0].low or n < 40
