//! How the columns were understood: their kinds, and which are left out.

use oddcell::{
    count::count,
    encode::{Encoder, LeftOut, Report},
    table::ColumnKind,
};
use serde::{Serialize, Serializer};

use crate::show::{self, clean, cut};

/// The most names listed for a kind.
const LISTED_NAMES: usize = 6;
/// Longer names are cut.
const NAME_CHARS: usize = 30;
/// The text starts with this; later lines are indented as far.
const LEAD: &str = "columns: ";

/// The columns by kind, and what is left out. In JSON: `kinds` and `left_out`.
#[derive(Debug, Serialize)]
pub(crate) struct Understood {
    #[serde(serialize_with = "as_map")]
    kinds: Vec<(ColumnKind, Vec<String>)>,
    left_out: Vec<LeftOut>,
}

fn as_map<S: Serializer>(kinds: &[(ColumnKind, Vec<String>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(kinds.iter().map(|(kind, names)| (kind, names)))
}

impl Understood {
    pub(crate) fn of(encoder: &Encoder) -> Self {
        let of_kind = |&kind: &ColumnKind| {
            let columns = encoder.columns().iter().filter(|column| column.kind() == kind);
            (kind, columns.map(|column| column.name().to_owned()).collect())
        };
        let kinds = ColumnKind::ALL.iter().map(of_kind).filter(|(_, names): &(_, Vec<_>)| !names.is_empty());
        Self { kinds: kinds.collect(), left_out: encoder.left_out().to_vec() }
    }

    /// One sentence: `2 numbers (price, qty), 1 date (placed); left out: order (row identifier)`.
    pub(crate) fn text(&self) -> String {
        let kind = |(kind, names): &(ColumnKind, Vec<String>)| {
            let noun = if names.len() == 1 { kind.name().to_owned() } else { plural(kind.name()) };
            format!("{} {noun} ({})", count(names.len()), listed(names))
        };
        let mut text = self.kinds.iter().map(kind).collect::<Vec<_>>().join(", ");
        // The columns that are left out for the same reason stand together.
        let mut left_out: Vec<(&str, Vec<String>)> = Vec::new();
        for LeftOut { name, reason } in &self.left_out {
            match left_out.iter_mut().find(|(other, _)| *other == reason.name()) {
                Some((_, names)) => names.push(name.clone()),
                None => left_out.push((reason.name(), vec![name.clone()])),
            }
        }
        for (at, (reason, names)) in left_out.iter().enumerate() {
            text += if at == 0 { "; left out: " } else { ", " };
            text.push_str(&[&listed(names), " (", reason, ")"].concat());
        }
        text
    }

    /// The same with its lead.
    pub(crate) fn sentence(&self) -> String {
        format!("{LEAD}{}", self.text())
    }

    /// The same, wrapped.
    pub(crate) fn line(&self) -> String {
        let lines = show::wrapped(&self.text(), show::note_width() - LEAD.len());
        format!("{LEAD}{}", lines.join(&format!("\n{:1$}", "", LEAD.len())))
    }
}

/// What else a user should know about the columns.
pub(crate) fn notes(encoder: &Encoder) -> Vec<String> {
    let is_note = |report: &Report| !matches!(report, Report::LeftOut { .. });
    encoder.reports().iter().filter(|report| is_note(report)).map(ToString::to_string).collect()
}

/// More than one of a kind.
fn plural(kind: &str) -> String {
    kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
}

/// Names, the last ones of a long list only counted.
fn listed(names: &[String]) -> String {
    let n_shown = if names.len() > LISTED_NAMES { LISTED_NAMES - 1 } else { names.len() };
    let shown: Vec<String> = names[..n_shown].iter().map(|name| cut(&clean(name), NAME_CHARS)).collect();
    match names.len() - n_shown {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), count(more)),
    }
}

#[cfg(test)]
mod tests {
    use oddcell::encode::{IdentifierSign, LeftOutReason};

    use super::*;

    #[test]
    fn kinds_are_counted_and_long_lists_are_cut() {
        let names = |n: usize| (1..=n).map(|index| format!("x{index}")).collect::<Vec<_>>();
        let kinds = vec![
            (ColumnKind::Number, names(1_008)),
            (ColumnKind::Category, names(2)),
            (ColumnKind::Text, names(1)),
        ];
        let left_out = |name: &str, reason| LeftOut { name: name.to_owned(), reason };
        let identifier = LeftOutReason::Identifier(IdentifierSign::Counter);
        let left_out = vec![
            left_out("id", identifier),
            left_out("y", LeftOutReason::Label),
            left_out("key", identifier),
        ];
        let understood = Understood { kinds, left_out };
        assert_eq!(
            understood.line(),
            "columns: 1,008 numbers (x1, x2, x3, x4, x5 and 1,003 more), 2 categories (x1,\n         \
             x2), 1 text (x1); left out: id, key (row identifier), y (label)"
        );
    }
}
