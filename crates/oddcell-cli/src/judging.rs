//! The part that `detect`, `score` and `fit` share: the library judges rows, which become files, a page and a summary.

use std::{path::PathBuf, sync::LazyLock};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use oddcell::{
    Monitor,
    judge::{Judge, Labels, Observer, Only, Outcome, Scorer, Spool, Truths},
    metrics::Metrics,
    table::{ColumnInfo, TableError},
    verdict::Rule,
};
use oddcell_report::About;

use crate::{
    failure::Failure,
    oddest::{OddRow, OddRows},
    output::Target,
    progress::Rows,
    report::Page,
};

/// How a command judges rows and what it does with them.
pub(crate) struct Judging<'a> {
    pub(crate) judge: &'a dyn Judge,
    pub(crate) rule: Rule,
    pub(crate) truths: Truths<'a>,
    pub(crate) only: Option<Only>,
    pub(crate) target: &'a Target,
    pub(crate) spool: Spool,
    /// Where the page goes, if one is wanted.
    pub(crate) page: Option<&'a PathBuf>,
    /// How many of the oddest rows to keep; `None`: as many as the summary shows.
    pub(crate) most_odd: Option<usize>,
    pub(crate) monitor: &'a dyn Monitor,
    pub(crate) quiet: bool,
}

/// The table that the rows come from.
pub(crate) struct Origin<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Schema,
    /// The kinds of known columns; other columns are written as they came.
    pub(crate) kinds: &'a [ColumnInfo],
    /// The field separator, if it is a CSV.
    pub(crate) delimiter: Option<u8>,
    /// Whether formulas are disarmed in a CSV.
    pub(crate) csv_safe: bool,
}

impl<'a> Origin<'a> {
    /// A table whose rows are judged but not written.
    pub(crate) fn unwritten(name: &'a str) -> Self {
        static NO_COLUMNS: LazyLock<Schema> = LazyLock::new(Schema::empty);
        Self { name, schema: &NO_COLUMNS, kinds: &[], delimiter: None, csv_safe: false }
    }
}

/// The result of judging.
pub(crate) struct Judged<'a> {
    pub(crate) outcome: Outcome,
    pub(crate) metrics: Option<Metrics>,
    pub(crate) oddest: Vec<OddRow>,
    page: Option<Page<'a>>,
}

impl<'a> Judging<'a> {
    /// Judges by `rule`, without any output.
    pub(crate) fn new(judge: &'a dyn Judge, rule: Rule, monitor: &'a dyn Monitor) -> Self {
        Self {
            judge,
            rule,
            truths: Truths::Unknown,
            only: None,
            target: &Target::Nowhere,
            spool: Spool::Memory,
            page: None,
            most_odd: None,
            monitor,
            quiet: true,
        }
    }

    /// Judges all rows and writes them.
    pub(crate) fn run(
        self,
        origin: &Origin<'_>,
        batches: impl Iterator<Item = Result<RecordBatch, TableError>> + Send,
        pool: &rayon::ThreadPool,
    ) -> Result<Judged<'a>, Failure> {
        let mut page = self.page.map(|path| Page::new(path, self.judge, self.rule));
        let mut oddest = self.most_odd.map_or_else(OddRows::to_show, OddRows::new);
        let mut labels = Labels::default();
        let mut progress = Rows::new(self.quiet);
        let format = self.target.format();
        let scorer = Scorer {
            cells: true,
            reasons: format.map(Into::into),
            truths: self.truths,
            only: self.only,
            spool: self.spool,
            monitor: self.monitor,
            ..Scorer::new(self.judge, self.rule)
        };
        let outcome = self.target.write(origin, |sink| {
            let mut observers: Vec<&mut dyn Observer> = vec![&mut oddest, &mut labels, &mut progress];
            observers.extend(page.as_mut().map(|page| &mut page.collector as &mut dyn Observer));
            Ok(pool.install(|| scorer.run(origin.name, batches, &mut observers, sink))?)
        })?;
        drop(progress);
        let mut oddest = oddest.into_rows();
        for (place, row) in oddest.iter_mut().enumerate() {
            row.is_odd = is_odd(self.rule, &outcome, place, row.p);
        }
        Ok(Judged { outcome, metrics: labels.metrics(), oddest, page })
    }
}

/// The verdict on the row at this `place` among the oddest, counted from 0, by the numbers that the rule has decided with.
fn is_odd(rule: Rule, outcome: &Outcome, place: usize, p: f64) -> bool {
    match rule {
        Rule::Alpha(alpha) => p <= alpha,
        // Benjamini-Hochberg calls k of n rows if their p-values are at most fdr · k/n.
        Rule::Fdr(fdr) => p * outcome.n_rows as f64 <= fdr * outcome.n_odd as f64 * (1.0 + 1e-12),
        Rule::Top(_) | Rule::Contamination(_) => place < outcome.n_odd,
    }
}

impl Judged<'_> {
    /// Writes the page, if one is wanted, and returns its path. With `noised`, its map also shows rows with added
    /// noise.
    pub(crate) fn write_page(
        &mut self,
        noised: bool,
        pool: &rayon::ThreadPool,
        about: impl FnOnce() -> About,
    ) -> Result<Option<String>, Failure> {
        self.page.take().map_or(Ok(None), |page| page.write(noised, pool, about).map(Some))
    }
}

/// The column of `--label`.
pub(crate) fn truths(label: Option<&str>) -> Truths<'_> {
    label.map_or(Truths::Unknown, Truths::Column)
}
