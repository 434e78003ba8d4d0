"""Advice to install names what works: a clone, and extras that exist."""

import re
import tomllib
from pathlib import Path

from scorecal._lib.extras import needs

ROOT = Path(__file__).parents[2]
SOURCES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}


def test_advice_works_in_a_clone():
    assert str(needs("Pictures need matplotlib", "plot")) == (
        'Pictures need matplotlib: run pip install ".[plot]" in a clone of scorecal.'
    )


def test_extras_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r'needs\("[^"]*", "(\w+)"\)', "".join(SOURCES.values()))
    assert len(named) >= 12
    assert set(named) <= set(extras)


def test_advice_is_written_once():
    assert [path.name for path, text in SOURCES.items() if "pip install" in text] == ["extras.py"]
