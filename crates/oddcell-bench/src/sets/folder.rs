//! Sets that are not in the registry: any folder of `.npz` files, and the halves of `OvRBench`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use super::Half;
use crate::LabError;

/// The files of sets in a folder, by name.
pub fn in_folder(folder: &Path) -> Result<BTreeMap<String, PathBuf>, LabError> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(LabError::file("read", folder))? {
        let path = entry.map_err(LabError::file("read", folder))?.path();
        if path.extension().is_some_and(|ending| ending == "npz")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            found.insert(name.to_owned(), path);
        }
    }
    Ok(found)
}

/// The half of a table of `OvRBench`: 120 to design on, 80 to confirm. `benchmarks/ovrbench/halves.py` dealt them, and
/// says how; `None` for other sets.
#[must_use]
pub fn half_of(name: &str) -> Option<Half> {
    static HALVES: LazyLock<BTreeMap<&str, Half>> = LazyLock::new(|| {
        let lines = include_str!("ovrbench.csv").lines().skip(1);
        lines
            .filter_map(|line| line.split_once(','))
            .filter_map(|(name, half)| Some((name, Half::named(half)?)))
            .collect()
    });
    HALVES.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_120_tables_to_design_on_and_80_to_confirm() {
        let names = || include_str!("ovrbench.csv").lines().skip(1).filter_map(|line| line.split(',').next());
        let count = |half: Half| names().filter(|name| half_of(name) == Some(half)).count();
        assert_eq!((count(Half::Design), count(Half::Confirm), names().count()), (120, 80, 200));
        assert_eq!(half_of("cardio"), None);
    }

    #[test] // Tables of one source are in one half.
    fn families_stay_together() {
        for family in
            [["ada", "adaprior"], ["allbp", "thyroid"], ["batch3700part5i3372", "batch3700part5i3389"]]
        {
            assert!(half_of(family[0]).is_some() && half_of(family[0]) == half_of(family[1]), "{family:?}");
        }
    }

    #[test]
    fn only_npz_files_are_sets_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.npz", "a.npz", "SETS.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(in_folder(folder.path()).unwrap().into_keys().collect::<Vec<_>>(), ["a", "b"]);
        assert!(in_folder(&folder.path().join("none")).is_err());
    }
}
