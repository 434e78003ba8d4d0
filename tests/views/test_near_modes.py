"""The view of the spread near modes, for predictions of which only scores are known."""

from functools import partial

import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal.views.frame import frame_of
from scorecal.views.near_modes import NearModes

APART = np.array([2.0, 0.5])


def bimodal(n, seed, dim=1, told=1.0):
    """Two Gaussians of unit spread, told to have this one; returns predictions from scores, and targets."""
    rng = np.random.default_rng([seed, n])
    centre, half = 2.0 * rng.normal(size=(n, dim)), APART[:dim]
    y = centre + rng.choice([-1.0, 1.0], (n, 1)) * half + rng.normal(size=(n, dim))

    def score(points):
        gap = points - centre
        towards = np.tanh(np.sum(gap * half, axis=-1, keepdims=True) / told**2)
        return (towards * half - gap) / told**2

    return sc.ScoreFunction(score, n, dim), y


def rejections(told, n_sets, n=300, **options):
    results = [
        sc.calibration_test(*bimodal(n, seed, told=told), n_resamples=99, rng=seed, **options) for seed in range(n_sets)
    ]
    return [result for result in results if result.rejects()]


def two_laplaces(n, seed):
    """Calibrated, with scores that jump at the modes."""
    rng = np.random.default_rng([seed, n])
    centre, width = 2.0 * rng.normal(size=(n, 1)), 0.5
    y = centre + rng.choice([-2.0, 2.0], (n, 1)) + rng.laplace(scale=width, size=(n, 1))

    def score(points):
        gaps = (points - centre)[..., None] - np.array([-2.0, 2.0])
        logs = -np.abs(gaps) / width
        shares = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
        return -np.sum(shares * np.sign(gaps), axis=-1) / np.sum(shares, axis=-1) / width

    return sc.ScoreFunction(score, n, 1), y


@pytest.mark.parametrize("dim", [1, 2])
def test_features_are_squares_of_scores_plus_their_derivative(dim, monkeypatch):
    """With a short step; the derivative by automatic differentiation, along the direction in which the view looks."""
    monkeypatch.setattr("scorecal.views.near_modes._STEP", 1e-6)
    predictions, y = bimodal(40, 0, dim)
    frame = frame_of(predictions, y, 0.0)
    v = np.random.default_rng(0).standard_normal((40, dim))
    v = torch.as_tensor(v / np.linalg.norm(v, axis=1, keepdims=True))
    root = torch.as_tensor(frame.whitening.frame.root) @ torch.as_tensor(frame.whitening.root)
    half, start = torch.as_tensor(APART[:dim]), torch.as_tensor(y)
    centre = torch.as_tensor(2.0 * np.random.default_rng([0, 40]).normal(size=(40, dim)))

    def log_density(size):
        gap = start + size[:, None] * torch.einsum("nab,nb->na", root, v) - centre
        return torch.logaddexp(-0.5 * ((gap - half) ** 2).sum(1), -0.5 * ((gap + half) ** 2).sum(1)).sum()

    size = torch.zeros(40, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(log_density(size), size, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), size)
    expected = (slope**2 + curvature).detach().numpy()[:, None]
    np.testing.assert_allclose(NearModes().frame_features(frame, slice(0, 40)), expected, rtol=1e-3, atol=1e-3)


def test_scores_that_jump_are_not_taken_for_a_wrong_spread():
    rejected = sum(
        sc.calibration_test(*two_laplaces(300, seed), n_resamples=99, rng=seed).rejects() for seed in range(25)
    )
    assert rejected <= 6


@pytest.mark.parametrize("make", [bimodal, partial(bimodal, dim=2), two_laplaces], ids=["line", "plane", "jumps"])
def test_their_mean_is_zero_if_predictions_are_calibrated(make):
    frame = frame_of(*make(20_000, 1), 0.0)
    found = NearModes().frame_features(frame, slice(0, 20_000))
    assert abs(np.mean(found)) < 4.0 * np.std(found) / np.sqrt(20_000)


def test_drawn_targets_have_the_features_of_observed_ones():
    predictions, y = bimodal(30, 2, dim=2)
    frame = frame_of(predictions, y, 0.0)
    several = np.stack([y, y + 0.3])
    stacked = NearModes().of_stack(frame.redrawn(several, predictions.score(several)))
    for k, points in enumerate(several):
        alone = frame.redrawn(points[None], predictions.score(points)[None])
        np.testing.assert_allclose(stacked[k], NearModes().frame_features(alone, slice(0, 30)))


def test_only_predictions_with_several_modes_have_the_view():
    centre = np.random.default_rng(0).normal(size=(100, 1))
    heavy = sc.ScoreFunction(lambda y: -6.0 * (y - centre) / (5.0 + (y - centre) ** 2), 100, 1)
    single = sc.ScoreFunction(lambda y: centre - y, 100, 1)
    y = centre + np.random.default_rng(1).normal(size=(100, 1))
    for predictions, expected in ((heavy, False), (single, False), (bimodal(100, 0)[0], True)):
        names = [view.name for view in sc.calibration_test(predictions, y, n_resamples=19, rng=0).views]
        assert ("spread near modes" in names) == expected


def test_modes_that_are_too_narrow_or_too_wide_are_seen_and_named():
    """Before there was this view, the test rejected .20 of the narrow ones."""
    narrow, wide = rejections(0.85, 25), rejections(1.18, 25)
    assert len(narrow) >= 15
    assert len(wide) >= 12
    assert sum(result.seen[0] == "over-confidence" for result in narrow) > 0.7 * len(narrow)
    assert sum(result.seen[0] == "under-confidence" for result in wide) > 0.9 * len(wide)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300])  # by draws of chains, and by signs
def test_level(n):
    assert len(rejections(1.0, 1000, n)) <= 65
