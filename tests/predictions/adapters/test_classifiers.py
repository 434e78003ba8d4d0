"""Classes from torch, numpyro, scikit-learn and what looks like it: probabilities, labels, verdicts, refusals."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as nd
import pytest
import torch
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import distributions as td

import scorecal as sc
from scorecal._lib.arrays import to_numpy

RNG = np.random.default_rng(0)
N = 400
LOGITS = RNG.normal(size=(N, 3))
P = np.exp(LOGITS) / np.sum(np.exp(LOGITS), axis=1, keepdims=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.Categorical(logits=torch.as_tensor(LOGITS)),
        lambda: td.OneHotCategorical(probs=torch.as_tensor(P)),
        lambda: nd.Categorical(logits=jnp.asarray(LOGITS)),
        lambda: nd.Categorical(probs=jnp.asarray(P)),
    ],
)
def test_categorical(make):
    found = sc.as_predictions(make())
    np.testing.assert_allclose(to_numpy(found.probabilities), P, rtol=1e-5)
    y = found.sample(1, 2)[0]
    assert not sc.calibration_test(found, y, n_resamples=99, rng=0).rejects()
    assert sc.calibration_test(found, np.eye(3)[(y + 1) % 3], n_resamples=99, rng=0).rejects()


def test_bernoulli():
    share = P[:, 0]
    for made in (td.Bernoulli(torch.as_tensor(share)), nd.Bernoulli(jnp.asarray(share))):
        found = sc.as_predictions(made)
        np.testing.assert_allclose(to_numpy(found.probabilities), np.stack([1.0 - share, share], axis=1), rtol=1e-5)
    y = td.Bernoulli(torch.as_tensor(share)).sample()  # floats of zeros and ones
    np.testing.assert_array_equal(found.class_numbers(y), y.numpy())


def test_classifiers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6 * N, 2))
    y = np.where(rng.random(6 * N) < 1.0 / (1.0 + np.exp(-2.0 * x[:, 0])), "yes", "no")
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(x[N:], y[N:])
    found = sc.as_predictions(fitted, x[:N])
    assert found.labels == ("no", "yes")
    assert not sc.calibration_test(found, y[:N], n_resamples=99, rng=0).rejects()

    class OfAnotherLibrary:
        classes_ = fitted.classes_

        def predict_proba(self, x):
            return fitted.predict_proba(x)[:, ::-1]

    assert sc.calibration_test(sc.as_predictions(OfAnotherLibrary(), x[:N]), y[:N], n_resamples=99, rng=0).rejects()
    with pytest.raises(TypeError, match="RidgeClassifier without `predict_proba`"):
        sc.as_predictions(RidgeClassifier().fit(x, y), x)
    several = MultiOutputClassifier(LogisticRegression()).fit(x, np.stack([y, y], axis=1))
    with pytest.raises(TypeError, match="several targets at once"):
        sc.as_predictions(several, x)
