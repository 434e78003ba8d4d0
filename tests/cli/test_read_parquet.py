"""Columns of Parquet files: types that are used, and damaged and hostile files."""

import base64
import datetime
import decimal
import io
import sys

import numpy as np
import pyarrow
import pytest
from command_line import ONE, N, forecasts, refusal, refusal_and_memory, result
from pyarrow import parquet
from pyarrow.parquet import encryption

BY_X = [*ONE, "--by", "x"]
DAY = datetime.date(2024, 1, 1)
DAYS = [DAY + datetime.timedelta(k) for k in range(N)]


def write(path, x=None, **options):
    """Forecasts and a column x."""
    columns = forecasts() | ({} if x is None else {"x": x})
    if x is not None and len(x) == N:
        columns["u"] = columns["u"] + 3 * (np.arange(N) >= N // 2)
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def content(**options):
    file = io.BytesIO()
    write(file, pyarrow.array(["a", None] * (N // 2)), **options)
    return file.getvalue()


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


RANDOM = np.random.default_rng(0).bytes(3000)
DAMAGED = {
    "nothing": b"",
    "text": b"mu,su,u\n1,1,1\n",
    "mark alone": b"PAR1",
    "random": RANDOM,
    "random between marks": b"PAR1" + RANDOM + (2000).to_bytes(4, "little") + b"PAR1",
    "encrypted": b"PARE" + RANDOM + (2000).to_bytes(4, "little") + b"PARE",
    "footer of gigabytes": b"PAR1" + RANDOM + (2**32 - 1).to_bytes(4, "little") + b"PAR1",
    "truncated": content()[:-2000],
    "without its middle": content()[:1000] + content()[-2000:],
    "a number flipped": flipped(content(write_page_checksum=True), 500),
    "footer flipped": flipped(content(), len(content()) - 600),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files(tmp_path, capsys, kind):
    (tmp_path / "a.parquet").write_bytes(DAMAGED[kind])
    assert "a.parquet: " in refusal(capsys, tmp_path / "a.parquet", *BY_X)


class Keys(encryption.KmsClient):
    """Keys that are wrapped in nothing."""

    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key_bytes, master_key_identifier):
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return base64.b64decode(wrapped_key)


@pytest.mark.parametrize("plaintext_footer", [True, False])
def test_encrypted_columns(tmp_path, capsys, plaintext_footer):
    settings = encryption.EncryptionConfiguration(
        footer_key="a", column_keys={"b": ["mu", "u"]}, plaintext_footer=plaintext_footer
    )
    keys = encryption.CryptoFactory(Keys).file_encryption_properties(encryption.KmsConnectionConfig(), settings)
    path = write(tmp_path / "a.parquet", encryption_properties=keys)
    assert "encrypted" in refusal(capsys, path, *ONE)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True] * N, "bool"),
        (["1.5"] * N, "string"),
        (pyarrow.array(["a"] * N).dictionary_encode(), "dictionary<values=string"),
        ([[1.0]] * N, "list<element: double>"),
        ([{"a": 1.0}] * N, "struct<a: double>"),
        ([b"a"] * N, "binary"),
        (DAYS, "date32[day]"),
        ([datetime.time(1)] * N, "time64[us]"),
        ([datetime.timedelta(1)] * N, "duration[us]"),
    ],
)
def test_targets_that_are_no_numbers(tmp_path, capsys, values, kind):
    path = write(tmp_path / "a.parquet", values)
    message = refusal(capsys, path, "--mean", "mu", "--std", "su", "--target", "x")
    assert f"column 'x': holds {kind}" in message
    may_be_classes = kind.startswith(("bool", "string", "dictionary"))
    assert message.endswith(", not numbers.\n" if not may_be_classes else " If targets are classes, give --classes.\n")
    if kind.startswith(("list", "struct", "binary", "time", "duration")):
        message = refusal(capsys, path, *BY_X)
        assert f"column 'x': holds {kind}, not numbers, dates or labels." in message


def target(name):
    return ["--mean", "mu", "--std", "su", "--target", name]


NUMBERS = (
    pyarrow.float16(),
    pyarrow.float32(),
    pyarrow.int64(),
    pyarrow.uint64(),
    pyarrow.int8(),
    pyarrow.decimal128(9, 1),
)


@pytest.mark.parametrize("kind", [*NUMBERS, "categorical"])
def test_every_kind_of_number(tmp_path, capsys, kind):
    values = pyarrow.array(np.round(8 + forecasts()["u"]))
    expected, _ = result(capsys, write(tmp_path / "a.parquet", values), *target("x"))
    values = values.dictionary_encode() if kind == "categorical" else values.cast(kind)
    found, _ = result(capsys, write(tmp_path / "b.parquet", values), *target("x"))
    assert found["pvalue"] == expected["pvalue"]
    assert found["dimensions"] == expected["dimensions"]


@pytest.mark.filterwarnings("default")  # among regions they may be rounded, here to one number
@pytest.mark.parametrize("kind", [pyarrow.int64(), pyarrow.decimal128(20, 0), pyarrow.decimal128(22, 2)])
def test_integers_that_cannot_be_kept(tmp_path, capsys, kind):
    path = write(tmp_path / "a.parquet", pyarrow.array([2**53, None, 2**53 + 1] * (N // 3)).cast(kind))
    message = refusal(capsys, path, *target("x"))
    assert "row 3, column 'x': the value is 9007199254740993, which has more digits than" in message
    assert result(capsys, path, *BY_X, "--drop-missing")[0]["dropped"] == N // 3


def timestamps(unit, zone=None):
    return pyarrow.array(
        [datetime.datetime.combine(day, datetime.time(5)) for day in DAYS], pyarrow.timestamp(unit, zone)
    )


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (DAYS, "x from 2024-04-30 to 2024-08-27"),
        (pyarrow.array(DAYS, pyarrow.date64()), "x from 2024-04-30 to 2024-08-27"),
        (timestamps("s"), "x from 2024-04-30 to 2024-08-27"),
        (timestamps("ns"), "x from 2024-04-30 to 2024-08-27"),
        (timestamps("us", "Europe/Berlin"), "x (UTC) from 2024-04-30 to 2024-08-27"),
        (list(map(str, DAYS)), "x from 2024-04-30 to 2024-08-27"),
        (pyarrow.array(list(map(str, DAYS))).dictionary_encode(), "x from 2024-04-30 to 2024-08-27"),
        (pyarrow.array(np.repeat(["dry", "wet"], N // 2)).dictionary_encode(), "x = wet"),
        ([decimal.Decimal(k) for k in range(N)], "x > 119"),
        ([k >= N // 2 for k in range(N)], "x = True"),
    ],
)
def test_columns_that_divide_rows(tmp_path, capsys, values, name):
    found, said = result(capsys, write(tmp_path / "a.parquet", values), *BY_X)
    assert said == ""
    assert found["where"]["name"] == name


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.repeat([3, 17], N // 2), "x = 17"),
        (np.repeat([3.0, 17.0], N // 2), "x = 17"),
        (np.repeat([0.5, 0.25], N // 2), "x = 0.25"),
        (np.repeat([9007199254740990.0, 9007199254740991.0], N // 2), "x = 9007199254740991"),
        (np.repeat(DAYS[:2], N // 2), "x = 2024-01-02"),
    ],
)
def test_numbers_and_dates_as_labels(tmp_path, capsys, values, name):
    path = write(tmp_path / "a.parquet", pyarrow.array(values))
    assert result(capsys, path, *ONE, "--by", "x:label")[0]["where"]["name"] == name


def test_missing_times_are_told_by_the_name_of_their_column(tmp_path, capsys):
    moments = [None, *(datetime.datetime.combine(day, datetime.time(5)) for day in DAYS[1:])]
    path = write(tmp_path / "a.parquet", pyarrow.array(moments, pyarrow.timestamp("us", "UTC")))
    assert "row 1, column 'x': the value is missing." in refusal(capsys, path, *BY_X)


def test_names_with_points_are_no_paths(tmp_path, capsys):
    """The column a.b, and the part b of a column a."""
    columns = {**forecasts(), "a": [{"b": 1.0}] * N, "a.b": forecasts()["u"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    expected, _ = result(capsys, tmp_path / "a.parquet", *ONE)
    assert result(capsys, tmp_path / "a.parquet", *target("a.b"))[0]["pvalue"] == expected["pvalue"]


def test_rows_that_do_not_fit_into_memory(tmp_path, capsys, monkeypatch):
    """A few bytes stand for any number of equal values: on a machine with less memory than they take."""
    zeros = np.zeros(10**6)
    parquet.write_table(pyarrow.table(dict.fromkeys(forecasts(), zeros)), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 20_000
    monkeypatch.setattr("scorecal.cli.read_parquet.memory_for_data", lambda: 3.1e7)
    assert "the data would take 0.0 GB" in refusal(capsys, tmp_path / "a.parquet", *ONE)


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")
def test_equal_labels_take_the_memory_of_one(tmp_path):
    """240 MB of text in 40 kB, where a column is too wide for what it says: refused for its negative spread."""
    columns = {**forecasts(), "su": -np.ones(N), "x": ["a" * 10**6, "b" * 10**6] * (N // 2)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    error, memory = refusal_and_memory(tmp_path / "a.parquet", *BY_X)
    assert "a standard deviation must be positive" in error
    assert memory < 2.5e8
