//! Comparing with every row, block by block, for many columns.
//!
//! A block of queries walks the training rows together, tile by tile. For most rows a cheap lower bound of
//! the distance ([`Estimate`]) already says that they are no neighbors; the exact distance is computed for
//! the others only. So the answer does not depend on how the bound was computed, and hence not on the
//! processor.

use std::ops::Range;

use super::{Best, estimate::Estimate, squared_distance};
use crate::Matrix;

#[derive(Debug)]
pub(super) struct Brute {
    /// `None` where the values are beyond what single precision can tell apart.
    estimate: Option<Estimate>,
}

impl Brute {
    pub(super) fn new(rows: &Matrix) -> Self {
        Self { estimate: Estimate::new(rows) }
    }

    /// Offers every training row that may be a neighbor to the best of every query in `block`.
    pub(super) fn search(&self, rows: &Matrix, queries: &Matrix, block: Range<usize>, best: &mut [Best]) {
        let Some(estimate) = &self.estimate else {
            for (best, query) in best.iter_mut().zip(block) {
                for (row, values) in rows.rows().enumerate() {
                    best.offer(squared_distance(values, queries.row(query)), row);
                }
            }
            return;
        };
        let packed = estimate.pack(queries, block.clone());
        let mut candidates = Vec::new();
        let mut thresholds = Vec::with_capacity(block.len());
        for tile in estimate.tiles() {
            thresholds.clear();
            let limits = best.iter().map(|best| best.limit.squared()).enumerate();
            thresholds.extend(limits.map(|(query, limit)| packed.threshold(query, limit)));
            candidates.clear();
            packed.compare(tile, &thresholds, &mut candidates);
            for &(query, offset) in &candidates {
                let row = tile.rows.start + offset as usize;
                if row < tile.rows.end {
                    let query_values = queries.row(block.start + query as usize);
                    best[query as usize].offer(squared_distance(rows.row(row), query_values), row);
                }
            }
        }
    }
}
