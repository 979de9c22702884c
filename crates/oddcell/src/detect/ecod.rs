//! `ecod`, outlier detection by empirical distributions: how far out each value is, added up.
//!
//! The farther of the two tails counts; see [`super::tails`] for the formula and for the meaning of `joint`.
//!
//! *Source:* Li, Zhao, Hu, Botta, Ionescu, Chen (2022), "ECOD: unsupervised outlier detection using empirical
//! cumulative distribution functions". Like `PyOD`, the maximum is taken per column and then added up; the
//! publication adds up first. With `joint`, scores agree with `PyOD`'s `ECOD`.

use super::tails::{Skew, TailParams, TailRule};

/// The parameters of `ecod`.
pub(super) type EcodParams = TailParams<Ecod>;

/// The rule of `ecod`: max(L, R, S).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ecod;

impl TailRule for Ecod {
    const NAME: &'static str = "ecod";
    const SUMMARY: &'static str = "empirical tails: how rare the value of each column is";

    #[inline]
    fn part(left: f64, right: f64, skew: Skew) -> f64 {
        left.max(right).max(skew.tail(left, right))
    }
}
