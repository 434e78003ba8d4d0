"""Tables of independent rows that ship in scikit-learn, statsmodels, vega_datasets and palmerpenguins, and models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import regressions as models
from case import Case, correlated, from_scipy, gaussian
from regressions import held_out, split
from scipy import stats
from series import _statsmodels


def _dummies(labels: np.ndarray) -> np.ndarray:
    names = np.unique(labels)
    return (np.asarray(labels)[:, None] == names[1:]).astype(float)


def _several(name: str, x: np.ndarray, y: np.ndarray, seed: int, chosen: dict[str, models.Fit]) -> Iterator[Case]:
    for model, fit in chosen.items():
        yield gaussian(name, model, *held_out(fit, x, y, seed))


def diabetes(seed: int) -> Iterator[Case]:
    from sklearn.datasets import load_diabetes

    chosen = {
        "forest, spread in sample": models.in_sample_forest,
        "forest, spread out of bag": models.out_of_bag_forest,
        "least squares": models.least_squares,
        "Gaussian process": models.gaussian_process,
        "least squares, own spreads": models.weighted_by_spread,
    }
    yield from _several("diabetes", *load_diabetes(return_X_y=True), seed, chosen)


def tumours(seed: int) -> Iterator[Case]:
    """The largest area of nuclei, from means of all measures."""
    from sklearn.datasets import load_breast_cancer

    table, name = load_breast_cancer().data, "nuclei of tumours"
    x, y = table[:, :10], table[:, 23]
    chosen = {"ten nearest tumours": models.neighbours, "least squares": models.least_squares}
    yield from _several(name, x, y, seed, chosen)
    yield from _several(f"{name}, logs", np.log(x + 0.01), np.log(y), seed, chosen)


def engel(seed: int) -> Iterator[Case]:
    table, name = _statsmodels("engel"), "Engel's food"
    x, y = table[["income"]].to_numpy(), table["foodexp"].to_numpy()
    chosen = {"least squares": models.least_squares, "least squares, own spreads": models.weighted_by_spread}
    yield from _several(name, x, y, seed, chosen)
    logs, mean, sd = held_out(models.least_squares, np.log(x), np.log(y), seed)
    yield gaussian(name, "least squares of logs", logs, mean, sd)
    gamma = stats.gamma(sd**-2, scale=np.exp(mean + sd**2 / 2.0) * sd**2)
    yield from_scipy(name, "gamma", np.exp(logs), gamma)


def cars(seed: int) -> Iterator[Case]:
    from vega_datasets import local_data

    table, name = local_data("cars").dropna(), "miles per gallon"
    numbers = ["Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"]
    x = np.column_stack([table[numbers], table["Year"].dt.year, _dummies(table["Origin"].to_numpy(dtype=str))])
    x, y = x.astype(float), table["Miles_per_Gallon"].to_numpy(dtype=float)
    chosen = {
        "least squares": models.least_squares,
        "ten nearest cars": models.neighbours,
        "Gaussian process": models.gaussian_process,
    }
    yield from _several(name, x, y, seed, chosen)
    yield from _several(name, x, np.log(y), seed, {"least squares of logs": models.least_squares})


def penguins(seed: int) -> Iterator[Case]:
    from palmerpenguins import load_penguins

    table = load_penguins().dropna()
    size = table[["bill_length_mm", "bill_depth_mm", "flipper_length_mm"]].to_numpy(dtype=float)
    kind = np.column_stack([_dummies(table[c].to_numpy(dtype=str)) for c in ("species", "sex")])
    kind = np.column_stack([kind, kind[:, :2] * kind[:, 2:]])
    y, name, fit = table["body_mass_g"].to_numpy(dtype=float), "mass of penguins", models.least_squares
    yield gaussian(name, "bill and flipper", *held_out(fit, size, y, seed))
    yield gaussian(name, "species and sex as well", *held_out(fit, np.column_stack([size, kind]), y, seed))
    y, mean, cov = held_out(fit, kind, size, seed)
    sd = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    yield gaussian("bill and flipper of penguins", "uncorrelated", y, mean, sd)
    yield correlated("bill and flipper of penguins", "correlated", y, mean, cov)


def wine(seed: int) -> Iterator[Case]:
    from sklearn.datasets import load_wine

    table, _ = load_wine(return_X_y=True)
    chosen = {
        "forest, spread in sample": models.in_sample_forest,
        "ten nearest wines": models.neighbours,
        "least squares": models.least_squares,
    }
    yield from _several("alcohol of wine", table[:, 1:], table[:, 0], seed, chosen)


def iris(seed: int) -> Iterator[Case]:
    from sklearn.datasets import load_iris

    table, species = load_iris(return_X_y=True)
    x, y = table[:, :2], table[:, 2:]
    yield correlated("petals of iris", "from sepals", *held_out(models.least_squares, x, y, seed))
    x = np.column_stack([x, _dummies(species)])
    yield correlated("petals of iris", "from sepals and species", *held_out(models.least_squares, x, y, seed))


def cancer(seed: int) -> Iterator[Case]:
    """Square roots of Poisson counts have spread .5, nearly."""
    table, name = _statsmodels("cancer"), "deaths of cancer, roots"
    x, y = (np.sqrt(table[column].to_numpy(dtype=float)) for column in ("population", "cancer"))
    y, mean, sd = held_out(models.least_squares, x[:, None], y, seed)
    yield gaussian(name, "Poisson's spread", y, mean, np.full(len(y), 0.5))
    yield gaussian(name, "least squares", y, mean, sd)


def schools(seed: int) -> Iterator[Case]:
    """Log-odds of pupils above the median of a nation, by district."""
    table, name = _statsmodels("star98"), "pupils of California, log-odds"
    above, below = (table[column].to_numpy(dtype=float) + 0.5 for column in ("NABOVE", "NBELOW"))
    x, held = table.iloc[:, 2:14].to_numpy(dtype=float), split(len(table), seed)[1]
    y, mean, sd = held_out(models.least_squares, x, np.log(above / below), seed)
    share = 1.0 / (1.0 + np.exp(-mean))
    yield gaussian(name, "binomial spread", y, mean, 1.0 / np.sqrt((above + below)[held] * share * (1.0 - share)))
    yield gaussian(name, "least squares", y, mean, sd)


TABLES = (diabetes, tumours, engel, cars, penguins, wine, iris, cancer, schools)
