//! The report: one HTML file, without any network, that shows which rows of a table are odd and why.
//!
//! ```text
//! collect    judged batches go in as they come; what the page needs stays, and no more
//!   oddest     the oddest rows, with their cells and reasons
//!   stops      the places a threshold can be moved to, each with its exact count
//!   scores     the distribution of the scores
//!   sample     some rows as features, for the map
//!   curves     ROC and precision against recall, where the truth is known
//! map        rows become points of a plane
//! page       everything becomes one file: template, style, script, data
//! gallery    the same look for pictures made elsewhere
//! ```
//!
//! *Invariants:* memory does not grow with the number of rows (but for 9 bytes a row where there are labels, and one entry
//! for every distinct p-value) · the same rows give the same page, in whatever batches they come · nothing of a table is
//! ever markup or script: cells reach the page as JSON, and the page shows them as text · the page asks for nothing outside
//! itself, and its own policy would not let it · no clock: the caller says what time it is.

mod collect;
mod curves;
mod gallery;
mod map;
mod oddest;
mod page;
mod sample;
mod scores;
mod stops;

pub use collect::{About, Collector};
pub use gallery::{Gallery, Picture, Section};
pub use page::Report;
