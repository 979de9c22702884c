//! `--report`: the page that is made beside the run.

use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use arrow_array::RecordBatch;
use oddcell::{
    DetectorSpec, Seed, calibrate::Calibration, encode::Encoder, model::Findings, table::format_date,
    verdict::Rule,
};
use oddcell_report::{About, Collector, MapSource, Setting};

use crate::{failure::Failure, learning, output::Target};

/// Whether the page can be written is told before the work; it must not take the place of an input or of the rows.
pub(crate) fn check(page: Option<&PathBuf>, inputs: &[&PathBuf], outputs: &[&Path]) -> Result<(), Failure> {
    let Some(page) = page else { return Ok(()) };
    if page == Path::new("-") {
        return Err(Failure::bad_input("the report is a page for a browser and goes to a file")
            .with_hint("e.g. --report page.html"));
    }
    learning::check_output(page, inputs)?;
    if outputs.iter().any(|output| place(output) == place(page)) {
        return Err(Failure::bad_input(format!(
            "`{}` is to hold two results of this command, one of them the report",
            page.display()
        ))
        .with_hint("give the report another name"));
    }
    Ok(())
}

/// A file that need not be there yet: its folder, looked up, and its name.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// The file that judged rows go to.
pub(crate) fn file_of(target: &Target) -> Vec<&Path> {
    match target {
        Target::File(path, _) => vec![path],
        Target::Stdout(_) | Target::Nowhere => Vec::new(),
    }
}

/// A page in the making; without `--report` there is none, and nothing is done.
pub(crate) struct Page<'a> {
    path: Option<&'a Path>,
    collector: Option<Collector<'a>>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(
        path: Option<&'a PathBuf>,
        encoder: &'a Encoder,
        origin: &'a str,
        rule: Rule,
        reference: &'a Calibration,
        seed: Seed,
    ) -> Self {
        let setting = || Setting { encoder, origin, rule, reference, seed };
        Self { path: path.map(PathBuf::as_path), collector: path.map(|_| Collector::new(setting())) }
    }

    /// Looks at the rows of a batch.
    pub(crate) fn add(
        &mut self,
        batch: &RecordBatch,
        findings: &Findings,
        truths: Option<&[bool]>,
    ) -> Result<(), Failure> {
        if let Some(collector) = &mut self.collector {
            collector.add(batch, findings, truths)?;
        }
        Ok(())
    }

    /// Writes the page; gives where to.
    pub(crate) fn write(
        self,
        source: MapSource<'_>,
        pool: &rayon::ThreadPool,
        about: impl FnOnce() -> About,
    ) -> Result<Option<String>, Failure> {
        let (Some(path), Some(collector)) = (self.path, self.collector) else { return Ok(None) };
        let about = about();
        pool.install(|| collector.finish(about, source))?.write(path)?;
        Ok(Some(path.display().to_string()))
    }
}

/// What a page says about itself.
#[expect(clippy::disallowed_methods, reason = "the page says when it was made")]
pub(crate) fn about(data: &str, spec: &DetectorSpec, seed: Seed, notes: &[String]) -> About {
    let now = moment(SystemTime::now());
    About {
        data: data.to_owned(),
        model: None,
        detector: spec.entry().name.to_owned(),
        seed: seed.0,
        trained: now.clone(),
        made: now,
        notes: notes.to_vec(),
    }
}

/// When a file was written; a model file does not say by itself when it was trained.
pub(crate) fn written_at(path: &Path) -> Option<String> {
    moment(path.metadata().ok()?.modified().ok()?).map(|moment| format!("{moment} (time of the file)"))
}

/// `2026-11-16 05:43 UTC`.
fn moment(time: SystemTime) -> Option<String> {
    let minutes = time.duration_since(UNIX_EPOCH).ok()?.as_secs() / 60;
    // A second more, so that midnight is written with its hour, too.
    let text = format_date((60 * minutes + 1) as f64).replace('T', " ");
    Some(format!("{} UTC", text.get(..16)?))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test] // 1,763,251,200 is 2025-11-16, 00:00 UTC.
    fn a_moment_is_told_to_the_minute() {
        let at = |seconds| moment(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_763_251_200).as_deref(), Some("2025-11-16 00:00 UTC"));
        assert_eq!(at(1_763_251_200 + 3_600 * 13 + 119).as_deref(), Some("2025-11-16 13:01 UTC"));
    }
}
