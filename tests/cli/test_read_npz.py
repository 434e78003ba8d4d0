"""Scores from NPZ files: damaged and hostile ones are refused, in little memory and without unpickling."""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from command_line import forecasts, refusal, refusal_and_memory, result

NAMES = ("targets", "scores", "base_scores", "base_points")


def arrays(**changes):
    mean, _, y = forecasts().values()
    base = np.linspace(-2.0, 2.0, 6)[:, None]
    found = (y[:, None], (mean - y)[:, None], mean[:, None, None] - base, base)
    return {**dict(zip(NAMES, found, strict=True)), **changes}


def header(shape, descr="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue()


def whole(save=np.savez):
    file = io.BytesIO()
    save(file, **arrays())
    return file.getvalue()


def marked(content, signature, at, change):
    """The archive with a byte changed in every record of a kind."""
    content, start = bytearray(content), 0
    while (start := content.find(signature, start)) >= 0:
        content[start + at] = change(content[start + at])
        start += 4
    return bytes(content)


def encrypted(content):
    for signature, at in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        content = marked(content, signature, at, lambda flags: flags | 1)
    return content


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


DAMAGED = {
    "nothing": b"",
    "text": b"mu,su,u\n1,1,1\n",
    "one array": header((3,)) + bytes(24),
    "random": np.random.default_rng(0).bytes(5000),
    "random after a signature": b"PK\3\4" + np.random.default_rng(0).bytes(5000),
    "truncated": whole()[:-3000],
    "without its first bytes": whole()[49:],
    "encrypted": encrypted(whole()),
    "unknown compression": marked(whole(), b"PK\1\2", 10, lambda _: 99),
    "a number flipped": flipped(whole(), 500),
    "compressed and flipped": flipped(whole(np.savez_compressed), 300),
    "directory flipped": flipped(whole(), whole().index(b"PK\1\2") + 24),
    "huge directory": whole()[:-10] + b"\xff\xff\xff\x7f" + whole()[-6:],
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files(tmp_path, capsys, kind):
    (tmp_path / "a.npz").write_bytes(DAMAGED[kind])
    assert "a.npz" in refusal(capsys, tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "targets",
            np.array([{}]),
            "array 'targets': must hold numbers of at most 64 bits, but has object of shape (1,)",
        ),
        ("targets", np.full((240, 1), np.nan), "array 'targets': must hold finite numbers, but has some that are not"),
        (
            "scores",
            np.full((240, 1), "a"),
            "array 'scores': must hold numbers of at most 64 bits, but has <U1 of shape (240, 1)",
        ),
        ("scores", np.ones((240, 1), complex), "must hold numbers of at most 64 bits, but has complex128 of shape"),
        pytest.param(
            "scores",
            np.ones((240, 1), np.longdouble),
            "must hold numbers of at most 64 bits, but has float",
            marks=pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here"),
        ),
        (
            "base_points",
            np.float64(1.0),
            "array 'base_points': must hold numbers of at most 64 bits, but has float64 of shape ()",
        ),
        ("targets", np.full((240, 1), 2**53 + 1), "array 'targets': holds 9007199254740993, which has more digits"),
        ("targets", np.ones((0, 1)), "the arrays do not fit together"),
        ("base_points", np.ones((5, 1)), "base_scores (240, 6, 1), base_points (5, 1)"),
        ("base_scores", np.ones(240), "the arrays do not fit together"),
    ],
)
def test_arrays_that_cannot_be_used(tmp_path, capsys, name, value, message):
    np.savez(tmp_path / "a.npz", **arrays(**{name: value}))
    assert message in refusal(capsys, tmp_path / "a.npz")


def test_other_orders_of_bytes_and_axes(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", **arrays())
    expected, _ = result(capsys, tmp_path / "a.npz")
    given = arrays()
    swapped = {name: np.asfortranarray(value.astype(">f8")) for name, value in given.items()}
    np.savez_compressed(tmp_path / "b.npz", more=np.ones(3), **swapped)
    found, _ = result(capsys, tmp_path / "b.npz")
    assert found["pvalue"] == expected["pvalue"]


def archive(path, contents, **options):
    with zipfile.ZipFile(path, "w", **options) as file:
        for name, content in contents.items():
            file.writestr(f"{name}.npy", content)


def test_shapes_that_the_bytes_do_not_fill(tmp_path, capsys):
    """A header declares 3.2 GB, and 80 bytes follow."""
    contents = {name: header((4 * 10**8,)) + bytes(80) for name in NAMES}
    archive(tmp_path / "a.npz", contents)
    assert "array 'targets': has float64 of shape (400000000,) by its header" in refusal(capsys, tmp_path / "a.npz")
    archive(tmp_path / "a.npz", {**contents, "targets": header((-1, -3)) + bytes(24)})
    assert "has float64 of shape (-1, -3) by its header" in refusal(capsys, tmp_path / "a.npz")


def test_sizes_that_no_compression_reaches(tmp_path, capsys):
    """The archive and the header agree on 3.2 GB, but no 3 kB of compressed data become that."""
    shape = (4 * 10**8,)
    archive(
        tmp_path / "a.npz", {name: header(shape) + bytes(10**6) for name in NAMES}, compression=zipfile.ZIP_DEFLATED
    )
    content = (tmp_path / "a.npz").read_bytes()
    size = len(header(shape))
    declared, real = (int(n).to_bytes(4, "little") for n in (size + 8 * shape[0], size + 10**6))
    (tmp_path / "a.npz").write_bytes(content.replace(real, declared))
    assert "but the file does not hold as much" in refusal(capsys, tmp_path / "a.npz")


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")
def test_a_bomb_of_one_array_is_refused_in_little_memory(tmp_path):
    """200 kB that become 200 MB, beside arrays of 10 rows."""
    n = 25 * 10**6
    contents = {
        name: header((n if name == "targets" else 10, 1)) + bytes(8 * (n if name == "targets" else 10))
        for name in NAMES
    }
    archive(tmp_path / "a.npz", contents, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    error, memory = refusal_and_memory(tmp_path / "a.npz")
    assert "the arrays do not fit together" in error
    assert memory < 1.5e8


def test_arrays_that_do_not_fit_into_memory(tmp_path, capsys, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", **arrays())
    size = sum(value.nbytes for value in arrays().values())
    monkeypatch.setattr("scorecal.cli.read_npz.memory_for_data", lambda: size)
    assert result(capsys, tmp_path / "a.npz")[0]["n"] == 240
    monkeypatch.setattr("scorecal.cli.read_npz.memory_for_data", lambda: size - 1)
    assert "the data would take" in refusal(capsys, tmp_path / "a.npz")


def test_nothing_is_unpickled(tmp_path, capsys):
    class Bomb:
        def __reduce__(self):
            return (Path(tmp_path / "exploded").touch, ())

    for name in NAMES:
        np.savez(tmp_path / "a.npz", **arrays(**{name: np.array([Bomb()])}))
        assert f"array {name!r}: must hold numbers of at most 64 bits" in refusal(capsys, tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", other=np.array([Bomb()]), **arrays())
    assert result(capsys, tmp_path / "a.npz")[0]["n"] == 240
    assert not (tmp_path / "exploded").exists()
    np.savez(tmp_path / "a.npz", targets=np.ones((5, 1)))
    assert "there is no array 'scores'; needed are targets, scores, base_scores, base_points" in refusal(
        capsys, tmp_path / "a.npz"
    )
