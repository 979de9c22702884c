//! Tables of text: Markdown to read, CSV to go on with, LaTeX to print.

use oddcell::count::counted;

use crate::{
    board::{Board, Cell},
    calibration::{Calibrated, RATES},
    comparison::{Against, Ranking},
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

impl Table {
    /// Sets × methods with means and, where there are several seeds, standard deviations; below them the mean over the sets
    /// and over the experiments, and beside what the paper prints its mean over the same sets.
    #[must_use]
    pub fn of_board(board: &Board, title: &str, printed: impl Fn(&str, &str) -> Option<f64>) -> Self {
        let header = std::iter::once("set".to_owned()).chain(board.methods.iter().cloned()).collect();
        let line = |(set, cells): (&String, &Vec<Option<Cell>>)| {
            std::iter::once(set.clone()).chain(cells.iter().map(|cell| cell_text(cell.as_ref()))).collect()
        };
        let mut lines: Vec<Vec<String>> = board.sets.iter().zip(&board.cells).map(line).collect();
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
        let seeds = |method: usize| {
            let counts = board.cells.iter().filter_map(|cells| Some(cells[method]?.n_seeds));
            match (counts.clone().min(), counts.max()) {
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
                let sum: f64 = pairs.iter().map(|pair| pair.2).sum();
                mean((!pairs.is_empty()).then(|| (sum / pairs.len() as f64, pairs.len())))
            };
            lines.push(foot("paper, same sets", methods().map(paper).collect()));
        }
        Self { title: title.to_owned(), header, lines }
    }

    /// How close every method comes to what the paper prints for it; `None` if it prints nothing.
    #[must_use]
    pub fn of_agreement(
        board: &Board,
        title: &str,
        printed: impl Fn(&str, &str) -> Option<f64>,
    ) -> Option<Self> {
        let header = ["method", "sets", "here", "paper", "difference", "mean size", "largest"];
        let mut lines = Vec::new();
        for (method, name) in board.methods.iter().enumerate() {
            let pairs = pairs(board, method, &printed);
            let Some(widest) = pairs.iter().max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()))
            else {
                continue;
            };
            let n = pairs.len() as f64;
            let mean =
                |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| of(pair.1, pair.2)).sum::<f64>() / n;
            lines.push(vec![
                name.clone(),
                pairs.len().to_string(),
                percent(mean(&|ours, _| ours)),
                percent(mean(&|_, paper| paper)),
                format!("{:+.2}", 100.0 * mean(&|ours, paper| ours - paper)),
                percent(mean(&|ours, paper| (ours - paper).abs())),
                format!("{:+.2} {}", 100.0 * (widest.1 - widest.2), widest.0),
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
            "{title}: mean ranks over {} sets; critical difference {:.2}",
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

    /// Seconds here and in the paper.
    #[must_use]
    pub fn of_timings(timings: &[Timing], threads: usize) -> Self {
        let line = |timing: &Timing| {
            let printed = timing.printed.map_or_else(String::new, |seconds| format!("{seconds:.2}"));
            let took = format!("{:.2}", timing.took.as_secs_f64());
            vec![timing.method.clone(), timing.what.to_owned(), timing.n_rows.to_string(), printed, took]
        };
        let threads = counted(threads, "thread", "threads");
        let here = format!("here, {threads} (s)");
        let header = ["method", "work", "rows", "paper, V100 (s)", &here].map(str::to_owned).to_vec();
        let title = "KDD-CUP99: seconds of one epoch and of judging".to_owned();
        Self { title, header, lines: timings.iter().map(line).collect() }
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

/// The sets for which there is a figure here and in print (there in percent), with both.
fn pairs<'a>(
    board: &'a Board,
    method: usize,
    printed: &impl Fn(&str, &str) -> Option<f64>,
) -> Vec<(&'a str, f64, f64)> {
    let pair = |(set, cells): (&'a String, &Vec<Option<Cell>>)| {
        Some((set.as_str(), cells[method]?.mean, printed(set, &board.methods[method])? / 100.0))
    };
    board.sets.iter().zip(&board.cells).filter_map(pair).collect()
}

fn cell_text(cell: Option<&Cell>) -> String {
    match cell {
        Some(Cell { mean, std: Some(std), .. }) => format!("{}±{}", percent(*mean), percent(*std)),
        Some(Cell { mean, std: None, .. }) => percent(*mean),
        None => NONE.to_owned(),
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
    };

    /// The paper "prints" 50 for knn on every set but glass, and nothing for lof.
    fn printed(set: &str, method: &str) -> Option<f64> {
        (method == "knn" && set != "glass").then_some(50.0)
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

    #[test] // wine: (0.7 + 0.9)/2, standard deviation √(2·0.01); knn over the sets (0.8 + 0.9 + 0.4)/3.
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

    #[test]
    fn names_that_mean_something_to_the_format_are_escaped() {
        let lines = vec![vec!["a|b_c & 5%".to_owned()]];
        let table = Table { title: String::new(), header: vec!["{x}".to_owned()], lines };
        assert!(table.markdown().contains("| a\\|b_c & 5% |"));
        assert!(table.latex().contains("a$|$b\\_c \\& 5\\% \\\\"));
        assert!(table.latex().contains("\\{x\\} \\\\"));
    }
}
