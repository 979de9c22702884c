//! The summary of a run, for people (standard error) and for programs (`--json`, standard output).

use std::{fmt::Write as _, io::IsTerminal};

pub(crate) use oddcell::count::{count, counted};
use oddcell::{
    Seed,
    encode::Encoder,
    judge::Judge,
    metrics::Metrics,
    verdict::{Rule, probability},
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    judging::Judged,
    oddest::OddRow,
    output::{self, Target},
    show,
    timings::Spent,
    understood::Understood,
};

/// The summary of `detect` or `score`.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) data: String,
    pub(crate) rows: usize,
    pub(crate) odd: usize,
    /// Which rows are called odd, in words.
    pub(crate) rule: String,
    pub(crate) detector: String,
    pub(crate) params: Map<String, Value>,
    pub(crate) seed: Seed,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics: Option<Metrics>,
    /// How the columns were understood.
    #[serde(flatten)]
    pub(crate) understood: Understood,
    pub(crate) notes: Vec<String>,
    /// Where the judged rows were written.
    pub(crate) output: Option<String>,
    /// Where the report page was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timings: Option<Spent>,
    pub(crate) oddest: Vec<OddRow>,
    /// Why no row was called odd, if none was.
    #[serde(skip)]
    pub(crate) none_because: Option<String>,
}

/// The rows that the summary names if none was called odd.
const NAMED_ROWS: usize = 3;

impl Summary {
    /// The summary of judged rows, without notes and outputs.
    pub(crate) fn new(data: String, judge: &dyn Judge, rule: Rule, judged: Judged<'_>) -> Self {
        Self {
            data,
            rows: judged.outcome.n_rows,
            odd: judged.outcome.n_odd,
            rule: rule.to_string(),
            detector: judge.spec().entry().name.to_owned(),
            params: judge.spec().params().clone(),
            seed: judge.seed(),
            metrics: judged.metrics,
            understood: Understood::of(judge.encoder()),
            notes: Vec::new(),
            output: None,
            report: None,
            timings: None,
            none_because: none_because(rule, &judged),
            oddest: judged.oddest,
        }
    }

    /// Prints the summary as the flags ask.
    pub(crate) fn show(
        &self,
        json: bool,
        quiet: bool,
        target: &Target,
        encoder: &Encoder,
    ) -> Result<(), Failure> {
        if json {
            return output::print_json(self);
        }
        if quiet {
            return Ok(());
        }
        // In a pipe a program reads standard output; it expects rows or nothing.
        let seen = std::io::stdout().is_terminal() && !matches!(target, Target::Stdout(_));
        if seen && !self.oddest.is_empty() {
            output::print_styled(&(show::oddest_table(&self.oddest, encoder, show::View::Rows) + "\n"))?;
        }
        output::eprint_line(self.text().trim_end());
        Ok(())
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let verb = if self.odd == 1 || self.rows == 1 { "is" } else { "are" };
        let _ = writeln!(text, "{} of {} {verb} odd.", count(self.odd), counted(self.rows, "row", "rows"));
        let _ = writeln!(text, "rule: {}", self.rule);
        if let Some(metrics) = &self.metrics {
            let _ = writeln!(text, "against the labels {metrics}");
        }
        if let Some(why) = &self.none_because {
            let _ = writeln!(text, "none was called: {why}. The oddest:");
            for row in self.oddest.iter().take(NAMED_ROWS) {
                let reason = row.reasons.first().map_or_else(String::new, |reason| format!(": {reason}"));
                let _ = writeln!(text, "  row {}, p {}{reason}", row.row, probability(row.p));
            }
        }
        let _ = writeln!(text, "{}", self.understood.line());
        for note in &self.notes {
            let _ = writeln!(text, "{}", note_line(note));
        }
        if let Some(output) = &self.output {
            let _ = writeln!(text, "written to {output}");
        }
        if let Some(report) = &self.report {
            let _ = writeln!(text, "report: {report}");
        }
        text.push_str(&self.timings.as_ref().map_or_else(String::new, Spent::text));
        text
    }
}

/// Why no row was called odd, if none was.
fn none_because(rule: Rule, judged: &Judged<'_>) -> Option<String> {
    let n_rows = judged.outcome.n_rows;
    if judged.outcome.n_odd > 0 || judged.oddest.is_empty() {
        return None;
    }
    let least = judged.oddest.iter().map(|row| row.p).fold(1.0, f64::min);
    Some(match rule {
        Rule::Alpha(alpha) => format!("the smallest p-value, {}, is above {alpha}", probability(least)),
        Rule::Fdr(fdr) => format!(
            "at a false-discovery rate of {fdr}, one row of {} needs a p-value of at most {}, and the smallest is {}",
            count(n_rows),
            probability(fdr / n_rows as f64),
            probability(least)
        ),
        Rule::Top(_) | Rule::Contamination(_) => "no score is above the threshold".to_owned(),
    })
}

/// A note, as people see it.
pub(crate) fn note_line(note: &str) -> String {
    format!("note: {}", show::clean(note))
}

/// The file the rows were written to, if any.
pub(crate) fn written_to(target: &Target) -> Option<String> {
    match target {
        Target::File(path, _) => Some(path.display().to_string()),
        Target::Stdout(_) | Target::Nowhere => None,
    }
}
