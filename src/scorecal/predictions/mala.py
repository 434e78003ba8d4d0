"""The Metropolis-adjusted Langevin algorithm, with one chain for each prediction, all run together."""

import math
import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._lib.arrays import Array, array_namespace, as_arrays, check_finite, detach, device_of, has_values, like, to_numpy
from .._lib.checks import check_count
from .protocol import Predictions, check_predictions, evaluate_log_prob, held_array

_BEST_ACCEPTANCE = 0.574  # asymptotically optimal for MALA (Roberts and Rosenthal 1998)


@dataclass(frozen=True, eq=False)
class MALADraws:
    """Draws (n, n_samples, d); the acceptance rate and the final step size of each chain (n,)."""

    samples: Array
    acceptance: np.ndarray
    step_size: np.ndarray


@dataclass(frozen=True, eq=False)
class MALA:
    """Sampler for predictions with a score and a log-density, up to a constant.

    Parameters
    ----------
    step_size : float
        Proposals are N(x + step_size s(x), 2 step_size I); with `adapt`, the first step size.
    n_warmup : int
        Steps before the first draw.
    n_thin : int
        Steps for each draw.
    adapt : bool
        Adapt the step size of each chain during warm-up, towards an acceptance rate of 0.574.
    start : array_like, shape (n, d), optional
        Start of each chain; drawn from N(0, I) by default. Never start from the targets: if predictions are calibrated,
        targets are draws from them, and chains that do not move would go unnoticed.

    Notes
    -----
    `draw` warns if the last states of 20 or more chains violate Stein's identity, and if chains never moved. Chains
    that are stuck in one of several modes are not detected.

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
        if not isinstance(self.step_size, Real) or not 0 < self.step_size < math.inf:
            raise ValueError(f"`step_size` must be positive and finite, but is {self.step_size!r}.")
        if not isinstance(self.adapt, bool):
            raise TypeError(f"`adapt` must be True or False, but is {self.adapt!r}.")
        for name, least in (("n_warmup", 0), ("n_thin", 1)):
            check_count(name, getattr(self, name), least)

    def draw(
        self, predictions: Predictions, n_samples: int, rng: Any = None, reference: Array | None = None
    ) -> MALADraws:
        """Draws from every prediction, in the backend of `reference`, by default that of the predictions or `start`."""
        check_count("n_samples", n_samples)
        check_predictions("predictions", predictions)
        held = held_array(predictions) if reference is None else reference
        if held is not None and not has_values(held):
            raise TypeError("`sampler` cannot run its chains while JAX is tracing.")
        return self._draw(predictions, n_samples, np.random.default_rng(rng), held)

    def _draw(self, predictions: Any, n_samples: int, rng: np.random.Generator, reference: Array | None) -> MALADraws:
        x = start = detach(self._start(predictions, reference, rng))
        xp = array_namespace(x)
        log_prob = detach(evaluate_log_prob(predictions, x))
        check_finite(
            "predictions.log_prob", log_prob, "Likely cause: a chain starts outside the support; give `start`."
        )
        score = detach(predictions.score(x))
        check_finite("predictions.score", score, "Likely cause: a chain starts outside the support; give `start`.")
        log_step = np.full((predictions.n, 1), math.log(self.step_size))
        moves, accepted = np.zeros(predictions.n), np.zeros(predictions.n)
        samples = []
        n_steps = self.n_warmup + n_samples * self.n_thin
        for step in range(n_steps):
            size = like(np.exp(log_step), x)
            noise = like(rng.standard_normal((predictions.n, predictions.dim)), x)
            proposal = x + size * score + xp.sqrt(2.0 * size) * noise
            new_score, new_log_prob = detach(predictions.score(proposal)), detach(predictions.log_prob(proposal))
            # q(x | x') / q(x' | x); the noise of the proposal gives the second exponent.
            back = xp.sum((x - proposal - size * new_score) ** 2, axis=1) / (4.0 * size[:, 0])
            log_ratio = to_numpy(new_log_prob - log_prob - back + 0.5 * xp.sum(noise**2, axis=1))
            log_ratio = np.where(np.isnan(log_ratio), -np.inf, log_ratio)  # reject proposals without a density
            accept = np.log(rng.random(predictions.n)) < log_ratio
            moved = xp.asarray(accept, device=device_of(x))
            x = xp.where(moved[:, None], proposal, x)
            score = xp.where(moved[:, None], new_score, score)
            log_prob = xp.where(moved, new_log_prob, log_prob)
            moves += accept
            if step < self.n_warmup:
                if self.adapt:
                    surprise = np.exp(np.minimum(log_ratio, 0.0)) - _BEST_ACCEPTANCE
                    log_step += (3.0 * surprise / (1.0 + step) ** 0.6)[:, None]
            else:
                accepted += accept
                if (step - self.n_warmup) % self.n_thin == self.n_thin - 1:
                    samples.append(x)
        acceptance = accepted / (n_samples * self.n_thin)
        step_sizes = np.exp(log_step[:, 0])
        _check_moved(moves, step_sizes)
        _warn_unless_mixed(*(to_numpy(part).astype(np.float64) for part in (start, x, score)))
        return MALADraws(xp.stack(samples, axis=1), acceptance, step_sizes)

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


def _check_moved(moves: np.ndarray, step_sizes: np.ndarray) -> None:
    stuck = np.flatnonzero(moves == 0)
    if len(stuck) == 0:
        return
    causes = (
        f"with a last `step_size` of {step_sizes[stuck[0]]:.4g}. Likely causes: steps far above the scale of the "
        "predictions, too short a warm-up to adapt them, or a `score` that does not belong to its `log_prob`."
    )
    if len(stuck) == len(moves):
        raise ValueError(f"No chain accepted a single proposal, {causes}")
    warnings.warn(
        f"{len(stuck)} of {len(moves)} MALA chains never accepted a proposal, the first of them {stuck[0]}, {causes}",
        stacklevel=3,
    )


def _warn_unless_mixed(start: np.ndarray, x: np.ndarray, score: np.ndarray) -> None:
    """Warn unless Stein's identity holds: E s(x).(x - x0) = -d if x has the density with score s, for any x0."""
    n, d = x.shape
    if n < 20:
        return
    excess = np.sum(score * (x - start), axis=1) + d
    spread = float(np.std(excess))
    z = math.inf if spread == 0.0 else float(np.mean(excess)) / (spread / math.sqrt(n))
    if abs(z) > 4.0:
        warnings.warn(
            f"The MALA chains have not mixed: their last states miss Stein's identity by {z:.1f} standard errors. Use "
            "a longer `n_warmup`, `adapt=True` or a better `start`.",
            stacklevel=3,
        )
