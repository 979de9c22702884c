//! Two methods against each other: a point for every set.
//!
//! A mean over hundreds of sets hides where a method gains and where it loses. Points above the line are sets on which the
//! reference is better.

use crate::{
    board::{Board, Cell},
    figures::{Axes, Figure, FigureError, Group, duel},
    methods::OURS,
    protocol::Protocol,
    report::file_name,
};

use super::percent;

/// With fewer sets, a table shows more than a cloud.
const LEAST_SETS: usize = 12;
/// More pictures than this are too many to look at.
const MOST_RIVALS: usize = 20;

/// Our default, or the first method without it, against every other method; with the ends of the file names.
pub(super) fn draw(board: &Board, protocol: Protocol) -> Result<Vec<(String, Figure)>, FigureError> {
    let board = board.without_substitutes();
    let reference = board.position(OURS).unwrap_or(0);
    let others = (0..board.methods.len()).filter(|&other| other != reference);
    let mut pictures = Vec::new();
    for other in others.take(MOST_RIVALS) {
        let pair = |cells: &Vec<Option<Cell>>| {
            let (ours, others) = cells[reference].as_ref()?.on_common_seeds(cells[other].as_ref()?)?;
            Some((percent(others), percent(ours)))
        };
        let points: Vec<(f64, f64)> = board.cells.iter().filter_map(pair).collect();
        if points.len() >= LEAST_SETS {
            let [ours, others] = [reference, other].map(|at| board.methods[at].as_str());
            let name = file_name(&format!("duel_{ours}_{others}"));
            pictures.push((name, one(ours, others, &points, protocol)?));
        }
    }
    Ok(pictures)
}

fn one(ours: &str, other: &str, points: &[(f64, f64)], protocol: Protocol) -> Result<Figure, FigureError> {
    let group = |name: String, is_in: fn(&(f64, f64)) -> bool| {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(is_in).collect();
        Group { name: format!("{name} on {}", points.len()), points, labels: None }
    };
    let groups = [
        group(format!("{ours} better"), |(x, y)| y > x),
        group(format!("{other} better"), |(x, y)| y < x),
        group("equal".to_owned(), |(x, y)| y.total_cmp(x).is_eq()),
    ];
    let groups: Vec<Group> = groups.into_iter().filter(|group| !group.points.is_empty()).collect();
    let title = format!("{ours} against {other} on {} sets ({})", points.len(), protocol.title());
    let (x_title, y_title) = (format!("AUC of {other} (%)"), format!("AUC of {ours} (%)"));
    duel(&Axes { title: &title, x_title: &x_title, y_title: &y_title, log_x: false }, &groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Measure, tests::row};

    // noise is ahead of knn on 7 of 12 sets, behind on 4, and equal on one; lof has one set only.
    #[test]
    fn a_picture_counts_the_sets_on_which_each_is_better() {
        let mut rows = vec![row("set00", 0, "lof", 0, 0.5)];
        for set in 0..12 {
            let auc = match set {
                0..7 => 0.8,
                7..11 => 0.6,
                _ => 0.7,
            };
            rows.push(row(&format!("set{set:02}"), 0, "noise", 0, auc));
            rows.push(row(&format!("set{set:02}"), 0, "knn", 0, 0.7));
        }
        let drawn = draw(&Board::new(&rows, Protocol::Occ, Measure::Auc), Protocol::Occ).unwrap();
        assert_eq!(drawn.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["duel_noise_knn"]);
        for text in
            ["noise better on 7", "knn better on 4", "equal on 1", "noise against knn on 12 sets (occ)"]
        {
            assert!(drawn[0].1.svg.contains(text), "{text}");
        }
    }
}
