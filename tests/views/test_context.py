"""What views know of all predictions is the same however rows come in batches, and enough for each batch."""

from functools import reduce
from operator import add

import numpy as np
import pytest

import scorecal as sc
from scorecal.predictions import part_of
from scorecal.views.context import FrameContext, context_sums
from scorecal.views.evaluate import evaluate
from scorecal.views.frame import frame_of
from scorecal.views.sample import MOST_ROWS, sample_of

N, BATCHES = 301, ((0, 7), (7, 200), (200, 301))


def gaussians(rng):
    a = rng.normal(size=(N, 2, 2))
    mean = 50.0 + rng.normal(size=(N, 2)) * [1.0, 1e-3]
    scale = np.array([1.0, 1e-3])
    return sc.Gaussian(mean, covariance=(a @ a.swapaxes(1, 2) + 0.1 * np.eye(2)) * scale[:, None] * scale)


def mixtures(rng):
    weights = rng.dirichlet([2.0, 2.0], size=N)
    return sc.GaussianMixture(weights, rng.normal(size=(N, 2, 2)), np.exp(rng.normal(size=(N, 2))))


def constant(rng):
    return sc.Gaussian(np.full((N, 2), 0.1), np.exp(rng.normal(size=N)))


@pytest.mark.parametrize("make", [gaussians, mixtures, constant])
def test_features_of_batches_are_those_of_all(make):
    """Of every default view without pairs."""
    rng = np.random.default_rng(0)
    predictions = make(rng)
    y = predictions.sample(1, rng)[0]
    views = [view for view in sc.views.default_views(predictions) if view.finite_rank and not view.noise]
    whole = frame_of(predictions, y, 0.0)
    slices = [slice(*ends) for ends in BATCHES]
    batches = [frame_of(part_of(predictions, rows), y[rows], 0.0) for rows in slices]
    parts = zip(batches, slices, strict=True)
    sums = [context_sums(each.predictions, each.targets[0], first=rows.start) for each, rows in parts]
    context = FrameContext(reduce(add, sums), whole.rounding)
    batches = [each.among(context, rows.start) for each, rows in zip(batches, slices, strict=True)]
    for view in views:
        expected = evaluate(view, whole, rng, {})
        found = [evaluate(view, each, rng, {}) for each in batches]
        assert (expected is None) == (found[0] is None)
        if expected is not None:
            every = expected[0].function(slice(0, N))
            features = [one[0].function(slice(0, b - a)) for one, (a, b) in zip(found, BATCHES, strict=True)]
            np.testing.assert_allclose(np.concatenate(features), every, rtol=1e-8, atol=1e-8, err_msg=view.name)
    total = np.mean(whole.whitening.covariance, axis=0) + np.cov(whole.whitening.location.T, bias=True)
    np.testing.assert_allclose(context.sums.moments.total, total, rtol=1e-10, atol=1e-20)
    np.testing.assert_allclose(context.location_size, np.mean(whole.location**2) ** 0.5, atol=1e-12)
    np.testing.assert_allclose(context.log_size, np.std(whole.whitening.log_spread), atol=1e-12)


def test_traits_are_in_units_of_all():
    predictions = gaussians(np.random.default_rng(1))
    whole = frame_of(predictions, np.add(predictions.mean, [1.0, 0.0]), 0.0)
    squares = np.mean(whole.traits**2, axis=0)
    np.testing.assert_allclose([squares[:2].mean(), squares[2]], 1.0)
    for values in (whole.curves, whole.curves_of_locations.reshape(N, -1)):
        np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(np.mean(values**2, axis=0), 1.0)


def test_a_sample_does_not_depend_on_batches():
    n = MOST_ROWS + 20_000
    values = np.random.default_rng(0).normal(size=(n, 1))
    whole = sample_of(values)
    parts = [sample_of(values[a:b], a) for a, b in ((50_000, n), (0, 30_000), (30_000, 50_000))]
    joined = reduce(add, parts)
    assert len(whole.rows) == MOST_ROWS
    np.testing.assert_array_equal(joined.rows, whole.rows)
    np.testing.assert_array_equal(joined.values, values[whole.rows])
    assert abs(np.mean(whole.rows) / n - 0.5) < 0.003  # any row is as likely as any other


def test_in_low_rank_the_kernel_view_needs_each_row_alone():
    """The features are those of the pair function for all rows, but for a rotation, which no product of two shows."""
    rng = np.random.default_rng(2)
    predictions = gaussians(rng)
    whole = frame_of(predictions, predictions.sample(1, rng)[0], 0.0)
    view = next(view for view in sc.views.default_views(2) if view.name == "any, kernels")
    products = []
    for low_rank in (True, False):
        function, bandwidths = evaluate(view, whole, rng, {}, low_rank=low_rank)
        applied = sc.estimators.LowRank(5).apply(function, np.random.default_rng(3))
        features = np.concatenate([applied.function(slice(*ends)) for ends in BATCHES])
        products.append((features @ features.T, bandwidths["distribution"]))
    np.testing.assert_allclose(products[0][0], products[1][0], atol=1e-9)
    np.testing.assert_allclose(products[0][1], products[1][1])
