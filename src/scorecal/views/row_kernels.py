"""Kernels of finite rank between predictions: features of targets times functions of each prediction.

Each of ours is linear in the features, by weights (n, ...) of the rows, in one of three ways: every feature times every
weight, every feature times its own weights, or sums of features times weights.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from .._lib.arrays import Array, array_namespace, full_product
from .frame import ViewFrame
from .near_modes import are_enough

EACH, OWN, ALONG = "each", "own", "along"


class _Linear:
    """Features times weights of the rows, by `form` and `weights` of the kernels that inherit from this."""

    def combine(self, features: Array, frame: ViewFrame, coordinates: str, rows: slice) -> Array:
        """Return the features (rows, q') of a block of rows, times weights."""
        return weighted(self.form, features, self.weights(frame, coordinates)[rows, ...])  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Traits(_Linear):
    """The linear kernel on the locations of two predictions and on their (logarithmic) spreads.

    With it a view sees what is calibrated on average, but less so where predictions are high, or narrow.
    """

    form: ClassVar[str] = EACH

    def differs(self, frame: ViewFrame) -> bool:
        return bool(frame.traits.shape[1])

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.traits


@dataclass(frozen=True)
class Curves(_Linear):
    """Legendre polynomials of order 2, 3 and 4 of the ranks of the predictions, by location and by spread.

    With it a view sees what rises and falls as predictions grow. For features that are one for each dimension, `own`
    takes the ranks by location in that dimension alone.

    Parameters
    ----------
    own : bool
        Whether each feature is multiplied with the curves of its own dimension only.
    """

    own: bool = False

    @property
    def form(self) -> str:
        return OWN if self.own else EACH

    def differs(self, frame: ViewFrame) -> bool:
        return bool(self.weights(frame, "").shape[1])

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.curves_of_locations if self.own else frame.curves


@dataclass(frozen=True)
class Gain(_Linear):
    """The operator-valued kernel m m' of the predictions' locations m, beside the constant kernel on targets.

    It sees predicted locations that vary too much or too little: whether targets regressed on them have slope 1.

    Parameters
    ----------
    own : bool
        Whether each dimension has a slope of its own; if not, all have one in common.
    """

    own: bool = False

    @property
    def form(self) -> str:
        return OWN if self.own else ALONG

    def differs(self, frame: ViewFrame) -> bool:
        return not frame.alike

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.directions[coordinates][..., None]


@dataclass(frozen=True)
class EachDimension(_Linear):
    """The score of a shift of one dimension of a prediction while the others stay, for each dimension.

    It is the error of one dimension less what the errors of the others tell of it, and so much smaller than that error
    itself where dimensions are correlated. For whitened coordinates.
    """

    form: ClassVar[str] = ALONG

    def differs(self, frame: ViewFrame) -> bool:
        return True

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.axes


@dataclass(frozen=True)
class Covariate(_Linear):
    """Functions of a covariate: polynomials of its ranks, or an indicator of each label, less their means.

    With it a view sees what is calibrated on average, but not where the covariate is high, or has some label.

    Parameters
    ----------
    name : str
        The covariate, as `calibration_test(..., covariates=)` has it.
    """

    name: str
    form: ClassVar[str] = EACH

    def differs(self, frame: ViewFrame) -> bool:
        if self.name not in frame.covariates:
            raise ValueError(
                f"`covariates` must hold {self.name!r}, for which a view asks; it has {[*frame.covariates]}."
            )
        return bool(frame.covariates[self.name].shape[1])

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.covariates[self.name]


@dataclass(frozen=True)
class ErrorsBefore(_Linear):
    """Errors of the row observed last, for rows in time order: whether errors follow each other, in sign or in size.

    Parameters
    ----------
    own : bool
        Whether each feature is multiplied with the error of its own dimension; if not, with the size of the errors.
    """

    own: bool = False

    @property
    def form(self) -> str:
        return OWN if self.own else EACH

    def differs(self, frame: ViewFrame) -> bool:
        return frame.ordered

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.errors_before[..., None] if self.own else frame.sizes_before


@dataclass(frozen=True)
class Valleys(_Linear):
    """Only predictions with a valley between modes count; none where hardly any has one."""

    form: ClassVar[str] = EACH

    def differs(self, frame: ViewFrame) -> bool:
        return are_enough(frame.valleys)

    def weights(self, frame: ViewFrame, coordinates: str) -> Array:
        return frame.valleys


def is_linear(kernel: Any) -> bool:
    """Return whether a kernel is one of ours that depends on nothing but predictions, and no class made of it."""
    return type(kernel) in (Traits, Curves, Gain, EachDimension, Covariate, Valleys)


def weighted(form: str, features: Array, weights: Array) -> Array:
    """Return features (..., n, q) times weights of the rows: (n, t), (n, q, t), or (n, q, t) to be summed over q."""
    xp = array_namespace(features)
    if form == ALONG:
        return full_product(features[..., None, :], weights)[..., 0, :]
    own = form == OWN
    products = features[..., :, None] * weights if own else weights[:, :, None] * features[..., None, :]
    return xp.reshape(products, (*features.shape[:-1], -1))
