//! Writes tables and pictures next to the results.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{
    LabError,
    board::{Board, Measure},
    comparison,
    figures::Figure,
    files::{create_folder, write_whole},
    groups, job,
    methods::{OURS, PAPER},
    page::Page,
    paper,
    pictures::{self, PictureError},
    protocol::Protocol,
    sets::{self, Traits},
    stats::ranks,
    store::Row,
    tables::{Beside, Table},
    variants::{self, Varied},
};

/// The file name of the page with all pictures.
pub const PAGE: &str = "report.html";

/// The list of files that the last report wrote, so that the next report can remove outdated files.
const LIST: &str = "report-files.txt";

/// Writes the tables of all results to `folder/tables`, the pictures to `folder/figures`, and a page that shows them to
/// `folder`. Returns the paths.
pub fn write(rows: &[Row], folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let (tables, figures) = (folder.join("tables"), folder.join("figures"));
    let traits = sets::traits::read(folder)?;
    let mut written = Vec::new();
    let mut page = Page::new(rows);
    for protocol in Protocol::ALL {
        let rows: Vec<Row> = rows.iter().filter(|row| row.protocol == protocol).cloned().collect();
        let compared = variants::not_studied(&rows);
        page.begin(protocol, how(protocol));
        for &(measure, name) in measures(protocol) {
            for (kind, table) in tables_of(&compared, protocol, measure, &traits)? {
                let name = format!("{protocol}_{name}{kind}");
                written.extend(write_table(&tables, &name, &table)?);
                page.keep(name, table);
            }
        }
        if let Some(table) = oracle_table(&compared, protocol) {
            let name = format!("{protocol}_oracle");
            written.extend(write_table(&tables, &name, &table)?);
            page.keep(name, table);
        }
        for varied in variants::studied(&rows) {
            let table = study_table(&varied, &rows, protocol)?;
            let name = format!("{protocol}_{}", varied.name());
            written.extend(write_table(&tables, &name, &table)?);
            page.keep(name, table);
        }
        for (name, figure) in pictures::of_protocol(&rows, protocol)? {
            written.extend(write_figure(&figures, &name, &figure)?);
            page.show(protocol, &name, figure);
        }
    }
    let path = folder.join(PAGE);
    write_whole(&path, page.html().as_bytes())?;
    written.push(path);
    remove_outdated(folder, &written)?;
    Ok(written)
}

/// The table of a study: the means of all variants over the sets that all of them have, and their mean ranks among the
/// variants of the same method.
fn study_table(varied: &Varied, rows: &[Row], protocol: Protocol) -> Result<Table, LabError> {
    let rows = varied.rows(rows);
    let methods: BTreeSet<&String> = rows.iter().map(|row| &row.method).collect();
    let names = variants::names(&rows);
    let mut header = vec![varied.keys.join(", ")];
    let mut lines: Vec<Vec<String>> = names.iter().map(|name| vec![variants::values(name)]).collect();
    let mut counts = Vec::new();
    for method in methods {
        let own: Vec<Row> = rows.iter().filter(|row| row.method == *method).cloned().collect();
        for &(measure, name) in measures(protocol).iter().filter(|(measure, _)| STUDIED.contains(measure)) {
            let board = Board::new(&own, protocol, measure).complete();
            let means = board.means();
            let ranks = if means.is_empty() {
                Vec::new()
            } else {
                ranks::mean_ranks(&means).map_err(PictureError::from)?
            };
            counts.push(board.sets.len());
            header.extend([format!("{method} {name}"), "rank".to_owned()]);
            for (line, variant) in lines.iter_mut().zip(&names) {
                let at = board.position(&format!("{method} {variant}"));
                let mean = at.and_then(|at| Some((board.mean_over_sets(at)?.0, ranks[at])));
                line.extend(match mean {
                    Some((mean, rank)) => [format!("{:.2}", 100.0 * mean), format!("{rank:.2}")],
                    None => ["-", "-"].map(str::to_owned),
                });
            }
        }
    }
    let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
    let sets = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let title =
        format!("{protocol}: results in percent by {}, means over {sets} sets", varied.keys.join(" and "));
    Ok(Table { title, header, lines })
}

/// The result, which is the last state of training, next to the best state during training; `None` if no method has a
/// path.
fn oracle_table(rows: &[Row], protocol: Protocol) -> Option<Table> {
    let [last, best] = [Measure::Auc, Measure::OracleAuc]
        .map(|measure| Board::new(rows, protocol, measure).without_substitutes());
    let oracle = |set: &str, method: &str| {
        let at = best.sets.iter().position(|known| known == set)?;
        let mean = best.cells[at][best.position(method)?].as_ref()?.mean;
        Some(Beside { mean, std: None })
    };
    let title = format!(
        "{}; oracle: the best of {} checkpoints by the test labels, not a result",
        title(protocol, Measure::Auc),
        job::STATES
    );
    Table::of_pairs(&last, &[], &title, "oracle", oracle)
}

/// The measures shown in the table of a study.
const STUDIED: [Measure; 3] = [Measure::Auc, Measure::F1, Measure::Top1];

/// The measures that have a table.
fn measures(protocol: Protocol) -> &'static [(Measure, &'static str)] {
    const ROWS: [(Measure, &str); 3] = [(Measure::Auc, "auc"), (Measure::Ap, "ap"), (Measure::F1, "f1")];
    const CELLS: [(Measure, &str); 2] = [(Measure::Auc, "auc"), (Measure::Top1, "top1")];
    if protocol.spoil().is_some() { &CELLS } else { &ROWS }
}

/// Removes the files that the previous report wrote and this one did not. Leaves all other files alone.
fn remove_outdated(folder: &Path, written: &[PathBuf]) -> Result<(), LabError> {
    let list = folder.join(LIST);
    let before = fs::read_to_string(&list).unwrap_or_default();
    // Only files below the folder are removed, whatever the list says.
    let is_below = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    for path in before.lines().map(Path::new).filter(|path| is_below(path)).map(|path| folder.join(path)) {
        if !written.contains(&path) && path.is_file() {
            fs::remove_file(&path).map_err(LabError::file("remove", &path))?;
        }
    }
    let names = written.iter().filter_map(|path| path.strip_prefix(folder).ok()?.to_str());
    let lines = names.collect::<Vec<_>>().join("\n");
    write_whole(&list, lines.as_bytes())
}

/// The tables of one measure, each with the end of its file name.
fn tables_of(
    rows: &[Row],
    protocol: Protocol,
    measure: Measure,
    traits: &BTreeMap<String, Traits>,
) -> Result<Vec<(String, Table)>, LabError> {
    let title = title(protocol, measure);
    let board = Board::new(rows, protocol, measure);
    if board.cells.iter().flatten().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let printed = |set: &str, method: &str| paper::printed(protocol, measure, set, method);
    let mut tables = vec![(String::new(), Table::of_board(&board, &title, printed))];
    let mut add =
        |kind: &str, table: Option<Table>| tables.extend(table.map(|table| (kind.to_owned(), table)));
    let words = format!("{title}: our results and the paper's, set by set");
    let of_paper: Vec<&str> = sets::registry()
        .iter()
        .filter(|info| Some(info.benchmark) == protocol.benchmark() && !info.substitute)
        .map(|info| info.name.as_str())
        .collect();
    add("_paper", Table::of_pairs(&board, &of_paper, &words, "paper", printed));
    let words = format!("{title}: our results and the paper's, means over the sets that both have");
    add("_agreement", Table::of_agreement(&board, &words, printed));
    // Variants of a method do not compete with other methods.
    let board = Board::new(&variants::rivals(rows), protocol, measure).without_substitutes();
    if board.methods.len() > 1 {
        // Our default, and the two nets of the paper.
        let method = |at: usize| board.methods[at].split(' ').next().unwrap_or_default();
        let is_reference = |&at: &usize| method(at) == OURS || method(at).starts_with(PAPER);
        let references: Vec<usize> = (0..board.methods.len()).filter(is_reference).collect();
        for reference in if references.is_empty() { vec![0] } else { references } {
            let against = comparison::against(&board, reference).map_err(PictureError::from)?;
            let name = &board.methods[reference];
            let words =
                format!("{title}: {name} minus each other method, on the sets and seeds that both have");
            let is_papers = method(reference).starts_with(PAPER);
            let end = if is_papers { format!("_{}", file_name(name)) } else { String::new() };
            add(&format!("_comparison{end}"), Some(Table::of_comparison(&against, &words)));
            let gains = groups::gains(&board, reference, traits).map_err(PictureError::from)?;
            if !gains.is_empty() {
                let others: Vec<String> =
                    board.methods.iter().filter(|other| *other != name).cloned().collect();
                let words = format!("{title}: {name} minus each other method, by kind of set");
                add(&format!("_groups{end}"), Some(Table::of_groups(&gains, &others, &words)));
            }
        }
        if let Some(ranking) = comparison::ranking(&board).map_err(PictureError::from)? {
            add("_ranks", Some(Table::of_ranking(&ranking, &title)));
        }
    }
    Ok(tables)
}

/// Turns the label of a method, with or without a variant, into a part of a file name.
#[must_use]
pub fn file_name(label: &str) -> String {
    label.trim_end().replace(['/', ' ', ';'], "_")
}

/// Writes a picture as SVG and PNG. Returns the paths.
pub fn write_figure(folder: &Path, name: &str, figure: &Figure) -> Result<[PathBuf; 2], LabError> {
    create_folder(folder)?;
    let (svg, png) = (folder.join(format!("{name}.svg")), folder.join(format!("{name}.png")));
    write_whole(&svg, figure.svg.as_bytes())?;
    write_whole(&png, &figure.png().map_err(PictureError::from)?)?;
    Ok([svg, png])
}

/// Writes a table as Markdown, CSV and LaTeX. Returns the paths.
pub fn write_table(folder: &Path, name: &str, table: &Table) -> Result<Vec<PathBuf>, LabError> {
    create_folder(folder)?;
    let mut written = Vec::new();
    for (ending, text) in [("md", table.markdown()), ("csv", table.csv()), ("tex", table.latex())] {
        let path = folder.join(format!("{name}.{ending}"));
        write_whole(&path, text.as_bytes())?;
        written.push(path);
    }
    Ok(written)
}

fn title(protocol: Protocol, measure: Measure) -> String {
    let what = match measure {
        Measure::Auc => "AUC",
        Measure::Ap => "average precision",
        Measure::F1 => "F1",
        Measure::Top1 => "rows whose oddest cell was spoiled,",
        Measure::OracleAuc => "best AUC during training",
    };
    format!("{what} in percent; {}", how(protocol))
}

/// Describes a protocol.
fn how(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Uad => "trained on a random half of the normal rows",
        Protocol::Occ => "each class in turn is normal",
        Protocol::Fixed => "the split that comes with the sets",
        Protocol::Dte => "the split of the DTE paper, which leaks",
        Protocol::Contaminated => "trained on all rows, anomalies included",
        Protocol::CellsNoise => "cells spoiled by noise",
        Protocol::CellsSwap => "cells swapped between rows",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::row;

    #[test]
    fn a_report_removes_what_the_previous_one_wrote_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let timed = |set: &str, method: &str| Row {
            fit_seconds: Some(1.0),
            score_seconds: Some(1.0),
            ..row(set, 0, method, 0, 0.5)
        };
        let rows = [timed("wine", "knn"), timed("wine", "lof"), timed("glass", "knn"), timed("glass", "lof")];
        write(&rows, folder.path()).unwrap();
        fs::write(at("tables/occ_notes.md"), "mine").unwrap();
        assert!(at("tables/occ_auc.md").is_file() && at("figures/occ_heat.svg").is_file());
        // A manipulated list cannot remove files outside the folder.
        let outside = tempfile::NamedTempFile::new().unwrap();
        let list = fs::read_to_string(at(LIST)).unwrap();
        fs::write(at(LIST), format!("{list}{}\n../mine\n", outside.path().display())).unwrap();
        write(&[], folder.path()).unwrap();
        assert!(!at("tables/occ_auc.md").exists() && !at("figures/occ_heat.svg").exists());
        assert!(at("tables/occ_notes.md").is_file() && at(PAGE).is_file() && outside.path().is_file());
    }

    // sigma_max=2 is better on both sets: ranks 1 and 2. Means (0.8 + 0.6)/2 and (0.4 + 0.2)/2.
    #[test]
    fn variants_stand_side_by_side_with_their_ranks() {
        let varied = |set, sigma: &str, auc| Row {
            variant: format!("sigma_max={sigma}"),
            f1: Some(auc / 2.0),
            ..row(set, 0, "noise", 0, auc)
        };
        let rows = [
            varied("wine", "10", 0.4),
            varied("wine", "2", 0.8),
            varied("glass", "10", 0.2),
            varied("glass", "2", 0.6),
        ];
        let study = &variants::studied(&rows)[0];
        assert_eq!(
            study_table(study, &rows, Protocol::Occ).unwrap().markdown(),
            "occ: results in percent by sigma_max, means over 2 sets\n\n\
             | sigma_max | noise auc | rank | noise f1 | rank |\n\
             |---|---:|---:|---:|---:|\n\
             | 2 | 70.00 | 1.00 | 35.00 | 1.00 |\n\
             | 10 | 30.00 | 2.00 | 15.00 | 2.00 |\n"
        );
        // Without a common set, there is nothing to rank.
        let gaps = study_table(study, &[rows[0].clone(), rows[3].clone()], Protocol::Occ).unwrap();
        assert_eq!(gaps.lines[0], ["2", "-", "-", "-", "-"]);
    }
}
