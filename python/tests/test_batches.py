"""`score_batches` gives the verdicts of `judge`, keeps one batch in memory, and leaves no files behind."""

from __future__ import annotations

import pickle
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import oddcell
from oddcell import _oddcell
from oddcell._data import compact, table_of_frame
from oddcell._rules import rule_of

from conftest import short
from test_data import mixed

# None of them flags no row or every row of `mixed()`.
RULES = [{"alpha": 0.1}, {"fdr": 0.5}, {"top": 7}, {"contamination": 0.1}, {}]


@pytest.fixture(scope="module")
def odd_rows():
    """Some rows are odd; rows 20 to 39 are copies, so that `top` must break ties by row number."""
    frame = mixed()
    frame.loc[[5, 70, 150], "amount"] = [900.0, 800.0, 700.0]
    frame.iloc[20:40] = frame.iloc[0:20]
    return frame


@pytest.fixture(scope="module")
def model():
    return short().fit(mixed())


@pytest.fixture
def spool_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def cut(frame, *lengths):
    """The rows of a frame in batches of these lengths."""
    ends = np.cumsum(lengths)
    assert ends[-1] == len(frame)
    return [frame.iloc[end - length : end] for end, length in zip(ends, lengths, strict=True)]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_gives_the_verdicts_of_the_whole_table(model, odd_rows, rule):
    whole = model.judge(odd_rows, **rule)
    for lengths in ([200], [60, 60, 60, 20], [1, 199], [0, 30, 0, 170, 0]):
        judged = list(model.score_batches(iter(cut(odd_rows, *lengths)), **rule))
        assert [len(batch) for batch in judged] == lengths
        pd.testing.assert_frame_equal(pd.concat([batch for batch in judged if len(batch)]), whole)


@pytest.mark.parametrize("rule", RULES)
def test_the_rules_are_put_to_the_test(model, odd_rows, rule):
    assert 0 < model.judge(odd_rows, **(rule or {"alpha": 0.1})).odd_verdict.sum() < 100


@pytest.mark.parametrize("rule", RULES)
def test_no_batches_and_batches_without_rows_are_fine(model, rule):
    assert list(model.score_batches([], **rule)) == []
    empty = mixed().iloc[:0]
    assert [len(batch) for batch in model.score_batches([empty, empty], **rule)] == [0, 0]


@pytest.mark.parametrize("rule", [{"fdr": 0.5}, {"alpha": 0.1}])
def test_batches_of_any_type_come_back_as_that_type(model, odd_rows, rule):
    table = pa.Table.from_pandas(odd_rows)
    expected = model.judge(odd_rows, **rule)["odd_verdict"].tolist()
    for whole in (table, pl.DataFrame(table), table.to_batches()[0]):
        parts = [whole.slice(0, 90), whole.slice(90, 110)]
        judged = list(model.score_batches(parts, **rule))
        assert [type(batch) for batch in judged] == [type(whole)] * 2
        assert [odd for batch in judged for odd in np.asarray(batch["odd_verdict"]).tolist()] == expected
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=64))
    assert [batch.num_rows for batch in model.score_batches(reader, **rule)] == [64, 64, 64, 8]


def test_arrays_are_judged_in_batches(rows):
    model = oddcell.KNN().fit(rows)
    judged = np.concatenate(list(model.score_batches([rows[:100], rows[100:]], top=5)))
    assert np.array_equal(judged["odd_verdict"], model.judge(rows, top=5).odd_verdict)


def test_one_pass_rules_judge_each_batch_when_it_is_asked_for(model, odd_rows, spool_folder):
    read = []

    def batches():
        for batch in cut(odd_rows, 60, 60, 80):
            read.append(len(batch))
            yield batch

    judged = model.score_batches(batches(), alpha=0.1)
    assert read == []
    next(judged)
    assert read == [60]
    assert list(spool_folder.iterdir()) == []


@pytest.mark.parametrize("rule", RULES)
def test_an_error_in_the_source_is_passed_on_and_no_file_is_left(model, odd_rows, spool_folder, rule):
    def batches():
        yield odd_rows
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(model.score_batches(batches(), **rule))
    assert list(spool_folder.iterdir()) == []


def test_a_generator_that_is_dropped_midway_leaves_no_file(model, odd_rows, spool_folder):
    judged = model.score_batches(cut(odd_rows, 100, 100), top=3)
    next(judged)
    judged.close()
    assert list(spool_folder.iterdir()) == []


@pytest.mark.parametrize("rule", RULES)
def test_an_error_counts_rows_over_all_batches(model, odd_rows, rule):
    wrong = odd_rows.copy()
    wrong.loc[wrong.index[150], "amount"] = np.inf
    with pytest.raises(ValueError, match="row 151, column `amount`: found `inf`"):
        list(model.score_batches(cut(wrong, 60, 60, 80), **rule))


@pytest.mark.parametrize("rule", RULES)
def test_the_types_of_columns_may_differ_between_batches(model, odd_rows, rule):
    batches = cut(odd_rows, 60, 60, 80)
    batches[1] = batches[1].astype({"amount": str})
    judged = list(model.score_batches(iter(batches), **rule))
    for batch, given in zip(judged, batches, strict=True):
        pd.testing.assert_frame_equal(batch[given.columns], given)
    whole = model.judge(odd_rows, **rule)["odd_verdict"].tolist()
    assert [odd for batch in judged for odd in batch["odd_verdict"]] == whole


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_a_slice_waits_without_the_rest_of_its_table(convert):
    whole = convert(pd.DataFrame({"text": ["lorem", "ipsum"] * 5_000, "number": np.arange(10_000.0)}))
    slices = [whole[at : at + 200] for at in range(0, 10_000, 200)]
    assert sum(len(pickle.dumps(compact(part))) for part in slices) < 2 * len(pickle.dumps(compact(whole)))


def test_batches_larger_than_a_megabyte_wait_on_disk(model, odd_rows, monkeypatch):
    files = []
    real = tempfile.TemporaryFile

    def watched(**options):
        files.append(real(**options))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)
    many = pd.concat([odd_rows] * 300, ignore_index=True)
    judged = pd.concat(model.score_batches(cut(many, 17_000, 43_000), top=7))
    pd.testing.assert_frame_equal(judged, model.judge(many, top=7))
    assert [file.closed for file in files] == [True]


def test_wrong_rules_are_refused_before_the_first_batch(model):
    with pytest.raises(ValueError, match="`top` is 0, but must be at least 1"):
        model.score_batches([], top=0)
    with pytest.raises(TypeError, match="exclude each other"):
        model.score_batches([], top=1, fdr=0.1)
    with pytest.raises(TypeError, match="no rule `n_odd`"):
        model.score_batches([], n_odd=1)


def test_a_stream_that_has_ended_takes_no_more_rows(model, odd_rows):
    stream = _oddcell.Stream(model.model_, rule_of({"top": 3}))
    table = table_of_frame(odd_rows)
    assert stream.push(table) is None
    assert stream.waited(200)["odd_verdict"].sum() == 3
    with pytest.raises(RuntimeError, match="the stream has ended"):
        stream.push(table)
