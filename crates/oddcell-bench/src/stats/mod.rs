//! Statistics of a benchmark: is one method better than another over many data sets, or only luckier?
//!
//! *Why:* a mean over 45 sets says nothing about how sure it is. What is here follows the usual practice of
//! comparing methods over several data sets: J. Demšar, *Statistical comparisons of classifiers over multiple
//! data sets*, JMLR 7 (2006); with Holm-corrected Wilcoxon tests for the pairs as A. Benavoli, G. Corani and
//! F. Mangili recommend, *Should we really use post-hoc tests based on mean-ranks?*, JMLR 17 (2016).
//!
//! *Shapes:* a table is `[set][method]`, and higher is better. It must be complete: a method that failed on a
//! set has no rank there, so the caller leaves out every set that lacks a value.
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
