"""The command line and Python give the same results to the bit."""

from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import pytest

import oddcell
import oddcell._estimators

from conftest import ROOT
from test_data import mixed

TRAIN_FOR = "100 steps"


def command_line(*arguments: object) -> None:
    program = ROOT / "target/debug/oddcell"
    assert program.exists(), "cargo test --workspace builds it"
    subprocess.run([program, *map(str, arguments), "-q"], check=True)


def write(frame: pd.DataFrame, path) -> None:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".npy":
        np.save(path, frame.to_numpy())
    else:
        frame.to_csv(path, index=False)


@pytest.mark.parametrize("detector", ["noise", "knn", "columns"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_fit_and_score_give_the_same_model_and_the_same_scores(tmp_path, ending, detector):
    frame, later = mixed(300), mixed(80)
    table, rows, ours, theirs = (tmp_path / name for name in (f"t.{ending}", f"l.{ending}", "ours", "theirs"))
    write(frame, table)
    write(later, rows)
    short = {"train_for": TRAIN_FOR} if detector == "noise" else {}
    set_short = ["--set", f"train_for={TRAIN_FOR}"] if short else []
    command_line("fit", table, "-o", theirs, "--detector", detector, "--seed", 7, *set_short)
    command_line("score", theirs, rows, "-o", tmp_path / "judged.parquet")
    expected = pd.read_parquet(tmp_path / "judged.parquet")

    model = oddcell._estimators.BY_NAME[detector](random_state=7, contamination="auto", **short).fit(frame)
    model.save(ours)
    if ending == "parquet":
        assert ours.read_bytes() == theirs.read_bytes()
    # A model of a CSV file also remembers how truth values are written there, for its reasons.
    for estimator in (model, oddcell.load(theirs)):
        assert np.array_equal(-estimator.score_samples(later), expected["odd_score"])
        assert np.array_equal(estimator.p_values(later), expected["odd_p"])
        judged = estimator.judge(later)
        assert np.array_equal(judged["odd_verdict"], expected["odd_verdict"])
        if ending == "parquet":
            assert np.array_equal(judged["odd_cells"], expected["odd_cells"])
            assert judged["odd_reasons"].fillna("").tolist() == expected["odd_reasons"].fillna("").tolist()


@pytest.mark.parametrize("params", [{}, {"train_for": TRAIN_FOR}], ids=["columns", "noise"])
def test_detect_says_the_same(tmp_path, params):
    frame = mixed(300)
    write(frame, tmp_path / "t.parquet")
    set_short = ["--set", f"train_for={TRAIN_FOR}"] if params else []
    command_line("detect", tmp_path / "t.parquet", *set_short, "-o", tmp_path / "judged.parquet")
    expected = pd.read_parquet(tmp_path / "judged.parquet")
    found = oddcell.detect(frame, **params)
    names = list(expected.columns[-5:])
    # Without a reason: None or NaN, as the reader of the file likes it.
    ours, theirs = (
        frame[names].fillna({"odd_reasons": ""}).astype({"odd_reasons": object}) for frame in (found, expected)
    )
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_plain_features_stay_on_whoever_asked_for_them(tmp_path):
    write(mixed(), tmp_path / "t.csv")
    for name in ("one_hot", "encode.one_hot"):
        more = ["--set", f"{name}=true", "--set", f"train_for={TRAIN_FOR}"]
        command_line("fit", tmp_path / "t.csv", "-o", tmp_path / name, *more)
        assert oddcell.load(tmp_path / name).one_hot is True


def test_arrays_say_the_same_as_npy_files(tmp_path, rows):
    np.save(tmp_path / "rows.npy", rows)
    command_line("fit", tmp_path / "rows.npy", "-o", tmp_path / "theirs", "--set", f"train_for={TRAIN_FOR}")
    oddcell.OddCell(contamination="auto", train_for=TRAIN_FOR).fit(rows).save(tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
