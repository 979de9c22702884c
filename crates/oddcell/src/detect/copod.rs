//! `copod`, copula-based outlier detection: how far a row sits in the tails of its columns, added up.
//!
//! The tail that a column is skewed to counts in full, and at least the mean of both tails; see
//! [`super::tails`] for the formula and for the meaning of `joint`.
//!
//! *Source:* Li, Zhao, Botta, Ionescu, Hu (2020), "COPOD: copula-based outlier detection". Like `PyOD`, the
//! larger of the two is taken per column and then added up. With `joint`, scores agree with `PyOD`'s `COPOD`.

use super::tails::{Skew, TailParams, TailRule};

/// The parameters of `copod`.
pub(super) type CopodParams = TailParams<Copod>;

/// The rule of `copod`: max(S, (L + R)/2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Copod;

impl TailRule for Copod {
    const NAME: &'static str = "copod";
    const SUMMARY: &'static str = "copula-based: how far a row sits in the tails of its columns";

    #[inline]
    fn part(left: f64, right: f64, skew: Skew) -> f64 {
        skew.tail(left, right).max(f64::midpoint(left, right))
    }
}
