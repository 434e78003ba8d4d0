"""What `import scorecal` brings: public names and nothing heavy."""

import json
import subprocess
import sys

import scorecal as sc

HEAVY = (
    *("dask", "distributed", "jax", "joblib", "matplotlib", "numpyro", "pandas", "pyarrow", "sbi", "scipy.stats"),
    *("scorecal.cli", "scorecal.experiments", "scorecal.plots", "scorecal.report", "sqlite3", "torch", "tqdm"),
)


def in_a_new_process(code):
    return json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)


def test_nothing_heavy_is_loaded():
    loaded = in_a_new_process("import json, sys, scorecal; print(json.dumps(sorted(sys.modules)))")
    assert "scorecal.kernels" in loaded
    assert not set(HEAVY) & set(loaded)


def test_lazy_modules_are_attributes():
    code = "import json, scorecal as sc; print(json.dumps([sc.experiments.mgm.__name__, sc.plots.plot_null.__name__]))"
    assert in_a_new_process(code) == ["mgm", "plot_null"]


def test_no_helper_names_leak():
    code = (
        "import json, types, scorecal as sc;"
        "print(json.dumps([n for n, v in vars(sc).items() if n[0] != '_' and not isinstance(v, types.ModuleType)]))"
    )
    assert set(in_a_new_process(code)) <= set(sc.__all__)
    assert set(sc.__all__) <= set(dir(sc))
    for name in sc.__all__:
        assert getattr(sc, name) is not None


def test_kernels_lists_its_names():
    assert dir(sc.kernels) == sorted(sc.kernels.__all__)
    assert sc.kernels.Linear.__name__ == "Linear"
