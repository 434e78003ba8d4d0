"""The ceiling of the power study: its likelihood ratios against densities, its level, and that nothing beats it."""

import numpy as np
import pytest
from scipy import stats

from scorecal.experiments import bounded, flawed, modes, skewed
from scorecal.experiments.flaws import HIDDEN_SHARES
from scorecal.experiments.power import checks, peers
from scorecal.experiments.power.grid import situations
from scorecal.experiments.power.oracle import BIASES, SHAPES, SPREADS, _direction, covariance_of, oracle
from scorecal.experiments.power.other_oracles import _gumbel_ratio, _weight_ratio, of_modes, of_skewed
from scorecal.experiments.power.residuals import whitened
from scorecal.experiments.power.shape_ratios import radial_ratio, skew_ratio

SIZE = {"tails": 5.0, "skew": 4.0, "outliers": 5.0, "hidden wide": 1.5, "truncation": 2.3, "shrinkage": 0.9}
SIZE |= {"scale": 0.9, "one scale": 0.8, "scale by x": 0.8, "correlation": 0.3, "one pair": 0.2, "spread wave": 0.3}
EVERY = [(flaw, SIZE.get(flaw, 0.3)) for flaw in (*BIASES, *SPREADS, *SHAPES)]


def test_level_of_every_oracle():
    """1000 calibrated data sets: 25 to 78 rejections at .05, and 2 to 23 at .01, in 99.99 % of such studies."""
    data = [flawed(50, 3, "none", rng=seed) for seed in range(1000)]
    for flaw, size in EVERY:
        found = np.asarray([oracle(*each, flaw=flaw, size=size) for each in data])
        assert 25 <= np.sum(found <= 0.05) <= 78, flaw
        assert 2 <= np.sum(found <= 0.01) <= 23, flaw


@pytest.mark.parametrize("row", [row for row in situations() if row.ideal and row.dim < 10], ids=lambda r: r.model.name)
def test_no_check_beats_the_oracle(row):
    """By more than three standard errors, among 60 data sets of 100 rows."""
    data = [row.draw(100, rng=seed) for seed in range(60)]
    ceiling = np.mean([row.ideal(*each) <= 0.05 for each in data])
    others = [
        checks.distances,
        checks.jarque_bera,
        checks.anderson_darling,
        checks.neyman,
        checks.regression,
        peers.sbc,
    ]
    for check in [*others, *([checks.largest_correlation] if row.dim > 1 else [])]:
        power = np.mean([check(*each) <= 0.05 for each in data])
        assert power <= ceiling + 3 * np.sqrt(max(0.02, power * (1 - power)) / 60), check.__name__


@pytest.mark.parametrize("flaw", BIASES)
def test_direction_of_a_bias(flaw):
    """Whitened errors have a mean along it, of known length, and none across."""
    size = SIZE.get(flaw, 0.3)
    predictions, y = flawed(100_000, 3, flaw, size, rng=0)
    direction, w = _direction(predictions, flaw, size), whitened(predictions, y)
    expected = (1 - size) / size if flaw == "shrinkage" else -size
    length = np.sum(w * direction) / np.sum(direction**2)
    assert length == pytest.approx(expected, abs=4 / np.sqrt(np.sum(direction**2)))
    np.testing.assert_allclose(np.mean((w - expected * direction) ** 2), 1, atol=0.02)


@pytest.mark.parametrize("flaw", ["scale", "one scale", "correlation", "one pair"])
def test_covariance_of_whitened_errors(flaw):
    predictions, y = flawed(100_000, 3, flaw, SIZE[flaw], rng=0)
    np.testing.assert_allclose(np.cov(whitened(predictions, y).T), covariance_of(flaw, SIZE[flaw], 3), atol=0.03)


def test_ratios_are_those_of_densities():
    """Up to a constant."""
    w = np.random.default_rng(0).normal(size=(50, 3))
    normal = stats.multivariate_normal(np.zeros(3)).logpdf(w)
    squared = np.sum(w**2, axis=1)
    student = stats.multivariate_t(np.zeros(3), 0.6 * np.eye(3), df=5).logpdf(w)
    inside = w[w > -2]
    gamma = stats.gamma(4, loc=-2, scale=0.5).logpdf(inside)
    gaps = [
        radial_ratio("tails", 5, squared, 3) - (student - normal),
        skew_ratio(inside, 4) - (gamma - stats.norm.logpdf(inside)),
    ]
    for flaw, share in HIDDEN_SHARES.items():
        wide = stats.multivariate_normal(np.zeros(3), 4 * np.eye(3)).logpdf(w)
        mixed = np.logaddexp(np.log(1 - share) + normal, np.log(share) + wide)
        gaps.append(radial_ratio(flaw, 2, squared, 3) - (mixed - normal))
    for gap in gaps:
        np.testing.assert_allclose(gap, np.mean(gap), atol=1e-9)
    assert np.isneginf(skew_ratio(np.asarray([-2.1]), 4))


@pytest.mark.parametrize("size", [0.9, 1.1])
def test_oracle_of_a_common_scale_is_chi_square(size):
    """Draws of the null are near its closed form."""
    for seed in range(20):
        predictions, y = flawed(100, 3, "scale", size, rng=seed)
        exact = checks.distances(predictions, y)
        assert oracle(predictions, y, flaw="scale", size=size) == pytest.approx(exact, abs=0.012)


def test_oracle_of_a_location_is_a_z_test():
    predictions, y = flawed(100, 1, "location", 0.2, rng=0)
    z = np.sum((y - predictions.mean) / np.sqrt(predictions.moments()[1][:, :, 0])) / 10
    assert oracle(predictions, y, flaw="location", size=0.2) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


def test_oracle_of_predictions_on_the_unit_cube_is_that_of_their_logits():
    predictions, y = bounded(100, 3, "scale", 0.9, rng=0)
    logits = np.log(y / (1 - y))
    for flaw in ("scale", "location"):
        ours = oracle(predictions, y, flaw=flaw, size=0.9)
        assert ours == pytest.approx(oracle(predictions.logits, logits, flaw=flaw, size=0.9), rel=1e-9)


@pytest.mark.parametrize(
    ("draw", "ideal"),
    [
        (lambda seed: modes(50, 2, rng=seed), lambda p, y: of_modes(p, y, weight=0.7)),
        (lambda seed: modes(50, 2, separation=10.0, rng=seed), lambda p, y: of_modes(p, y, separation=10.0, scale=0.9)),
        (lambda seed: skewed(50, 2, "none", rng=seed), lambda p, y: of_skewed(p, y, flaw="location", size=0.2)),
        (lambda seed: skewed(50, 2, "none", rng=seed), lambda p, y: of_skewed(p, y, flaw="scale", size=0.9)),
    ],
    ids=["weight", "far modes", "location", "scale"],
)
def test_level_of_other_oracles(draw, ideal):
    found = np.asarray([ideal(*draw(seed)) for seed in range(1000)])
    assert 25 <= np.sum(found <= 0.05) <= 78
    assert 2 <= np.sum(found <= 0.01) <= 23


def test_ratios_of_other_shapes_are_those_of_densities():
    """Up to a constant: between two data sets the ratios differ as the densities do."""
    gaps = []
    for seed in range(2):
        predictions, y = skewed(30, 2, "none", rng=seed)
        errors = (y - predictions.mean) / predictions.std
        shifted = type(predictions)(predictions.mean - 0.2 * predictions.std, predictions.std)
        narrower = type(predictions)(predictions.mean, predictions.std / 0.9)
        mixed, t = modes(30, 2, rng=seed)
        weighted = type(mixed)(np.tile([0.7, 0.3], (30, 1)), mixed.means, mixed.scales)
        along = t[:, 0] - np.mean(mixed.means[:, :, 0], axis=1)
        gaps.append(
            [
                _gumbel_ratio(errors, "location", 0.2) - np.sum(shifted.log_prob(y) - predictions.log_prob(y)),
                _gumbel_ratio(errors, "scale", 0.9) - np.sum(narrower.log_prob(y) - predictions.log_prob(y)),
                _weight_ratio(along, 0.7, 4.0) - np.sum(weighted.log_prob(t) - mixed.log_prob(t)),
            ]
        )
    np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-9)
