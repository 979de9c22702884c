//! The first line of a results file.
//!
//! Results are read by column name but written in a fixed order. So a file can be read with its columns in any order,
//! but results are appended only if the header matches exactly; otherwise values would silently end up in the wrong
//! columns.

use std::path::Path;

use super::{Row, Status, line};
use crate::{LabError, job::Job, methods::Method, protocol::Protocol};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The most characters of a wrong name in a message.
const SHOWN: usize = 40;

/// Which columns a file must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// All our columns, in any order, and possibly others.
    Any,
    /// Exactly our columns, in our order.
    Ours,
}

/// Checks the header of a file whose first `whole` bytes are whole lines.
pub(super) fn check(path: &Path, bytes: &[u8], whole: usize, order: Order) -> Result<(), LabError> {
    let wrong = |reason: String| LabError::BadHeader { path: path.to_owned(), reason };
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(wrong("the text is UTF-16, expected UTF-8".to_owned()));
    }
    let names = names();
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if whole == 0 {
        let is_piece = format!("{}\n", names.join(",")).as_bytes().starts_with(bytes);
        return if is_piece { Ok(()) } else { Err(wrong("this is not a results file".to_owned())) };
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let found = reader.byte_headers().map_err(|error| wrong(error.to_string()))?;
    let found: Vec<String> = found.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if order == Order::Any {
        let missing = names.iter().find(|name| !found.contains(name));
        let first = found.first().map(|name| shown(name)).unwrap_or_default();
        return missing.map_or(Ok(()), |name| {
            Err(wrong(format!("the column `{name}` is missing; the first column is `{first}`")))
        });
    }
    let n_columns = names.len().max(found.len());
    let Some(at) = (0..n_columns).find(|&at| found.get(at) != names.get(at)) else { return Ok(()) };
    let is = found.get(at).map_or("is missing".to_owned(), |name| format!("is `{}`", shown(name)));
    let expected = names.get(at).map_or("no more columns".to_owned(), |name| format!("`{name}`"));
    Err(wrong(format!("column {} {is}, expected {expected}", at + 1)))
}

/// Shortens and escapes a name for a message.
fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}

/// The names of our columns.
fn names() -> Vec<String> {
    let job = Job { protocol: Protocol::Uad, set: String::new(), class: 0, method: Method::abs_z(), seed: 0 };
    let line = line(&Row::unmeasured(&job, Status::Ok, ""), true).expect("writing to memory cannot fail");
    let line = String::from_utf8(line).expect("names and texts are UTF-8");
    line.lines().next().unwrap_or_default().split(',').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str, order: Order) -> String {
        match check(Path::new("results.csv"), text.as_bytes(), text.len(), order) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn our_own_header_is_taken_with_and_without_a_mark_and_with_other_line_ends() {
        let header = names().join(",");
        for text in [format!("{header}\n"), format!("\u{feff}{header}\n"), format!("{header}\r\n")] {
            assert_eq!(wrong(&text, Order::Ours), "", "{text:?}");
        }
        // A power cut may leave a part of it.
        assert!(check(Path::new("results.csv"), "\u{feff}protocol,se".as_bytes(), 0, Order::Ours).is_ok());
    }

    #[test]
    fn columns_in_another_order_can_be_read_and_not_added_to() {
        let swapped = names().join(",").replace("auc,ap,", "ap,auc,") + "\n";
        assert_eq!(wrong(&swapped, Order::Any), "");
        assert_eq!(wrong(&swapped, Order::Ours), "`results.csv`, line 1: column 8 is `ap`, expected `auc`");
        let more = names().join(",") + ",remark\n";
        assert_eq!(wrong(&more, Order::Any), "");
        let n_more = names().len() + 1;
        let expected =
            format!("`results.csv`, line 1: column {n_more} is `remark`, expected no more columns");
        assert_eq!(wrong(&more, Order::Ours), expected);
    }

    #[test]
    fn a_column_that_is_not_there_is_named() {
        let fewer = names().join(",").replace(",message", "") + "\n";
        let expected =
            format!("`results.csv`, line 1: column {} is missing, expected `message`", names().len());
        assert_eq!(wrong(&fewer, Order::Ours), expected);
        assert_eq!(
            wrong(&fewer, Order::Any),
            "`results.csv`, line 1: the column `message` is missing; the first column is `protocol`"
        );
        assert_eq!(
            wrong("\n", Order::Ours),
            "`results.csv`, line 1: column 1 is missing, expected `protocol`"
        );
    }

    #[test]
    fn semicolons_and_utf_16_are_reported_for_the_first_line() {
        let semicolons = names().join(";") + "\n";
        let expected = "column 1 is `protocol;set;class;method;variant;seed;s…`, expected `protocol`";
        assert_eq!(wrong(&semicolons, Order::Ours), format!("`results.csv`, line 1: {expected}"));
        assert!(
            wrong(&semicolons, Order::Any).contains("line 1: the column `protocol` is missing; the first")
        );
        let wide: Vec<u8> = "\u{feff}protocol,set\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let whole = wide.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        let error = check(Path::new("results.csv"), &wide, whole, Order::Any).unwrap_err().to_string();
        assert_eq!(error, "`results.csv`, line 1: the text is UTF-16, expected UTF-8");
    }
}
