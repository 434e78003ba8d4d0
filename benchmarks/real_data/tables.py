"""Tables of independent rows that ship in scikit-learn, statsmodels, vega_datasets and palmerpenguins, and models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import regressions as models
from case import Case, correlated, from_scipy, gaussian
from regressions import cross_validated
from scipy import stats
from series import _statsmodels


def _dummies(labels: np.ndarray) -> np.ndarray:
    names = np.unique(labels)
    return (np.asarray(labels)[:, None] == names[1:]).astype(float)


def _several(name: str, x: np.ndarray, y: np.ndarray, seed: int, chosen: dict[str, models.Fit]) -> Iterator[Case]:
    for model, fit in chosen.items():
        yield gaussian(name, model, y, *cross_validated(fit, x, y, seed))


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


def engel(seed: int) -> Iterator[Case]:
    table = _statsmodels("engel")
    x, y, name = table[["income"]].to_numpy(), table["foodexp"].to_numpy(), "Engel's food"
    yield gaussian(name, "least squares", y, *cross_validated(models.least_squares, x, y, seed))
    mean, sd = cross_validated(models.weighted_by_spread, x, y, seed)
    yield gaussian(name, "least squares, own spreads", y, mean, sd)
    mean, sd = cross_validated(models.least_squares, np.log(x), np.log(y), seed)
    yield gaussian(name, "least squares of logs", np.log(y), mean, sd)
    yield from_scipy(name, "gamma", y, stats.gamma(sd**-2, scale=np.exp(mean + sd**2 / 2.0) * sd**2))


def cars(seed: int) -> Iterator[Case]:
    from vega_datasets import local_data

    table = local_data("cars").dropna()
    numbers = ["Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"]
    x = np.column_stack([table[numbers], table["Year"].dt.year, _dummies(table["Origin"].to_numpy(dtype=str))])
    y, name = table["Miles_per_Gallon"].to_numpy(dtype=float), "miles per gallon"
    chosen = {
        "least squares": models.least_squares,
        "ten nearest cars": models.neighbours,
        "Gaussian process": models.gaussian_process,
    }
    x = x.astype(float)
    yield from _several(name, x, y, seed, chosen)
    yield gaussian(name, "least squares of logs", np.log(y), *cross_validated(models.least_squares, x, np.log(y), seed))


def penguins(seed: int) -> Iterator[Case]:
    from palmerpenguins import load_penguins

    table = load_penguins().dropna()
    size = table[["bill_length_mm", "bill_depth_mm", "flipper_length_mm"]].to_numpy(dtype=float)
    kind = np.column_stack([_dummies(table[c].to_numpy(dtype=str)) for c in ("species", "sex")])
    kind = np.column_stack([kind, kind[:, :2] * kind[:, 2:]])
    y = table["body_mass_g"].to_numpy(dtype=float)
    fit = models.least_squares
    yield gaussian("mass of penguins", "bill and flipper", y, *cross_validated(fit, size, y, seed))
    x = np.column_stack([size, kind])
    yield gaussian("mass of penguins", "species and sex as well", y, *cross_validated(fit, x, y, seed))
    mean, cov = cross_validated(fit, kind, size, seed)
    sd = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    yield gaussian("bill and flipper of penguins", "uncorrelated", size, mean, sd)
    yield correlated("bill and flipper of penguins", "correlated", size, mean, cov)


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
    mean, cov = cross_validated(models.least_squares, x, y, seed)
    yield correlated("petals of iris", "from sepals", y, mean, cov)
    x = np.column_stack([x, _dummies(species)])
    mean, cov = cross_validated(models.least_squares, x, y, seed)
    yield correlated("petals of iris", "from sepals and species", y, mean, cov)


def linnerud(seed: int) -> Iterator[Case]:
    from sklearn.datasets import load_linnerud

    x, y = load_linnerud(return_X_y=True)
    for model, a, b in (("least squares", x, y), ("least squares of logs", np.log(x), np.log(y))):
        mean, cov = cross_validated(models.least_squares, a, b, seed, len(b))
        yield correlated("Linnerud's bodies", model, b, mean, cov)


def cancer(seed: int) -> Iterator[Case]:
    """Square roots of Poisson counts have spread .5, nearly."""
    table = _statsmodels("cancer")
    x, y = (np.sqrt(table[name].to_numpy(dtype=float)) for name in ("population", "cancer"))
    mean, sd = cross_validated(models.least_squares, x[:, None], y, seed)
    yield gaussian("deaths of cancer, roots", "Poisson's spread", y, mean, np.full(len(y), 0.5))
    yield gaussian("deaths of cancer, roots", "least squares", y, mean, sd)


def schools(seed: int) -> Iterator[Case]:
    """Log-odds of pupils above the median of a nation, by district."""
    table = _statsmodels("star98")
    above, below = (table[name].to_numpy(dtype=float) + 0.5 for name in ("NABOVE", "NBELOW"))
    x, y = table.iloc[:, 2:14].to_numpy(dtype=float), np.log(above / below)
    mean, sd = cross_validated(models.least_squares, x, y, seed)
    share, name = 1.0 / (1.0 + np.exp(-mean)), "pupils of California, log-odds"
    binomial = 1.0 / np.sqrt((above + below) * share * (1.0 - share))
    yield gaussian(name, "binomial spread", y, mean, binomial)
    yield gaussian(name, "least squares", y, mean, sd)


def firms(seed: int) -> Iterator[Case]:
    """Each firm from the others; errors of one firm go together."""
    table = _statsmodels("grunfeld")
    x, y = np.log(table[["value", "capital"]].to_numpy(dtype=float)), np.log(table["invest"].to_numpy(dtype=float))
    firm = table["firm"].to_numpy(dtype=str)
    for model, labels in (("least squares, years in all folds", None), ("least squares, firms held out", firm)):
        mean, sd = cross_validated(models.least_squares, x, y, seed, labels=labels)
        yield gaussian("investment of firms, logs", model, y, mean, sd, groups=firm)


TABLES = (diabetes, engel, cars, penguins, wine, iris, linnerud, cancer, schools, firms)
