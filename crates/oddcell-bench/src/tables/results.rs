//! Tables of results by set and method, alone or next to other numbers.

use oddcell::count::counted;

use super::{NONE, Table, percent};
use crate::{
    board::{Board, Cell},
    sets,
};

/// A number shown next to one of our results; also between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The number.
    pub mean: f64,
    /// Its standard deviation, if known.
    pub std: Option<f64>,
}

impl Table {
    /// Sets × methods, with means and, for several seeds, standard deviations. The last lines are means: over the sets
    /// of each method, over its experiments, over the sets and seeds that all comparable methods have, and the paper's
    /// mean over the same sets. Substitute sets are shown but do not count in means.
    #[must_use]
    pub fn of_board(board: &Board, title: &str, printed: impl Fn(&str, &str) -> Option<Beside>) -> Self {
        let header = std::iter::once("set".to_owned()).chain(board.methods.iter().cloned()).collect();
        let line = |(set, cells): (&String, &Vec<Option<Cell>>)| {
            let name = if sets::is_substitute(set) { format!("{set} (substitute)") } else { set.clone() };
            std::iter::once(name).chain(cells.iter().map(|cell| cell_text(cell.as_ref()))).collect()
        };
        let mut lines: Vec<Vec<String>> = board.sets.iter().zip(&board.cells).map(line).collect();
        let board = &board.without_substitutes();
        let methods = || 0..board.methods.len();
        let mean = |mean: Option<(f64, usize)>| match mean {
            Some((mean, count)) => format!("{} ({count})", percent(mean)),
            None => NONE.to_owned(),
        };
        let foot =
            |name: &str, figures: Vec<String>| std::iter::once(name.to_owned()).chain(figures).collect();
        lines.push(foot("mean (sets)", methods().map(|method| mean(board.mean_over_sets(method))).collect()));
        if board.cells.iter().flatten().flatten().any(|cell| cell.n_classes > 1) {
            let figures = methods().map(|method| mean(board.mean_over_experiments(method))).collect();
            lines.push(foot("mean (experiments)", figures));
        }
        let (common, _) = board.comparable();
        if board.methods.len() > 1 && !common.sets.is_empty() {
            let figure = |method: usize| {
                let at = common.position(&board.methods[method])?;
                Some(percent(common.mean_over_sets(at)?.0))
            };
            let figures = methods().map(|method| figure(method).unwrap_or_else(|| NONE.to_owned())).collect();
            let sets = counted(common.sets.len(), "common set", "common sets");
            lines.push(foot(&format!("mean ({sets})"), figures));
        }
        let seeds = |method: usize| {
            let counts = || board.of_method(method).map(|cell| cell.by_seed.len());
            match (counts().min(), counts().max()) {
                (Some(least), Some(most)) if least == most => least.to_string(),
                (Some(least), Some(most)) => format!("{least} to {most}"),
                _ => NONE.to_owned(),
            }
        };
        lines.push(foot("seeds", methods().map(seeds).collect()));
        let pairs = |method: usize| pairs(board, method, &printed);
        if methods().any(|method| !pairs(method).is_empty()) {
            let paper = |method: usize| {
                let pairs = pairs(method);
                mean((!pairs.is_empty()).then(|| (mean_of(&pairs, |pair| pair.other.mean), pairs.len())))
            };
            lines.push(foot("paper, same sets", methods().map(paper).collect()));
        }
        Self { title: title.to_owned(), header, lines }
    }

    /// Our result of every method next to `other`'s number, in a column called `name`, for all sets that have such a
    /// number: those of the board and `more`. The last lines are means over the sets that have both, and over their
    /// experiments. Methods without such a set are left out; `None` if no method is left.
    #[must_use]
    pub fn of_pairs(
        board: &Board,
        more: &[&str],
        title: &str,
        name: &str,
        other: impl Fn(&str, &str) -> Option<Beside>,
    ) -> Option<Self> {
        let of_method = |(method, label)| (method, label, pairs(board, method, &other));
        let by_method: Vec<(usize, &String, Vec<Pair>)> = (board.methods.iter().enumerate().map(of_method))
            .filter(|(_, _, pairs)| !pairs.is_empty())
            .collect();
        if by_method.is_empty() {
            return None;
        }
        let own = board.sets.iter().zip(&board.cells).map(|(set, cells)| (set.as_str(), Some(cells)));
        let is_more = |set: &&str| board.sets.iter().all(|own| own != set);
        let mut lines: Vec<Vec<String>> = Vec::new();
        for (set, cells) in own.chain(more.iter().copied().filter(is_more).map(|set| (set, None))) {
            let others: Vec<Option<Beside>> =
                by_method.iter().map(|(_, label, _)| other(set, label)).collect();
            if others.iter().all(Option::is_none) {
                continue;
            }
            let two = |((method, _, _), other): (&(usize, &String, Vec<Pair>), &Option<Beside>)| {
                let ours = cell_text(cells.and_then(|cells| cells[*method].as_ref()));
                [ours, other.map_or_else(|| NONE.to_owned(), |other| with_spread(other.mean, other.std))]
            };
            let figures = by_method.iter().zip(&others).flat_map(two);
            lines.push(std::iter::once(set.to_owned()).chain(figures).collect());
        }
        let mut foot = |first: &str, weight: fn(&Pair) -> usize| {
            let two = |(_, _, pairs): &(usize, &String, Vec<Pair>)| {
                let count: usize = pairs.iter().map(weight).sum();
                let mean = |of: fn(&Pair) -> f64| {
                    percent(
                        pairs.iter().map(|pair| weight(pair) as f64 * of(pair)).sum::<f64>() / count as f64,
                    )
                };
                [format!("{} ({count})", mean(|pair| pair.ours.mean)), mean(|pair| pair.other.mean)]
            };
            lines.push(std::iter::once(first.to_owned()).chain(by_method.iter().flat_map(two)).collect());
        };
        foot("mean (sets)", |_| 1);
        if board.cells.iter().flatten().flatten().any(|cell| cell.n_classes > 1) {
            foot("mean (experiments)", |pair| pair.ours.n_classes);
        }
        let names = by_method.iter().flat_map(|(_, label, _)| [(*label).clone(), format!("{label}, {name}")]);
        let header = std::iter::once("set".to_owned()).chain(names).collect();
        Some(Self { title: title.to_owned(), header, lines })
    }

    /// How close our result of every method is to the paper's; `None` if the paper has no numbers.
    #[must_use]
    pub fn of_agreement(
        board: &Board,
        title: &str,
        printed: impl Fn(&str, &str) -> Option<Beside>,
    ) -> Option<Self> {
        let header = ["method", "sets", "ours", "paper", "difference", "mean absolute", "largest"];
        let mut lines = Vec::new();
        for (method, name) in board.methods.iter().enumerate() {
            let pairs = pairs(board, method, &printed);
            let gap = |pair: &Pair| pair.ours.mean - pair.other.mean;
            let Some(widest) = pairs.iter().max_by(|a, b| gap(a).abs().total_cmp(&gap(b).abs())) else {
                continue;
            };
            lines.push(vec![
                name.clone(),
                pairs.len().to_string(),
                percent(mean_of(&pairs, |pair| pair.ours.mean)),
                percent(mean_of(&pairs, |pair| pair.other.mean)),
                format!("{:+.2}", 100.0 * mean_of(&pairs, gap)),
                percent(mean_of(&pairs, |pair| gap(pair).abs())),
                format!("{:+.2} {}", 100.0 * gap(widest), widest.set),
            ]);
        }
        let header = header.map(str::to_owned).to_vec();
        (!lines.is_empty()).then(|| Self { title: title.to_owned(), header, lines })
    }
}

/// Our result on a set, and another number.
struct Pair<'a> {
    set: &'a str,
    ours: &'a Cell,
    other: Beside,
}

/// The mean of `of` over pairs.
fn mean_of(pairs: &[Pair], of: impl Fn(&Pair) -> f64) -> f64 {
    pairs.iter().map(of).sum::<f64>() / pairs.len() as f64
}

/// The pairs of a method, for the sets that have both numbers.
fn pairs<'a>(
    board: &'a Board,
    method: usize,
    other: &impl Fn(&str, &str) -> Option<Beside>,
) -> Vec<Pair<'a>> {
    let pair = |(set, cells): (&'a String, &'a Vec<Option<Cell>>)| {
        Some(Pair { set, ours: cells[method].as_ref()?, other: other(set, &board.methods[method])? })
    };
    board.sets.iter().zip(&board.cells).filter_map(pair).collect()
}

fn cell_text(cell: Option<&Cell>) -> String {
    cell.map_or_else(|| NONE.to_owned(), |cell| with_spread(cell.mean, cell.std))
}

fn with_spread(mean: f64, std: Option<f64>) -> String {
    match std {
        Some(std) => format!("{}±{}", percent(mean), percent(std)),
        None => percent(mean),
    }
}
