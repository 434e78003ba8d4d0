"""Campaign: the tests of `scorecal` against a slow reference in long double, with the tolerance of its error bounds."""

import warnings
from typing import Any

import numpy as np
from hypothesis import strategies as st

import scorecal as sc

from .ball import Ball, smallest, total
from .campaign import Campaign, check_named
from .data import CONTAINERS, Data, arrays, contained, data_sets
from .expected import PROFILES, Chosen, Expected, expected

B = 40
SLACK = 4  # the library may round a few times where the reference rounds once
RANKS = ("Constant", "Linear", "Trace", "Polynomial", "BoundedRadial")
BETWEEN = ("gfd", "gfd points", "kgfd", "kgfd points", "mmd", "wasserstein", "constant")
_bandwidths = st.just("median") | st.integers(-20, 20).map(lambda k: 10 ** (k / 10))


@st.composite
def cases(draw: Any) -> dict[str, Any]:
    """Draw a data set, a test, its kernels, and the containers of its arrays."""
    test = draw(st.sampled_from(["kccsd", "kccsd", "kcsd", "ksd", "skce"]))
    targets = {"kccsd": [*PROFILES, *RANKS], "skce": ["gaussian"]}.get(test, list(PROFILES))
    return {
        "data": draw(data_sets(rows=st.integers(2, 12), dims=st.integers(1, 4))),
        "test": test,
        "target": draw(st.sampled_from(targets)),
        "between": draw(st.sampled_from(BETWEEN)),
        "target bandwidth": draw(_bandwidths),
        "bandwidth": draw(_bandwidths),
        "ground": draw(st.integers(-10, 20).map(lambda k: 10 ** (k / 10))),
        "containers": draw(st.lists(st.sampled_from(CONTAINERS), min_size=2, max_size=2)),
        "rng": draw(st.integers(0, 9)),
    }


def check(case: dict[str, Any]) -> None:
    """Raise if the library differs from the reference by more than rounding explains, or fails without naming why."""
    data = arrays(case["data"])
    chosen = _chosen(case, data)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = _library(chosen, data, case["containers"], case["rng"])
        except (TypeError, ValueError) as error:
            check_named(error)
            found = None
    for each in heard:
        assert each.category is UserWarning, f"{each.category.__name__}: {each.message}"
    if found is None:
        return
    if chosen.test == "ksd":
        data = _of_one(data)
    eps = max(float(np.finfo(part.dtype).eps) for part in (data.mean, data.y))
    with np.errstate(all="ignore"):
        compare(found, expected(chosen, data, eps), case["rng"])


def _of_one(data: Data) -> Data:
    """Return the data with the first prediction for every target."""
    first = np.zeros(len(data.mean), dtype=int)
    scale = data.scale if data.scale is None or data.scale.ndim == 0 else data.scale[first]
    covariance = data.covariance if data.covariance is None or data.covariance.ndim == 2 else data.covariance[first]
    return data._replace(mean=data.mean[first], scale=scale, covariance=covariance)


def _chosen(case: dict[str, Any], data: Data) -> Chosen:
    unit, width, target = 10.0 ** case["data"]["unit"], case["bandwidth"], case["target bandwidth"]
    if width != "median" and case["test"] != "kcsd":  # scores have the unit 1 / y
        width *= {"mmd": 1.0, "constant": 1.0, "wasserstein": unit}.get(case["between"], 1 / unit)
    points = case["data"]["offset"] + unit * np.random.default_rng(5).normal(size=(4, data.mean.shape[1]))
    return Chosen(
        case["test"],
        case["target"],
        case["between"],
        target if target == "median" else target * unit,
        width,
        case["ground"] * unit,
        points.astype(data.mean.dtype),
        unit,
    )


def _library(chosen: Chosen, data: Data, containers: list[str], seed: int) -> Any:
    if "torch" in containers:  # all arrays must come from one library
        containers = [each if each in ("list", "tuple") else "torch" for each in containers]
    mean, y = (contained(part, each) for part, each in zip((data.mean, data.y), containers, strict=True))
    name = "covariance" if data.scale is None else "scale"
    spread = contained(getattr(data, name), containers[0])
    if chosen.test == "ksd":
        mean = mean[:1]
        spread = spread if np.ndim(spread) == (2 if name == "covariance" else 0) else spread[:1]
    predictions = sc.Gaussian(mean, **{name: spread})
    if chosen.target in RANKS:
        target_kernel = getattr(sc.kernels, chosen.target)()
    else:
        target_kernel = {"gaussian": sc.kernels.Gaussian, "imq": sc.kernels.IMQ}[chosen.target](chosen.target_width)
    common = {"target_kernel": target_kernel, "n_resamples": B, "precision": "full", "rng": seed}
    if chosen.test == "ksd":
        return sc.ksd_test(predictions, y, **common)
    if chosen.test == "kcsd":
        return sc.kcsd_test(predictions, y, data.x.tolist(), input_kernel=sc.kernels.IMQ(chosen.width), **common)
    points = contained(chosen.points, "torch" if "torch" in containers else "ndarray")
    test = sc.skce_test if chosen.test == "skce" else sc.kccsd_test
    return test(predictions, y, distribution_kernel=_between(chosen, points), **common)


def _between(chosen: Chosen, points: Any) -> Any:
    base = sc.Gaussian(chosen.points[:1], chosen.base_sd)
    ground, width = sc.kernels.Gaussian(chosen.ground), chosen.width
    return {
        "gfd": sc.kernels.GFD(base, bandwidth=width),
        "gfd points": sc.kernels.GFD(points, bandwidth=width),
        "kgfd": sc.kernels.KGFD(ground, base, bandwidth=width),
        "kgfd points": sc.kernels.KGFD(ground, points, bandwidth=width),
        "mmd": sc.kernels.MMD(ground, bandwidth=width),
        "wasserstein": sc.kernels.Wasserstein(bandwidth=width),
        "constant": sc.kernels.Constant(),
    }[chosen.between]


def compare(found: Any, reference: Expected, seed: int) -> None:
    """Raise where a result of the library lies outside the error bounds of the reference."""
    n = found.n
    if not np.all(np.isfinite(reference.H.value)):
        return  # a covariance is not positive definite in long double
    for name, value in found.bandwidths.items():
        _close(f"bandwidth {name!r}", value, reference.bandwidths[name], 0.0)
    off = 1.0 - np.eye(n)
    H = Ball(reference.H.value * off, np.where(off > 0, reference.H.error, 0), reference.H.eps)
    pairs = float(n * (n - 1))
    statistic, contributions = total(total(H, 1)) / pairs, total(H, 1) / pairs
    granted = np.sum(reference.granted) / pairs
    _close("statistic", found.statistic, statistic, granted)
    _close("contributions", found.contributions, contributions, reference.granted / pairs)
    packed = np.frombuffer(np.random.default_rng(seed).bytes(-(-n * B // 8)), dtype=np.uint8)
    signs = 2.0 * np.unpackbits(packed)[: n * B].reshape(n, B) - 1.0
    size = np.sum(H.error) + n * n * H.eps * np.sum(abs(H.value))
    null = Ball(np.einsum("ib,ij,jb->b", signs, H.value, signs), np.full(B, size), H.eps) / pairs
    tie = 64 * H.eps * np.max(abs(null.value))  # draws this close to the statistic count as equal to it
    _close("null_distribution", found.null_distribution, null, granted + tie)
    slack = SLACK * (null.error + statistic.error) + 2 * granted + tie
    ties = abs(np.sum(signs, axis=0)) == n  # equal signs give the statistic itself
    above = (null.value > statistic.value + slack) | ties
    perhaps = null.value >= statistic.value - slack
    low, high = ((1 + np.sum(which)) / (1 + B) for which in (above, perhaps | above))
    assert low <= found.pvalue <= high, f"pvalue {found.pvalue} is not between {low} and {high}"


def _close(name: str, found: Any, wanted: Ball, granted: Any) -> None:
    tolerance = SLACK * wanted.error + granted + smallest(wanted.eps)
    off = np.abs(np.asarray(found) - wanted.value)
    assert np.all(np.isfinite(found)), f"{name} is {found}"
    assert np.all(off <= tolerance), f"{name} is {found}, but the reference is {wanted.value} within {tolerance}"


REFERENCE = Campaign("reference", cases(), check, quick=100)
