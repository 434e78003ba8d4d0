"""Level and power of `kccsd_test` with its defaults, against the nominal level and the authors' own counts."""

import numpy as np
import pytest
from scipy import stats

import scorecal as sc

MODELS = {
    "mgm": lambda n, delta, rng: sc.experiments.mgm(n, delta, rng=rng),
    "mgm first": lambda n, delta, rng: sc.experiments.mgm(n, delta, c="first", rng=rng),
    "lgm": sc.experiments.lgm,
    "hgm": sc.experiments.hgm,
    "qgm": sc.experiments.qgm,
}


def count_rejections(model, delta, n, n_repetitions):
    rejections = 0
    for repetition in range(n_repetitions):
        rng = np.random.default_rng([list(MODELS).index(model), int(100 * delta), n, repetition])
        predictions, y = MODELS[model](n, delta, rng)
        rejections += sc.kccsd_test(predictions, y, n_resamples=500, rng=rng).rejects()
    return rejections


@pytest.mark.parametrize("model", ["mgm", "lgm"])
def test_level_of_small_samples(model):
    assert count_rejections(model, 0.0, 64, 1000) <= 75


@pytest.mark.parametrize("model", ["mgm", "lgm"])
def test_level(model):
    low, high = stats.binom.ppf([0.005, 0.995], 1000, 0.05)
    assert low <= count_rejections(model, 0.0, 256, 1000) <= high


# Rejections out of 100 data sets by the authors' code (exact GFD, Gaussian l, B = 500).
AUTHORS = [
    ("mgm", 0.1, {64: 16, 128: 47, 256: 78}),
    ("mgm first", 0.1, {64: 7, 128: 11, 256: 13}),
    ("hgm", 1.0, {64: 45, 128: 84, 256: 100}),
    ("qgm", 1.0, {64: 19, 128: 21, 256: 41}),
    ("mgm", 0.0, {64: 5, 128: 9, 256: 7}),
    ("lgm", 0.0, {64: 5, 128: 6, 256: 9}),
]
N_CELLS = sum(len(counts) for _, _, counts in AUTHORS)


@pytest.mark.parametrize(("model", "delta", "counts"), AUTHORS, ids=[f"{m} {d}" for m, d, _ in AUTHORS])
def test_power_is_that_of_the_authors(model, delta, counts):
    """Two-proportion tests at 1 % overall."""
    for n, authors in counts.items():
        ours = count_rejections(model, delta, n, 250)
        pvalue = stats.fisher_exact([[authors, 100 - authors], [ours, 250 - ours]]).pvalue
        print(f"{model} delta={delta} n={n}: {ours} of 250, the authors {authors} of 100, p = {pvalue:.3f}")
        assert pvalue > 0.01 / N_CELLS
