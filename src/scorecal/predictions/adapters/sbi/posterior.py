"""Predictions from the posteriors of the sbi package, by their densities, without sampling."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ...._lib.arrays import Array
from ...._lib.cached import cached_property
from ...._lib.checks import check_count
from ...._lib.extras import needs
from ...capabilities import Prior, Samplable
from ...protocol import Predictions, describe
from ...supports import Box, Support
from ..torch import ROWS_AT_ONCE, seeded
from .ensemble import densities_of
from .prior import as_prior
from .vector_field import NoisedPosterior, noised_posterior

_SEED = 0  # of draws for moments: coordinates must not depend on `rng`
_MOST_DRAWS = 1000 * ROWS_AT_ONCE  # as long as some fall outside the prior's support
# Draws for moments, where none are given: a location that is off by a sixth of the spread costs little power, and a fit
# to scores ten times the time.
_FEW_DRAWS, _DRAWS_PER_DIMENSION = 32, 8
_TIMES_AS_MANY = 2  # draws in all, those outside the support included: in many dimensions, few may be inside


def from_sbi(posterior: Any, x: Any, *, moments: Any = None, noise_level: float | None = None) -> Predictions:
    """Predictions from a posterior of sbi, at a batch of observations.

    The targets are the parameters that the observations were simulated from.

    Parameters
    ----------
    posterior : sbi posterior
        What `build_posterior` returns for NPE, NLE, NRE, NPSE or FMPE, with any sampler, or an ensemble.
    x : tensor, shape (n, ...)
        One observation for each prediction.
    moments : int or pair of arrays, optional
        Where each posterior lies and how wide it is: means (n, d) and covariances (n, d, d), for priors without a
        boundary, or a number of draws to estimate them from, in the coordinates of the test. By default, it is seen
        from some 32 draws where a network can be sampled, as that of NPE, and otherwise fitted to the scores; draws
        from MCMC posteriors and vector fields take their time.
    noise_level : float, optional
        For NPSE and FMPE only: standard deviation of the noise at which the posterior is tested, in units of the
        prior's (their geometric mean over dimensions); by default 0.3. These methods learn scores of the posterior plus
        noise only, so the test adds the same noise to the targets. Errors much smaller than the noise are not detected.

    Returns
    -------
    Predictions
        Predictions with the prior as base measure. Tests map bounded priors to coordinates without a boundary.

    Notes
    -----
    Scores need no samples; those of NPE can be drawn, for `null="simulate"`. The posterior is not changed: copies of
    its networks are evaluated on their device, embedding nets once for each observation. Gradients do not reach them.
    For NLE and NRE the test uses likelihood or ratio times prior, whatever the sampler; for an amortised variational
    posterior, its density. For an ensemble it uses the mixture that sbi's `sample` draws from, of normalised members:
    where they are known up to constants only (NLE, NRE, a bounded prior), these are estimated here from seeded draws,
    and a warning says where they are known roughly.

    Examples
    --------
    A network that was never trained; `NPE(prior).append_simulations(theta, x).train()` makes better ones:

    >>> import scorecal as sc, torch
    >>> from sbi.inference import DirectPosterior
    >>> from sbi.neural_nets import posterior_nn
    >>> _ = torch.manual_seed(0)
    >>> prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> theta = prior.sample((200,))
    >>> x = theta + 0.5 * torch.randn(200, 2)
    >>> posterior = DirectPosterior(posterior_nn("maf")(theta, x), prior)
    >>> predictions = sc.from_sbi(posterior, x)
    >>> sc.kccsd_test(predictions, theta, rng=0).rejects()
    True
    """
    _check_posterior(posterior)
    if hasattr(posterior.potential_fn, "vector_field_estimator"):
        noised = noised_posterior(posterior, x, 0.3 if noise_level is None else noise_level)
        return noised if moments is None else replace(noised, draws=_draws_of_field(noised, posterior, moments))
    if noise_level is not None:
        raise ValueError(f"`noise_level` is for NPSE and FMPE; a {type(posterior).__name__} has a density.")
    prior = getattr(posterior, "prior", None) or posterior.potential_fn.prior
    base = as_prior(prior)
    densities = densities_of(posterior, x, getattr(base, "support", None))
    if densities.sample is None:
        found = SbiPosterior(posterior, densities.x, densities.dim, densities.evaluate, base)
    else:
        found = SbiDirectPosterior(
            posterior, densities.x, densities.dim, densities.evaluate, base, draw=densities.sample
        )
    return found if moments is None else replace(found, given=_spread_of(found, moments))


@dataclass(frozen=True, eq=False)
class SbiPosterior:
    """Predictions from a posterior of sbi with a density."""

    posterior: Any
    x: Array
    dim: int
    log_densities: Callable[[Array, Array], Array]  # of theta (m, rows, dim), up to a constant: (m, rows)
    prior: Prior | None
    given: Array | tuple[Array, Array] | None = None  # draws (m, n, dim), or means and covariances
    few_draws: ClassVar[Array | None] = None
    slow_to_sample: ClassVar[bool] = True

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    @property
    def support(self) -> Support | None:
        return getattr(self.prior, "support", None)

    @property
    def spread_of(self) -> Array | tuple[Array, Array] | None:
        """Draws (m, n, dim), or means and covariances, that tell where posteriors lie and how wide they are."""
        return self.few_draws if self.given is None else self.given

    def __repr__(self) -> str:
        return describe(self, type(self.posterior).__name__)

    def score(self, theta: Array) -> Array:
        """Gradients in theta, which broadcasts against (n, dim); NaN outside the support, where sbi's are 0."""
        return self._evaluate(theta)[1]

    def log_prob(self, theta: Array) -> Array:
        """Log-densities, up to a constant for each prediction; -inf outside the support."""
        return self._evaluate(theta)[0]

    def _evaluate(self, theta: Array) -> tuple[Array, Array]:
        import torch

        points = theta.broadcast_to(*theta.shape[:-2], self.n, self.dim).reshape(-1, self.n, self.dim)
        rows = torch.arange(self.n, device=self.x.device)
        values, slopes = [], []
        for given in points.detach().split(max(1, ROWS_AT_ONCE // self.n)):
            inside, part = self._inside(given), given.to(self.x.dtype)
            if isinstance(self.support, Box):  # fewer digits may round it to the boundary
                part = self.support.moved_inside(part)
            with torch.enable_grad():
                part = part.requires_grad_()
                value = self.log_densities(part, rows)
                (slope,) = torch.autograd.grad(value.sum(), part)
            inside = inside & (value != -torch.inf)
            values.append(torch.where(inside, value.detach(), -torch.inf))
            slopes.append(torch.where(inside[..., None], slope, torch.nan))
        shape = theta.shape[:-2]
        return (
            torch.cat(values).reshape(*shape, self.n).to(theta.dtype),
            torch.cat(slopes).reshape(*shape, self.n, self.dim).to(theta.dtype),
        )

    def _inside(self, theta: Array) -> Array:
        if self.support is None:
            return theta.new_ones(theta.shape[:-1], dtype=bool)
        return self.support.contains(theta)


@dataclass(frozen=True, eq=False, repr=False)
class SbiDirectPosterior(SbiPosterior):
    """Predictions from a posterior of sbi whose network can be sampled, as that of NPE."""

    draw: Callable[[int, Array], Array] = field(kw_only=True)  # (m, rows, dim), also outside the support

    def sample(self, n_samples: int, rng: Any = None) -> Array:
        """Draws (n_samples, n, dim) inside the support, from torch's global generator, seeded and then restored."""
        found, lacking = self._draws_inside(n_samples, n_samples, rng, _MOST_DRAWS)
        if found is None:
            raise ValueError(
                f"`posterior` leaves the prior's support too often to be sampled: after {_MOST_DRAWS} draws, "
                f"{lacking:.2%} of the rows lack draws inside it. Likely causes: too little training, or "
                'observations unlike those of the training. `null="signs"` needs no draws.'
            )
        return found

    @cached_property
    def few_draws(self) -> Array | None:
        """Some draws for moments, if enough are inside the support."""
        n_samples = max(_FEW_DRAWS, _DRAWS_PER_DIMENSION * self.dim)
        most = max(_TIMES_AS_MANY * n_samples * self.n, ROWS_AT_ONCE)
        return self._draws_inside(n_samples, n_samples // 2, _SEED, most)[0]

    def _draws_inside(self, n_samples: int, enough: int, rng: Any, most: int) -> tuple[Array | None, float]:
        """Draws of which so many differ in each row, or None and the share of rows that lack some after the most."""
        import torch

        found = self.x.new_empty((n_samples, self.n, self.dim))
        rows = torch.arange(self.n, device=self.x.device)
        n_found, n_drawn = torch.zeros_like(rows), 0
        with seeded(rng):
            for k in itertools.count():
                # The more rounds, the fewer draws are inside: twice as many as before cost little for a few rows.
                size = min((n_samples - int(n_found.min())) << min(k, 20), max(1, ROWS_AT_ONCE // len(rows)))
                draws = self.draw(size, rows).detach()
                inside = self._inside(draws)
                place = n_found[rows] + torch.cumsum(inside, dim=0) - 1
                taken = inside & (place < n_samples)
                found[place[taken], rows.expand(taken.shape)[taken]] = draws[taken].to(found.dtype)
                n_found[rows] += taken.sum(dim=0)
                n_drawn += inside.numel()
                rows = torch.nonzero(n_found < enough)[:, 0]
                if len(rows) == 0:
                    again = torch.arange(n_samples, device=self.x.device)[:, None] % n_found
                    return torch.take_along_dim(found, again[..., None], dim=0), 0.0
                if n_drawn >= most:
                    break
        return None, len(rows) / self.n


def _spread_of(predictions: SbiPosterior, moments: Any) -> Array | tuple[Array, Array]:
    """Return means and covariances as they were given, or so many draws."""
    if isinstance(moments, tuple | list):
        if predictions.support is not None:
            raise ValueError(
                "`moments` must be a number of draws where the prior is bounded: tests map the parameters, and means "
                "and covariances before that do not tell those after it."
            )
        mean, covariance = moments
        return mean, covariance
    check_count("moments", moments, 2 * predictions.dim + 2, also=", or means and covariances")
    if isinstance(predictions, Samplable):
        return predictions.sample(moments, _SEED)
    return _draws_by_sbi(predictions.posterior, predictions.x, moments)


def _draws_of_field(predictions: NoisedPosterior, posterior: Any, moments: Any) -> Array:
    """Return so many draws without noise."""
    if isinstance(moments, tuple | list):
        raise ValueError(
            "`moments` must be a number of draws for NPSE and FMPE: tests add noise to the parameters, and means and "
            "covariances before that do not tell those after it."
        )
    check_count("moments", moments, 2 * predictions.dim + 2)
    return _draws_by_sbi(posterior, predictions.x, moments)


def _draws_by_sbi(posterior: Any, x: Array, n_samples: int) -> Array:
    """Draws (m, n, d) by the posterior's own sampler, whose remarks on its batches need no answer."""
    import torch

    with seeded(_SEED), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Note that for batched sampling|Capping max_sampling_batch_size", UserWarning)
        return torch.as_tensor(posterior.sample_batched((n_samples,), x=x, show_progress_bars=False)).detach()


def _check_posterior(posterior: Any) -> None:
    try:
        import sbi  # noqa: F401
    except ImportError:
        raise needs("sbi is not installed", "sbi") from None
    name = type(posterior).__name__
    if not hasattr(posterior, "potential_fn"):
        raise TypeError(
            f"`posterior` must be a posterior of sbi, as `build_posterior` returns, but is a {name}, which has no "
            "density here. For a trainer, or a network that it trained, give `trainer.build_posterior()`."
        )
    if getattr(posterior, "_apply_correction", False) or name == "FilteredDirectPosterior":
        raise TypeError(
            f"`posterior`, a {name}, is valid only for the observation that it was corrected or filtered for, not for "
            "a batch. Test the posterior of the first round."
        )
