"""Views of classes: closed forms against enumeration, levels, power, edge cases and refusals."""

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal.resampling.clusters import clusters_of
from scorecal.views.classes.choose import class_views
from scorecal.views.classes.features import _products_in_clusters
from scorecal.views.classes.kernel import median_distance, pivoted_root
from scorecal.views.classes.unlikely import Unlikely, unlikely


def softmax(logits):
    parts = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    return parts / np.sum(parts, axis=1, keepdims=True)


def data(seed, n, n_classes, sd=1.5):
    rng = np.random.default_rng(seed)
    logits = sd * rng.normal(size=(n, n_classes))
    return logits, sc.Categorical(softmax(logits)).sample(1, rng)[0]


def views_of(p, y, *, ordinal=True, clusters=None, by_signs=False):
    x = np.linspace(0.0, 1.0, len(p)) ** 2
    return class_views(p, y, {"x": x, "label": np.where(x > 0.3, "a", "b")}, clusters, ordinal, by_signs)


@pytest.mark.parametrize("how", ["draws", "signs", "ordered"])
def test_features_against_enumeration(how):
    """Over all data sets of five rows and three classes: mean zero, powers; sums of rows are those of draws."""
    p = softmax(np.random.default_rng(0).normal(size=(5, 3)))
    p[1] = [0.0, 0.3, 0.7]
    every = np.array(list(product(range(3), repeat=5)))
    chance = np.prod(p[np.arange(5), every], axis=1)
    clusters = clusters_of(None, 1, 5) if how == "ordered" else None
    views = views_of(p, every[7], clusters=clusters, by_signs=how == "signs")
    assert len(views) >= (1 if how == "signs" else 12)  # five rows are few for signs
    for view in views:
        if isinstance(view.features, Unlikely) or view.sees == "serial":
            continue
        sums = view.features.sums(every)
        rows = np.stack([view.features.of_rows(y, slice(0, 5)) for y in every])
        np.testing.assert_allclose(rows.sum(axis=1).T, sums, atol=1e-12, err_msg=view.name)
        np.testing.assert_array_equal(view.features.of_rows(every[7], slice(2, 4)), rows[7, 2:4])
        np.testing.assert_allclose(np.einsum("m,mnq->nq", chance, rows), 0.0, atol=1e-12, err_msg=view.name)
        squares = np.einsum("m,mnq->nq", chance, rows**2)
        np.testing.assert_allclose(view.features.row_squares(np.array([3, 1])), squares[[3, 1]], atol=1e-12)
        clusters_of_rows = np.array([0, 1, 0, 0, 1])
        sums_of = [np.sum(squares[clusters_of_rows == k], axis=0) for k in (0, 1)]
        wanted = sums_of[0] ** 2 + sums_of[1] ** 2 - np.sum(squares**2, axis=0)
        products = _products_in_clusters(view.features, clusters_of_rows)
        np.testing.assert_allclose(products, wanted, rtol=1e-9, atol=1e-12)
        for found, power in zip((*view.features.units, view.features.fourths()), (2, 3, 4), strict=True):
            expected = np.einsum("m,mnq->q", chance, rows**power)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=view.name)


def test_score_of_the_temperature():
    """The confidence view is the derivative of the log-likelihood by the logarithm of 1 / temperature, at 1."""
    logits, y = data(0, 40, 4)
    view = views_of(softmax(logits), y)[0]

    def likelihood(step):
        return np.sum(np.log(softmax(logits * np.exp(step)))[np.arange(40), y])

    slope = (likelihood(1e-5) - likelihood(-1e-5)) / 2e-5
    assert view.name == "confidence"
    assert np.sum(view.features.of_rows(y, slice(0, 40))) == pytest.approx(slope, rel=1e-7)


def test_low_rank_kernel():
    """With as many pivots as rows, it is the kernel of SKCE; otherwise what is left out is little."""
    logits, _ = data(1, 20, 3)
    p = softmax(logits)
    bandwidth = median_distance(p)
    gaps = np.linalg.norm(p[:, None] - p[None], axis=2)
    assert bandwidth == pytest.approx(np.median(gaps[np.triu_indices(20, 1)]))
    root = pivoted_root(p, bandwidth)
    np.testing.assert_allclose(root @ root.T, np.exp(-0.5 * (gaps / bandwidth) ** 2), atol=0.02)


def test_unlikely_target_against_enumeration():
    p = np.array([[0.01, 0.01, 0.98], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    found = unlikely(p, ordered=False)
    np.testing.assert_allclose(found.tails, [[0.02, 0.02, 1.0], [1.0, 1.0, 0.0], [0.2, 0.5, 1.0]])
    every = np.array(list(product(range(3), repeat=3)))
    chance = np.prod(p[np.arange(3), every], axis=1)
    smallest = np.min(found.tails[np.arange(3), every], axis=1)
    for y, statistic in zip(every, found.of_draws(every), strict=True):
        least = min(found.tails[i, k] for i, k in enumerate(y))
        expected = sum(p[i, k] for i in range(3) for k in range(3) if found.tails[i, k] <= least)
        assert statistic == pytest.approx(-np.log10(np.clip(expected, 1e-300, 1.0)))
        assert np.sum(chance[smallest <= least]) <= expected + 1e-12


@pytest.mark.parametrize("n_classes", [2, 5, 10])
@pytest.mark.parametrize("n", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_level(n_classes, n):
    rejected = 0
    for seed in range(80):
        logits, y = data([n, n_classes, seed], n, n_classes)
        rejected += sc.calibration_test(sc.Categorical(softmax(logits)), y, n_resamples=99, rng=seed).rejects()
    assert rejected <= 10  # of 80 at 5 %: p = .002


def test_power_and_words():
    seen = []
    for seed in range(20):
        logits, y = data(seed, 500, 10)
        seen.append(sc.calibration_test(sc.Categorical(softmax(1.3 * logits)), y, n_resamples=199, rng=0).seen[:1])
    assert seen.count(("over-confidence",)) >= 18
    logits, y = data(0, 1000, 4)
    names, label = np.array(["a", "b", "c", "d"]), np.array(["a", "b", "c", "d"])[y]
    found = sc.calibration_test(sc.Categorical(softmax(0.7 * logits), labels=names), label, rng=0)
    assert found.seen == ("under-confidence",)
    found = sc.calibration_test(sc.Categorical(softmax(logits + np.eye(4)[0]), labels=names), label, rng=0)
    assert found.seen == ("bias",)
    assert "class 'a' gets too much probability" in found.message
    assert found.null == "simulate"
    assert "classes" in str(found)


def test_covariates_and_order():
    logits, _ = data(0, 800, 3)
    rng = np.random.default_rng(1)
    x = rng.normal(size=800)
    y = sc.Categorical(softmax(logits + x[:, None] * [1.0, 0.0, 0.0])).sample(1, rng)[0]
    found = sc.calibration_test(sc.Categorical(softmax(logits)), y, covariates={"x": x}, rng=0)
    assert found.seen[0] == "covariates"
    assert "depends on x" in found.message
    y = sc.Categorical(softmax(logits + 0.4 * np.arange(3.0))).sample(1, rng)[0]
    found = sc.calibration_test(sc.Categorical(softmax(logits), ordinal=True), y, rng=0)
    assert {"order", "cumulative"} <= {view.name for view in found.views if view.adjusted_pvalue <= 0.01}


def test_groups():
    """Classes that rows of a group share: rejected without groups, and not with them."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 10)
    p = np.full((400, 2), 0.5)
    y = rng.integers(2, size=40)[patient]
    assert sc.calibration_test(sc.Categorical(p), y, covariates={"patient": patient.astype(str)}, rng=0).rejects()
    found = sc.calibration_test(sc.Categorical(p), y, groups=patient, rng=0)
    assert found.null == "signs"
    assert not found.rejects()
    logits, y = data(3, 400, 4)
    assert sc.calibration_test(sc.Categorical(softmax(1.7 * logits)), y, groups=patient, rng=0).rejects()


def test_ordered_rows():
    """Probabilities that follow the classes before them: calibrated, and wrong where they should follow and do not."""
    rng = np.random.default_rng(0)
    n, y = 600, [0]
    for _ in range(n):
        y.append(int(rng.random() < (0.8 if y[-1] else 0.2)))
    y = np.array(y)
    share = np.where(y[:-1], 0.8, 0.2)
    right = sc.Categorical(np.stack([1.0 - share, share], axis=1))
    assert not sc.calibration_test(right, y[1:], horizon=1, rng=0).rejects()
    assert "serial" in sc.calibration_test(sc.Categorical(np.full((n, 2), 0.5)), y[1:], horizon=1, rng=0).seen


def test_level_of_ordered_rows():
    """Probabilities that follow the classes before them and become nearly certain: few rows tell, and signs know it."""
    rejected = np.zeros(2)
    for seed in range(60):
        rng, logits, p, y = np.random.default_rng(seed), np.zeros(3), [], []
        for _ in range(150):
            p.append(softmax(logits[None])[0])
            y.append(rng.choice(3, p=p[-1]))
            logits = 0.9 * logits + 0.6 * (np.eye(3)[y[-1]] - 1 / 3) + 0.2 * rng.normal(size=3)
        for k, horizon in enumerate((1, 2)):
            found = sc.calibration_test(sc.Categorical(np.array(p)), y, horizon=horizon, n_resamples=99, rng=seed)
            rejected[k] += found.rejects()
    assert np.all(rejected <= 9)  # of 60 at 5 %: p = .001


def test_level_in_blocks_of_nearly_certain_rows():
    """A run of rows that are nearly certain of one class is as good as one row; signs took its end for a rarity."""
    rejected = 0
    for seed in range(30):
        rng, logits, p, y = np.random.default_rng(seed), np.zeros(3), [], []
        for _ in range(500):
            p.append(softmax(logits[None])[0])
            y.append(rng.choice(3, p=p[-1]))
            logits = 0.8 * logits + 0.8 * (np.eye(3)[y[-1]] - 1 / 3) + 0.2 * rng.normal(size=3)
        found = sc.calibration_test(sc.Categorical(np.array(p)), y, horizon=4, n_resamples=99, rng=seed)
        rejected += found.rejects()
    assert rejected <= 4  # of 30 at 5 %: p = .02


def test_signs_leave_out_what_rests_on_few_rows():
    p = np.full((100, 3), [0.98, 0.01, 0.01])
    p[:40] = 1 / 3
    found = views_of(p, np.zeros(100, int), by_signs=True, ordinal=False)
    top = next(view for view in found if view.name == "top label")
    variances = np.where(np.arange(100) < 40, 2 / 9, 0.98 * 0.02)
    fourths = variances * (1.0 - 3.0 * variances)
    assert np.sum(variances) ** 2 / np.sum(fourths) > 20
    assert top.features.kept == [1.0]
    assert not any(
        isinstance(view.features, Unlikely) for view in views_of(p[:5], np.zeros(5, int), by_signs=True)[:-1]
    )
    few = views_of(p[30:80], np.zeros(50, int), by_signs=True, ordinal=False)
    assert "top label" not in {view.name for view in few}


def test_surprises_of_predictions_that_learn_from_them():
    """Predictions are the most certain just before a surprise: draws from all of them would make it look rare."""
    rng, logit, p, y = np.random.default_rng(0), 0.0, [], []
    for _ in range(200):
        p.append(1.0 / (1.0 + np.exp(-logit)))
        y.append(int(rng.random() < p[-1]))
        logit += 0.7 * (y[-1] - p[-1])
    p, y = np.array(p), np.array(y)
    both = np.stack([1.0 - p, p], axis=1)
    found = unlikely(both, ordered=True)
    smallest = np.min(found.tails[np.arange(200), y])
    assert found.of_draws(y[None])[0] == pytest.approx(-np.log10(min(1.0, 200 * smallest)))
    assert unlikely(both, ordered=False).of_draws(y[None])[0] > found.of_draws(y[None])[0] + 1.0


def test_too_few_rows_for_signs_are_warned_of():
    """Valid predictions are no error, however certain: nothing but a surprise could reject."""
    for p, n in ((0.5, 15), (0.999, 300)):
        found = sc.calibration_test(sc.Categorical(np.full(n, p)), np.ones(n, int), groups=np.arange(n) // 2, rng=0)
        assert found.pvalue == 1.0
        assert any(warning.startswith("Too few rows that are not nearly certain") for warning in found.warnings)
    y = np.ones(300, int)
    y[:3] = 0
    p = np.full(300, 1.0 - 1e-6)
    assert sc.calibration_test(sc.Categorical(p), y, groups=np.arange(300) // 2, rng=0).rejects()


def test_the_probability_of_the_second_class_is_enough():
    logits, y = data(0, 100, 2)
    p = softmax(logits)
    both, one = (sc.calibration_test(sc.Categorical(each), y, rng=0) for each in (p, p[:, 1]))
    assert both.pvalue == one.pvalue
    assert sc.Categorical(torch.as_tensor(p[:, 1])).probabilities.shape == (100, 2)


def test_what_probabilities_of_zero_mean_is_said():
    p = np.tile([0.5, 0.5, 0.0], (60, 1))
    y = np.random.default_rng(0).integers(2, size=60)
    assert sc.calibration_test(sc.Categorical(p), y, rng=0).warnings == ()
    y[0] = 2
    (warning,) = sc.calibration_test(sc.Categorical(p), y, rng=0).warnings
    assert warning.startswith("1 target is a class of probability 0, which is enough for a rejection.")


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(50), 4)])
def test_an_impossible_target_is_enough(groups):
    logits, y = data(0, 200, 3)
    p = softmax(logits)
    p[0], y[0] = [1.0, 0.0, 0.0], 2
    found = sc.calibration_test(sc.Categorical(p), y, groups=groups, rng=0)
    assert found.pvalue == 0.001
    assert found.seen[0] == "outliers"
    assert np.all(np.isfinite(found.null_distribution))
    y[0] = 0
    assert not sc.calibration_test(sc.Categorical(p), y, groups=groups, rng=0).rejects()


def test_edges():
    certain = np.eye(3)[np.arange(30) % 3]
    assert sc.calibration_test(sc.Categorical(certain), np.arange(30) % 3, rng=0).pvalue == 1.0
    assert sc.calibration_test(sc.Categorical(certain), np.arange(30) // 10, rng=0).pvalue == 0.001
    same = sc.calibration_test(sc.Categorical(np.full((300, 4), 0.25)), np.arange(300) % 4, rng=0)
    assert not same.rejects()
    assert "predictions do not differ" in same.cannot_see[-1]
    assert sc.calibration_test(sc.Categorical(np.full((300, 2), 0.5)), [0] * 300, rng=0).seen[0] == "bias"
    assert sc.calibration_test(sc.Categorical([[0.5, 0.5]] * 2), [0, 1], rng=0).pvalue > 0.05
    assert not sc.calibration_test(sc.Categorical(np.full((40, 300), 1 / 300)), np.arange(40), rng=0).rejects()


def test_backends_agree():
    logits, y = data(0, 100, 3)
    p = softmax(logits)
    expected = sc.calibration_test(sc.Categorical(p), y, n_resamples=99, rng=0)
    for array in (torch.as_tensor, jnp.asarray):
        found = sc.calibration_test(sc.Categorical(array(p)), array(y), n_resamples=99, rng=0)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-4)
        assert sc.diagnose(sc.Categorical(array(p)), array(y), rng=0).accuracy.value == np.mean(p.argmax(axis=1) == y)


def test_draws_of_many_classes_are_those_of_few():
    """Zero probabilities are never drawn, and the two ways to draw agree."""
    p = np.zeros((6, 40))
    p[:, [3, 17]] = [0.25, 0.75]
    found = sc.Categorical(p).sample(4000, 0)
    assert set(np.unique(found)) == {3, 17}
    few = sc.Categorical(p[:, [3, 17]]).sample(4000, 0)
    np.testing.assert_array_equal(found == 17, few == 1)


P = np.full((4, 2), 0.5)
BAD = [
    (lambda: sc.calibration_test(sc.Categorical(P), [0, 1, 2, 0]), ValueError, "from 0 to 1, but goes from 0 to 2"),
    (lambda: sc.calibration_test(sc.Categorical(P), [1, 1, 2, 1]), ValueError, "counted from 1"),
    (lambda: sc.calibration_test(sc.Categorical(P), list("abab")), TypeError, r"`Categorical\(p, labels"),
    (lambda: sc.calibration_test(sc.Categorical(P), [0, None, 1, 0]), ValueError, "1 are missing, the first in row 1"),
    (lambda: sc.calibration_test(sc.Categorical(P), P), ValueError, "probabilities in place of observed classes"),
    (
        lambda: sc.calibration_test(sc.Categorical(P, labels="ab"), list("abab")),
        TypeError,
        "`labels` must be a sequence",
    ),
    (lambda: sc.calibration_test(sc.Categorical(P, labels=["a"]), list("abab")), ValueError, "but has 1"),
    (lambda: sc.Categorical(P, labels=["a", "a"]), ValueError, "`labels` must be different"),
    (lambda: sc.Categorical(P, ordinal=1), TypeError, "`ordinal`"),
    (lambda: sc.calibration_test(sc.Categorical(P, labels=["a", "b"]), list("abac")), ValueError, "row 3, 'c'"),
    (lambda: sc.calibration_test(sc.Categorical(P, labels=["a", "b"]), [0, 1, 0, 1]), ValueError, "leave `labels` out"),
    (lambda: sc.calibration_test(sc.Categorical(P[:, :1] * 2), [0] * 4), ValueError, "at least 2 classes"),
    (lambda: sc.calibration_test(sc.Categorical(P[:1]), [0]), ValueError, "at least 2 targets"),
    (lambda: sc.calibration_test(sc.Categorical(P), [0, 1, 0, 1], views=()), TypeError, "`views` is not for classes"),
    (
        lambda: sc.calibration_test(sc.Categorical(P), [0, 1, 0, 1], coordinates=sc.coordinates.whiten()),
        TypeError,
        "`coordinates` is not for classes",
    ),
    (
        lambda: sc.calibration_test(sc.Categorical(P), [0, 1, 0, 1], estimator="linear"),
        TypeError,
        "`estimator` is not for classes",
    ),
    (
        lambda: sc.calibration_test(sc.Categorical(P), [0, 1, 0, 1], groups=[0, 0, 1, 1], null="simulate"),
        ValueError,
        "independent rows",
    ),
    (lambda: sc.Categorical([0.2, 1.2]), ValueError, "row 1 has 1.2. Likely causes: percentages"),
    (lambda: sc.Categorical([[20.0, 80.0]]), ValueError, "percentages; divide by 100"),
    (lambda: sc.Categorical([[0.3, 0.69]]), ValueError, "rounded probabilities"),
    (lambda: sc.Categorical([[0.2], [0.3]]), ValueError, r"given with shape \(n,\)"),
    (
        lambda: sc.calibration_test(sc.Categorical(P, labels=[1, 2]), list("1212")),
        ValueError,
        "text in place of numbers",
    ),
    (
        lambda: sc.calibration_test(sc.Categorical(P, labels=["a", "b"]), np.array([b"a"] * 4)),
        ValueError,
        "text as bytes",
    ),
    (lambda: sc.diagnose(sc.Categorical(P), [0, 1, 0, 1], names=["a"]), TypeError, "`names` is not for classes"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
