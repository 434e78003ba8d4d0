"""The Metropolis-adjusted Langevin algorithm, one chain for each prediction, all at once."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array, array_namespace, as_arrays, check_finite, device_of, like, to_numpy
from .protocol import Predictions, evaluate_score

__all__ = ["MALA", "MALADraws"]

_BEST_ACCEPTANCE = 0.574  # asymptotically optimal for MALA (Roberts and Rosenthal 1998)


@dataclass(frozen=True, eq=False)
class MALADraws:
    """Draws (n, n_samples, d); the acceptance rate and the final step size of each chain (n,)."""

    samples: Array
    acceptance: np.ndarray
    step_size: np.ndarray


@dataclass(frozen=True, eq=False)
class MALA:
    """Draw from predictions that have a score and a log-density, known up to a constant.

    Parameters
    ----------
    step_size : float
        Proposals are N(x + step_size s(x), 2 step_size I); the first step size where `adapt` is set.
    n_warmup : int
        Steps before the first draw.
    n_thin : int
        Steps for each draw.
    adapt : bool
        Adapt the step size of each chain during warm-up, towards an acceptance rate of 0.574.
    start : array_like, shape (n, d), optional
        Where chains start; N(0, I) by default. Never start from the targets: they are draws from calibrated
        predictions, and a chain that starts there hides that it does not move.

    Examples
    --------
    >>> import scorecal as sc
    >>> draws = sc.MALA(n_warmup=100).draw(sc.Gaussian([[5.0], [-5.0]], 1.0), 4, rng=0)
    >>> draws.samples.shape
    (2, 4, 1)
    """

    step_size: float = 0.1
    n_warmup: int = 500
    n_thin: int = 10
    adapt: bool = True
    start: Any = None

    def __post_init__(self) -> None:
        if not 0 < self.step_size < math.inf:
            raise ValueError(f"`step_size` must be positive and finite, but is {self.step_size!r}.")
        for name, least in (("n_warmup", 0), ("n_thin", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"`{name}` must be an integer of at least {least}, but is {value!r}.")

    def draw(
        self, predictions: Predictions, n_samples: int, rng: Any = None, reference: Array | None = None
    ) -> MALADraws:
        """Draws of every prediction, of the backend of `reference` (by default that of NumPy or of `start`)."""
        if not hasattr(predictions, "log_prob"):
            raise TypeError(
                f"`predictions` must have a `log_prob`, up to a constant, to be sampled by MALA; "
                f"{type(predictions).__name__} has none."
            )
        rng = np.random.default_rng(rng)
        x = self._start(predictions, reference, rng)
        xp = array_namespace(x)
        score, log_prob = evaluate_score(predictions, x), predictions.log_prob(x)
        check_finite(
            "predictions.log_prob", log_prob, "Likely cause: a chain starts outside the support; give `start`."
        )
        first_score = score
        log_step = np.full((predictions.n, 1), math.log(self.step_size))
        accepted = np.zeros(predictions.n)
        samples = []
        n_steps = self.n_warmup + n_samples * self.n_thin
        for step in range(n_steps):
            size = like(np.exp(log_step), x)
            noise = like(rng.standard_normal((predictions.n, predictions.dim)), x)
            proposal = x + size * score + xp.sqrt(2.0 * size) * noise
            new_score, new_log_prob = predictions.score(proposal), predictions.log_prob(proposal)
            # q(x | x') / q(x' | x); the noise that made the proposal is the second exponent.
            back = xp.sum((x - proposal - size * new_score) ** 2, axis=1) / (4.0 * size[:, 0])
            log_ratio = to_numpy(new_log_prob - log_prob - back + 0.5 * xp.sum(noise**2, axis=1))
            log_ratio = np.where(np.isnan(log_ratio), -np.inf, log_ratio)  # a proposal that cannot be judged is refused
            accept = np.log(rng.random(predictions.n)) < log_ratio
            moved = xp.asarray(accept, device=device_of(x))
            x = xp.where(moved[:, None], proposal, x)
            score = xp.where(moved[:, None], new_score, score)
            log_prob = xp.where(moved, new_log_prob, log_prob)
            if step < self.n_warmup:
                if self.adapt:
                    surprise = np.exp(np.minimum(log_ratio, 0.0)) - _BEST_ACCEPTANCE
                    log_step += (surprise / (1.0 + step) ** 0.6)[:, None]
            else:
                accepted += accept
                if (step - self.n_warmup) % self.n_thin == self.n_thin - 1:
                    samples.append(x)
        acceptance = accepted / (n_samples * self.n_thin)
        _check_moved(acceptance, self.step_size)
        _warn_unless_mixed(to_numpy(first_score), to_numpy(score), acceptance)
        return MALADraws(xp.stack(samples, axis=1), acceptance, np.exp(log_step[:, 0]))

    def _start(self, predictions: Predictions, reference: Array | None, rng: np.random.Generator) -> Array:
        shape = (predictions.n, predictions.dim)
        if self.start is None:
            drawn = rng.standard_normal(shape)
            return drawn if reference is None else like(drawn, reference)
        start = as_arrays(start=self.start)[0] if reference is None else as_arrays(start=self.start, y=reference)[0]
        if tuple(start.shape) != shape:
            raise ValueError(f"`start` must have shape (n, d) = {shape}, but has {tuple(start.shape)}.")
        check_finite("start", start)
        return start


def _check_moved(acceptance: np.ndarray, step_size: float) -> None:
    if not np.any(acceptance):
        raise ValueError(
            f"No chain accepted a single proposal with `step_size` {step_size:.4g}. Likely causes: a step size far "
            "above the scale of the predictions, a `score` that does not belong to its `log_prob`, or a `start` "
            "outside the support."
        )


def _warn_unless_mixed(first_score: np.ndarray, score: np.ndarray, acceptance: np.ndarray) -> None:
    """Scores have mean zero under the prediction, so a chain that forgot its start shows none of its first score."""
    size = np.linalg.norm(first_score, axis=1)
    along = np.sum(score * first_score, axis=1) / np.where(size > 0, size, 1.0)
    n, spread = len(along), float(np.std(along))
    if n < 20 or spread == 0.0:
        return
    z = float(np.mean(along)) / (spread / math.sqrt(n))
    if z > 4.0:
        warnings.warn(
            "The MALA chains have not mixed: their last states still follow the score at their start, by "
            f"{z:.1f} standard errors (mean acceptance {np.mean(acceptance):.2f}). Use a longer `n_warmup`, "
            "`adapt=True` or a better `start`.",
            stacklevel=2,
        )
