//! Anomaly detection for tables: finds the odd rows and the cells that make them odd.
//!
//! Score the rows of a matrix:
//!
//! ```
//! use oddcell::{Context, DetectorSpec, Matrix, Seed};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! let good = Matrix::from_rows(&[[1.0, 2.0], [1.1, 2.1], [0.9, 1.9], [1.0, 2.2], [1.2, 2.0], [1.1, 1.8]]);
//! let detector = DetectorSpec::new("knn", None)?.build()?;
//! let fitted = detector.fit(&good, &Context::silent(Seed(0)))?;
//! let scores = fitted.score(&Matrix::from_rows(&[[1.0, 1.9], [9.0, 9.0]]))?; // one per row
//! assert!(scores[1] > scores[0]); // higher = more anomalous
//! # Ok(())
//! # }
//! ```
//!
//! Learn from a file of normal rows, and judge the rows of another:
//!
//! ```
//! use oddcell::judge::{ReasonForm, Scorer};
//! use oddcell::table::{ReadOptions, Source};
//! use oddcell::{Context, DetectorSpec, Model, Seed, Table, model::FitOptions, verdict::Rule};
//!
//! # fn main() -> Result<(), oddcell::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let good = Source::Path(folder.path().join("good.csv"));
//! # let new = Source::Path(folder.path().join("new.csv"));
//! # for (source, seed, wrong) in [(&good, 1, 0), (&new, 2, 5)] {
//! #     let Source::Path(path) = source else { unreachable!() };
//! #     std::fs::write(path, oddcell::demo::orders(300, wrong, Seed(seed)).csv).unwrap();
//! # }
//! let table = Table::read(&good, &ReadOptions::default())?; // good = Source::Path("good.csv".into())
//! let detector = DetectorSpec::new("noise", Some("fast"))?;
//! # let mut detector = detector;
//! # detector.set_text("train_for", "100 steps")?;
//! let model = Model::fit(&table, &FitOptions::new(detector), &Context::silent(Seed(0)))?;
//! let new = Table::read(&new, &ReadOptions::default())?;
//! let scorer = Scorer { reasons: Some(ReasonForm::Text), ..Scorer::new(&model, Rule::FOR_NEW_ROWS) };
//! let (found, _) = scorer.collect(&new.origin, &new.batches, &mut [])?;
//! for (row, reasons) in found.reasons().enumerate().filter(|(row, _)| found.odd[*row]) {
//!     println!("row {}: {}", row + 1, reasons.unwrap_or_default());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The modules, in the order in which data passes through them:
//!
//! | module | content |
//! |---|---|
//! | [`table`] | reads files and streams into Arrow record batches, infers the kind of every column, writes tables |
//! | [`encode`] | turns columns into features: standardized numbers, places for names, flags for nulls |
//! | [`detect`] | the detectors, behind one trait and in one list |
//! | [`calibrate`] | turns scores into p-values |
//! | [`verdict`] | turns p-values or scores into verdicts |
//! | [`explain`] | turns cells into reasons: which column, how far off, in the column's own units |
//! | [`model`] | combines all of these; fits, saves and loads |
//! | [`judge`] | the one road of judged rows: from batches to verdicts and reasons, in memory or streamed |
//! | [`metrics`] | compares scores with labels |
//!
//! # Cargo features
//!
//! All are on by default. Without them the library reads and writes CSV and JSON lines.
//!
//! | feature | adds |
//! |---|---|
//! | `compression` | reading gzip and zstd files |
//! | `ipc` | reading Arrow IPC; keeping the judged rows of a stream on disk (`judge::Spool::Disk`) |
//! | `numpy` | reading NPY and NPZ |
//! | `parquet` | reading and writing Parquet |

pub mod calibrate;
pub mod cells;
pub mod demo;
pub mod detect;
pub mod encode;
pub mod error;
pub mod explain;
pub mod judge;
pub mod metrics;
pub mod model;
pub mod table;
pub mod verdict;

// The engine room: public for the other crates and the benchmarks of this repository only. It can change in any
// version.
#[doc(hidden)]
pub mod count;
#[doc(hidden)]
pub mod model_file;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod noise;
#[doc(hidden)]
pub mod seed;
#[doc(hidden)]
pub mod tensors;

mod aggregate;
mod context;
mod kinds;
mod layout;
mod matrix;
mod parameters;
mod progress;
mod simd;
mod team;

pub use context::{Context, Monitor, Progress, Silent, Stage};
pub use detect::{Detector, DetectorSpec, Fitted};
pub use error::Error;
pub use matrix::Matrix;
pub use model::Model;
pub use seed::Seed;
pub use table::Table;

/// The Rust code in the README is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
