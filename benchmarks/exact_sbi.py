"""Exact estimators for sbi's own posterior classes: Gaussian posteriors, likelihoods and vector fields."""

import torch
from sbi.neural_nets.estimators import ConditionalDensityEstimator, FlowMatchingEstimator
from sbi.neural_nets.estimators.score_estimator import SubVPScoreEstimator, VEScoreEstimator, VPScoreEstimator


class GaussianEstimator(ConditionalDensityEstimator):
    """Input given condition ~ N(gain * condition + shift, scale^2 I), in sbi's interface."""

    def __init__(self, dim, scale, gain=1.0, shift=0.0, embedding=None):
        super().__init__(torch.nn.Linear(1, 1), torch.Size([dim]), torch.Size([dim]))
        self.scale, self.gain, self.shift = scale, gain, shift
        self._embedding_net = embedding or torch.nn.Identity()

    @property
    def embedding_net(self):
        return self._embedding_net

    def _normal(self, condition):
        return torch.distributions.Normal(self.gain * self._embedding_net(condition) + self.shift, self.scale)

    def log_prob(self, input, condition):  # noqa: A002
        return self._normal(condition).log_prob(input).sum(-1)

    def sample(self, sample_shape, condition):
        return self._normal(condition).sample(sample_shape)

    def loss(self, input, condition):  # noqa: A002
        return -self.log_prob(input, condition)


class NoEmbedding(torch.nn.Module):
    """Stands for the network of a vector field that needs none."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x, *args):
        return x


class _Score:
    """The score of N(gain x + shift, scale^2 I) after the noise of a diffusion, in sbi's interface (NPSE)."""

    def __init__(self, dim, scale, gain=1.0, shift=0.0):
        super().__init__(NoEmbedding(), torch.Size([dim]), torch.Size([dim]))
        self.scale, self.gain, self.shift = scale, gain, shift

    def forward(self, input, condition, time):  # noqa: A002
        mean, std = self.mean_t_fn(time), self.std_fn(time)
        posterior_mean = self.gain * self._embedding_net(condition) + self.shift
        return (mean * posterior_mean - input) / (mean**2 * self.scale**2 + std**2)


class GaussianScore(_Score, VPScoreEstimator):
    """That preserves variance."""


class GaussianScoreSubVP(_Score, SubVPScoreEstimator):
    """That stays below it."""


class GaussianScoreVE(_Score, VEScoreEstimator):
    """That explodes; sbi's default."""


class GaussianFlow(FlowMatchingEstimator):
    """The velocity that makes N(gain x + shift, scale^2 I) of N(0, I), in sbi's interface (FMPE)."""

    def __init__(self, dim, scale, gain=1.0, shift=0.0):
        super().__init__(NoEmbedding(), torch.Size([dim]), torch.Size([dim]))
        self.scale, self.gain, self.shift = scale, gain, shift

    def forward(self, input, condition, time):  # noqa: A002
        mean, std = self.mean_t_fn(time), self.std_fn(time)
        x = self.gain * self._embedding_net(condition) + self.shift
        surprise = (input - mean * x) / (mean**2 * self.scale**2 + std**2)
        return std * surprise - (x + mean * self.scale**2 * surprise)
