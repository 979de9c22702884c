//! Tables of times and of calibration.

use std::collections::BTreeMap;

use oddcell::count::counted;

use super::{NONE, Table};
use crate::{
    calibration::{Calibrated, RATES},
    stats::summary,
    timing::Timing,
};

impl Table {
    /// Our seconds, as means over the seeds, next to the paper's seconds for the same work.
    #[must_use]
    pub fn of_timings(timings: &[Timing], threads: usize) -> Self {
        let mut works = BTreeMap::<usize, Vec<&Timing>>::new();
        for timing in timings {
            // In the order of the first measurements.
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
        let ours = format!("ours, {} (s)", counted(threads, "thread", "threads"));
        let mut header = ["set", "method", "work", "training rows", "rows"].map(str::to_owned).to_vec();
        header.extend(has_paper.then(|| "paper, V100 (s)".to_owned()));
        header.push(ours);
        let title = "Seconds to train one epoch and to score rows".to_owned();
        Self { title, header, lines: works.values().map(line).collect() }
    }

    /// P-values and false-discovery rates compared with the truth: one line per set and seed, and the means.
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
            ["set", "seed", "rows", "members", "normal rows", "KS", "KS limit (1 %)", "p ≤ 0.01 (%)"]
                .map(str::to_owned)
                .to_vec();
        for rate in RATES {
            header.push(format!("false alarms at FDR {rate} (%)"));
            header.push(format!("anomalies found at FDR {rate} (%)"));
        }
        let title = "P-values of normal test rows, and verdicts at two false-discovery rates".to_owned();
        Self { title, header, lines }
    }
}
