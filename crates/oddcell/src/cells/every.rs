//! What should stand in every cell of a table, called odd or not.

use arrow_array::{Array, ArrayRef, Float64Array, StringArray, cast::AsArray, types::Float64Type};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::concat::concat;
use rayon::prelude::*;

use super::expected::Idea;
use crate::{Error, Table, encode::Encoded, judge::Judge, kinds::cell_text, table::Rows};

/// Rows looked at at a time.
const PIECE_ROWS: usize = 2_048;

/// What should stand in every cell, by the other cells of its row: for each column of the encoder an array of the type that
/// the column has in `table`. A cell is null if it should be empty, or if nothing can be said, as of free text. `None` if
/// `judge` does not judge cells.
///
/// # Panics
/// Only if the columns do not fit each other, which would be a bug of the library.
pub fn expected_table(judge: &dyn Judge, table: &Table) -> Result<Option<Vec<ArrayRef>>, Error> {
    if judge.expects(0).is_none() {
        return Ok(None);
    }
    let cut = |rows: Rows| {
        let n_rows = rows.n_rows();
        (0..n_rows).step_by(PIECE_ROWS).map(move |start| rows.slice(start, PIECE_ROWS.min(n_rows - start)))
    };
    let pieces: Vec<Rows> = table.rows().flat_map(cut).collect();
    let pieces: Vec<Vec<ArrayRef>> =
        pieces.par_iter().map(|rows| expected_piece(judge, rows)).collect::<Result<_, _>>()?;
    let column = |at: usize| {
        let parts: Vec<&dyn Array> = pieces.iter().map(|piece| &*piece[at]).collect();
        concat(&parts).expect("parts of one column have one type")
    };
    Ok(Some((0..judge.encoder().columns().len()).map(column).collect()))
}

fn expected_piece(judge: &dyn Judge, rows: &Rows) -> Result<Vec<ArrayRef>, Error> {
    let Encoded { matrix: features, columns: arrays, .. } = judge.encode(rows)?;
    let encoder = judge.encoder();
    let read = encoder.read_rows(rows, &arrays)?;
    let column = |at: usize| {
        let value = |row: usize| {
            let expects = judge.expects(rows.first_row + row).expect("it was asked before");
            let (now, text) = (read.value(row, at), cell_text(&arrays[at], row));
            let idea = Idea::of(encoder, expects, features.row(row), at, now.as_ref(), text.as_deref());
            idea.expected.map(|expected| expected.value).filter(|value| !value.is_empty())
        };
        let texts: StringArray = (0..rows.n_rows()).map(value).collect();
        as_type(texts, arrays[at].data_type())
    };
    Ok((0..arrays.len()).map(column).collect())
}

/// Texts as values of a type; what cannot be read becomes null.
fn as_type(texts: StringArray, data_type: &DataType) -> ArrayRef {
    let texts: ArrayRef = std::sync::Arc::new(texts);
    let converted = if data_type.is_integer() {
        let numbers = cast(&texts, &DataType::Float64).expect("text may be a number");
        let whole: Float64Array = numbers.as_primitive::<Float64Type>().unary(f64::round);
        cast(&whole, data_type)
    } else {
        cast(&texts, data_type)
    };
    converted.unwrap_or_else(|_| arrow_array::new_null_array(data_type, texts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_values_of_the_type_of_their_column_and_anything_else_null() {
        let numbers = as_type(StringArray::from(vec![Some("36.6"), Some("x"), None]), &DataType::Int64);
        assert_eq!(
            numbers.as_primitive::<arrow_array::types::Int64Type>().iter().collect::<Vec<_>>(),
            [Some(37), None, None]
        );
        let days = as_type(StringArray::from(vec!["2024-03-05"]), &DataType::Date32);
        // Days since 1970: 54 years of 365 days, 13 leap days (1972 to 2020), 31 + 29 days, and 4.
        assert_eq!(days.as_primitive::<arrow_array::types::Date32Type>().value(0), 54 * 365 + 13 + 60 + 4);
        let names = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        assert_eq!(as_type(StringArray::from(vec!["Oslo"]), &names).data_type(), &names);
    }
}
