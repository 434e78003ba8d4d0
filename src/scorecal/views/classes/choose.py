"""The views of predictions of classes: what each of them looks at, as features."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..._lib.covariates import is_label
from ...resampling.clusters import Clusters, rows_before
from ..covariates import functions_of
from ..ranks import legendre_curves, ranks_of, ranks_so_far
from .features import ClassFeatures, JoinedFeatures, OwnFeatures, ProductFeatures, ScoreFeatures, centred, without_rare
from .kernel import kernel_features
from .unlikely import Unlikely, unlikely

_LEAST_PROBABILITY, _LEAST_BY_SIGNS = 1e-12, 1e-3  # signs cannot judge sums that rest on a few huge numbers
_MOST_LOGIT = 8.0
_FEWEST = 3.0  # variance of the number of targets of a class, below which it counts for less
_FEWEST_BY_SIGNS = 20.0  # rows or clusters on which a sum must rest for signs to judge it
_ORDERS = (1, 2, 3)
_ALIKE = 1e-9
_SECOND = 0.5  # of second-order curves, beside slopes
_WEIGHT, _WEIGHT_OF_ALL = 3.0, 6.0  # of covariates


@dataclass(frozen=True, eq=False)
class ClassView:
    """One statistic of the test of classes; the fields are those of `View`."""

    name: str
    sees: str
    features: ClassFeatures | Unlikely
    weight: float
    about: str
    largest: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """Knowledge that views share: probabilities (n, K), and how rows depend on each other."""

    p: np.ndarray
    clusters: Clusters | None
    by_signs: bool

    @property
    def ordered(self) -> bool:
        return self.clusters is not None and self.clusters.ordered

    @property
    def log_score(self) -> np.ndarray:
        """Log-probability of each class less its expectation: the score of a temperature, at 1."""
        least = _LEAST_BY_SIGNS if self.by_signs else _LEAST_PROBABILITY
        return centred(self.p, np.log(np.maximum(self.p, least)))

    @property
    def top_score(self) -> np.ndarray:
        """Whether a class is the most probable one, less the probability of that."""
        top = np.zeros_like(self.p)
        top[np.arange(len(top)), np.argmax(self.p, axis=1)] = 1.0
        return centred(self.p, top)

    def curves(self, values: np.ndarray) -> np.ndarray:
        """Smooth curves of the ranks of a column, of the rows so far if rows are ordered; (n, 0) if all are alike."""
        if np.ptp(values) <= _ALIKE * np.max(np.abs(values)):
            return np.zeros((len(values), 0))
        if self.ordered and self.clusters is not None:
            return np.asarray(legendre_curves(ranks_so_far(values, self.clusters.series), _ORDERS))
        found = legendre_curves(ranks_of(values), _ORDERS)
        return np.asarray(found - np.mean(found, axis=0))

    def scales(self, squares: np.ndarray) -> np.ndarray:
        """Factors of features with these expected sums of squares; ordered rows must not know later ones."""
        if self.ordered:
            return np.ones_like(squares)
        return np.where(squares > 0, 1.0 / np.sqrt(np.maximum(squares, _FEWEST)), 0.0)


def class_views(
    p: np.ndarray,
    observed: np.ndarray,
    columns: Mapping[str, np.ndarray],
    clusters: Clusters | None,
    ordinal: bool,
    by_signs: bool,
) -> tuple[ClassView, ...]:
    """Return the views that see something of these predictions, with covariates by name, (n,) each."""
    known = Known(p, clusters, by_signs)
    views = [*_of_confidence(known), *_of_classes(known)]
    if ordinal and p.shape[1] > 2:
        views += _of_order(known)
    if known.ordered:
        views += _of_errors_before(known, observed)
    views += _of_covariates(known, columns, {view.name for view in views})
    rare = unlikely(p, known.ordered)
    views = [kept for view in views for kept in _that_see(view, known)]
    if not rare.constant or not views:
        views.append(
            ClassView("unlikely target", "outliers", rare, 1.0, "A target is a class that is next to impossible.")
        )
    return tuple(views)


def _that_see(view: ClassView, known: Known) -> list[ClassView]:
    """Return the view with what signs can judge of it, if they are to; nothing if no feature is left."""
    assert not isinstance(view.features, Unlikely)
    features: ClassFeatures = view.features
    if known.by_signs:
        clusters = known.clusters
        shared = clusters is not None and clusters.n_clusters < len(known.p)
        features = without_rare(features, _FEWEST_BY_SIGNS, clusters.labels if clusters and shared else None)
    return [replace(view, features=features)] if np.any(features.units.squares > 0) else []


def _of_confidence(known: Known) -> list[ClassView]:
    p, ones = known.p, np.ones((len(known.p), 1))
    curves = known.curves(np.max(p, axis=1))
    spread = known.curves(-np.sum(p * np.log(np.maximum(p, _LEAST_PROBABILITY)), axis=1))
    score = ScoreFeatures(p, known.log_score, ones)
    return [
        ClassView("confidence", "confidence", score, 4.0,
                  "Probabilities are all too extreme, or too close to each other."),
        ClassView("top label", "confidence", ScoreFeatures(p, known.top_score, ones), 2.0,
                  "The most probable class is right less often, or more often, than its probability says."),
        ClassView("top label by confidence", "dependence", ScoreFeatures(p, known.top_score, curves), 1.0,
                  "The most probable class is right too rarely where its probability is in some range."),
        ClassView("confidence by the prediction", "dependence",
                  ScoreFeatures(p, known.log_score, np.concatenate([curves, spread], axis=1)), 1.0,
                  "Predictions are too sure where they are sure, or where they are not."),
    ]  # fmt: skip


def _of_classes(known: Known) -> list[ClassView]:
    p, n_classes = known.p, known.p.shape[1]
    variances = p * (1.0 - p)
    totals = np.sum(variances, axis=0)
    scales = known.scales(totals)
    logits = np.clip(np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(1.0 - p, 1e-300)), -_MOST_LOGIT, _MOST_LOGIT)
    slopes, bends = logits, logits**2 / _MOST_LOGIT
    if not known.ordered:  # what a bias of the class does not explain, and the slope neither
        slopes = _less_mean(variances, slopes)
        bends = _less_mean(variances, bends)
        share = np.sum(variances * bends * slopes, axis=0) / np.maximum(np.sum(variances * slopes**2, axis=0), 1e-300)
        bends = _zero_if_alike(bends - share * slopes)
    slopes, bends = (each * known.scales(np.sum(variances * each**2, axis=0)) for each in (slopes, bends))
    each = ProductFeatures(p, np.ones((len(p), 1)), scales)
    views = [
        ClassView("classes", "bias", each, 2.0, "Some classes occur more often than predicted, and others less often."),
        ClassView("class by class", "dependence",
                  JoinedFeatures((OwnFeatures(p, slopes), OwnFeatures(p, _SECOND * bends))), 1.0,
                  "Probabilities of a class are too extreme, or too close to each other."),
        ClassView("full vector", "any", kernel_features(p, known.ordered), 1.0,
                  "Classes occur more often, or less, for predictions that are like each other."),
    ]  # fmt: skip
    if n_classes > 2:
        one = JoinedFeatures((each, OwnFeatures(p, slopes)))
        views.append(ClassView("one class", "bias", one, 2.0, "One class has wrong probabilities.", largest=True))
    return views


def _of_order(known: Known) -> list[ClassView]:
    """Views of classes in order, by their places and by the residuals of cumulative probabilities."""
    p, n_classes = known.p, known.p.shape[1]
    ones, places = np.ones((len(p), 1)), np.broadcast_to(np.arange(float(n_classes)), p.shape)
    shift = centred(p, places)
    spread = centred(p, shift**2)
    curves = known.curves(np.sum(p * places, axis=1))
    below = (np.arange(n_classes)[:, None] <= np.arange(n_classes - 1)[None, :]).astype(np.float64)
    cumulative = ProductFeatures(p, ones, below)
    scaled = ProductFeatures(p, ones, below * known.scales(cumulative.units.squares))
    return [
        ClassView("order", "bias", ScoreFeatures(p, shift, ones), 2.0,
                  "Targets are too low, or too high, in the order."),
        ClassView("order, spread", "confidence", ScoreFeatures(p, spread, ones), 2.0,
                  "Targets are farther from the middle of their predictions than claimed, or nearer."),
        ClassView("order by the prediction", "dependence", ScoreFeatures(p, shift, curves), 1.0,
                  "Targets are too low where predictions are low, or where they are high."),
        ClassView("cumulative", "bias", scaled, 1.0,
                  "Targets are up to some class more often, or less, than predicted."),
    ]  # fmt: skip


def _of_errors_before(known: Known, observed: np.ndarray) -> list[ClassView]:
    """Views of whether errors follow those of the row that was observed last."""
    assert known.clusters is not None
    p, n = known.p, len(known.p)
    before = rows_before(known.clusters, n)
    has = (before >= 0)[:, None] * 1.0
    residuals = -p.copy()
    residuals[np.arange(n), observed] += 1.0
    last = residuals[np.maximum(before, 0)] * has
    sizes = np.take_along_axis(known.log_score, observed[:, None], axis=1)[np.maximum(before, 0)] * has
    return [
        ClassView("classes by errors before", "serial", ScoreFeatures(p, centred(p, last), np.ones((n, 1))), 2.0,
                  "A class is likelier, or less likely, where it was so in the row before."),
        ClassView("confidence by errors before", "serial",
                  ScoreFeatures(p, known.log_score, np.clip(sizes, -3.0, 3.0)), 2.0,
                  "Predictions are too sure after unlikely targets, or after likely ones."),
    ]  # fmt: skip


def _of_covariates(known: Known, columns: Mapping[str, np.ndarray], taken: set[str]) -> list[ClassView]:
    views, weight = [], min(_WEIGHT, _WEIGHT_OF_ALL / max(1, len(columns)))
    scales = known.scales(np.sum(known.p * (1.0 - known.p), axis=0))
    for name, column in columns.items():
        functions, one_of_them = functions_of(column, known.clusters), is_label(column)
        where = "for some value" if one_of_them else "over some range"
        more = ", covariate" if {f"classes by {name}", f"confidence by {name}"} & taken else ""
        views += [
            ClassView(f"classes by {name}{more}", "covariates", ProductFeatures(known.p, functions, scales), weight,
                      f"Some classes occur more often than predicted {where} of {name}.", one_of_them),
            ClassView(f"confidence by {name}{more}", "covariates", ScoreFeatures(known.p, known.log_score, functions),
                      weight, f"Predictions are too sure {where} of {name}.", one_of_them),
        ]  # fmt: skip
    return views


def _less_mean(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    mean = np.sum(weights * values, axis=0) / np.maximum(np.sum(weights, axis=0), 1e-300)
    return _zero_if_alike(values - mean)


def _zero_if_alike(values: np.ndarray) -> np.ndarray:
    """Columns in which only rounding is left become zero."""
    return np.where(np.max(np.abs(values), axis=0) > _ALIKE, values, 0.0)
