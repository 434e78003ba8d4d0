"""Warnings on the results of every test, from arrays of every library, and what clusters change."""

import dependence_warnings as study
import numpy as np
import pytest
from backends import B, D, N

import scorecal as sc

RNG = np.random.default_rng(3)
MEAN = RNG.normal(size=(60, 1))
Y = MEAN + RNG.normal(size=(60, 1))
TESTS = {
    "calibration": sc.calibration_test,
    "kccsd": sc.kccsd_test,
    "skce": sc.skce_test,
    "kcsd": lambda predictions, y, **options: sc.kcsd_test(predictions, y, y[::-1].copy(), **options),
}


@pytest.mark.parametrize("name", TESTS)
def test_every_test_warns_of_dependent_rows_and_not_of_good_ones(name):
    mean, sd, y = study.overlapping(200, 6, np.random.default_rng(0))
    (warning,) = TESTS[name](sc.Gaussian(mean, sd), y, n_resamples=B, rng=0).warnings
    assert warning.startswith("Rows 1 apart are correlated (0.")
    assert TESTS[name](sc.Gaussian(MEAN, 1.0), Y, n_resamples=B, rng=0).warnings == ()


def test_scores_alone():
    mean, sd, y = study.overlapping(200, 6, np.random.default_rng(0))
    gaussian = sc.Gaussian(mean, sd)
    for given in (sc.ScoreFunction(gaussian.score, 200, 1), sc.Scores(gaussian.score(y))):
        found = sc.kccsd_test(given, y, distribution_kernel=sc.kernels.Constant(), n_resamples=B, rng=0)
        assert found.warnings[0].startswith("Rows 1 apart")
    blind = sc.ScoreFunction(sc.Gaussian(MEAN, 1.0).score, 60, 1)
    for test in (sc.calibration_test, sc.kccsd_test):
        assert test(blind, Y, n_resamples=B, rng=0).warnings == ()


def test_classes():
    """In random order, sorted by class, and with one class for a while."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=300)
    y = (p.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    sorted_rows, runs = np.argsort(y), np.arange(300) // 10 % 3
    for order in (np.arange(300), sorted_rows):
        assert sc.skce_test(sc.Categorical(p[order]), y[order], n_resamples=B, rng=0).warnings == ()
    same = sc.Categorical(np.full((300, 3), 1 / 3))
    assert sc.skce_test(same, runs, n_resamples=B, rng=0).warnings[0].startswith("Rows 1 apart")


def test_arrays_of_every_library(backend):
    again = np.r_[np.arange(N - 2), [3, 4]]
    mean, y = (backend.array(np.tile(part[again], (1, D))) for part in (MEAN, Y))
    found = sc.kccsd_test(sc.Gaussian(mean, 1.0), y, n_resamples=B, rng=0).warnings
    assert found[0].startswith(f"2 of {N} rows are exact copies")
    assert found[1].startswith(f"{N} rows are few for random signs")


def test_dependence_that_is_known_is_not_warned_of():
    mean, sd, y = study.overlapping(400, 6, np.random.default_rng(0))
    predictions = sc.Gaussian(mean, sd)
    few, raised = sc.calibration_test(predictions, y, horizon=6, n_resamples=B, rng=0).warnings
    assert few.startswith("16 independent blocks of rows are few")
    assert raised.startswith("With 16 independent blocks of rows, the p-value")
    assert raised.endswith("by 1.42.")
    assert len(sc.kccsd_test(predictions, y, horizon=6, n_resamples=B, rng=0).warnings) == 1  # as the paper has it
    assert sc.kccsd_test(predictions, y, groups=np.arange(400) // 20, n_resamples=B, rng=0).warnings == ()
    assert sc.kccsd_test(predictions, y, horizon=1, n_resamples=B, rng=0).warnings[0].startswith("Rows 1 apart")


def test_draws_are_no_cure_for_rows_in_time_order():
    few = sc.Gaussian(MEAN[:30], 1.0)
    assert "simulate" in sc.kccsd_test(few, Y[:30], n_resamples=B, rng=0).warnings[0]
    assert "simulate" not in sc.kccsd_test(few, Y[:30], horizon=1, n_resamples=B, rng=0).warnings[0]


@pytest.mark.parametrize("kind", ["mixture", "full", "moments", "noisy", "bounded"])
def test_every_kind_of_prediction(kind):
    """Whole numbers are seen in units of the predicted spread, wherever it comes from."""
    mean = np.round(10.0 + 3.0 * MEAN, 2)
    y = np.round(mean + 2.0 * RNG.normal(size=(60, 1)))
    weights, two = np.full((60, 2), 0.5), np.stack([mean - 1.0, mean + 1.0], axis=1)
    predictions = {
        "mixture": sc.GaussianMixture(weights, two, np.full((60, 2), 1.8)),
        "full": sc.Gaussian(mean, covariance=np.full((60, 1, 1), 4.0)),
        "moments": WithMoments(mean, 2.0),
        "noisy": sc.Gaussian(mean, 2.0).noisy(0.3),
        "bounded": Positive(mean, 2.0),
    }[kind]
    warnings = sc.kccsd_test(predictions, y, n_resamples=B, rng=0).warnings
    assert warnings[0].startswith("Targets are whole numbers, in steps of 1 (0.")


class WithMoments:
    dim = 1

    def __init__(self, mean, sd):
        self.mean, self.sd, self.n = mean, sd, len(mean)

    def score(self, y):
        return (self.mean - y) / self.sd**2

    def moments(self):
        return self.mean, np.full((self.n, 1, 1), self.sd**2)


class Positive(WithMoments):
    support = sc.coordinates.Box(-100.0, np.inf)
