//! Combines many runs into one result per set and method.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    methods,
    protocol::Protocol,
    sets,
    stats::summary,
    store::{Row, Status},
};

/// A method with results on fewer than this share of the sets is not compared with the others.
const LEAST_SHARE: f64 = 0.8;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Area under the ROC curve.
    Auc,
    /// Average precision.
    Ap,
    /// F1 at the number of anomalies.
    F1,
    /// Share of rows whose oddest cell was spoiled.
    Top1,
    /// The best AUC during training, chosen by test labels. Not a result: only for columns named `oracle`.
    OracleAuc,
}

impl Measure {
    fn of(self, row: &Row) -> Option<f64> {
        match self {
            Measure::Auc => row.auc,
            Measure::Ap => row.ap,
            Measure::F1 => row.f1,
            Measure::Top1 => row.top1,
            Measure::OracleAuc => row.oracle_auc,
        }
    }
}

/// The result of one method on one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The mean over classes and seeds.
    pub mean: f64,
    /// Standard deviation over the seeds of the mean over the classes; `None` with fewer than two seeds.
    pub std: Option<f64>,
    /// The number of classes: the experiments of this set.
    pub n_classes: usize,
    /// The mean over the classes, by seed.
    pub by_seed: BTreeMap<u64, f64>,
}

/// The results of all methods on all sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// The rows, in the order of the registry; other sets follow by name.
    pub sets: Vec<String>,
    /// The columns: `method` or `method variant`, in the order of the methods.
    pub methods: Vec<String>,
    /// Sets × methods; `None` if a run is missing, failed or timed out.
    pub cells: Vec<Vec<Option<Cell>>>,
}

impl Board {
    /// The board of one protocol. A cell needs a run for every class that any method was run on, with every seed:
    /// means over different classes are not comparable.
    #[must_use]
    pub fn new(rows: &[Row], protocol: Protocol, measure: Measure) -> Self {
        let known_sets: Vec<&str> = sets::registry().iter().map(|info| info.name.as_str()).collect();
        let known_methods = methods::names();
        let mut groups = BTreeMap::<(String, String), Vec<&Row>>::new();
        let (mut sets, mut methods) = (BTreeSet::new(), BTreeSet::new());
        let mut classes = BTreeMap::<String, BTreeSet<i64>>::new();
        for row in rows.iter().filter(|row| row.protocol == protocol) {
            sets.insert((place(&known_sets, &row.set), row.set.clone()));
            methods.insert((place(&known_methods, &row.method), row.label()));
            groups.entry((row.set.clone(), row.label())).or_default().push(row);
            classes.entry(row.set.clone()).or_default().insert(row.class);
        }
        let names = |placed: BTreeSet<(usize, String)>| placed.into_iter().map(|(_, name)| name).collect();
        let (sets, methods): (Vec<String>, Vec<String>) = (names(sets), names(methods));
        let cell = |set: &String, method: &String| {
            Cell::of(groups.get(&(set.clone(), method.clone()))?, classes[set].len(), measure)
        };
        let line = |set: &String| methods.iter().map(|method| cell(set, method)).collect();
        let cells = sets.iter().map(line).collect();
        Self { sets, methods, cells }
    }

    /// The column of a method.
    #[must_use]
    pub fn position(&self, method: &str) -> Option<usize> {
        self.methods.iter().position(|known| known == method)
    }

    /// The same board without the sets on which some method has no result.
    #[must_use]
    pub fn complete(&self) -> Self {
        self.keeping(|_, cells| cells.iter().all(Option::is_some))
    }

    /// The same board without substitute sets, unless there are no others. Tables show substitutes, but means and tests
    /// leave them out.
    #[must_use]
    pub fn without_substitutes(&self) -> Self {
        let board = self.keeping(|set, _| !sets::is_substitute(set));
        if board.sets.is_empty() { self.clone() } else { board }
    }

    /// The same board with only some sets.
    fn keeping(&self, is_kept: impl Fn(&str, &[Option<Cell>]) -> bool) -> Self {
        let kept = self.sets.iter().zip(&self.cells).filter(|(set, cells)| is_kept(set, cells));
        let (sets, cells) = kept.map(|(set, cells)| (set.clone(), cells.clone())).unzip();
        Self { sets, methods: self.methods.clone(), cells }
    }

    /// The comparable part: the methods with results on most sets, the sets that all these methods have, and the seeds
    /// that all of them have there. Also returns the names of the methods left out.
    #[must_use]
    pub fn comparable(&self) -> (Self, Vec<String>) {
        let Self { sets, methods, cells } = self.without_substitutes();
        let n_sets = |method: usize| cells.iter().filter(|cells| cells[method].is_some()).count();
        let most = (0..methods.len()).map(n_sets).max().unwrap_or(0);
        let (kept, left_out): (Vec<usize>, Vec<usize>) =
            (0..methods.len()).partition(|&method| n_sets(method) as f64 >= LEAST_SHARE * most as f64);
        let names = |chosen: &[usize]| chosen.iter().map(|&method| methods[method].clone()).collect();
        let line = |cells: &Vec<Option<Cell>>| kept.iter().map(|&method| cells[method].clone()).collect();
        let cells = cells.iter().map(line).collect();
        let whole = Self { sets, methods: names(&kept), cells }.complete();
        (whole.on_common_seeds(), names(&left_out))
    }

    /// The same board on the seeds that all methods have on a set, without sets that have none. The board must have no
    /// gaps.
    fn on_common_seeds(self) -> Self {
        let common = |cells: Vec<Option<Cell>>| {
            let cells: Vec<Cell> = cells.into_iter().collect::<Option<_>>()?;
            let has_seed = |seed: &u64| cells.iter().all(|cell| cell.by_seed.contains_key(seed));
            cells.iter().map(|cell| cell.of_seeds(&has_seed).map(Some)).collect::<Option<Vec<_>>>()
        };
        let kept =
            self.sets.into_iter().zip(self.cells).filter_map(|(set, cells)| Some((set, common(cells)?)));
        let (sets, cells) = kept.unzip();
        Self { sets, methods: self.methods, cells }
    }

    /// The means, set by set. Leaves out sets with gaps.
    #[must_use]
    pub fn means(&self) -> Vec<Vec<f64>> {
        let line = |cells: &Vec<Option<Cell>>| cells.iter().map(|cell| Some(cell.as_ref()?.mean)).collect();
        self.cells.iter().filter_map(line).collect()
    }

    /// The mean over the sets that a method has results on, and their number.
    #[must_use]
    pub fn mean_over_sets(&self, method: usize) -> Option<(f64, usize)> {
        let values: Vec<f64> = self.of_method(method).map(|cell| cell.mean).collect();
        (!values.is_empty()).then(|| (values.iter().sum::<f64>() / values.len() as f64, values.len()))
    }

    /// The mean over the experiments, where every class of every set counts once, and their number.
    #[must_use]
    pub fn mean_over_experiments(&self, method: usize) -> Option<(f64, usize)> {
        let count: usize = self.of_method(method).map(|cell| cell.n_classes).sum();
        let sum: f64 = self.of_method(method).map(|cell| cell.mean * cell.n_classes as f64).sum();
        (count > 0).then(|| (sum / count as f64, count))
    }

    /// The results of a method, set by set.
    pub(crate) fn of_method(&self, method: usize) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter_map(move |cells| cells[method].as_ref())
    }
}

/// The position of a name in a list; the length of the list if it is not there.
fn place<T: AsRef<str>>(names: &[T], name: &str) -> usize {
    names.iter().position(|known| known.as_ref() == name).unwrap_or(names.len())
}

impl Cell {
    fn of(rows: &[&Row], n_classes: usize, measure: Measure) -> Option<Self> {
        let seeds: BTreeSet<u64> = rows.iter().map(|row| row.seed).collect();
        if rows.len() != n_classes * seeds.len() || rows.iter().any(|row| row.status != Status::Ok) {
            return None;
        }
        let of_seed = |&seed: &u64| {
            let values = rows.iter().filter(|row| row.seed == seed).map(|row| measure.of(row));
            Some(values.sum::<Option<f64>>()? / n_classes as f64)
        };
        let by_seed = seeds.iter().map(|seed| Some((*seed, of_seed(seed)?))).collect::<Option<_>>()?;
        Self::of_means(by_seed, n_classes)
    }

    fn of_means(by_seed: BTreeMap<u64, f64>, n_classes: usize) -> Option<Self> {
        let values: Vec<f64> = by_seed.values().copied().collect();
        let (mean, std) = (summary::mean(&values)?, summary::standard_deviation(&values));
        Some(Self { mean, std, n_classes, by_seed })
    }

    /// The result over some of its seeds; `None` if it has none of them.
    fn of_seeds(&self, is_meant: &dyn Fn(&u64) -> bool) -> Option<Self> {
        let meant = self.by_seed.iter().filter(|(seed, _)| is_meant(seed));
        Self::of_means(meant.map(|(&seed, &mean)| (seed, mean)).collect(), self.n_classes)
    }

    /// The means of two methods on the same set over the seeds that both have; `None` if they share none. The seed
    /// determines the split, so the two differ in the method only.
    pub(crate) fn on_common_seeds(&self, other: &Self) -> Option<(f64, f64)> {
        let own = self.of_seeds(&|seed| other.by_seed.contains_key(seed))?;
        Some((own.mean, other.of_seeds(&|seed| self.by_seed.contains_key(seed))?.mean))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{job::Job, methods::Method};

    pub(crate) fn row(set: &str, class: i64, method: &str, seed: u64, auc: f64) -> Row {
        let method = Method::named(method).unwrap();
        let job = Job { protocol: Protocol::Occ, set: set.to_owned(), class, method, seed };
        Row { auc: Some(auc), ..Row::unmeasured(&job, Status::Ok, "") }
    }

    // wine: seed 0 has (0.6 + 0.8)/2 = 0.7, seed 1 has (0.8 + 1)/2 = 0.9: mean 0.8, standard deviation √0.02.
    // glass: 0.5 by one class. Over sets 0.65; over experiments (2·0.8 + 0.5)/3 = 0.7.
    #[test]
    fn means_are_those_worked_out_by_hand() {
        let mut rows = vec![row("glass", 3, "knn", 0, 0.4), row("glass", 3, "knn", 1, 0.6)];
        for (class, seed, auc) in [(1, 0, 0.6), (2, 0, 0.8), (1, 1, 0.8), (2, 1, 1.0)] {
            rows.push(row("wine", class, "knn", seed, auc));
        }
        let board = Board::new(&rows, Protocol::Occ, Measure::Auc);
        assert_eq!(
            (board.sets.as_slice(), board.methods.as_slice()),
            (&["glass", "wine"].map(String::from)[..], &["knn".to_owned()][..])
        );
        let wine = board.cells[1][0].as_ref().unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} instead of {b}");
        close(wine.mean, 0.8);
        close(wine.std.unwrap(), 0.02f64.sqrt());
        close(board.mean_over_sets(0).unwrap().0, 0.65);
        let (mean, count) = board.mean_over_experiments(0).unwrap();
        close(mean, 0.7);
        assert_eq!(count, 3);
    }

    #[test] // knn was stopped after class 1 of wine; lof shows that there is a class 2.
    fn a_set_with_a_missing_class_has_no_result() {
        let rows =
            [row("wine", 1, "knn", 0, 0.9), row("wine", 1, "lof", 0, 0.5), row("wine", 2, "lof", 0, 0.7)];
        let board = Board::new(&rows, Protocol::Occ, Measure::Auc);
        assert_eq!(board.cells[0][0], None);
        assert!((board.cells[0][1].as_ref().unwrap().mean - 0.6).abs() < 1e-12);
    }

    #[test] // scad has 1 of 2 sets and is left out, so the others keep both.
    fn a_method_with_few_sets_does_not_take_sets_from_the_others() {
        let mut rows = vec![row("wine", 0, "scad", 0, 0.5)];
        for (set, auc) in [("wine", 0.7), ("glass", 0.9)] {
            rows.extend([row(set, 0, "knn", 0, auc), row(set, 0, "lof", 0, auc)]);
        }
        let (board, left_out) = Board::new(&rows, Protocol::Occ, Measure::Auc).comparable();
        assert_eq!((board.sets.len(), board.methods), (2, vec!["knn".to_owned(), "lof".to_owned()]));
        assert_eq!(left_out, ["scad"]);
    }

    #[test] // Seeds 0 and 1 against 1 and 2: both have seed 1.
    fn two_methods_are_compared_on_the_seeds_that_both_have() {
        let rows = [
            row("wine", 0, "knn", 0, 0.2),
            row("wine", 0, "knn", 1, 0.4),
            row("wine", 0, "lof", 1, 0.5),
            row("wine", 0, "lof", 2, 0.9),
            row("wine", 0, "ecod", 3, 0.9),
        ];
        let board = Board::new(&rows, Protocol::Occ, Measure::Auc);
        let [knn, lof, ecod] = ["knn", "lof", "ecod"]
            .map(|method| board.cells[0][board.position(method).unwrap()].as_ref().unwrap());
        assert_eq!(knn.on_common_seeds(lof), Some((0.4, 0.5)));
        assert_eq!(knn.on_common_seeds(ecod), None);
        // All three have no seed in common, two of them have seed 1.
        assert!(board.comparable().0.sets.is_empty());
        let (two, _) = Board::new(&rows[..4], Protocol::Occ, Measure::Auc).comparable();
        assert_eq!(two.means(), [[0.4, 0.5]]);
    }

    #[test]
    fn a_substitute_takes_no_part_unless_it_is_alone() {
        let rows = [row("wine", 0, "knn", 0, 0.5), row("mulcross_regenerated", 0, "knn", 0, 0.9)];
        let board = Board::new(&rows, Protocol::Occ, Measure::Auc);
        assert_eq!((board.sets.len(), board.without_substitutes().sets), (2, vec!["wine".to_owned()]));
        let alone = Board::new(&rows[1..], Protocol::Occ, Measure::Auc);
        assert_eq!(alone.without_substitutes(), alone);
    }

    #[test]
    fn a_failed_run_leaves_a_gap_and_no_mean_over_the_others() {
        let mut failed = row("wine", 0, "lof", 1, 0.9);
        failed.status = Status::Timeout;
        let rows = [
            row("wine", 0, "knn", 0, 0.5),
            row("wine", 0, "lof", 0, 0.9),
            failed,
            row("glass", 0, "knn", 0, 0.7),
            row("glass", 0, "lof", 0, 0.6),
        ];
        let board = Board::new(&rows, Protocol::Occ, Measure::Auc);
        assert_eq!(board.sets, ["glass", "wine"]);
        assert_eq!(board.cells[1][1], None);
        assert_eq!(board.mean_over_sets(1), Some((0.6, 1)));
        assert_eq!(board.complete().sets, ["glass"]);
        assert_eq!(board.means(), [vec![0.7, 0.6]]);
        assert!(Board::new(&rows, Protocol::Uad, Measure::Auc).sets.is_empty());
    }
}
