"""Ranks among the rows so far, by their definition, and the polynomials of ranks."""

import numpy as np
import pytest
from scipy import stats

from scorecal.views.ranks import legendre_curves, ranks_of, ranks_so_far


def by_definition(values, series):
    """Share of the rows so far, of the same series, that are less, and half of those that are equal, itself too."""
    found = []
    for i, value in enumerate(values):
        known = values[: i + 1][series[: i + 1] == series[i]]
        found.append((np.sum(known < value) + 0.5 * np.sum(known == value)) / len(known))
    return np.array(found)


@pytest.mark.parametrize("ties", [False, True], ids=["different", "ties"])
@pytest.mark.parametrize("n_series", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 700, 2300])
def test_ranks_so_far_by_definition(n, n_series, ties):
    """Also beyond the 1000 rows of a block, and for series of other lengths, mixed."""
    rng = np.random.default_rng(n)
    values = rng.integers(0, 40, size=n).astype(float) if ties else rng.normal(size=n)
    series = np.minimum(rng.integers(0, 5, size=n), n_series - 1)
    series = np.unique(series, return_inverse=True)[1]
    found = ranks_so_far(values, None if n_series == 1 else series)
    np.testing.assert_allclose(found, by_definition(values, series if n_series > 1 else np.zeros(n)), rtol=1e-12)


def test_ranks_so_far_do_not_look_ahead():
    values = np.random.default_rng(0).normal(size=1500)
    other = np.concatenate([values[:1200], -5.0 * values[1200:]])
    np.testing.assert_array_equal(ranks_so_far(values, None)[:1200], ranks_so_far(other, None)[:1200])


def test_ranks_among_all():
    values = np.array([3.0, 1.0, 3.0, 2.0, 9.0])
    np.testing.assert_allclose(ranks_of(values), (stats.rankdata(values) - 0.5) / 5.0)


def test_ranks_of_very_many_rows_are_those_among_a_subset():
    values = np.random.default_rng(0).normal(size=150_000)
    exact = (stats.rankdata(values) - 0.5) / len(values)
    np.testing.assert_allclose(ranks_of(values), exact, atol=4.0 * 0.5 / 100_000**0.5)


def test_curves_are_orthonormal():
    """By Gauss and Legendre's rule of 20 nodes, exact for polynomials of these orders."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    orders = (1, 2, 3, 4)
    curves = legendre_curves(0.5 * (nodes + 1.0), orders)
    np.testing.assert_allclose(curves.T @ (0.5 * weights[:, None] * curves), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(0.5 * weights @ curves, 0.0, atol=1e-12)
    np.testing.assert_array_equal(legendre_curves(0.5 * (nodes + 1.0), (2, 4)), curves[:, [1, 3]])
