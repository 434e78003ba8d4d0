"""From the object that a library gives to the verdict in two lines, those of docs/models.md, by the real packages."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from adapter_checks import heavy
from scipy import stats

import scorecal as sc

PAGE = (Path(__file__).parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## Posteriors and forecasts of other libraries\n")[1].split("\n## ")[0]
BLOCKS = dict(re.findall(r"### ([^\n]+)\n\n```python\n(.*?)```", SECTION, re.DOTALL))
N = 200


def arviz(rng):
    import arviz_base

    mean = rng.normal(size=N)
    draws = {"y": mean + rng.normal(size=(4, 50, N))}
    return {"idata": arviz_base.from_dict({"predictions": draws, "observed_data": {"y": mean + rng.normal(size=N)}})}


def gpytorch(rng):
    import gpytorch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.RBFKernel()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    x = torch.asarray(rng.uniform(0.0, 20.0, size=N))
    covariance = torch.exp(-0.5 * (x[:, None] - x) ** 2) + 0.1 * torch.eye(N)
    y = torch.linalg.cholesky(covariance) @ torch.asarray(rng.normal(size=N))
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.1
    model = Process(x[:100], y[:100], likelihood).double()
    model.initialize(**{"covar_module.lengthscale": 1.0})
    return {"model": model.eval(), "likelihood": likelihood.eval(), "x": x[100:], "y": y[100:]}


def zuko(rng):
    import zuko

    torch.manual_seed(0)
    flow = zuko.flows.MAF(2, context=3, hidden_features=(8,)).double()
    context = torch.asarray(rng.normal(size=(N, 3)))
    return {"flow": flow, "context": context, "y": flow(context).sample()}


def skpro(rng):
    from skpro.regression.linear import BayesianRidge

    x = pd.DataFrame(rng.normal(size=(2 * N, 2)), columns=["a", "b"])
    y = pd.DataFrame({"y": x["a"] + rng.normal(size=2 * N)})
    return {"regressor": BayesianRidge().fit(x[:N], y[:N]), "x": x[N:], "y": y[N:]}


def sktime(rng):
    heavy("sktime")
    from sktime.forecasting.naive import NaiveForecaster

    values = pd.Series(rng.normal(size=250), index=pd.period_range("2020", periods=250, freq="D"))
    starts = range(130, 250, 3)
    forecasters = [NaiveForecaster("mean").fit(values[:start]) for start in starts]
    frames = [forecaster.predict_quantiles([1, 2, 3], alpha=[0.05, 0.5, 0.95]) for forecaster in forecasters]
    return {"pd": pd, "frames": frames, "y": values[130:], "origin": np.repeat(starts, 3)}


def nixtla(rng):
    heavy("statsforecast")
    from statsforecast import StatsForecast
    from statsforecast.models import Naive

    days = pd.date_range("2024", periods=160)
    walks = [{"unique_id": name, "ds": days, "y": np.cumsum(rng.normal(size=160))} for name in "abc"]
    frame = StatsForecast([Naive()], freq="D").cross_validation(
        df=pd.concat(map(pd.DataFrame, walks)), h=1, n_windows=100, level=[50, 90]
    )
    return {"frame": frame}


def gluonts(rng):
    heavy("gluonts")
    from gluonts.model.forecast import SampleForecast

    start = pd.Period("2024-01", "M")
    forecasts = [SampleForecast(rng.normal(size=(100, 4)), start) for _ in range(40)]
    return {"forecasts": forecasts, "y": rng.normal(size=160)}


def darts(rng):
    heavy("darts")
    from darts import TimeSeries

    return {
        "series": TimeSeries.from_values(rng.normal(size=(150, 1))),
        "forecast": TimeSeries.from_values(rng.normal(size=(150, 1, 100)))[50:],
    }


def hubverse(rng):
    levels, weeks = [0.1, 0.25, 0.5, 0.75, 0.9], pd.date_range("2024-01-06", periods=50, freq="7D")
    tasks = pd.MultiIndex.from_product([weeks, ["01", "US"]], names=["reference_date", "location"])
    mean = rng.normal(size=(100, 1))
    wide = pd.DataFrame(stats.norm.ppf(levels, mean), index=tasks, columns=levels).rename_axis(columns="output_type_id")
    output = wide.stack().rename("value").reset_index().assign(output_type="quantile")
    observed = pd.DataFrame({"observation": mean[:, 0] + rng.normal(size=100)}, index=tasks).reset_index()
    return {"model_output": output, "time_series": observed}


DOORS = {
    "arviz": arviz,
    "gpytorch": gpytorch,
    "zuko": zuko,
    "skpro": skpro,
    "sktime": sktime,
    "Nixtla": nixtla,
    "GluonTS": gluonts,
    "darts": darts,
    "Hubverse": hubverse,
}
HEAVY = {"sktime", "Nixtla", "GluonTS", "darts"}  # the group `doors` says why


def test_every_door_of_the_page_is_run():
    assert set(BLOCKS) == set(DOORS)


@pytest.mark.filterwarnings("ignore")  # of these packages
@pytest.mark.parametrize("door", [pytest.param(name, marks=[pytest.mark.slow] * (name in HEAVY)) for name in DOORS])
def test_from_the_object_to_the_verdict_in_two_lines(door, request):
    if door == "zuko":
        request.getfixturevalue("zuko")
    first, last = ast.parse(BLOCKS[door]).body
    known = {"sc": sc, "np": np, **DOORS[door](np.random.default_rng(0))}
    exec(ast.unparse(first), known)
    result = eval(ast.unparse(last), known)
    assert not result.rejects(0.01)
    assert result.n == known["predictions"].n
