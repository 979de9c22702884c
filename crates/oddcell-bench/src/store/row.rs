//! One run as a row of the results file, and the key that identifies it.

use oddcell::Matrix;
use serde::{Deserialize, Serialize};

use crate::{
    job::{Job, Outcome},
    protocol::Protocol,
};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has a result.
    #[default]
    Ok,
    /// It exceeded the time limit.
    Timeout,
    /// It failed; the message says why.
    Failed,
}

/// One run: a line of the file. AUC, AP and F1 are between 0 and 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns of the file; docs/laboratory.md says what they hold")]
pub struct Row {
    pub protocol: Protocol,
    pub set: String,
    pub class: i64,
    pub method: String,
    pub variant: String,
    pub seed: u64,
    pub status: Status,
    pub auc: Option<f64>,
    pub ap: Option<f64>,
    pub f1: Option<f64>,
    pub f1_row_order: Option<f64>,
    pub oracle_auc: Option<f64>,
    pub top1: Option<f64>,
    pub fit_seconds: Option<f64>,
    pub score_seconds: Option<f64>,
    pub steps: Option<usize>,
    pub train_rows: usize,
    pub test_rows: usize,
    pub columns: usize,
    pub threads: usize,
    /// The number of parallel runs, including this one.
    pub jobs: usize,
    /// The first digits of the checksum of the set's file; empty if unknown.
    pub data: String,
    pub version: String,
    /// All parameters of the method, as JSON.
    pub params: String,
    /// `share:auc share:auc …`
    pub path: String,
    pub message: String,
}

/// Identifies a run. Parameters and data are not part of the key: if the parameters of the method or the file of the
/// set change, the run is repeated and replaces the old one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    protocol: Protocol,
    set: String,
    class: i64,
    method: String,
    variant: String,
    seed: u64,
}

impl Key {
    /// The key of a run.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        Self {
            protocol: job.protocol,
            set: job.set.clone(),
            class: job.class,
            method: job.method.name.clone(),
            variant: job.method.variant.clone(),
            seed: job.seed,
        }
    }
}

impl Row {
    /// The row of a finished run.
    #[must_use]
    pub fn of(job: &Job, train: &Matrix, test: &Matrix, outcome: &Outcome) -> Self {
        let mut row = Self {
            train_rows: train.n_rows(),
            test_rows: test.n_rows(),
            columns: train.n_cols(),
            ..Self::unmeasured(job, Status::Ok, "")
        };
        match outcome {
            Outcome::Done(measured) => {
                row.auc = Some(measured.auc);
                row.ap = Some(measured.ap);
                row.f1 = Some(measured.f1);
                row.f1_row_order = Some(measured.f1_row_order);
                row.top1 = measured.top1;
                // A net may have stopped between two checkpoints.
                let best = measured.path.iter().map(|&(_, auc)| auc).max_by(f64::total_cmp);
                row.oracle_auc = best.map(|best| best.max(measured.auc));
                row.fit_seconds = Some(measured.fit_seconds);
                row.score_seconds = Some(measured.score_seconds);
                row.steps = measured.steps;
                let places = measured.path.iter().map(|(share, auc)| format!("{share:.3}:{auc:.5}"));
                row.path = places.collect::<Vec<_>>().join(" ");
            }
            Outcome::TimedOut(limit) => {
                row.status = Status::Timeout;
                row.message = format!("not finished after {} s", limit.as_secs());
            }
            Outcome::Failed(message) => {
                row.status = Status::Failed;
                row.message = on_one_line(message);
            }
        }
        row
    }

    /// The row of a run that never started.
    #[must_use]
    pub fn unmeasured(job: &Job, status: Status, message: &str) -> Self {
        let Key { protocol, set, class, method, variant, seed } = Key::of(job);
        Self {
            protocol,
            set,
            class,
            method,
            variant,
            seed,
            status,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            params: job.method.params(),
            message: on_one_line(message),
            ..Self::default()
        }
    }

    /// The method with its variant, as a column of a table.
    #[must_use]
    pub fn label(&self) -> String {
        if self.variant.is_empty() {
            self.method.clone()
        } else {
            format!("{} {}", self.method, self.variant)
        }
    }

    /// The key of this run.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            protocol: self.protocol,
            set: self.set.clone(),
            class: self.class,
            method: self.method.clone(),
            variant: self.variant.clone(),
            seed: self.seed,
        }
    }
}

/// Removes line breaks: a row is one line, so that an incomplete row is recognized by its missing end.
fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
