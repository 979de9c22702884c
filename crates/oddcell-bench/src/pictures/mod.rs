//! Chooses and draws the pictures for some results.

mod duels;
mod study;

use std::collections::{BTreeMap, BTreeSet};

use oddcell::count::counted;

use crate::{
    board::{Board, Measure},
    comparison,
    figures::{
        Axes, CriticalDifference, Figure, FigureError, Group, HeatMap, Series, critical_difference, heat_map,
        lines, scatter,
    },
    job,
    methods::OURS,
    protocol::Protocol,
    stats::StatsError,
    store::Row,
    variants,
};

/// The most methods that fit into a rank diagram.
const MOST_RANKED: usize = 20;
/// The most sets that fit into a heat map.
const MOST_MAPPED: usize = 80;
/// The most lines that a reader can tell apart.
const MOST_LINES: usize = 8;

/// Why a picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The drawing failed.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The statistics behind it failed.
    #[error(transparent)]
    Stats(#[from] StatsError),
}

/// Draws all pictures of a protocol for which there is data. Returns them with file names.
pub fn of_protocol(rows: &[Row], protocol: Protocol) -> Result<Vec<(String, Figure)>, PictureError> {
    let rows: Vec<Row> = rows.iter().filter(|row| row.protocol == protocol).cloned().collect();
    // Variants of a method are compared with each other, not with other methods.
    let plain = variants::rivals(&rows);
    let board = Board::new(&plain, protocol, Measure::Auc);
    let mut pictures = Vec::new();
    let mut add = |name: String, figure: Option<Figure>| {
        pictures.extend(figure.map(|figure| (format!("{protocol}_{name}"), figure)));
    };
    if board.sets.len() > 1 && board.methods.len() > 1 {
        add("heat".to_owned(), board_heat_map(&board, protocol)?);
        add("ranks".to_owned(), rank_diagram(&board, protocol)?);
        add("time".to_owned(), time_against_auc(&plain, &board, protocol)?);
        for (name, figure) in duels::draw(&board, protocol)? {
            add(name, Some(figure));
        }
    }
    add("path".to_owned(), path_picture(&plain, protocol)?);
    for varied in variants::studied(&rows) {
        let rows = varied.rows(&rows);
        add(varied.name(), study::draw(&varied, &rows, protocol)?);
        // One picture per method: the lines of several methods would hide each other.
        let methods: BTreeSet<&str> = rows.iter().map(|row| row.method.as_str()).collect();
        for method in methods {
            let own: Vec<Row> = rows.iter().filter(|row| row.method == method).cloned().collect();
            add(format!("{}_{method}_path", varied.name()), path_picture(&own, protocol)?);
        }
    }
    Ok(pictures)
}

/// AUC in percent.
fn percent(share: f64) -> f64 {
    100.0 * share
}

fn n_sets_text(board: &Board) -> String {
    counted(board.sets.len(), "set", "sets")
}

fn board_heat_map(board: &Board, protocol: Protocol) -> Result<Option<Figure>, FigureError> {
    let cells: Vec<Option<f64>> =
        board.cells.iter().flatten().map(|cell| cell.as_ref().map(|cell| percent(cell.mean))).collect();
    if cells.iter().all(Option::is_none) || board.sets.len() > MOST_MAPPED {
        return Ok(None);
    }
    let map = HeatMap {
        title: &format!("AUC by set and method ({})", protocol.title()),
        row_title: "",
        column_title: "",
        value_title: "AUC (%)",
        row_names: &board.sets,
        column_names: &board.methods,
        cells: &cells,
        decimals: 1,
    };
    heat_map(&map).map(Some)
}

fn rank_diagram(board: &Board, protocol: Protocol) -> Result<Option<Figure>, PictureError> {
    let Some(ranking) = comparison::ranking(board)?.filter(|ranking| ranking.methods.len() <= MOST_RANKED)
    else {
        return Ok(None);
    };
    let (n_methods, n_sets) = (ranking.methods.len(), ranking.n_sets);
    let diagram = CriticalDifference {
        title: &format!("Mean ranks by AUC of {n_methods} methods over {n_sets} sets ({})", protocol.title()),
        names: &ranking.methods,
        mean_ranks: &ranking.mean_ranks,
        critical_difference: Some(ranking.critical_difference),
        cliques: &ranking.cliques,
    };
    Ok(Some(critical_difference(&diagram)?))
}

/// Mean seconds against mean AUC of the comparable methods; `None` if there are none.
fn time_against_auc(rows: &[Row], board: &Board, protocol: Protocol) -> Result<Option<Figure>, FigureError> {
    let (whole, _) = board.comparable();
    if whole.sets.is_empty() {
        return Ok(None);
    }
    // Every set has the same weight, whatever its number of runs.
    let seconds = |label: &str| {
        let of_set = |set: &String| {
            let runs = rows.iter().filter(|row| row.set == *set && row.label() == label);
            let runs: Vec<f64> = runs.filter_map(|row| Some(row.fit_seconds? + row.score_seconds?)).collect();
            runs.iter().sum::<f64>() / runs.len() as f64
        };
        whole.sets.iter().map(of_set).sum::<f64>() / whole.sets.len() as f64
    };
    let group = |name: &str, is_in: &dyn Fn(&str) -> bool| {
        let methods: Vec<usize> = (0..whole.methods.len()).filter(|&at| is_in(&whole.methods[at])).collect();
        let point = |&method: &usize| {
            let (auc, _) = whole.mean_over_sets(method)?;
            Some((seconds(&whole.methods[method]), percent(auc)))
        };
        Group {
            name: name.to_owned(),
            points: methods.iter().filter_map(point).collect(),
            labels: Some(methods.iter().map(|&method| whole.methods[method].clone()).collect()),
        }
    };
    let is_ours = |method: &str| method.starts_with(OURS);
    let groups = [group("noise evaluation", &is_ours), group("other methods", &|method| !is_ours(method))];
    let groups: Vec<Group> = groups.into_iter().filter(|group| !group.points.is_empty()).collect();
    let title = format!("Time and AUC, means over {} ({})", n_sets_text(&whole), protocol.title());
    let axes = Axes {
        title: &title,
        x_title: "time to fit and score, one run (s)",
        y_title: "AUC (%)",
        log_x: true,
    };
    scatter(&axes, &groups).map(Some)
}

/// The mean AUC during training, for the comparable methods that record it, over the sets that all of them have; if
/// these are too many methods, only for noise evaluation. Some paths are incomplete because training was short or
/// stopped early. A method with an incomplete path on a set is left out there; otherwise only the longest trainings
/// would count.
fn path_picture(rows: &[Row], protocol: Protocol) -> Result<Option<Figure>, FigureError> {
    let is_whole = |row: &&Row| read_path(&row.path).len() == job::STATES;
    let part: BTreeSet<(String, &str)> =
        rows.iter().filter(|row| !is_whole(row)).map(|row| (row.label(), row.set.as_str())).collect();
    let is_shown = |row: &&Row| !part.contains(&(row.label(), &row.set));
    let mut rows: Vec<Row> = rows.iter().filter(is_shown).cloned().collect();
    let comparable = |rows: &[Row]| Board::new(rows, protocol, Measure::Auc).comparable().0;
    let mut board = comparable(&rows);
    if board.methods.len() > MOST_LINES {
        rows.retain(|row| row.method.starts_with(OURS));
        board = comparable(&rows);
    }
    if board.sets.is_empty() || board.methods.len() > MOST_LINES {
        return Ok(None);
    }
    let mut paths = BTreeMap::<(String, &str), Vec<Vec<(f64, f64)>>>::new();
    for row in &rows {
        paths.entry((row.label(), &row.set)).or_default().push(read_path(&row.path));
    }
    let line = |label: &String| {
        // Every set has the same weight, whatever its number of runs.
        let mean_at = |place: usize| {
            let of_set = |set: &String| {
                let paths = &paths[&(label.clone(), set.as_str())];
                paths.iter().map(|path| path[place].1).sum::<f64>() / paths.len() as f64
            };
            board.sets.iter().map(of_set).sum::<f64>() / board.sets.len() as f64
        };
        let share = |place: usize| 100.0 * (place + 1) as f64 / job::STATES as f64;
        let points = (0..job::STATES).map(|place| (share(place), percent(mean_at(place)))).collect();
        Series { name: label.clone(), points, band: None }
    };
    let series: Vec<Series> = board.methods.iter().map(line).collect();
    let title = format!("AUC during training, means over {} ({})", n_sets_text(&board), protocol.title());
    let axes = Axes { title: &title, x_title: "share of the training (%)", y_title: "AUC (%)", log_x: false };
    lines(&axes, &series).map(Some)
}

/// `share:auc share:auc …`
fn read_path(text: &str) -> Vec<(f64, f64)> {
    let place = |place: &str| {
        let (share, auc) = place.split_once(':')?;
        Some((share.parse().ok()?, auc.parse().ok()?))
    };
    text.split(' ').filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::row;

    fn with_path(method: &str, seed: u64, n_places: usize) -> Row {
        let place = |place: usize| format!("{}:0.5", place as f64 / job::STATES as f64);
        let path = (1..=n_places).map(place).collect::<Vec<_>>().join(" ");
        Row { path, ..row("wine", 0, method, seed, 0.5) }
    }

    fn drawn(rows: &[Row]) -> String {
        path_picture(rows, Protocol::Occ).unwrap().expect("the rows have paths").svg
    }

    #[test]
    fn a_method_has_no_line_where_one_of_its_runs_ended_early() {
        let mut rows = [0, 1].map(|seed| with_path("noise-fast", seed, job::STATES)).to_vec();
        rows.extend([with_path("neutralad", 0, job::STATES), with_path("neutralad", 1, job::STATES)]);
        assert!(drawn(&rows).contains("neutralad"));
        rows[3] = with_path("neutralad", 1, 12);
        let svg = drawn(&rows);
        assert!(svg.contains("noise-fast") && !svg.contains("neutralad"));
    }

    #[test]
    fn of_too_many_methods_only_noise_evaluation_is_drawn() {
        let names =
            ["noise-fast", "noise-best", "ae", "deepsvdd", "anogan", "neutralad", "plad", "dpad", "scad"];
        let rows = names.map(|name| with_path(name, 0, job::STATES));
        assert!(drawn(&rows[1..]).contains("deepsvdd"));
        let svg = drawn(&rows);
        assert!(svg.contains("noise-fast") && svg.contains("noise-best") && !svg.contains("deepsvdd"));
    }
}
