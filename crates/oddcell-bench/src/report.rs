//! Tables and pictures of results, written beside them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    LabError,
    board::{Board, Figure},
    comparison,
    figures::Figure as Drawn,
    methods::OURS,
    page::Page,
    paper,
    pictures::{self, PictureError},
    protocol::Protocol,
    stats::ranks,
    store::Row,
    tables::Table,
    variants::{self, Varied},
};

/// The page with all pictures.
pub const PAGE: &str = "report.html";

/// Writes the tables of all results into `folder/tables`, the pictures into `folder/figures`, and a page that shows them
/// beside these folders; gives their paths.
pub fn write(rows: &[Row], folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let (tables, figures) = (folder.join("tables"), folder.join("figures"));
    for folder in [&tables, &figures] {
        fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
        remove_outdated(folder)?;
    }
    let mut written = Vec::new();
    let mut page = Page::new(rows);
    for protocol in Protocol::ALL {
        let rows: Vec<Row> = rows.iter().filter(|row| row.protocol == protocol).cloned().collect();
        let compared = variants::not_studied(&rows);
        page.begin(protocol, how(protocol));
        for &(figure, name) in measures(protocol) {
            for (kind, table) in tables_of(&compared, protocol, figure)? {
                let name = format!("{protocol}_{name}{kind}");
                written.extend(write_table(&tables, &name, &table)?);
                page.keep(name, table);
            }
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
    Ok(written)
}

/// Variants side by side: every figure's mean over the sets that all of them have, and the mean rank among the variants of
/// the same method.
fn study_table(varied: &Varied, rows: &[Row], protocol: Protocol) -> Result<Table, LabError> {
    let rows = varied.rows(rows);
    let methods: BTreeSet<&String> = rows.iter().map(|row| &row.method).collect();
    let names = variants::names(&rows);
    let mut header = vec![varied.keys.join(", ")];
    let mut lines: Vec<Vec<String>> = names.iter().map(|name| vec![variants::values(name)]).collect();
    let mut counts = Vec::new();
    for method in methods {
        let own: Vec<Row> = rows.iter().filter(|row| row.method == *method).cloned().collect();
        for &(figure, name) in measures(protocol).iter().filter(|(figure, _)| STUDIED.contains(figure)) {
            let board = Board::new(&own, protocol, figure).complete();
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
        format!("{protocol}: figures in percent by {}, means over {sets} sets", varied.keys.join(" and "));
    Ok(Table { title, header, lines })
}

/// Of these, what is worth a column beside the others.
const STUDIED: [Figure; 3] = [Figure::Auc, Figure::F1, Figure::Top1];

/// What is worth a table.
fn measures(protocol: Protocol) -> &'static [(Figure, &'static str)] {
    const ROWS: [(Figure, &str); 4] =
        [(Figure::Auc, "auc"), (Figure::Ap, "ap"), (Figure::F1, "f1"), (Figure::OracleAuc, "oracle")];
    const CELLS: [(Figure, &str); 2] = [(Figure::Auc, "auc"), (Figure::Top1, "top1")];
    if protocol.spoil().is_some() { &CELLS } else { &ROWS }
}

/// Takes away what an earlier report wrote: what is not drawn any more must not stay beside what is.
fn remove_outdated(folder: &Path) -> Result<(), LabError> {
    for entry in fs::read_dir(folder).map_err(LabError::file("read", folder))? {
        let path = entry.map_err(LabError::file("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = Protocol::ALL.iter().any(|protocol| name.starts_with(&format!("{protocol}_")));
        if is_ours && path.is_file() {
            fs::remove_file(&path).map_err(LabError::file("remove", &path))?;
        }
    }
    Ok(())
}

/// The tables of one figure, each with the end of its name.
fn tables_of(
    rows: &[Row],
    protocol: Protocol,
    figure: Figure,
) -> Result<Vec<(&'static str, Table)>, LabError> {
    let title = title(protocol, figure);
    let printed = |set: &str, method: &str| paper::printed(protocol, figure, set, method);
    let board = Board::new(rows, protocol, figure);
    if board.cells.iter().flatten().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let mut tables = vec![("", Table::of_board(&board, &title, printed))];
    let words = format!("{title}: here and in the paper, means over the sets that both have");
    tables.extend(Table::of_agreement(&board, &words, printed).map(|table| ("_agreement", table)));
    // Variants of a method are no rivals of the others, and an oracle takes no part in comparisons.
    let plain: Vec<Row> = rows.iter().filter(|row| row.variant.is_empty()).cloned().collect();
    let board = Board::new(&plain, protocol, figure);
    if figure != Figure::OracleAuc && board.methods.len() > 1 {
        let reference = board.methods.iter().position(|method| method == OURS).unwrap_or(0);
        let against = comparison::against(&board, reference).map_err(PictureError::from)?;
        let words = format!("{title}: {} minus the others, set by set", board.methods[reference]);
        tables.push(("_comparison", Table::of_comparison(&against, &words)));
        if let Some(ranking) = comparison::ranking(&board).map_err(PictureError::from)? {
            tables.push(("_ranks", Table::of_ranking(&ranking, &title)));
        }
    }
    Ok(tables)
}

/// Writes a picture as SVG and as PNG; gives their paths.
pub fn write_figure(folder: &Path, name: &str, figure: &Drawn) -> Result<[PathBuf; 2], LabError> {
    fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
    let (svg, png) = (folder.join(format!("{name}.svg")), folder.join(format!("{name}.png")));
    write_whole(&svg, figure.svg.as_bytes())?;
    write_whole(&png, &figure.png().map_err(PictureError::from)?)?;
    Ok([svg, png])
}

/// Writes a table as Markdown, CSV and LaTeX; gives their paths.
pub fn write_table(folder: &Path, name: &str, table: &Table) -> Result<Vec<PathBuf>, LabError> {
    fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
    let mut written = Vec::new();
    for (ending, text) in [("md", table.markdown()), ("csv", table.csv()), ("tex", table.latex())] {
        let path = folder.join(format!("{name}.{ending}"));
        write_whole(&path, text.as_bytes())?;
        written.push(path);
    }
    Ok(written)
}

fn title(protocol: Protocol, figure: Figure) -> String {
    let what = match figure {
        Figure::Auc => "AUC",
        Figure::Ap => "average precision",
        Figure::F1 => "F1",
        Figure::Top1 => "share of rows whose oddest cell was spoiled,",
        Figure::OracleAuc => "AUC of the best of 20 places of the training by test labels (oracle)",
    };
    format!("{what} in percent, {}", how(protocol))
}

/// What a protocol does, in words.
fn how(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Uad => "a random half of the normal rows for training",
        Protocol::Occ => "each class in turn as normal",
        Protocol::Dte => "the split of the DTE paper, which leaks",
        Protocol::Contaminated => "trained on everything",
        Protocol::CellsNoise => "cells spoiled by noise",
        Protocol::CellsSwap => "cells swapped between rows",
    }
}

/// Written beside, then renamed: never half a file.
fn write_whole(path: &Path, content: &[u8]) -> Result<(), LabError> {
    let part = path.with_extension("part");
    fs::write(&part, content).map_err(LabError::file("write", &part))?;
    fs::rename(&part, path).map_err(LabError::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::row;

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
            "occ: figures in percent by sigma_max, means over 2 sets\n\n\
             | sigma_max | noise auc | rank | noise f1 | rank |\n\
             |---|---:|---:|---:|---:|\n\
             | 2 | 70.00 | 1.00 | 35.00 | 1.00 |\n\
             | 10 | 30.00 | 2.00 | 15.00 | 2.00 |\n"
        );
        // Without a set that both variants have, there is nothing to rank.
        let gaps = study_table(study, &[rows[0].clone(), rows[3].clone()], Protocol::Occ).unwrap();
        assert_eq!(gaps.lines[0], ["2", "-", "-", "-", "-"]);
    }
}
