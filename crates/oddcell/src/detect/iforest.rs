//! `iforest`, the isolation forest: fewer random cuts separate an odd row from the others.
//!
//! *Formula:* every tree takes ψ = min(`max_samples`, n) rows without replacement and cuts them at random
//! (see `tree.rs`) down to H = ⌈log₂ max(ψ, 2)⌉ levels. The path of a row in a tree is the number of cuts to
//! its leaf plus c(rows in that leaf), where c(m) is the mean path in a random tree of m rows
//!
//! ```text
//! c(m) = 0 for m ≤ 1,   1 for m = 2,   2·(ln(m − 1) + 0.5772156649015329) − 2·(m − 1)/m otherwise
//! score(x) = 2^( − mean over the trees of path / c(ψ) )     between 0 and 1; 0.5 if ψ = 1
//! ```
//!
//! Values are rounded to `f32` first, in training and in scoring, as scikit-learn does; beyond its range they
//! count as its largest number.
//!
//! *Invariants:* tree t draws from the stream (seed, t) alone, and paths are added in the order of the trees,
//! so neither threads nor batches change a bit.
//!
//! *Source:* Liu, Ting, Zhou (2008), "Isolation forest". The score is the one of the paper; scikit-learn's
//! `score_samples` is its negative.

mod tree;

use rayon::prelude::*;

use self::tree::Tree;
use super::{Abilities, Fitted, Judged, Params, parameters, ranges, saved};
use crate::{
    Context, Matrix, Progress,
    error::{FitError, ParamError},
    tensors::{TensorError, Tensors},
};

/// Rows that walk through one tree after the other together: the tree stays in the fastest cache.
const ROWS_PER_BLOCK: usize = 128;
/// Trees grown between two looks at the monitor.
const TREES_PER_REPORT: usize = 32;

parameters! {
    /// The parameters of `iforest`.
    pub(super) struct IforestParams {
        /// Trees in the forest, from 1 to 100,000. More trees, less chance in the scores.
        pub n_trees: usize = 100,
        /// Rows each tree is grown on, from 1 to 16,777,216; with fewer training rows, all of them.
        pub max_samples: usize = 256,
    }
}

impl Params for IforestParams {
    const NAME: &'static str = "iforest";
    const SUMMARY: &'static str = "isolation forest: fewer random cuts isolate an odd row";
    const ABILITIES: Abilities = Abilities::SIMPLE;
    const LEAST_ROWS: usize = 1;

    fn check(&self) -> Result<(), ParamError> {
        ranges::count("n_trees", self.n_trees, 1..=100_000, "from 1 to 100,000")?;
        ranges::count("max_samples", self.max_samples, 1..=1 << 24, "from 1 to 16,777,216")
    }

    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        let IforestParams { n_trees, max_samples } = *self;
        let sample_rows = max_samples.min(rows.n_rows());
        let mut trees = Vec::with_capacity(n_trees);
        while trees.len() < n_trees {
            crate::context::go_on(context.monitor)?;
            let range = trees.len()..n_trees.min(trees.len() + TREES_PER_REPORT);
            trees.par_extend(range.into_par_iter().map(|tree| {
                let mut stream = context.seed.stream("iforest tree", &[tree as u64]);
                Tree::grow(rows, sample_rows, &mut stream)
            }));
            context.monitor.advanced(Progress { done: trees.len(), total: n_trees, loss: None });
        }
        Ok(Box::new(FittedIforest { n_features: rows.n_cols(), sample_rows, trees }))
    }

    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError> {
        let shape = tensors.take_u32("shape", &[3])?;
        let [n_features, sample_rows, n_trees] = [0, 1, 2].map(|at| shape[at] as usize);
        if n_features == 0 {
            return Err(saved::invalid("shape", &"it says 0 features, but there must be at least 1"));
        }
        if !(1..=self.max_samples).contains(&sample_rows) {
            let reason = format!("it says {sample_rows} rows per tree, beyond 1 to {}", self.max_samples);
            return Err(saved::invalid("shape", &reason));
        }
        if n_trees != self.n_trees {
            let reason = format!("it says {n_trees} trees, but the parameters say {}", self.n_trees);
            return Err(saved::invalid("shape", &reason));
        }
        let trees = tree::take_all(tensors, n_trees, sample_rows, n_features)?;
        Ok(Box::new(FittedIforest { n_features, sample_rows, trees }))
    }
}

/// A grown forest.
#[derive(Debug)]
struct FittedIforest {
    n_features: usize,
    /// ψ, the rows every tree was grown on.
    sample_rows: usize,
    trees: Vec<Tree>,
}

impl FittedIforest {
    /// The mean paths of some rows become their scores.
    fn scores(&self, rows: &[f64]) -> Vec<f64> {
        let cast: Vec<f32> = rows.iter().map(|&value| to_f32(value)).collect();
        let mut paths = vec![0.0; rows.len() / self.n_features];
        for tree in &self.trees {
            tree.add_paths(&cast, self.n_features, &mut paths);
        }
        let n_trees = self.trees.len() as f64;
        paths.into_iter().map(|path| libm::exp2(-path / n_trees)).collect()
    }
}

impl Fitted for FittedIforest {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn judge_checked(&self, rows: &Matrix, _: bool) -> Judged {
        let blocks: Vec<Vec<f64>> = rows
            .values()
            .par_chunks(ROWS_PER_BLOCK * self.n_features)
            .map(|block| self.scores(block))
            .collect();
        Judged { scores: blocks.concat(), cells: None }
    }

    fn save_to(&self, tensors: &mut Tensors) {
        // A matrix of more than u32::MAX columns cannot have been cut: its one row alone is 32 GiB.
        let shape = [self.n_features, self.sample_rows, self.trees.len()];
        tensors.put_u32("shape", &[3], shape.map(|count| count as u32).to_vec());
        tree::put_all(tensors, &self.trees);
    }
}

/// The nearest `f32`; beyond its range, its largest number.
fn to_f32(value: f64) -> f32 {
    (value as f32).clamp(f32::MIN, f32::MAX)
}

/// c(m): the mean path in a random tree of m rows.
fn average_path(rows: usize) -> f64 {
    const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
    match rows {
        0 | 1 => 0.0,
        2 => 1.0,
        _ => {
            let m = rows as f64;
            2.0 * (libm::log(m - 1.0) + EULER_GAMMA) - 2.0 * (m - 1.0) / m
        }
    }
}

/// H: the levels a tree of so many rows may have.
fn height_limit(sample_rows: usize) -> u32 {
    sample_rows.max(2).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    #[test] // By hand: c(3) = 2·(ln 2 + γ) − 4/3 = 2·(0.693147 + 0.577216) − 1.333333 = 1.207392.
    fn average_paths_match_the_published_values() {
        assert_eq!([average_path(0), average_path(1), average_path(2)], [0.0, 0.0, 1.0]);
        let published = [
            (3, 1.207_392_357_589_623),
            (4, 1.851_655_907_139_286),
            (5, 2.327_020_052_042_847),
            (8, 3.296_251_627_913_692),
            (12, 4.116_888_542_066_474),
            (16, 4.695_531_732_007_486),
            (32, 6.084_905_738_773_358),
            (64, 7.471_950_782_586_131),
            (100, 8.364_671_030_072_245),
            (128, 8.858_430_502_720_248),
            (256, 10.244_770_920_119_917),
            (1000, 12.969_940_887_100_174),
        ];
        for (rows, expected) in published {
            assert!((average_path(rows) - expected).abs() < 4e-15 * expected, "c({rows})");
        }
    }

    #[test]
    fn the_height_is_the_rounded_up_logarithm() {
        let limits = [1, 2, 3, 4, 5, 12, 256, 257].map(height_limit);
        assert_eq!(limits, [1, 1, 2, 2, 3, 4, 8, 9]);
    }

    fn learn(rows: &Matrix, params: IforestParams, seed: u64) -> Box<dyn Fitted> {
        params.build().unwrap().fit(rows, &Context::silent(Seed(seed))).unwrap()
    }

    #[test] // Nothing can be cut: every path is c(ψ), so every score is 2^(−1).
    fn equal_rows_and_a_single_row_score_one_half() {
        for n_rows in [1, 2, 300] {
            let fitted = learn(&Matrix::zeros(n_rows, 2), IforestParams::default(), 1);
            assert_eq!(fitted.score(&Matrix::from_rows(&[[0.0, 0.0], [9.0, 9.0]])).unwrap(), [0.5, 0.5]);
        }
    }

    // Rows 0 and 1: one cut t in [0, 1), paths 1 + c(1) = 1 = c(2), so the score is 2^(−1) on both sides.
    #[test]
    fn two_rows_are_parted_by_one_cut() {
        let fitted = learn(&Matrix::from_rows(&[[0.0], [1.0]]), IforestParams::default(), 1);
        assert_eq!(fitted.score(&Matrix::from_rows(&[[0.0], [1.0], [-5.0]])).unwrap(), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn values_beyond_single_precision_are_scored_like_its_largest() {
        let rows = Matrix::from_rows(&[[-1e300], [0.0], [1.0], [1e300]]);
        let fitted = learn(&rows, IforestParams::default(), 1);
        let scores = fitted.score(&Matrix::from_rows(&[[1e300], [1e39]])).unwrap();
        assert!(scores.iter().all(|score| score.is_finite()));
        assert_eq!(scores[0], scores[1]);
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let error = IforestParams { n_trees: 0, ..IforestParams::default() }.build().unwrap_err();
        assert_eq!(error.to_string(), "parameter `n_trees` is 0, but must be from 1 to 100,000");
        let error = IforestParams { max_samples: 0, ..IforestParams::default() }.build().unwrap_err();
        assert_eq!(error.to_string(), "parameter `max_samples` is 0, but must be from 1 to 16,777,216");
    }

    proptest! {
        // Law: a forest sees the order and the gaps of values only. Mirroring is not one of its symmetries
        // (`<=` goes left), but shifting and scaling by powers of two are, and are exact in binary.
        #[test]
        fn scaling_a_column_by_a_power_of_two_leaves_the_scores_as_they_were(
            cells in prop::collection::vec(-1000i32..1000, 20..120),
            power in 0u32..8,
            seed in any::<u64>(),
        ) {
            let values: Vec<f64> = cells.iter().map(|&cell| f64::from(cell)).collect();
            let rows = Matrix::new(values[..values.len() / 2 * 2].to_vec(), values.len() / 2, 2);
            let mut scaled = rows.clone();
            scaled.values_mut().iter_mut().for_each(|value| *value *= f64::from(1u32 << power));
            let params = IforestParams { n_trees: 5, max_samples: 32 };
            let before = learn(&rows, params.clone(), seed).score(&rows).unwrap();
            let after = learn(&scaled, params, seed).score(&scaled).unwrap();
            prop_assert!(before.iter().all(|score| (0.0..1.0).contains(score)));
            prop_assert_eq!(before, after);
        }
    }
}
