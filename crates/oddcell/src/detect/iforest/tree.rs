//! One tree of random cuts.
//!
//! A node becomes a leaf if it holds one row, is at the height limit, or no column varies in it by more than
//! 1e-7. Otherwise a column is drawn uniformly among those that vary and a threshold t uniformly between the
//! least and the largest value of that column in the node (t = largest counts as the least); rows with x ≤ t
//! go left.
//!
//! *Invariants, also after loading:* the children of a node stand behind it, side by side; every node but the
//! root has one parent; no leaf lies below the height limit; the rows in the leaves add up to the sample. So
//! a walk ends, stays inside the tree, and needs no recursion.

use std::collections::HashSet;

use super::{average_path, height_limit, saved, to_f32};
use crate::{
    Matrix,
    seed::Stream,
    tensors::{TensorError, Tensors},
};

/// A column that varies by no more than this counts as constant, as in scikit-learn.
const CONSTANT: f32 = 1e-7;
/// Marks a leaf in the model file, where others have their column.
const LEAF: u32 = u32::MAX;

/// A cut or a leaf. A leaf is its own left child with a threshold that nothing exceeds, so that a walk may
/// take the same number of steps for every row: no branch to mispredict.
#[derive(Debug, Clone, Copy)]
struct Node {
    threshold: f32,
    column: u32,
    /// The left child; the right one stands beside it.
    left: u32,
    /// Rows of the sample in a leaf; 0 for a cut.
    leaf_rows: u32,
}

impl Node {
    fn leaf(at: usize, rows: usize) -> Self {
        Self { threshold: f32::INFINITY, column: 0, left: at as u32, leaf_rows: rows as u32 }
    }
}

/// A grown tree.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// For every leaf its path, cuts above it plus c(rows in it), as a share of c(rows of the sample). If
    /// that is 0, for a sample of one row, the share is 1.
    paths: Vec<f64>,
    height: u32,
}

impl Tree {
    /// Grows a tree on `sample_rows` of `rows`, drawn without replacement.
    pub(super) fn grow(rows: &Matrix, sample_rows: usize, stream: &mut Stream) -> Self {
        let n_cols = rows.n_cols();
        let sample: Vec<f32> = draw(rows.n_rows(), sample_rows, stream)
            .into_iter()
            .flat_map(|row| rows.row(row).iter().map(|&value| to_f32(value)))
            .collect();
        let mut members: Vec<u32> = (0..sample_rows as u32).collect();
        let limit = height_limit(sample_rows);
        let mut nodes = vec![Node::leaf(0, sample_rows)];
        // Nodes are cut in the order of a queue: level by level, each with its part of `members` and its
        // depth.
        let mut parts = vec![(0..sample_rows, 0u32)];
        let mut ranges = vec![(0.0f32, 0.0f32); n_cols];
        let mut at = 0;
        while at < nodes.len() {
            let (part, depth) = parts[at].clone();
            if part.len() > 1
                && depth < limit
                && let Some((column, threshold)) =
                    cut(&sample, n_cols, &members[part.clone()], &mut ranges, stream)
            {
                let goes_left = |&row: &u32| sample[row as usize * n_cols + column] <= threshold;
                let middle = part.start + partition(&mut members[part.clone()], goes_left);
                let left = nodes.len();
                nodes[at] = Node { threshold, column: column as u32, left: left as u32, leaf_rows: 0 };
                for part in [part.start..middle, middle..part.end] {
                    nodes.push(Node::leaf(nodes.len(), part.len()));
                    parts.push((part, depth + 1));
                }
            }
            at += 1;
        }
        Self::finish(nodes, sample_rows)
    }

    /// Works out the paths of nodes that obey the invariants.
    fn finish(nodes: Vec<Node>, sample_rows: usize) -> Self {
        let mut depths = vec![0u32; nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            if node.leaf_rows == 0 {
                depths[node.left as usize] = depths[at] + 1;
                depths[node.left as usize + 1] = depths[at] + 1;
            }
        }
        let normal = average_path(sample_rows);
        let path = |(node, &depth): (&Node, &u32)| {
            let path = f64::from(depth) + average_path(node.leaf_rows as usize);
            if normal == 0.0 { 1.0 } else { path / normal }
        };
        let paths = nodes.iter().zip(&depths).map(path).collect();
        Self { height: depths.iter().copied().max().unwrap_or(0), nodes, paths }
    }

    /// Adds the path of every row, as a share of the normal one, to `paths`.
    pub(super) fn add_paths(&self, rows: &[f32], n_cols: usize, paths: &mut [f64]) {
        /// Walks side by side: their memory accesses overlap.
        const SIDE_BY_SIDE: usize = 8;
        let groups = rows.chunks(SIDE_BY_SIDE * n_cols).zip(paths.chunks_mut(SIDE_BY_SIDE));
        for (rows, paths) in groups {
            let mut at = [0u32; SIDE_BY_SIDE];
            for _ in 0..self.height {
                for (at, row) in at.iter_mut().zip(rows.chunks_exact(n_cols)) {
                    let node = &self.nodes[*at as usize];
                    *at = node.left + u32::from(row[node.column as usize] > node.threshold);
                }
            }
            for (path, at) in paths.iter_mut().zip(at) {
                *path += self.paths[at as usize];
            }
        }
    }
}

/// `count` different numbers below `n`, every set equally likely (Floyd: one draw for each).
fn draw(n: usize, count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut drawn = HashSet::with_capacity(count);
    let mut order = Vec::with_capacity(count);
    for last in n - count..n {
        let candidate = stream.below(last + 1);
        let new = if drawn.insert(candidate) { candidate } else { last };
        drawn.insert(new);
        order.push(new);
    }
    order
}

/// A random cut through these rows of the sample, or `None` if no column varies.
fn cut(
    sample: &[f32],
    n_cols: usize,
    members: &[u32],
    ranges: &mut [(f32, f32)],
    stream: &mut Stream,
) -> Option<(usize, f32)> {
    ranges.fill((f32::INFINITY, f32::NEG_INFINITY));
    for &row in members {
        for ((low, high), &value) in ranges.iter_mut().zip(&sample[row as usize * n_cols..][..n_cols]) {
            *low = low.min(value);
            *high = high.max(value);
        }
    }
    let varies = |&(low, high): &(f32, f32)| high > low + CONSTANT;
    let n_varying = ranges.iter().filter(|range| varies(range)).count();
    if n_varying == 0 {
        return None;
    }
    let chosen = stream.below(n_varying);
    let (column, &(low, high)) =
        ranges.iter().enumerate().filter(|(_, range)| varies(range)).nth(chosen).expect("it was counted");
    let (low, high) = (f64::from(low), f64::from(high));
    let threshold = low + stream.uniform() * (high - low);
    // Rounded down: for single-precision values, x ≤ t and x ≤ the next lower f32 are the same. If rounding
    // in f64 made t the largest value, nothing would go right; the least value is taken instead.
    let threshold = if threshold < high { round_down(threshold) } else { low as f32 };
    Some((column, threshold))
}

/// The largest `f32` that is not above a value within the range of `f32`.
fn round_down(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > value { nearest.next_down() } else { nearest }
}

/// Moves those that go left to the front and gives their number.
fn partition(members: &mut [u32], goes_left: impl Fn(&u32) -> bool) -> usize {
    let mut front = 0;
    for at in 0..members.len() {
        if goes_left(&members[at]) {
            members.swap(front, at);
            front += 1;
        }
    }
    front
}

/// Adds all trees, one after the other.
pub(super) fn put_all(tensors: &mut Tensors, trees: &[Tree]) {
    let nodes = || trees.iter().flat_map(|tree| &tree.nodes);
    let is_leaf = |node: &Node| node.leaf_rows > 0;
    let n_nodes = nodes().count();
    let counts = trees.iter().map(|tree| tree.nodes.len() as u32).collect();
    let columns = nodes().map(|node| if is_leaf(node) { LEAF } else { node.column }).collect();
    let thresholds = nodes().map(|node| if is_leaf(node) { 0.0 } else { node.threshold }).collect();
    let lefts = nodes().map(|node| if is_leaf(node) { 0 } else { node.left }).collect();
    let leaf_rows = nodes().map(|node| node.leaf_rows).collect();
    tensors.put_u32("nodes", &[trees.len()], counts);
    tensors.put_u32("column", &[n_nodes], columns);
    tensors.put_f32("threshold", &[n_nodes], thresholds);
    tensors.put_u32("left", &[n_nodes], lefts);
    tensors.put_u32("leaf_rows", &[n_nodes], leaf_rows);
}

/// Takes all trees, checking that each obeys the invariants.
pub(super) fn take_all(
    tensors: &mut Tensors,
    n_trees: usize,
    sample_rows: usize,
    n_features: usize,
) -> Result<Vec<Tree>, TensorError> {
    let counts = tensors.take_u32("nodes", &[n_trees])?;
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let n_nodes = usize::try_from(total).map_err(|_| saved::invalid("nodes", &"it says too many nodes"))?;
    let columns = tensors.take_u32("column", &[n_nodes])?;
    let thresholds = tensors.take_f32("threshold", &[n_nodes])?;
    let lefts = tensors.take_u32("left", &[n_nodes])?;
    let leaf_rows = tensors.take_u32("leaf_rows", &[n_nodes])?;
    let mut nodes = (0..n_nodes).map(|at| (columns[at], thresholds[at], lefts[at], leaf_rows[at]));
    let mut trees = Vec::with_capacity(n_trees);
    for (tree, &count) in counts.iter().enumerate() {
        let stored: Vec<_> = nodes.by_ref().take(count as usize).collect();
        let checked = check(&stored, sample_rows, n_features)
            .map_err(|reason| saved::invalid("nodes", &format!("tree {}: {reason}", tree + 1)))?;
        trees.push(checked);
    }
    Ok(trees)
}

/// Column, threshold, left child and rows in the leaf of a node.
type Stored = (u32, f32, u32, u32);

/// A tree from its stored nodes, or what is wrong with them.
fn check(stored: &[Stored], sample_rows: usize, n_features: usize) -> Result<Tree, String> {
    let mut nodes = Vec::with_capacity(stored.len());
    // Level by level, each cut claims the next two nodes: so nothing is claimed twice or never.
    let mut claimed = 1;
    let mut rows_in_leaves = 0u64;
    for (at, &(column, threshold, left, leaf_rows)) in stored.iter().enumerate() {
        if column == LEAF {
            if leaf_rows == 0 {
                return Err(format!("leaf {at} holds no row"));
            }
            rows_in_leaves += u64::from(leaf_rows);
            nodes.push(Node::leaf(at, leaf_rows as usize));
            continue;
        }
        if column as usize >= n_features {
            return Err(format!("node {at} cuts feature {column}, but there are {n_features}"));
        }
        if left as usize != claimed || leaf_rows != 0 {
            return Err(format!("node {at} has its children at {left}, but they belong at {claimed}"));
        }
        claimed += 2;
        nodes.push(Node { threshold, column, left, leaf_rows: 0 });
    }
    if claimed != stored.len() {
        return Err(format!("it has {} nodes, but its cuts need {claimed}", stored.len()));
    }
    if rows_in_leaves != sample_rows as u64 {
        return Err(format!("its leaves hold {rows_in_leaves} rows, but it was grown on {sample_rows}"));
    }
    let tree = Tree::finish(nodes, sample_rows);
    let limit = height_limit(sample_rows);
    if tree.height > limit {
        return Err(format!("it is {} levels high, but {limit} is the limit", tree.height));
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Seed;

    #[test]
    fn a_draw_holds_different_numbers_and_every_number_is_equally_likely() {
        let mut counts = [0usize; 5];
        for round in 0..10_000 {
            let mut drawn = draw(5, 3, &mut Seed(round).stream("draw", &[]));
            for &one in &drawn {
                counts[one] += 1;
            }
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), 3);
        }
        // 6,000 each; standard deviation sqrt(10,000 · 0.6 · 0.4) = 49.
        assert!(counts.iter().all(|&count| count.abs_diff(6_000) < 5 * 49), "{counts:?}");
    }

    #[test] // 0.1 as f64 lies below its nearest f32, 0.100000001490…; the next lower one is 0.09999999403….
    fn thresholds_are_rounded_down_to_single_precision() {
        assert!(f64::from(round_down(0.1)) < 0.1);
        assert_eq!(round_down(0.5), 0.5);
        assert!(f64::from(round_down(-0.1)) <= -0.1);
    }

    // A tree of two rows: a cut at 0.5 of feature 0, then two leaves of one row.
    const GOOD: [Stored; 3] = [(0, 0.5, 1, 0), (LEAF, 0.0, 0, 1), (LEAF, 0.0, 0, 1)];

    #[test]
    fn a_tree_that_breaks_an_invariant_is_refused() {
        assert_eq!(check(&GOOD, 2, 1).unwrap().paths[1..], [1.0, 1.0]);
        let broken = |change: fn(&mut Vec<Stored>)| {
            let mut nodes = GOOD.to_vec();
            change(&mut nodes);
            check(&nodes, 2, 1).unwrap_err()
        };
        let cases = [
            (broken(|nodes| nodes[0].2 = 0), "children at 0"), // its own child: a loop
            (broken(|nodes| nodes[0].2 = 7), "children at 7"), // out of the tree
            (broken(|nodes| nodes[0].0 = 1), "feature 1"),     // a feature there is not
            (broken(|nodes| nodes[1].3 = 0), "holds no row"),
            (broken(|nodes| nodes[1].3 = 5), "hold 6 rows"),
            (broken(|nodes| nodes.truncate(2)), "has 2 nodes"),
            (broken(|nodes| nodes.push((LEAF, 0.0, 0, 1))), "has 4 nodes"),
            (broken(Vec::clear), "has 0 nodes"),
            // One cut more than two rows may have.
            (
                broken(|nodes| *nodes = vec![(0, 0.5, 1, 0), (0, 0.2, 3, 0), GOOD[1], GOOD[1], GOOD[1]]),
                "3 rows",
            ),
        ];
        for (error, expected) in cases {
            assert!(error.contains(expected), "`{error}` does not say `{expected}`");
        }
    }

    #[test] // Three cuts in a row need three levels, but four rows may have only two.
    fn a_tree_that_is_too_high_is_refused() {
        let leaf = GOOD[1];
        let chain = [(0, 0.5, 1, 0), (0, 0.4, 3, 0), leaf, (0, 0.3, 5, 0), leaf, leaf, leaf];
        assert!(check(&chain, 4, 1).unwrap_err().contains("3 levels"));
        assert!(check(&chain, 5, 1).unwrap_err().contains("4 rows"));
    }

    proptest! {
        // Law: a grown tree obeys the invariants that loading checks, and walks every row of its sample to a
        // leaf.
        #[test]
        fn a_grown_tree_passes_its_own_checks(
            cells in prop::collection::vec(-5i8..6, 2..200),
            seed in any::<u64>(),
        ) {
            let n_rows = cells.len() / 2;
            let values = cells[..n_rows * 2].iter().map(|&cell| f64::from(cell)).collect();
            let rows = Matrix::new(values, n_rows, 2);
            let tree = Tree::grow(&rows, n_rows, &mut Seed(seed).stream("tree", &[]));
            let mut tensors = Tensors::default();
            let mut paths = vec![0.0; n_rows];
            let cast: Vec<f32> = rows.values().iter().map(|&value| value as f32).collect();
            tree.add_paths(&cast, 2, &mut paths);
            put_all(&mut tensors, &[tree]);
            let loaded = take_all(&mut tensors, 1, n_rows, 2).unwrap();
            let mut again = vec![0.0; n_rows];
            loaded[0].add_paths(&cast, 2, &mut again);
            prop_assert_eq!(&paths, &again);
            // Kraft: a binary tree's leaves satisfy Σ 2^(−depth) = 1.
            let nodes = loaded[0].nodes.iter().zip(&loaded[0].paths);
            let leaves = nodes.filter(|(node, _)| node.leaf_rows > 0);
            let depths = leaves.map(|(node, path)| {
                (path * average_path(n_rows) - average_path(node.leaf_rows as usize)).round()
            });
            let kraft: f64 = depths.map(|depth| (-depth).exp2()).sum();
            prop_assert_eq!(kraft, 1.0);
        }
    }
}
