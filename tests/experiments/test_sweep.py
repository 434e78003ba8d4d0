"""The sweep: what it computes, that it depends on nothing but its coordinates, and what it says of bad input."""

import multiprocessing
import sqlite3
from contextlib import closing
from functools import partial

import numpy as np
import pytest

import scorecal as sc
from scorecal._lib.cores import cpu_count
from scorecal.experiments import KCCSD, SKCE, Cell, Model, Test, grid, hgm, lgm, sweep
from scorecal.experiments.sweep.damage import StoreError
from scorecal.experiments.sweep.dataset import draw_data_set
from scorecal.experiments.sweep.procedures import pvalues
from scorecal.experiments.sweep.store import open_store
from scorecal.experiments.sweep.sweep import missing
from scorecal.parallel.threads import one_core
from scorecal.parallel.workers import map_tasks
from scorecal.resampling import u_statistics

HGM = Model("HGM", partial(hgm, delta=1.0))
LGM = Model("LGM", partial(lgm, delta=0.0))
GFD = KCCSD("KCCSD, GFD", sc.kernels.GFD())
DRAWN = Test("drawn", lambda predictions, y, rng: float(rng.random()))
KERNELS = {
    "GFD": sc.kernels.GFD(),
    "KGFD": sc.kernels.KGFD(),
    "MMD": sc.kernels.MMD(),
    "Wasserstein": sc.kernels.Wasserstein(),
}
TARGETS = {"Gaussian": sc.kernels.Gaussian(), "IMQ": sc.kernels.IMQ()}


@pytest.mark.parametrize("n", [33, 400])  # one tile, and several
@pytest.mark.parametrize("target", TARGETS)
def test_kernel_tests_are_those_of_the_library(n, target):
    """All in one pass, with shared parts, against one call of `kccsd_test` and `skce_test` each."""
    data = draw_data_set(HGM, n, 3, seed=0)
    tests = [KCCSD(f"KCCSD {name}", kernel, TARGETS[target]) for name, kernel in KERNELS.items()]
    if target == "Gaussian":
        tests += [SKCE(f"SKCE {name}", kernel) for name, kernel in KERNELS.items()]
    found = pvalues(tests, data, 200)
    for test in tests:
        public = sc.kccsd_test if isinstance(test, KCCSD) else sc.skce_test
        kernels = {"distribution_kernel": test.distribution_kernel, "target_kernel": test.target_kernel}
        alone = public(data.predictions, data.targets, n_resamples=200, rng=data.rng("signs"), **kernels)
        assert found[test.name] == alone.pvalue


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sampler", [None, sc.MALA(step_size=0.5, n_warmup=10, n_thin=1, adapt=False)])
def test_sampled_expectations_are_those_of_the_library(target, sampler):
    data = draw_data_set(HGM, 40, 0, seed=0)
    test = SKCE("SKCE", sc.kernels.Wasserstein(), TARGETS[target], n_samples=3, sampler=sampler)
    value = u_statistics([test.pairs(data)], data.targets).statistic[0]
    expected = sc.skce(
        data.predictions,
        data.targets,
        distribution_kernel=sc.kernels.Wasserstein(),
        target_kernel=TARGETS[target],
        n_samples=3,
        sampler=sampler,
        rng=data.rng("expectations"),
    )
    np.testing.assert_allclose(value, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "kernel", [sc.kernels.GFD(n_base=10), sc.kernels.KGFD(n_base=10), sc.kernels.MMD(n_samples=10)]
)
def test_sampled_kernels_are_those_of_the_library(kernel):
    data = draw_data_set(HGM, 40, 0, seed=0)
    value = u_statistics([KCCSD("KCCSD", kernel).pairs(data)], data.targets).statistic[0]
    expected = sc.kccsd(data.predictions, data.targets, distribution_kernel=kernel, rng=data.rng("kernel"))
    np.testing.assert_allclose(value, expected, rtol=1e-10)


def test_chains_that_have_not_mixed_are_no_cause_for_a_warning():
    data = draw_data_set(LGM, 100, 0, seed=0)
    sampler = sc.MALA(step_size=0.01, n_warmup=0, n_thin=1, adapt=False)
    test = SKCE("SKCE", sc.kernels.MMD(), n_samples=2, sampler=sampler)
    assert pvalues([test], data, 99)["SKCE"] == 0.01


def test_a_pvalue_depends_on_its_own_coordinates_only(tmp_path):
    tests = [GFD, DRAWN, SKCE("SKCE", sc.kernels.MMD(n_samples=5), n_samples=4)]
    together = sweep(grid([HGM, LGM], tests, [20, 30]), 3, tmp_path / "together.sqlite")
    assert len(set(together.values())) > 20
    for test in tests:
        alone = sweep(grid([LGM], [test], [30]), 2, tmp_path / f"{test.name}.sqlite")
        assert alone == {key: together[key] for key in alone}
    other = sweep([Cell(LGM, 30, DRAWN)], 3, tmp_path / "other.sqlite", seed=1)
    assert all(other[key] != together[key] for key in other)


def test_more_repeats_add_to_what_is_there(tmp_path):
    cells = grid([LGM], [GFD, DRAWN], [20])
    path = tmp_path / "results.sqlite"
    first = sweep(cells[:1], 2, path)
    more = sweep(cells, 4, path)
    assert len(more) == 8
    assert {key: more[key] for key in first} == first
    assert sweep(cells[:1], 1, path) == {("LGM", 20, 0, GFD.name): first["LGM", 20, 0, GFD.name]}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select count(*) from results").fetchone() == (8,)
        assert [n for (n,) in connection.execute("select n_results from runs")] == [2, 6]


def test_a_finished_sweep_does_nothing(tmp_path):
    marks = tmp_path / "marks"

    def marked(n, rng):
        with open(marks, "a") as file:
            file.write("drawn ")
        return lgm(n, 0.0, rng)

    cells = [Cell(Model("marked", marked), 20, GFD)]
    found = sweep(cells, 2, tmp_path / "results.sqlite")
    before = (tmp_path / "results.sqlite").read_bytes()
    assert sweep(cells, 2, tmp_path / "results.sqlite") == found
    assert (tmp_path / "results.sqlite").read_bytes() == before
    assert marks.read_text() == "drawn drawn "


def test_tasks_go_repetition_by_repetition_and_hold_all_tests_of_a_data_set():
    tasks = missing(grid([HGM, LGM], [GFD, DRAWN], [20]), 2, [("LGM", 20, 0, "drawn")])
    assert [(task.model.name, task.repetition, len(task.tests)) for task in tasks] == [
        ("HGM", 0, 2),
        ("LGM", 0, 1),
        ("HGM", 1, 2),
        ("LGM", 1, 2),
    ]


def test_a_model_of_scores_alone_can_be_swept(tmp_path):
    def draw(n, rng):
        mean = rng.standard_normal((n, 1))
        return sc.ScoreFunction(lambda z: mean - z, n, 1), mean[:, 0] + rng.standard_normal(n)

    assert sweep([Cell(Model("scores", draw), 20, GFD)], 2, tmp_path / "results.sqlite")


def test_numbers_of_numpy_are_numbers(tmp_path):
    path = tmp_path / "results.sqlite"
    found = sweep(grid([LGM], [DRAWN], np.asarray([20])), 2, path)
    assert sweep([Cell(LGM, 20, DRAWN)], 2, path) == found


def test_kernels_may_hold_arrays(tmp_path):
    kernels = [sc.kernels.GFD(base=np.zeros((1, 1)) + k) for k in range(2)]
    cells = [Cell(HGM, 20, KCCSD(f"base {k}", kernel)) for k, kernel in enumerate(kernels)]
    found = sweep(cells, 1, tmp_path / "results.sqlite")
    data = draw_data_set(HGM, 20, 0, seed=0)
    for k, kernel in enumerate(kernels):
        alone = sc.kccsd_test(
            data.predictions, data.targets, distribution_kernel=kernel, n_resamples=500, rng=data.rng("signs")
        )
        assert found["HGM", 20, 0, f"base {k}"] == alone.pvalue


def test_models_of_torch_and_of_classes(tmp_path):
    import torch

    def gaussian(n, rng, dtype=torch.float64):
        mean = torch.asarray(rng.normal(size=(n, 1)), dtype=dtype)
        return sc.Gaussian(mean, 1.0), mean + torch.asarray(rng.normal(size=(n, 1)), dtype=dtype)

    def classes(n, rng):
        return sc.Categorical(np.full((n, 2), 0.5)), rng.integers(0, 2, n)

    def shaped(predictions, y, rng):
        """A model on the real line may draw y of shape (n,); its tests see (n, 1)."""
        return float(y.shape == (20, 1))

    flat = Model("flat", lambda n, rng: (sc.Gaussian(np.zeros(n), 1.0), rng.normal(size=n)))
    assert set(sweep([Cell(flat, 20, Test("shaped", shaped))], 1, tmp_path / "flat.sqlite").values()) == {1.0}
    skce = Test("SKCE of classes", lambda predictions, y, rng: sc.skce_test(predictions, y, n_resamples=9, rng=rng))
    cells = [Cell(Model("torch", gaussian), 20, GFD), Cell(Model("classes", classes), 20, skce)]
    assert len(sweep(cells, 2, tmp_path / "results.sqlite")) == 4
    single = Model("single", partial(gaussian, dtype=torch.float32))
    with pytest.raises(TypeError, match="predict classes and have no scores; use `skce_test`"):
        sweep([Cell(Model("classes", classes), 20, GFD)], 1, tmp_path / "results.sqlite")
    with pytest.raises(TypeError, match=r"must return float64 data for kernel tests, not torch\.float32"):
        sweep([Cell(single, 20, GFD)], 1, tmp_path / "results.sqlite")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 0}, "`repeats` must be a positive integer, but is 0"),
        ({"n_resamples": 1.5}, "`n_resamples` must be a positive integer"),
        ({"seed": -1}, "`seed` must be an integer of at least 0"),
        ({"workers": 0}, "`workers` must be a positive integer, -1 or a map-like callable, but is 0"),
        ({"cells": []}, "`cells` must hold `Cell`s, and at least one"),
        ({"cells": [(LGM, 20, GFD)]}, "`cells` must hold `Cell`s"),
        ({"cells": [Cell(LGM, 20, GFD), Cell(Model("LGM", hgm), 20, GFD)]}, "two different models of the same name"),
        (
            {"cells": [Cell(LGM, 20, GFD), Cell(LGM, 30, KCCSD(GFD.name, sc.kernels.KGFD()))]},
            "two different tests of the same name",
        ),
        ({"cells": [Cell(LGM, 20, Test("bad", lambda p, y, rng: float("nan")))]}, "'bad' must return a p-value"),
        ({"cells": [Cell(LGM, 20, Test("bad", lambda p, y, rng: None))]}, "'bad' must return a p-value"),
        ({"cells": [Cell(LGM, 20, Test("bad", lambda p, y, rng: True))]}, "'bad' must return a p-value"),
        (
            {"cells": [Cell(Model("short", lambda n, rng: lgm(7, 0.0, rng)), 20, GFD)]},
            "must return n = 20 predictions, but gave 7",
        ),
    ],
)
def test_bad_input(tmp_path, change, message):
    arguments = {"cells": [Cell(LGM, 20, GFD)], "repeats": 1, "path": tmp_path / "results.sqlite"} | change
    with pytest.raises(ValueError, match=message):
        sweep(**arguments)


@pytest.mark.parametrize("n", [1, 2.5, "20"])
def test_bad_size(n):
    with pytest.raises(ValueError, match="`n` of a `Cell` must be an integer of at least 2"):
        Cell(LGM, n, GFD)


def test_bad_types(tmp_path):
    with pytest.raises(TypeError, match="`model` of a `Cell` must be a `Model"):
        Cell(lgm, 20, GFD)
    with pytest.raises(TypeError, match="`test` of a `Cell` must be a `Test"):
        Cell(LGM, 20, sc.kccsd_test)
    with pytest.raises(TypeError, match=r"`draw` of `Model` 'alone' must return \(predictions, y\)"):
        sweep([Cell(Model("alone", lambda n, rng: rng.normal(size=n)), 20, GFD)], 1, tmp_path / "results.sqlite")
    with pytest.raises(TypeError, match=r"`workers` must be a map that returns results, .* experiments.cluster"):
        sweep([Cell(LGM, 20, GFD)], 1, tmp_path / "results.sqlite", workers=lambda function, tasks: [function] * 2)


def test_an_error_says_where_it_happened_and_loses_nothing(tmp_path):
    def fails(predictions, y, rng):
        raise ZeroDivisionError("of the user")

    path = tmp_path / "results.sqlite"
    kept = sweep([Cell(HGM, 20, GFD)], 1, path)
    with pytest.raises(ZeroDivisionError, match="of the user") as caught:
        sweep([Cell(HGM, 20, GFD), Cell(LGM, 20, Test("fails", fails))], 1, path)
    assert caught.value.__notes__ == ["In model 'LGM', n = 20, repetition 0."]
    assert sweep([Cell(HGM, 20, GFD)], 1, path) == kept


def test_other_settings_need_another_file(tmp_path):
    path = tmp_path / "results.sqlite"
    sweep([Cell(LGM, 20, GFD)], 1, path)
    with pytest.raises(StoreError, match="n_resamples 500 there and 99 here"):
        sweep([Cell(LGM, 20, GFD)], 1, path, n_resamples=99)


def test_a_file_in_use_is_refused(tmp_path):
    path = tmp_path / "results.sqlite"
    with open_store(path, {"seed": 0}), pytest.raises(StoreError, match="in use by another run"):
        sweep([Cell(LGM, 20, GFD)], 1, path)


def test_files_that_cannot_hold_results_are_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"notes.txt is no file of results"):
        sweep([Cell(LGM, 20, GFD)], 1, text)
    assert text.read_text().startswith("not a database")
    with pytest.raises(StoreError, match="read-only folder"):
        sweep([Cell(LGM, 20, GFD)], 1, tmp_path / "nowhere" / "results.sqlite")


SCALE = 1.0


def helper():
    return SCALE / 4


def with_helper(predictions, y, rng):
    return helper()


@pytest.mark.parametrize(
    ("cell", "other", "message"),
    [
        (
            Cell(LGM, 20, Test("constant", lambda p, y, rng: 0.25)),
            Cell(LGM, 20, Test("constant", lambda p, y, rng: 0.75)),
            r"the test 'constant', which is no longer the same: `<lambda>\(\)` changed. Give the changed test another",
        ),
        (
            Cell(LGM, 20, DRAWN),
            Cell(Model("LGM", partial(lgm, delta=5.0)), 20, DRAWN),
            "the model 'LGM', which is no longer the same: `draw` changed. Give the changed model another name",
        ),
        (
            Cell(LGM, 20, GFD),
            Cell(LGM, 20, KCCSD(GFD.name, sc.kernels.GFD(), sc.kernels.Gaussian(1.0))),
            "the test 'KCCSD, GFD', which is no longer the same: `target_kernel` changed",
        ),
    ],
)
def test_results_of_what_has_changed_are_not_used(tmp_path, cell, other, message):
    path = tmp_path / "results.sqlite"
    found = sweep([cell], 2, path)
    for repeats in (2, 3):
        with pytest.raises(StoreError, match=message):
            sweep([other], repeats, path)
    assert sweep([cell], 2, path) == found
    assert len(sweep([cell], 3, path)) == 3


def test_a_changed_helper_or_constant_is_a_change(tmp_path, monkeypatch):
    path, cells = tmp_path / "results.sqlite", [Cell(LGM, 20, Test("with helper", with_helper))]
    assert set(sweep(cells, 2, path).values()) == {0.25}
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "SCALE", 2.0)
        with pytest.raises(StoreError, match="`SCALE` changed"):
            sweep(cells, 2, path)
    with monkeypatch.context() as patch:
        patch.setattr(helper, "__code__", (lambda: SCALE / 2).__code__)
        with pytest.raises(StoreError, match=r"`helper\(\)` changed"):
            sweep(cells, 2, path)
    assert set(sweep(cells, 2, path).values()) == {0.25}


def test_once_its_rows_are_deleted_a_changed_test_may_keep_its_name(tmp_path):
    path = tmp_path / "results.sqlite"
    kept = sweep([Cell(LGM, 20, DRAWN), Cell(LGM, 20, Test("constant", lambda p, y, rng: 0.25))], 2, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from results where test = 'constant'")
        connection.commit()
    changed = sweep([Cell(LGM, 20, DRAWN), Cell(LGM, 20, Test("constant", lambda p, y, rng: 0.75))], 2, path)
    assert {key: changed[key] for key in kept if key[3] == "drawn"} == {
        key: kept[key] for key in kept if key[3] == "drawn"
    }
    assert {changed[key] for key in kept if key[3] == "constant"} == {0.75}


def test_a_test_that_failed_may_be_mended_under_its_name(tmp_path):
    path = tmp_path / "results.sqlite"
    with pytest.raises(ZeroDivisionError):
        sweep([Cell(LGM, 20, Test("mended", lambda p, y, rng: 1 / 0))], 1, path)
    assert set(sweep([Cell(LGM, 20, Test("mended", lambda p, y, rng: 0.5))], 1, path).values()) == {0.5}


def test_what_a_test_remembers_of_its_calls_does_not_make_it_another(tmp_path):
    """Not in the process that called it, be it interrupted, nor in another, where it remembers nothing."""
    path, remembered = tmp_path / "results.sqlite", []

    def remembering(predictions, y, rng):
        remembered.append(float(y[0, 0]))
        if len(remembered) == 3:
            raise KeyboardInterrupt
        return float(rng.random())

    cells = [Cell(LGM, 20, Test("remembering", remembering))]
    with pytest.raises(KeyboardInterrupt):
        sweep(cells, 4, path)
    found = sweep(cells, 4, path)
    assert sweep(cells, 5, path).items() > found.items()
    remembered.clear()
    assert sweep(cells, 4, path) == found
    remembered[:] = [0.0]
    with pytest.raises(StoreError, match="`remembered` changed"):
        sweep(cells, 4, path)


def test_code_of_another_python_cannot_be_compared(tmp_path):
    """Bytecode is another in every version; what is scorecal's own is known by name, and goes on."""
    path = tmp_path / "results.sqlite"
    found = sweep(grid([LGM], [GFD, DRAWN], [20]), 1, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("""update fingerprints set parts = replace(parts, '"Python": "3.', '"Python": "2.')""")
        connection.commit()
    with pytest.raises(
        StoreError, match=r"the test 'drawn' from Python 2\.\d+, .* Continue with Python 2\.\d+, or use"
    ):
        sweep(grid([LGM], [GFD, DRAWN], [20]), 1, path)
    assert sweep([Cell(LGM, 20, GFD)], 1, path).items() <= found.items()


def test_a_file_that_has_lost_what_its_results_were_made_from_is_damaged(tmp_path):
    path = tmp_path / "results.sqlite"
    sweep([Cell(LGM, 20, DRAWN)], 1, path)
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("update fingerprints set parts = '{' where kind = 'test'", "delete from fingerprints"):
            connection.execute(statement)
            connection.commit()
            with pytest.raises(StoreError, match="is damaged: a record of what results were made from is missing"):
                sweep([Cell(LGM, 20, DRAWN)], 1, path)


def test_one_core_means_one_thread_of_everything():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with one_core():
        with one_core():
            assert set(threads()) == {1}
        assert cpu_count() == 1
        assert set(threads()) == {1}
    assert threads() == before


def in_daemon(queue):
    queue.put(sorted(map_tasks(abs, [-1, 2, -3], 2)))


def test_spread_does_not_end_a_process_that_may_not_start_others():
    """joblib then stays in it, and what ends orphans must not take it for one."""
    import joblib

    with joblib.parallel_config(backend="threading"):
        assert sorted(map_tasks(abs, [-1, 2, -3], 2)) == [1, 2, 3]
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=in_daemon, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=60) == [1, 2, 3]
    process.join()


def test_spread_takes_a_map():
    assert list(map_tasks(abs, [-1, 2, -3], lambda function, tasks: [function(task) for task in tasks])) == [1, 2, 3]
    assert sorted(map_tasks(abs, [-1, 2, -3], 2)) == [1, 2, 3]
    assert list(map_tasks(abs, [], 2)) == []
