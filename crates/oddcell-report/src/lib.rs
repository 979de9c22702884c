//! The report: one HTML file that shows which rows of a table are odd and why, and loads nothing from the network.
//!
//! ```text
//! collect    takes judged batches and keeps what the page needs
//!   oddest     the oddest rows, with their cells and reasons
//!   stops      the levels a threshold can be moved to, each with its exact count
//!   scores     the distribution of the scores
//!   sample     a random sample of the rows, as features, for the map
//!   curves     ROC and precision-recall curves, if there are labels
//! map        draws rows as points of a plane, with tsne
//! data       the data of the page, as JSON
//! page       puts template, style, script and data together
//! gallery    a page in the same style for pictures made elsewhere
//! ```
//!
//! *Invariants:* memory does not grow with the number of rows, except by 9 bytes per row with labels and one entry per
//! distinct p-value · the same rows give the same page, however they are split into batches · no cell is ever markup or
//! script: cells reach the page as JSON and are shown as text · the page makes no request, and its policy allows none ·
//! the crate reads no clock: the caller passes the time.

mod collect;
mod curves;
mod data;
mod gallery;
mod map;
mod oddest;
mod page;
mod sample;
mod scores;
mod stops;
pub mod tsne;

pub use collect::{About, Collector};
pub use gallery::{Gallery, Picture, Section};
pub use page::Report;
