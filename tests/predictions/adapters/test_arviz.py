"""Draws that arviz keeps: rows, members and groups of both of its containers, verdicts, refusals."""

import numpy as np
import pytest
from adapter_checks import heavy

import scorecal as sc

RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=60)
DRAWS = MEAN + RNG.normal(size=(2, 25, 60))
TWO = RNG.normal(size=(2, 25, 60, 3))
Y = MEAN + RNG.normal(size=60)


def tree(**groups):
    import arviz_base

    return arviz_base.from_dict(groups)


def inference_data(**groups):
    """Of arviz before 1.0, which takes two seconds to import, and warns when it does."""
    arviz = heavy("arviz")
    if not hasattr(arviz, "InferenceData"):
        pytest.skip("arviz 1.0 and later have a DataTree")
    return arviz.from_dict(**groups)


CONTAINERS = [tree, pytest.param(inference_data, marks=pytest.mark.slow)]


@pytest.mark.parametrize("container", CONTAINERS)
def test_all_chains_are_members_of_one_row_for_each_observation(container):
    data = container(posterior_predictive={"y": DRAWS}, observed_data={"y": Y})
    predictions = sc.as_predictions(data)
    np.testing.assert_array_equal(predictions.members[:, :, 0], DRAWS.reshape(50, 60).T)
    assert sc.calibration_test(predictions, data.observed_data["y"], rng=0).pvalue > 0.01
    narrow = container(posterior_predictive={"y": MEAN + 0.5 * (DRAWS - MEAN)})
    assert sc.calibration_test(sc.as_predictions(narrow), Y, rng=0).rejects()


@pytest.mark.parametrize("container", CONTAINERS)
def test_targets_of_several_numbers(container):
    predictions = sc.from_arviz(container(posterior_predictive={"y": TWO, "z": DRAWS}), "y")
    np.testing.assert_array_equal(predictions.members, TWO.reshape(50, 60, 3).transpose(1, 0, 2))


def test_draws_for_new_data_come_first():
    data = tree(posterior_predictive={"y": DRAWS}, predictions={"y": DRAWS[..., :10]})
    assert sc.as_predictions(data).n == 10
    assert sc.from_arviz(data, group="posterior_predictive").n == 60


def test_dimensions_in_any_order():
    import xarray

    dataset = xarray.Dataset({"y": (("row", "draw", "chain"), np.moveaxis(DRAWS, (0, 1, 2), (2, 1, 0)))})
    found = sc.from_arviz(xarray.DataTree.from_dict({"posterior_predictive": dataset}))
    np.testing.assert_array_equal(np.sort(found.members[:, :, 0]), np.sort(DRAWS.reshape(50, 60).T))
    stacked = dataset.stack(sample=("chain", "draw"))
    found = sc.from_arviz(xarray.DataTree.from_dict({"predictions": stacked}))
    np.testing.assert_array_equal(found.members[:, :, 0], DRAWS.reshape(50, 60).T)


def mistakes():
    both = tree(posterior_predictive={"y": DRAWS, "z": DRAWS})
    return [
        (lambda: sc.from_arviz(DRAWS), TypeError, "`data` must be an InferenceData.* but is a ndarray.*from_samples"),
        (lambda: sc.as_predictions(tree(posterior={"mu": DRAWS})), ValueError, "no group 'predictions' or 'posterior_"
         "predictive', but posterior.*draw from the posterior predictive first"),
        (lambda: sc.from_arviz(both, group="prior"), ValueError, "no group 'prior', but posterior_predictive"),
        (lambda: sc.as_predictions(both), ValueError, "has 2 variables; choose `variable` among y, z"),
        (lambda: sc.from_arviz(both, "x"), ValueError, "has no variable 'x'; choose `variable` among y, z"),
        (lambda: sc.from_arviz(tree(posterior_predictive={"y": DRAWS[..., 0]})), ValueError,
         "'y' must have dimensions of draws .* but has chain, draw. Likely causes: one number for all"),
        (lambda: sc.from_arviz(tree(posterior_predictive={"y": DRAWS[:1, :2]})), ValueError, "row 0 has 2"),
        (lambda: sc.as_predictions(both, Y), ValueError, "leave `x` out"),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(8))
def test_refusals(case):
    call, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        call()
