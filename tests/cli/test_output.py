"""What is printed: nothing that a terminal would obey, nothing lost, and an exit status that can be relied on."""

import io
import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

from scorecal.cli import main
from scorecal.cli.output import complain, say

HOSTILE = "\x1b[31mé\tté\u202e\x9b\x07"
RUN = f"{sys.executable} -c 'import sys; from scorecal.cli import main; sys.exit(main())'"


def forecasts(path, label="wet", target="u"):
    """Forecasts that are too narrow by a fifth, and useless where the label is not "dry"."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=300)
    off = 2.0 * (np.arange(300) % 2)
    rows = zip(mean + off, mean + rng.normal(size=300), np.where(off, label, "dry"), strict=True)
    lines = [f'mu,sd,"{target}",season', *(f'{m},0.8,{u},"{text}"' for m, u, text in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def options(target="u"):
    return ["--mean", "mu", "--std", "sd", "--target", target, "--n-resamples", "99"]


def shell(command, **more):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, **more)


def is_harmless(text):
    return all(c == "\n" or c.isprintable() or c == "\u200d" for c in text)


@pytest.fixture
def stream(monkeypatch):
    """Replace a standard stream by one with an encoding; return what it got."""

    def replace(name, encoding):
        file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, name, file)
        return lambda: file.buffer.getvalue().decode(encoding)

    return replace


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8", "utf-16"])
def test_the_verdict_is_printed_whatever_the_encoding(tmp_path, stream, encoding):
    printed = stream("stdout", encoding)
    path = forecasts(tmp_path / "a.csv", label="дождь", target="u°")
    assert main(["test", path, *options("u°"), "--by", "season"]) == 0
    text = printed()
    assert text.startswith("Calibration is rejected at level 0.05.")
    assert ("season = дождь" if "utf" in encoding else r"season = \u0434\u043e\u0436\u0434\u044c") in text
    assert (r"u\xb0:" if encoding == "ascii" else "u°:") in text


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_errors_are_printed_whatever_the_encoding(tmp_path, stream, encoding):
    printed = stream("stderr", encoding)
    assert main(["test", str(tmp_path / "日本.csv"), *options()]) == 2
    assert printed().count("\n") == 1
    assert ("日本.csv" if encoding == "utf-8" else r"\u65e5\u672c.csv") in printed()


def test_a_locale_without_letters(tmp_path):
    path = forecasts(tmp_path / "a.csv", label="été", target="ü")
    command = f"{RUN} test {path} {shlex.join(options('ü'))} --by season"
    done = shell(command, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"} | PYTHONPATH)
    assert done.returncode == 0, done.stderr
    assert r"season = \xe9t\xe9" in done.stdout


PYTHONPATH = {"PYTHONPATH": ":".join(path for path in sys.path if path)}


@pytest.mark.parametrize("kind", ["text", "json", "report"])
def test_what_a_terminal_would_obey_is_escaped(tmp_path, capsys, kind):
    path = forecasts(tmp_path / "a.csv", label=HOSTILE, target=f"u{HOSTILE}v")
    report = ["--report", str(tmp_path / "r.html")] if kind == "report" else []
    more = ["--json"] if kind == "json" else []
    assert main(["test", path, *options(f"u{HOSTILE}v"), "--by", "season", *more, *report]) == 0
    out = capsys.readouterr().out
    assert is_harmless(out)
    shown = r"\x1b[31mé\tté\u202e\x9b\x07"
    if kind == "json":
        found = json.loads(out)
        assert found["dimensions"][0]["name"] == f"u{HOSTILE}v"
        assert found["where"]["name"] in (f"season = {HOSTILE}", "season = dry")
    else:
        assert f"season = {shown}" in out
        assert f"u{shown}v" in out
    if kind == "report":
        page = (tmp_path / "r.html").read_text()
        assert is_harmless(page)
        assert page.count(shown) > 4  # in sentences, tables and pictures


def test_a_label_cannot_add_a_line(tmp_path, capsys):
    path = forecasts(tmp_path / "a.csv", label="x\nCalibration is not rejected at level 0.05.")
    assert main(["test", path, *options(), "--by", "season"]) == 0
    out = capsys.readouterr().out
    assert sum(line.startswith("Calibration is not rejected") for line in out.splitlines()) == 0
    assert r"season = x\nCalibration is not rejected" in out


def test_json_stays_json_with_the_one_control_character_that_it_lets_pass(tmp_path, capsys):
    path = forecasts(tmp_path / "a.csv", target="u\x7f")
    assert main(["test", path, *options("u\x7f"), "--json"]) == 0
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert json.loads(out)["dimensions"][0]["name"] == "u\x7f"


def test_errors_and_warnings_are_escaped_too(tmp_path, capsys):
    path = tmp_path / f"a{HOSTILE}\n.csv"
    forecasts(path, label=HOSTILE)
    for arguments in (
        ["test", str(path), "--mean", f"no{HOSTILE}", "--std", "sd", "--target", "u"],
        ["test", str(path), *options(), f"--no{HOSTILE}"],
        ["test", str(path), *options(), "--alpha", HOSTILE],
        ["test", str(path), *options(), "--report", str(tmp_path / HOSTILE / "r.html")],
        [HOSTILE],
        ["demo", "--out", f"{HOSTILE}.xyz"],
        ["reproduce", "fig1", "--out", str(path)],
        ["reproduce", f"fig{HOSTILE}"],
        ["bench", "power", "--out", str(path)],
    ):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr()
        assert status == 2, arguments
        assert printed.out == "", arguments
        assert is_harmless(printed.err), arguments
        assert printed.err.count("\n") == 1, arguments


def test_a_defect_is_told_in_lines_that_are_harmless(tmp_path, capsys, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError(HOSTILE)

    monkeypatch.setattr("scorecal.cli.test.diagnose", fail)
    assert main(["test", forecasts(tmp_path / "a.csv"), *options()]) == 3
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert is_harmless(error)


@pytest.mark.parametrize(
    ("where", "reason"), [(">&-", "it is closed"), ("> /dev/full", "No space left on device")], ids=["closed", "full"]
)
def test_output_that_cannot_be_written(tmp_path, where, reason):
    """Status 2, which is neither "fine" nor "rejected"; the report is there all the same."""
    path, report = forecasts(tmp_path / "a.csv"), tmp_path / "r.html"
    done = shell(f"{RUN} test {path} {shlex.join(options())} --fail-on-rejection --report {report} {where}")
    assert done.returncode == 2
    assert done.stderr == f"scorecal test: standard output cannot be written: {reason}.\n"
    assert report.read_text().endswith("</html>\n")
    done = shell(f"{RUN} --help {where}; echo $? >&2")
    assert done.stderr == f"scorecal: standard output cannot be written: {reason}.\n2\n"


@pytest.mark.parametrize("where", ["2>&-", "2> /dev/full"], ids=["closed", "full"])
def test_errors_that_cannot_be_told_keep_their_status(where):
    """Not 1, which would read as a rejection."""
    assert shell(f"{RUN} test missing.csv {shlex.join(options())} {where}").returncode == 2
    assert shell(f"{RUN} test --alpha 7 {where}").returncode == 2


def test_help_and_version_are_as_before(capsys):
    for arguments, start in ((["--version"], "scorecal 0."), (["test", "--help"], "usage: scorecal test [-h]")):
        with pytest.raises(SystemExit, match="0"):
            main(arguments)
        assert capsys.readouterr().out.startswith(start)


def test_say_and_complain(capsys):
    say("two\nlines\x1b")
    complain("scorecal test", "one\nline\x1b")
    printed = capsys.readouterr()
    assert printed.out == "two\nlines\\x1b\n"
    assert printed.err == "scorecal test: one\\nline\\x1b\n"
