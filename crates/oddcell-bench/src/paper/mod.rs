//! The paper's own numbers, as printed in its four result tables.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::{board::Measure, protocol::Protocol, sets, tables::Beside};

#[derive(Debug, Deserialize)]
struct Printed {
    dataset: String,
    method: String,
    /// In percent, like `std`.
    mean: f64,
    std: f64,
}

type Table = BTreeMap<(String, String), Beside>;

/// The paper's figure for a dataset and a method of ours, as a share; `None` if it prints none.
#[must_use]
pub fn printed(protocol: Protocol, measure: Measure, set: &str, method: &str) -> Option<Beside> {
    static TABLES: LazyLock<[Table; 4]> = LazyLock::new(|| {
        [
            include_str!("uad_auc.csv"),
            include_str!("uad_f1.csv"),
            include_str!("occ_auc.csv"),
            include_str!("occ_f1.csv"),
        ]
        .map(|text| {
            let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Printed>();
            let rows = rows.map(|row| row.expect("the tables are well-formed; a test reads them"));
            let entry = |row: Printed| {
                let Printed { dataset, method, mean, std } = row;
                ((dataset, method), Beside { mean: mean / 100.0, std: Some(std / 100.0) })
            };
            rows.map(entry).collect()
        })
    });
    let first = match protocol {
        Protocol::Uad => 0,
        Protocol::Occ => 2,
        Protocol::Dte | Protocol::Contaminated | Protocol::CellsNoise | Protocol::CellsSwap => return None,
    };
    let table = match measure {
        Measure::Auc => first,
        Measure::F1 => first + 1,
        Measure::Ap | Measure::Top1 | Measure::OracleAuc => return None,
    };
    // A substitute for a dataset is another dataset.
    let set = sets::find(protocol.benchmark(), set).filter(|info| !info.substitute)?;
    TABLES[table].get(&(set.paper_name.clone(), printed_name(method)?.to_owned())).copied()
}

/// A method's name in the paper.
#[must_use]
pub fn printed_name(method: &str) -> Option<&'static str> {
    Some(match method {
        "noise-paper-mlp" => "Ours-MLP",
        "noise-paper-resmlp" => "Ours-ResMLP",
        "knn" => "KNN",
        "lof" => "LOF",
        "iforest" => "IForest",
        "copod" => "COPOD",
        "ecod" => "ECOD",
        "ae" => "AE",
        "deepsvdd" => "DeepSVDD",
        "anogan" => "AnoGAN",
        // Two repeats are the authors' own quick setting; the paper does not say which it used.
        "scad" | "scad repeats=2" => "SCAD",
        "neutralad" => "NeuTraLAD",
        "plad" => "PLAD",
        "dpad" => "DPAD",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Printed in the paper: KNN on letter 88.12±0.9 AUC; Ours-MLP on letter in its own table.
    fn printed_numbers_are_found_under_our_names() {
        let knn = printed(Protocol::Uad, Measure::Auc, "letter", "knn").unwrap();
        assert_eq!(knn, Beside { mean: 88.12 / 100.0, std: Some(0.9 / 100.0) });
        assert!(printed(Protocol::Uad, Measure::Auc, "satimage-2", "noise-paper-mlp").is_some());
        assert!(printed(Protocol::Uad, Measure::Auc, "letter", "anogan").is_none());
        assert!(printed(Protocol::Occ, Measure::F1, "wine", "anogan").is_some());
        assert_eq!(printed(Protocol::Dte, Measure::Auc, "letter", "knn"), None);
        assert_eq!(printed(Protocol::Uad, Measure::Auc, "letter", "noise"), None);
    }

    #[test]
    fn every_set_of_the_registry_is_in_the_papers_tables() {
        for info in sets::registry().iter().filter(|info| !info.substitute) {
            let protocol = match info.benchmark {
                sets::Benchmark::Adbench => Protocol::Uad,
                sets::Benchmark::Occ => Protocol::Occ,
            };
            for figure in [Measure::Auc, Measure::F1] {
                assert!(printed(protocol, figure, &info.name, "knn").is_some(), "{}", info.name);
            }
        }
    }
}
