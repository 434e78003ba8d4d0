"""Words for what the views of classes found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..._lib.text import visible
from ...resampling.clusters import Clusters
from ...resampling.laws import law_of
from ..combine import USUAL_LEVEL, Combined, verdict
from ..covariates import functions_of
from .choose import ClassView
from .features import KeptFeatures
from .unlikely import Unlikely

_BACKED = 0.01
_MOST_NAMED = 3
_FEWEST = 5.0  # expected targets of a class
_IMPOSSIBLE = 1e-6

_WORDS = {
    "over-confidence": "the predictions are over-confident: targets are classes that they hold for too unlikely",
    "under-confidence": "the predictions are under-confident: targets are likelier classes than they claim",
    "bias": "the predictions are biased: {classes}",
    "dependence": "the error of the probabilities depends on the prediction",
    "outliers": "a few targets are classes that their predictions all but rule out",
    "covariates": "miscalibration depends on {covariates}",
    "serial": "errors follow those of the rows before",
    "any": "none of the views names the kind",
}
_SHORT = {
    "bias": "bias ({classes})",
    "dependence": "dependence on the prediction",
    "covariates": "dependence on {covariates}",
    "serial": "dependence on the errors before",
}


@dataclass(frozen=True, eq=False)
class Found:
    """The views of a data set, and what came out of them together."""

    names: tuple[str, ...]
    p: np.ndarray  # (n, K)
    observed: np.ndarray  # (n,)
    views: tuple[ClassView, ...]
    combined: Combined
    level: float

    @property
    def clear(self) -> list[int]:
        """The views with evidence at this level, the clearest first."""
        clear = np.flatnonzero(self.combined.adjusted <= self.level)
        return sorted(clear.tolist(), key=lambda k: -float(self.combined.sizes[k]))

    def rows(self, k: int) -> np.ndarray:
        """Features of a view, (n, q), without targets that are all but ruled out; none where these are all it sees."""
        features = self.views[k].features
        if isinstance(features, Unlikely):
            return np.zeros((len(self.p), 1))
        found = features.of_rows(self.observed, slice(0, len(self.observed)))
        return np.asarray(found * (self.p[np.arange(len(self.p)), self.observed] > _IMPOSSIBLE)[:, None])

    def n_features(self, k: int) -> int:
        """Number of features of a view that are not zero."""
        features = self.views[k].features
        return 1 if isinstance(features, Unlikely) else int(np.sum(features.units.squares > 0))

    def kind(self, k: int) -> str:
        """The kind of miscalibration that a view names."""
        view = self.views[k]
        if view.sees != "confidence":
            return view.sees
        sign = -1.0 if view.name == "order, spread" else 1.0  # distances from the middle grow, log-scores fall
        return "over-confidence" if sign * float(np.sum(self.rows(k))) < 0 else "under-confidence"


def seen_by(found: Found) -> tuple[str, ...]:
    """Kinds of miscalibration with evidence at the level asked for, the clearest first.

    Views see each other's flaws: a temperature moves the slope of every class. So those of few features come first, and
    others count if they see something that these do not explain, and if the clearest one does not explain it either.
    """
    clear = [k for k in found.clear if found.views[k].sees != "any"]
    if not clear:
        return ("any",) if found.clear else ()
    kept: list[int] = []
    for k in sorted(clear, key=found.n_features):
        if all(_unexplained(found, k, known) for known in kept):
            kept.append(k)
    kept = [k for k in clear if k in kept]
    kinds = dict.fromkeys(found.kind(k) for k in kept if k == kept[0] or _unexplained(found, k, kept[0]))
    both = [kind for kind in kinds if kind.endswith("confidence")]
    return tuple(kind for kind in kinds if kind not in both[1:])


def _unexplained(found: Found, k: int, first: int) -> bool:
    """Return whether a view is clear in what is left of its features after a regression on those of the first one."""
    if isinstance(found.views[k].features, Unlikely):  # other flaws make targets unlikely, but hardly impossible
        return bool(np.min(found.p[np.arange(len(found.p)), found.observed]) <= _IMPOSSIBLE)
    features, known = found.rows(k), found.rows(first)
    squares = np.sum(known**2, axis=0)
    used = squares > 0
    if not np.any(used):
        return _is_clear(features, found.views[k].largest)
    weights = np.sum(known[:, used], axis=0)
    if found.views[first].largest:
        weights = np.where(np.arange(len(weights)) == np.argmax(weights**2 / squares[used]), weights, 0.0)
    direction = known[:, used] @ (weights / np.sqrt(np.sum(weights**2)))
    rest = features - direction[:, None] * (direction @ features / np.sum(direction**2))
    return _is_clear(rest, found.views[k].largest)


def _is_clear(features: np.ndarray, largest: bool) -> bool:
    """Return whether the sum of features (n, q) over rows is larger than chance, by the law of random signs."""
    n, squares = len(features), np.sum(features**2, axis=0)
    parts, squares = np.sum(features, axis=0)[squares > 0] ** 2, squares[squares > 0]
    law = law_of(squares, n, n - 1.0, largest)
    if law is None:
        return False
    statistic = (np.max(parts / squares) - 1.0) if largest else (np.sum(parts) - np.sum(squares)) / n
    return bool(law.log_pvalues(np.array([statistic / (n - 1.0)]))[0] <= np.log(_BACKED))


def message_of(found: Found, seen: tuple[str, ...]) -> str:
    """The outcome of the test in one or two sentences."""
    outcome = verdict(found.combined.pvalue, len(found.p), found.level)
    if not seen:
        return f"{outcome}."
    names = {"classes": _biased(found), "covariates": _covariates(found)}
    also = ", ".join(_SHORT.get(kind, kind).format(**names) for kind in seen[1:])
    return f"{outcome}: {_WORDS[seen[0]].format(**names)}.{f' Also seen: {also}.' if also else ''}"


def of_few_rows(found: Found) -> tuple[str, ...]:
    """A warning where random signs have left nothing but the largest surprise."""
    nothing_else = all(isinstance(view.features, Unlikely) for view in found.views)
    if not nothing_else or np.all(np.max(found.p, axis=1) == 1.0):
        return ()
    return (
        "Too few rows that are not nearly certain for random signs: only classes that were all but ruled out can "
        "reject. More rows are needed, or none of `groups`, `horizon` and `null` where rows are independent.",
    )


def of_impossible(found: Found) -> tuple[str, ...]:
    """A warning of targets of probability 0, each of which rejects whatever the other rows are."""
    n = int(np.sum(found.p[np.arange(len(found.p)), found.observed] == 0))
    if not n:
        return ()
    targets = "1 target is a class" if n == 1 else f"{n} targets are classes"
    cure = "If probabilities were rounded, give more digits."
    return (f"{targets} of probability 0, which is enough for a rejection. {cure}",)


def _biased(found: Found) -> str:
    """The classes whose numbers are farthest from those predicted, with the direction."""
    gaps = np.bincount(found.observed, minlength=found.p.shape[1]) - np.sum(found.p, axis=0)
    sizes = gaps / np.sqrt(np.maximum(np.sum(found.p * (1.0 - found.p), axis=0), 1e-12))
    largest = np.argsort(-np.abs(sizes))[:_MOST_NAMED]
    largest = largest[np.abs(sizes[largest]) >= max(2.0, 0.5 * float(np.abs(sizes[largest[0]])))]
    names = [repr(visible(name)) for name in found.names]
    parts = [
        f"class{'es' if len(chosen) > 1 else ''} {', '.join(chosen)} {'get' if len(chosen) > 1 else 'gets'} too {much}"
        for chosen, much in (
            ([names[k] for k in largest if sizes[k] < 0], "much probability"),
            ([names[k] for k in largest if sizes[k] > 0], "little"),
        )
        if chosen
    ]
    return " and ".join(parts).replace("too little", "too little probability") if parts else "of some classes"


def _covariates(found: Found) -> str:
    names = [found.views[k].name for k in found.clear if found.views[k].sees == "covariates"]
    short = (name.removesuffix(", covariate").split(" by ", 1)[1] for name in names)
    return " and ".join(dict.fromkeys(short)) or "a covariate"


def blind_spots(
    found: Found, n_resamples: int, columns: Mapping[str, np.ndarray], clusters: Clusters | None
) -> tuple[str, ...]:
    """Sentences on what this test could not see with these predictions."""
    spots, n = [], len(found.p)
    least = 1.0 / (n_resamples + 1.0)
    if least > USUAL_LEVEL:
        spots.append(
            f"anything at the 5 % level: with n_resamples = {n_resamples}, no p-value can be below {least:.2g}."
        )
    if clusters is not None and 2.0 ** (1 - n) > USUAL_LEVEL:
        spots.append(f"anything at the 5 % level: {n} rows have too few patterns of signs.")
    kept = [view.features for view in found.views if isinstance(view.features, KeptFeatures)]
    if any(np.any((each.kept == 0) & (each.features.units.squares > 0)) for each in kept) or (
        clusters is not None and not kept and found.views[0].name != "confidence"
    ):
        spots.append("some flaws of classes and rows that are nearly certain: too few rows tell for random signs.")
    expected = np.sum(found.p, axis=0)
    if np.any(expected < _FEWEST):
        rare = [repr(visible(found.names[k])) for k in np.flatnonzero(expected < _FEWEST)]
        spots.append(f"small errors of classes with fewer than {_FEWEST:g} expected targets: {_some(rare)}.")
    if not any(view.sees == "dependence" for view in found.views):
        spots.append("miscalibration that depends on the prediction: predictions do not differ.")
    spots += [
        f"what depends on {name!r}: it is the same in all rows, or each of its labels is that of few rows."
        for name, column in columns.items()
        if not functions_of(column, clusters).shape[1]
    ]
    return tuple(spots)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
