//! Small tables for tests, built from Arrow columns.
#![allow(dead_code, reason = "every test crate uses the part it needs")]

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, TimestampSecondArray};
use oddcell::{
    Table,
    encode::{EncodeOptions, Encoder},
    seed::Stream,
    table::Rows,
};

/// A batch of the given columns.
pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}

/// The rows of a batch, as the first of their table.
pub(crate) fn rows(batch: &RecordBatch) -> Rows {
    Rows::new(batch.clone(), 0, "test.csv")
}

/// A table of one batch, with the kinds that its types and texts have.
pub(crate) fn table(columns: Vec<(&str, ArrayRef)>) -> Table {
    Table::from_batches("test.csv", vec![batch(columns)]).expect("a table")
}

/// An encoder with default options, fitted on the given columns.
pub(crate) fn encoder(columns: Vec<(&str, ArrayRef)>) -> Encoder {
    Encoder::fit(&table(columns), &EncodeOptions::default(), None).expect("an encoder")
}

/// A column of numbers; `None` is null.
pub(crate) fn numbers(values: impl IntoIterator<Item = impl Into<Option<f64>>>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<Float64Array>())
}

/// A column of booleans; `None` is null.
pub(crate) fn booleans(values: impl IntoIterator<Item = impl Into<Option<bool>>>) -> ArrayRef {
    Arc::new(
        values
            .into_iter()
            .map(Into::into)
            .collect::<Vec<Option<bool>>>()
            .into_iter()
            .collect::<BooleanArray>(),
    )
}

/// A column of moments in seconds; `None` is null.
pub(crate) fn moments(values: impl IntoIterator<Item = impl Into<Option<i64>>>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<TimestampSecondArray>())
}

/// A column of text; `None` is null.
pub(crate) fn texts<'a>(values: impl IntoIterator<Item = impl Into<Option<&'a str>>>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<StringArray>())
}

/// `count` times each name, one name after the other.
pub(crate) fn repeated<'a>(names: &[(&'a str, usize)]) -> Vec<&'a str> {
    names.iter().flat_map(|&(name, count)| std::iter::repeat_n(name, count)).collect()
}

/// Rows in which the second column is twice the first, up to a little noise, and the third is a name.
pub(crate) fn normal_rows(n_rows: usize, stream: &mut Stream) -> Vec<(&'static str, ArrayRef)> {
    let first: Vec<f64> = (0..n_rows).map(|_| stream.normal()).collect();
    let second: Vec<f64> = first.iter().map(|first| 2.0 * first + 0.1 * stream.normal()).collect();
    let names: Vec<&str> = (0..n_rows).map(|_| ["a", "b", "c"][stream.below(3)]).collect();
    vec![("first", numbers(first)), ("second", numbers(second)), ("name", texts(names))]
}
