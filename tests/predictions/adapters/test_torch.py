"""`from_torch`: closed forms where they exist, scores against finite differences, and refusals that say what to do."""

import numpy as np
import pytest
import torch
from adapter_checks import check_scores
from pairwise import pairwise
from torch import distributions as td

import scorecal as sc

RNG = np.random.default_rng(8)
N = 6


def tensor(*shape, positive=False):
    values = torch.asarray(RNG.normal(size=shape))
    return values.exp() if positive else values


class _Sinh(td.transforms.Transform):
    """From R to R, one to one."""

    domain = codomain = td.constraints.real
    bijective = True
    sign = +1

    def _call(self, x):
        return torch.sinh(x)

    def _inverse(self, y):
        return torch.asinh(y)

    def log_abs_det_jacobian(self, x, y):
        return torch.log(torch.cosh(x))


KINDS = {
    "normal": (lambda: td.Normal(tensor(N), tensor(N, positive=True)), 1, sc.Gaussian),
    "independent normal": (lambda: td.Independent(td.Normal(tensor(N, 3), 0.5), 1), 3, sc.Gaussian),
    "full normal": (lambda: td.MultivariateNormal(tensor(N, 2), _covariance()), 2, sc.Gaussian),
    "mixture": (lambda: td.MixtureSameFamily(_weights(), td.Independent(td.Normal(tensor(N, 4, 2), 0.7), 1)), 2,
                sc.GaussianMixture),
    "mixture on R": (lambda: td.MixtureSameFamily(_weights(), td.Normal(tensor(N, 4), 0.7)), 1, sc.GaussianMixture),
    "Student": (lambda: td.Independent(td.StudentT(5.0, tensor(N, 3), 0.5), 1), 3, None),
    "Laplace on R": (lambda: td.Laplace(tensor(N), tensor(N, positive=True)), 1, None),
    "mixture of Students": (lambda: td.MixtureSameFamily(_weights(), td.StudentT(4.0, tensor(N, 4))), 1, None),
    "flow": (lambda: td.TransformedDistribution(td.Independent(td.Normal(tensor(N, 2), 1.0), 1), [_Sinh()]), 2, None),
}  # fmt: skip


def _covariance():
    factor = tensor(N, 2, 2)
    return factor @ factor.mT + torch.eye(2, dtype=torch.float64)


def _weights():
    return td.Categorical(logits=tensor(N, 4))


@pytest.mark.parametrize(("kind", "lead", "shared"), pairwise(list(KINDS), [(), (5,)], [False, True]))
def test_scores_against_finite_differences(kind, lead, shared):
    make, dim, _ = KINDS[kind]
    distribution = make()
    predictions = sc.from_torch(distribution)
    y = torch.asarray(RNG.normal(size=(*lead, 1 if shared else N, dim)))
    scores = predictions.score(y)
    assert tuple(scores.shape) == (*lead, N, dim)

    def log_prob(y):
        y = y.broadcast_to(*y.shape[:-2], N, dim)
        return distribution.log_prob(y if distribution.event_shape else y[..., 0])

    step = 1e-5
    for k in range(dim):
        shift = step * torch.eye(dim, dtype=torch.float64)[k]
        slope = (log_prob(y + shift) - log_prob(y - shift)) / (2 * step)
        np.testing.assert_allclose(scores[..., k], slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(predictions.log_prob(y), log_prob(y), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_closed_forms_are_kept(kind):
    make, dim, expected = KINDS[kind]
    predictions = sc.from_torch(make())
    assert (predictions.n, predictions.dim) == (N, dim)
    assert expected is None or type(predictions) is expected


@pytest.mark.parametrize("kind", ["Student", "flow"])
def test_draws_have_the_distribution_and_leave_the_generator_alone(kind):
    predictions = sc.from_torch(KINDS[kind][0]())
    state = torch.random.get_rng_state()
    draws = predictions.sample(20_000, rng=0)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(draws, predictions.sample(20_000, rng=0))
    assert tuple(draws.shape) == (20_000, N, predictions.dim)
    # Stein's identity: E s(Y).Y = -d, with an error bar.
    products = (predictions.score(draws) * draws).sum(dim=-1) + predictions.dim
    assert abs(float(products.mean() / (products.std() / products.numel() ** 0.5))) < 4


def test_large_batches_of_points_are_split(monkeypatch):
    from scorecal.predictions.adapters import torch as torch_distribution

    predictions = sc.from_torch(KINDS["Student"][0]())
    points = torch.asarray(RNG.normal(size=(7, 1, 3)))
    whole = predictions.score(points)
    monkeypatch.setattr(torch_distribution, "ROWS_AT_ONCE", 2 * N)
    assert torch.equal(predictions.score(points), whole)


def test_the_whole_test_and_its_derivatives():
    mean = tensor(100, 2)
    y = mean + torch.asarray(RNG.standard_t(5.0, size=(100, 2)))
    right = sc.from_torch(td.Independent(td.StudentT(5.0, mean), 1))
    shift = torch.full((2,), 0.7, dtype=torch.float64, requires_grad=True)
    wrong = sc.from_torch(td.Independent(td.StudentT(5.0, mean + shift), 1))
    assert sc.kccsd_test(right, y, rng=0).pvalue > 0.05
    assert sc.kccsd_test(wrong, y, rng=0).pvalue == 0.001
    sc.kccsd(wrong, y, rng=0).backward()
    assert bool((shift.grad > 0).all())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: 3, TypeError, "must be a `torch.distributions.Distribution`, but is a int"),
        (lambda: td.Normal(tensor(N, 3), 1.0), ValueError, r"wrap it: `Independent\(distribution, 1\)`"),
        (lambda: td.Normal(0.0, 1.0), ValueError, r"must have batch shape \(n,\)"),
        (lambda: td.LKJCholesky(3, tensor(N, positive=True)), ValueError, "event shape"),
        (lambda: td.Categorical(logits=tensor(N, 2, 3)), ValueError, r"of classes must have batch shape \(n,\)"),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        sc.from_torch(make())


def test_targets_of_another_library():
    with pytest.raises(TypeError, match="must be a torch tensor"):
        sc.kccsd_test(sc.from_torch(KINDS["Laplace on R"][0]()), tensor(N).numpy(), rng=0)


FLOWS = [("NSF", 2), ("MAF", 1), ("MAF", 2), ("MAF", 3), ("BPF", 2), ("NAF", 2), ("SOSPF", 2)]


@pytest.mark.parametrize(("kind", "dim"), FLOWS)
def test_zuko_scores_against_finite_differences(zuko, kind, dim):
    torch.manual_seed(0)
    model = getattr(zuko.flows, kind)(dim, context=3, hidden_features=(8,)).double()
    distribution = model(torch.asarray(RNG.normal(size=(N, 3))))
    predictions = sc.as_predictions(distribution)
    assert (predictions.n, predictions.dim, predictions.support) == (N, dim, None)

    def log_density(y):
        points = torch.asarray(np.broadcast_to(y, (*y.shape[:-2], N, dim)).copy())
        return distribution.log_prob(points).detach().numpy()

    check_scores(predictions, log_density, RNG.normal(size=(5, N, dim)), torch.asarray, step=1e-6)


def test_the_door_takes_a_flow_with_its_contexts(zuko):
    torch.manual_seed(0)
    flow, context = zuko.flows.MAF(2, context=3, hidden_features=(8,)).double(), tensor(N, 3)
    y = tensor(N, 2)
    torch.testing.assert_close(sc.as_predictions(flow, context).score(y), sc.from_torch(flow(context)).score(y))
    with pytest.raises(ValueError, match="is a flow of zuko, which needs `x`, the contexts, one row for each"):
        sc.as_predictions(flow)
    with pytest.raises(ValueError, match=r"must have batch shape \(n,\) .* but has batch shape \(\)"):
        sc.as_predictions(flow, context[0])


def test_zuko_boxes_are_bounded(zuko):
    ends = torch.ones(N, 2, dtype=torch.float64)
    support = sc.from_torch(zuko.distributions.BoxUniform(-ends, 2 * ends)).support
    assert np.array_equal(support.low, [-1.0, -1.0])
    assert np.array_equal(support.high, [2.0, 2.0])


def test_without_torch(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"\.\[torch\]"):
        sc.from_torch(None)


def test_flows_tell_where_they_are_by_a_few_draws_and_are_judged_by_signs(zuko):
    """Draws of a flow go through its networks; those of torch's own transforms are quick."""
    torch.manual_seed(0)
    flow = zuko.flows.MAF(2, 1, hidden_features=(8,))
    context = torch.randn(60, 1)
    with torch.no_grad():
        y = flow(context).sample()
    predictions = sc.from_torch(flow(context))
    result = sc.calibration_test(predictions, y, n_resamples=99, rng=0)
    assert result.null == "signs"
    assert not result.rejects()
    assert predictions.spread_of.shape == (32, 60, 2)
    plain = sc.from_torch(td.Independent(td.LogNormal(torch.zeros(60, 2), 1.0), 1))
    assert plain.spread_of is None
    own = sc.from_torch(td.TransformedDistribution(td.Normal(torch.zeros(60), 1.0), [_Sinh()]))
    assert not own.slow_to_sample
