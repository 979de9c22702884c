//! The table of results that a bench run prints.

use oddcell_bench::{
    board::{Board, Cell, Measure},
    protocol::Protocol,
    store::{Row, Status},
};

use crate::show;

/// One line per method; best first, if all methods have the same sets.
pub(super) fn standings(rows: &[Row], protocol: Protocol) -> String {
    let board = |figure| Board::new(rows, protocol, figure);
    let auc = board(Measure::Auc);
    let others = match protocol.spoil() {
        None => vec![("AP", board(Measure::Ap)), ("F1", board(Measure::F1))],
        Some(_) => vec![("top-1", board(Measure::Top1))],
    };
    let mean = |board: &Board, method| board.mean_over_sets(method);
    let n_sets = |method| mean(&auc, method).map_or(0, |mean| mean.1);
    let mut order: Vec<usize> = (0..auc.methods.len()).collect();
    let all_or_none =
        |cells: &Vec<Option<Cell>>| cells.iter().all(|cell| cell.is_some() == cells[0].is_some());
    let is_fair = auc.cells.iter().all(all_or_none);
    if is_fair {
        let value = |method| mean(&auc, method).map_or(0.0, |mean| mean.0);
        order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let figures = others.iter().map(|(name, _)| *name);
    table.set_header(["method", "AUC"].into_iter().chain(figures).chain(["sets", "failed"]));
    for method in order {
        let percent = |board: &Board| match mean(board, method) {
            Some((mean, _)) => format!("{:.2}", 100.0 * mean),
            None => "-".to_owned(),
        };
        let name = auc.methods[method].clone();
        let is_failed =
            |row: &&Row| row.protocol == protocol && row.label() == name && row.status != Status::Ok;
        let n_failed = rows.iter().filter(is_failed).count();
        let figures = std::iter::once(&auc).chain(others.iter().map(|(_, board)| board)).map(percent);
        let counts = [n_sets(method), n_failed].map(|count| count.to_string());
        table.add_row(std::iter::once(name.clone()).chain(figures).chain(counts));
    }
    show::close_up(&mut table);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    let text = show::trimmed_lines(&table.to_string());
    if is_fair { text } else { format!("{text}(means over different sets; not comparable)\n") }
}
