//! Statistical tests of the noise, with fixed seeds: bounds are five standard deviations of the statistic.

use super::*;
use crate::simd::on_every_path;

fn noise(kind: Kind) -> Noise {
    Noise {
        kind,
        sigma_max: 2.0,
        levels: 3,
        ratios: vec![1.0],
        beta: 3.0,
        form: Form::Corrected,
        difference: 0.0,
    }
}

/// Noise of `n_rows` zero rows of `width` cells, row-major without padding; the target is checked on the way.
fn draw(noise: &Noise, n_rows: usize, width: usize, epoch: u64) -> Vec<f32> {
    let data = vec![0.0f32; n_rows * width];
    fill_all(noise, &data, width, epoch).0
}

/// (x + e − x, |e|) of all rows and copies.
fn fill_all(noise: &Noise, data: &[f32], width: usize, epoch: u64) -> (Vec<f32>, Vec<f32>) {
    let n_rows = data.len() / width;
    let data = PaddedRows { values: data, stride: width, width };
    let rows: Vec<u32> = (0..n_rows as u32).collect();
    let mut extremes = Extremes::default();
    extremes.of(data, &rows);
    let shard = Shard { data, rows: &rows, extremes: &extremes, epoch_key: Seed(11).key("noise", &[epoch]) };
    let total = noise.rows_for(n_rows) * width;
    let (mut inputs, mut targets) = (vec![0.0; total], vec![0.0; total]);
    noise.fill(shard, &mut inputs, &mut targets, &mut Scratch::default());
    let clean = n_rows * width;
    assert_eq!(&inputs[..clean], data.values, "clean rows come first");
    assert!(targets[..clean].iter().all(|&target| target == 0.0));
    let noised: Vec<f32> =
        inputs[clean..].iter().zip(data.values.iter().cycle()).map(|(x, c)| x - c).collect();
    (noised, targets[clean..].to_vec())
}

fn mean_and_sd(values: &[f32]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

#[test]
fn every_kind_with_levels_has_mean_zero_and_the_promised_standard_deviation() {
    // One level interval [σ, σ] is not possible, so sample at a fixed level directly.
    let levels = vec![1.3f32; 1 << 20];
    let promised = |kind: Kind, form: Form| match (kind, form) {
        (Kind::Gamma, Form::Printed) => 1.3f64.sqrt() * 3f64.powf(0.75),
        (Kind::Poisson, Form::Printed) => 1.3f64.sqrt(),
        _ => 1.3,
    };
    for form in [Form::Printed, Form::Corrected] {
        for kind in Kind::ALL {
            if !kind.has_levels() {
                continue;
            }
            let mut values = vec![0.0f32; 1 << 20];
            Noise { form, ..noise(kind) }.fill_at_levels(77, &levels, &mut Bits::default(), &mut values);
            let (mean, sd) = mean_and_sd(&values);
            let expected = promised(kind, form);
            assert!(mean.abs() < 5.0 * expected / 1024.0, "{kind:?} {form:?}: mean {mean}");
            assert!((sd / expected - 1.0).abs() < 0.015, "{kind:?} {form:?}: sd {sd}, promised {expected}");
        }
    }
}

#[test] // sd² of a cell = E σ² = σmax²/3 = 4/3 for σ ~ U(0, 2), whatever m.
fn over_all_levels_the_variance_is_a_third_of_the_square_of_the_highest() {
    for levels in [1, 2, 3, 5, 12] {
        // 60 is a multiple of every m.
        let values = draw(&Noise { levels, ..noise(Kind::Gaussian) }, 40_000, 60, 0);
        let (mean, sd) = mean_and_sd(&values);
        assert!(mean.abs() < 0.01 && (sd * sd - 4.0 / 3.0).abs() < 0.02, "m = {levels}: {mean} {sd}");
    }
}

/// The levels of `n_rows` rows of `width` cells.
fn levels_of(levels: Levels, width: usize, n_rows: u64) -> Vec<Vec<f32>> {
    let keys: Vec<u64> = (0..n_rows).map(crate::seed::mix).collect();
    let (mut group, mut bits) = (Vec::new(), Bits::default());
    let of_group = |keys: &[u64; GROUP]| {
        levels.assign(keys, width, &mut bits, &mut group);
        (0..GROUP).map(|place| group[..width].iter().map(|cell| cell[place]).collect()).collect::<Vec<_>>()
    };
    keys.as_chunks().0.iter().flat_map(of_group).collect()
}

#[test]
fn each_row_has_one_level_from_every_interval_in_a_third_of_its_cells_each() {
    for levels in levels_of(Levels { sigma_max: 3.0, count: 3 }, 10, 504) {
        // 10 cells in 3 parts: ⌊10/3⌋ = 3, ⌊20/3⌋ − 3 = 3, 10 − 6 = 4.
        let count = |interval: usize| levels.iter().filter(|&&level| level as usize == interval).count();
        assert_eq!([count(0), count(1), count(2)], [3, 3, 4], "{levels:?}");
        let mut distinct = levels.clone();
        distinct.sort_by(f32::total_cmp);
        distinct.dedup();
        assert_eq!(distinct.len(), 3);
    }
}

#[test]
fn with_fewer_cells_than_levels_every_cell_has_another_level_and_all_levels_have_their_turn() {
    let mut seen = [0usize; 5];
    for levels in levels_of(Levels { sigma_max: 5.0, count: 5 }, 2, 5_000) {
        assert_ne!(levels[0] as usize, levels[1] as usize);
        for level in levels {
            seen[level as usize] += 1;
        }
    }
    // 10,000 cells over 5 intervals: 2,000 each, sd below 45.
    assert!(seen.iter().all(|&count| count.abs_diff(2_000) < 5 * 45), "{seen:?}");
}

#[test]
fn levels_stand_at_random_places() {
    for count in [3, 12] {
        // How often the highest level stands in each of 24 cells; each place has the chance (24/m)/24.
        let mut at = [0usize; 24];
        for levels in levels_of(Levels { sigma_max: count as f32, count }, 24, 24_000) {
            for (cell, level) in levels.into_iter().enumerate() {
                at[cell] += usize::from(level as usize == count - 1);
            }
        }
        let expected = 24_000 / count;
        let sd = (24_000.0 / count as f64 * (1.0 - 1.0 / count as f64)).sqrt() as usize + 1;
        assert!(at.iter().all(|&times| times.abs_diff(expected) < 5 * sd), "m = {count}: {at:?}");
    }
}

#[test]
fn a_ratio_leaves_that_share_of_the_cells_noised_and_the_others_untouched() {
    let noise = Noise { ratios: vec![0.2, 0.5, 0.8, 1.0], ..noise(Kind::Gaussian) };
    let values = draw(&noise, 5_000, 20, 3);
    for (copy, values) in values.chunks_exact(5_000 * 20).enumerate() {
        let share = values.iter().filter(|&&value| value != 0.0).count() as f64 / values.len() as f64;
        assert!((share - noise.ratios[copy]).abs() < 0.008, "copy {copy}: {share}");
    }
}

#[test]
fn a_rows_noise_depends_on_row_copy_and_epoch_alone() {
    let noise = Noise { ratios: vec![0.5, 1.0], ..noise(Kind::Laplace) };
    let (all, fewer) = (draw(&noise, 50, 7, 1), draw(&noise, 20, 7, 1));
    // Copy 0 and copy 1 of rows 0..20, whether drawn among 50 rows or among 20.
    assert_eq!(all[..20 * 7], fewer[..20 * 7]);
    assert_eq!(all[50 * 7..][..20 * 7], fewer[20 * 7..]);
    assert_ne!(all[50 * 7 + 7..][..7], all[50 * 7 + 14..][..7], "rows differ");
    assert_ne!(draw(&noise, 50, 7, 2), all, "epochs differ");
}

#[test]
fn salt_and_pepper_puts_in_the_columns_extremes_and_bernoulli_flips_signs() {
    let data = [1.0f32, -2.0, 3.0, 5.0, 0.5, 4.0]; // columns [1, 3, 0.5] and [-2, 5, 4]
    let (salted, targets) = fill_all(&noise(Kind::SaltPepper), &data, 2, 0);
    for (at, (e, target)) in salted.iter().zip(&targets).enumerate() {
        let (low, high) = if at % 2 == 0 { (0.5, 3.0) } else { (-2.0, 5.0) };
        let became = data[at] + e;
        assert!(*e == 0.0 || became == low || became == high, "{became}");
        assert_eq!(*target, e.abs());
    }
    let (flipped, _) = fill_all(&noise(Kind::Bernoulli), &data, 2, 0);
    assert!(flipped.iter().zip(data).all(|(&e, cell)| e == 0.0 || e == -2.0 * cell));
    // Each cell's own chance is U(0, 1), so half of them are altered: 100,000 cells, sd 0.0016.
    let many = fill_all(&noise(Kind::Bernoulli), &vec![1.0; 100_000], 10, 0).0;
    let share = many.iter().filter(|&&e| e != 0.0).count() as f64 / 1e5;
    assert!((share - 0.5).abs() < 5.0 * 0.0016, "{share}");
}

#[test]
// Two columns with correlation 1: a difference of two rows keeps them equal.
// Var e = E s² · Var(a−b)/2 = (4/3)·1.
fn difference_noise_has_the_covariance_of_the_data() {
    let mut stream = Seed(4).stream("data", &[]);
    let data: Vec<f32> = (0..20_000).flat_map(|_| [stream.normal() as f32; 2]).collect();
    let (values, _) = fill_all(&Noise { difference: 1.0, ..noise(Kind::Gaussian) }, &data, 2, 0);
    // x + e − x in f32 is off by a rounding of x + e, alike in both columns since these are equal.
    assert!(values.chunks_exact(2).all(|e| e[0] == e[1]));
    let (mean, sd) = mean_and_sd(&values);
    assert!(mean.abs() < 0.04 && (sd * sd - 4.0 / 3.0).abs() < 0.06, "{mean} {sd}");
}

#[test]
fn a_share_of_difference_noise_leaves_the_other_rows_as_they_would_be_without() {
    let data: Vec<f32> = (0..4_000).map(|i| (i % 17) as f32 - 8.0).collect();
    let plain = fill_all(&noise(Kind::Gaussian), &data, 4, 0).1;
    let half = fill_all(&Noise { difference: 0.5, ..noise(Kind::Gaussian) }, &data, 4, 0).1;
    let same = plain.chunks_exact(4).zip(half.chunks_exact(4)).filter(|(a, b)| a == b).count();
    assert!(same.abs_diff(500) < 5 * 16, "{same} of 1,000 rows"); // sd √(1,000·¼) = 15.8
}

#[test] // 21 cells are a chunk of random numbers and a rest.
fn every_vector_path_gives_the_same_bits() {
    let data: Vec<f32> = draw(&noise(Kind::Gaussian), 9, 21, 5);
    for form in [Form::Printed, Form::Corrected] {
        for kind in Kind::ALL {
            let noise = Noise { form, ratios: vec![1.0, 0.4], difference: 0.3, ..noise(kind) };
            on_every_path(|| {
                let (noised, targets) = fill_all(&noise, &data, 21, 1);
                [noised, targets]
                    .map(|values| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>())
            });
        }
    }
}

// Correlation of independent series of 40,000 cells: sd 0.005; of their squares less 1 likewise, after
// scaling.
#[test]
fn noise_is_independent_across_rows_copies_epochs_and_neighboring_cells() {
    let noise = Noise { levels: 1, ratios: vec![1.0, 1.0], ..noise(Kind::Gaussian) };
    let (n_rows, width) = (2_000, 20);
    let standardized = |values: &[f32]| {
        let (mean, sd) = mean_and_sd(values);
        values.iter().map(|&value| (f64::from(value) - mean) / sd).collect::<Vec<f64>>()
    };
    let correlation = |a: &[f32], b: &[f32]| {
        let (a, b) = (standardized(a), standardized(b));
        a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64
    };
    let squares = |values: &[f32]| values.iter().map(|value| value * value).collect::<Vec<f32>>();
    let (first, second) = (draw(&noise, n_rows, width, 0), draw(&noise, n_rows, width, 1));
    let (copy, other_copy) = first.split_at(n_rows * width);
    let pairs = [
        ("rows", &copy[width..], &copy[..copy.len() - width]),
        ("copies", copy, other_copy),
        ("epochs", copy, &second[..copy.len()]),
        ("cells", &copy[1..], &copy[..copy.len() - 1]),
    ];
    for (name, a, b) in pairs {
        assert!(correlation(a, b).abs() < 5.0 * 0.005, "{name}: {}", correlation(a, b));
        // The cells of a row share its one level, so their sizes do go together; nobody else's do.
        if name != "cells" {
            let found = correlation(&squares(a), &squares(b));
            assert!(found.abs() < 5.0 * 0.01, "squares, {name}: {found}");
        }
    }
}

#[test]
fn padding_changes_no_noise_and_gets_none() {
    // One scratch for all, as a worker would use it: nothing of a wider table may be left in it.
    let mut scratch = Scratch::default();
    let n_rows = 11;
    let rows: Vec<u32> = (0..n_rows as u32).collect();
    for (kind, width) in
        Kind::ALL.into_iter().flat_map(|kind| [39, 16, 13, 8, 5, 1].map(|width| (kind, width)))
    {
        let noise = Noise { ratios: vec![0.3, 1.0], difference: 0.3, ..noise(kind) };
        let mut fill = |stride: usize| {
            let mut values = vec![0.0; n_rows * stride];
            for (row, line) in values.chunks_exact_mut(stride).enumerate() {
                (0..width).for_each(|column| line[column] = ((row * width + column) as f32).sin());
            }
            let data = PaddedRows { values: &values, stride, width };
            let mut extremes = Extremes::default();
            extremes.of(data, &rows);
            let shard = Shard { data, rows: &rows, extremes: &extremes, epoch_key: 3 };
            let mut lines = [(); 2].map(|()| vec![0.0; noise.rows_for(n_rows) * stride]);
            let [inputs, targets] = &mut lines;
            noise.fill(shard, inputs, targets, &mut scratch);
            let (cells, padding): (Vec<_>, Vec<_>) = lines
                .iter()
                .flat_map(|lines| lines.chunks_exact(stride))
                .map(|line| line.split_at(width))
                .unzip();
            assert!(padding.concat().iter().all(|&value| value == 0.0), "{kind:?}, {width} of {stride}");
            cells.concat()
        };
        let padded = width.next_multiple_of(LANES);
        let [alone, tight, wide] = [width, padded, padded + LANES].map(&mut fill);
        assert!(alone == tight && alone == wide, "{kind:?}, {width}");
    }
}
