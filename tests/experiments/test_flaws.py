"""Predictions with known flaws: that each has the flaw it is named after."""

import numpy as np
import pytest
from scipy import stats

from scorecal.experiments import FLAWS, flawed
from scorecal.experiments.flaws import wave
from scorecal.experiments.power.residuals import whitened


def errors(flaw, size, n=50_000, dim=3):
    predictions, y = flawed(n, dim, flaw, size, rng=0)
    return predictions, whitened(predictions, y)


@pytest.mark.parametrize(("flaw", "size", "share"), [("outliers", 8.0, 0.02), ("hidden wide", 2.0, 0.2)])
def test_a_share_of_rows_has_larger_errors(flaw, size, share):
    _, w = errors(flaw, size)
    assert np.var(w) == pytest.approx(1 + share * (size**2 - 1), rel=0.1)
    assert np.mean(w**4) == pytest.approx(3 * (1 + share * (size**4 - 1)), rel=0.15)
    squares = w**2 - np.mean(w**2, axis=0)
    assert np.corrcoef(squares.T)[0, 1] > 0.1  # of whole rows, not of dimensions


def test_truncated_errors():
    _, w = errors("truncation", 2.0)
    assert 1.99 < np.max(np.abs(w)) < 2.0
    assert stats.kstest(w[:, 0], stats.truncnorm(-2, 2).cdf).pvalue > 1e-3


def test_one_pair_is_correlated_and_no_other():
    _, w = errors("one pair", 0.3)
    expected = np.eye(3)
    expected[1, 2] = expected[2, 1] = 0.3
    np.testing.assert_allclose(np.cov(w.T), expected, atol=0.03)


def test_waves_follow_the_predicted_mean_and_no_straight_line():
    predictions, w = errors("bias wave", 0.5, dim=1)
    crest = wave(predictions.mean)
    assert np.sum(crest * w) / np.sum(crest**2) == pytest.approx(-0.5, abs=0.03)
    assert abs(np.mean(w)) < 0.02
    assert abs(np.corrcoef(predictions.mean[:, 0], w[:, 0])[0, 1]) < 0.02
    predictions, w = errors("spread wave", 0.5, dim=1)
    factor = np.exp(0.5 * wave(predictions.mean))  # claimed too wide where it is above 1
    assert stats.kstest((w * factor)[:, 0], "norm").pvalue > 1e-3


def test_every_flaw_is_drawn_in_words_and_numbers():
    for flaw, words in FLAWS.items():
        predictions, y = flawed(10, 3, flaw, 4.0 if flaw in ("tails", "skew") else 0.5, rng=0)
        assert y.shape == (10, 3)
        assert np.all(np.isfinite(predictions.score(y)))
        assert len(words) < 110


def test_one_pair_needs_two_dimensions():
    with pytest.raises(ValueError, match="`dim` must be at least 2 for the flaw 'one pair', but is 1"):
        flawed(10, 1, "one pair", 0.3)
