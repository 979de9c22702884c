//! Scores become p-values: how often would a normal row score at least this high?
//!
//! *Why:* a score has no unit, a p-value has one. Two references are needed, because two questions are asked:
//!
//! - [`Calibration`] holds the scores of rows that are believed normal and that no net was trained on. A fresh
//!   normal row is exchangeable with them, so its p-value is uniform whatever the scores look like (conformal
//!   prediction; Vovk, Gammerman, Shafer 2005). Used by a saved model on new rows.
//! - [`RobustNull`] is fitted to scores of which some may belong to anomalies: the one table of `detect`. Ranks
//!   alone would give every table the same p-values, so the tail is modelled instead.

mod conformal;
mod robust;

pub use conformal::Calibration;
pub use robust::RobustNull;
