"""Cuts of numbers, however large or small, and their names."""

import numpy as np
import pytest

from scorecal.diagnosis.cuts import cuts_of

SHARES = np.linspace(0.0, 1.0, 401)


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (SHARES, "<= 0.050"),
        (20 * SHARES, "<= 1.0"),
        (1 + 20 * SHARES, "<= 2.0"),
        (2000 * SHARES, "<= 100"),
        ((2 * SHARES - 1) * 1.7e308, "<= -1.53e+308"),
        (SHARES * 1e-300, "<= 5.000e-302"),
        (SHARES * 1e30, "<= 5.000e+28"),
        (1e30 + SHARES * 1e20, "<= "),
        (np.arange(401) % 3 * 5e-324, "<= "),
        (np.arange(401) + np.iinfo(np.int64).min, "<= -9.22"),
        ((np.arange(401) % 256).astype(np.uint8), "<= 10"),
    ],
)
def test_names_are_short_and_nothing_overflows(values, first):
    cuts, names = cuts_of(values)
    assert names[0].startswith(first)
    assert len(names) == 2 * len(cuts)
    assert max(map(len, names)) < 30
    assert np.all(np.isfinite(cuts))


@pytest.mark.parametrize("width", [2, 4, 12])
def test_names_are_true_where_one_value_is_far_larger(width):
    """Each name is a number that lies between its neighbours: no positive value is called 0 or less."""
    values = np.random.default_rng(0).lognormal(0, width, size=1000)
    cuts, names = cuts_of(values)
    named = np.array([float(name.split()[1]) for name in names[: len(cuts)]])
    bounds = np.array([np.min(values), *cuts, np.max(values)])
    assert np.all((bounds[:-2] < named) & (named < bounds[2:]))
    assert max(map(len, names)) < 30


def test_noise_of_rounding_adds_no_digits():
    values = np.repeat([0.0, 0.3, 0.1 + 0.2, 1.0], 100)
    assert "<= 0.300" in cuts_of(values)[1]


def test_cuts_are_quantiles():
    values = np.random.default_rng(0).normal(size=1000)
    np.testing.assert_array_equal(cuts_of(values)[0], np.quantile(values, np.arange(1, 20) / 20))
    np.testing.assert_array_equal(
        cuts_of(values.astype(np.float32))[0],
        np.quantile(values.astype(np.float32).astype(float), np.arange(1, 20) / 20),
    )


def test_cuts_of_times_are_times():
    """No two of them are the same, and some rows are later than each."""
    times = np.datetime64("2024-01-01", "us") + np.arange(100) // 30 * np.timedelta64(1, "D")
    cuts, names = cuts_of(times)
    assert cuts.tolist() == np.unique(times)[:-1].tolist()
    assert names[0] == "= 2024-01-01"
    assert names[-1] == "= 2024-01-04"
