//! The paper's own numbers, as printed in its four result tables.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::{board::Measure, methods::PAPER, protocol::Protocol, sets, tables::Beside};

#[derive(Debug, Deserialize)]
struct Printed {
    dataset: String,
    method: String,
    /// In percent, like `std`.
    mean: f64,
    std: f64,
}

/// By dataset and by our name of the method.
type Table = BTreeMap<(String, String), Beside>;

/// The authors' own quick setting of a method. The paper does not say whether it used this one.
const QUICK: (&str, &str) = ("scad repeats=2", "scad");

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
                ((dataset, our_name(&method)), Beside { mean: mean / 100.0, std: Some(std / 100.0) })
            };
            rows.map(entry).collect()
        })
    });
    let first = match protocol {
        Protocol::Uad => 0,
        Protocol::Occ => 2,
        Protocol::Fixed
        | Protocol::Dte
        | Protocol::Contaminated
        | Protocol::CellsNoise
        | Protocol::CellsSwap => return None,
    };
    let table = match measure {
        Measure::Auc => first,
        Measure::F1 => first + 1,
        Measure::Ap | Measure::Top1 | Measure::OracleAuc => return None,
    };
    // A substitute for a dataset is another dataset.
    let set = sets::find(protocol.benchmark()?, set).filter(|info| !info.substitute)?;
    let method = if method == QUICK.0 { QUICK.1 } else { method };
    TABLES[table].get(&(set.paper_name.clone(), method.to_owned())).copied()
}

/// A method of ours by the name that the paper prints. Only its own method has another one.
fn our_name(printed: &str) -> String {
    printed.to_lowercase().replace("ours-", PAPER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods;

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

    const NOT_IN_PAPER: [&str; 7] = ["noise", "noise-fast", "noise-best", "columns", "mcd", "hbos", "dte-np"];

    #[test]
    fn every_method_of_the_paper_is_one_of_ours() {
        for protocol in [Protocol::Uad, Protocol::Occ] {
            let ours = methods::names().into_iter().filter(|name| !NOT_IN_PAPER.contains(&&**name));
            for name in ours.chain([QUICK.0.to_owned()]) {
                let on_any =
                    |info: &sets::SetInfo| printed(protocol, Measure::Auc, &info.name, &name).is_some();
                let found = sets::registry().iter().any(on_any);
                assert_eq!(found, name != "anogan" || protocol == Protocol::Occ, "{name}");
            }
        }
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
