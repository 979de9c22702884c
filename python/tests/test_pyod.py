"""The tests that PyOD runs on each of its own detectors (its test/test_knn.py), run on ours."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_less, assert_equal
from pyod.utils.data import generate_data
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from oddcell.pyod import OddCell

N_TRAIN, N_TEST, CONTAMINATION = 200, 100, 0.1


@pytest.fixture(scope="module")
def data():
    return generate_data(n_train=N_TRAIN, n_test=N_TEST, contamination=CONTAMINATION, random_state=42)


@pytest.fixture(scope="module")
def detector(data):
    return OddCell(contamination=CONTAMINATION, train_for="300 steps").fit(data[0])


def test_parameters(detector):
    for name in ("decision_scores_", "labels_", "threshold_", "_mu", "_sigma", "estimator_"):
        assert getattr(detector, name, None) is not None, name


def test_train_scores(detector):
    assert_equal(len(detector.decision_scores_), N_TRAIN)


def test_prediction_scores(detector, data):
    _, test, _, labels = data
    scores = detector.decision_function(test)
    assert_equal(scores.shape[0], N_TEST)
    assert roc_auc_score(labels, scores) >= 0.8
    assert len(np.unique(scores)) > N_TEST / 2


def test_prediction_labels(detector, data):
    predicted = detector.predict(data[1])
    assert_equal(predicted.shape, data[3].shape)
    assert set(np.unique(predicted)) == {0, 1}


def test_threshold_and_labels(detector):
    assert detector.labels_.sum() == N_TRAIN * CONTAMINATION
    assert_equal(detector.labels_, (detector.decision_scores_ > detector.threshold_).astype(int))


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_prediction_proba(detector, data, method):
    proba = detector.predict_proba(data[1], method=method)
    assert proba.shape == (N_TEST, 2)
    assert proba.min() >= 0 and proba.max() <= 1


def test_prediction_proba_parameter(detector, data):
    with pytest.raises(ValueError, match="something"):
        detector.predict_proba(data[1], method="something")


def test_prediction_labels_confidence(detector, data):
    predicted, confidence = detector.predict(data[1], return_confidence=True)
    assert_equal(predicted.shape, confidence.shape)
    assert confidence.min() >= 0 and confidence.max() <= 1


def test_prediction_proba_linear_confidence(detector, data):
    proba, confidence = detector.predict_proba(data[1], method="linear", return_confidence=True)
    assert_equal(confidence.shape, data[3].shape)
    assert confidence.min() >= 0 and confidence.max() <= 1 and proba.max() <= 1


def test_confidence(detector, data):
    confidence = detector.predict_confidence(data[1])
    assert confidence.shape == (N_TEST,) and confidence.min() >= 0 and confidence.max() <= 1


def test_prediction_with_rejection(detector, data):
    predicted = detector.predict_with_rejection(data[1], return_stats=False)
    assert_equal(predicted.shape, data[3].shape)
    assert set(np.unique(predicted)) <= {-2, 0, 1}


def test_prediction_with_rejection_stats(detector, data):
    _, [expected, upper_bound, cost] = detector.predict_with_rejection(data[1], return_stats=True)
    assert 0 <= expected <= 1 and 0 <= upper_bound <= 1 and cost >= 0


def test_fit_predict(detector, data):
    assert_equal(clone(detector).fit_predict(data[0]), detector.labels_)


def test_fit_predict_score(detector, data):
    _, test, _, labels = data
    short = clone(detector).set_params(train_for="30 steps")
    short.fit_predict_score(test, labels)
    short.fit_predict_score(test, labels, scoring="roc_auc_score")
    short.fit_predict_score(test, labels, scoring="prc_n_score")
    with pytest.raises(NotImplementedError):
        short.fit_predict_score(test, labels, scoring="something")


def test_predict_rank(detector, data):
    scores = detector.decision_function(data[1])
    ranks = detector._predict_rank(data[1])
    assert_allclose(rankdata(ranks), rankdata(scores), atol=2)
    assert_array_less(ranks, N_TRAIN + 1)
    assert_array_less(-0.1, ranks)


def test_predict_rank_normalized(detector, data):
    scores = detector.decision_function(data[1])
    ranks = detector._predict_rank(data[1], normalized=True)
    assert_allclose(rankdata(ranks), rankdata(scores), atol=2)
    assert_array_less(ranks, 1.01)
    assert_array_less(-0.1, ranks)


def test_model_clone(detector):
    again = clone(detector)
    assert again.get_params() == detector.get_params()
    assert not hasattr(again, "decision_scores_")


def test_repr_and_set_params(detector):
    assert "contamination=0.1" in repr(detector)
    assert clone(detector).set_params(levels=5).levels == 5
    with pytest.raises(TypeError, match="no parameter `sigmamax`"):
        OddCell(sigmamax=1)


def test_pickle(detector, data):
    import pickle

    again = pickle.loads(pickle.dumps(detector))
    assert_equal(again.decision_function(data[1]), detector.decision_function(data[1]))


def test_before_fit(data):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        OddCell().decision_function(data[1])


def test_without_pyod_the_message_says_what_to_install():
    code = "import sys; sys.modules['pyod'] = None\nimport oddcell.pyod"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'oddcell[pyod]'" in run.stderr
