"""Targets far beyond all members or quantiles, of which ranks do not tell how far they are."""

import numpy as np
import pytest
import scipy.stats

import scorecal as sc

MEAN = np.random.default_rng(0).normal(size=(300, 1))
MEMBERS = MEAN + np.random.default_rng(1).normal(size=(300, 20))
LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
FORMS = {
    "members": sc.from_samples(MEMBERS),
    "quantiles": sc.from_quantiles(LEVELS, scipy.stats.norm.ppf(LEVELS, MEAN)),
}


def targets(count):
    y = MEAN[:, 0] + np.random.default_rng(2).normal(size=300)
    y[5 : 5 + count] = -999.0
    return y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 4])
def test_numbers_that_stand_for_missing_values(form, count):
    (warning,) = sc.calibration_test(FORMS[form], targets(count), n_resamples=99, rng=0).warnings
    assert warning.startswith(f"`y`: {count} of 300 targets lie more than 20 times the range of their {form}")
    assert "row 5 (-999)" in warning


@pytest.mark.parametrize("form", FORMS)
def test_no_word_on_good_data_nor_where_most_are_far(form):
    """The latter are a bias, which ranks see."""
    assert sc.calibration_test(FORMS[form], targets(0), n_resamples=99, rng=0).warnings == ()
    far = sc.calibration_test(FORMS[form], targets(0) + 500.0, n_resamples=99, rng=0)
    assert far.rejects()
    assert not any("times the range" in each for each in far.warnings)


@pytest.mark.parametrize("kind", ["rare counts", "rain", "Cauchy"])
def test_no_word_where_ranges_are_zero_or_short(kind):
    rng = np.random.default_rng(3)
    if kind == "rare counts":
        predictions, y = sc.from_samples(rng.poisson(0.02, (400, 20)).astype(float)), rng.poisson(0.02, 400)
    elif kind == "rain":
        wet = np.maximum(rng.normal(-1.5, 1.0, size=(400, 1)), 0.0)
        quantiles = np.maximum(wet * np.array([0.5, 1.0, 2.0]), 0.0)
        predictions, y = (
            sc.from_quantiles([0.1, 0.5, 0.9], quantiles),
            np.maximum(wet[:, 0], 0.1 * (rng.random(400) < 0.02)),
        )
    else:
        predictions, y = sc.from_samples(rng.standard_cauchy((1000, 5))), rng.standard_cauchy(1000)
    assert predictions.cautions(np.asarray(y, dtype=float)[:, None])[:1] == () or kind == "rain"
    assert not any("times the range" in each for each in predictions.cautions(np.asarray(y, dtype=float)[:, None]))
