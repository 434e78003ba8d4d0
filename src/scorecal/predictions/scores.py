"""Predictions given by their scores alone, as arrays or as a function."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from .._lib.arrays import Array, array_namespace, as_arrays, check_finite, has_values
from .._lib.checks import check_count
from .capabilities import Prior
from .protocol import check_prior, describe
from .supports import bounded_support


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores that were computed elsewhere, at the targets and at points shared by all predictions.

    Parameters
    ----------
    at_targets : array_like, shape (n, d)
        Row i is the score of prediction i at its own target; (n,) is taken as d = 1.
    at_base : array_like, shape (n, m, d), optional
        Scores of every prediction at the same m base points, for kernels to compare; (n, m) is taken as d = 1.
    base_points : array_like, shape (m, d), optional
        The base points themselves, for KGFD and for `calibration_test`; (m,) is taken as d = 1.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean, base_points = rng.normal(size=(100, 1)), rng.normal(size=(10, 1))
    >>> y = mean + rng.normal(size=(100, 1))
    >>> scores = sc.Scores(mean - y, mean[:, None, :] - base_points, base_points)
    >>> sc.kccsd_test(scores, y, rng=1).rejects()
    False
    """

    at_targets: Array
    at_base: Array | None = None
    base_points: Array | None = None

    def __post_init__(self) -> None:
        if self.at_targets is None:
            raise TypeError("`at_targets` must be the scores at the targets, but is None.")
        given = {
            name: value
            for name in ("at_targets", "at_base", "base_points")
            if (value := getattr(self, name)) is not None
        }
        arrays = dict(zip(given, as_arrays(**given), strict=True))
        for name, ndim in (("at_targets", 2), ("at_base", 3), ("base_points", 2)):
            if name in arrays and arrays[name].ndim == ndim - 1:
                arrays[name] = arrays[name][..., None]
        self._check(arrays)
        for name, array in arrays.items():
            object.__setattr__(self, name, array)

    @staticmethod
    def _check(arrays: dict[str, Array]) -> None:
        at_targets, at_base, points = arrays["at_targets"], arrays.get("at_base"), arrays.get("base_points")
        if at_targets.ndim != 2 or 0 in at_targets.shape:
            found = tuple(at_targets.shape)
            raise ValueError(f"`at_targets` must have shape (n, d) with n and d at least 1, but has {found}.")
        n, d = at_targets.shape
        if at_base is not None and (at_base.ndim != 3 or at_base.shape[::2] != (n, d) or 0 in at_base.shape):
            raise ValueError(
                f"`at_base` must have shape (n, m, d) = ({n}, m, {d}) to fit `at_targets`, "
                f"but has {tuple(at_base.shape)}."
            )
        if points is not None and (points.ndim != 2 or points.shape[1] != d):
            raise ValueError(f"`base_points` must have shape (m, d) = (m, {d}), but has {tuple(points.shape)}.")
        if points is not None and at_base is None:
            raise ValueError("`base_points` were given without `at_base`, the scores at these points.")
        if at_base is not None and points is not None and at_base.shape[1] != points.shape[0]:
            raise ValueError(
                f"`at_base` holds scores at {at_base.shape[1]} base points but `base_points` has {points.shape[0]}."
            )
        for name, array in arrays.items():
            check_finite(name, array)
        if at_base is not None and has_values(at_base) and not bool(array_namespace(at_base).any(at_base != 0)):
            raise ValueError("`at_base` is zero everywhere, so that predictions cannot be compared.")

    @property
    def n(self) -> int:
        return int(self.at_targets.shape[0])

    @property
    def dim(self) -> int:
        return int(self.at_targets.shape[1])

    def __repr__(self) -> str:
        n_base = 0 if self.at_base is None else self.at_base.shape[1]
        return describe(self, f"{n_base} base points")

    def score(self, y: Array) -> Array:
        """Return the stored scores: at the targets for `y` of shape (n, d), at the base points for (m, 1, d)."""
        if tuple(y.shape) == (self.n, self.dim):
            return self.at_targets
        if self.at_base is None:
            raise ValueError(
                "`Scores` was given no scores at base points, which the kernels between predictions compare: give "
                "`at_base`, the scores of every prediction at the same points, and `base_points`."
            )
        xp = array_namespace(y)
        points = self.base_points
        if points is not None and (
            tuple(y.shape) == (points.shape[0], 1, self.dim)
            and (not has_values(y) or bool(xp.all(y[:, 0, :] == points)))
        ):
            return xp.permute_dims(self.at_base, (1, 0, 2))
        raise ValueError(
            f"`Scores` holds scores at the targets and at its own `base_points` only, not at the points of shape "
            f"{tuple(y.shape)} requested. Leave `base` and `n_base` of the kernel unset, or give a `ScoreFunction`."
        )


@dataclass(frozen=True, eq=False)
class ScoreFunction:
    """Predictions given by a function that returns their scores.

    Parameters
    ----------
    score : callable
        `score(y)` with `y` broadcast against (n, dim). It is called at the targets, (n, dim) -> (n, dim), and by the
        kernels between predictions at m points shared by all of them, (m, 1, dim) -> (m, n, dim).
    n : int
        Number of predictions.
    dim : int
        Dimension of the targets.
    support : Box, Simplex or constraint, optional
        Support of the targets, unless all of R^dim; tests then use `coordinates.unconstrain(support)`.
    prior : one distribution, optional
        The distribution of the targets before any prediction, such as a `Gaussian` of one row: the base measure of
        `GFD` and `KGFD`.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> mean = np.linspace(-1.0, 1.0, 5)[:, None]
    >>> predictions = sc.ScoreFunction(lambda y: mean - y, n=5, dim=1)
    >>> predictions.score(np.zeros((3, 1, 1))).shape
    (3, 5, 1)
    """

    score: Callable[[Array], Array]
    n: int
    dim: int
    _: KW_ONLY
    support: Any = None
    prior: Prior | None = None

    def __post_init__(self) -> None:
        if not callable(self.score):
            raise TypeError(f"`score` must be a function of the targets, but is a {type(self.score).__name__}.")
        for name in ("n", "dim"):
            check_count(name, getattr(self, name))
        object.__setattr__(self, "support", bounded_support(self.support))
        check_prior(self.prior, self.dim)
