//! `oddcell inspect MODEL`: shows what a model file contains.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use oddcell::{
    Model,
    encode::{LeftOut, LeftOutReason, NormalRange, Report},
    judge::Judge,
    table::ColumnKind,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    output, show,
    summary::{count, counted, note_line},
};

#[derive(Serialize)]
struct Inspection<'a> {
    library_version: &'a str,
    detector: &'a str,
    params: &'a Map<String, Value>,
    seed: u64,
    training_rows: u64,
    features: usize,
    members: Vec<MemberInfo>,
    columns: Vec<ColumnInfo<'a>>,
    left_out: &'a [LeftOut],
    reports: Vec<Report>,
}

#[derive(Serialize)]
struct MemberInfo {
    training_rows: usize,
    calibration_rows: usize,
    /// The smallest, median and largest calibration score.
    calibration_scores: [f64; 3],
}

#[derive(Serialize)]
struct ColumnInfo<'a> {
    name: &'a str,
    kind: ColumnKind,
    features: usize,
    null_share: f64,
    normal: &'a NormalRange,
}

pub(super) fn show(model: &Model, json: bool) -> Result<(), Failure> {
    let inspection = Inspection::of(model);
    if json {
        return output::print_json(&inspection);
    }
    output::print(&inspection.text())
}

impl<'a> Inspection<'a> {
    fn of(model: &'a Model) -> Self {
        let encoder = model.encoder();
        let member = |member: &oddcell::model::Member| {
            let scores = member.calibration.sorted();
            MemberInfo {
                training_rows: member.n_training_rows,
                calibration_rows: scores.len(),
                calibration_scores: [scores[0], scores[scores.len() / 2], scores[scores.len() - 1]],
            }
        };
        let columns = encoder.columns().iter().map(|column| ColumnInfo {
            name: column.name(),
            kind: column.kind(),
            features: column.features().len(),
            null_share: column.null_share(),
            normal: column.normal(),
        });
        Self {
            library_version: model.library_version(),
            detector: model.spec().entry().name,
            params: model.spec().params(),
            seed: model.seed().0,
            training_rows: model.n_rows(),
            features: encoder.n_features(),
            members: model.members().iter().map(member).collect(),
            columns: columns.collect(),
            left_out: encoder.left_out(),
            reports: encoder.reports(),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "detector       {} (oddcell {})", self.detector, self.library_version);
        let _ = writeln!(text, "training rows  {}", count(self.training_rows as usize));
        let _ = writeln!(text, "seed           {}", self.seed);
        for (index, member) in self.members.iter().enumerate() {
            let name = if self.members.len() == 1 {
                "calibration".to_owned()
            } else {
                format!("member {}", index + 1)
            };
            let [least, middle, greatest] = member.calibration_scores.map(show::figure);
            let _ = writeln!(
                text,
                "{name:<14} {}, scores {least} to {greatest}, median {middle}",
                counted(member.calibration_rows, "row", "rows")
            );
        }
        let _ = writeln!(text, "\nparameters");
        let widest = self.params.keys().map(String::len).max().unwrap_or(0);
        for (name, value) in self.params {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "  {name:<widest$}  {value}");
        }
        let columns = counted(self.columns.len(), "column", "columns");
        let _ = writeln!(text, "\n{columns}, {}", counted(self.features, "feature", "features"));
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
        table.set_header(["  column", "kind", "empty", "normal"]);
        for column in &self.columns {
            table.add_row([
                Cell::new(format!("  {}", show::clean(column.name))),
                Cell::new(column.kind.name()),
                Cell::new(format!("{:.1} %", column.null_share * 100.0)).set_alignment(CellAlignment::Right),
                Cell::new(show::unbroken(&column.normal.to_string())),
            ]);
        }
        show::close_up(&mut table);
        text += &show::trimmed_lines(&table.to_string());
        for LeftOut { name, reason } in self.left_out {
            let _ = writeln!(text, "{}", left_out_line(name, *reason));
        }
        for report in &self.reports {
            if !matches!(report, Report::LeftOut { .. }) {
                let _ = writeln!(text, "{}", note_line(&report.to_string()));
            }
        }
        text
    }
}

/// Says why a column is left out.
pub(super) fn left_out_line(name: &str, reason: LeftOutReason) -> String {
    format!("left out: `{}`: {reason}", show::clean(name))
}
