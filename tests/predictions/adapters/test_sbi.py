"""Posteriors of sbi: real networks, real posterior classes; scores against finite differences in float64."""

import copy
import dataclasses
import warnings

import numpy as np
import pytest
import torch
from exact_sbi import GaussianEstimator, GaussianFlow, GaussianScore, GaussianScoreSubVP, GaussianScoreVE
from pairwise import pairwise
from sbi.inference import NLE as NLE_
from sbi.inference import (
    NPE,
    DirectPosterior,
    EnsemblePosterior,
    ImportanceSamplingPosterior,
    MCMCPosterior,
    RejectionPosterior,
    VectorFieldPosterior,
    VIPosterior,
)
from sbi.inference.potentials import (
    likelihood_estimator_based_potential,
    posterior_estimator_based_potential,
    ratio_estimator_based_potential,
)
from sbi.neural_nets import (
    classifier_nn,
    likelihood_nn,
    posterior_flow_nn,
    posterior_nn,
    posterior_score_nn,
)
from sbi.utils import BoxUniform, MultipleIndependent
from sbi.utils.user_input_checks import process_prior
from scipy.stats import ks_2samp
from torch import nn

import scorecal as sc

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:sbi", "ignore::UserWarning:nflows")

N, M = 6, 4


def normal_prior(dim):
    return torch.distributions.MultivariateNormal(
        torch.zeros(dim, dtype=torch.float64), torch.eye(dim, dtype=torch.float64)
    )


class DoubleBox(BoxUniform):
    """sbi's own is in float32."""

    def log_prob(self, value):
        return super().log_prob(value).to(value.dtype)


def box_prior(dim):
    return DoubleBox(torch.zeros(dim), torch.ones(dim))


def simulate(prior, n, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        theta = prior.sample((n,)).double()
        return theta, theta + 0.3 * torch.randn(theta.shape, dtype=torch.float64)


def network(build, prior, seed=0, dtype=torch.float64):
    """A network with random weights."""
    theta, x = simulate(prior, 100, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return build(theta.float(), x.float()).to(dtype)


def npe(model, **settings):
    return lambda prior, seed=0: DirectPosterior(network(posterior_nn(model, **settings), prior, seed), prior)


def potential_based(build, potential_of, wrap):
    def make(prior, seed=0):
        potential, transform = potential_of(network(build, prior, seed), prior, None)
        return wrap(potential, transform, prior)

    return make


def embedding(prior):
    return nn.Sequential(nn.Linear(prior.event_shape[0], 4), nn.Tanh())


def mcmc(potential, transform, prior):
    return MCMCPosterior(potential, proposal=prior, theta_transform=transform)


NLE = (likelihood_nn("maf"), likelihood_estimator_based_potential)
NRE = (classifier_nn("mlp"), ratio_estimator_based_potential)
POSTERIORS = {
    "NPE maf": npe("maf"),
    "NPE mdn": npe("mdn"),
    "NPE zuko": npe("zuko_nsf"),
    "NPE embedding": lambda prior: npe("maf", embedding_net=embedding(prior))(prior),
    "NPE mdn embedding": lambda prior: npe("mdn", embedding_net=embedding(prior))(prior),
    "NPE by MCMC": potential_based(posterior_nn("maf"), posterior_estimator_based_potential, mcmc),
    "NLE by MCMC": potential_based(*NLE, mcmc),
    "NRE by MCMC": potential_based(*NRE, mcmc),
    "NLE by rejection": potential_based(*NLE, lambda p, t, prior: RejectionPosterior(p, prior, t)),
    "NLE by importance": potential_based(*NLE, lambda p, t, prior: ImportanceSamplingPosterior(p, prior, t)),
    "NLE by VI": potential_based(*NLE, lambda p, t, prior: VIPosterior(p, prior, theta_transform=t)),
    "NPE ensemble": lambda prior: EnsemblePosterior([npe("maf")(prior, s) for s in range(3)], weights=[0.5, 0.2, 0.3]),
    "NLE ensemble": lambda prior: EnsemblePosterior([potential_based(*NLE, mcmc)(prior, s) for s in range(2)]),
}
BY_POTENTIAL = [kind for kind in POSTERIORS if "ensemble" not in kind]  # ensembles: `test_sbi_ensembles.py`


def potential_of(posterior, theta, x):
    """sbi's own potential at several theta and one observation, on a copy; `set_x` would round to float32."""
    potential = copy.deepcopy(posterior.potential_fn)
    potential._x_o, potential._x_is_iid = x[None], True
    return potential(theta, track_gradients=False)


@pytest.mark.parametrize(("kind", "make_prior", "dim"), pairwise(BY_POTENTIAL, [normal_prior, box_prior], [1, 3]))
def test_scores_against_finite_differences_of_sbi(kind, make_prior, dim):
    prior = make_prior(dim)
    posterior = POSTERIORS[kind](prior)
    theta, x = simulate(prior, N, seed=1)
    predictions = sc.from_sbi(posterior, x)
    assert (predictions.n, predictions.dim) == (N, dim)
    base = simulate(prior, M, seed=2)[0]
    own = predictions.score(theta)
    shared = predictions.score(base[:, None, :])
    assert own.shape == (N, dim)
    assert shared.shape == (M, N, dim)
    torch.testing.assert_close(predictions.score(base[:, None, :].expand(M, N, dim)), shared)
    step = 1e-5

    shifts = step * torch.eye(dim, dtype=torch.float64)
    for i in (0, N - 1):
        points = torch.stack([theta[i], base[1]])[:, None, :]
        moved = torch.stack([points + shifts, points - shifts])
        above, below = potential_of(posterior, moved.reshape(-1, dim), x[i]).reshape(2, 2, dim)
        slopes = (above - below) / (2 * step)
        torch.testing.assert_close(torch.stack([own[i], shared[1, i]]), slopes, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", POSTERIORS)
def test_never_samples_and_leaves_the_posterior_as_it_was(kind, monkeypatch):
    prior = box_prior(2)
    theta, x = simulate(prior, N)
    posterior = POSTERIORS[kind](prior)
    posterior.set_default_x(x[:1])
    networks = [m for m in vars(posterior.potential_fn).values() if isinstance(m, nn.Module)]
    for module in networks:
        module.train()  # as it is while somebody trains on
    state = copy.deepcopy([module.state_dict() for module in networks])
    before = {name: id(value) for name, value in vars(posterior).items()}
    observed = posterior.potential_fn._x_o

    def forbidden(*args, **kwargs):
        raise AssertionError("a sample was drawn")

    for owner in {type(posterior), DirectPosterior, MCMCPosterior}:
        for method in ("sample", "sample_batched", "leakage_correction"):
            if hasattr(owner, method):
                monkeypatch.setattr(owner, method, forbidden)
    if kind != "NPE ensemble":  # which is drawn from for the shares inside the box
        monkeypatch.setattr("sbi.neural_nets.estimators.NFlowsFlow.sample", forbidden)
    torch_state = torch.random.get_rng_state()
    predictions = sc.from_sbi(posterior, x)
    sc.kccsd_test(predictions, theta, n_resamples=19, rng=0)
    assert torch.equal(torch.random.get_rng_state(), torch_state)
    assert {name: id(value) for name, value in vars(posterior).items()} == before
    assert posterior.potential_fn._x_o is observed
    assert all(part.training for module in networks for part in module.modules())
    assert not any(p.grad is not None for module in networks for p in module.parameters())
    assert all(p.requires_grad for module in networks for p in module.parameters())
    for module, kept in zip(networks, state, strict=True):
        assert all(torch.equal(value, kept[name]) for name, value in module.state_dict().items())


def test_the_door_leads_here():
    prior = normal_prior(2)
    posterior, (theta, x) = POSTERIORS["NPE mdn"](prior), simulate(prior, N)
    assert torch.equal(sc.as_predictions(posterior, x).score(theta), sc.from_sbi(posterior, x).score(theta))


@pytest.mark.parametrize("kind", ["NPE maf", "NLE by MCMC", "NRE by MCMC", "NPE ensemble"])
def test_rows_of_x_are_not_independent_trials_of_one(kind):
    """The score of a row does not depend on the others."""
    prior = normal_prior(2)
    theta, x = simulate(prior, N)
    posterior = POSTERIORS[kind](prior)
    together = sc.from_sbi(posterior, x).score(theta)
    alone = torch.cat([sc.from_sbi(posterior, x[i : i + 1]).score(theta[i : i + 1]) for i in range(N)])
    torch.testing.assert_close(together, alone)


def vector_field(build, prior):
    """In float32, the only precision of sbi's time embeddings."""
    return VectorFieldPosterior(network(build, prior, dtype=torch.float32), prior)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.rows = nn.Linear(3, 2), []

    def forward(self, x):
        self.rows.append(x.shape[0])
        return self.layer(x)

    def __deepcopy__(self, memo):
        new = Counter()
        new.layer, new.rows = copy.deepcopy(self.layer, memo), self.rows
        return new


@pytest.mark.parametrize("model", ["maf", "mdn", "zuko_nsf", "npse", "fmpe", "nre"])
def test_embedding_nets_run_once_for_each_observation(model):
    counter, prior = Counter(), normal_prior(3)
    if model == "npse":
        posterior = vector_field(posterior_score_nn("mlp", embedding_net=counter), prior)
    elif model == "fmpe":
        posterior = vector_field(posterior_flow_nn("mlp", embedding_net=counter), prior)
    elif model == "nre":
        posterior = potential_based(classifier_nn("mlp", embedding_net_x=counter), NRE[1], mcmc)(prior)
    else:
        posterior = npe(model, embedding_net=counter)(prior)
    theta, x = simulate(prior, 50)
    counter.rows.clear()
    sc.kccsd_test(sc.from_sbi(posterior, x), theta, n_resamples=19, rng=0)
    assert counter.rows == [50]


def test_outside_the_prior_is_an_error_and_not_a_zero_score():
    prior = box_prior(2)
    theta, x = simulate(prior, N)
    for kind in ("NPE maf", "NLE by MCMC", "NPE ensemble"):
        predictions = sc.from_sbi(POSTERIORS[kind](prior), x)
        assert bool(torch.isnan(predictions.score(theta + 2.0)).all())
        assert bool((predictions.log_prob(theta + 2.0) == -np.inf).all())
        with pytest.raises(ValueError, match="`y` must lie inside the support"):
            sc.kccsd_test(predictions, theta + 2.0, rng=0)
        with pytest.raises(ValueError, match="have a bounded support"):
            sc.kccsd_test(predictions, theta, coordinates=sc.coordinates.identity, rng=0)


def test_the_prior_is_the_base_measure_in_mapped_coordinates():
    theta, x = simulate(box_prior(2), 500)
    predictions = sc.from_sbi(POSTERIORS["NLE by MCMC"](box_prior(2)), x)
    located, *_ = sc.coordinates.unconstrain(sc.coordinates.Box(0.0, 1.0))(predictions, theta)
    draws = located.prior.sample(4000, np.random.default_rng(0))[:, 0, :]
    assert draws.shape == (4000, 2)
    torch.testing.assert_close(draws.std(dim=0), torch.full((2,), np.pi / 3**0.5), atol=0.1, rtol=0.0)  # logistic
    result = sc.kccsd_test(predictions, theta, coordinates=sc.coordinates.standardise("prior"), rng=0)
    assert result.coordinates == 'unconstrain(Box([0., 0.], [1., 1.])), standardise("prior")'
    gaussian = sc.from_sbi(POSTERIORS["NLE by MCMC"](normal_prior(2)), x)
    assert isinstance(gaussian.prior, sc.Gaussian)


def test_supports_of_sbi_priors():
    parts = [
        torch.distributions.Gamma(torch.ones(1), torch.ones(1)),
        torch.distributions.Normal(torch.zeros(1), torch.ones(1)),
        torch.distributions.Uniform(torch.zeros(1), 2 * torch.ones(1)),
    ]
    prior = MultipleIndependent(parts)
    theta, x = (part.float() for part in simulate(prior, 100))
    posterior = DirectPosterior(posterior_nn("maf")(theta, x), prior)
    predictions = sc.from_sbi(posterior, x)
    np.testing.assert_array_equal(predictions.support.low, [0.0, -np.inf, 0.0])
    np.testing.assert_array_equal(predictions.support.high, [np.inf, np.inf, 2.0])
    result = sc.kccsd_test(predictions, theta, rng=0)
    assert result.coordinates == "unconstrain(Box([  0., -inf,   0.], [inf, inf,  2.]))"


def single_prior(dim):
    """In float32, the only precision of sbi's vector fields."""
    return torch.distributions.MultivariateNormal(torch.zeros(dim), torch.eye(dim))


def exact_vector_field(estimator, shift=0.0):
    return VectorFieldPosterior(estimator(2, 0.3 / 1.09**0.5, 1 / 1.09, shift), single_prior(2))


def exact_nle(prior, shift, dim=2):
    potential, transform = likelihood_estimator_based_potential(GaussianEstimator(dim, 0.3, 1.0, shift), prior, None)
    return mcmc(potential, transform, prior)


HALF_LINE = torch.distributions.Independent(torch.distributions.Exponential(torch.ones(1)), 1)
EXACT = {  # unless shifted
    "NPE, Gaussian prior": lambda shift: DirectPosterior(
        GaussianEstimator(2, 0.3 / 1.09**0.5, 1 / 1.09, shift), normal_prior(2)
    ),
    "NPE, box": lambda shift: DirectPosterior(GaussianEstimator(2, 0.3, 1.0, shift), box_prior(2)),
    "NLE, box": lambda shift: exact_nle(box_prior(2), shift),
    "NLE, half-line": lambda shift: exact_nle(HALF_LINE, shift, dim=1),
    "NPSE, VP": lambda shift: exact_vector_field(GaussianScore, shift),
    "NPSE, VE": lambda shift: exact_vector_field(GaussianScoreVE, shift),
    "FMPE": lambda shift: exact_vector_field(GaussianFlow, shift),
}


def count_rejections(kind, n_repetitions, shift=0.0, n=200):
    posterior = EXACT[kind](shift)
    rejections = 0
    for repetition in range(n_repetitions):
        theta, x = simulate(posterior.potential_fn.prior, n, seed=repetition)
        rejections += sc.kccsd_test(sc.from_sbi(posterior, x), theta, n_resamples=199, rng=repetition).rejects()
    return rejections


STUDIED = ("NPE, box", "NLE, box", "NLE, half-line", "NPSE, VE", "FMPE")


@pytest.mark.parametrize(
    ("kind", "n", "n_sets", "most"),
    [
        ("NPE, box", 60, 200, 16),
        ("NLE, box", 60, 200, 16),
        *(pytest.param(kind, 200, 500, 35, marks=pytest.mark.slow) for kind in STUDIED),
    ],
)
def test_level(kind, n, n_sets, most):
    """At most `most` rejections in 97 % of studies of so many data sets, or more."""
    assert count_rejections(kind, n_sets, n=n) <= most


@pytest.mark.parametrize("kind", EXACT)
def test_power(kind):
    assert count_rejections(kind, 20, shift=0.15) >= 15


FIELDS = [GaussianScore, GaussianScoreSubVP, GaussianScoreVE, GaussianFlow]


@pytest.mark.parametrize("estimator", FIELDS)
@pytest.mark.parametrize("level", [0.1, 1.0])
def test_noise_and_scores_of_vector_fields_belong_together(estimator, level):
    """The score is -(theta_t - E theta_t) / Var theta_t, both moments from many noised draws."""
    posterior = VectorFieldPosterior(estimator(2, 0.3), single_prior(2))
    x = torch.tensor([[1.0, -2.0]]).expand(100_000, 2)
    predictions = sc.from_sbi(posterior, x, noise_level=level)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        noised = predictions.noised(x + 0.3 * torch.randn(x.shape), np.random.default_rng(0))
    assert predictions.noise.startswith(f"noised by {level:g} prior sd (t = ")
    point = noised[:1, None, :] + 0.3
    expected = -(point[0, 0] - noised.mean(dim=0)) / noised.var(dim=0)
    torch.testing.assert_close(predictions.score(point)[0, 0], expected, rtol=0.03, atol=0.03)
    signal = noised.mean(dim=0) / x[0]  # mean_t
    noise_to_signal = (noised.var(dim=0) / signal**2 - 0.09).sqrt()
    torch.testing.assert_close(noise_to_signal, torch.full((2,), level), rtol=0.03, atol=0.01)


def test_noise_does_not_hide_targets_outside_the_prior():
    posterior = VectorFieldPosterior(GaussianScore(2, 0.3), BoxUniform(torch.zeros(2), torch.ones(2)))
    theta, x = (part.float() for part in simulate(box_prior(2), N))
    assert sc.kccsd_test(sc.from_sbi(posterior, x), theta, rng=0).n == N
    with pytest.raises(ValueError, match="`y` must lie inside the support of the prior"):
        sc.kccsd_test(sc.from_sbi(posterior, x), theta - 2.0, rng=0)
    unequal = torch.distributions.MultivariateNormal(torch.zeros(2), torch.diag(torch.tensor([1.0, 1e4])))
    with pytest.warns(UserWarning, match="differ much between parameters"):
        sc.from_sbi(VectorFieldPosterior(GaussianScore(2, 0.3), unequal), x)


def test_vector_fields_of_standardised_parameters():
    """sbi may train on z = (theta - shift) / scale: the noise is that of z, and so is the score."""
    estimator = GaussianScore(2, 0.3)
    estimator._theta_shift.fill_(3.0)
    estimator._theta_scale.fill_(2.0)
    estimator._compose_standardization.fill_(True)
    x = torch.tensor([[1.0, -2.0]]).expand(100_000, 2)
    predictions = sc.from_sbi(VectorFieldPosterior(estimator, single_prior(2)), x, noise_level=0.4)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theta = 3.0 + 2.0 * (x + 0.3 * torch.randn(x.shape))
    noised = predictions.noised(theta, np.random.default_rng(0))
    point = noised[:1, None, :] + 0.3
    expected = -(point[0, 0] - noised.mean(dim=0)) / noised.var(dim=0)
    torch.testing.assert_close(predictions.score(point)[0, 0], expected, rtol=0.03, atol=0.03)
    noise_to_signal = (noised.var(dim=0) / (noised.mean(dim=0) / x[0]) ** 2 - 0.09).sqrt()
    torch.testing.assert_close(noise_to_signal, torch.full((2,), 0.4 * 0.5), rtol=0.03, atol=0.01)  # the prior of z


@pytest.mark.parametrize("estimator", FIELDS)
def test_noise_everywhere(estimator):
    """The statistic alone adds the same noise, and so does the test of one posterior."""
    theta, x = (part.float() for part in simulate(normal_prior(2), 200))
    predictions = sc.from_sbi(exact_vector_field(estimator), x)
    result = sc.kccsd_test(predictions, theta, rng=3)
    assert sc.kccsd(predictions, theta, rng=3) == result.statistic
    assert result.coordinates.startswith("noised by 0.3 prior sd")
    draws = x[:1] / 1.09 + 0.3 / 1.09**0.5 * torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    one = sc.from_sbi(exact_vector_field(estimator), x[:1])
    right, wrong = (sc.ksd_test(one, targets, rng=0) for targets in (draws, draws + 0.3))
    assert right.coordinates.startswith("noised by 0.3 prior sd")
    assert (right.pvalue > 0.01, wrong.rejects()) == (True, True)


SMALL = simulate(normal_prior(2), N)


def untrained(prior=None):
    return npe("maf")(prior or normal_prior(2))


class NumpyPrior(torch.distributions.Distribution):
    """A prior whose density autograd cannot see through."""

    arg_constraints = {}  # noqa: RUF012
    support = torch.distributions.constraints.real

    def __init__(self):
        super().__init__(event_shape=(2,), validate_args=False)

    def log_prob(self, value):
        return torch.as_tensor(-0.5 * np.sum(value.detach().numpy() ** 2, axis=-1))

    def sample(self, shape=()):
        return torch.randn(*shape, 2)


def nle_with(prior):
    potential, _ = likelihood_estimator_based_potential(
        network(likelihood_nn("maf"), normal_prior(2)), prior, None, enable_transform=False
    )
    return MCMCPosterior(potential, proposal=prior)


def npse():
    return exact_vector_field(GaussianScore)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sc.from_sbi(3, SMALL[1]), TypeError, "`posterior` must be a posterior of sbi"),
        (lambda: sc.from_sbi(network(posterior_nn("maf"), normal_prior(2)), SMALL[1]), TypeError, "build_posterior"),
        (lambda: sc.from_sbi(untrained(), SMALL[1][:, :1]), ValueError, r"hold n observations.*but has \(6, 1\)"),
        (lambda: sc.from_sbi(untrained(), SMALL[1][:, None, :]), ValueError, "Several independent trials"),
        (lambda: sc.from_sbi(untrained(), SMALL[1][:0]), ValueError, r"but has \(0, 2\)"),
        (lambda: sc.from_sbi(untrained(), "data"), TypeError, "`x` must be a tensor"),
        (lambda: sc.from_sbi(untrained(), SMALL[1] * np.nan), ValueError, "`x` must be finite"),
        (lambda: sc.from_sbi(untrained(), SMALL[1], noise_level=0.1), ValueError, "`noise_level` is for NPSE and FMPE"),
        (lambda: sc.from_sbi(npse(), SMALL[1], noise_level=1e-9), ValueError, "`noise_level` must lie between"),
        (lambda: sc.from_sbi(EnsemblePosterior([npse(), npse()]), SMALL[1]), TypeError, "an ensemble of vector fields"),
        (lambda: sc.from_sbi(nle_with(NumpyPrior()), SMALL[1]).score(SMALL[0]), ValueError, "but has no gradient"),
        (lambda: sc.kccsd_test(sc.from_sbi(untrained(), SMALL[1]), SMALL[0].numpy()), TypeError, "from one library"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.filterwarnings("ignore")
def test_an_amortised_variational_posterior_is_judged_by_itself():
    prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    posterior = potential_based(*NLE, lambda p, t, prior: VIPosterior(p, prior, theta_transform=t))(prior)
    posterior.potential_fn.likelihood_estimator.float()
    theta, x = (part.float() for part in simulate(prior, 200))
    posterior.train_amortized(theta, x, max_num_iters=3, show_progress_bar=False)
    predictions = sc.from_sbi(posterior, x)
    torch.testing.assert_close(predictions.log_prob(theta), posterior.log_prob(theta, x).detach(), rtol=1e-4, atol=1e-4)


def test_posteriors_for_one_observation_are_refused():
    posterior = untrained()
    posterior._apply_correction = True  # as sbi marks those of NPE-A after the first round
    with pytest.raises(TypeError, match="is valid only for the observation"):
        sc.from_sbi(posterior, SMALL[1])


class Cube:
    """A prior written in NumPy, which sbi takes for one on all of R^2 unless it is told its bounds."""

    def log_prob(self, value):
        value = value.detach().numpy() if isinstance(value, torch.Tensor) else value
        inside = np.all((value > 0) & (value < 1), axis=-1)
        return np.where(inside, 0.0, -np.inf)

    def sample(self, shape=()):
        return np.random.default_rng(0).uniform(size=(*shape, 2)).astype(np.float32)


def test_priors_that_end_where_they_do_not_say():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        silent, *_ = process_prior(Cube())
        told, *_ = process_prior(Cube(), {"lower_bound": torch.zeros(2), "upper_bound": torch.ones(2)})
    with pytest.raises(ValueError, match=r"whose density is 0 at .* inside its declared support"):
        sc.from_sbi(nle_with(silent), SMALL[1])
    assert repr(sc.from_sbi(nle_with(told), SMALL[1]).support) == "Box([0., 0.], [1., 1.])"


def test_log_uniform_priors():
    """torch says (0, inf) of exp(U), whatever U is."""
    uniform = torch.distributions.Uniform(torch.tensor([-1.0]), torch.tensor([1.0]))
    log_uniform = torch.distributions.TransformedDistribution(uniform, [torch.distributions.ExpTransform()])
    prior = MultipleIndependent([log_uniform, torch.distributions.Normal(torch.zeros(1), torch.ones(1))])
    theta, x = (part.float() for part in simulate(prior, 200))
    potential, _ = likelihood_estimator_based_potential(GaussianEstimator(2, 0.3), prior, None, enable_transform=False)
    predictions = sc.from_sbi(MCMCPosterior(potential, proposal=prior), x)
    np.testing.assert_allclose(predictions.support.low, [np.exp(-1.0), -np.inf], rtol=1e-6)
    np.testing.assert_allclose(predictions.support.high, [np.e, np.inf], rtol=1e-6)
    assert sc.kccsd_test(predictions, theta, rng=0).pvalue > 0.01


def test_ensembles_of_normalised_members():
    """Against sbi's own density."""
    theta, x = simulate(normal_prior(2), N)
    posterior = POSTERIORS["NPE ensemble"](normal_prior(2))
    own = sc.from_sbi(posterior, x).log_prob(theta)
    for i in range(N):
        density = posterior.log_prob(theta[i : i + 1], x=x[i : i + 1], norm_posterior=False)
        torch.testing.assert_close(own[i : i + 1], density.detach(), rtol=1e-5, atol=1e-5)


def test_trained_by_sbi_itself_on_one_parameter(tmp_path, monkeypatch):
    """With a prior that sbi wraps, on its way from `NPE` to `build_posterior`."""
    monkeypatch.chdir(tmp_path)  # sbi writes logs
    for prior in (
        torch.distributions.Normal(torch.zeros(1), torch.ones(1)),
        torch.distributions.Uniform(torch.zeros(1), torch.ones(1)),
    ):
        with torch.random.fork_rng(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            wrapped, *_ = process_prior(prior)
            theta = wrapped.sample((300,)).reshape(-1, 1)
            x = theta + 0.3 * torch.randn(300, 1)
            for method in (NPE, NLE_):
                inference = method(wrapped, show_progress_bars=False)
                inference.append_simulations(theta[:200], x[:200]).train(max_num_epochs=2)
                predictions = sc.from_sbi(inference.build_posterior(), x[200:])
                assert sc.kccsd_test(predictions, theta[200:], n_resamples=99, rng=0).n == 100


def test_a_network_that_fails_is_not_a_density_of_zero():
    posterior = DirectPosterior(GaussianEstimator(2, 0.3, float("nan")), single_prior(2))
    predictions = sc.from_sbi(posterior, SMALL[1].float())
    assert bool(predictions.log_prob(SMALL[0].float()).isnan().all())
    with pytest.raises(ValueError, match="must be finite"):
        sc.kccsd_test(predictions, SMALL[0].float(), rng=0)


def test_a_potential_of_ones_own():
    prior = normal_prior(2)

    def potential(theta, x_o):
        return -0.5 * torch.sum((theta - x_o) ** 2, dim=-1) / 0.09 + prior.log_prob(theta)

    posterior = MCMCPosterior(potential, proposal=prior)
    theta, x = simulate(prior, N)
    with pytest.raises(ValueError, match="no prior"):
        sc.from_sbi(posterior, x)
    posterior.potential_fn.prior = prior
    torch.testing.assert_close(sc.from_sbi(posterior, x).score(theta), (x - theta) / 0.09 - theta, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
@pytest.mark.parametrize("kind", ["NPE maf", "NLE by MCMC", "NRE by MCMC"])
def test_cuda_stays_on_cuda(kind):
    prior = torch.distributions.MultivariateNormal(torch.zeros(2, device="cuda"), torch.eye(2, device="cuda"))
    on_host = POSTERIORS[kind](normal_prior(2))
    theta, x = (part.cuda() for part in simulate(normal_prior(2), N))
    posterior = copy.deepcopy(on_host)
    posterior.potential_fn.to("cuda")
    posterior.prior = posterior.potential_fn.prior = prior
    scores = sc.from_sbi(posterior, x).score(theta)
    assert scores.is_cuda
    torch.testing.assert_close(scores.cpu(), sc.from_sbi(on_host, x.cpu()).score(theta.cpu()), rtol=1e-4, atol=1e-4)
    assert sc.kccsd_test(sc.from_sbi(posterior, x), theta, n_resamples=19, rng=0).n == N


@pytest.mark.parametrize("model", ["maf", "mdn", "zuko_nsf"])
def test_draws_of_direct_posteriors_are_those_of_sbi(model):
    prior = BoxUniform(torch.zeros(2), torch.ones(2))
    x = simulate(prior, 3)[1].float()
    build = posterior_nn(model, embedding_net=embedding(prior))
    posterior = DirectPosterior(network(build, prior, dtype=torch.float32), prior)
    predictions = sc.from_sbi(posterior, x)
    torch_state = torch.random.get_rng_state()
    draws = predictions.sample(2000, 0)
    assert torch.equal(torch.random.get_rng_state(), torch_state)
    assert torch.equal(draws, predictions.sample(2000, 0))
    assert draws.shape == (2000, 3, 2)
    assert bool(predictions.support.contains(draws).all())
    expected = posterior.sample_batched((2000,), x=x, show_progress_bars=False)
    for k in range(3):
        for a in range(2):
            assert ks_2samp(draws[:, k, a].numpy(), expected[:, k, a].numpy()).pvalue > 1e-4


def test_a_posterior_outside_its_prior_cannot_be_sampled(monkeypatch):
    prior = box_prior(2)
    _, x = simulate(prior, 3)
    predictions = sc.from_sbi(POSTERIORS["NPE mdn"](prior), x)
    far = dataclasses.replace(predictions, draw=lambda size, rows: 5.0 + torch.zeros(size, len(rows), 2))
    with pytest.raises(ValueError, match="leaves the prior's support too often"):
        far.sample(3, 0)


def test_few_draws_are_given_up_where_few_are_inside_the_prior():
    prior = box_prior(2)
    _, x = simulate(prior, 1000)
    predictions = sc.from_sbi(POSTERIORS["NPE mdn"](prior), x)
    drawn = []

    def draw(size, rows):
        drawn.append(size * len(rows))
        return 5.0 + torch.zeros(size, len(rows), 2)

    assert dataclasses.replace(predictions, draw=draw).few_draws is None
    assert sum(drawn) < 3 * 32 * 1000


@pytest.mark.parametrize("estimator", [GaussianScore, GaussianFlow])
def test_moments_of_vector_fields_come_from_draws_with_noise(estimator):
    posterior = VectorFieldPosterior(estimator(2, 0.3), single_prior(2))
    x = torch.tensor([[1.0, -0.5], [0.0, 0.5]])
    predictions = sc.from_sbi(posterior, x, moments=400)
    draws = predictions.spread_of
    assert draws.shape == (400, 2, 2)
    assert torch.equal(draws, predictions.spread_of)
    clean = x + 0.3 * torch.randn(4000, 2, 2, generator=torch.Generator().manual_seed(0))
    expected = predictions.noised(clean, np.random.default_rng(1))
    torch.testing.assert_close(draws.mean(dim=0), expected.mean(dim=0), rtol=0.1, atol=0.1)
    torch.testing.assert_close(draws.std(dim=0), expected.std(dim=0), rtol=0.15, atol=0.0)
    with pytest.raises(ValueError, match="`moments` must be a number of draws for NPSE and FMPE"):
        sc.from_sbi(posterior, x, moments=(x, torch.eye(2).expand(2, 2, 2)))
