"""Campaign: what must not change a result: order of rows, units, origin, rotation, tiles, workers, backend.

Data sets are tame: what remains of a change is rounding, and its tolerance is a small part of the null draws.
"""

import warnings
from typing import Any

import numpy as np
from backends import make_backend
from hypothesis import strategies as st

import scorecal as sc
from scorecal._inference import infer_all
from scorecal._kccsd import kccsd_statistic
from scorecal.resampling.options import as_options

from .campaign import Campaign, check_named
from .data import Data, arrays, data_sets

B = 39
ROUNDING = 1e-6
CHANGES = ("rows", "units", "origin", "rotation")
WAYS = ("again", "alone", "tile", "one worker", "map", "torch", "strict", "jax")
BETWEEN = ("gfd", "gfd points", "kgfd", "mmd", "wasserstein")
JAX_SHAPE = 12, 2  # JAX compiles every operation for every shape


@st.composite
def cases(draw: Any) -> dict[str, Any]:
    """Draw a tame data set, a test, and a change of the data or of the way of computing."""
    test = draw(st.sampled_from(["kccsd", "kccsd", "skce", "calibration", "diagnosis"]))
    change = draw(st.sampled_from([*CHANGES, *WAYS] if test == "kccsd" else [*CHANGES, "again"]))
    n, d = JAX_SHAPE if change == "jax" else (draw(st.integers(10, 30)), draw(st.integers(1, 3)))
    return {
        "data": draw(data_sets(rows=st.just(n), dims=st.just(d), tame=True)),
        "test": test,
        "change": change,
        "between": draw(st.sampled_from(BETWEEN)),
        "target": draw(st.sampled_from(["Gaussian", "IMQ"])),
        "power": draw(st.integers(-30, 30)),
        "rng": draw(st.integers(0, 9)),
    }


EXACT = {"n_resamples": B, "precision": "full"}


def check(case: dict[str, Any]) -> None:
    """Raise if a change that must not matter changes a result by more than rounding."""
    data, change, rng = arrays(case["data"]), case["change"], case["rng"]
    points = data.mean[:3] + 10.0 ** case["data"]["unit"]
    data = data._replace(x=points)  # base points in place of inputs: they move with the data
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`y` is constant")
        try:
            before = result(case, data)
        except (TypeError, ValueError) as error:
            check_named(error)
            return
        after, unit = dict(before), 1.0
        if change in CHANGES:
            order = np.random.default_rng(rng).permutation(len(data.y))
            unit = 2.0 ** case["power"] if change == "units" else 1.0
            if change == "rotation" and (case["test"] in ("calibration", "diagnosis") or not _isotropic(data)):
                return
            after = result(case, changed(data, change, order, unit, case), unit)
            if change == "rows":
                before = {name: part[order] if name.startswith("row") else part for name, part in before.items()}
                before = {name: part for name, part in before.items() if not name.startswith("draw")}
        else:
            after = otherwise(case, data)
    # Powers of two change no digit, but of the logarithms of spreads, which are among the traits of predictions.
    exactly = change == "again" or (change == "units" and case["test"] not in ("calibration", "diagnosis"))
    for name in before:
        _near(f"{name} ({change})", after[name], before[name], exactly)


def result(case: dict[str, Any], data: Data, unit: float = 1.0) -> dict[str, np.ndarray]:
    """Return the numbers of one test, in units of their own; names say which are in the order of rows or of draws."""
    predictions, rng = gaussian(data), case["rng"]
    if case["test"] == "diagnosis":
        found = sc.diagnose(predictions, data.y, n_resamples=B, rng=rng)
        return {"bias": np.array(found.bias), "ratio": np.array(found.confidence_ratio)}
    if case["test"] == "calibration":
        found = sc.calibration_test(predictions, data.y, **EXACT, rng=rng)
        return {
            "draws: pvalue": np.array(found.pvalue),
            **{view.name: np.array(view.statistic) for view in found.views},
        }
    test = sc.skce_test if case["test"] == "skce" else sc.kccsd_test
    options = kernels(case, data, unit)
    if case["test"] == "skce":
        options["target_kernel"] = sc.kernels.Gaussian()  # the others draw samples, row by row
    return numbers(test(predictions, data.y, **options, **EXACT, rng=rng), 1.0 if test is sc.skce_test else unit)


def numbers(found: Any, unit: float = 1.0) -> dict[str, np.ndarray]:
    """Return the numbers of a result; the KCCSD has the unit 1 / y^2."""
    scaled = {"statistic": found.statistic, "rows": found.contributions, "draws": found.null_distribution}
    return {
        **{name: np.asarray(part) * unit**2 for name, part in scaled.items()},
        "draws: pvalue": np.array(found.pvalue),
    }


def gaussian(data: Data, array: Any = np.asarray) -> sc.Gaussian:
    """Return the predictions of a data set."""
    name = "covariance" if data.scale is None else "scale"
    return sc.Gaussian(array(data.mean), **{name: array(getattr(data, name))})


def kernels(case: dict[str, Any], data: Data, unit: float = 1.0, array: Any = np.asarray) -> dict[str, Any]:
    """Return the kernels of a case, whose base points and base measure move with the data."""
    size = 10.0 ** case["data"]["unit"] * unit
    base = sc.Gaussian(array(data.x[:1]), 2.0 * size)
    ground = sc.kernels.Gaussian(3.0 * size)
    between = {
        "gfd": sc.kernels.GFD(base),
        "gfd points": sc.kernels.GFD(array(data.x)),
        "kgfd": sc.kernels.KGFD(ground, base),
        "mmd": sc.kernels.MMD(ground),
        "wasserstein": sc.kernels.Wasserstein(),
    }[case["between"]]
    return {"distribution_kernel": between, "target_kernel": getattr(sc.kernels, case["target"])()}


def changed(data: Data, change: str, order: np.ndarray, unit: float, case: dict[str, Any]) -> Data:
    """Return the same data with rows in another order, in other units, moved, or turned."""
    d = data.mean.shape[1]
    scale, covariance = data.scale, data.covariance
    if change == "rows":
        scale = scale if scale is None or scale.ndim == 0 else scale[order]
        covariance = covariance if covariance is None or covariance.ndim == 2 else covariance[order]
        return Data(data.mean[order], data.y[order], scale, covariance, data.x)
    if change == "units":
        scale, covariance = (None if part is None else part * unit**k for k, part in ((1, scale), (2, covariance)))
        return Data(data.mean * unit, data.y * unit, scale, covariance, data.x * unit)
    move = 10.0 ** case["data"]["unit"] * case["power"] * np.ones(d)
    turn, _ = np.linalg.qr(np.random.default_rng(case["rng"]).normal(size=(d, d)))
    moved = [part + move if change == "origin" else part @ turn for part in (data.mean, data.y, data.x)]
    return Data(*moved[:2], scale, covariance, moved[2])


def otherwise(case: dict[str, Any], data: Data) -> dict[str, np.ndarray]:
    """Return the numbers of the same test, computed in another way."""
    way, rng = case["change"], case["rng"]
    if way == "again":
        return result({**case, "rng": np.random.default_rng(rng)}, data)
    options = kernels(case, data)
    if way in ("one worker", "map"):
        workers = 1 if way == "one worker" else map
        return numbers(sc.kccsd_test(gaussian(data), data.y, **options, **EXACT, rng=rng, workers=workers))
    if way in ("torch", "strict", "jax"):
        array = make_backend(way).array
        options = kernels(case, data, array=array)
        return numbers(sc.kccsd_test(gaussian(data, array), array(data.y), **options, **EXACT, rng=rng))
    if way == "alone":
        found = result(case, data)
        return {**found, "statistic": np.asarray(sc.kccsd(gaussian(data), data.y, **options))}
    generator = np.random.default_rng(rng)
    statistic = kccsd_statistic(gaussian(data), data.y, *options.values(), None, generator)
    compute = as_options("complete", None, None, None, "mixed")
    (found,) = infer_all([statistic.function], statistic.reference, [{}], B, generator, compute, tile=8)
    return numbers(found)


def _isotropic(data: Data) -> bool:
    return data.scale is not None and data.scale.ndim < 2


def _near(name: str, found: np.ndarray, wanted: np.ndarray, exactly: bool) -> None:
    size = 0.0 if exactly else ROUNDING * np.nanmax(np.abs(wanted), initial=0.0)
    if "pvalue" in name and not exactly:
        size = 2.5 / (1 + B)  # a draw or two may change sides
    same = (np.abs(found - wanted) <= size) | (np.isnan(found) & np.isnan(wanted))  # ratios of zero to zero
    assert np.all(same), f"{name} is {found}, but was {wanted}"


INVARIANCES = Campaign("invariances", cases(), check, quick=60)
