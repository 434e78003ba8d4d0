"""Dates and times among covariates."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

import scorecal as sc
from scorecal._lib.covariates import as_times
from scorecal.diagnosis.times import spans

N = 400
DAYS = np.datetime64("2023-01-01") + np.random.default_rng(0).integers(0, 365, N)


def diagnosis(times):
    """Of forecasts that are too low from October on."""
    rng = np.random.default_rng(1)
    mean = rng.normal(size=N)
    y = mean + rng.normal(size=N) + 2.0 * (np.datetime64("2023-10-01") <= DAYS)
    return sc.diagnose(sc.Gaussian(mean, 1.0), y, covariates={"day": times}, n_resamples=99, rng=0)


@pytest.mark.parametrize("kind", ["D", "s", "ns", "dates", "datetimes"])
def test_regions_are_spans_of_time(kind):
    times = {"dates": DAYS.astype(object), "datetimes": DAYS.astype("datetime64[us]").astype(object)}
    found = diagnosis(times[kind] if kind in times else DAYS.astype(f"datetime64[{kind}]"))
    assert found.where.name.startswith("day from 2023-")
    first, last = found.where.name.removeprefix("day from ").split(" to ")
    inside = (np.datetime64(first) <= DAYS) & (np.datetime64(last) >= DAYS)
    assert found.where.n == inside.sum()
    assert last == str(DAYS.max())
    assert abs(np.datetime64(first) - np.datetime64("2023-10-01")) < np.timedelta64(30, "D")
    assert found.covariates["day"].dtype.kind == "M"
    assert f"most where {found.where.name} (" in str(found)


def test_two_days_are_named_and_one_makes_no_regions():
    half = np.where(np.arange(N) < N // 2, np.datetime64("2023-01-01"), np.datetime64("2023-01-02"))
    assert diagnosis(half).regions[0].name in ("day = 2023-01-01", "day = 2023-01-02")
    with pytest.warns(UserWarning, match="'day' has the same value in every row, and is left out"):
        assert diagnosis(np.full(N, np.datetime64("2023-01-01"))).regions == ()


def test_times_with_zones_are_taken_in_utc():
    zone = timezone(timedelta(hours=2))
    column = np.array([datetime(2024, 1, 1, 1, tzinfo=zone), datetime(2024, 1, 1, tzinfo=UTC)], dtype=object)
    expected = np.array(["2023-12-31T23:00", "2024-01-01"], dtype="datetime64[us]")
    np.testing.assert_array_equal(as_times("x", column), expected)
    assert as_times("x", np.array([date(2024, 1, 1), "soon"], dtype=object)) is None


def test_times_that_cannot_be_used():
    for wrong, message in (
        (np.where(np.arange(N) == 3, np.datetime64("NaT"), DAYS), "be finite, but 'day' is not, first at row 3"),
        (np.full(N, 2**40).astype("datetime64[s]"), "lie in the years 1 to 9999, but 'day' has 36812 to 36812"),
    ):
        with pytest.raises(ValueError, match=f"`covariates` must .*{message}"):
            diagnosis(wrong)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (np.timedelta64(1, "D"), ["from 2024-01-01 to 2024-01-03", "from 2024-01-05 to 2024-01-07"]),
        (
            np.timedelta64(1, "h"),
            ["from 2024-01-01 00:00 to 2024-01-03 02:00", "from 2024-01-05 04:00 to 2024-01-07 06:00"],
        ),
        (np.timedelta64(1, "s"), ["from 2024-01-01 00:00:00 to 2024-01-03 02:00:00", "from 2024-01-05 04:00:00 to "]),
    ],
)
def test_spans_are_as_fine_as_their_step(step, expected):
    """Days if they are told apart by days, or else hours and minutes, and so on."""
    times = np.datetime64("2024-01-01T00:00:00.5", "us") + np.arange(0, 7, 2) * np.timedelta64(25, "h")
    found = spans(times, times[1:2], step)
    assert all(name.startswith(start) for name, start in zip(found, expected, strict=True))


def test_spans_never_share_a_name():
    """Of ten times in a second, though a step of a day would be enough."""
    times = np.datetime64("2024-01-01", "us") + np.arange(10) * np.timedelta64(100, "ms")
    names = spans(times, times[2:5], np.timedelta64(1, "D"))
    assert len(set(names)) == 6
    assert names[0] == "from 2024-01-01 00:00:00.000 to 2024-01-01 00:00:00.200"
