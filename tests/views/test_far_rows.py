"""Rows that are far: told from a bias, a wrong spread and heavy tails."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.views.far_rows import far_rows_in
from scorecal.views.frame import frame_of


def far_rows(errors, sd=1.0):
    n, d = errors.shape
    mean = np.random.default_rng(9).normal(size=(n, d))
    return far_rows_in(frame_of(sc.Gaussian(mean, sd), mean + sd * errors, 0.0))


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_far_rows_are_counted(count, d):
    """Also beside a bias of 2, and spreads that are wrong by half, which are no reason to take rows for far ones."""
    for seed in range(20):
        errors = np.random.default_rng(seed).normal(size=(300, d))
        errors[:count] = 40.0
        for moved in (errors, 2.0 + errors, 2.0 * errors, 0.6 * errors):
            found = far_rows(moved)
            assert abs(found.count - count) <= (seed % 10 == 0)  # one in a hundred by chance
            assert found.are_outliers == (found.count > 0) or found.shape_of_others > 2.0
            assert found.out_of_sight == (count > 0)


def test_many_far_rows_are_no_exception():
    errors = np.random.default_rng(0).normal(size=(300, 1))
    errors[:30] = 40.0
    assert far_rows(errors).count == 0


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda rng: np.sqrt(0.6) * rng.standard_t(5, size=(1000, 1)), 0.0),
        (lambda rng: np.sqrt(0.6) * rng.standard_t(5, size=(200, 3)), 0.15),
        (lambda rng: rng.gumbel(size=(1000, 1)) / 1.28, 0.0),
    ],
    ids=["t5", "t5 in 3 dimensions", "skewed"],
)
def test_heavy_tails_have_far_rows_but_no_outliers(draw, most):
    found = [far_rows(draw(np.random.default_rng(seed))) for seed in range(40)]
    assert np.mean([each.count > 0 for each in found]) > 0.5
    assert np.mean([each.are_outliers for each in found]) <= most


def test_the_far_end_of_two_spreads_is_not_beyond_doubt():
    """A fifth of the rows, of errors 1.7 times as large, has far rows now and then; one at 6 has no such reason."""
    doubtful = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        errors = np.where(rng.random((200, 1)) < 0.2, 1.7, 1.0) * rng.normal(size=(200, 1))
        found = far_rows(errors)
        doubtful += found.are_outliers
        assert not (found.beyond_doubt and found.log_chance > np.log(1e-4))
    assert doubtful >= 5
    assert (
        sum(
            far_rows(np.where(np.arange(200)[:, None] == 7, 6.0, rng.normal(size=(200, 1)))).beyond_doubt
            for _ in range(10)
        )
        >= 8
    )


@pytest.mark.parametrize("d", [1, 3])
def test_the_chance_of_the_farthest_row(d):
    """Of Gaussian errors it is an upper bound of a p-value, and nearly one."""
    chances = [far_rows(np.random.default_rng(seed).normal(size=(200, d))).log_chance for seed in range(400)]
    assert np.mean(np.array(chances) < np.log(0.1)) == pytest.approx(0.1, abs=3 * (0.09 / 400) ** 0.5)


@pytest.mark.parametrize("d", [1, 3])
def test_the_shape_of_the_others_is_in_standard_errors(d):
    """The larger of a one-sided and a two-sided normal number: 2 or more in 6.7 % of data sets, 3 in .4 %."""
    sizes = np.array(
        [far_rows(np.random.default_rng(seed).normal(size=(400, d))).shape_of_others for seed in range(400)]
    )
    assert np.mean(sizes > 2.0) == pytest.approx(0.067, abs=3 * (0.067 / 400) ** 0.5)
    assert np.mean(sizes > 3.0) <= 0.02


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    errors = np.random.default_rng(0).normal(size=(n, 2))
    assert not far_rows(errors).are_outliers
    far_rows(np.zeros((n, 2)) + np.arange(n)[:, None] * 1e-12)
