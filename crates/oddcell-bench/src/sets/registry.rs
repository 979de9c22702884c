//! The registry: all sets, the originals they are made from, and the checksums of the files we used.
//!
//! It is a table, `registry.csv`, that is compiled in. `benchmarks/lab/prepare.py` reads the same table, so the two
//! cannot disagree.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::Deserialize;

/// A family of benchmark sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Benchmark {
    /// The tabular sets of `ADBench`, with normal and anomalous rows.
    Adbench,
    /// The one-class sets of the paper, with their original classes.
    Occ,
}

impl Benchmark {
    /// The folder of its files, below the data folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Benchmark::Adbench => "adbench",
            Benchmark::Occ => "occ",
        }
    }
}

/// One set of the registry.
#[derive(Debug, Clone, Deserialize)]
pub struct SetInfo {
    /// The family it belongs to.
    pub benchmark: Benchmark,
    /// Its name on the command line and in results.
    pub name: String,
    /// Its name in the paper's tables.
    pub paper_name: String,
    /// The file that holds it.
    pub file: String,
    /// Rows of the file we used, or the published number if we had no file.
    pub rows: usize,
    /// Columns of `X`.
    pub columns: usize,
    /// How many of the leading columns are numeric; the others are one-hot.
    pub numeric: Option<usize>,
    /// The number of anomalies; `None` for sets with more than two classes.
    pub anomalies: Option<usize>,
    /// Number of classes.
    pub classes: usize,
    /// SHA-256 of the file we used; `None` if we had no file.
    pub sha256: Option<String>,
    /// Its license, as far as known.
    pub license: String,
    /// The originals, separated by spaces; see [`SetInfo::originals`].
    originals: String,
    /// Whether `benchmarks/lab/prepare.py` makes the file from originals; otherwise the original is the file.
    pub made: bool,
    /// What was done to the originals.
    pub processing: String,
    /// Whether it is a substitute for a set that we could not get. Substitutes run only if named.
    pub substitute: bool,
    /// Which half of the `ADBench` sets it belongs to.
    pub half: Option<Half>,
}

impl SetInfo {
    /// The files to download. A generated set has none.
    pub fn originals(&self) -> impl Iterator<Item = Original<'_>> {
        self.originals.split_whitespace().map(Original::parse)
    }

    /// The path of the file below the data folder.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}/{}", self.benchmark.folder(), self.file)
    }

    fn is_called(&self, name: &str) -> bool {
        let names = [&*self.name, &*self.paper_name, self.file.trim_end_matches(".npz")];
        names.into_iter().any(|other| other.eq_ignore_ascii_case(name))
    }
}

/// A file to download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Original<'a> {
    /// From a URL.
    Url(&'a str),
    /// From a package.
    Package {
        /// The package index: `pypi` or `debian`.
        index: &'a str,
        /// Name and version, as the installer writes them.
        package: &'a str,
        /// The file in it.
        path: &'a str,
    },
}

impl<'a> Original<'a> {
    /// `https://…`, or `INDEX:PACKAGE/PATH`.
    fn parse(text: &'a str) -> Self {
        let package = text.split_once(':').filter(|(index, _)| *index != "https");
        match package.and_then(|(index, rest)| Some((index, rest.split_once('/')?))) {
            Some((index, (package, path))) => Original::Package { index, package, path },
            None => Original::Url(text),
        }
    }

    /// The name to save it under: the last part of its path.
    #[must_use]
    pub fn file_name(&self) -> &'a str {
        let (Original::Url(path) | Original::Package { path, .. }) = self;
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// The halves of the `ADBench` sets. The default preset was chosen on one half and confirmed on the other.
///
/// Sets that share their data (`breastw`, `WBC`, `WDBC`, `WPBC`; `cardio`, `Cardiotocography`; `annthyroid`, `thyroid`;
/// `landsat`, `satellite`, `satimage-2`; `http`, `smtp`; `census`) form a family, which is named after its first set.
/// In alphabetical order, every other family belongs to the design half, starting with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// Choices may use it.
    Design,
    /// No choice may use it.
    Confirm,
}

impl Half {
    /// Returns the half with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "design" => Some(Half::Design),
            "confirm" => Some(Half::Confirm),
            _ => None,
        }
    }
}

/// All sets: 47 of `ADBench`, 25 one-class sets, and substitutes for those we could not get.
#[must_use]
pub fn registry() -> &'static [SetInfo] {
    static SETS: LazyLock<Vec<SetInfo>> = LazyLock::new(|| {
        let text = include_str!("registry.csv");
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
        rows.collect::<Result<_, _>>().expect("the registry is well-formed; a test reads it")
    });
    &SETS
}

/// Finds a set by its name, its name in the paper, or its file name, ignoring case.
#[must_use]
pub fn find(benchmark: Benchmark, name: &str) -> Option<&'static SetInfo> {
    registry().iter().find(|info| info.benchmark == benchmark && info.is_called(name))
}

/// All sets of both families that a name can mean, including substitutes.
pub fn called(name: &str) -> impl Iterator<Item = &'static SetInfo> {
    registry().iter().filter(move |info| info.is_called(name))
}

/// Whether the set with this name is a substitute for one that we could not get.
#[must_use]
pub fn is_substitute(name: &str) -> bool {
    registry().iter().any(|info| info.substitute && info.name == name)
}

/// Finds the file of a set: in the folder of its family below `data`, or in `data` itself.
#[must_use]
pub fn locate(data: &Path, info: &SetInfo) -> Option<PathBuf> {
    [data.join(info.place()), data.join(&info.file)].into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_other_family_of_adbench_sets_is_of_the_design_half() {
        let families = [
            ["breastw", "WBC", "WDBC", "WPBC"].as_slice(),
            &["cardio", "Cardiotocography"],
            &["annthyroid", "thyroid"],
            &["landsat", "satellite", "satimage-2"],
            &["http", "smtp"],
            &["census", "census_testpart", "census_nominal"],
        ];
        let of_family = |name: &str| {
            let family = families.iter().find(|family| family.contains(&name));
            family.map_or(name, |family| family[0]).to_lowercase()
        };
        let adbench: Vec<_> = registry().iter().filter(|info| info.benchmark == Benchmark::Adbench).collect();
        let names: BTreeSet<String> = adbench.iter().map(|info| of_family(&info.name)).collect();
        for info in adbench {
            let place = names.iter().position(|name| *name == of_family(&info.name)).unwrap();
            let half = if place % 2 == 0 { Half::Design } else { Half::Confirm };
            assert_eq!(info.half, Some(half), "{}", info.name);
        }
        assert!(registry().iter().all(|info| info.half.is_some() == (info.benchmark == Benchmark::Adbench)));
    }

    #[test]
    fn the_registry_has_all_sets_of_both_families() {
        let count = |benchmark| {
            registry().iter().filter(|info| info.benchmark == benchmark && !info.substitute).count()
        };
        assert_eq!((count(Benchmark::Adbench), count(Benchmark::Occ)), (47, 25));
        for info in registry() {
            assert_eq!(find(info.benchmark, &info.name).unwrap().file, info.file, "a name is unique");
            assert!(info.file.strip_suffix(".npz").is_some_and(|stem| !stem.is_empty()), "{}", info.name);
            assert!(!info.license.is_empty() && !info.processing.is_empty(), "{}", info.name);
            assert!(info.numeric <= Some(info.columns), "{}", info.name);
            assert_eq!(info.anomalies.is_none(), info.classes > 2, "{}", info.name);
        }
        assert_eq!(find(Benchmark::Adbench, "20_LETTER").unwrap().name, "letter");
        assert_eq!(find(Benchmark::Adbench, "satimage").unwrap().name, "satimage-2");
        let census: Vec<_> = called("Census").map(|info| &*info.name).collect();
        assert_eq!(census, ["census", "census_testpart", "census_nominal"]);
    }

    #[test] // We could not get either set of speech, census, or the published mulcross.
    fn every_file_that_we_used_has_a_checksum() {
        let is_hex = |digest: &str| digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_checksum = |digest: &String| digest.len() == 64 && is_hex(digest);
        let without: Vec<String> = registry()
            .iter()
            .filter(|info| !info.sha256.as_ref().is_some_and(is_checksum))
            .map(SetInfo::place)
            .collect();
        let expected =
            ["adbench/9_census.npz", "adbench/36_speech.npz", "occ/mulcross.npz", "occ/speech.npz"];
        assert_eq!(without, expected);
    }

    #[test]
    fn every_set_has_originals_and_their_addresses_can_be_copied() {
        for info in registry() {
            assert_eq!(
                info.originals().next().is_none(),
                info.name == "mulcross_regenerated",
                "{}",
                info.name
            );
            for original in info.originals() {
                match original {
                    Original::Url(url) => {
                        assert!(url.starts_with("https://") && url.is_ascii(), "{url}");
                        assert!(url.ends_with(|last: char| last.is_ascii_alphanumeric()), "{url}");
                    }
                    Original::Package { index, package, path } => {
                        let version = match index {
                            "pypi" => package.split_once("=="),
                            "debian" => package.split_once('='),
                            _ => None,
                        };
                        assert!(
                            version.is_some_and(|(name, version)| !name.is_empty() && !version.is_empty())
                        );
                        assert!(path.contains('/') && path.contains('.'), "{path}");
                    }
                }
            }
            let is_the_file = info.originals().any(|original| original.file_name() == info.file);
            assert_eq!(is_the_file, !info.made && info.name != "mulcross", "{}", info.name);
        }
    }

    #[test]
    fn an_original_comes_from_a_url_or_a_package() {
        let url = Original::parse("https://example.org/a%20b/set.csv");
        assert_eq!((url, url.file_name()), (Original::Url("https://example.org/a%20b/set.csv"), "set.csv"));
        let file = Original::parse("pypi:sets==1.0/data/set.csv");
        assert_eq!(file, Original::Package { index: "pypi", package: "sets==1.0", path: "data/set.csv" });
        assert_eq!(file.file_name(), "set.csv");
    }

    #[test] // And for no other set.
    fn the_script_has_a_recipe_for_every_set_that_is_made() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/lab/recipes.py");
        let script = std::fs::read_to_string(script).unwrap();
        let recipes = script.split("RECIPES = {").nth(1).unwrap().split('}').next().unwrap();
        let recipes: BTreeSet<&str> = recipes.split('"').skip(1).step_by(2).collect();
        let made = registry().iter().filter(|info| info.made).map(|info| &*info.name).collect();
        assert_eq!(recipes, made);
    }
}
