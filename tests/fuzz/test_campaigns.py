"""A short run of each campaign, and every finding of longer ones."""

import json
import os
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import strategies as st

from .campaign import FINDINGS, Campaign, Finding, explore
from .files import FILES
from .invariances import INVARIANCES
from .kills import KILLS
from .reference import REFERENCE
from .runner import run

CAMPAIGNS = {campaign.name: campaign for campaign in (REFERENCE, INVARIANCES, FILES, KILLS)}
FOUND = sorted(FINDINGS.glob("*.json"))
needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="long double has no more digits than float64 on this machine"
)
needs_linux = pytest.mark.skipif(find_spec("resource") is None, reason="memory can be limited on Unix only")
_NEEDS = {"reference": needs_long_double, "files": needs_linux}


@pytest.mark.parametrize("name", [pytest.param(name, marks=_NEEDS.get(name, ())) for name in CAMPAIGNS])
def test_short_campaign(name):
    tried, found = explore(CAMPAIGNS[name], 0)
    assert found is None, f"{found.error}\n{json.dumps(found.case)}"
    assert tried >= CAMPAIGNS[name].quick


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_findings_do_not_return(path):
    finding = json.loads(path.read_text(encoding="utf-8"))
    CAMPAIGNS[finding["campaign"]].check(finding["case"])


def test_a_campaign_minimises_and_keeps_what_it_finds(tmp_path):
    def check(case):
        assert case["k"] < 1000, "too large"

    campaign = Campaign("numbers", st.fixed_dictionaries({"k": st.integers(0, 10**6)}), check, quick=200)
    tried, found = explore(campaign, 1)
    assert found == Finding("numbers", {"k": 1000}, "AssertionError: too large\nassert 1000 < 1000")
    assert json.loads(found.save(tmp_path).read_text())["case"] == {"k": 1000}
    assert tried > 1
    assert explore(campaign, 1) == (tried, found)  # the same seed, the same cases


CRASH = Campaign("crash", st.just({"k": 1}), lambda case: os._exit(7), quick=1)


def test_a_case_that_ends_the_process_is_a_finding():
    assert run(__name__, "CRASH", 0, 60.0) == (1, Finding("crash", {"k": 1}, "the process ended with 7"))
