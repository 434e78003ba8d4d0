"""Columns that options name: what makes no sense is refused, and every column can be reached."""

import pytest
from command_line import ONE, N, forecasts, refusal, result, write

TWO = {**forecasts(), "mv": forecasts()["mu"], "v": forecasts()["u"][::-1]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*ONE, "--by", "u"], "--by u: that column is the --target."),
        ([*ONE, "--by", "u:label"], "--by u:label: that column is the --target."),
        ([*ONE, "--by", "mu", "mu"], "--by names the column 'mu' twice."),
        ([*ONE, "--by", "mu", "mu:label"], "--by names the column 'mu' twice."),
        (["--mean", "mu", "mv", "--std", "su", "su", "--target", "u", "u"], "--target names the column 'u' twice."),
        (["--mean", "u", "--std", "su", "--target", "u"], "the column 'u' is named by --target and by --mean"),
        (["--mean", "mu", "--std", "u", "--target", "u"], "the column 'u' is named by --target and by --std"),
        (["--mean", "mu", "--covariance", "u", "--target", "u"], "by --target and by --covariance"),
    ],
)
def test_columns_that_make_no_sense_are_refused_by_option(tmp_path, capsys, options, message):
    assert message in refusal(capsys, write(tmp_path / "a.csv", TWO), *options)


def test_columns_may_be_used_twice_where_that_makes_sense(tmp_path, capsys):
    """Two thermometers and one forecast, one spread for two dimensions, and regions by the forecast."""
    path = write(tmp_path / "a.csv", TWO)
    found, _ = result(capsys, path, "--mean", "mu", "mu", "--std", "su", "su", "--target", "u", "v", "--by", "mu")
    assert [each["name"] for each in found["dimensions"]] == ["u", "v"]
    path = write(tmp_path / "b.csv", {**TWO, "su": TWO["su"] + 0.1 * (TWO["mu"] > 0)})
    assert result(capsys, path, "--mean", "mu", "--covariance", "su", "--target", "u", "--by", "su")[0]["n"] == N


def regions(capsys, tmp_path, more, *by):
    columns = {**forecasts(), **more}
    columns["u"] = columns["u"] + 3 * (columns["store"] == columns["store"][0])
    return result(capsys, write(tmp_path / "a.csv", columns), *ONE, "--by", *by)[0]["where"]["name"]


def test_numbers_are_taken_as_labels(tmp_path, capsys):
    store = forecasts()["mu"].astype(int) * 0 + [7, 12] * (N // 2)
    assert regions(capsys, tmp_path, {"store": store}, "store:label") == "store = 7"
    more = {"store": store, "other:label": store}
    assert regions(capsys, tmp_path, more, "other:label").startswith("other:label = 7")
    more = {"store": store, "store:label": store}
    path = write(tmp_path / "b.csv", {**forecasts(), **more})
    message = refusal(capsys, path, *ONE, "--by", "store:label")
    assert "may mean the column 'store' as labels, or the column 'store:label'; write store:label:label" in message
    assert regions(capsys, tmp_path, more, "store:label:label") == "store:label = 7"


def test_few_of_many_columns_are_listed(tmp_path, capsys):
    path = write(tmp_path / "a.csv", {**forecasts(3), **{f"{k:0100}": [0] * 3 for k in range(1000)}})
    message = refusal(capsys, path, *ONE, "--by", "season")
    assert "there is no column 'season'; the columns are 'mu', 'su', 'u', " in message
    assert message.endswith(" and 983 more.\n")
    assert len(message) < 2000
