"""Gaussian predictions of every form, and distances between them as a kernel has them."""

import numpy as np

import scorecal as sc

RNG = np.random.default_rng(11)
N, D = 5, 3
MEAN = RNG.normal(size=(N, D))
ROOT = RNG.normal(size=(N, D, D))
COVARIANCE = 0.5 * ROOT @ np.swapaxes(ROOT, 1, 2) + 0.3 * np.eye(D)
SCALE = RNG.uniform(0.5, 2.0, (N, D))
PREDICTIONS = {
    "isotropic": sc.Gaussian(MEAN, SCALE[:, 0]),
    "diagonal": sc.Gaussian(MEAN, SCALE),
    "full": sc.Gaussian(MEAN, covariance=COVARIANCE),
}
BASES = {
    "standard": sc.Gaussian(np.zeros((1, D)), 1.0),
    "diagonal": sc.Gaussian([[0.5, -1.0, 2.0]], [[0.5, 1.0, 2.0]]),
    "full": sc.Gaussian([[0.5, -1.0, 2.0]], covariance=COVARIANCE[0]),
}
TAU = 1.3


def distances(kernel, predictions, rng=0):
    distance, _ = kernel.distance(predictions, predictions.mean, np.random.default_rng(rng))
    whole = slice(0, predictions.n)
    i, j = np.triu_indices(predictions.n, 1)
    block = distance.block(whole, whole)
    np.testing.assert_allclose(distance.pairs(i, j), block[i, j], rtol=1e-9)
    return block
