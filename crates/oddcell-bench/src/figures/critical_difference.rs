//! The critical-difference diagram of Demšar (2006, JMLR 7, figure 1): methods on an axis of mean ranks, with
//! bars that join methods whose difference is not significant.
//!
//! *Layout:* names of the better half are on the left, the best on top; names of the worse half are on the right, the
//! worst on top. A leader line runs from the rank on the axis to its own stem, down the stem, and out to the name.
//! Stems keep the order of the ranks and a minimum distance, and the outer stem of a side turns first. So no two leader
//! lines meet, except equal ranks at their common point on the axis. Bars lie between the axis and the first name.

use super::{
    Figure, FigureError,
    canvas::{Anchor, Canvas, LETTERS, MARGIN, SMALL_LETTERS, TITLE_HEIGHT, label, line, path},
    check_count, check_values, style, text,
    ticks::Scale,
};

/// Length of the axis.
const AXIS: f64 = 420.0;
/// Minimum distance between two stems.
const STEM_DISTANCE: f64 = 8.0;
/// Height of the part where leader lines run from ranks to stems.
const SPREAD: f64 = 16.0;
/// Distance between two bars, and between the last bar and the first name.
const BAR_DISTANCE: f64 = 9.0;
/// How far a bar extends beyond its stems, and the minimum gap between two bars of a level.
const BAR_OVERHANG: f64 = 3.5;
const BAR_GAP: f64 = 8.0;
/// Distance between two names.
const NAME_DISTANCE: f64 = 20.0;
/// The maximum width of a name.
const LONGEST_NAME: f64 = 200.0;
/// Height above the axis for its ranks and its title.
const ABOVE_AXIS: f64 = 48.0;
/// Height of the critical difference above that.
const RULER: f64 = 28.0;

/// Methods with their mean ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CriticalDifference<'a> {
    /// Title above the figure.
    pub title: &'a str,
    /// Names of the methods, in any order.
    pub names: &'a [String],
    /// Mean rank of each, from 1 (best) to the number of methods.
    pub mean_ranks: &'a [f64],
    /// The smallest significant difference, if the test has one.
    pub critical_difference: Option<f64>,
    /// First and last position of the methods to join, counted from 0 by rising mean rank (equal ranks in the given
    /// order). A single method gets no bar.
    pub cliques: &'a [(usize, usize)],
}

/// A method and its position.
struct Method {
    name: String,
    /// The position of its rank on the axis.
    rank_x: f64,
    /// The position of its stem.
    stem_x: f64,
}

/// Draws a critical-difference diagram.
pub fn critical_difference(diagram: &CriticalDifference<'_>) -> Result<Figure, FigureError> {
    check(diagram)?;
    let n = diagram.names.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| diagram.mean_ranks[a].total_cmp(&diagram.mean_ranks[b]));
    let names: Vec<String> = order.iter().map(|&index| named_rank(diagram, index)).collect();
    let (on_left, on_right) = names.split_at(n.div_ceil(2));
    let axis_left = MARGIN + text::widest(on_left, LETTERS) + 28.0;
    let sheet_width = axis_left + AXIS + 28.0 + text::widest(on_right, LETTERS) + MARGIN;

    let scale = Scale::between(1.0, n as f64);
    let place = |rank: f64| axis_left + scale.share(rank) * AXIS;
    let ranks: Vec<f64> = order.iter().map(|&index| place(diagram.mean_ranks[index])).collect();
    let stems = spread(&ranks, (axis_left, axis_left + AXIS));
    let methods: Vec<Method> = names
        .into_iter()
        .zip(ranks.into_iter().zip(stems))
        .map(|(name, (rank_x, stem_x))| Method { name, rank_x, stem_x })
        .collect();

    let axis_y = TITLE_HEIGHT + ABOVE_AXIS + if diagram.critical_difference.is_some() { RULER } else { 0.0 };
    let bars = bars(diagram.cliques, &methods);
    let levels = bars.iter().map(|bar| bar.2 + 1).max().unwrap_or(0);
    let bars_y = axis_y + SPREAD + BAR_DISTANCE;
    let names_y = bars_y + BAR_DISTANCE * levels as f64 + 12.0;
    let height = names_y + NAME_DISTANCE * (n.div_ceil(2) - 1) as f64 + 10.0 + MARGIN;
    let mut canvas = Canvas::new(sheet_width, height, diagram.title);

    axis(&mut canvas, (axis_left, axis_y), n);
    if let Some(difference) = diagram.critical_difference {
        ruler(&mut canvas, axis_left, difference, scale.share(1.0 + difference));
    }
    for (position, method) in methods.iter().enumerate() {
        let left = position < n.div_ceil(2);
        let line_number = if left { position } else { n - 1 - position };
        let y = names_y + NAME_DISTANCE * line_number as f64;
        let (end, anchor) =
            if left { (axis_left - 20.0, Anchor::End) } else { (axis_left + AXIS + 20.0, Anchor::Start) };
        let corners =
            [(method.rank_x, axis_y), (method.stem_x, axis_y + SPREAD), (method.stem_x, y), (end, y)];
        canvas.add(path(&corners, style::INK, 1.0).set("stroke-linejoin", "round"));
        let x = if left { end - 6.0 } else { end + 6.0 };
        canvas.add(label(x, y, &method.name, anchor, LETTERS));
    }
    for &(first, last, level) in &bars {
        let y = bars_y + BAR_DISTANCE * level as f64;
        let ends = ((methods[first].stem_x - BAR_OVERHANG, y), (methods[last].stem_x + BAR_OVERHANG, y));
        canvas.add(line(ends.0, ends.1, &style::color(2), 4.0));
    }
    Ok(canvas.finish())
}

fn check(diagram: &CriticalDifference<'_>) -> Result<(), FigureError> {
    let n = diagram.names.len();
    if !(2..=40).contains(&n) {
        return Err(FigureError::Count { what: "methods", got: n, expected: "2 to 40".to_owned() });
    }
    check_count("mean ranks", diagram.mean_ranks.len(), n)?;
    check_values("mean rank", diagram.mean_ranks.iter().copied())?;
    if let Some(index) = diagram.mean_ranks.iter().position(|rank| !(1.0..=n as f64).contains(rank)) {
        let (what, expected) = ("mean rank", "1 to the number of methods");
        return Err(FigureError::Value {
            what,
            position: index + 1,
            got: diagram.mean_ranks[index],
            expected,
        });
    }
    if let Some(got) = diagram.critical_difference.filter(|&got| !(got > 0.0 && got.is_finite())) {
        let (what, expected) = ("critical difference", "a finite number above 0");
        return Err(FigureError::Value { what, position: 1, got, expected });
    }
    if let Some(clique) = diagram.cliques.iter().find(|clique| clique.0 > clique.1 || clique.1 >= n) {
        let expected = format!("first ≤ last < {n}");
        return Err(FigureError::Count { what: "last method of a clique", got: clique.1, expected });
    }
    Ok(())
}

fn named_rank(diagram: &CriticalDifference<'_>, index: usize) -> String {
    let name = text::fit(&diagram.names[index], LETTERS, LONGEST_NAME);
    format!("{name} ({})", text::number(diagram.mean_ranks[index], 2))
}

/// Finds positions close to the given rising ones, in the same order, with the minimum distance between
/// neighbors, and within the ends if there is room.
///
/// Neighbors that are too close form a run with a fixed distance, centered on the mean of their wishes. Runs that come
/// too close are merged (pool adjacent violators on wish − position · distance).
fn spread(wished: &[f64], (low, high): (f64, f64)) -> Vec<f64> {
    let distance = STEM_DISTANCE.min((high - low) / (wished.len() - 1) as f64);
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for (index, &wish) in wished.iter().enumerate() {
        let mut run = (wish - distance * index as f64, 1);
        while let Some(&(before, count)) = runs.last() {
            if before <= run.0 {
                break;
            }
            let total = count + run.1;
            run = ((before * count as f64 + run.0 * run.1 as f64) / total as f64, total);
            runs.pop();
        }
        runs.push(run);
    }
    let last = wished.len() - 1;
    let starts = runs.into_iter().flat_map(|(start, count)| std::iter::repeat_n(start, count));
    starts
        // Clamping after the distances are subtracted keeps the order and the distances.
        .map(|start| start.clamp(low, (high - distance * last as f64).max(low)))
        .enumerate()
        .map(|(index, start)| start + distance * index as f64)
        .collect()
}

/// First method, last method and level of every bar. Bars that would come too close lie on different levels.
fn bars(cliques: &[(usize, usize)], methods: &[Method]) -> Vec<(usize, usize, usize)> {
    let mut sorted: Vec<(usize, usize)> =
        cliques.iter().copied().filter(|clique| clique.0 < clique.1).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut level_ends: Vec<f64> = Vec::new();
    let mut bars = Vec::with_capacity(sorted.len());
    for (first, last) in sorted {
        let start = methods[first].stem_x - 2.0 * BAR_OVERHANG - BAR_GAP;
        let level = level_ends.iter().position(|&end| end < start).unwrap_or(level_ends.len());
        level_ends.resize(level_ends.len().max(level + 1), 0.0);
        level_ends[level] = methods[last].stem_x;
        bars.push((first, last, level));
    }
    bars
}

fn axis(canvas: &mut Canvas, (left, y): (f64, f64), n: usize) {
    canvas.add(line((left, y), (left + AXIS, y), style::INK, 1.2));
    // Half ranks help to read the axis if there is room for them.
    let steps = if n <= 12 { 2 * (n - 1) } else { n - 1 };
    for step in 0..=steps {
        let x = left + AXIS * step as f64 / steps as f64;
        let whole = n > 12 || step % 2 == 0;
        canvas.add(line((x, y - if whole { 6.0 } else { 3.5 }), (x, y), style::INK, 1.0));
        if whole {
            let rank = 1 + if n > 12 { step } else { step / 2 };
            // Beyond 25 methods the numbers would touch.
            if n <= 25 || rank % 2 == 1 {
                canvas.add(label(x, y - 14.0, &rank.to_string(), Anchor::Middle, SMALL_LETTERS));
            }
        }
    }
    canvas.add(label(left + AXIS / 2.0, y - 31.0, "mean rank (1 is best)", Anchor::Middle, LETTERS));
}

/// Draws the critical difference as a length from rank 1. A length beyond the axis is only written.
fn ruler(canvas: &mut Canvas, left: f64, difference: f64, share: f64) {
    let y = TITLE_HEIGHT + 24.0;
    let written = format!("CD = {}", text::number(difference, 2));
    if share > 1.0 {
        canvas.add(label(left, y - 12.0, &written, Anchor::Start, LETTERS));
        return;
    }
    let right = left + share * AXIS;
    canvas.add(line((left, y), (right, y), style::INK, 1.6));
    for x in [left, right] {
        canvas.add(line((x, y - 4.0), (x, y + 4.0), style::INK, 1.6));
    }
    canvas.add(label(left, y - 13.0, &written, Anchor::Start, LETTERS));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Wishes 0, 0, 100 with distance 8: the pair is spread evenly around 0, but not below the end.
    #[test]
    fn equal_ranks_get_stems_of_their_own() {
        assert_eq!(spread(&[50.0, 50.0, 100.0], (0.0, 420.0)), [46.0, 54.0, 100.0]);
        assert_eq!(spread(&[0.0, 0.0, 100.0], (0.0, 420.0)), [0.0, 8.0, 100.0]);
        assert_eq!(spread(&[420.0, 420.0], (0.0, 420.0)), [412.0, 420.0]);
    }

    // Stems 10 apart: a gap of 8 and an overhang of 3.5 on both sides need 15, so one stem must lie between.
    #[test]
    fn bars_that_come_too_close_lie_on_different_levels() {
        let method = |k: u32| Method { name: String::new(), rank_x: 0.0, stem_x: f64::from(10 * k) };
        let methods: Vec<Method> = (0..8).map(method).collect();
        let levels = bars(&[(0, 2), (1, 3), (3, 5), (5, 7), (4, 4), (0, 2)], &methods);
        assert_eq!(levels, [(0, 2, 0), (1, 3, 1), (3, 5, 2), (5, 7, 0)]);
    }

    /// The leader lines of a figure, each with its four corners.
    fn leaders(figure: &Figure) -> Vec<Vec<(f64, f64)>> {
        let data = figure.svg.split("d=\"M").skip(1).filter_map(|rest| rest.split('"').next());
        let corner = |text: &str| {
            let (x, y) = text.split_once(' ').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        data.map(|data| data.split('L').map(corner).collect())
            .filter(|line: &Vec<_>| line.len() == 4)
            .collect()
    }

    /// Whether two straight lines share a point; corners are rounded to 0.01.
    fn meet(a: &[(f64, f64)], b: &[(f64, f64)]) -> bool {
        let side = |p: (f64, f64), q: (f64, f64), r: (f64, f64)| {
            (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0)
        };
        let apart =
            |a: &[(f64, f64)], b: &[(f64, f64)]| side(a[0], a[1], b[0]) * side(a[0], a[1], b[1]) > 0.0;
        let range = |a: f64, b: f64| (a.min(b), a.max(b));
        let disjoint = |a: (f64, f64), b: (f64, f64)| a.1 < b.0 || b.1 < a.0;
        let beside = disjoint(range(a[0].0, a[1].0), range(b[0].0, b[1].0))
            || disjoint(range(a[0].1, a[1].1), range(b[0].1, b[1].1));
        !(beside || apart(a, b) || apart(b, a))
    }

    proptest! {
        #[test] // Law: leader lines meet nowhere, except those of equal ranks at the axis.
        fn leader_lines_never_meet(ranks in prop::collection::vec(0_u32..=40, 2..20)) {
            let n = ranks.len();
            let mean_ranks: Vec<f64> =
                ranks.iter().map(|&rank| 1.0 + f64::from(rank) / 40.0 * (n - 1) as f64).collect();
            let names = vec!["method".to_owned(); n];
            let (names, mean_ranks) = (&names, &mean_ranks);
            let diagram = CriticalDifference { names, mean_ranks, ..CriticalDifference::default() };
            let leaders = leaders(&critical_difference(&diagram).unwrap());
            prop_assert_eq!(leaders.len(), n);
            for (i, a) in leaders.iter().enumerate() {
                for b in &leaders[..i] {
                    for (k, one) in a.windows(2).enumerate() {
                        for (l, other) in b.windows(2).enumerate() {
                            let share_rank = k == 0 && l == 0 && a[0] == b[0];
                            prop_assert!(share_rank || !meet(one, other), "{a:?} and {b:?}");
                        }
                    }
                }
            }
        }

        #[test] // Law: stems keep order, distance and ends, whatever the ranks.
        fn stems_keep_order_distance_and_ends(mut wished in prop::collection::vec(0.0_f64..420.0, 2..40)) {
            wished.sort_by(f64::total_cmp);
            let stems = spread(&wished, (0.0, 420.0));
            prop_assert!(stems.windows(2).all(|pair| pair[1] - pair[0] >= STEM_DISTANCE - 1e-9));
            prop_assert!(stems.iter().all(|stem| (-1e-9..=420.0 + 1e-9).contains(stem)));
        }
    }
}
