//! Progress bars, on terminals only.

use std::{io::IsTerminal, time::Duration};

use arrow_array::RecordBatch;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use oddcell::{
    Error, Monitor, Progress,
    cells::{CalledCell, CellObserver},
    judge::{Judge, Judgement, Observer},
};
use oddcell_bench::{
    matrix::Watcher,
    store::{Row, Status},
};

use crate::output;

/// A progress bar for training, with the loss and the time left.
pub(crate) struct Training {
    bar: ProgressBar,
}

/// A row counter for scoring.
pub(crate) struct Rows {
    bar: ProgressBar,
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a valid template").progress_chars("━╸ ")
}

fn bar(template: &str, shown: bool) -> ProgressBar {
    let target = if shown && std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(None, target).with_style(style(template));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Training {
    pub(crate) fn new(what: &str, quiet: bool) -> Self {
        let bar = bar("{prefix} {wide_bar:.cyan/dim} {percent:>3}% {msg}  {eta} left", !quiet);
        bar.set_prefix(what.to_owned());
        Self { bar }
    }

    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl Monitor for Training {
    fn advanced(&self, progress: Progress) {
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
        if let Some(loss) = progress.loss {
            self.bar.set_message(format!("loss {loss:.4}"));
        }
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        self.done();
    }
}

/// A progress bar for benchmark runs, with a line for each run that did not succeed.
pub(crate) struct Runs {
    bar: ProgressBar,
    quiet: bool,
}

impl Runs {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = bar("{spinner} {msg}", !quiet);
        bar.set_message("reading the sets");
        Self { bar, quiet }
    }

    fn tell(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| output::eprint_line(line));
        }
    }
}

impl Watcher for Runs {
    fn planned(&self, total: usize) {
        self.bar.set_style(style("{wide_bar:.cyan/dim} {pos}/{len} {msg}"));
        self.bar.set_length(total as u64);
        self.bar.set_message("first runs in progress");
    }

    fn finished(&self, row: &Row, done: usize, total: usize, left: f64) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        let left = HumanDuration(Duration::from_secs_f64(left.max(0.0)));
        self.bar.set_message(format!("{} {}, about {left:#} left", row.set, row.method));
        if row.status != Status::Ok {
            let class = if row.class == 0 { String::new() } else { format!(" class {}", row.class) };
            self.tell(&format!("{}{class} {} seed {}: {}", row.set, row.label(), row.seed, row.message));
        }
    }

    fn left_out(&self, set: &str, reason: &str) {
        self.tell(&format!("{set} is left out: {reason}"));
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Rows {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { bar: bar("{spinner} {human_pos} rows scored  {per_sec}", !quiet) }
    }
}

impl Observer for Rows {
    fn observe(&mut self, _: &dyn Judge, judgement: &Judgement) -> Result<(), Error> {
        self.bar.inc(judgement.rows.n_rows() as u64);
        Ok(())
    }
}

impl CellObserver for Rows {
    fn observe(
        &mut self,
        _: &dyn Judge,
        _: &RecordBatch,
        _: &[usize],
        _: &[CalledCell],
    ) -> Result<(), Error> {
        Ok(())
    }

    fn read(&mut self, n_rows: usize) {
        self.bar.inc(n_rows as u64);
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
