"""`scorecal test`: files in, a verdict out, and one line for whatever is wrong with a file."""

import html
import json
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import scorecal as sc
from scorecal.cli import main

N = 300
COLUMNS = ("mu", "mv", "su", "sv", "u", "v", "season")


@pytest.fixture(scope="module")
def columns():
    """Means, standard deviations that are too small by a fifth, targets and a label."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(N, 2))
    y = mean + rng.normal(size=(N, 2))
    values = np.concatenate([mean, np.full((N, 2), 0.8), y], axis=1)
    return {**dict(zip(COLUMNS[:-1], values.T, strict=True)), "season": np.where(np.arange(N) % 2, "dry", "wet")}


def write(path, columns, delimiter=",", start=""):
    rows = zip(*columns.values(), strict=True)
    lines = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in rows)]
    path.write_text(start + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


BOTH = ["--mean", "mu", "mv", "--std", "su", "sv", "--target", "u", "v"]
ONE = ["--mean", "mu", "--std", "su", "--target", "u"]


def result_of(capsys, *arguments):
    assert main(["test", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_csv_gives_the_result_of_the_library(columns, tmp_path, capsys):
    found = result_of(capsys, write(tmp_path / "a.csv", columns), *BOTH, "--n-resamples", "199", "--seed", "3")
    mean, std, y = (np.stack([columns[k] for k in names], 1) for names in (("mu", "mv"), ("su", "sv"), ("u", "v")))
    expected = sc.calibration_test(sc.Gaussian(mean, std), y, n_resamples=199, rng=3)
    assert (found["pvalue"], found["n"], found["alpha"]) == (expected.pvalue, N, 0.05)
    assert found["statistic"] == pytest.approx(expected.statistic)
    assert found["rejected"] is True
    assert found["seen"] == ["over-confidence"]
    assert [view["name"] for view in found["views"]] == [view.name for view in expected.views]
    assert [part["name"] for part in found["dimensions"]] == ["u", "v"]
    assert found["dimensions"][0]["confidence_ratio"]["low"] > 1


@pytest.mark.parametrize("kind", ["semicolon", "tab", "mark", "parquet", "covariance", "npz"])
def test_every_kind_of_file_gives_the_same(columns, tmp_path, capsys, kind):
    expected = result_of(capsys, write(tmp_path / "a.csv", columns), *BOTH)
    options = BOTH
    if kind == "parquet":
        parquet.write_table(pyarrow.table(columns), path := tmp_path / "a.parquet")
    elif kind == "covariance":
        more = {**columns, "cuu": columns["su"] ** 2, "cuv": 0 * columns["su"], "cvv": columns["sv"] ** 2}
        path = write(tmp_path / "b.csv", more)
        options = ["--mean", "mu", "mv", "--covariance", "cuu", "cuv", "cvv", "--target", "u", "v"]
    elif kind == "npz":
        predictions = sc.Gaussian(np.stack([columns["mu"], columns["mv"]], 1), 0.8)
        y, base = np.stack([columns["u"], columns["v"]], 1), np.random.default_rng(1).normal(size=(6, 2))
        at_base = np.moveaxis(predictions.score(base[:, None, :]), 0, 1)
        path, options = tmp_path / "a.npz", []
        np.savez(path, targets=y, scores=predictions.score(y), base_scores=at_base, base_points=base)
    else:
        delimiter, start = {"semicolon": (";", ""), "tab": ("\t", ""), "mark": (",", "\ufeff")}[kind]
        path = write(tmp_path / "b.csv", columns, delimiter, start)
    found = result_of(capsys, str(path), *options)
    assert found["seen"] == expected["seen"]
    same = 1e-6 if kind != "npz" else 0.05  # scores know nothing of covariances: the views of one kind are combined
    assert found["dimensions"][0]["confidence_ratio"]["value"] == pytest.approx(
        expected["dimensions"][0]["confidence_ratio"]["value"], rel=same
    )
    assert found["pvalue"] == pytest.approx(expected["pvalue"], abs=0.01)


def test_words_and_exit_status(columns, tmp_path, capsys):
    path = write(tmp_path / "a.csv", columns)
    assert main(["test", path, *BOTH, "--by", "season"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Calibration is rejected at level 0.05.")
    assert "u: over-confident, the true spread being 1." in out
    assert "season = " in out
    assert main(["test", path, *BOTH, "--fail-on-rejection"]) == 1
    wide = write(tmp_path / "b.csv", {**columns, "su": columns["su"] / 0.8, "sv": columns["sv"] / 0.8})
    assert main(["test", wide, *BOTH, "--fail-on-rejection", "--alpha", "0.001"]) == 0
    assert "Calibration is not rejected at level 0.001." in capsys.readouterr().out


def test_how_a_file_was_read_is_said_where_the_verdict_is(columns, tmp_path, capsys):
    path = tmp_path / "a.csv"
    write(path, changed(columns, "u", 3, ""), ";")
    path.write_text(path.read_text().replace(".", ","))
    assert main(["test", str(path), *ONE, "--drop-missing", "--report", str(tmp_path / "r.html")]) == 0
    verdict, commas, dropped, empty, *_ = capsys.readouterr().out.splitlines()
    assert verdict.startswith("Calibration is ")
    assert commas.startswith("Numbers have decimal commas, as ")
    assert dropped == "1 of 300 rows were left out, for missing values ('u': 1)."
    assert empty == ""
    report = html.unescape((tmp_path / "r.html").read_text())
    assert f"{commas} {dropped}" in report


def changed(columns, name, row, value):
    new = np.array(columns[name], dtype=object)
    new[row] = value
    return {**columns, name: new}


@pytest.mark.parametrize(
    ("name", "row", "value", "message"),
    [
        ("su", 4, "abc", "line 6, column 'su': 'abc' is not a number."),
        ("u", 0, "", "line 2, column 'u': the value is missing."),
        ("mu", 298, "nan", "line 300, column 'mu': the value is missing."),
        ("mu", 1, "inf", "line 3, column 'mu': the value must be a finite number, but is inf."),
        ("su", 7, "-1", "line 9, column 'su': a standard deviation must be positive, but is -1."),
        ("su", 7, "0", "line 9, column 'su': a standard deviation must be positive, but is 0."),
        ("u", 2, "1,5", "line 4: 8 values, where the header has 7 names."),
    ],
)
def test_bad_values_are_told_with_their_place(columns, tmp_path, capsys, name, row, value, message):
    path = write(tmp_path / "bad.csv", changed(columns, name, row, value))
    assert main(["test", path, *ONE]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"scorecal test: {path}, ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("mu,su,u\n", "there are no rows below the header"),
        ("mu,su\n1,2\n", "there is no column 'u'; the columns are 'mu', 'su'."),
        ("mu,su,u,u\n1,2,3,4\n", "there is more than one column 'u'"),
        ("mu,su,u\n1,1,1\n", "must hold at least 2 targets"),
        (b"\xff\xfe\x00", "not a text file in UTF-8"),
        ('mu,su,u\n1,"2,3\n' + 200_000 * "x", "likely cause: a quote that is not closed"),
        ("mu,su,u\n1,1_000,1\n", "line 2, column 'su': '1_000' is not a number"),
        ("mu,su,u\n\n\n1,1,1\n2,-1,1\n", "line 5, column 'su': a standard deviation must be positive"),
        ('mu,su,u,text\n1,1,1,"a\nb"\n2,1,x,"c\nd"\n', "line 4, column 'u': 'x' is not a number"),
    ],
)
def test_bad_files(tmp_path, capsys, text, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["test", str(path), *ONE]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mean", "mu", "--target", "u", "v", "--std", "su"], "name 1 and 2"),
        (["--mean", "mu", "--target", "u"], "one of --std and --covariance is needed"),
        (["--mean", "mu", "mv", "--target", "u", "v", "--std", "su"], "--std must name 2 columns"),
        (["--mean", "mu", "mv", "--target", "u", "v", "--covariance", "su", "sv"], "--covariance must name 3 columns"),
        (["--mean", "mu", "mv", "--target", "u", "v", "--covariance", "su", "mu", "sv"], "is not positive definite"),
    ],
)
def test_bad_options(columns, tmp_path, capsys, options, message):
    assert main(["test", write(tmp_path / "a.csv", columns), *options]) == 2
    assert message in capsys.readouterr().err


def test_odd_headers_and_columns_used_twice(columns, tmp_path, capsys):
    renamed = {'"mu, m"': columns["mu"], "s": columns["su"], '"u, m"': columns["u"]}
    path = write(tmp_path / "a.csv", renamed, ";")
    found = result_of(capsys, path, "--mean", "mu, m", "--std", "s", "--target", "u, m", "--by", "mu, m")
    assert found["n"] == N
    parquet.write_table(pyarrow.table(columns), path := tmp_path / "a.parquet")
    assert main(["test", str(path), *ONE, "--by", "mu", "season"]) == 0
    assert "\nmu " in capsys.readouterr().out.split("where it differs most")[1]


def test_a_level_that_cannot_be_reached_is_refused(columns, tmp_path, capsys):
    """With 999 draws no p-value is below .001: a gate at .0001 would never close."""
    path = write(tmp_path / "a.csv", columns)
    assert main(["test", path, *ONE, "--alpha", "0.0001", "--fail-on-rejection"]) == 2
    assert "give --n-resamples 9999 or more" in capsys.readouterr().err
    assert main(["test", path, *ONE, "--alpha", "0.02", "--n-resamples", "49"]) == 0


def gaussian_table(n, spread=1.0, bias=0.0):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=n)
    return {"mu": mean, "su": np.ones(n), "u": mean - bias + spread * rng.normal(size=n)}


@pytest.mark.parametrize("count", [1, 3, 5])
def test_values_that_stand_for_missing_ones(tmp_path, capsys, count):
    """Outliers by name, with their lines; the gates close."""
    table = gaussian_table(1000)
    rows = [3, 500, 998, 10, 600][:count]
    table["u"][rows] = -999.0
    path = write(tmp_path / "a.csv", table)
    found = result_of(capsys, path, *ONE, "--n-resamples", "199")
    assert found["rejected"]
    assert found["seen"][0] == "outliers"
    assert {row["place"] for row in found["extremes"][:count]} == {f"line {row + 2}" for row in rows}
    assert {row["row"] for row in found["extremes"][:count]} == set(rows)
    assert all(row["adjusted_pvalue"] < 1e-9 for row in found["extremes"][:count])
    assert main(["test", path, *ONE, "--n-resamples", "199", "--fail-on-rejection"]) == 1
    out = capsys.readouterr().out
    assert "a few targets are outliers" in out
    assert all(f"\nline {row + 2} " in out for row in rows)
    assert main(["test", path, *ONE, "--n-resamples", "199", "--tolerate-bias", "0.1"]) == 1


@pytest.mark.parametrize(
    ("table", "options", "status", "sentence"),
    [
        (gaussian_table(30_000, 1.03), "--tolerate-spread 1.05", 0, "(spread 1.05): yes."),
        (gaussian_table(30_000, 1.03), "--tolerate-spread 1.05 --fail-on-rejection", 1, "(spread 1.05): yes."),
        (gaussian_table(3000, 1.3), "--tolerate-spread 1.1", 1, "(spread 1.1): no, the spread is beyond."),
        (gaussian_table(3000, 0.7), "--tolerate-spread 1.1", 1, "(spread 1.1): no, the spread is beyond."),
        (gaussian_table(3000, 1.0, 0.3), "--tolerate-bias 0.1", 1, "(bias 0.1 sd): no, the bias is beyond."),
        (
            gaussian_table(3000, 1.0, 0.3),
            "--tolerate-bias 0.1 --tolerate-spread 1.2",
            1,
            "(bias 0.1 sd, spread 1.2): no, the bias is beyond.",
        ),
        (
            gaussian_table(3000, 1.5, 0.5),
            "--tolerate-bias 0.1 --tolerate-spread 1.2",
            1,
            "(bias 0.1 sd, spread 1.2): no, each is beyond.",
        ),
        (gaussian_table(60), "--tolerate-bias 0.1", 1, "(bias 0.1 sd): cannot tell: more rows are needed."),
    ],
    ids=["small", "small, rejected", "wide", "narrow", "bias", "bias alone", "both", "few rows"],
)
def test_tolerances(tmp_path, capsys, table, options, status, sentence):
    path = write(tmp_path / "a.csv", table)
    given = ["test", path, *ONE, "--n-resamples", "99", *options.split()]
    assert main(given) == status
    verdict, within, *_ = capsys.readouterr().out.splitlines()
    assert verdict.startswith("Calibration is ")
    assert within == f"Within the tolerance {sentence}"
    assert main([*given, "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert found["within"] is {"yes": True, "no,": False, "can": None}[sentence.split("): ")[1][:3]]
    assert set(found["tolerance"]) == {"bias", "spread"}
    assert [found["tolerance"]["bias"] is None, found["tolerance"]["spread"] is None] == [
        "bias" not in sentence.split(")")[0],
        "spread" not in sentence.split(")")[0],
    ]


def test_what_is_said_once(columns, tmp_path, capsys):
    path = write(tmp_path / "a.csv", columns)
    assert main(["test", path, *BOTH, "--by", "season"]) == 0
    out = capsys.readouterr().out
    assert out.count("Calibration is") == out.count("the predictions are over-confident") == 1
    found = result_of(capsys, path, *BOTH, "--by", "season")
    assert found["statements"]
    assert all(out.count(sentence) == 1 for sentence in found["statements"])
    assert found["tolerance"] is found["within"] is None
    levels = {(level["covariate"], level["name"]): level for level in found["levels"]}
    assert set(levels) == {("season", "season = dry"), ("season", "season = wet")}
    assert levels["season", "season = dry"]["n"] == N // 2
    ratio = levels["season", "season = dry"]["confidence_ratio"][0]
    assert ratio["low"] < 1.25 < ratio["high"]
    assert len(found["extremes"]) == 10


def test_all_is_said_at_the_level_of_the_verdict(tmp_path, capsys):
    path = write(tmp_path / "a.csv", gaussian_table(400, 1.1))
    strict = result_of(capsys, path, *ONE, "--alpha", "0.001")
    assert 0.001 < strict["pvalue"] <= 0.05
    assert not strict["rejected"]
    assert strict["statements"] == strict["seen"] == []
    assert result_of(capsys, path, *ONE)["statements"]
    assert main(["test", path, *ONE, "--alpha", "0.001"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Calibration is not rejected at level 0.001.")
    assert "over-confident" not in out


def test_who_reads_the_output_may_stop(columns, tmp_path):
    path = write(tmp_path / "a.csv", columns)
    options = ["test", path, *ONE, "--fail-on-rejection", "--report", str(tmp_path / "r.html")]
    code = f"import sys; from scorecal.cli import main; sys.exit(main({options!r}))"
    piped = f"{sys.executable} -c {shlex.quote(code)} | head -c 0; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "1"
    assert (tmp_path / "r.html").exists()


def test_too_few_rows_for_regions_are_told(columns, tmp_path, capsys):
    few = {name: values[:150] for name, values in columns.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["test", write(tmp_path / "a.csv", few), *ONE, "--by", "season"]) == 0
    assert "no region of 'season' has 100 or more of the 150 rows" in capsys.readouterr().err


def test_regions_of_huge_numbers_and_of_days(columns, tmp_path, capsys):
    """With a report, in which they are drawn."""
    day = np.datetime64("2024-01-01") + np.arange(N)
    spoilt = {
        **columns,
        "x": np.linspace(-1.0, 1.0, N) * 1.7e308,
        "day": day,
        "u": columns["u"] + 3.0 * (np.arange(N) > 200),
    }
    path = write(tmp_path / "a.csv", spoilt)
    for name, start in (("x", "x > "), ("day", "day from 2024-")):
        found = result_of(capsys, path, *ONE, "--by", name, "--report", str(tmp_path / "report.html"))
        assert found["where"]["name"].startswith(start)
        assert len(found["where"]["name"]) < 40
        assert f"Contributions to the statistic over {name}" in (tmp_path / "report.html").read_text()


def test_the_region_comes_with_its_sizes(columns, tmp_path, capsys):
    spoilt = dict(
        columns, u=np.asarray(columns["u"], float) + 1.5 * (np.asarray(columns["season"]) == columns["season"][0])
    )
    where = result_of(capsys, write(tmp_path / "a.csv", spoilt), *ONE, "--by", "season")["where"]
    assert where["name"] == f"season = {columns['season'][0]}"
    assert where["bias"][0]["high"] < -1.0
    assert where["rest_bias"][0]["low"] < 0.2


def test_a_defect_is_no_rejection(columns, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("scorecal.cli.test.diagnose", lambda *_, **__: 1 / 0)
    assert main(["test", write(tmp_path / "a.csv", columns), *ONE, "--fail-on-rejection"]) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.slow
def test_a_million_rows(tmp_path):
    """In less than 1 GB, report included, in a process of its own."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=10**6)
    table = np.stack([mean, np.ones(10**6), mean + rng.normal(size=10**6)], 1)
    path = tmp_path / "million.csv"
    np.savetxt(path, table, "%.6g", ",", header="mu,su,u", comments="")
    script = (
        "import resource, sys; from scorecal.cli import main; status = main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "test", path, *ONE, "--json", "--report", tmp_path / "report.html"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "report.html").stat().st_size < 1e6
    assert json.loads(done.stdout)["n"] == 10**6
    assert int(done.stderr.split()[-1]) * 1024 < 1e9


def test_completion_of_shells(tmp_path):
    script = subprocess.run(
        [sys.executable, "-c", "from scorecal.cli import main; main(['--print-completion', 'bash'])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (tmp_path / "complete.sh").write_text(script)
    typed = "COMP_WORDS=(scorecal test --fail); COMP_CWORD=2; COMP_LINE='scorecal test --fail'; COMP_POINT=20"
    command = f"source {tmp_path}/complete.sh; {typed}; _shtab_scorecal; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "--fail-on-rejection"
