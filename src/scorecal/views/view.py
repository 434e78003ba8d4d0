"""A view: one way to look at predictions and targets, which sees one kind of miscalibration best."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Protocol, runtime_checkable

from .._lib.arrays import Array, array_namespace
from .._lib.checks import check_not_class
from ..kernels import DistributionKernel, FiniteRank, Radial
from ..kernels.protocol import as_distribution_kernel
from ..predictions import Gaussian, GaussianMixture, Noisable, Pool
from ..statistics.hermite import Hermite, Outlying
from ..statistics.test_functions import BoundedRadial, Constant, Cross, Trace
from .extremes import Largest
from .frame import ViewFrame
from .near_modes import NearModes
from .row_kernels import OWN, Covariate, EachDimension, Gain

KINDS = ("bias", "confidence", "correlation", "dependence", "shape", "outliers", "modes", "covariates", "serial", "any")
_LEAST_IN_COMPONENT = 5.0  # variance of the number of its targets, from which on signs hold their level
_FEWEST_NEAR_MODES = 250  # rows: of fewer, signs take the skewness of the squares for evidence where modes are skewed
_MOST_NOISE = 1e3  # beyond, targets are nothing but noise


@runtime_checkable
class RowKernel(Protocol):
    """A kernel of finite rank between predictions, for views of finite rank: it makes no pairs.

    `frame` holds what views know of the predictions: `frame.predictions` themselves, on all of R^d; `frame.location`,
    their locations (n, d) in units that all share; and `frame.traits`, locations and logarithmic spreads (n, t).
    """

    def differs(self, frame: ViewFrame) -> bool:
        """Return whether the predictions differ in what the kernel looks at; if not, the view is left out."""
        ...

    def combine(self, features: Array, frame: ViewFrame, coordinates: str, rows: slice) -> Array:
        """Return features (rows, q'): those of the test functions, (rows, q), times functions of each prediction."""
        ...


@runtime_checkable
class FrameFeatures(Protocol):
    """Features of predictions and targets that have mean zero without a Stein identity, in place of test functions."""

    def frame_features(self, frame: ViewFrame, rows: slice) -> Array:
        """Return features (rows, q) of `frame.predictions` and `frame.targets[0]`, whose mean is zero if calibrated."""
        ...


@dataclass(frozen=True)
class Shares:
    """Probability of each component of a `GaussianMixture` given the target, less its weight; for `target_kernel`.

    Its mean is zero, also for modes so far apart that scores do not see their weights.

    Parameters
    ----------
    least : float
        Leave out a component if the predicted variance of the number of its targets, the sum of w (1 - w) over rows,
        is less. Random signs need some targets in each component: where all are in the others, as is likely for a
        rare one, every row has a feature of the same sign, which signs take for the clearest evidence.
    """

    least: float = 0.0

    def frame_features(self, frame: ViewFrame, rows: slice) -> Array:
        return self.used(frame, frame.surplus)[rows, :]

    def used(self, frame: ViewFrame, surplus: Array) -> Array:
        """The surplus (..., K) of each component over its weight, 0 for those that are left out."""
        variances: Any = frame.context.sums.shares
        return surplus * array_namespace(surplus).astype(variances >= self.least, surplus.dtype)


@dataclass(frozen=True)
class View:
    """One statistic of `calibration_test`.

    Parameters
    ----------
    name : str
        Name of the view on the result.
    sees : str
        The kind of miscalibration that it names: "bias", "confidence", "correlation", "dependence", "shape",
        "outliers", "modes", "covariates", "serial" or "any".
    target_kernel : kernel of finite rank, `kernels.Gaussian` or `kernels.IMQ`
        The test functions, of scorecal or your own (an object with `features(targets, scores)`); or `views.Shares`, or
        `views.Largest`.
    distribution_kernel : optional
        Between predictions: `kernels.Constant` (the default), `views.Traits`, `views.Curves`, `views.Gain`,
        `views.EachDimension`, `views.Covariate`, `views.ErrorsBefore`, or one of `kernels.GFD` and its like.
    coordinates : {"whitened", "sequential", "marginal", "component", "natural"}
        Of the targets: in units of their own predictions; the same, each dimension given those before it; the same, one
        dimension at a time, which is for `Rank`, `Constant`, `Hermite`, `Polynomial` and test functions of your own
        with `separable = True`; in units of each component of a `GaussianMixture`, averaged by the shares that these
        have in the target; or without a boundary and nothing else.
    largest : bool
        The largest of the statistics of the single features, not their sum; finite rank only.
    noise : float
        Level of the noise that is added to targets and predictions, where these can have it; 0 for none.
    weight : float
        A view of weight 2 counts as if its p-value were half of what it is.
    bounded : kernel of finite rank, optional
        Takes the place of `target_kernel` where null draws come from random signs: these keep the size of every
        feature, so that a huge one of a far target hides all others.
    about : str
        The flaw that it sees, in a plain sentence, which is printed beside its name.

    Examples
    --------
    >>> import scorecal as sc
    >>> view = sc.views.View("third moment", "shape", sc.kernels.Polynomial(2))
    >>> predictions, y = sc.experiments.mgm(200, 0.0, rng=0)
    >>> result = sc.calibration_test(predictions, y, views=[view], rng=0)
    >>> [seen.name for seen in result.views]
    ['third moment']
    """

    name: str
    sees: str
    target_kernel: FiniteRank | Radial | FrameFeatures | Largest
    distribution_kernel: Constant | RowKernel | DistributionKernel = field(default_factory=Constant)
    coordinates: str = "whitened"
    largest: bool = False
    noise: float = 0.0
    weight: float = 1.0
    bounded: FiniteRank | None = None
    about: str = ""

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("sees", self.sees, KINDS),
            ("coordinates", self.coordinates, ("whitened", "sequential", "marginal", "component", "natural")),
        ):
            if value not in allowed:
                raise ValueError(f"`{name}` must be one of {', '.join(map(repr, allowed))}, but is {value!r}.")
        if not isinstance(self.name, str):
            raise TypeError(f"`name` must be text, but is {self.name!r}.")
        if not isinstance(self.largest, bool):
            raise TypeError(f"`largest` must be True or False, but is {self.largest!r}.")
        if not isinstance(self.weight, Real) or not 0 < self.weight < float("inf"):
            raise ValueError(f"`weight` must be positive and finite, but is {self.weight!r}.")
        if not isinstance(self.noise, Real) or not 0 <= self.noise <= _MOST_NOISE:
            raise ValueError(f"`noise` must be between 0 and {_MOST_NOISE:g}, but is {self.noise!r}.")
        self._check_kernels()

    @property
    def finite_rank(self) -> bool:
        """Whether its statistic is one of features of rows, without pairs."""
        return isinstance(self.distribution_kernel, Constant | RowKernel) and isinstance(
            self.target_kernel, FiniteRank | FrameFeatures
        )

    def _check_kernels(self) -> None:
        for name in ("target_kernel", "distribution_kernel"):
            check_not_class(name, getattr(self, name), "a kernel")
        if not isinstance(self.target_kernel, FiniteRank | Radial | FrameFeatures | Largest):
            raise TypeError(
                "`target_kernel` must be a kernel such as `kernels.Linear()`, or have a method "
                f"`features(targets, scores)`, which {self.target_kernel!r} has not."
            )
        if isinstance(self.target_kernel, Shares) and self.coordinates != "component":
            raise ValueError("`Shares` are for coordinates of components.")
        between = self.distribution_kernel
        if not isinstance(between, Constant | RowKernel):
            as_distribution_kernel(between, between)
        if isinstance(self.target_kernel, Largest):
            if (between, self.coordinates, self.largest, self.noise) != (Constant(), "whitened", False, 0.0):
                raise ValueError("`Largest` is for whitened coordinates, alone and without noise.")
            return
        if getattr(between, "form", None) == OWN and self.coordinates != "marginal":
            raise ValueError(f"`{between}` is for marginal coordinates, one dimension at a time.")
        if not self.finite_rank:
            if isinstance(between, RowKernel):
                raise TypeError(
                    f"`{type(between).__name__}` needs a `target_kernel` of finite rank, such as `Constant()`."
                )
            if isinstance(self.target_kernel, FrameFeatures):
                raise TypeError(f"`{type(self.target_kernel).__name__}` is for views without pairs.")
            if self.largest or self.noise:
                raise ValueError("`largest` and `noise` need kernels of finite rank.")
            if self.coordinates == "component":
                raise ValueError("Coordinates of components need kernels of finite rank.")
        if self.coordinates == "component" and self.noise:
            raise ValueError("Coordinates of components are for views without `noise`.")
        where = ("whitened", "marginal")
        if isinstance(between, Gain) and (
            self.coordinates not in where or not isinstance(self.target_kernel, Constant)
        ):
            raise ValueError("`Gain` is for whitened or marginal coordinates and the target kernel `Constant()`.")
        separable = getattr(self.target_kernel, "separable", False)
        if isinstance(between, EachDimension) and not (separable and self.coordinates == "whitened"):
            raise ValueError(
                "`EachDimension` is for whitened coordinates and test functions of one dimension at a time, such as "
                "`Constant()`."
            )
        if self.coordinates == "marginal" and not separable:
            raise ValueError(
                "Marginal coordinates are for test functions of one dimension at a time, `Constant`, `Hermite`, "
                "`Polynomial`, `Rank`, and others whose class says `separable = True`, and not for "
                f"{self.target_kernel!r}."
            )


def for_signs(views: Iterable[View], predictions: Any, own_coordinates: bool) -> tuple[View, ...]:
    """Return the views as random signs can judge them, without those that they cannot.

    Components in which too few targets are expected are left out. The largest target is judged by a formula, which is
    for Gaussian predictions and mixtures of them, in their own coordinates. Of predictions that may be skewed, the ten
    rows of a label are often all on one side, and random signs hardly ever are: all labels count, not the largest.
    """
    has_formula = own_coordinates and type(predictions) in (Gaussian, GaussianMixture)
    symmetric = isinstance(predictions, Gaussian)
    kept = []
    in_pool = isinstance(predictions, Pool)
    for view in views:
        if in_pool and isinstance(view.target_kernel, BoundedRadial):
            view = replace(view, target_kernel=Trace())
        kernel = view.target_kernel
        if in_pool and not _has_mean_zero_in_pools(view):
            continue
        if isinstance(kernel, Outlying) or (isinstance(kernel, Largest) and not has_formula):
            continue
        if isinstance(kernel, Largest) and isinstance(predictions, GaussianMixture):
            view = replace(view, target_kernel=Largest(nearest=True))
        if isinstance(kernel, NearModes) and predictions.n < _FEWEST_NEAR_MODES:
            continue
        if isinstance(view.distribution_kernel, Covariate) and not symmetric:
            view = replace(view, largest=False)
        if view.bounded is not None and (not in_pool or view.coordinates == "marginal"):
            view = replace(view, target_kernel=view.bounded)
        elif isinstance(kernel, Shares) and not kernel.least:
            view = replace(view, target_kernel=Shares(_LEAST_IN_COMPONENT))
        kept.append(view)
    return tuple(kept)


def _has_mean_zero_in_pools(view: View) -> bool:
    """Return whether features have mean zero for ranks in several dimensions.

    Those of each dimension are normal; together, only first and second moments are those of a Gaussian.
    """
    kernel = view.target_kernel
    known = isinstance(kernel, Constant | Trace | Cross) or (isinstance(kernel, Hermite) and kernel.order <= 2)
    return view.finite_rank and (view.coordinates == "marginal" or known or isinstance(kernel, FrameFeatures))


def as_views(given: Any, predictions: Any, own_coordinates: bool) -> tuple[View, ...]:
    """Return the views as a tuple; raise where they cannot look at these predictions."""
    views: tuple[View, ...] = tuple(given) if isinstance(given, Iterable) else ()
    if not views or not all(isinstance(view, View) for view in views):
        raise TypeError(
            f"`views` must hold `views.View`s, and at least one, but is {given!r}. Some of the default ones are "
            "`[view for view in views.default_views(predictions) if view.name in {'bias', 'spread'}]`."
        )
    names = [view.name for view in views]
    if len(set(names)) < len(names):
        raise ValueError(f"`views` must have different names, but are called {names}.")
    if any(view.noise for view in views) and not isinstance(predictions, Noisable):
        raise TypeError(f"`views` with noise need predictions that can have it; {predictions!r} cannot.")
    if any(view.coordinates == "component" for view in views) and not isinstance(predictions, GaussianMixture):
        raise TypeError(f"`views` of components are for `GaussianMixture`, not for {predictions!r}.")
    if not own_coordinates and any(view.noise or view.coordinates == "component" for view in views):
        raise ValueError("`views` with noise or of components are for predictions in their own `coordinates`.")
    return views
