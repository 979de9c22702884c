//! How surprising a value is given the other columns: trees predict it, and training rows that a tree did not see show
//! how well.

use rayon::prelude::*;

use super::{
    surprisal::Surprisal,
    tree::{self, Ground, Leaves, Seen, Target, Tree},
};
use crate::{
    Seed,
    detect::saved,
    tensors::{TensorError, Tensors},
};

/// Training rows whose errors are measured; with more, a random part of them.
const MOST_MEASURED: usize = 4_000;
/// The share of the rows that a tree sees.
const SEEN: f64 = 0.632;
/// Added to chances, so that their ratios stay finite: what one row in a hundred could change.
const CHANCE: f64 = 0.01;
/// The share of training rows whose error tells the range of what is expected.
const USUAL: f64 = 0.9;
/// Numbers beyond these quantiles count as these when trees learn: one far-out number must not bend a leaf.
const CLIPPED: [f64; 2] = [0.005, 0.995];

/// Trees that predict one column, and their usual errors.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    trees: Vec<Tree>,
    errors: Surprisal,
    /// Added to the spread that the trees expect: half of the median error. 0 for levels.
    floor: f64,
}

/// The training rows, and how to grow trees on them.
pub(super) struct Lesson<'a> {
    pub(super) inputs: &'a [Vec<f32>],
    /// The features of the other columns.
    pub(super) allowed: Vec<u32>,
    /// Which features are levels.
    pub(super) is_level: &'a [bool],
    /// The rows with a value.
    pub(super) rows: &'a [u32],
    pub(super) n_trees: usize,
    pub(super) max_samples: usize,
    pub(super) seed: Seed,
    /// Which column, for the random streams.
    pub(super) column: u64,
}

impl Lesson<'_> {
    /// Grows the trees; gives them with the rows each has seen, sorted.
    fn grow(&self, target: Target<'_>, min_leaf: usize) -> Vec<(Tree, Vec<u32>)> {
        let ground =
            Ground { inputs: self.inputs, allowed: &self.allowed, is_level: self.is_level, target, min_leaf };
        let n_seen = ((SEEN * self.rows.len() as f64) as usize).min(self.max_samples).max(1);
        let grow = |tree: usize| {
            let mut stream = self.seed.stream("column tree", &[self.column, tree as u64]);
            let mut drawn = self.rows.to_vec();
            for at in 0..n_seen {
                let other = at + stream.below(drawn.len() - at);
                drawn.swap(at, other);
            }
            drawn.truncate(n_seen);
            drawn.sort_unstable();
            (Tree::grow(&ground, drawn.clone(), &mut stream), drawn)
        };
        (0..self.n_trees).into_par_iter().map(grow).collect()
    }

    /// The rows whose errors are measured, in row order.
    pub(super) fn measured(&self) -> Vec<u32> {
        let mut rows = self.rows.to_vec();
        if rows.len() > MOST_MEASURED {
            self.seed.stream("column errors", &[self.column]).shuffle(&mut rows);
            rows.truncate(MOST_MEASURED);
            rows.sort_unstable();
        }
        rows
    }

    /// The features of a training row.
    fn row(&self, row: u32, features: &mut Vec<f32>) {
        features.clear();
        features.extend(self.inputs.iter().map(|input| input[row as usize]));
    }
}

/// The mean of what trees say of a number, and the spread they expect.
fn expected<'a>(trees: impl Iterator<Item = &'a Tree>, row: Seen<'_>) -> Option<(f64, f64)> {
    let (mut sum, mut squares, mut spread, mut n) = (0.0, 0.0, 0.0, 0.0);
    for tree in trees {
        let Leaves::Numbers(leaves) = &tree.leaves else { unreachable!("the column holds numbers") };
        let [mean, deviation] = leaves[tree.walk(row)].map(f64::from);
        sum += mean;
        squares += mean * mean;
        spread += deviation;
        n += 1.0;
    }
    let mean = sum / n;
    // How much the trees disagree counts, too.
    (n > 0.0).then(|| (mean, spread / n + (squares / n - mean * mean).max(0.0).sqrt()))
}

/// The chances of levels, all zero between uses.
pub(super) struct Chances {
    all: Vec<f64>,
    touched: Vec<u32>,
}

impl Chances {
    pub(super) fn new(n_levels: usize) -> Self {
        Self { all: vec![0.0; n_levels], touched: Vec::new() }
    }
}

/// Adds up what the trees say of each level; gives their number.
fn add_chances<'a>(
    trees: impl Iterator<Item = &'a Tree>,
    row: Seen<'_>,
    chances: &mut [f64],
    touched: &mut Vec<u32>,
) -> f64 {
    touched.clear();
    let mut n = 0.0;
    for tree in trees {
        let Leaves::Levels { ends, levels, shares } = &tree.leaves else {
            unreachable!("the column holds levels")
        };
        let leaf = tree.walk(row);
        let start = if leaf == 0 { 0 } else { ends[leaf - 1] as usize };
        for (&level, &share) in levels[start..ends[leaf] as usize].iter().zip(&shares[start..]) {
            if chances[level as usize] == 0.0 {
                touched.push(level);
            }
            chances[level as usize] += f64::from(share);
        }
        n += 1.0;
    }
    n
}

/// ln of how much likelier than `level` the likeliest level is.
fn surprise<'a>(
    trees: impl Iterator<Item = &'a Tree>,
    row: Seen<'_>,
    level: usize,
    Chances { all: chances, touched }: &mut Chances,
) -> Option<f64> {
    let n = add_chances(trees, row, chances, touched);
    let most = touched.iter().map(|&level| chances[level as usize]).fold(0.0, f64::max);
    let own = chances.get(level).copied().unwrap_or(0.0);
    for &level in &*touched {
        chances[level as usize] = 0.0;
    }
    (n > 0.0).then(|| libm::log((most / n + CHANCE) / (own / n + CHANCE)))
}

impl Given {
    /// The number expected in this row, and how far off nine in ten training rows were at most.
    pub(super) fn expected_number(&self, row: Seen<'_>) -> Option<(f64, f64)> {
        let (mean, spread) = expected(self.trees.iter(), row)?;
        Some((mean, self.errors.quantile(USUAL) * (spread + self.floor)))
    }

    /// The chances of the levels in this row.
    pub(super) fn chances(&self, row: Seen<'_>, Chances { all, touched }: &mut Chances) -> Vec<(u32, f64)> {
        let n = add_chances(self.trees.iter(), row, all, touched);
        touched.sort_unstable();
        touched.iter().map(|&level| (level, std::mem::take(&mut all[level as usize]) / n)).collect()
    }

    /// Learns to predict numbers; `None` if no other column helps to.
    pub(super) fn of_numbers(lesson: &Lesson<'_>, numbers: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = lesson.rows.iter().map(|&row| numbers[row as usize]).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let [low, high] = CLIPPED.map(|share| sorted[((sorted.len() - 1) as f64 * share).round() as usize]);
        let clipped: Vec<f32> = numbers.iter().map(|number| number.clamp(low, high) as f32).collect();
        let grown = lesson.grow(Target::Numbers(&clipped), 4);
        let measure = |features: &mut Vec<f32>, &row: &u32| {
            let unseen = grown.iter().filter(|(_, seen)| seen.binary_search(&row).is_err());
            lesson.row(row, features);
            let seen = Seen { row: features, is_level: lesson.is_level };
            let (mean, spread) = expected(unseen.map(|(tree, _)| tree), seen)?;
            Some(((numbers[row as usize] - mean).abs(), spread))
        };
        let measured = lesson.measured();
        let errors = measured.par_iter().map_init(Vec::new, measure).flatten();
        let errors: Vec<(f64, f64)> = errors.collect();
        let mut sizes: Vec<f64> = errors.iter().map(|&(error, _)| error).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let floor = 0.5 * sizes.get(sizes.len() / 2)? + 1e-9;
        let errors =
            Surprisal::learn(errors.iter().map(|(error, spread)| error / (spread + floor)).collect());
        Some(Self { trees: grown.into_iter().map(|(tree, _)| tree).collect(), errors, floor })
    }

    /// Learns to predict levels, given as positions; `None` if no other column helps to.
    pub(super) fn of_levels(lesson: &Lesson<'_>, levels: &[u32], n_levels: usize) -> Option<Self> {
        let grown = lesson.grow(Target::Levels { levels, n_levels }, 1);
        let measure = |(chances, features): &mut (Chances, Vec<f32>), &row: &u32| {
            let unseen = grown.iter().filter(|(_, seen)| seen.binary_search(&row).is_err());
            let level = levels[row as usize] as usize;
            lesson.row(row, features);
            let seen = Seen { row: features, is_level: lesson.is_level };
            surprise(unseen.map(|(tree, _)| tree), seen, level, chances)
        };
        let prepare = || (Chances::new(n_levels), Vec::new());
        let errors: Vec<f64> = lesson.measured().par_iter().map_init(prepare, measure).flatten().collect();
        if errors.is_empty() {
            return None;
        }
        let errors = Surprisal::learn(errors);
        Some(Self { trees: grown.into_iter().map(|(tree, _)| tree).collect(), errors, floor: 0.0 })
    }

    /// The surprise of a number in this row.
    pub(super) fn number(&self, row: Seen<'_>, number: f64) -> f64 {
        let expected = expected(self.trees.iter(), row);
        expected.map_or(0.0, |(mean, spread)| self.errors.of((number - mean).abs() / (spread + self.floor)))
    }

    /// The surprise of the level at this position in this row.
    pub(super) fn level(&self, row: Seen<'_>, level: usize, chances: &mut Chances) -> f64 {
        let said = surprise(self.trees.iter(), row, level, chances);
        said.filter(|&said| said > 0.0).map_or(0.0, |said| self.errors.of(said))
    }

    pub(super) fn put(&self, tensors: &mut Tensors) {
        tree::put_all(tensors, &self.trees);
        self.errors.put(tensors, "errors");
        tensors.put_f64("floor", &[1], vec![self.floor]);
    }

    /// `n_levels` is `None` for numbers.
    pub(super) fn take(
        tensors: &mut Tensors,
        n_trees: usize,
        is_level: &[bool],
        n_levels: Option<usize>,
    ) -> Result<Self, TensorError> {
        let trees = tree::take_all(tensors, n_trees, is_level, n_levels)?;
        let errors = Surprisal::take(tensors, "errors")?;
        let floor = tensors.take_f64("floor", &[1])?[0];
        let fits = if n_levels.is_some() { floor == 0.0 } else { floor > 0.0 };
        if fits {
            Ok(Self { trees, errors, floor })
        } else {
            Err(saved::invalid("floor", &"it must be positive"))
        }
    }
}
