"""Predictions of one of K classes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_arrays, as_float, check_finite, has_values, like, to_numpy
from .class_labels import as_labels, class_numbers

_FEW = 32  # classes up to which draws compare with all edges at once


@dataclass(frozen=True, eq=False)
class Categorical:
    """n predictions of one of K classes; targets are integers from 0 to K - 1, or labels where these are given.

    Parameters
    ----------
    probabilities : array_like, shape (n, K)
        Non-negative, each row summing to one; or (n,), the probability of the second of two classes.
    labels : sequence, optional
        Labels of the K classes, text or numbers, in the order of the columns, such as `classifier.classes_`.
    ordinal : bool
        Whether the order of the columns means something, as for grades or stages.

    Examples
    --------
    >>> import scorecal as sc
    >>> predictions = sc.Categorical([[0.9, 0.1], [0.2, 0.8]])
    >>> predictions.residuals([0, 0])
    array([[ 0.1, -0.1],
           [ 0.8, -0.8]])
    >>> sc.Categorical([0.1, 0.8], labels=["cat", "dog"]).class_numbers(["dog", "dog"])
    array([1, 1])
    """

    probabilities: Array
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    ordinal: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        (probabilities,) = as_arrays(probabilities=self.probabilities)
        if probabilities.ndim not in (1, 2) or 0 in probabilities.shape:
            raise ValueError(
                "`probabilities` must have shape (n, K) with n and K at least 1, or (n,) for the second of two "
                f"classes, but has {tuple(probabilities.shape)}."
            )
        if not isinstance(self.ordinal, bool):
            raise TypeError(f"`ordinal` must be True or False, but is {self.ordinal!r}.")
        check_finite("probabilities", probabilities)
        if probabilities.ndim == 1:
            probabilities = _of_two(probabilities)
        check_sums_to_one("probabilities", probabilities)
        object.__setattr__(self, "probabilities", probabilities)
        if self.labels is not None:
            object.__setattr__(self, "labels", as_labels(self.labels, self.n_classes))

    def __repr__(self) -> str:
        return f"Categorical(n={self.n}, classes={self.n_classes}{', ordinal' if self.ordinal else ''})"

    @property
    def n(self) -> int:
        return int(self.probabilities.shape[0])

    @property
    def n_classes(self) -> int:
        return int(self.probabilities.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes as text: their labels, or their numbers."""
        return tuple(str(label) for label in (self.labels or range(self.n_classes)))

    def sample(self, n_samples: int, rng: Any = None) -> np.ndarray:
        """Drawn classes, integers of shape (n_samples, n)."""
        edges = np.cumsum(to_numpy(self.probabilities).astype(np.float64), axis=1)
        u = np.random.default_rng(rng).random((n_samples, self.n)) * edges[:, -1]
        if self.n_classes > _FEW:
            rows = zip(edges[:, :-1], u.T, strict=True)
            return np.stack([np.searchsorted(edge, row, side="right") for edge, row in rows], axis=1)
        drawn = np.zeros(u.shape, dtype=np.int64)
        for edge in edges[:, :-1].T:
            drawn += u >= edge
        return drawn

    def class_numbers(self, y: Any) -> np.ndarray:
        """Observed classes as integers from 0 to K - 1, from these, labels, or rows of zeros and a one: (n,)."""
        return class_numbers(y, self.n, self.n_classes, self.labels)

    def residuals(self, y: Any) -> Array:
        """Observed classes `y` as one-hot rows, minus the probabilities: (n, K)."""
        return self.residuals_of(self.class_numbers(y))

    def residuals_of(self, numbers: np.ndarray) -> Array:
        """As `residuals`, of classes by their numbers, such as drawn ones."""
        return like(np.eye(self.n_classes)[numbers], self.probabilities) - self.probabilities


def _of_two(second: Array) -> Array:
    """Return the probabilities of two classes, (n, 2), from that of the second."""
    xp = array_namespace(second)
    if has_values(second) and as_float(xp.max(second)) > 1.0:
        row = int(xp.argmax(second))
        raise ValueError(
            f"`probabilities` of the second of two classes must be at most 1, but row {row} has "
            f"{as_float(second[row]):.8g}. Likely causes: percentages, logits without a sigmoid, or observed classes."
        )
    return xp.stack([1.0 - second, second], axis=1)


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
        total = as_float(xp.sum(weights[row, :]))
        cause = "logits without a softmax" if abs(total - 100.0) > 1.0 else "percentages; divide by 100"
        if weights.shape[-1] == 1:
            cause = "the probability of the second of two classes alone, which is given with shape (n,)"
        elif abs(total - 1.0) < 0.02:
            cause = "rounded probabilities; divide each row by its sum, and give more digits where you can"
        raise ValueError(
            f"`{name}` must sum to one in each row, but row {row} sums to {total:.8g}. Likely cause: {cause}."
        )
