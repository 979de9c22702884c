"""Works with scikit-learn: passes its own checks, and works in its pipelines and searches."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import oddcell
from oddcell._names import CLASS_NAMES

from conftest import normal_rows, short


@parametrize_with_checks([short(name) for name in CLASS_NAMES.values()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_longer_training_passes_the_check_that_wants_outliers_among_normal_rows():
    from sklearn.utils.estimator_checks import check_outliers_train

    check_outliers_train("OddCell", oddcell.OddCell(train_for="300 steps"), readonly_memmap=False)


def test_a_planted_row_is_found_by_all_that_need_no_long_training(rows):
    rows[17] = [30.0, -30.0, 30.0]
    for name in ("OddCell", "KNN", "LOF", "IForest", "COPOD", "ECOD"):
        scores = short(name).fit(rows).score_samples(rows)
        assert scores.argmin() == 17, name


def test_a_share_of_the_training_rows_is_called_anomalous(rows):
    model = short(contamination=0.1).fit(rows)
    assert (model.predict(rows) == -1).sum() == 30
    assert np.array_equal(model.decision_function(rows), model.score_samples(rows) - model.offset_)


def test_auto_calls_about_one_normal_row_in_a_hundred_anomalous(rows):
    share = (short(contamination="auto").fit(rows).predict(normal_rows(20_000, 1)) == -1).mean()
    # 300 calibration rows: the share has mean 0.01 and standard deviation 0.006.
    assert 0 < share < 0.03


@pytest.mark.parametrize("contamination", [0, -0.1, 0.51, float("nan"), "some"])
def test_a_wrong_contamination_is_refused_before_training(contamination, rows):
    with pytest.raises((ValueError, TypeError), match=r"contamination|must be real number"):
        short(contamination=contamination, train_for="1000000 epochs").fit(rows)


def test_pickle_joblib_and_copies_score_the_same(rows, tmp_path):
    model = short(contamination=0.05).fit(rows)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(again.decision_function(rows), model.decision_function(rows))
        assert again.get_params() == model.get_params()


def test_clones_are_not_fitted_and_learn_the_same(rows):
    model = short().fit(rows)
    again = clone(model)
    with pytest.raises(NotFittedError):
        again.predict(rows)
    assert np.array_equal(again.fit(rows).score_samples(rows), model.score_samples(rows))


def test_pipelines_and_column_transformers_feed_it():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"size": random.normal(size=200), "kind": random.choice(["a", "b"], 200)})
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["size"]), ("c", OneHotEncoder(sparse_output=False), ["kind"])]
    )
    for output in ("default", "pandas", "polars"):
        pipeline = make_pipeline(columns.set_output(transform=output), short())
        assert pipeline.fit(frame).predict(frame).shape == (200,)
        names = list(getattr(pipeline[-1], "feature_names_in_", []))
        assert names == ([] if output == "default" else ["n__size", "c__kind_a", "c__kind_b"])


def test_grid_search_chooses_parameters_given_as_numpy_numbers(rows):
    labels = np.ones(300)
    labels[::30] = -1
    rows[::30] += 8
    grid = {"levels": np.array([1, 3]), "sigma_max": np.array([0.5, 1.0]), "net": ["mlp"]}
    search = GridSearchCV(short(), grid, scoring="roc_auc", cv=2).fit(rows, labels)
    assert search.best_score_ > 0.9


def test_random_state_is_the_seed(rows):
    scores = [short(random_state=state).fit(rows).score_samples(rows) for state in (1, 1, 2)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])
    drawn = [short(random_state=np.random.RandomState(3)).fit(rows).score_samples(rows) for _ in range(2)]
    assert np.array_equal(drawn[0], drawn[1])
    with pytest.raises(ValueError, match="random_state is -1"):
        short(random_state=-1).fit(rows)
