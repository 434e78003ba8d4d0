"""`scorecal demo`: six forecasts of tomorrow's highest temperature, and whether their uncertainty can be trusted.

Real weather, Seattle 2012-2015. Forecasters learn on the even weeks and are judged on every other day of the odd ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from ._calibration_test import calibration_test
from ._lib.extras import needs
from ._lib.files import write_whole
from .plots.style import encoded
from .predictions import Gaussian
from .results import CombinedResult


@dataclass(frozen=True, eq=False)
class Weather:
    """Weather by day: features known the day before, the season alone, today's high, and the high to forecast."""

    features: np.ndarray
    season: np.ndarray
    today: np.ndarray
    tomorrow: np.ndarray


@dataclass(frozen=True, eq=False)
class Verdict:
    """Outcome of the test for one forecaster, with the coverage of its 90 % intervals and its bias."""

    forecaster: str
    predictions: Gaussian
    targets: np.ndarray
    result: CombinedResult
    coverage: float
    bias: float

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if not self.result.rejects():
            return "no evidence against it"
        warm = "warm" if self.bias > 0 else "cold"
        words = {
            "over-confidence": f"over-confident: its 90 % intervals hold {100 * self.coverage:.0f} %",
            "under-confidence": f"under-confident: its 90 % intervals hold {100 * self.coverage:.0f} %",
            "bias": f"biased: too {warm} by {abs(self.bias):.2f} standard deviations",
            "dependence": "right on average, but not for every kind of forecast",
            "shape": "of the wrong shape",
        }
        return words.get(self.result.seen[0], "wrong in a way that has no name here")


def load() -> Weather:
    """Load the weather of Seattle, one row for each day."""
    path = files("scorecal") / "data" / "seattle_weather.csv"
    table = np.loadtxt(path.read_text().splitlines()[3:], delimiter=",", usecols=(1, 2, 3, 4))
    high, low, rain, wind = table.T
    angle = 2.0 * np.pi * np.arange(len(high)) / 365.25
    season = np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)], axis=1)
    recent = np.stack([high[1:-1], high[:-2], low[1:-1], np.log1p(rain[1:-1]), wind[1:-1]], axis=1)
    return Weather(np.concatenate([season[2:], recent], axis=1), season[2:], high[1:-1], high[2:])


def forecasts(weather: Weather, learn: np.ndarray, judge: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Means and standard deviations of six forecasters, learned on the days `learn`, for the days `judge`."""
    x, y, season = weather.features, weather.tomorrow, weather.season
    coefficients = np.linalg.lstsq(x[learn], y[learn], rcond=None)[0]
    mean, residuals = x[judge] @ coefficients, y[learn] - x[learn] @ coefficients
    seasonal = _seasonal_scale(season[learn], residuals, season[judge])
    constant = np.full(len(mean), residuals.std())
    leverage = np.einsum("ij,jk,ik->i", x[judge], np.linalg.inv(x[learn].T @ x[learn]), x[judge])
    climate = np.linalg.lstsq(season[learn], y[learn], rcond=None)[0]
    spread = _seasonal_scale(season[learn], y[learn] - season[learn] @ climate, season[judge])
    near, near_error = _nearest(x[learn], y[learn], x[judge])
    return {
        "regression, noise by season": (mean, seasonal),
        "regression, one noise level": (mean, constant),
        "climatology": (season[judge] @ climate, spread),
        "regression, thermometer 1 degree off": (mean - 1.0, seasonal),
        "nearest days, noise from training": (near, np.full(len(near), near_error)),
        "regression, error of the mean": (mean, np.sqrt(leverage) * residuals.std()),
    }


def _seasonal_scale(season: np.ndarray, residuals: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Standard deviations exp(season . w / 2), by Newton's method on the Gaussian likelihood of the residuals."""
    weights = np.zeros(season.shape[1])
    weights[0] = np.log(np.mean(residuals**2))
    for _ in range(20):
        ratio = residuals**2 / np.exp(season @ weights)
        weights = weights + np.linalg.solve((season * ratio[:, None]).T @ season, season.T @ (ratio - 1.0))
    scale: np.ndarray = np.exp(0.5 * wanted @ weights)
    return scale


def _nearest(x: np.ndarray, y: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean of the three most similar days and, as the mistake to be found, its error on the training days."""

    def predict(points: np.ndarray) -> np.ndarray:
        gaps = (points[:, None, 1:] - x[None, :, 1:]) / x[:, 1:].std(axis=0)
        closest = np.argsort(np.sum(gaps**2, axis=-1), axis=1)[:, :3]
        average: np.ndarray = np.mean(y[closest], axis=1)
        return average

    return predict(wanted), float(np.std(y - predict(x)))


def judge(seed: int = 0) -> list[Verdict]:
    """Return a verdict on each of the six forecasters."""
    weather = load()
    day = np.arange(len(weather.tomorrow))
    learn = day // 7 % 2 == 0
    judged = np.flatnonzero(~learn)[::2]
    centre, unit = weather.tomorrow[learn].mean(), weather.tomorrow[learn].std()
    targets = (weather.tomorrow[judged] - centre) / unit
    verdicts = []
    for name, (mean, scale) in forecasts(weather, np.flatnonzero(learn), judged).items():
        predictions = Gaussian((mean - centre) / unit, scale / unit)
        result = calibration_test(predictions, targets, rng=seed)
        z = (weather.tomorrow[judged] - mean) / scale
        coverage, bias = float(np.mean(np.abs(z) < 1.645)), -float(np.mean(z))
        verdicts.append(Verdict(name, Gaussian(mean, scale), weather.tomorrow[judged], result, coverage, bias))
    return verdicts


def kind_of_picture(path: Path) -> str:
    """Return the kind of file that the end of the path stands for; raise if matplotlib draws none of this kind."""
    try:
        import matplotlib  # noqa: F401
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise needs("The demo draws with matplotlib", "cli") from None
    kind, kinds = path.suffix[1:].lower() or "png", FigureCanvasBase.get_supported_filetypes()
    if kind not in kinds:
        raise ValueError(f"{path} must end in one of .{', .'.join(kinds)}, for a picture of that kind.")
    return kind


def picture(verdicts: list[Verdict], kind: str) -> bytes:
    """Draw forecasts of forty days, and every statistic beside its null distribution, as a file of this kind."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    blue, red, grey = "#0072b2", "#d55e00", "#999999"
    figure = plt.figure(figsize=(11, 9), layout="constrained")
    grid = figure.add_gridspec(3, 3)
    days = slice(60, 100)
    for column, verdict in enumerate((verdicts[0], verdicts[4], verdicts[3])):
        axes = figure.add_subplot(grid[0, column])
        mean, scale = verdict.predictions.mean[days, 0], np.ravel(np.asarray(verdict.predictions.scale))[days]
        colour = red if verdict.result.rejects() else blue
        at = np.arange(len(mean))
        axes.fill_between(at, mean - 1.645 * scale, mean + 1.645 * scale, color=colour, alpha=0.3, lw=0)
        axes.plot(at, mean, color=colour, lw=1)
        axes.plot(at, verdict.targets[days], "k.", ms=4)
        axes.set(title=verdict.forecaster, ylabel="°C" if column == 0 else "", xlabel="forty of the judged days")
        axes.title.set_fontsize(10)
    for k, verdict in enumerate(verdicts):
        axes = figure.add_subplot(grid[1 + k // 3, k % 3])
        result = verdict.result
        unit = result.critical_value()
        axes.hist(result.null_distribution / unit, bins=40, color=grey)
        axes.axvline(result.statistic / unit, color=red if result.rejects() else blue, lw=2.5)
        axes.axvline(1.0, color="k", lw=1, ls="--")
        axes.set(title=f"{verdict.forecaster}\np = {result.pvalue:.3f}\n{verdict.sentence}", yticks=[])
        axes.title.set_fontsize(9)
        axes.set_xlabel("statistic / critical value" if k >= 3 else "")
    figure.suptitle(
        "Tomorrow's high in Seattle: 90 % forecasts, and each test's statistic (line) beside its null (bars)"
    )
    file = encoded(figure, kind, dpi=110)
    plt.close(figure)
    return file


def run(path: Path, kind: str) -> Iterator[str]:
    """Yield lines with a verdict for every forecaster, then save the picture as a file of this kind."""
    verdicts = judge()
    yield f"Six forecasts of tomorrow's highest temperature in Seattle, judged on {len(verdicts[0].targets)} days\n"
    yield f"{'forecaster':<38}{'p-value':>8}   verdict"
    for verdict in verdicts:
        yield f"{verdict.forecaster:<38}{verdict.result.pvalue:>8.3f}   {verdict.sentence}"
    write_whole(path, picture(verdicts, kind))
    yield f"\nPicture saved to {path}"
