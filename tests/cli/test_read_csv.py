"""Rows and columns of CSV files."""

import pytest
from command_line import ONE, N, forecasts, refusal, result, write

WIDE = {f"column {k:06}": ["0"] * N for k in range(12_000)}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_headers_of_many_columns(tmp_path, capsys, delimiter):
    """Longer than the 131,072 characters that a field may have, which is what they are by a wrong delimiter."""
    path = write(tmp_path / "a.csv", {**WIDE, **forecasts()}, delimiter)
    assert result(capsys, path, *ONE)[0]["n"] == N


def test_a_name_that_is_too_long(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("mu,su,u," + 200_000 * "x" + "\n1,1,1,1\n")
    assert "line 1: field larger than field limit (131072)" in refusal(capsys, tmp_path / "a.csv", *ONE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('mu,su,u,note\n1,1,1,"abc\n2,1,2,def\n3,1,3,ghi\n', "line 2: unexpected end of data; likely cause: a quote"),
        (
            'mu,su,u,note\n1,1,1,"abc\n2,1,2,"def"\n3,1,3,ghi\n',
            "line 2: ',' expected after '\"'; likely cause: a quote",
        ),
        ("mu,su,u,note\n1,1,1,a\n2,1,2\n", "line 3: 3 values, where the header has 4 names."),
        ("mu,su,u,note\n1,1,1,a,b\n", "line 2: 5 values, where the header has 4 names."),
        ("mu,su,u,u\n1,1,1,1\n", "there is more than one column 'u'"),
        ("mu,su,u\n1,1," + 1000 * "x" + "\n", "xxx'... is not a number."),
    ],
)
def test_rows_that_do_not_fit(tmp_path, capsys, text, message):
    """Rows after a quote that is not closed would be lost without a word."""
    (tmp_path / "a.csv").write_text(text)
    error = refusal(capsys, tmp_path / "a.csv", *ONE)
    assert message in error
    assert len(error) < 400


def test_odd_rows_that_fit(tmp_path, capsys):
    rows = [
        f'"{mu}", {su} ,{u},"a ""quoted""\nnote, {k}"\n\n  \n'
        for k, (mu, su, u) in enumerate(zip(*forecasts().values(), strict=True))
    ]
    (tmp_path / "a.csv").write_text("mu,su, u ,note\n" + "".join(rows))
    path = write(tmp_path / "b.csv", forecasts())
    assert result(capsys, tmp_path / "a.csv", *ONE)[0]["pvalue"] == result(capsys, path, *ONE)[0]["pvalue"]


@pytest.mark.parametrize("by", [[], ["--by", "season"]])
def test_rows_that_do_not_fit_into_memory(tmp_path, capsys, monkeypatch, by):
    """On a machine with less than the 32 bytes a row that three numbers and a line take, or 99 with a label."""
    monkeypatch.setattr("scorecal.cli.read_csv.memory_for_data", lambda: N * (90.0 if by else 30.0))
    path = write(tmp_path / "a.csv", {**forecasts(), "season": ["dry", "wet"] * (N // 2)})
    error = refusal(capsys, path, *ONE, *by)
    assert "the data would take" in error
    assert "too many rows" in error
