//! One tree that predicts a column from the others: extremely randomized cuts, chosen among a few by their gain.
//!
//! *Formula:* at a node, K candidates are drawn: a feature, and a threshold uniformly between its values in two random
//! rows of the node. The one with the largest gain wins: Σ²/n of both sides for numbers (the fall of the squared error),
//! Σ count²/n of both sides for levels (the fall of Gini's impurity). A node is a leaf if it is small, deep, pure, or if
//! nothing is gained.
//!
//! *Invariants, also after loading:* a child stands behind its parent, every leaf's entry exists, and every level it
//! names is one of the column. So a walk ends, stays inside the tree, and needs no recursion.

use std::ops::Range;

use crate::{
    detect::saved,
    seed::{Stream, mix},
    tensors::{TensorError, Tensors},
};

/// Marks a leaf, where others have their feature.
const LEAF: u32 = u32::MAX;
/// No path is longer.
const MAX_DEPTH: u32 = 40;
/// Candidates at a node: half of the features, within these bounds.
const CANDIDATES: Range<usize> = 4..24;

/// What a tree predicts, for every training row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target<'a> {
    Numbers(&'a [f32]),
    Levels { levels: &'a [u32], n_levels: usize },
}

/// A cut or a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    feature: u32,
    /// See [`goes_right`].
    cut: u32,
    /// The left child, with the right one beside it; the entry of a leaf.
    next: u32,
}

/// What the leaves say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leaves {
    /// Mean and standard deviation.
    Numbers(Vec<[f32; 2]>),
    /// The levels of leaf i, with their shares, are those from `ends[i − 1]` to `ends[i]`.
    Levels { ends: Vec<u32>, levels: Vec<u32>, shares: Vec<f32> },
}

/// A grown tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    pub(super) leaves: Leaves,
}

/// What a tree is grown from.
pub(super) struct Ground<'a> {
    /// The features of all training rows, feature by feature.
    pub(super) inputs: &'a [Vec<f32>],
    /// The features that may be asked.
    pub(super) allowed: &'a [u32],
    /// Which features are levels.
    pub(super) is_level: &'a [bool],
    pub(super) target: Target<'a>,
    /// Fewer rows than twice this are not cut, and no side has fewer.
    pub(super) min_leaf: usize,
}

/// Counts of levels in a node and on its left side; all zero between uses.
struct Counts {
    total: Vec<f64>,
    left: Vec<f64>,
}

/// A row whose path through a tree is wanted.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) row: &'a [f32],
    /// Which features are levels.
    pub(super) is_level: &'a [bool],
}

/// Marks a cut that sends one level to the right, and all others to the left.
const ONE_LEVEL: u32 = 1 << 31;

/// Where a cut sends a value. Numbers go right above a threshold, whose bits the cut has. A cut between levels has one of
/// them, which goes right, or a salt: levels go right if their hash with it is odd, so about half of them.
#[inline]
fn goes_right(value: f32, cut: u32, is_level: bool) -> bool {
    if !is_level {
        return value > f32::from_bits(cut);
    }
    let level = value as u32;
    if cut & ONE_LEVEL == 0 {
        mix(u64::from(level) << 32 | u64::from(cut)) & 1 == 1
    } else {
        level == cut ^ ONE_LEVEL
    }
}

impl Tree {
    /// Grows a tree on `rows`.
    pub(super) fn grow(ground: &Ground<'_>, mut rows: Vec<u32>, stream: &mut Stream) -> Self {
        let n_levels = match ground.target {
            Target::Numbers(_) => 0,
            Target::Levels { n_levels, .. } => n_levels,
        };
        let mut counts = Counts { total: vec![0.0; n_levels], left: vec![0.0; n_levels] };
        let mut leaves = match ground.target {
            Target::Numbers(_) => Leaves::Numbers(Vec::new()),
            Target::Levels { .. } => {
                Leaves::Levels { ends: Vec::new(), levels: Vec::new(), shares: Vec::new() }
            }
        };
        let empty = Node { feature: LEAF, cut: 0, next: 0 };
        let mut nodes = vec![empty];
        // Nodes are cut in the order of a queue: level by level, each with its part of `rows` and its depth.
        let mut parts = vec![(0..rows.len(), 0u32)];
        let mut at = 0;
        while at < nodes.len() {
            let (part, depth) = parts[at].clone();
            let members = &mut rows[part.clone()];
            let found = (depth < MAX_DEPTH).then(|| ground.cut(members, &mut counts, stream)).flatten();
            if let Some((feature, cut)) = found {
                let (input, is_level) = (&ground.inputs[feature as usize], ground.is_level[feature as usize]);
                let goes_left = |&row: &u32| !goes_right(input[row as usize], cut, is_level);
                let middle = part.start + partition(members, goes_left);
                nodes[at] = Node { feature, cut, next: nodes.len() as u32 };
                for part in [part.start..middle, middle..part.end] {
                    nodes.push(empty);
                    parts.push((part, depth + 1));
                }
            } else {
                nodes[at].next = leaves.push(ground.target, members, &mut counts);
            }
            at += 1;
        }
        Self { nodes, leaves }
    }

    /// The entry of the leaf that a row reaches.
    #[inline]
    pub(super) fn walk(&self, Seen { row, is_level }: Seen<'_>) -> usize {
        let mut node = &self.nodes[0];
        while node.feature != LEAF {
            let feature = node.feature as usize;
            let right = goes_right(row[feature], node.cut, is_level[feature]);
            node = &self.nodes[node.next as usize + usize::from(right)];
        }
        node.next as usize
    }
}

impl Ground<'_> {
    /// The best of some random cuts of a node; `None` if it is to be a leaf.
    fn cut(&self, members: &[u32], counts: &mut Counts, stream: &mut Stream) -> Option<(u32, u32)> {
        let n = members.len();
        if n < 2 * self.min_leaf || self.allowed.is_empty() {
            return None;
        }
        let (mut best, mut chosen) = (self.worth_whole(members, counts)?, None);
        let wanted = self.allowed.len().div_ceil(2).clamp(CANDIDATES.start, CANDIDATES.end);
        for _ in 0..wanted {
            let feature = self.allowed[stream.below(self.allowed.len())];
            let (input, is_level) = (&self.inputs[feature as usize], self.is_level[feature as usize]);
            let mut value = || input[members[stream.below(n)] as usize];
            let (a, b) = (value(), value());
            if a == b {
                continue;
            }
            let cut = if is_level {
                let salt = stream.next_u64() as u32;
                if salt & ONE_LEVEL == 0 { salt } else { ONE_LEVEL | a as u32 }
            } else {
                let (low, high) = (a.min(b), a.max(b));
                // A number between the two, and below the higher one also after rounding.
                let threshold = low + (high - low) * stream.uniform() as f32;
                if threshold >= high {
                    continue;
                }
                threshold.to_bits()
            };
            let goes_left = |row: u32| !goes_right(input[row as usize], cut, is_level);
            if let Some(worth) = self.worth_parts(members, goes_left, counts)
                && worth > best
            {
                (best, chosen) = (worth, Some((feature, cut)));
            }
        }
        self.forget(members, &mut counts.total);
        chosen
    }

    /// Sets the counts of the levels of these rows back to zero.
    fn forget(&self, members: &[u32], counts: &mut [f64]) {
        if let Target::Levels { levels, .. } = self.target {
            for &row in members {
                counts[levels[row as usize] as usize] = 0.0;
            }
        }
    }

    /// What the uncut node is worth, or `None` if it is pure. Leaves the counts of its levels behind, unless it is.
    fn worth_whole(&self, members: &[u32], counts: &mut Counts) -> Option<f64> {
        let n = members.len() as f64;
        let (worth, most) = match self.target {
            Target::Numbers(values) => {
                let (mut sum, mut squares) = (0.0, 0.0);
                for &row in members {
                    let value = f64::from(values[row as usize]);
                    sum += value;
                    squares += value * value;
                }
                (sum * sum / n, squares)
            }
            Target::Levels { levels, .. } => {
                for &row in members {
                    counts.total[levels[row as usize] as usize] += 1.0;
                }
                let pairs: f64 = members.iter().map(|&row| counts.total[levels[row as usize] as usize]).sum();
                (pairs / n, n)
            }
        };
        if most - worth <= 1e-9 * most.abs() {
            self.forget(members, &mut counts.total);
            return None;
        }
        Some(worth + 1e-9 * most.abs())
    }

    /// What both sides of a cut are worth; `None` if one is too small.
    fn worth_parts(
        &self,
        members: &[u32],
        goes_left: impl Fn(u32) -> bool,
        counts: &mut Counts,
    ) -> Option<f64> {
        let n = members.len() as f64;
        let (mut n_left, least) = (0.0, self.min_leaf as f64);
        let fits = |n_left: f64| n_left >= least && n - n_left >= least;
        match self.target {
            Target::Numbers(values) => {
                let (mut left, mut all) = (0.0, 0.0);
                for &row in members {
                    let value = f64::from(values[row as usize]);
                    let is_left = f64::from(u8::from(goes_left(row)));
                    n_left += is_left;
                    left += is_left * value;
                    all += value;
                }
                let right = all - left;
                fits(n_left).then(|| left * left / n_left + right * right / (n - n_left))
            }
            Target::Levels { levels, .. } => {
                // Σ left², Σ total², Σ total·left over levels, summed row by row.
                let (mut left_squares, mut total_squares, mut products) = (0.0, 0.0, 0.0);
                for &row in members {
                    let level = levels[row as usize] as usize;
                    total_squares += counts.total[level];
                    if goes_left(row) {
                        n_left += 1.0;
                        left_squares += 2.0 * counts.left[level] + 1.0;
                        products += counts.total[level];
                        counts.left[level] += 1.0;
                    }
                }
                self.forget(members, &mut counts.left);
                let right_squares = total_squares - 2.0 * products + left_squares;
                fits(n_left).then(|| left_squares / n_left + right_squares / (n - n_left))
            }
        }
    }
}

impl Leaves {
    /// Adds the leaf of these rows; gives its entry.
    fn push(&mut self, target: Target<'_>, members: &[u32], counts: &mut Counts) -> u32 {
        match (self, target) {
            (Self::Numbers(leaves), Target::Numbers(values)) => {
                let n = members.len().max(1) as f64;
                let value = |row: &u32| f64::from(values[*row as usize]);
                let mean = members.iter().map(value).sum::<f64>() / n;
                let variance = members.iter().map(|row| (value(row) - mean).powi(2)).sum::<f64>() / n;
                leaves.push([mean as f32, variance.sqrt() as f32]);
                leaves.len() as u32 - 1
            }
            (Self::Levels { ends, levels: named, shares }, Target::Levels { levels, .. }) => {
                let start = named.len();
                for &row in members {
                    let level = levels[row as usize];
                    if counts.total[level as usize] == 0.0 {
                        named.push(level);
                    }
                    counts.total[level as usize] += 1.0;
                }
                named[start..].sort_unstable();
                for &level in &named[start..] {
                    shares.push((counts.total[level as usize] / members.len() as f64) as f32);
                    counts.total[level as usize] = 0.0;
                }
                ends.push(named.len() as u32);
                ends.len() as u32 - 1
            }
            (Self::Numbers(_), Target::Levels { .. }) | (Self::Levels { .. }, Target::Numbers(_)) => {
                unreachable!("the leaves were made for the target")
            }
        }
    }
}

/// Moves the rows for which `goes_left` holds to the front; gives their number. Their order may change.
fn partition(rows: &mut [u32], goes_left: impl Fn(&u32) -> bool) -> usize {
    let mut n_left = 0;
    for at in 0..rows.len() {
        if goes_left(&rows[at]) {
            rows.swap(at, n_left);
            n_left += 1;
        }
    }
    n_left
}

/// Adds all trees of a column to the tensors of a model.
pub(super) fn put_all(tensors: &mut Tensors, trees: &[Tree]) {
    let nodes: Vec<&Node> = trees.iter().flat_map(|tree| &tree.nodes).collect();
    let u32s = |tensors: &mut Tensors, name: &str, values: Vec<u32>| {
        tensors.put_u32(name, &[values.len()], values);
    };
    u32s(tensors, "nodes", trees.iter().map(|tree| tree.nodes.len() as u32).collect());
    u32s(tensors, "features", nodes.iter().map(|node| node.feature).collect());
    u32s(tensors, "next", nodes.iter().map(|node| node.next).collect());
    u32s(tensors, "cuts", nodes.iter().map(|node| node.cut).collect());
    let (mut numbers, mut ends, mut named, mut said) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for tree in trees {
        match &tree.leaves {
            Leaves::Numbers(leaves) => numbers.extend(leaves.iter().flatten()),
            Leaves::Levels { ends: of_tree, levels, shares } => {
                ends.extend(of_tree);
                named.extend(levels);
                said.extend(shares);
            }
        }
    }
    if trees.iter().any(|tree| matches!(tree.leaves, Leaves::Numbers(_))) {
        tensors.put_f32("leaves", &[numbers.len()], numbers);
    } else {
        u32s(tensors, "ends", ends);
        u32s(tensors, "levels", named);
        tensors.put_f32("shares", &[said.len()], said);
    }
}

/// Takes the trees of a column from a model file that may be hostile. `n_levels` is `None` for numbers.
pub(super) fn take_all(
    tensors: &mut Tensors,
    n_trees: usize,
    is_level: &[bool],
    n_levels: Option<usize>,
) -> Result<Vec<Tree>, TensorError> {
    let sizes = tensors.take_u32("nodes", &[n_trees])?;
    let n_nodes: usize = sizes.iter().map(|&size| size as usize).sum();
    let features = tensors.take_u32("features", &[n_nodes])?;
    let next = tensors.take_u32("next", &[n_nodes])?;
    let cuts = tensors.take_u32("cuts", &[n_nodes])?;
    let mut leaves = SavedLeaves::take(tensors, n_levels)?;
    let mut first = 0;
    let mut trees = Vec::with_capacity(n_trees);
    for size in sizes {
        let range = first..first + size as usize;
        first = range.end;
        let nodes: Vec<Node> =
            range.map(|at| Node { feature: features[at], cut: cuts[at], next: next[at] }).collect();
        let mut n_leaves = 0;
        for (at, node) in nodes.iter().enumerate() {
            let is_leaf = node.feature == LEAF;
            let fits = if is_leaf {
                node.next == n_leaves
            } else {
                (node.feature as usize) < is_level.len()
                    && node.next as usize > at
                    && (node.next as usize) + 1 < nodes.len()
            };
            if !fits {
                return Err(saved::invalid("next", &format!("node {at} of a tree leads out of it")));
            }
            n_leaves += u32::from(is_leaf);
        }
        if nodes.is_empty() {
            return Err(saved::invalid("nodes", &"a tree has none"));
        }
        trees.push(Tree { nodes, leaves: leaves.next(n_leaves as usize)? });
    }
    leaves.end()?;
    Ok(trees)
}

/// The leaves of several trees, one after the other.
enum SavedLeaves {
    Numbers { values: Vec<f32>, at: usize },
    Levels { ends: Vec<u32>, levels: Vec<u32>, shares: Vec<f32>, at: usize, first: usize },
}

impl SavedLeaves {
    fn take(tensors: &mut Tensors, n_levels: Option<usize>) -> Result<Self, TensorError> {
        let length = |tensors: &Tensors, name: &str| {
            tensors.shape(name).map(|shape| shape.first().copied().unwrap_or(0))
        };
        let Some(n_levels) = n_levels else {
            let n_values = length(tensors, "leaves")?;
            return Ok(Self::Numbers { values: tensors.take_f32("leaves", &[n_values])?, at: 0 });
        };
        let (n_leaves, n_named) = (length(tensors, "ends")?, length(tensors, "levels")?);
        let ends = tensors.take_u32("ends", &[n_leaves])?;
        let levels = tensors.take_u32("levels", &[n_named])?;
        let shares = tensors.take_f32("shares", &[n_named])?;
        if levels.iter().any(|&level| level as usize >= n_levels) {
            return Err(saved::invalid("levels", &"a leaf names a level that the column does not have"));
        }
        Ok(Self::Levels { ends, levels, shares, at: 0, first: 0 })
    }

    /// The leaves of the next tree.
    fn next(&mut self, n_leaves: usize) -> Result<Leaves, TensorError> {
        let too_few = |name| saved::invalid(name, &"there are fewer leaves than the trees have");
        match self {
            Self::Numbers { values, at } => {
                let some = values.get(*at..*at + 2 * n_leaves).ok_or_else(|| too_few("leaves"))?;
                *at += 2 * n_leaves;
                Ok(Leaves::Numbers(some.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()))
            }
            Self::Levels { ends, levels, shares, at, first } => {
                let own = ends.get(*at..*at + n_leaves).ok_or_else(|| too_few("ends"))?.to_vec();
                *at += n_leaves;
                let last = own.last().copied().unwrap_or(0) as usize;
                let rises = own.is_sorted() && *first + last <= levels.len();
                if !rises {
                    return Err(saved::invalid("ends", &"the leaves are not in order"));
                }
                let range = *first..*first + last;
                *first += last;
                Ok(Leaves::Levels {
                    ends: own,
                    levels: levels[range.clone()].to_vec(),
                    shares: shares[range].to_vec(),
                })
            }
        }
    }

    /// Checks that nothing is left.
    fn end(&self) -> Result<(), TensorError> {
        let is_used_up = match self {
            Self::Numbers { values, at } => *at == values.len(),
            Self::Levels { ends, levels, at, first, .. } => *at == ends.len() && *first == levels.len(),
        };
        if is_used_up { Ok(()) } else { Err(saved::invalid("leaves", &"there are more than the trees have")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn grow(inputs: &[Vec<f32>], target: Target<'_>, min_leaf: usize) -> Tree {
        let allowed: Vec<u32> = (0..inputs.len() as u32).collect();
        let is_level = vec![false; inputs.len()];
        let ground = Ground { inputs, allowed: &allowed, is_level: &is_level, target, min_leaf };
        let rows = (0..inputs[0].len() as u32).collect();
        Tree::grow(&ground, rows, &mut Seed(1).stream("tree", &[]))
    }

    fn walk(tree: &Tree, number: f32) -> usize {
        tree.walk(Seen { row: &[number], is_level: &[false] })
    }

    #[test] // Nothing to gain: one leaf, with the mean (1 + 1 + 1 + 5)/4 = 2 and the variance (1 + 1 + 1 + 9)/4 = 3.
    fn rows_without_different_inputs_share_a_leaf() {
        let tree = grow(&[vec![7.0; 4]], Target::Numbers(&[1.0, 1.0, 1.0, 5.0]), 1);
        assert_eq!(tree.leaves, Leaves::Numbers(vec![[2.0, 3f32.sqrt()]]));
        assert_eq!(walk(&tree, 99.0), 0);
    }

    #[test]
    fn a_tree_cuts_until_every_leaf_is_pure_and_both_sides_have_rows_enough() {
        let input: Vec<f32> = (0..60).map(|row| row as f32).collect();
        let levels: Vec<u32> = (0..60).map(|row| u32::from(row >= 20) + u32::from(row >= 40)).collect();
        let tree = grow(std::slice::from_ref(&input), Target::Levels { levels: &levels, n_levels: 3 }, 1);
        let Leaves::Levels { ends, levels: named, shares } = &tree.leaves else { panic!("levels") };
        for (row, &level) in levels.iter().enumerate() {
            let leaf = walk(&tree, row as f32);
            let start = if leaf == 0 { 0 } else { ends[leaf - 1] as usize };
            assert_eq!((&named[start..ends[leaf] as usize], shares[start]), (&[level][..], 1.0), "row {row}");
        }
        let numbers: Vec<f32> = input.iter().map(|x| x * x).collect();
        let tree = grow(&[input], Target::Numbers(&numbers), 7);
        let mut rows = vec![0; 60];
        (0..60).for_each(|row| rows[walk(&tree, row as f32)] += 1);
        assert!(rows.iter().all(|&rows| rows == 0 || rows >= 7), "{rows:?}");
        assert!(rows.iter().filter(|&&rows| rows > 0).count() >= 4);
    }

    #[test] // Level 5 alone has 1, the others 0: one cut between levels tells them apart, whatever their order.
    fn levels_are_cut_by_being_equal_or_not() {
        let inputs = [(0..90).map(|row| (row % 9) as f32).collect::<Vec<f32>>()];
        let target: Vec<f32> = inputs[0].iter().map(|&level| f32::from(u8::from(level == 5.0))).collect();
        let (allowed, is_level) = ([0], [true]);
        let target = Target::Numbers(&target);
        let ground = Ground { inputs: &inputs, allowed: &allowed, is_level: &is_level, target, min_leaf: 1 };
        let tree = Tree::grow(&ground, (0..90).collect(), &mut Seed(3).stream("tree", &[]));
        let Leaves::Numbers(leaves) = &tree.leaves else { panic!("numbers") };
        for level in 0..9u8 {
            let leaf = tree.walk(Seen { row: &[f32::from(level)], is_level: &is_level });
            assert_eq!(leaves[leaf], [f32::from(u8::from(level == 5)), 0.0], "level {level}");
        }
    }

    // Levels a, a, b, b; left of the cut a, a, b: 2·2/3 + 1·1/3 = 5/3 and 1. Numbers 1, 2, 3, 10: 36/3 + 100/1.
    #[test]
    fn the_worth_of_a_cut_is_the_one_worked_out_by_hand() {
        let input = [1.0, 2.0, 3.0, 4.0];
        let worth = |target: Target<'_>| {
            let ground = Ground { inputs: &[], allowed: &[], is_level: &[], target, min_leaf: 1 };
            let mut counts = Counts { total: vec![0.0; 2], left: vec![0.0; 2] };
            ground.worth_whole(&[0, 1, 2, 3], &mut counts).unwrap();
            let goes_left = |row: u32| input[row as usize] <= 3.5;
            let worth = ground.worth_parts(&[0, 1, 2, 3], goes_left, &mut counts).unwrap();
            assert_eq!(counts.left, [0.0, 0.0]);
            worth
        };
        assert!((worth(Target::Levels { levels: &[0, 0, 1, 1], n_levels: 2 }) - 8.0 / 3.0).abs() < 1e-12);
        assert!((worth(Target::Numbers(&[1.0, 2.0, 3.0, 10.0])) - 112.0).abs() < 1e-12);
    }
}
