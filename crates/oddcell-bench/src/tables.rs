//! Tables of text: Markdown to read, CSV to go on with, LaTeX to print.

use std::collections::BTreeMap;

use oddcell::count::counted;

use crate::{
    board::{Board, Cell},
    calibration::{Calibrated, RATES},
    comparison::{ALPHA, Against, Ranking},
    sets,
    stats::summary,
    timing::Timing,
};

/// A table with a title and a header; the first column names the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The cells, line by line.
    pub lines: Vec<Vec<String>>,
}

/// What stands where there is no figure.
const NONE: &str = "-";

/// A figure that stands beside one of ours, as a share like it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The figure.
    pub mean: f64,
    /// Its standard deviation, where it has one.
    pub std: Option<f64>,
}

impl Table {
    /// Sets × methods with means and, where there are several seeds, standard deviations; below them the mean over the sets
    /// of each method and over the experiments, the mean over the sets and seeds that all methods have which can be compared,
    /// and beside what the paper prints its mean over the same sets. Stand-ins are shown, and take no part in means.
    #[must_use]
    pub fn of_board(board: &Board, title: &str, printed: impl Fn(&str, &str) -> Option<Beside>) -> Self {
        let header = std::iter::once("set".to_owned()).chain(board.methods.iter().cloned()).collect();
        let line = |(set, cells): (&String, &Vec<Option<Cell>>)| {
            let name = if sets::is_stand_in(set) { format!("{set} (stand-in)") } else { set.clone() };
            std::iter::once(name).chain(cells.iter().map(|cell| cell_text(cell.as_ref()))).collect()
        };
        let mut lines: Vec<Vec<String>> = board.sets.iter().zip(&board.cells).map(line).collect();
        let board = &board.without_stand_ins();
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

    /// What every method has on the sets, and beside it `other`'s figure under `name`, on all sets that have one: those of the
    /// board and `more`. Below them the means over the sets that have both, and over their experiments. Methods without any
    /// set that has both are left out; `None` if there is none.
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

    /// How close every method comes to what the paper prints for it; `None` if it prints nothing.
    #[must_use]
    pub fn of_agreement(
        board: &Board,
        title: &str,
        printed: impl Fn(&str, &str) -> Option<Beside>,
    ) -> Option<Self> {
        let header = ["method", "sets", "here", "paper", "difference", "mean size", "largest"];
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

    /// One method against the others.
    #[must_use]
    pub fn of_comparison(all: &[Against], title: &str) -> Self {
        let header = [
            "method",
            "sets",
            "difference",
            "95 % interval",
            "won/tied/lost",
            "t-test p",
            "Wilcoxon p",
            "Holm p",
        ];
        let line = |against: &Against| {
            let Against { interval, record, .. } = against;
            vec![
                against.method.clone(),
                against.n_sets.to_string(),
                format!("{:+.2}", 100.0 * against.difference),
                format!("{:+.2} to {:+.2}", 100.0 * interval.low, 100.0 * interval.high),
                format!("{}/{}/{}", record.wins, record.ties, record.losses),
                probability(against.t_test),
                probability(against.wilcoxon),
                probability(against.holm),
            ]
        };
        let lines = all.iter().map(line).collect();
        Self { title: title.to_owned(), header: header.map(str::to_owned).to_vec(), lines }
    }

    /// Mean ranks, best first.
    #[must_use]
    pub fn of_ranking(ranking: &Ranking, title: &str) -> Self {
        let mut title = format!(
            "{title}: mean ranks over {} sets; critical difference {:.2} (Nemenyi, level {ALPHA})",
            ranking.n_sets, ranking.critical_difference
        );
        if let Some(p_value) = ranking.friedman {
            title = format!("{title}; Friedman p {}", probability(p_value));
        }
        if !ranking.left_out.is_empty() {
            title = format!("{title}; left out for lack of sets: {}", ranking.left_out.join(", "));
        }
        let line = |(method, rank): (&String, &f64)| vec![method.clone(), format!("{rank:.2}")];
        let lines = ranking.methods.iter().zip(&ranking.mean_ranks).map(line).collect();
        Self { title, header: ["method", "mean rank"].map(str::to_owned).to_vec(), lines }
    }

    /// Seconds here, means over the seeds, and in the paper where it has any for the same work.
    #[must_use]
    pub fn of_timings(timings: &[Timing], threads: usize) -> Self {
        let mut works = BTreeMap::<usize, Vec<&Timing>>::new();
        for timing in timings {
            // In the order in which they were measured first.
            let at = timings.iter().position(|other| other.is_like(timing)).unwrap_or_default();
            works.entry(at).or_default().push(timing);
        }
        let has_paper = timings.iter().any(|timing| timing.printed().is_some());
        let line = |all: &Vec<&Timing>| {
            let first = all[0];
            let seconds: Vec<f64> = all.iter().map(|timing| timing.seconds).collect();
            let spread = summary::standard_deviation(&seconds);
            let mean = summary::mean(&seconds).unwrap_or_default();
            let here = spread.map_or_else(|| format!("{mean:.2}"), |spread| format!("{mean:.2}±{spread:.2}"));
            let printed = first.printed().map_or_else(|| NONE.to_owned(), |seconds| format!("{seconds:.2}"));
            let names = [&first.set, &first.method, &first.work].map(String::clone);
            let counts = [first.train_rows, first.rows].map(|count| count.to_string());
            names.into_iter().chain(counts).chain(has_paper.then_some(printed)).chain([here]).collect()
        };
        let here = format!("here, {} (s)", counted(threads, "thread", "threads"));
        let mut header = ["set", "method", "work", "training rows", "rows"].map(str::to_owned).to_vec();
        header.extend(has_paper.then(|| "paper, V100 (s)".to_owned()));
        header.push(here);
        let title = "Seconds of one epoch and of judging".to_owned();
        Self { title, header, lines: works.values().map(line).collect() }
    }

    /// What p-values and false-discovery rates came to, a line per set and seed, and their means.
    #[must_use]
    pub fn of_calibrations(all: &[Calibrated]) -> Self {
        let figures = |one: &Calibrated| {
            [one.ks, one.ks_by_chance, 100.0 * one.at_one_percent]
                .into_iter()
                .chain(
                    RATES
                        .iter()
                        .enumerate()
                        .flat_map(|(at, _)| [one.false_share[at], one.found[at]].map(|share| 100.0 * share)),
                )
                .collect::<Vec<f64>>()
        };
        let texts = |figures: &[f64]| {
            let digits = |at: usize| if at < 2 { 3 } else { 1 };
            figures
                .iter()
                .enumerate()
                .map(|(at, figure)| format!("{figure:.*}", digits(at)))
                .collect::<Vec<_>>()
        };
        let line = |one: &Calibrated| {
            let counts = [one.seed as usize, one.train_rows, one.members, one.normal_rows]
                .map(|count| count.to_string());
            [one.set.clone()].into_iter().chain(counts).chain(texts(&figures(one))).collect()
        };
        let mut lines: Vec<Vec<String>> = all.iter().map(line).collect();
        if !all.is_empty() {
            let columns = figures(&all[0]).len();
            let mean = |at: usize| all.iter().map(|one| figures(one)[at]).sum::<f64>() / all.len() as f64;
            let means: Vec<f64> = (0..columns).map(mean).collect();
            let nothing = std::iter::repeat_n(String::new(), 4);
            lines.push(["mean".to_owned()].into_iter().chain(nothing).chain(texts(&means)).collect());
        }
        let mut header =
            ["set", "seed", "rows", "members", "normal rows", "KS", "KS by chance (1 %)", "p ≤ 0.01 (%)"]
                .map(str::to_owned)
                .to_vec();
        for rate in RATES {
            header.push(format!("false at FDR {rate} (%)"));
            header.push(format!("found at FDR {rate} (%)"));
        }
        let title = "P-values of normal test rows, and what false-discovery rates find".to_owned();
        Self { title, header, lines }
    }

    /// For people.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|---{}|\n", "|---:".repeat(self.header.len().saturating_sub(1)));
        let lines: String = self.lines.iter().map(|cells| line(cells)).collect();
        format!("{}\n\n{}{rule}{lines}", self.title, line(&self.header))
    }

    /// For programs.
    ///
    /// # Panics
    /// If lines differ in length: a bug of whoever made the table.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in std::iter::once(&self.header).chain(&self.lines) {
            writer.write_record(line).expect("a vector takes every record of the same length");
        }
        let bytes = writer.into_inner().expect("a vector can be flushed");
        String::from_utf8(bytes).expect("text stays text")
    }

    /// For papers; needs no packages.
    #[must_use]
    pub fn latex(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| latex_text(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let lines: String = self.lines.iter().map(|cells| line(cells)).collect();
        let columns = format!("l{}", "r".repeat(self.header.len().saturating_sub(1)));
        format!(
            "% {}\n\\begin{{tabular}}{{{columns}}}\n\\hline\n{}\\hline\n{lines}\\hline\n\\end{{tabular}}\n",
            self.title,
            line(&self.header)
        )
    }
}

/// A figure of ours on a set, and another one.
struct Pair<'a> {
    set: &'a str,
    ours: &'a Cell,
    other: Beside,
}

/// The mean of something over pairs.
fn mean_of(pairs: &[Pair], of: impl Fn(&Pair) -> f64) -> f64 {
    pairs.iter().map(of).sum::<f64>() / pairs.len() as f64
}

/// The pairs of a method, on the sets that have both figures.
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

fn probability(p_value: f64) -> String {
    if p_value < 1e-4 { format!("{p_value:.1e}") } else { format!("{p_value:.4}") }
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// Text in which nothing means anything to LaTeX.
fn latex_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '±' => escaped.push_str("$\\pm$"),
            '≤' => escaped.push_str("$\\le$"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\^{}"),
            '~' => escaped.push_str("\\~{}"),
            '|' | '<' | '>' => {
                escaped.push('$');
                escaped.push(letter);
                escaped.push('$');
            }
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{Figure, tests::row},
        protocol::Protocol,
        store::Row,
    };

    /// The paper "prints" 50 for knn on every set but glass, and nothing for lof.
    fn printed(set: &str, method: &str) -> Option<Beside> {
        (method == "knn" && set != "glass").then_some(Beside { mean: 0.5, std: Some(0.02) })
    }

    fn board() -> Board {
        let mut rows = Vec::new();
        for (set, knn, lof) in [("wine", 0.7, 0.25), ("glass", 0.9, 0.75), ("iris", 0.4, 0.5)] {
            rows.push(row(set, 0, "knn", 0, knn));
            rows.push(row(set, 0, "lof", 0, lof));
        }
        rows.push(row("wine", 0, "knn", 1, 0.9));
        Board::new(&rows, Protocol::Occ, Figure::Auc)
    }

    // wine: (0.7 + 0.9)/2, standard deviation √(2·0.01); knn over the sets (0.8 + 0.9 + 0.4)/3, and with seed 0 alone, which
    // lof has, too, (0.7 + 0.9 + 0.4)/3.
    #[test]
    fn sets_methods_means_and_the_papers_mean_stand_in_the_table() {
        let table = Table::of_board(&board(), "AUC", printed);
        assert_eq!(
            table.markdown(),
            "AUC\n\n\
             | set | knn | lof |\n\
             |---|---:|---:|\n\
             | glass | 90.00 | 75.00 |\n\
             | wine | 80.00±14.14 | 25.00 |\n\
             | iris | 40.00 | 50.00 |\n\
             | mean (sets) | 70.00 (3) | 50.00 (3) |\n\
             | mean (3 common sets) | 66.67 | 50.00 |\n\
             | seeds | 1 to 2 | 1 |\n\
             | paper, same sets | 50.00 (2) | - |\n"
        );
        assert!(table.csv().starts_with("set,knn,lof\nglass,90.00,75.00\nwine,80.00±14.14,25.00\n"));
        assert!(table.latex().contains("\\begin{tabular}{lrr}\n\\hline\nset & knn & lof \\\\\n"));
        assert!(table.latex().contains("wine & 80.00$\\pm$14.14 & 25.00 \\\\"));
    }

    #[test] // knn on wine +0.3 and on iris −0.1: on average +0.1, in size 0.2.
    fn agreement_is_over_the_sets_that_both_have() {
        let table = Table::of_agreement(&board(), "AUC", printed).unwrap();
        let line: Vec<&str> = table.lines[0].iter().map(String::as_str).collect();
        assert_eq!(line, ["knn", "2", "60.00", "50.00", "+10.00", "20.00", "+30.00 wine"]);
        assert_eq!(table.lines.len(), 1);
        assert_eq!(Table::of_agreement(&board(), "AUC", |_, _| None), None);
    }

    #[test] // The paper has no figure for glass and none for lof; knn has 0.8 and 0.4 on the others. We have no pima.
    fn figures_stand_beside_each_other_and_means_are_over_the_sets_with_two() {
        let printed = |set: &str, method: &str| printed(if set == "pima" { "iris" } else { set }, method);
        let table = Table::of_pairs(&board(), &["iris", "pima"], "AUC", "paper", printed).unwrap();
        assert_eq!(
            table.markdown(),
            "AUC\n\n\
             | set | knn | knn, paper |\n\
             |---|---:|---:|\n\
             | wine | 80.00±14.14 | 50.00±2.00 |\n\
             | iris | 40.00 | 50.00±2.00 |\n\
             | pima | - | 50.00±2.00 |\n\
             | mean (sets) | 60.00 (2) | 50.00 |\n"
        );
        let best = Beside { mean: 1.0, std: None };
        let gaps = |set: &str, method: &str| (set == "iris" || method == "lof").then_some(best);
        let table = Table::of_pairs(&board(), &[], "AUC", "oracle", gaps).unwrap();
        assert_eq!(table.lines[0], ["glass", "90.00", "-", "75.00", "100.00"]);
        assert_eq!(table.lines[3], ["mean (sets)", "40.00 (1)", "100.00", "50.00 (3)", "100.00"]);
        assert_eq!(Table::of_pairs(&board(), &["pima"], "AUC", "paper", |_, _| None), None);
    }

    #[test] // wine has two classes with 0.6 and 0.8, iris one with 0.1: (0.7 + 0.1)/2 of the sets, 1.5/3 of the experiments.
    fn every_class_counts_once_in_the_mean_over_experiments() {
        let rows = [("wine", 0, 0.6), ("wine", 1, 0.8), ("iris", 0, 0.1)];
        let rows = rows.map(|(set, class, auc)| row(set, class, "knn", 0, auc));
        let paper =
            |set: &str, _: &str| Some(Beside { mean: if set == "wine" { 0.9 } else { 0.6 }, std: None });
        let board = Board::new(&rows, Protocol::Occ, Figure::Auc);
        let table = Table::of_pairs(&board, &[], "AUC", "paper", paper).unwrap();
        assert_eq!(table.lines[2], ["mean (sets)", "40.00 (2)", "75.00"]);
        assert_eq!(table.lines[3], ["mean (experiments)", "50.00 (3)", "80.00"]);
    }

    #[test] // iris has no lof: the means over the common sets are (0.8 + 0.9)/2 and (0.25 + 0.75)/2. scad has one set of three.
    fn means_that_compare_are_over_the_sets_that_all_have() {
        let rows: Vec<Row> = [
            ("wine", "knn", 0.8),
            ("wine", "lof", 0.25),
            ("wine", "scad", 0.9),
            ("glass", "knn", 0.9),
            ("glass", "lof", 0.75),
            ("iris", "knn", 0.4),
            ("pima", "knn", 0.5),
            ("pima", "lof", 0.5),
            ("yeast", "knn", 0.5),
            ("yeast", "lof", 0.5),
        ]
        .map(|(set, method, auc)| row(set, 0, method, 0, auc))
        .into();
        let table = Table::of_board(&Board::new(&rows, Protocol::Occ, Figure::Auc), "AUC", printed);
        let line = table.lines.iter().find(|line| line[0] == "mean (4 common sets)").unwrap();
        assert_eq!(line[1..], ["67.50", "50.00", "-"]);
    }

    #[test] // 1 and 3 seconds: 2 ± √2. The paper has seconds for the second piece of work alone.
    fn seconds_are_means_over_the_seeds_beside_those_of_the_paper() {
        let timing = |work: &str, seed, seconds| Timing {
            set: "kdd".to_owned(),
            method: "plad".to_owned(),
            work: work.to_owned(),
            rows: 10,
            train_rows: 972_781,
            seed,
            threads: 2,
            seconds,
            version: String::new(),
        };
        let timings = [
            timing("warming up", 0, 1.0),
            timing("judging the test file", 0, 4.0),
            timing("warming up", 1, 3.0),
        ];
        let table = Table::of_timings(&timings, 2);
        assert_eq!(table.header[5..], ["paper, V100 (s)", "here, 2 threads (s)"]);
        assert_eq!(table.lines[0], ["kdd", "plad", "warming up", "972781", "10", "-", "2.00±1.41"]);
        assert_eq!(table.lines[1], ["kdd", "plad", "judging the test file", "972781", "10", "4.33", "4.00"]);
        assert_eq!(Table::of_timings(&timings[..1], 1).header[5..], ["here, 1 thread (s)"]);
    }

    #[test]
    fn names_that_mean_something_to_the_format_are_escaped() {
        let lines = vec![vec!["a|b_c & 5%".to_owned()], vec!["p ≤ 1".to_owned()]];
        let table = Table { title: String::new(), header: vec!["{x}".to_owned()], lines };
        assert!(table.markdown().contains("| a\\|b_c & 5% |"));
        assert!(table.latex().contains("a$|$b\\_c \\& 5\\% \\\\"));
        assert!(table.latex().contains("\\{x\\} \\\\"));
        assert!(table.latex().is_ascii());
    }
}
