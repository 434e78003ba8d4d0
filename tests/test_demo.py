"""The demo and the command line, as people run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scorecal import cli, demo


def test_demo_tells_the_honest_from_the_others():
    verdicts = {verdict.forecaster: verdict for verdict in demo.judge()}
    assert len(verdicts) == 6
    assert not verdicts["regression, noise by season"].result.rejects()
    assert not verdicts["climatology"].result.rejects()
    assert "biased" in verdicts["regression, thermometer 1 degree off"].sentence
    assert "over-confident" in verdicts["nearest days, noise from training"].sentence
    assert "over-confident" in verdicts["regression, error of the mean"].sentence


def test_readme_shows_what_the_demo_prints(tmp_path, capsys):
    assert cli.main(["demo", "--out", str(tmp_path / "demo.png")]) == 0
    printed = capsys.readouterr().out
    rows = re.findall(r"^.+ 0\.\d{3}   .+$", printed, flags=re.MULTILINE)
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert len(rows) == 6
    assert all(row in readme for row in rows)
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_command_line_from_outside(tmp_path):
    command = Path(sys.executable).with_name("scorecal")
    run = subprocess.run([command, "demo"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Picture saved to demo.png" in run.stdout
    assert (tmp_path / "demo.png").exists()
    helped = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert "demo" in helped.stdout


@pytest.mark.parametrize(("path", "words"), [("nowhere/demo.png", "nowhere"), ("demo.xyz", "must end in one of .")])
def test_a_picture_that_cannot_be_saved_is_refused_before_the_work(tmp_path, capsys, path, words):
    assert cli.main(["demo", "--out", str(tmp_path / path)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"scorecal demo: --out {tmp_path / path} ")
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_the_end_of_the_name_tells_the_kind_of_picture(tmp_path, monkeypatch):
    verdicts = demo.judge()
    monkeypatch.setattr(demo, "judge", lambda: verdicts)
    for name, start in (("a.PDF", b"%PDF"), ("b.svg", b"<?xml"), ("c", b"\x89PNG")):
        assert cli.main(["demo", "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)


def test_without_matplotlib(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["demo", "--out", str(tmp_path / "demo.png")]) == 2
    printed = capsys.readouterr()
    assert 'pip install ".[cli]" in a clone' in printed.err
    assert not printed.out  # known before the work


def test_unknown_command(capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["dance"])
    assert "invalid choice" in capsys.readouterr().err


def test_example_of_the_regulariser_runs():
    """A few steps only; the figures in the README are those of the full run."""
    script = Path(__file__).parents[1] / "examples" / "regulariser.py"
    run = subprocess.run(
        [sys.executable, script, "--seeds", "1", "--steps", "5"], capture_output=True, text=True, check=True
    )
    assert run.stdout.count("±") == 9
    assert "nan" not in run.stdout


def test_example_of_distribution_regression():
    script = Path(__file__).parents[1] / "examples" / "distribution_regression.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    error, alone = map(float, re.findall(r"\d\.\d{3}", run.stdout))
    assert error < 0.5 * alone
