//! One run as a row, and what tells it from other runs.

use oddcell::Matrix;
use serde::{Deserialize, Serialize};

use crate::{
    job::{Job, Outcome},
    protocol::Protocol,
};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With a result.
    Ok,
    /// Its time was up.
    Timeout,
    /// With an error: see the message.
    Failed,
}

/// One run, a line of the file. Figures lie between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Runs at a time, this one included.
    pub jobs: usize,
    /// The first digits of the checksum of the set's file; empty if it is not known.
    pub data: String,
    pub version: String,
    /// All parameters of the method, as JSON.
    pub params: String,
    /// `share:auc share:auc …`
    pub path: String,
    pub message: String,
}

/// What tells one run from another. Its parameters and its data do not: a run whose method has other parameters today, or
/// whose set's file has changed, is run again, and its row takes the place of the old one.
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
    /// The key of a run to come.
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
    /// The line of a finished run.
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
                // A net that stopped early may have done so between two looks.
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
                row.message = format!("not done after {} s", limit.as_secs());
            }
            Outcome::Failed(message) => {
                row.status = Status::Failed;
                row.message = on_one_line(message);
            }
        }
        row
    }

    /// The line of a run that never began.
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
            auc: None,
            ap: None,
            f1: None,
            f1_row_order: None,
            oracle_auc: None,
            top1: None,
            fit_seconds: None,
            score_seconds: None,
            steps: None,
            train_rows: 0,
            test_rows: 0,
            columns: 0,
            threads: 0,
            jobs: 0,
            data: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            params: job.method.params(),
            path: String::new(),
            message: on_one_line(message),
        }
    }

    /// The method with its variant: a column of a table.
    #[must_use]
    pub fn label(&self) -> String {
        if self.variant.is_empty() {
            self.method.clone()
        } else {
            format!("{} {}", self.method, self.variant)
        }
    }

    /// What tells it from other runs.
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

/// A row is one line, so that a piece of one is known by its missing end.
fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
