"""Predictions given by a log-density, up to a constant, of one target and one input."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from array_api_compat import is_jax_array, is_torch_array

from .._lib.arrays import Array, array_namespace
from .._lib.autodiff import row_values_and_slopes
from .._lib.cached import cached_property
from .._lib.checks import check_count
from .capabilities import Prior
from .protocol import check_prior, describe
from .supports import bounded_support

_BUDGET = 256_000_000  # bytes of intermediate values


@dataclass(frozen=True, eq=False)
class LogDensity:
    """Predictions given by an unnormalised conditional log-density in JAX or torch.

    The normalising constant, which may depend on x, is never needed, so that energy-based models can be tested.
    Scores are gradients, batched and, in JAX, compiled here. Targets must be arrays of the library of `x`. For
    draws, `skce_test` takes `sampler=MALA()`.

    Parameters
    ----------
    log_density : callable
        `log_density(y, x_i)` of one target (dim,) and one input, a row of `x`, returns a 0-d array.
    x : torch tensor or JAX array, shape (n, ...)
        One row for each prediction. The density is evaluated in its library and dtype, on its device.
    dim : int
        Dimension of the targets.
    support, prior
        As for `ScoreFunction`.

    Examples
    --------
    >>> import jax, numpy as np, scorecal as sc
    >>> jax.config.update("jax_enable_x64", True)
    >>> rng = np.random.default_rng(0)
    >>> x = jax.numpy.asarray(rng.normal(size=300))
    >>> y = x + jax.numpy.asarray(rng.normal(size=300))
    >>> wide = sc.LogDensity(lambda y, x: -0.1 * (y[0] - x) ** 2, x, dim=1)
    >>> right = sc.LogDensity(lambda y, x: -0.5 * (y[0] - x) ** 2, x, dim=1)
    >>> sc.kccsd_test(wide, y, rng=1).rejects(), sc.kccsd_test(right, y, rng=1).rejects()
    (True, False)
    """

    log_density: Callable[[Array, Array], Array]
    x: Array
    dim: int
    _: KW_ONLY
    support: Any = None
    prior: Prior | None = None

    def __post_init__(self) -> None:
        if not callable(self.log_density):
            raise TypeError(
                f"`log_density` must be a function of (y, x_i), but is a {type(self.log_density).__name__}."
            )
        if not (is_torch_array(self.x) or is_jax_array(self.x)):
            raise TypeError(
                f"`x` must be a torch tensor or a JAX array, of the library in which `log_density` is written, but is "
                f"a {type(self.x).__name__}."
            )
        if self.x.ndim == 0 or self.x.shape[0] == 0:
            raise ValueError(f"`x` must have one row for each prediction, but has shape {tuple(self.x.shape)}.")
        check_count("dim", self.dim)
        object.__setattr__(self, "support", bounded_support(self.support))
        check_prior(self.prior, self.dim)

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    def __repr__(self) -> str:
        return describe(self)

    def score(self, y: Array) -> Array:
        """Gradients in y, which broadcasts against (n, dim); NaN outside the support, where autodiff gives 0."""
        values, slopes = self._evaluate(y)
        xp = array_namespace(values)
        return xp.where((values == -np.inf)[..., None], xp.full_like(slopes, np.nan), slopes)

    def log_prob(self, y: Array) -> Array:
        """Log-densities, up to a constant for each prediction."""
        return self._evaluate(y)[0]

    @cached_property
    def _rows(self) -> Callable[[Array, Array], tuple[Array, Array]]:
        return row_values_and_slopes(self._checked, self.x, _BUDGET)

    def _checked(self, y: Array, x: Array) -> Array:
        """Evaluate `log_density` and check the shape of its result, once, while it is traced."""
        value = self.log_density(y, x)
        shape = getattr(value, "shape", None)
        if shape is None or tuple(shape) != ():
            found = type(value).__name__ if shape is None else f"shape {tuple(shape)}"
            raise ValueError(
                f"`log_density` must return one number, a 0-d array, for y of shape ({self.dim},) and x_i of shape "
                f"{tuple(self.x.shape[1:])}, but returned {found}. Likely causes: a missing sum over dimensions, or a "
                "function of a whole batch: it is called for one row and batched here."
            )
        return value

    def _evaluate(self, y: Array) -> tuple[Array, Array]:
        xp = array_namespace(y, self.x)
        points = xp.reshape(xp.broadcast_to(y, (*y.shape[:-2], self.n, self.dim)), (-1, self.n, self.dim))
        if xp.isdtype(self.x.dtype, "real floating"):
            points = xp.astype(points, self.x.dtype, copy=False)
        values, slopes = self._rows(points, self.x)
        shape = (*y.shape[:-2], self.n)
        return xp.reshape(values, shape), xp.reshape(slopes, (*shape, self.dim))
