"""Pictures: what is drawn is what was found."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest

import scorecal as sc
from scorecal import plots
from scorecal.diagnosis.witness import witness

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close():
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(300, 2))
    return sc.Gaussian(mean + np.array([0.0, 0.5]), 0.8), mean + rng.normal(size=(300, 2))


def test_null(data):
    result = sc.kccsd_test(*data, rng=0)
    ax = result.plot()
    assert "rejected at level 0.05" in ax.get_title()
    lines = [line.get_xdata()[0] for line in ax.lines]
    assert lines == [result.critical_value(), result.statistic]
    assert sum(bar.get_height() for bar in ax.patches) == result.n_resamples
    few = sc.kccsd_test(*data, n_resamples=3, rng=0)  # no critical value
    assert len(few.plot().lines) == 1


def test_views(data):
    result = sc.calibration_test(*data, rng=0)
    null, views = result.plot()
    assert null.figure is views.figure
    *points, level = views.lines
    rows = dict(zip(views.get_yticks(), [label.get_text() for label in views.get_yticklabels()], strict=True))
    shown = {rows[point.get_ydata()[0]]: point.get_xdata()[0] for point in points}
    assert shown == {view.name: view.adjusted_pvalue for view in result.views}
    assert len(points) == len(result.views)
    assert list(level.get_xdata()) == [0.05, 0.05]


def test_estimates(data):
    diagnosis = sc.diagnose(*data, names=["north", "east"], rng=0)
    left, right = diagnosis.plot()
    assert [label.get_text() for label in left.get_yticklabels()] == ["north", "east", "overall"]
    biases = (*diagnosis.bias, diagnosis.overall_bias)
    ratios = (*diagnosis.confidence_ratio, diagnosis.overall_confidence_ratio)
    for ax, estimates in ((left, biases), (right, ratios)):
        for row, (bar, estimate) in enumerate(zip(ax.containers, estimates, strict=True)):
            segment = bar.lines[2][0].get_segments()[0]
            np.testing.assert_allclose(sorted(segment[:, 0]), [estimate.low, estimate.high])
            np.testing.assert_array_equal(segment[:, 1], row)
            np.testing.assert_allclose(bar.lines[0].get_xydata(), [[estimate.value, row]])


def test_coverage(data):
    coverage = sc.expected_coverage(*data)
    curve = coverage.plot().lines[1]
    np.testing.assert_array_equal(curve.get_ydata(), coverage.curve(curve.get_xdata()))


def test_contributions_average_to_the_statistic(data):
    result = sc.kccsd_test(*data, rng=0)
    ax = plots.plot_contributions(result, data[1][:, 0], name="u")
    heights = [bar.get_height() for bar in ax.patches]
    assert np.mean(heights) == pytest.approx(result.statistic)  # 20 bins of 15 rows
    assert ax.get_xlabel() == "u"
    with pytest.raises(ValueError, match="`over` must be 300 finite numbers"):
        plots.plot_contributions(result, np.zeros(5))
    with pytest.raises(ValueError, match="`over` is the same for all rows"):
        plots.plot_contributions(result, np.zeros(300))
    with pytest.raises(ValueError, match="shape \\(300,\\) and values that are not finite"):
        plots.plot_contributions(result, np.where(np.arange(300) == 7, np.nan, 1.0))


def test_contributions_over_time(data):
    """Bars over a calendar, or one for each of few days."""
    result = sc.kccsd_test(*data, rng=0)
    day = np.datetime64("2024-01-01") + np.arange(300)
    ax = plots.plot_contributions(result, day)
    assert len(ax.patches) == 20
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_xticklabels() if tick.get_text()]
    centres = ax.transData.transform([(x, 0.0) for x in ax.get_xticks()])[:, 0]
    np.testing.assert_allclose([(box.x0 + box.x1) / 2 for box in boxes], centres, atol=1.0)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert "2024" in ax.xaxis.get_offset_text().get_text() + ax.get_xticklabels()[0].get_text()
    ax = plots.plot_contributions(result, day[np.arange(300) % 3])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2024-01-01", "2024-01-02", "2024-01-03"]
    with pytest.raises(ValueError, match="values that are not finite"):
        plots.plot_contributions(result, np.where(np.arange(300) == 7, np.datetime64("NaT"), day))


def test_contributions_over_numbers_near_the_largest(data):
    ax = plots.plot_contributions(sc.kccsd_test(*data, rng=0), np.linspace(-1.0, 1.0, 300) * 1.7e308, name="x")
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "x / 1e+300"
    assert len(ax.patches) == 20


def test_contributions_of_groups_and_over_two_numbers(data):
    result = sc.kccsd_test(*data, rng=0)
    labels = np.array([f"group {k % 30}" for k in range(300)], dtype=object)
    ax = plots.plot_contributions(result, labels)
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names[-1] == "18 others"
    for bar, name in zip(ax.patches[:-1], names[:-1], strict=True):
        assert bar.get_height() == pytest.approx(300 * result.contributions[labels == name].mean())
    for values in (np.arange(300) % 2, np.arange(300) % 2 == 0, np.arange(300) % 12):
        bars = plots.plot_contributions(result, values).patches
        means = [300 * result.contributions[values == value].mean() for value in np.unique(values)]
        np.testing.assert_allclose([bar.get_height() for bar in bars], means)
    others = ~np.isin(labels, names)
    assert ax.patches[-1].get_height() == pytest.approx(300 * result.contributions[others].mean())
    ax = plots.plot_contributions(result, data[1][:, :2], name=("u", "v"))
    counts = plots.plot_contributions(replace(result, contributions=np.full(300, 1 / 300)), data[1][:, :2])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("u", "v")
    np.testing.assert_allclose(counts.collections[0].get_array(), 1.0)
    cells = ax.collections[0].get_array()
    assert cells.min() < result.statistic < cells.max()
    with pytest.raises(ValueError, match="two numbers for each"):
        plots.plot_contributions(result, np.stack([labels, labels], axis=1))


def test_witness_from_its_definition():
    rng = np.random.default_rng(0)
    z, scores, at = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), rng.normal(size=(3, 2))

    def kernel(one, other):
        return np.exp(-0.5 * np.sum((one - other) ** 2) / 0.9**2)

    mean, error = witness(z, scores, at, 0.9)
    for k, point in enumerate(at):
        values = []
        for target, score in zip(z, scores, strict=True):
            steps = 1e-6 * np.eye(2)
            gradient = [(kernel(point, target + step) - kernel(point, target - step)) / 2e-6 for step in steps]
            values.append(kernel(point, target) * score + gradient)
        np.testing.assert_allclose(mean[k], np.mean(values, axis=0), atol=1e-8)
        np.testing.assert_allclose(error[k], np.std(values, axis=0) / 40**0.5, atol=1e-8)


def test_witness_is_zero_for_calibrated_predictions():
    z = np.random.default_rng(1).normal(size=(20_000, 1))
    mean, error = witness(z, -z, np.linspace(-3, 3, 13)[:, None])
    assert np.max(np.abs(mean) / error) < 4
    mean, error = witness(1.2 * z, -1.2 * z, np.linspace(-3, 3, 13)[:, None])
    assert np.max(np.abs(mean) / error) > 10


@pytest.mark.parametrize("dim", [1, 2])
def test_witness_is_drawn(data, dim):
    predictions, y = data
    given = sc.Gaussian(predictions.mean[:, :dim], 0.8)
    ax = plots.plot_witness(given, y[:, :dim])
    assert len(ax.lines if dim == 1 else ax.collections) == 2
    wide = sc.Gaussian(np.zeros((10, 3)), 1.0)
    with pytest.raises(ValueError, match="one or two dimensions"):
        plots.plot_witness(wide, np.random.default_rng(0).normal(size=(10, 3)))


def test_no_matplotlib_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib.pyplot'] = None\n"
        "import scorecal as sc\n"
        "sc.kccsd_test(*sc.experiments.mgm(20, 0.0, rng=0), rng=0).plot()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install ".[plot]"' in done.stderr
