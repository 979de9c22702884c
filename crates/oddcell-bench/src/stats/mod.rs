//! Statistics of a benchmark: tests whether one method is better than another over many sets, or only luckier.
//!
//! *Why:* a mean over 45 sets does not show its uncertainty. This module follows the usual practice for
//! comparing methods over several data sets: J. Demšar, *Statistical comparisons of classifiers over multiple
//! data sets*, JMLR 7 (2006); with Holm-corrected Wilcoxon tests for the pairs as A. Benavoli, G. Corani and
//! F. Mangili recommend, *Should we really use post-hoc tests based on mean-ranks?*, JMLR 17 (2016).
//!
//! *Shapes:* a table is `[set][method]`, and higher is better. It must be complete: a method that failed on a set has
//! no rank there, so callers leave out every set with a missing value.
//!
//! *Invariants:* plain functions on plain data; the same input gives the same bits on every machine (all
//! transcendental functions are those of `libm`); randomness is passed in.

pub mod bootstrap;
pub mod cliques;
mod distributions;
mod error;
pub mod friedman;
pub mod holm;
pub mod paired;
pub mod ranks;
pub mod studentized_range;
pub mod summary;
pub mod wilcoxon;

pub use error::StatsError;
