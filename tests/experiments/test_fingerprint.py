"""Fingerprints: what counts as a change, what does not, and that they are the same in every process."""

import ast
import importlib
import json
import os
import random
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import CodeType

import numpy as np
import pytest
import torch
from scipy.stats import norm

import scorecal as sc
from scorecal.experiments import KCCSD, SKCE, Model, Test, lgm
from scorecal.experiments.sweep.bytecode import instructions
from scorecal.experiments.sweep.fingerprint import fingerprint

SOURCES = sorted((Path(sc.__file__).parent).rglob("*.py"))


def of_source(source):
    """Fingerprint of what is called `test` in a script."""
    script = {"__name__": "script"}
    exec(source, script)
    return fingerprint(Test("a name", script["test"]))


def difference(one, other):
    return {part for part in one.keys() | other.keys() if one.get(part) != other.get(part)}


SAME = {
    "a comment": ("def test(p, y, rng):\n return 0.5", "# why\ndef test(p, y, rng):\n return 0.5  # half"),
    "a docstring": ("def test(p, y, rng):\n return 0.5", "def test(p, y, rng):\n '''Half.'''\n return 0.5"),
    "layout": (
        "def test(p, y, rng):\n return max(p if y else rng, 3)",
        "def test(\n p,\n y,\n rng,\n):\n\n return max(\n  (\n   p\n   if y\n   else rng\n  ),\n  3,\n )",
    ),
    "annotations": ("def test(p, y, rng):\n return 1", "def test(p, y: 'Array', rng: object) -> float:\n return 1"),
    "order of a set": ("test = lambda p, y, rng: p in {'a', 'b'}", "test = lambda p, y, rng: p in {'b', 'a'}"),
    "a global that is not used": ("N = 1\ntest = lambda p, y, rng: p.N", "N = 2\ntest = lambda p, y, rng: p.N"),
    "a local of the same name": (
        "N = 1\ndef test(p, y, rng):\n N = p\n return lambda: N",
        "N = 2\ndef test(p, y, rng):\n N = p\n return lambda: N",
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_what_does_not_count(what):
    one, other = map(of_source, SAME[what])
    assert difference(one, other) == set()


CHANGED = {
    "a constant": ("test = lambda p, y, rng: 1", "test = lambda p, y, rng: 2", {"<lambda>()"}),
    "its type": ("test = lambda p, y, rng: 1", "test = lambda p, y, rng: 1.0", {"<lambda>()"}),
    "an attribute": ("test = lambda p, y, rng: p.mean", "test = lambda p, y, rng: p.scale", {"<lambda>()"}),
    "an operator": ("test = lambda p, y, rng: y < 1", "test = lambda p, y, rng: y <= 1", {"<lambda>()"}),
    "a member of a set": (
        "test = lambda p, y, rng: p in {1, 2}",
        "test = lambda p, y, rng: p in {1, 3}",
        {"<lambda>()"},
    ),
    "the order of arguments": ("test = lambda p, y, rng: p", "test = lambda y, p, rng: p", {"<lambda>()"}),
    "a default": ("test = lambda p, y, rng, k=1: k", "test = lambda p, y, rng, k=2: k", {"<lambda>()"}),
    "a named default": ("test = lambda p, y, rng, *, k=1: k", "test = lambda p, y, rng, *, k=2: k", {"<lambda>()"}),
    "a function inside": (
        "def test(p, y, rng):\n def inner(): return 1\n return inner()",
        "def test(p, y, rng):\n def inner(): return 2\n return inner()",
        {"test()"},
    ),
    "what is tried": (
        "def test(p, y, rng):\n try: p()\n except ValueError: pass\n else: y()",
        "def test(p, y, rng):\n try:\n  p()\n  y()\n except ValueError: pass",
        {"test()"},
    ),
    "a global": ("N = 1\ntest = lambda p, y, rng: N", "N = 2\ntest = lambda p, y, rng: N", {"N"}),
    "a list": ("N = [1, [2]]\ntest = lambda p, y, rng: N", "N = [1, [3]]\ntest = lambda p, y, rng: N", {"N"}),
    "a dictionary": ("N = {1: 2}\ntest = lambda p, y, rng: N", "N = {1: 3}\ntest = lambda p, y, rng: N", {"N"}),
    "a set": ("N = {'a', 'b'}\ntest = lambda p, y, rng: N", "N = {'a', 'c'}\ntest = lambda p, y, rng: N", {"N"}),
    "an array": (
        "import numpy as np\nA = np.arange(9.0)\ntest = lambda p, y, rng: A",
        "import numpy as np\nA = np.arange(9.0)\nA[5] += 1e-9\ntest = lambda p, y, rng: A",
        {"A"},
    ),
    "what a module stands for": (
        "import math as m\ntest = lambda p, y, rng: m.sqrt(y)",
        "import cmath as m\ntest = lambda p, y, rng: m.sqrt(y)",
        {"m"},
    ),
    "a function of a library": (
        "from math import sqrt as f\ntest = lambda p, y, rng: f(y)",
        "from math import exp as f\ntest = lambda p, y, rng: f(y)",
        {"f"},
    ),
    "an enclosing variable": (
        "def make(k):\n return lambda p, y, rng: k\ntest = make(1)",
        "def make(k):\n return lambda p, y, rng: k\ntest = make(2)",
        {"k"},
    ),
    "an argument of a partial": (
        "from functools import partial\ntest = partial(lambda p, y, rng, k: k, k=1)",
        "from functools import partial\ntest = partial(lambda p, y, rng, k: k, k=2)",
        {"function"},
    ),
    "an argument of a partial that looks like its function": (
        "from functools import *\ndef f(p, y, rng, k): 0\ntest = update_wrapper(partial(f, k=1), f)",
        "from functools import *\ndef f(p, y, rng, k): 0\ntest = update_wrapper(partial(f, k=2), f)",
        {"function"},
    ),
    "a function that is called": (
        "def helper(): return 1\ndef test(p, y, rng): return helper()",
        "def helper(): return 2\ndef test(p, y, rng): return helper()",
        {"helper()"},
    ),
    "a function that this one calls, in a comprehension": (
        "def deep(): return 1\ndef helper(): return deep()\ndef test(p, y, rng): return [helper() for _ in y]",
        "def deep(): return 2\ndef helper(): return deep()\ndef test(p, y, rng): return [helper() for _ in y]",
        {"deep()"},
    ),
    "one of two functions of the same name": (
        "a, b = (lambda: 1), (lambda: 2)\ntest = lambda p, y, rng: a() + b()",
        "a, b = (lambda: 1), (lambda: 3)\ntest = lambda p, y, rng: a() + b()",
        {"<lambda>() 3"},
    ),
    "functions that call each other": (
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\ntest = even",
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 1 and even(n - 1)\ntest = even",
        {"odd()"},
    ),
    "a decorated function": (
        "from functools import cache\n@cache\ndef f(): return 1\ntest = lambda p, y, rng: f()",
        "from functools import cache\n@cache\ndef f(): return 2\ntest = lambda p, y, rng: f()",
        {"f()"},
    ),
    "a method": (
        "class A:\n def __call__(self, p, y, rng): return self.b()\n def b(self): return 1\ntest = A()",
        "class A:\n def __call__(self, p, y, rng): return self.b()\n def b(self): return 2\ntest = A()",
        {"b()"},
    ),
    "a property, and a method without self": (
        "class A:\n @property\n def b(self): return 1\n @staticmethod\n def c(): return 1\ntest = lambda p, y, rng: A",
        "class A:\n @property\n def b(self): return 2\n @staticmethod\n def c(): return 2\ntest = lambda p, y, rng: A",
        {"b()", "c()"},
    ),
    "a method of a base class": (
        "class A:\n def b(self): return 1\nclass B(A): pass\ntest = lambda p, y, rng: B().b()",
        "class A:\n def b(self): return 2\nclass B(A): pass\ntest = lambda p, y, rng: B().b()",
        {"b()"},
    ),
    "an attribute of an object": (
        "class A:\n def __init__(self, k): self.k = k\na = A(1)\ntest = lambda p, y, rng: a.k",
        "class A:\n def __init__(self, k): self.k = k\na = A(2)\ntest = lambda p, y, rng: a.k",
        {"a"},
    ),
    "the object of a method": (
        "class A:\n def __init__(self, k): self.k = k\n def f(self, p, y, rng): return self.k\ntest = A(1).f",
        "class A:\n def __init__(self, k): self.k = k\n def f(self, p, y, rng): return self.k\ntest = A(2).f",
        {"function"},
    ),
    "an object that holds itself": (
        "a = [1]\na.append(a)\ntest = lambda p, y, rng: a",
        "a = [2]\na.append(a)\ntest = lambda p, y, rng: a",
        {"a"},
    ),
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_counts(what):
    before, after, parts = CHANGED[what]
    assert difference(of_source(before), of_source(before)) == set()
    assert difference(of_source(before), of_source(after)) == parts


def functions_in(code):
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from functions_in(constant)


def test_layout_and_comments_never_count_in_our_own_code():
    """Every function of scorecal, as it is written and as Python would write it."""
    compared = 0
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        written, rewritten = (compile(text, path.name, "exec") for text in (source, ast.unparse(ast.parse(source))))
        for one, other in zip(functions_in(written), functions_in(rewritten), strict=True):
            assert instructions(one) == instructions(other), f"{path}: {one.co_name}"
            compared += 1
    assert compared > 900


SCRIPT = """
import json, sys
from dataclasses import dataclass
from functools import lru_cache, partial
import numpy as np
from scipy.stats import norm
from scorecal.experiments import Test
from scorecal.experiments.sweep.fingerprint import fingerprint

NAMES, LEVELS = {"one", "two", "three", "four"}, np.linspace(0.0, 1.0, 5)

@lru_cache
def remembered(name):
    return name in {"five", "six", "seven"}

@dataclass(frozen=True)
class Ranks:
    levels: tuple = (0.1, 0.5)

    @property
    def highest(self):
        return max(self.levels)

    def __call__(self, predictions, y, rng):
        return self.highest

RANKS = Ranks()

def test(predictions, y, rng, names=frozenset({"a", "b", "c"})):
    return norm.cdf(y), NAMES, LEVELS, remembered("five"), RANKS(predictions, y, rng), object, names

def found():
    return [fingerprint(Test("a name", each)) for each in (test, RANKS, partial(test, names={"x", "y"}))]

def in_a_worker():
    import joblib
    return joblib.Parallel(2)(joblib.delayed(fingerprint)(Test("a name", each)) for each in (RANKS, RANKS.__call__))

if __name__ == "__main__":
    json.dump([found(), in_a_worker() if "worker" in sys.argv else []], sys.stdout)
"""


def test_every_process_finds_the_same(tmp_path, monkeypatch):
    """Whatever the seed of Python's hashes, in a script or in a module, and in a worker that was sent the function."""
    (tmp_path / "script_of_fingerprints.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(tmp_path)
    imported = importlib.import_module("script_of_fingerprints")
    here = [imported.found(), [fingerprint(Test("a name", each)) for each in (imported.RANKS, imported.RANKS.__call__)]]
    assert len(here[0][0]) > 8
    for seed, where in (("1", "worker"), ("2", "here")):
        command = [sys.executable, tmp_path / "script_of_fingerprints.py", where]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=True)
        there = json.loads(run.stdout)
        assert there[0] == here[0]
        if where == "worker":
            assert there[1] == here[1]


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A study with a helper in files of one's own, and two packages that are installed."""
    installed = tmp_path / "site-packages"
    for package in ("installed_study_of_ours", "installed_library_of_others"):
        (installed / package).mkdir(parents=True)
        (installed / package / "__init__.py").write_text("")
        (installed / package / "helper.py").write_text("def ranks(y):\n    return 1\n")
    (installed / "installed_study_of_ours" / "tests.py").write_text(
        "import installed_library_of_others.helper\nfrom . import helper\n"
        "def test(p, y, rng):\n    return helper.ranks(y), installed_library_of_others.helper.ranks(y)\n"
    )
    (tmp_path / "own_helper.py").write_text("def ranks(y):\n    return 1\n")
    (tmp_path / "own_study.py").write_text(
        "import own_helper\nimport installed_library_of_others.helper as other\n"
        "def test(p, y, rng):\n    return own_helper.ranks(y), other.ranks(y)\n"
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(installed)

    def load(module):
        for name in [name for name in sys.modules if name.startswith(("own_", "installed_"))]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        return fingerprint(Test("a name", importlib.import_module(module).test))

    return tmp_path, load


@pytest.mark.parametrize(
    ("module", "changed", "parts"),
    [
        ("own_study", "own_helper.py", {"ranks()"}),
        ("own_study", "site-packages/installed_library_of_others/helper.py", set()),
        ("installed_study_of_ours.tests", "site-packages/installed_study_of_ours/helper.py", {"ranks()"}),
        ("installed_study_of_ours.tests", "site-packages/installed_library_of_others/helper.py", set()),
    ],
)
def test_which_modules_are_followed(packages, module, changed, parts):
    folder, load = packages
    before = load(module)
    (folder / changed).write_text("def ranks(y):\n    return 2\n")
    assert difference(before, load(module)) == parts


def test_what_runs_counts_and_not_what_the_file_says_by_now(packages):
    folder, load = packages
    before = load("own_study")
    (folder / "own_helper.py").write_text("def ranks(y):\n    return 2\n")
    assert fingerprint(Test("a name", sys.modules["own_study"].test)) == before


def test_what_happens_to_random_numbers_does_not_count():
    generator, old, python = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
    test = Test("a name", lambda p, y, rng: (generator, old, python, norm))
    before = fingerprint(test)
    for each in (generator.random, old.random, python.random, norm.rvs):
        each()
    assert fingerprint(test) == before


@pytest.mark.parametrize(
    "make", [torch.asarray, lambda values: torch.asarray(values, dtype=torch.bfloat16).to_sparse()]
)
def test_weights_of_a_network_count(make):
    network = torch.nn.Linear(2, 1, dtype=torch.bfloat16)
    values = make([[1.0, 2.0]])
    test = Test("a name", lambda p, y, rng: (network(y), values))
    before = fingerprint(test)
    assert fingerprint(test) == before
    network.weight.data += 1.0
    assert difference(fingerprint(test), before) == {"network"}
    values.mul_(2.0)
    assert difference(fingerprint(test), before) == {"network", "values"}


def test_what_has_no_value_is_known_by_its_type():
    first, second = (Test("a name", partial(lambda p, y, rng, lock: 0.5, lock=threading.Lock())) for _ in range(2))
    assert fingerprint(first) == fingerprint(second)


def test_kernels_are_known_by_their_values():
    def of(**fields):
        return fingerprint(KCCSD("a name", **fields))

    plain = of(distribution_kernel=sc.kernels.GFD())
    assert of(distribution_kernel=sc.kernels.GFD(), target_kernel=sc.kernels.Gaussian()) == plain
    assert difference(of(distribution_kernel=sc.kernels.GFD(n_base=3)), plain) == {"distribution_kernel"}
    assert difference(of(distribution_kernel=sc.kernels.KGFD()), plain) == {"distribution_kernel"}
    imq = of(distribution_kernel=sc.kernels.GFD(), target_kernel=sc.kernels.IMQ())
    assert difference(imq, plain) == {"target_kernel"}
    bases = [of(distribution_kernel=sc.kernels.GFD(base=np.asarray([[value]]))) for value in (0.0, 0.0, 1.0)]
    assert bases[0] == bases[1] != bases[2]
    chains = [fingerprint(SKCE("a name", sc.kernels.MMD(), sampler=sc.MALA(step_size=size))) for size in (0.1, 0.2)]
    assert difference(*chains) == {"sampler"}


def test_our_own_functions_depend_on_no_version_of_python():
    """They are known by name, beside the version of scorecal: a study of the paper goes on with another Python."""
    assert set(fingerprint(Model("a name", partial(lgm, delta=0.0)))) == {"draw"}
    assert "Python" in fingerprint(Model("a name", lambda n, rng: lgm(n, 0.0, rng)))
