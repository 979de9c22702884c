//! Comparing with every row, block by block, for many columns.
//!
//! A block of queries walks the training rows together, tile by tile, so that a tile is read from memory once
//! per block and from the cache after that. For most rows a cheap lower bound of the distance ([`Estimate`])
//! already says that they are no neighbours; the exact distance is computed for the others only. So the answer
//! does not depend on how the bound was computed, and hence not on the processor.

use std::ops::Range;

use super::{
    Best,
    estimate::{Estimate, GROUP, PANEL},
    squared_distance,
};
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

    /// Offers every training row that may be a neighbour to the best of every query in `block`.
    pub(super) fn search(&self, rows: &Matrix, queries: &Matrix, block: Range<usize>, best: &mut [Best]) {
        let Some(estimate) = &self.estimate else {
            for (best, query) in best.iter_mut().zip(block) {
                for (row, values) in rows.rows().enumerate() {
                    best.offer(squared_distance(values, queries.row(query)), row);
                }
            }
            return;
        };
        let first = block.start;
        let mut groups: Vec<_> = (block.step_by(GROUP))
            .map(|start| {
                estimate.pack(queries, start..queries.n_rows().min(start + GROUP).min(first + best.len()))
            })
            .collect();
        let mut products = Vec::new();
        for tile in estimate.tiles() {
            for (index, (group, best)) in groups.iter_mut().zip(best.chunks_mut(GROUP)).enumerate() {
                estimate.products(group, tile.clone(), &mut products);
                for (panel, products) in tile.clone().zip(products.chunks_exact(GROUP * PANEL)) {
                    let (first_row, lower_parts) = (panel * PANEL, estimate.lower_parts(panel));
                    for (member, best) in best.iter_mut().enumerate() {
                        let products = &products[member * PANEL..][..PANEL];
                        let threshold = group.threshold(member, best.limit.squared);
                        // First whether there is any candidate: without branches, for the usual answer is no.
                        let ruled_out = |lower: &f32, product: &f32| lower - 2.0 * product > threshold;
                        let parts = || lower_parts.iter().zip(products);
                        if parts().fold(true, |all, (lower, product)| all & ruled_out(lower, product)) {
                            continue;
                        }
                        let query = queries.row(first + index * GROUP + member);
                        let candidates =
                            parts().enumerate().filter(|(_, (lower, product))| !ruled_out(lower, product));
                        for row in candidates.map(|(offset, _)| first_row + offset) {
                            if row < rows.n_rows() {
                                best.offer(squared_distance(rows.row(row), query), row);
                            }
                        }
                    }
                }
            }
        }
    }
}
