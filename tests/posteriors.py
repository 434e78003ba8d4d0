"""Exact posteriors on bounded supports and on the plane, with what spoils them."""

import numpy as np

import scorecal as sc


def box_posterior(n, rng, scale=1.0, shift=0.0):
    """Prior U(0, 1)^2 and observations x ~ N(theta, 0.3^2 I): the posterior is N(x, 0.3^2 I), cut off at the box."""
    theta = rng.uniform(size=(n, 2))
    x = theta + 0.3 * rng.normal(size=(n, 2))
    return sc.ScoreFunction(lambda z: (x + shift - z) / (0.3 * scale) ** 2, n, 2), theta


def half_line_posterior(n, rng, scale=1.0):
    """Prior Exp(1) and observations x ~ N(theta, 1): the posterior is N(x - 1, 1), cut off at 0."""
    theta = rng.exponential(size=(n, 1))
    x = theta + rng.normal(size=(n, 1))
    return sc.ScoreFunction(lambda z: (x - 1.0 - z) / scale**2, n, 1), theta


def dirichlet(n, rng, factor=1.0):
    """The score on the simplex is (alpha - 1) / y."""
    alpha = np.exp(rng.normal(size=(n, 3))) + 0.5
    parts = rng.standard_gamma(alpha)
    return sc.ScoreFunction(lambda z: (factor * alpha - 1.0) / z, n, 3), parts / np.sum(parts, axis=1, keepdims=True)


def linear_gaussian(n, rng, offset=0.0, unit=1.0):
    """Prior N(offset, 1) in the given units; the posterior, as a function, with the prior."""
    theta = rng.normal(size=(n, 2))
    x = theta + 0.5 * rng.normal(size=(n, 2))
    mean, variance = x / 1.25, 0.25 / 1.25
    prior = sc.Gaussian(np.full((1, 2), offset), unit)
    return (
        sc.ScoreFunction(lambda y: (mean - (y - offset) / unit) / (variance * unit), n, 2, prior=prior),
        offset + unit * theta,
    )


def inside(n=5, dim=2):
    return np.random.default_rng(15).uniform(0.1, 0.9, size=(n, dim))
