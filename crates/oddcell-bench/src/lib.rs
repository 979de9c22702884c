//! The laboratory: benchmark sets, protocols, a matrix of runs, a store of results, statistics, tables and figures.
//!
//! ```text
//! sets       which benchmark sets there are, where they come from, how they are read
//! protocol   a labelled set and a seed become training rows, test rows and the truth
//! methods    names of methods become detectors with parameters, and variants of them
//! job        one run: fit, score, measure
//! matrix     many runs, in parallel within a memory limit, the largest first
//! digest     what a set's file held when a run was made
//! store      results, row by row, in a file that survives anything
//! variants   what an ablation compares
//! board      one figure for every set and method
//! paper      the paper's own numbers
//! stats      tests, ranks and intervals; `comparison` applies them to a board
//! tables     tables as Markdown, CSV and LaTeX
//! maps       t-SNE of a net's last hidden layer
//! calibration p-values and false-discovery rates, held against the labels
//! timing     the paper's time tables
//! figures    drawings of plain data; `pictures` says which of them results give
//! page       the pictures and the figures behind them as one page for the browser
//! report     all tables and pictures, written beside the results
//! files      how they are written
//! ```
//!
//! No choice is ever made with test labels: a result is the last state of training. The path over training is kept
//! beside it, so that what an oracle would have chosen can be shown in a column named so.

pub mod ablate;
pub mod board;
pub mod calibration;
pub mod cells;
pub mod comparison;
mod digest;
mod error;
pub mod figures;
mod files;
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
pub mod stats;
pub mod store;
pub mod tables;
pub mod timing;
pub mod variants;

pub use error::LabError;
