//! A k-d tree of bounding boxes for few columns.
//!
//! *Why our own:* the number of columns is known only at run time, ties must be won by the lowest row index,
//! and any number of equal rows must be accepted; the crates at hand fix the number of columns at compile
//! time, leave ties open, or refuse a bucket full of equal coordinates.
//!
//! *Invariant that makes skipping safe:* the bound of a box adds up, lane by lane as
//! [`squared_distance`](super::squared_distance) does, terms that are not larger than those of any row
//! inside. Rounding is monotone, so the computed bound never exceeds a computed distance, ties included.
//!
//! The tree splits at the median position, so its depth is at most log₂ of the number of rows, whatever the
//! values. It is not saved: a model file holds the rows, and the tree is built again from them.

use super::{Best, squared_distance};
use crate::Matrix;

/// Rows in a leaf, at most.
const LEAF: usize = 24;

#[derive(Debug)]
struct Node {
    /// Positions of its rows in `points`.
    start: usize,
    end: usize,
    /// The lowest row index inside: decides ties.
    lowest_row: usize,
    /// The right child; the left one is the next node. 0 marks a leaf.
    right: usize,
}

/// Rows sorted into boxes.
#[derive(Debug)]
pub(super) struct Tree {
    n_cols: usize,
    /// The rows in the order of the leaves.
    points: Vec<f64>,
    /// The row index of every position in `points`.
    order: Vec<usize>,
    /// Parents before their children, left before right.
    nodes: Vec<Node>,
    /// Per node the lowest value of every column, then the highest.
    boxes: Vec<f64>,
}

impl Tree {
    pub(super) fn new(rows: &Matrix) -> Self {
        let mut tree = Self {
            n_cols: rows.n_cols(),
            points: Vec::with_capacity(rows.values().len()),
            order: Vec::with_capacity(rows.n_rows()),
            nodes: Vec::new(),
            boxes: Vec::new(),
        };
        let mut order: Vec<usize> = (0..rows.n_rows()).collect();
        tree.grow(rows, &mut order);
        tree
    }

    /// Adds the node of these rows and all below it; leaves are written from left to right.
    fn grow(&mut self, rows: &Matrix, members: &mut [usize]) {
        let node = self.nodes.len();
        let start = self.order.len();
        let lowest_row = members.iter().copied().min().expect("a node has rows");
        self.nodes.push(Node { start, end: start + members.len(), lowest_row, right: 0 });
        let widest = self.add_box(rows, members);
        if members.len() <= LEAF {
            // In index order, so that the first of equal rows is offered first.
            members.sort_unstable();
            self.order.extend_from_slice(members);
            for &mut row in members {
                self.points.extend_from_slice(rows.row(row));
            }
            return;
        }
        // Ordered by (value, index): of equal values the lower rows go left, where ties are looked up first.
        let middle = members.len() / 2;
        members.select_nth_unstable_by(middle, |&a, &b| {
            rows.row(a)[widest].total_cmp(&rows.row(b)[widest]).then(a.cmp(&b))
        });
        let (left, right) = members.split_at_mut(middle);
        self.grow(rows, left);
        self.nodes[node].right = self.nodes.len();
        self.grow(rows, right);
    }

    /// Adds the box of these rows and gives its widest column.
    fn add_box(&mut self, rows: &Matrix, members: &[usize]) -> usize {
        let first = self.boxes.len();
        self.boxes.extend_from_slice(rows.row(members[0]));
        self.boxes.extend_from_slice(rows.row(members[0]));
        let (low, high) = self.boxes[first..].split_at_mut(self.n_cols);
        for &row in members {
            for ((low, high), &value) in low.iter_mut().zip(high.iter_mut()).zip(rows.row(row)) {
                *low = low.min(value);
                *high = high.max(value);
            }
        }
        let extent = |column: usize| high[column] - low[column];
        let mut widest = 0;
        for column in 1..self.n_cols {
            if extent(column) > extent(widest) {
                widest = column;
            }
        }
        widest
    }

    pub(super) fn search(&self, query: &[f64], best: &mut Best) {
        self.visit(0, 0.0, query, best);
    }

    fn visit(&self, node: usize, bound: f64, query: &[f64], best: &mut Best) {
        let Node { start, end, lowest_row, right } = self.nodes[node];
        if best.rules_out(bound, lowest_row) {
            return;
        }
        if right == 0 {
            let points = &self.points[start * self.n_cols..end * self.n_cols];
            for (point, &row) in points.chunks_exact(self.n_cols).zip(&self.order[start..end]) {
                best.offer(squared_distance(point, query), row);
            }
            return;
        }
        let left = node + 1;
        let (left_bound, right_bound) = (self.bound(left, query), self.bound(right, query));
        if left_bound <= right_bound {
            self.visit(left, left_bound, query, best);
            self.visit(right, right_bound, query, best);
        } else {
            self.visit(right, right_bound, query, best);
            self.visit(left, left_bound, query, best);
        }
    }

    /// No row of the node has a smaller squared distance than this.
    #[inline]
    fn bound(&self, node: usize, query: &[f64]) -> f64 {
        let n_cols = self.n_cols;
        let (low, high) = self.boxes[node * 2 * n_cols..][..2 * n_cols].split_at(n_cols);
        let mut sums = [0.0f64; 4];
        for (column, ((&low, &high), &value)) in low.iter().zip(high).zip(query).enumerate() {
            let outside = (low - value).max(value - high).max(0.0);
            sums[column % 4] += outside * outside;
        }
        ((sums[0] + sums[1]) + (sums[2] + sums[3])).min(f64::MAX)
    }
}
