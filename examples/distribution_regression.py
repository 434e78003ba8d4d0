"""Regression on distributions: learn a number from a distribution of which only the score is known.

Each input is a Gaussian mixture with two modes; the number to learn is the distance between them. Kernel ridge
regression from scikit-learn runs on Gram matrices of the exponentiated GFD kernel, precomputed by scorecal.

Run: python examples/distribution_regression.py
"""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge

import scorecal as sc


def mixtures(gap: np.ndarray, rng: np.random.Generator) -> sc.ScoreFunction:
    """n mixtures with modes `gap` apart around a random centre, known by their scores."""
    n = len(gap)
    centre = rng.normal(size=(n, 1))
    means = np.stack([centre - gap[:, None] / 2, centre + gap[:, None] / 2], axis=1)
    return sc.ScoreFunction(sc.GaussianMixture(np.full((n, 2), 0.5), means, np.ones((n, 2))).score, n, 1)


def main() -> None:
    rng = np.random.default_rng(0)
    gap, new_gap = rng.uniform(0.0, 6.0, 200), rng.uniform(0.0, 6.0, 100)
    train, test = mixtures(gap, rng), mixtures(new_gap, rng)
    kernel = sc.kernels.GFD(base=rng.normal(scale=3.0, size=(50, 1)))
    model = KernelRidge(kernel="precomputed", alpha=1e-3).fit(sc.gram_matrix(kernel, train), gap)
    predicted = model.predict(sc.gram_matrix(kernel, train, test).T)
    error = np.sqrt(np.mean((predicted - new_gap) ** 2))
    print(f"root mean square error {error:.3f}, of the mean alone {np.std(new_gap):.3f}")


if __name__ == "__main__":
    main()
