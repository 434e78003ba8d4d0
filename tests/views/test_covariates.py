"""Views of covariates and of the errors before: what they may know, their level and their power."""

import numpy as np
import pytest
from levels import scores_only
from numpy.polynomial import legendre
from scipy import stats

import scorecal as sc
from scorecal.resampling.clusters import clusters_of
from scorecal.views import Covariate, ErrorsBefore, View
from scorecal.views.covariates import covariate_views, functions_of, serial_views
from scorecal.views.frame import ViewFrame, frame_of

N = 60
STATIONS = np.random.default_rng(4).integers(0, 3, size=N)
DAYS = np.datetime64("2020-01-01") + np.arange(N)


def ordered(series=None, horizon=1, n=N):
    return clusters_of(None if series is None else series[:n], horizon, n)


# Functions of covariates ----------------------------------------------------------------------------------------------


def curves_by_definition(ranks):
    """Legendre polynomials of order 1 to 4 of mean square 1 under a uniform rank."""
    return legendre.legvander(2.0 * ranks - 1.0, 4)[:, 1:] * np.sqrt(2.0 * np.arange(1, 5) + 1.0)


@pytest.mark.parametrize(
    "column", [np.random.default_rng(0).normal(size=N), np.arange(N) % 7, DAYS], ids=["x", "ties", "days"]
)
def test_numbers_become_curves_of_their_ranks(column):
    expected = curves_by_definition((stats.rankdata(column) - 0.5) / N)
    np.testing.assert_allclose(functions_of(column, None), expected - expected.mean(axis=0), atol=1e-12)


def test_any_increasing_function_of_a_covariate_is_the_same():
    x = np.random.default_rng(0).normal(size=N)
    np.testing.assert_array_equal(functions_of(x, None), functions_of(np.exp(5.0 * x), None))
    large = 2**53 + np.random.default_rng(0).permutation(N)  # more digits than a float has
    np.testing.assert_array_equal(functions_of(large, None), functions_of(large - 2**53, None))


def test_labels_become_indicators_less_their_shares():
    column = np.array(["b", "a", "b", "c", "b", "a"])
    found = functions_of(column, None)
    indicators = np.stack([column == "b", column == "a"], axis=1)  # c is there once, and has no pair
    np.testing.assert_allclose(found, indicators - np.array([3, 2]) / 6.0)
    truth = np.array([True, False, True, True])
    np.testing.assert_allclose(functions_of(truth, None), functions_of(np.array([0.0, -3.0, 0.0, 0.0]), None)[:, ::1])


@pytest.mark.parametrize(
    "column",
    [np.full(N, 3.0), np.full(N, "a"), np.arange(N).astype(str), np.full(N, DAYS[0])],
    ids=["number", "label", "ids", "day"],
)
@pytest.mark.parametrize("horizon", [None, 1])
def test_what_does_not_vary_or_is_never_seen_twice_has_no_functions(column, horizon):
    assert functions_of(column, clusters_of(None, horizon, N)).shape == (N, 0)


@pytest.mark.parametrize("series", [None, STATIONS], ids=["one series", "stations"])
@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_functions_of_ordered_rows_do_not_look_ahead(kind, series):
    """Other values in later rows change nothing before them."""
    rng, known = np.random.default_rng(0), 40
    column = rng.normal(size=N)
    later = np.concatenate([column[:known], 3.0 - 2.0 * rng.normal(size=N - known)])
    if kind == "labels":
        column, later = (np.where(each > 0, "up", "down") for each in (column, later))
    one, other = (functions_of(each, ordered(series)) for each in (column, later))
    by_label = kind == "labels"
    np.testing.assert_array_equal(sorted_columns(one, by_label)[:known], sorted_columns(other, by_label)[:known])
    assert not np.allclose(functions_of(column, None)[:known], functions_of(later, None)[:known])


def sorted_columns(functions, by_label):
    """Columns of labels in an order that does not depend on how frequent these are."""
    return functions[:, np.argsort(functions[1])] if by_label else functions


def test_labels_of_ordered_rows_are_compared_with_equal_shares():
    """Shares so far would hide the label of the first rows, and those of all rows look ahead."""
    column = np.array(["a", "b", "a", "a", "b"])
    np.testing.assert_allclose(functions_of(column, ordered(n=5))[:, 0], [1 / 2, -1 / 2, 1 / 2, 1 / 2, -1 / 2])


@pytest.mark.parametrize("series", [None, STATIONS], ids=["one series", "stations"])
def test_a_clock_keeps_its_ranks(series):
    """What never falls along the rows of a series tells nothing of errors to come, and is as good as known ahead."""
    clock = DAYS if series is None else np.arange(N) + 100 * series  # series that begin one after the other
    found = functions_of(clock, ordered(series))
    np.testing.assert_allclose(found - np.mean(found, axis=0), functions_of(clock, None), atol=1e-12)
    back = clock.copy()
    back[[10, 50]] = back[[50, 10]]
    assert not np.allclose(functions_of(back, ordered(series)), found)


def test_how_long_a_clock_will_stand_still_is_not_known_ahead():
    """A count of alarms that errors raise, say: whether it rises next must not move the row itself."""
    rises = np.random.default_rng(0).integers(2, size=N)
    rises[40] = 1
    other = rises.copy()
    other[41:] = other[41:][::-1]
    one, two = (functions_of(np.cumsum(each).astype(float), ordered()) for each in (rises, other))
    np.testing.assert_array_equal(one[:41], two[:41])
    assert not np.allclose(one[41:], two[41:])


def test_groups_without_time_order_look_at_all_rows():
    x = np.random.default_rng(0).normal(size=N)
    np.testing.assert_array_equal(functions_of(x, clusters_of(STATIONS, None, N)), functions_of(x, None))


# Views ----------------------------------------------------------------------------------------------------------------


def frame(y, clusters, **covariates):
    found = frame_of(sc.Gaussian(np.zeros(y.shape), 2.0), y, 0.0)
    functions = {name: functions_of(column, clusters) for name, column in covariates.items()}
    return ViewFrame(**{**vars(found), "clusters": clusters, "covariates": functions})


def test_features_of_covariates_by_definition():
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=(N, 2)), rng.normal(size=N)
    own = frame(y, None, x=x)
    functions = functions_of(x, None)
    found = Covariate("x").combine(-y / 2.0, own, "marginal", slice(0, N))
    np.testing.assert_allclose(found, (functions[:, :, None] * (-y / 2.0)[:, None, :]).reshape(N, 8))
    result = sc.calibration_test(sc.Gaussian(np.zeros((N, 2)), 2.0), y, covariates={"x": x}, n_resamples=19, rng=0)
    assert [view.name for view in result.views if view.sees == "covariates"] == ["bias by x", "spread by x"]


@pytest.mark.parametrize("horizon", [1, 3])
def test_errors_before_by_definition(horizon):
    """Of the row `horizon` earlier of the same station, in standard deviations, at most 2.5 of them."""
    y = 4.0 * np.random.default_rng(0).normal(size=(N, 2))
    own = frame(y, ordered(STATIONS, horizon))
    errors = np.zeros((N, 2))
    for i in range(N):
        before = [k for k in range(i) if STATIONS[k] == STATIONS[i]]
        if len(before) >= horizon:
            errors[i] = np.clip(y[before[-horizon]] / 2.0, -2.5, 2.5)
    np.testing.assert_allclose(own.errors_before, errors)
    sizes = np.mean(errors**2, axis=1)
    so_far = [np.mean(sizes[: i + 1][STATIONS[: i + 1] == STATIONS[i]]) for i in range(N)]
    np.testing.assert_allclose(own.sizes_before[:, 0], sizes - so_far)
    f = -y / 2.0
    np.testing.assert_allclose(ErrorsBefore(own=True).combine(f, own, "marginal", slice(0, N)), f * errors)
    np.testing.assert_allclose(
        ErrorsBefore().combine(f[5:9, :1], own, "whitened", slice(5, 9)), f[5:9, :1] * own.sizes_before[5:9]
    )


def test_errors_before_are_for_rows_in_time_order():
    views = serial_views(1)
    predictions, y = sc.Gaussian(np.zeros(N), 1.0), np.random.default_rng(0).normal(size=N)
    assert {view.name for view in views} <= {
        v.name for v in sc.calibration_test(predictions, y, horizon=1, rng=0).views
    }
    assert "serial" not in {v.sees for v in sc.calibration_test(predictions, y, rng=0).views}
    with pytest.raises(ValueError, match="`views` see nothing here"):
        sc.calibration_test(predictions, y, views=views, rng=0)


@pytest.mark.parametrize("name", ["traits", "curves", "errors before", "components"])
@pytest.mark.parametrize("horizon", [None, 1])
def test_a_covariate_may_have_the_name_of_a_view(name, horizon):
    rng = np.random.default_rng(0)
    mean, x = rng.normal(size=N), rng.normal(size=N)
    predictions, y = sc.Gaussian(mean, 1.0), mean + rng.normal(size=N)
    options = {"horizon": horizon, "n_resamples": 99, "rng": 0}
    named, plain = (sc.calibration_test(predictions, y, covariates={key: x}, **options) for key in (name, "x"))
    assert named.pvalue == plain.pvalue
    assert len({view.name for view in named.views}) == len(named.views) == len(plain.views)


def test_many_covariates_weigh_less_each():
    columns = {f"x{k}": np.random.default_rng(k).normal(size=N) for k in range(4)}
    assert {view.weight for view in covariate_views(columns, 1)} == {1.5}
    assert {view.weight for view in covariate_views({"x": columns["x0"]}, 1)} == {3.0}


def test_what_no_view_looks_at_is_said():
    rng = np.random.default_rng(0)
    predictions, y = sc.Gaussian(np.zeros(N), 1.0), rng.normal(size=N)
    columns = {"same": np.full(N, 2.0), "id": [f"row {i}" for i in range(N)], "x": rng.normal(size=N)}
    result = sc.calibration_test(predictions, y, covariates=columns, n_resamples=19, rng=0)
    said = [what for what in result.cannot_see if "what depends on" in what]
    assert len(said) == 2
    assert "'same'" in said[0]
    assert "'id'" in said[1]


def test_a_view_of_an_unknown_covariate_is_refused():
    view = View("v", "covariates", sc.kernels.Constant(), Covariate("z"))
    with pytest.raises(ValueError, match=r"`covariates` must hold 'z', for which a view asks; it has \['x'\]"):
        sc.calibration_test(
            sc.Gaussian(np.zeros(N), 1.0), 0.1 * np.arange(N), views=[view], covariates={"x": np.arange(N)}, rng=0
        )


# Level ----------------------------------------------------------------------------------------------------------------


def with_columns(seed, n=80):
    """Independent rows, and covariates of each kind."""
    rng = np.random.default_rng(seed)
    mean, sd = rng.normal(size=n), np.exp(0.3 * rng.normal(size=n))
    station = rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05])
    columns = {"day": np.arange(n), "station": station, "size": rng.exponential(size=n), "sd": sd}
    return sc.Gaussian(mean, sd), mean + sd * rng.normal(size=n), {"covariates": columns}


def autoregression(seed, n=100):
    """Forecasts one step ahead; the last target is a covariate, as is the day."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n + 1)
    for t in range(n):
        y[t + 1] = 0.8 * y[t] + rng.normal()
    return sc.Gaussian(0.8 * y[:-1], 1.0), y[1:], {"horizon": 1, "covariates": {"last": y[:-1], "day": np.arange(n)}}


def garch(seed, n=100):
    """Spreads that follow the size of the last errors."""
    rng = np.random.default_rng(seed)
    y, variance = np.zeros(n), np.ones(n)
    for t in range(n):
        if t:
            variance[t] = 0.1 + 0.3 * y[t - 1] ** 2 + 0.6 * variance[t - 1]
        y[t] = np.sqrt(variance[t]) * rng.normal()
    last = np.append(0.0, y[:-1])
    return sc.Gaussian(np.zeros(n), np.sqrt(variance)), y, {"horizon": 1, "covariates": {"last": last}}


def random_walk(seed, n=100, horizon=1):
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(size=n + horizon))
    known, y = walk[:-horizon], walk[horizon:]
    return (
        sc.Gaussian(known, horizon**0.5),
        y,
        {"horizon": horizon, "covariates": {"level": known, "day": np.arange(n)}},
    )


def two_steps_ahead(seed):
    return random_walk(seed, 400, 2)


def patients(seed, n=160):
    """40 groups of 4 rows, with errors in common and a covariate of the group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n // 4), 4)
    error = np.sqrt(0.5) * (rng.normal(size=n // 4)[group] + rng.normal(size=n))
    mean = rng.normal(size=n)
    columns = {"age": rng.normal(size=n // 4)[group], "ward": rng.choice(["a", "b"], n)}
    return sc.Gaussian(mean, 1.0), mean + error, {"groups": group, "covariates": columns}


def stations(seed, n=120):
    """Three random walks, whose rows are mixed."""
    rng = np.random.default_rng(seed)
    series = rng.integers(0, 3, size=n)
    known, y = np.zeros(n), np.zeros(n)
    for k in range(3):
        walk = np.cumsum(rng.normal(size=np.sum(series == k) + 1))
        known[series == k], y[series == k] = walk[:-1], walk[1:]
    return (
        sc.Gaussian(known, 1.0),
        y,
        {"horizon": 1, "groups": series, "covariates": {"level": known, "s": series.astype(str)}},
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [with_columns, autoregression, garch, random_walk, two_steps_ahead, patients, stations],
    ids=lambda f: f.__name__,
)
def test_level_with_covariates(make):
    """300 data sets: 27 or fewer rejections in 99.8 % of such studies of a test whose level is right."""
    rejections, own = 0, {}
    for seed in range(300):
        predictions, y, options = make(seed)
        result = sc.calibration_test(predictions, y, n_resamples=99, rng=seed, **options)
        rejections += result.rejects()
        for view in result.views:
            if view.sees in ("covariates", "serial"):
                own[view.name] = own.get(view.name, 0) + (view.pvalue <= 0.05)
    assert rejections <= 27
    assert max(own.values()) <= 30, own  # several are looked at


# Power ----------------------------------------------------------------------------------------------------------------


def drift(rng, n=150):
    day = np.arange(n)
    return (
        sc.Gaussian(np.zeros(n), 1.0),
        1.2 * (day / n - 0.5) + rng.normal(size=n),
        {"covariates": {"day": DAYS[0] + day}},
    )


def one_label(rng, n=200):
    station = rng.integers(0, 8, size=n)
    return (
        sc.Gaussian(np.zeros(n), 1.0),
        1.2 * (station == 3) + rng.normal(size=n),
        {"covariates": {"s": station.astype(str)}},
    )


def spread_that_follows(rng, n=200):
    x = rng.normal(size=n)
    sd = np.exp(0.35 * x - 0.35**2)
    return sc.Gaussian(np.zeros(n), 1.0), sd * rng.normal(size=n), {"covariates": {"x": x}}


def serial(rng, n=150):
    errors = np.zeros(n)
    for t in range(n):
        errors[t] = 0.45 * (errors[t - 1] if t else 0.0) + np.sqrt(1 - 0.45**2) * rng.normal()
    mean = np.cumsum(rng.normal(size=n))
    return sc.Gaussian(mean, 1.0), mean + errors, {"horizon": 1}


def volatile(rng, n=300):
    """The right spread on average, and larger errors after large ones."""
    errors, variance = np.zeros(n), 1.0
    for t in range(n):
        variance = 0.3 + 0.45 * (errors[t - 1] if t else 1.0) ** 2 + 0.25 * variance
        errors[t] = np.sqrt(variance) * rng.normal()
    return sc.Gaussian(np.zeros(n), 1.0), errors, {"horizon": 1}


@pytest.mark.parametrize(
    ("make", "kind", "most_without"),
    [
        (drift, "covariates", 8),
        (one_label, "covariates", 10),
        (spread_that_follows, "covariates", 14),  # which makes tails heavy
        (serial, "serial", 8),
        pytest.param(volatile, "serial", 20, marks=pytest.mark.slow),  # likewise
    ],
    ids=["drift", "label", "spread", "serial", "volatile"],
)
def test_power(make, kind, most_without):
    """20 data sets each, and how many of them are rejected without the covariate, or without the order of the rows."""
    rejected, named, without = 0, 0, 0
    for seed in range(20):
        predictions, y, options = make(np.random.default_rng(seed))
        result = sc.calibration_test(predictions, y, n_resamples=99, rng=seed, **options)
        rejected += result.rejects()
        named += result.seen[:1] == (kind,)
        without += sc.calibration_test(predictions, y, n_resamples=99, rng=seed).rejects()
    assert rejected >= 14
    assert named >= 0.9 * rejected - 1
    assert without <= most_without


def test_the_message_names_the_covariate():
    predictions, y, options = drift(np.random.default_rng(0), 400)
    columns = options["covariates"] | {"x": np.random.default_rng(1).normal(size=400)}
    result = sc.calibration_test(predictions, y, covariates=columns, n_resamples=99, rng=0)
    assert result.seen == ("covariates",)
    assert "miscalibration depends on day" in result.message
    assert " x" not in result.message.split("depends on")[1]


def test_few_rows_of_a_label_do_not_pass_for_evidence_where_predictions_are_skewed():
    """Ten rows of one label are often all on one side, which signs hardly ever are: 27 % rejected before."""
    rejected = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        predictions, y = scores_only(600, 1, "skew-normal(6)", rng)
        labels = rng.integers(60, size=600).astype(str)
        result = sc.calibration_test(predictions, y, covariates={"label": labels}, n_resamples=99, rng=seed)
        rejected += result.rejects()
    assert rejected <= 4
