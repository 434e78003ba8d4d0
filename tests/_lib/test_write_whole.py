"""Files are written whole or not at all, whatever happens on the way."""

import os
import random
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from disks import small_disk
from processes import wait_until

from scorecal._lib.files import check_writable, write_whole

OLD, NEW = b"old\n", b"new\n" * 1000


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "report.html"
    path.write_bytes(OLD)
    return path


@pytest.mark.parametrize("content", ["née\n", b"\x89PNG\r\n"])
def test_a_new_file(tmp_path, content):
    write_whole(tmp_path / "a", content)
    assert (tmp_path / "a").read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert names(tmp_path) == ["a"]


def test_who_has_the_old_file_open_reads_the_old_one_to_its_end(old):
    with old.open("rb") as file:
        write_whole(old, NEW)
        assert file.read() == OLD
    assert old.read_bytes() == NEW


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_permissions_of_the_old_file_stay(old, mode):
    old.chmod(mode)
    write_whole(old, NEW)
    assert stat.S_IMODE(old.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(old):
    os.chown(old, 1234, 4321)
    write_whole(old, NEW)
    assert (old.stat().st_uid, old.stat().st_gid) == (1234, 4321)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target"
    (tmp_path / "link").symlink_to("far/target")
    for content in (OLD, NEW):  # at first the link leads nowhere
        write_whole(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert target.read_bytes() == content
    assert names(tmp_path / "far") == ["target"]


def test_the_longest_name_a_file_can_have(tmp_path):
    for name in ("x" * 255, "é" * 127):
        write_whole(tmp_path / name, NEW)
        assert (tmp_path / name).read_bytes() == NEW
    with pytest.raises(OSError, match="cannot be written: File name too long"):
        check_writable(tmp_path / ("x" * 256))


def test_a_full_disk_leaves_the_old_file(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        write_whole(disk / "report.html", OLD)
        with pytest.raises(OSError, match=r"report.html cannot be written: No space left on device\. The file that"):
            write_whole(disk / "report.html", bytes(1 << 20))
        assert names(disk) == ["report.html"]
        assert (disk / "report.html").read_bytes() == OLD


def test_a_limit_on_the_size_of_files_leaves_the_old_file(old):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(old, NEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert names(old.parent) == ["report.html"]
    assert old.read_bytes() == OLD


# A process of root's may do all, and gives up its rights; what it imports may lie where others may not look.
WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from scorecal._lib.files import check_writable, write_whole
if os.geteuid() == 0:
    os.setuid(65534)
for function in (check_writable, lambda path: write_whole(path, "new")):
    try:
        function(Path(sys.argv[1]))
    except OSError as error:
        print(error)
"""


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_is_read_only_is_refused_early_and_late(old, what):
    for folder in old.parents[: -len(Path(tempfile.gettempdir()).parts)]:  # pytest's: others may not look into them
        folder.chmod(0o755)
    old.parent.chmod(0o555 if what == "folder" else 0o777)
    old.chmod(0o666 if what == "folder" else 0o444)
    reason = "Permission denied" if what == "folder" else "it is read-only"
    command = [sys.executable, "-c", WITHOUT_RIGHTS, old]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == 2 * [f"{old} cannot be written: {reason}. The file that was there is unchanged."]
    assert old.read_bytes() == OLD
    old.parent.chmod(0o755)
    assert names(old.parent) == ["report.html"]


def test_paths_that_cannot_be_finished_are_refused_early(tmp_path):
    for path, words in (
        (tmp_path, "cannot be written: it is a folder."),
        (tmp_path / "no" / "a", f"cannot be written: there is no folder {tmp_path / 'no'}."),
        (tmp_path / "file" / "a", "cannot be written: there is no folder"),
    ):
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match="cannot be written") as caught:
            check_writable(path)
        assert words in str(caught.value)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="cannot be written"):
        check_writable(loop)


def test_an_early_check_leaves_nothing_behind(old):
    check_writable(old)
    check_writable(old.with_name("other"))
    assert names(old.parent) == ["report.html"]
    assert old.read_bytes() == OLD


def test_devices_and_pipes_are_written_to_directly(tmp_path):
    write_whole(Path(os.devnull), NEW)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_whole(tmp_path / "pipe", NEW)
    reader.join(60)
    assert found == [NEW]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("path", ["/dev/stdout", "out"])
def test_what_was_printed_stays_where_output_goes_to_the_same_file(tmp_path, path):
    code = "from pathlib import Path; from scorecal._lib.files import write_whole; print('verdict', flush=True);"
    code += f"write_whole(Path({path!r}), 'report'); print('end')"
    with (tmp_path / "out").open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_text() == "verdict\nreportend\n"


def test_two_at_once_both_write_whole_files(tmp_path):
    """And neither takes the unfinished file of the other for one that was left behind."""
    path, contents = tmp_path / "a", [bytes([k]) * 200_000 for k in range(4)]
    failures = []

    def write(content):
        try:
            for _ in range(50):
                write_whole(path, content)
                assert path.read_bytes() in contents
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert names(tmp_path) == ["a"]


# Writes two contents in turn, again and again, so that a signal hits it while it writes.
WRITER = """
import signal, sys
from pathlib import Path
from scorecal._lib.files import write_whole
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told its background jobs to ignore it
path, size = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
while True:
    for letter in b"ab":
        write_whole(path, bytes([letter]) * size)
"""


def interrupted(path, how, rng, size=3_000_000):
    """Run the writer, send a signal at a random moment, and return what it left beside the file."""
    command = [sys.executable, "-c", WRITER, path, str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            process.stdout.readline()
            wait_until(lambda: path.exists() and path.read_bytes()[:1] in (b"a", b"b"))
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(rng.random() * 0.05)
            process.send_signal(how)
            process.wait(60)
        finally:
            process.kill()
    found = path.read_bytes()
    assert found in (b"a" * size, b"b" * size)
    return [name for name in names(path.parent) if name != path.name]


@pytest.mark.parametrize("moments", [3, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_at_random_moments(tmp_path, how, moments):
    rng, left = random.Random(0), []
    for _ in range(moments):
        left += interrupted(tmp_path / "a", how, rng)
    if how == signal.SIGINT:
        assert not left
    assert all(name.startswith(".a.") and name.endswith(".unfinished") for name in left)
    write_whole(tmp_path / "a", NEW)  # and the next run tidies up
    assert names(tmp_path) == ["a"]


def test_what_a_killed_run_left_is_removed_by_the_next(old):
    left = old.with_name(".report.html.0123456789ab.unfinished")
    left.write_bytes(b"ne")
    write_whole(old, NEW)
    assert names(old.parent) == ["report.html"]
    other = old.with_name(".other.html.0123456789ab.unfinished")  # is not ours to remove
    other.write_bytes(b"ne")
    write_whole(old, NEW)
    assert names(old.parent) == [other.name, "report.html"]


def test_errors_keep_their_cause(tmp_path):
    with pytest.raises(OSError, match="there is no folder") as caught:
        write_whole(tmp_path / "no" / "a", NEW)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
