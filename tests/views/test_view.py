import numpy as np

import scorecal as sc
from scorecal.views.frame import frame_of
from scorecal.views.view import Shares, for_signs


def mixture(weight, n, targets_in_rare, seed=0):
    """Two components far apart, and targets of which a given number is in the first, of weight `weight`."""
    rng = np.random.default_rng(seed)
    means = 2.0 * rng.normal(size=(n, 1, 1)) + np.array([8.0, 0.0])[:, None]
    predictions = sc.GaussianMixture(np.tile([weight, 1.0 - weight], (n, 1)), means, np.ones((n, 2)))
    which = (np.arange(n) >= targets_in_rare).astype(int)
    return predictions, means[np.arange(n), which] + rng.normal(size=(n, 1))


def weights_view(predictions, y, null):
    result = sc.calibration_test(predictions, y, null=null, n_resamples=199, rng=0)
    return next(view for view in result.views if view.name == "weights of components")


def test_a_rare_component_without_targets_is_no_evidence_for_signs():
    """Two of a hundred targets are expected in it; before, none of them gave the smallest p-value that there is."""
    assert weights_view(*mixture(0.02, 100, 0), "signs").pvalue == 1.0


def test_a_rare_component_counts_where_targets_are_drawn():
    assert weights_view(*mixture(0.02, 100, 0), "simulate").adjusted_pvalue > 0.05
    assert weights_view(*mixture(0.02, 100, 12), "simulate").pvalue <= 0.01


def test_components_with_enough_targets_count_for_signs():
    predictions, y = mixture(0.5, 100, 70)
    assert weights_view(predictions, y, "signs").pvalue <= 0.01
    frame = frame_of(predictions, y, 0.0)
    (view,) = for_signs([sc.views.View("w", "modes", Shares(), coordinates="component")], predictions, True)
    rows = slice(10, 30)
    np.testing.assert_array_equal(view.target_kernel.frame_features(frame, rows), Shares().frame_features(frame, rows))


def test_only_rare_components_are_left_out():
    """The variance of a number of targets counts, since too few may be expected outside of a component as well."""
    weights = np.array([0.01, 0.495, 0.495])
    n, means = 100, np.array([[0.0], [5.0], [10.0]])
    predictions = sc.GaussianMixture(np.tile(weights, (n, 1)), np.tile(means, (n, 1, 1)), np.ones((n, 3)))
    y = predictions.sample(1, 0)[0]
    frame = frame_of(predictions, y, 0.0)
    features = Shares(5.0).frame_features(frame, slice(0, n))
    assert np.all(features[:, 0] == 0)
    assert np.all(np.any(features[:, 1:] != 0, axis=0))
