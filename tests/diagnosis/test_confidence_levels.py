"""Verdict, words and sizes of `diagnose` are those of one level, whatever it is."""

import numpy as np
import pytest

import scorecal as sc


def biased(seed):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=60)
    return sc.Gaussian(mean, 1.0), mean + 0.3 + rng.normal(size=60)


def of_classes(seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(60, 2))
    right, claimed = (sc.Categorical(np.exp(k * logits) / np.exp(k * logits).sum(axis=1)[:, None]) for k in (1.0, 1.8))
    return claimed, right.sample(1, rng)[0]


@pytest.mark.parametrize("draw", [biased, of_classes])
def test_verdict_words_and_sizes_agree(draw):
    """Of 12 data sets with p-values of all sizes; words were those of level .05 at all confidence levels."""
    between = []
    for seed in range(12):
        predictions, y = draw(seed)
        pvalue = sc.calibration_test(predictions, y, n_resamples=99, rng=seed).pvalue
        between += [0.01 < pvalue <= 0.05, 0.05 < pvalue <= 0.1]
        for confidence_level, at in ((0.9, " at level 0.1"), (0.95, ""), (0.99, " at level 0.01")):
            found = sc.diagnose(
                predictions, y, covariates={}, confidence_level=confidence_level, n_resamples=99, rng=seed
            )
            rejected = found.result.rejects(1.0 - confidence_level + 1e-12)
            assert found.result.pvalue == pvalue
            assert bool(found.result.seen) is rejected
            verdict = "rejected" if rejected else "not rejected"
            assert found.message.startswith(f"Calibration is {verdict}{at} (p = ")
            assert rejected or not found.statements
    assert any(between[::2])
    assert any(between[1::2])


def test_a_given_result_keeps_the_level_of_its_words():
    predictions, y = biased(0)
    result = sc.calibration_test(predictions, y, rng=0)
    assert (result.level, result.seen) == (0.05, ("bias",))
    found = sc.diagnose(predictions, y, result=result, covariates={}, confidence_level=1.0 - result.pvalue / 2, rng=0)
    assert f"At level {result.pvalue / 2:g} it is not rejected." in found.message
