"""The wheel and the source archive: what is in them, that they install and work, and where their links lead."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
HOST = "https://github.com/scorecal/scorecal"
IN_REPOSITORY = re.compile(
    rf"(?:{HOST}/(?:blob|tree|raw)|https://raw\.githubusercontent\.com/scorecal/scorecal)/([^/]+)/([^#?]+)"
)
SMOKE = """
import sys
from pathlib import Path

import numpy as np

import scorecal as sc

folder, version = sys.argv[1:]
assert Path(sc.__file__).is_relative_to(folder), sc.__file__
assert sc.__version__ == version, sc.__version__
rng = np.random.default_rng(0)
mean = rng.normal(size=(50, 2))
y = mean + rng.normal(size=(50, 2))
assert not sc.calibration_test(sc.Gaussian(mean, 1.0), y, rng=1).rejects()
assert sc.calibration_test(sc.Gaussian(mean + 2.0, 1.0), y, rng=1).rejects()
"""


def run(*command, **environment):
    """What a program prints; that is also shown if it fails."""
    done = subprocess.run(
        [*map(str, command)], env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def build(*arguments):
    run(sys.executable, "-m", "build", "--no-isolation", *arguments)


@dataclass(frozen=True)
class Archives:
    source: Path
    wheels: dict[str, Path]

    def files(self, wheel):
        with ZipFile(self.wheels[wheel]) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    @property
    def metadata(self) -> EmailMessage:
        metadata = self.files("from the tree")[f"scorecal-{VERSION}.dist-info/METADATA"]
        return message_from_bytes(metadata, policy=policy.default)


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Built without network: what builds them is in the group `test`."""
    folder = tmp_path_factory.mktemp("archives")
    build("--outdir", folder / "both", ROOT)  # this makes the wheel from the source archive
    build("--wheel", "--outdir", folder / "tree", ROOT)
    wheel = f"scorecal-{VERSION}-py3-none-any.whl"
    wheels = {"from the tree": folder / "tree" / wheel, "from the source archive": folder / "both" / wheel}
    return Archives(folder / "both" / f"scorecal-{VERSION}.tar.gz", wheels)


@pytest.mark.parametrize("wheel", ["from the tree", "from the source archive"])
def test_a_wheel_installs_and_works(archives, wheel, tmp_path):
    """Beside the packages of this environment, in a folder that goes before it."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    run(*pip, "install", "--no-deps", "--no-index", "--target", tmp_path, archives.wheels[wheel])
    run(sys.executable, "-c", SMOKE, tmp_path, VERSION, PYTHONPATH=str(tmp_path))
    script = tmp_path / "bin" / "scorecal"
    assert run(script, "--version", PYTHONPATH=str(tmp_path)) == f"scorecal {VERSION}\n"


def test_both_ways_lead_to_the_same_wheel(archives):
    assert archives.files("from the tree") == archives.files("from the source archive")


def test_the_wheel_holds_the_package_and_nothing_else(archives):
    about = f"scorecal-{VERSION}.dist-info"
    found = set(archives.files("from the tree"))
    assert {"scorecal/py.typed", "scorecal/data/seattle_weather.csv", f"{about}/licenses/LICENSE"} <= found
    assert {name.partition("/")[0] for name in found} == {"scorecal", about}
    kept = {path for path in (ROOT / "src" / "scorecal").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {name for name in found if name.startswith("scorecal/")} == {
        path.relative_to(ROOT / "src").as_posix() for path in kept
    }


def test_the_source_archive_holds_what_tests_and_pages_need(archives):
    with tarfile.open(archives.source) as archive:
        members = {member.name.partition("/")[2]: member.size for member in archive.getmembers()}
    needed = {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "Makefile",
        "SECURITY.md",
        "docs/conf.py",
        "tests/test_package.py",
    }
    assert needed <= members.keys()
    assert not [name for name in members if name.startswith((".venv", ".git/", "dist", "docs/_build"))]
    assert [name for name, size in members.items() if size > 1e6] == []


def links(text):
    """Of Markdown outside code, of references and of HTML."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    inline = re.findall(r"\]\(\s*<?([^\s)>]+)", text)
    references = re.findall(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)", text, re.MULTILINE)
    html = re.findall(r"\b(?:href|src)\s*=\s*[\"']?([^\s\"'>]+)", text)
    return inline + references + html


def test_links_are_found_wherever_they_are():
    text = "[a](b.md#c) `[x](no)`\n```\n[x](no)\n```\n[![d](e.png)](<f>)\n\n[g]: h\n<img width=3 src='i.png'>"
    assert links(text) == ["b.md#c", "e.png", "f", "h", "i.png"]


def test_links_on_a_package_index_work(archives):
    """README.md has relative ones, for a clone; a page elsewhere needs whole addresses, of files that are there."""
    readme = links((ROOT / "README.md").read_text(encoding="utf-8"))
    described = links(archives.metadata.get_payload())
    assert archives.metadata["Description-Content-Type"] == "text/markdown"
    assert len(described) == len(readme) > 10
    assert [link for link in described if not link.startswith("https://")] == []
    for before, after in zip(readme, described, strict=True):
        inside = IN_REPOSITORY.match(after)
        assert inside is None or (ROOT / inside[2]).exists(), after
        if ":" in before:
            assert after == before
        else:
            assert inside[1] == f"v{VERSION}", after
            assert ("//raw." in after) == (Path(inside[2]).suffix in {".gif", ".jpg", ".png", ".svg"}), after


def test_addresses_of_the_project_lead_to_files(archives):
    found = dict(each.split(", ", 1) for each in archives.metadata.get_all("Project-URL"))
    assert found == PROJECT["urls"]
    assert {"Homepage", "Source", "Issues", "Changelog", "Documentation"} <= found.keys()
    for address in found.values():
        assert address.startswith(HOST)
        inside = IN_REPOSITORY.match(address)
        assert inside is None or (ROOT / inside[2]).is_file(), address


def test_citation_names_this_version():
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
