//! `--report`: the page written during a run.

use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use oddcell::{judge::Judge, model_file::folder_of, table::format_date, verdict::Rule};
use oddcell_report::{About, Collector};

use crate::{failure::Failure, learning, output::Target, understood::Understood};

/// Checks before the work that rows and page can be written and overwrite neither an input nor each other.
pub(crate) fn check_outputs(
    target: &Target,
    page: Option<&PathBuf>,
    inputs: &[&PathBuf],
) -> Result<(), Failure> {
    match target {
        Target::File(path, _) => {
            learning::check_output(path, inputs)?;
            check(page, inputs, &[path])
        }
        Target::Stdout(_) | Target::Nowhere => check(page, inputs, &[]),
    }
}

/// The same for a page beside the files `outputs`.
pub(crate) fn check(page: Option<&PathBuf>, inputs: &[&PathBuf], outputs: &[&Path]) -> Result<(), Failure> {
    let Some(page) = page else { return Ok(()) };
    if page == Path::new("-") {
        return Err(Failure::bad_input("the report is an HTML page and needs a file name")
            .with_hint("e.g. --report page.html"));
    }
    learning::check_output(page, inputs)?;
    if outputs.iter().any(|output| place(output) == place(page)) {
        return Err(Failure::bad_input(format!(
            "`{}` is named twice: for the report and for another output",
            page.display()
        ))
        .with_hint("give the report another name"));
    }
    Ok(())
}

/// The resolved path of a file that need not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?))
}

/// A page that is being collected.
pub(crate) struct Page<'a> {
    path: &'a Path,
    pub(crate) collector: Collector<'a>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(path: &'a Path, judge: &'a dyn Judge, rule: Rule) -> Self {
        Self { path, collector: Collector::new(judge, rule) }
    }

    /// Writes the page and returns its path. With `noised`, its map also shows rows with added noise, as in training.
    pub(crate) fn write(
        self,
        noised: bool,
        pool: &rayon::ThreadPool,
        about: impl FnOnce() -> About,
    ) -> Result<String, Failure> {
        let about = about();
        pool.install(|| self.collector.finish(about, noised))?.write(self.path)?;
        Ok(self.path.display().to_string())
    }
}

/// What a page says about itself.
#[expect(clippy::disallowed_methods, reason = "the page says when it was made")]
pub(crate) fn about(data: &str, judge: &dyn Judge, notes: &[String]) -> About {
    let now = moment(SystemTime::now());
    About {
        data: data.to_owned(),
        model: None,
        detector: judge.spec().entry().name.to_owned(),
        seed: judge.seed().0,
        trained: now.clone(),
        made: now,
        notes: [Understood::of(judge.encoder()).sentence()]
            .into_iter()
            .chain(notes.iter().cloned())
            .collect(),
    }
}

/// When a file was written. A model file does not record when it was trained.
pub(crate) fn written_at(path: &Path) -> Option<String> {
    moment(path.metadata().ok()?.modified().ok()?).map(|moment| format!("{moment} (time of the file)"))
}

/// `2026-11-16 05:43 UTC`.
fn moment(time: SystemTime) -> Option<String> {
    let minutes = time.duration_since(UNIX_EPOCH).ok()?.as_secs() / 60;
    // One more second, so that midnight is written with its hour too.
    let text = format_date((60 * minutes + 1) as f64).replace('T', " ");
    Some(format!("{} UTC", text.get(..16)?))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test] // 1,763,251,200 is 2025-11-16, 00:00 UTC.
    fn a_moment_is_shown_to_the_minute() {
        let at = |seconds| moment(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_763_251_200).as_deref(), Some("2025-11-16 00:00 UTC"));
        assert_eq!(at(1_763_251_200 + 3_600 * 13 + 119).as_deref(), Some("2025-11-16 13:01 UTC"));
    }
}
