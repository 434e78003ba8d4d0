"""What goes through a map with the targets: scores of elsewhere, base points, priors; supports that contradict them."""

import numpy as np
import pytest
from posteriors import box_posterior, inside

import scorecal as sc


def test_scores_of_elsewhere_are_mapped():
    """The same numbers, as arrays and as a function."""
    predictions, y = box_posterior(50, np.random.default_rng(0))
    base = inside(8)
    at_base = np.moveaxis(predictions.score(base[:, None, :]), 0, 1)
    coordinates = sc.coordinates.unconstrain(sc.coordinates.Box(0.0, 1.0))
    arrays = sc.kccsd_test(sc.Scores(predictions.score(y), at_base, base), y, coordinates=coordinates, rng=0)
    mapped_base = sc.coordinates.Box(0.0, 1.0).inverse(base)
    kernel = sc.kernels.GFD(mapped_base)
    function = sc.kccsd_test(predictions, y, coordinates=coordinates, distribution_kernel=kernel, rng=0)
    assert arrays.statistic == pytest.approx(function.statistic, rel=1e-12)
    with pytest.raises(ValueError, match="hold the `base_points`"):
        sc.kccsd_test(sc.Scores(predictions.score(y), at_base), y, coordinates=coordinates, rng=0)
    with pytest.raises(ValueError, match="`base_points` must lie inside the support"):
        sc.kccsd_test(sc.Scores(predictions.score(y), at_base, base + 1.0), y, coordinates=coordinates, rng=0)


def normal():
    return sc.Gaussian(np.zeros((1, 2)), 1.0)


def test_supports_that_contradict_each_other():
    predictions, y = box_posterior(50, np.random.default_rng(0))
    declared = sc.ScoreFunction(predictions.score, 50, 2, support=sc.coordinates.Box(0.0, 1.0))
    with pytest.raises(ValueError, match=r"unconstrain Box\(0., inf\), but `predictions` have support Box\(0., 1.\)"):
        sc.kccsd_test(declared, y, coordinates=sc.coordinates.unconstrain(sc.coordinates.Box(0.0)), rng=0)
    wide = sc.ScoreFunction(predictions.score, 50, 2, support=sc.coordinates.Box(0.0, 1.0), prior=normal())
    with pytest.raises(ValueError, match=r"`prior` must lie inside the support"):
        sc.kccsd_test(wide, y, rng=0)
    rows = sc.coordinates.Box(np.linspace(-1.0, -0.1, 50)[:, None], 1.0)
    each = sc.ScoreFunction(predictions.score, 50, 2, support=rows, prior=normal())
    with pytest.raises(ValueError, match="`prior` cannot be mapped by a `Box` whose ends differ"):
        sc.kccsd_test(each, y, rng=0)
    scores = sc.Scores(predictions.score(y), np.ones((50, 50, 2)), inside(50))
    with pytest.raises(ValueError, match="`base_points` cannot be mapped by a `Box` whose ends differ"):
        sc.kccsd_test(scores, y, coordinates=sc.coordinates.unconstrain(rows), rng=0)
    with pytest.raises(ValueError, match="`base` must lie inside the support of the predictions"):
        sc.gram_matrix(sc.kernels.GFD(), declared, rng=0)
