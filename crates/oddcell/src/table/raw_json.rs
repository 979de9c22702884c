//! Text columns whose cells are JSON: values that nobody reads on their way from input to output, and objects
//! made for the output. JSON lines get the values themselves, other formats their text.

use std::collections::HashMap;

use arrow_array::StringArray;
use arrow_schema::{DataType, Field};

/// The key of the mark in a field's metadata.
pub(super) const RAW_JSON: &str = "oddcell.json";

/// A text column whose cells are JSON.
#[must_use]
pub(crate) fn json_field(name: &str) -> Field {
    let mark = HashMap::from([(RAW_JSON.to_owned(), "true".to_owned())]);
    Field::new(name, DataType::Utf8, true).with_metadata(mark)
}

/// Whether the cells of a column are JSON.
pub(crate) fn is_json(field: &Field) -> bool {
    field.data_type() == &DataType::Utf8 && field.metadata().contains_key(RAW_JSON)
}

/// The text of JSON values, for formats without JSON: a string without its quotes, anything else unchanged.
pub(super) fn plain_text(cells: &StringArray) -> StringArray {
    cells.iter().map(|cell| cell.map(plain_json)).collect()
}

/// The same for one value.
pub(crate) fn plain_json(cell: &str) -> String {
    let string = cell.starts_with('"').then(|| serde_json::from_str(cell).ok()).flatten();
    string.unwrap_or_else(|| cell.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_lose_their_quotes_and_other_values_stay() {
        let cells = StringArray::from(vec![Some(r#""a \"b\"""#), Some("7"), Some(r#"["x"]"#), None]);
        let expected = StringArray::from(vec![Some(r#"a "b""#), Some("7"), Some(r#"["x"]"#), None]);
        assert_eq!(plain_text(&cells), expected);
    }
}
