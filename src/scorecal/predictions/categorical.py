"""Predictions of one of K classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_arrays, as_float, check_finite, has_values, like, to_numpy


@dataclass(frozen=True, eq=False)
class Categorical:
    """n predictions of one of K classes; targets are integers from 0 to K - 1.

    Parameters
    ----------
    probabilities : array_like, shape (n, K)
        Non-negative, each row summing to one.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions = sc.Categorical([[0.9, 0.1], [0.2, 0.8]])
    >>> predictions.residuals([0, 0])
    array([[ 0.1, -0.1],
           [ 0.8, -0.8]])
    """

    probabilities: Array

    def __post_init__(self) -> None:
        (probabilities,) = as_arrays(probabilities=self.probabilities)
        if probabilities.ndim != 2 or 0 in probabilities.shape:
            raise ValueError(
                f"`probabilities` must have shape (n, K) with n and K at least 1, but has {tuple(probabilities.shape)}."
            )
        check_finite("probabilities", probabilities)
        check_sums_to_one("probabilities", probabilities)
        object.__setattr__(self, "probabilities", probabilities)

    @property
    def n(self) -> int:
        return int(self.probabilities.shape[0])

    @property
    def n_classes(self) -> int:
        return int(self.probabilities.shape[1])

    def sample(self, n_samples: int, rng: Any = None) -> np.ndarray:
        """Drawn classes, integers of shape (n_samples, n)."""
        edges = np.cumsum(to_numpy(self.probabilities), axis=1)
        u = np.random.default_rng(rng).random((n_samples, self.n, 1)) * edges[:, -1:]
        return np.asarray(np.sum(u >= edges[:, :-1], axis=2))

    def residuals(self, y: Any) -> Array:
        """Observed classes `y` as one-hot rows, minus the probabilities: (n, K)."""
        if not has_values(y):
            raise TypeError("`y` must hold classes with known values, but has none while JAX is tracing.")
        labels = np.asarray(to_numpy(y))
        if labels.shape != (self.n,):
            raise ValueError(
                f"`y` must hold one class for each of the {self.n} predictions, but has shape {labels.shape}."
            )
        if labels.dtype.kind not in "iu":
            raise TypeError(
                f"`y` must hold classes as integers from 0 to {self.n_classes - 1}, but has dtype {labels.dtype}."
            )
        if labels.min() < 0 or labels.max() >= self.n_classes:
            raise ValueError(
                f"`y` must hold classes from 0 to {self.n_classes - 1}, but goes from {labels.min()} to {labels.max()}."
            )
        return like(np.eye(self.n_classes)[labels], self.probabilities) - self.probabilities


def check_sums_to_one(name: str, weights: Array) -> None:
    """Raise unless all rows of `weights` are non-negative and sum to one."""
    if not has_values(weights):
        return
    xp = array_namespace(weights)
    if not bool(xp.all(weights >= 0)):
        raise ValueError(f"`{name}` must not be negative, but the smallest is {as_float(xp.min(weights)):.4g}.")
    error = xp.abs(xp.sum(weights, axis=-1) - 1.0)
    if as_float(xp.max(error)) > 1e-5:  # a softmax in float32 is good to 1e-6
        row = int(xp.argmax(error))
        raise ValueError(
            f"`{name}` must sum to one in each row, but row {row} sums to {as_float(xp.sum(weights[row, :])):.8g}. "
            "Likely cause: logits without a softmax."
        )
