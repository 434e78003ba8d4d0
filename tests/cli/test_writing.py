"""`--report` and the files of other commands: refused before the work where that can be known, and never half there."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from disks import small_disk

from scorecal.cli import main

OPTIONS = ["--mean", "mu", "--std", "sd", "--target", "u", "--n-resamples", "49"]
OLD = "the old report"


@pytest.fixture
def data(tmp_path):
    mean = np.random.default_rng(0).normal(size=200)
    path = tmp_path / "a.csv"
    np.savetxt(path, np.stack([mean, np.ones(200), mean[::-1]], 1), delimiter=",", header="mu,sd,u", comments="")
    return path


def refused_before_the_work(capsys, monkeypatch, data, report):
    monkeypatch.setattr("scorecal.cli.test.calibration_test_at", lambda *_, **__: pytest.fail("the work began"))
    assert main(["test", str(data), *OPTIONS, "--report", str(report)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize("how", ["itself", "relative", "link", "hard link", "link to the data", "through a folder"])
def test_the_input_is_never_replaced(tmp_path, data, capsys, monkeypatch, how):
    content = data.read_bytes()
    report, given = data, data
    if how == "relative":
        monkeypatch.chdir(tmp_path)
        report = "a.csv"
    elif how == "link":
        report = tmp_path / "link.html"
        report.symlink_to(data)
    elif how == "hard link":
        report = tmp_path / "hard.html"
        os.link(data, report)
    elif how == "link to the data":
        given = tmp_path / "link.csv"
        given.symlink_to(data)
    elif how == "through a folder":
        (tmp_path / "folder").symlink_to(tmp_path)
        report = tmp_path / "folder" / "a.csv"
    error = refused_before_the_work(capsys, monkeypatch, given, report)
    assert error == f"scorecal test: --report {report} is the input itself, which it would replace.\n"
    assert data.read_bytes() == content


def test_nor_is_what_is_read_from_standard_input(data):
    content = data.read_bytes()
    code = "import sys; from scorecal.cli import main; sys.exit(main(sys.argv[1:]))"
    with data.open() as file:
        command = [sys.executable, "-c", code, "test", "-", *OPTIONS, "--report", str(data)]
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is the input itself" in done.stderr
    assert data.read_bytes() == content


@pytest.mark.parametrize("name", [".", "no/r.html", "a.csv/r.html", "x" * 256])
def test_paths_that_cannot_be_written_are_refused_before_the_work(tmp_path, data, capsys, monkeypatch, name):
    assert f"--report {tmp_path / name} cannot be written: " in refused_before_the_work(
        capsys, monkeypatch, data, tmp_path / name
    )


def test_a_disk_that_is_read_only_is_refused_before_the_work(tmp_path, data, capsys, monkeypatch):
    with small_disk(tmp_path / "disk") as disk:
        (disk / "r.html").write_text(OLD)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        error = refused_before_the_work(capsys, monkeypatch, data, disk / "r.html")
        assert "Read-only file system" in error or "it is read-only" in error
        assert (disk / "r.html").read_text() == OLD


@pytest.mark.parametrize("how", ["a disk", "a limit"])
def test_a_full_disk_leaves_the_verdict_and_the_old_report(tmp_path, data, capsys, how):
    def run(folder):
        (folder / "r.html").write_text(OLD)
        assert main(["test", str(data), *OPTIONS, "--report", str(folder / "r.html")]) == 2
        assert (folder / "r.html").read_text() == OLD
        assert os.listdir(folder) == ["r.html"]

    if how == "a disk":
        with small_disk(tmp_path / "disk") as disk:
            run(disk)
    else:
        (tmp_path / "disk").mkdir()
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit[1]))
        try:
            run(tmp_path / "disk")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    printed = capsys.readouterr()
    assert printed.out.startswith("Calibration is rejected at level 0.05.")
    assert printed.err.count("\n") == 1
    assert "r.html cannot be written: " in printed.err
    assert "The file that was there is unchanged." in printed.err


def test_a_report_that_fails_leaves_the_verdict_and_the_old_report(tmp_path, data, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "r.html").write_text(OLD)
    monkeypatch.setattr("scorecal.cli.test.report_html", interrupt)
    assert main(["test", str(data), *OPTIONS, "--report", str(tmp_path / "r.html")]) == 130
    printed = capsys.readouterr()
    assert printed.out.startswith("Calibration is rejected at level 0.05.")
    assert printed.err == "scorecal test: interrupted\n"
    assert (tmp_path / "r.html").read_text() == OLD


def test_a_report_on_standard_output_comes_after_the_verdict(tmp_path, data):
    code = "import sys; from scorecal.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = [sys.executable, "-c", code, "test", str(data), *OPTIONS, "--report", "/dev/stdout"]
    with (tmp_path / "out").open("wb") as file:
        subprocess.run(arguments, stdout=file, check=True)
    piped = subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout
    assert (tmp_path / "out").read_bytes() == piped
    assert piped.startswith(b"Calibration is rejected at level 0.05.")
    assert piped.endswith(b"</html>\n")


def test_nothing_is_left_beside_a_report(tmp_path, data):
    for _ in range(2):
        assert main(["test", str(data), *OPTIONS, "--report", str(tmp_path / "r.html")]) == 0
        assert sorted(os.listdir(tmp_path)) == ["a.csv", "r.html"]


def test_the_picture_of_the_demo_is_written_whole(tmp_path, capsys):
    """The demo is over in seconds, but the picture may have been retouched."""
    with small_disk(tmp_path / "disk", 40) as disk:
        (disk / "demo.png").write_text(OLD)
        assert main(["demo", "--out", str(disk / "demo.png")]) == 2
        assert (disk / "demo.png").read_text() == OLD
        assert os.listdir(disk) == ["demo.png"]
    printed = capsys.readouterr()
    assert printed.out.count("\n") > 7  # the verdicts
    assert "demo.png cannot be written: No space left on device" in printed.err


@pytest.mark.parametrize("name", ["fig1.png", "fig1.md", "fig1_authors.md", "power.csv"])
def test_files_of_studies_are_tried_before_hours_of_work(tmp_path, capsys, monkeypatch, name):
    (tmp_path / name).mkdir()
    monkeypatch.setattr("scorecal.experiments.paper.reproduce.sweep", lambda *_, **__: pytest.fail("the work began"))
    monkeypatch.setattr("scorecal.experiments.power.study.sweep", lambda *_, **__: pytest.fail("the work began"))
    command = ["bench", "power"] if "power" in name else ["reproduce", "fig1"]
    assert main([*command, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (f"scorecal {command[0]}: {tmp_path / name} cannot be written: it is a folder.\n")
