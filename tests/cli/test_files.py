"""Files, compressed files and standard input: what is no table is refused, in little memory."""

import gzip
import io
import os
import subprocess
import sys

import pytest
from command_line import ONE, forecasts, refusal, refusal_and_memory, result, text_of, write

LITTLE = 2e8  # bytes, of which Python and NumPy take 5e7
linux = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")


class StandardInput:
    """Of bytes, which is all that is read."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_compressed_files_and_standard_input(tmp_path, capsys, monkeypatch):
    text = text_of(forecasts()).encode()
    expected, _ = result(capsys, write(tmp_path / "a.csv", forecasts()), *ONE)
    for name in ("a.csv.gz", "B.CSV.GZ"):
        (tmp_path / name).write_bytes(gzip.compress(text))
        assert result(capsys, tmp_path / name, *ONE)[0]["pvalue"] == expected["pvalue"]
    monkeypatch.setattr("sys.stdin", StandardInput(text))
    found, _ = result(capsys, "-", *ONE, "--report", str(tmp_path / "report.html"))
    assert found["pvalue"] == expected["pvalue"]
    assert found["settings"]["file"] == "-"
    assert "Calibration of standard input" in (tmp_path / "report.html").read_text()
    assert not sys.stdin.buffer.closed


def test_errors_name_standard_input(capsys, monkeypatch):
    for content, message in (
        (b"mu,su,u\n1,x,1\n", "standard input, line 2, column 'su': 'x' is not a number."),
        (b"mu,su,u\n1,1,1\n", "standard input: --target must hold at least 2 targets"),
        (b"", "standard input: the file is empty"),
        (b"\xff\xfe", "standard input: not a text file in UTF-8"),
    ):
        monkeypatch.setattr("sys.stdin", StandardInput(content))
        assert message in refusal(capsys, "-", *ONE)
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in refusal(capsys, "-", *ONE)


@pytest.mark.parametrize("kind", ["truncated", "flipped", "not gzip", "empty", "text"])
def test_damaged_gzip(tmp_path, capsys, kind):
    whole = gzip.compress(text_of(forecasts()).encode())
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    contents = {"truncated": whole[:-50], "flipped": flipped, "not gzip": b"PK\3\4", "empty": b"", "text": b"mu,su,u\n"}
    (tmp_path / "a.csv.gz").write_bytes(contents[kind])
    assert "a.csv.gz" in refusal(capsys, tmp_path / "a.csv.gz", *ONE)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "npz", "parquet"])
def test_folders_and_pipes_are_no_files(tmp_path, capsys, suffix):
    options = [] if suffix == "npz" else ONE
    (tmp_path / f"folder.{suffix}").mkdir()
    assert "folder" in refusal(capsys, tmp_path / f"folder.{suffix}", *options)
    assert "No such file" in refusal(capsys, tmp_path / f"missing.{suffix}", *options)
    if suffix in ("npz", "parquet") and hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / f"pipe.{suffix}")  # to open it would wait for a writer for ever
        assert "not a file but a pipe" in refusal(capsys, tmp_path / f"pipe.{suffix}", *options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (text_of(forecasts(3)).encode("utf-16"), "not a text file in UTF-8"),
        (text_of(forecasts(3)).encode("utf-16-le"), "line 1: there is a NUL character; text must be in UTF-8"),
        (b"mu,su,u\n1,1,1\n1,\x00,1\n", "line 3: there is a NUL character"),
        ("mu,su,u,näme\n1,1,1,1\n".encode("latin-1"), "not a text file in UTF-8"),
        (b"\n \n\n", "the file is empty"),
        (b"mu,su,u\r1,1,1\r2,x,1\r", "line 3, column 'su': 'x' is not a number."),
        (b"mu,su,u\r\n1,1,1\r\n2,x,1\r\n", "line 3, column 'su': 'x' is not a number."),
        (b"\xef\xbb\xbf\n\nmu,su,u\n1,1,1\n2,x,1\n", "line 5, column 'su': 'x' is not a number."),
    ],
)
def test_text_of_other_kinds(tmp_path, capsys, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    assert message in refusal(capsys, tmp_path / "a.csv", *ONE)


@linux
@pytest.mark.parametrize(
    ("start", "repeated"),
    [("mu,su,u\n1,1,", "1"), ("", "a,"), ("mu,su,u\n", ","), ("mu,su,u\n", 'a,"\n",')],
    ids=["a number", "a header", "commas", "a row of many lines"],
)
def test_rows_of_gigabytes_are_refused_in_little_memory(start, repeated):
    """From a pipe, so that the 300 MB are nowhere; reading stops long before their end."""
    code = f"import sys; sys.stdout.write({start!r})\nfor _ in range(300): sys.stdout.write({repeated!r} * 500_000)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source:
        error, memory = refusal_and_memory("/dev/stdin", *ONE, stdin=source.stdout)
        source.stdout.close()
    assert "the row has more than 16777216 characters" in error
    assert memory < LITTLE


@linux
def test_a_bomb_in_gzip_is_refused_in_little_memory(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"mu,su,u\n1,1,") + 40 * gzip.compress(b"1" * 2**23))
    error, memory = refusal_and_memory(tmp_path / "a.csv.gz", *ONE)
    assert "line 2: the row has more than 16777216 characters" in error
    assert memory < LITTLE


@linux
def test_devices_without_an_end(capsys):
    assert "/dev/zero, line 1: the row has more than" in refusal(capsys, "/dev/zero", *ONE)
