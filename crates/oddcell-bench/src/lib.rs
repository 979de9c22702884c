//! The laboratory: runs methods on benchmark sets, stores the results, and turns them into statistics, tables and
//! figures.
//!
//! ```text
//! sets       the registry of benchmark sets: where to get them, and how to read them
//! protocol   splits a labeled set into training rows, test rows and the truth
//! methods    the methods: detectors with parameters, and variants of them
//! job        one run: fit, score, measure; `contest` judges its test rows on the library's road
//! matrix     many runs, in parallel within a memory limit, the largest first
//! digest     checksums of the files of sets
//! store      results, one per line, in a file that survives crashes
//! variants   the variants of a method that an ablation compares
//! board      one result per set and method
//! paper      the numbers printed in the paper
//! stats      tests, ranks and intervals; `comparison` applies them to a board, `groups` to kinds of sets
//! tables     tables as Markdown, CSV and LaTeX
//! maps       t-SNE of a net's last hidden layer
//! spoil      errors planted in real tables, and how many are found
//! calibration p-values and false-discovery rates, compared with the labels
//! timing     the paper's time tables
//! figures    draws plain data; `pictures` chooses the figures for some results
//! page       one HTML page with the pictures and the numbers behind them
//! report     writes all tables and pictures next to the results
//! files      writes files atomically
//! ```
//!
//! Test labels never influence a choice: a result is the last state of training. Results also keep the AUC during
//! training, so that tables can show in a separate column what an oracle would have chosen.

pub mod ablate;
pub mod board;
pub mod calibration;
pub mod cells;
pub mod comparison;
mod contest;
mod digest;
mod error;
pub mod errors;
pub mod figures;
mod files;
pub mod groups;
pub mod job;
pub mod maps;
pub mod matrix;
pub mod methods;
mod page;
pub mod paper;
pub mod pictures;
pub mod protocol;
pub mod report;
pub mod sets;
pub mod spoil;
pub mod stats;
pub mod store;
pub mod tables;
pub mod timing;
pub mod variants;

pub use error::LabError;
