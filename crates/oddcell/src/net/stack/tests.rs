use super::*;
use crate::net::Flavour;

/// The stack in plain `f64` loops over whole batches: what the tape is held against. Masks are given, because
/// they are drawn; the second value is what the activity penalties add to the loss.
fn plain(stack: &Stack, weights: &[f64], rows: &[Vec<f64>], masks: &[Vec<f32>]) -> (Vec<Vec<f64>>, f64) {
    let mut rows = rows.to_vec();
    let mut penalty = 0.0;
    for (placed, mask) in stack.layers.iter().zip(masks) {
        let weights = &weights[placed.weights.clone()];
        let n_rows = rows.len();
        match placed.layer {
            Layer::Linear { outputs, .. } => {
                let at = |i: usize, j: usize| weights[i * padded(outputs) + j];
                for row in &mut rows {
                    let sum = |j: usize| {
                        at(placed.inputs, j) + row.iter().enumerate().map(|(i, x)| x * at(i, j)).sum::<f64>()
                    };
                    *row = (0..outputs).map(sum).collect();
                }
            }
            Layer::Curve(Curve::Relu) => rows.iter_mut().flatten().for_each(|x| *x = x.max(0.0)),
            Layer::Curve(Curve::LeakyRelu(slope)) => {
                rows.iter_mut().flatten().for_each(|x| *x = x.max(f64::from(slope) * *x));
            }
            Layer::Curve(Curve::Tanh) => rows.iter_mut().flatten().for_each(|x| *x = x.tanh()),
            Layer::Curve(Curve::Sigmoid) => {
                rows.iter_mut().flatten().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp()));
            }
            Layer::ActivityPenalty(weight) => {
                let squares = rows.iter().flatten().map(|x| x * x).sum::<f64>();
                penalty += f64::from(weight) * squares / n_rows as f64;
            }
            Layer::Dropout(_) => {
                for (row, mask) in rows.iter_mut().zip(mask.chunks(padded(placed.outputs))) {
                    row.iter_mut().zip(mask).for_each(|(x, &mask)| *x *= f64::from(mask));
                }
            }
            Layer::BatchNorm { channels, affine } => {
                let n_channels = channels.count(placed.inputs);
                let channel = |row: usize, column: usize| match channels {
                    Channels::Columns => column,
                    Channels::Groups(size) => row % size,
                };
                let places = |which: usize| {
                    let all = (0..n_rows).flat_map(|row| (0..placed.inputs).map(move |column| (row, column)));
                    all.filter(move |&(row, column)| channel(row, column) == which).collect::<Vec<_>>()
                };
                for which in 0..n_channels {
                    let cells = places(which);
                    let n = cells.len() as f64;
                    let mean = cells.iter().map(|&(i, j)| rows[i][j]).sum::<f64>() / n;
                    let variance = cells.iter().map(|&(i, j)| (rows[i][j] - mean).powi(2)).sum::<f64>() / n;
                    let (scale, shift) =
                        if affine { (weights[which], weights[n_channels + which]) } else { (1.0, 0.0) };
                    for (i, j) in cells {
                        rows[i][j] = scale * (rows[i][j] - mean) / (variance + 1e-5).sqrt() + shift;
                    }
                }
            }
            Layer::NormalizeRows => {
                for row in &mut rows {
                    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                    for x in row {
                        *x /= length;
                    }
                }
            }
            Layer::NormalizeGroups(size) => {
                for group in rows.chunks_mut(size) {
                    for column in 0..placed.outputs {
                        let length = group.iter().map(|row| row[column].powi(2)).sum::<f64>().sqrt();
                        for row in &mut *group {
                            row[column] /= length;
                        }
                    }
                }
            }
        }
    }
    (rows, penalty)
}

fn random(n_rows: usize, width: usize, stream: u64) -> Vec<Vec<f64>> {
    let mut stream = Seed(5).stream("stack", &[stream]);
    (0..n_rows).map(|_| (0..width).map(|_| f64::from(stream.normal() as f32)).collect()).collect()
}

/// Loss = Σ coefficient · output + penalties. Output, and the derivative by every weight and every input
/// cell, against the plain stack and its central differences.
fn check(inputs: usize, layers: &[Layer]) {
    const N_ROWS: usize = 12;
    const SHIFT: f64 = 1e-6;
    let stack = Stack::new(inputs, layers, Seed(6));
    let mut trainee = Trainee::new(stack, N_ROWS + 3, Flavour::Torch, 0.0);
    // Scales and shifts start at 1 and 0, where a mistake could hide.
    let mut stream = Seed(8).stream("nudge", &[]);
    let ranges: Vec<Range<usize>> =
        trainee.stack.layers.iter().map(|placed| placed.weights.clone()).collect();
    let norms: Vec<bool> =
        trainee.stack.layers.iter().map(|placed| matches!(placed.layer, Layer::BatchNorm { .. })).collect();
    trainee.stack.change(|weights| {
        for range in ranges.into_iter().zip(norms).filter_map(|(range, norm)| norm.then_some(range)) {
            weights[range].iter_mut().for_each(|weight| *weight += 0.3 * stream.normal() as f32);
        }
    });
    let outputs = trainee.stack.n_outputs();
    let mut rows = random(N_ROWS, inputs, 1);
    let coefficients = random(N_ROWS, outputs, 2);
    for (line, row) in trainee.tape.input_mut().chunks_exact_mut(padded(inputs)).zip(&rows) {
        line.iter_mut().zip(row).for_each(|(cell, &value)| *cell = value as f32);
    }
    trainee.forward(N_ROWS, 77);
    let masks = trainee.tape.notes.clone();
    let (output, delta) = trainee.output_and_delta(N_ROWS);
    let output = output.to_vec();
    for (line, row) in delta.chunks_exact_mut(padded(outputs)).zip(&coefficients) {
        line.iter_mut().zip(row).for_each(|(delta, &value)| *delta = value as f32);
    }
    trainee.backward(N_ROWS, true);

    let stack = &trainee.stack;
    let mut weights: Vec<f64> = stack.weights.iter().map(|&weight| f64::from(weight)).collect();
    let (expected, penalty) = plain(stack, &weights, &rows, &masks);
    for (line, row) in output.chunks_exact(padded(outputs)).zip(&expected) {
        for (&got, expected) in line.iter().zip(row) {
            assert!((f64::from(got) - expected).abs() < 1e-4, "{layers:?}: {got} against {expected}");
        }
        assert!(line[outputs..].iter().all(|&padding| padding == 0.0), "padding stays zero");
    }
    assert!((trainee.tape.penalty() - penalty).abs() < 1e-5 * (1.0 + penalty));

    let loss = |weights: &[f64], rows: &[Vec<f64>]| {
        let (output, penalty) = plain(stack, weights, rows, &masks);
        let product: f64 =
            output.iter().flatten().zip(coefficients.iter().flatten()).map(|(y, c)| y * c).sum();
        product + penalty
    };
    let close = |what: &str, got: f32, high: f64, low: f64, scale: f32| {
        let expected = (high - low) / (2.0 * SHIFT);
        let distance = (f64::from(got) - expected).abs();
        assert!(distance < 2e-4 * f64::from(scale), "{layers:?}, {what}: {got} against {expected}");
    };
    let largest = |values: &[f32]| values.iter().fold(1e-3f32, |most, value| most.max(value.abs()));
    let scale = largest(&trainee.gradient);
    for at in 0..weights.len() {
        let is_padding = stack.layers.iter().any(|placed| {
            let range = &placed.weights;
            let (stride, width) = placed.line;
            let unused = match placed.layer {
                Layer::Linear { bias: false, .. } => at >= range.end.saturating_sub(stride),
                _ => false,
            };
            range.contains(&at) && ((at - range.start) % stride >= width || unused)
        });
        if is_padding {
            assert_eq!(trainee.gradient[at], 0.0, "padding has no gradient");
            continue;
        }
        let kept = weights[at];
        let mut shifted = |shift: f64| {
            weights[at] = kept + shift;
            loss(&weights, &rows)
        };
        let (high, low) = (shifted(SHIFT), shifted(-SHIFT));
        weights[at] = kept;
        close(&format!("weight {at}"), trainee.gradient[at], high, low, scale);
    }
    let input_delta = &trainee.tape.input_delta()[..N_ROWS * padded(inputs)];
    let scale = largest(input_delta);
    for row in 0..N_ROWS {
        for column in 0..inputs {
            let kept = rows[row][column];
            let mut shifted = |shift: f64| {
                rows[row][column] = kept + shift;
                loss(&weights, &rows)
            };
            let (high, low) = (shifted(SHIFT), shifted(-SHIFT));
            rows[row][column] = kept;
            let got = input_delta[row * padded(inputs) + column];
            close(&format!("cell {row}, {column}"), got, high, low, scale);
        }
    }
}

#[test]
fn linear_layers_and_activations_match_finite_differences() {
    for activation in [
        Layer::Curve(Curve::Relu),
        Layer::Curve(Curve::LeakyRelu(0.2)),
        Layer::Curve(Curve::Tanh),
        Layer::Curve(Curve::Sigmoid),
    ] {
        check(5, &[Layer::torch(9), activation, Layer::torch_without_bias(3), activation]);
    }
    check(9, &[Layer::Linear { outputs: 17, bias: true, init: Init::Glorot }]);
}

#[test]
fn activity_penalties_and_dropout_match_finite_differences() {
    check(
        5,
        &[
            Layer::torch(9),
            Layer::Curve(Curve::Relu),
            Layer::ActivityPenalty(0.1),
            Layer::Dropout(0.2),
            Layer::torch(2),
        ],
    );
    check(3, &[Layer::Dropout(0.5), Layer::torch(4), Layer::Curve(Curve::Tanh), Layer::ActivityPenalty(1.5)]);
}

#[test]
fn batch_norms_match_finite_differences() {
    for channels in [Channels::Columns, Channels::Groups(4)] {
        for affine in [true, false] {
            let norm = Layer::BatchNorm { channels, affine };
            check(5, &[Layer::torch(9), Layer::Curve(Curve::Tanh), norm, Layer::torch(3)]);
            check(5, &[Layer::torch(9), norm]);
        }
    }
}

#[test]
fn normalized_rows_and_groups_match_finite_differences() {
    check(5, &[Layer::torch(9), Layer::NormalizeRows]);
    check(
        5,
        &[
            Layer::torch(9),
            Layer::Curve(Curve::LeakyRelu(0.2)),
            Layer::NormalizeGroups(3),
            Layer::NormalizeRows,
        ],
    );
}

#[test] // Glorot: √(6/(4 + 2)) = 1. PyTorch: 1/√4 = 0.5, bias too. He: √(6/4) = 1.2247, bias 0.5.
fn fresh_weights_lie_within_the_bounds_worked_out_by_hand() {
    for (init, bound, bias_bound) in [
        (Init::Glorot, 1.0f32, 0.0f32),
        (Init::Torch, 0.5, 0.5),
        (Init::Kaiming, 1.2248, 0.5),
        (Init::NearZero, 0.005, 0.005),
    ] {
        let (mut widest, mut widest_bias) = (0.0f32, 0.0f32);
        for seed in 0..40 {
            let layers = [Layer::Linear { outputs: 2, bias: true, init }];
            let mut tensors = Tensors::default();
            Stack::new(4, &layers, Seed(seed)).save("net", &mut tensors);
            let weights = tensors.take_f32("net.0.weight", &[4, 2]).unwrap();
            let bias = tensors.take_f32("net.0.bias", &[2]).unwrap();
            let most = |values: &[f32]| values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            (widest, widest_bias) = (widest.max(most(&weights)), widest_bias.max(most(&bias)));
        }
        assert!(widest <= bound && widest > 0.95 * bound, "{init:?}: {widest}");
        assert!(widest_bias <= bias_bound && widest_bias >= 0.9 * bias_bound, "{init:?}: {widest_bias}");
    }
}

#[test] // Rows 1, 3: mean 2, variance 1 (biased) and 2 (unbiased); running 0.9·0 + 0.1·2 and 0.9·1 + 0.1·2.
fn running_statistics_move_a_tenth_of_the_way_and_scoring_uses_them() {
    let layers = [Layer::BatchNorm { channels: Channels::Columns, affine: false }];
    let mut stack = Stack::new(1, &layers, Seed(1));
    let mut tape = Tape::for_training(&stack, 2);
    (tape.input_mut()[0], tape.input_mut()[8]) = (1.0, 3.0);
    tape.forward_training(&mut stack, 2, 0);
    let unit = 1.0 / (1.0f32 + 1e-5).sqrt();
    assert_eq!([tape.output()[0], tape.output()[8]], [-unit, unit]);
    let (mean, variance) = (0.2f32, 1.1f32);
    assert_eq!(stack.running, [mean, variance]);
    tape.forward(&stack, 1);
    assert!((tape.output()[0] - (1.0 - mean) / (variance + 1e-5).sqrt()).abs() < 1e-6);
}

#[test]
fn dropout_drops_its_share_keeps_the_mean_and_is_off_when_scoring() {
    let mut stack = Stack::new(1_000, &[Layer::Dropout(0.2)], Seed(1));
    let mut tape = Tape::for_training(&stack, 100);
    tape.input_mut().fill(1.0);
    tape.forward_training(&mut stack, 100, 3);
    let dropped = tape.output().iter().filter(|&&value| value == 0.0).count();
    // 20,000 of 100,000 with standard deviation √(100,000 · 0.2 · 0.8) = 126.
    assert!(dropped.abs_diff(20_000) < 5 * 126, "{dropped}");
    assert!(tape.output().iter().all(|&value| value == 0.0 || value == 1.25));
    let first = tape.output().to_vec();
    tape.forward_training(&mut stack, 100, 4);
    assert_ne!(first, tape.output(), "another key, another mask");
    tape.forward(&stack, 100);
    assert!(tape.output().iter().all(|&value| value == 1.0));
}

#[test]
fn a_row_gives_the_same_bits_alone_and_in_company() {
    let norm = Layer::BatchNorm { channels: Channels::Columns, affine: true };
    let layers = [
        Layer::torch(24),
        Layer::Curve(Curve::Tanh),
        norm,
        Layer::Dropout(0.3),
        Layer::torch(5),
        Layer::NormalizeRows,
    ];
    let stack = Stack::new(7, &layers, Seed(1));
    let mut together = Tape::for_scoring(&stack, 23);
    let rows = random(23, 7, 9);
    for (line, row) in together.input_mut().chunks_exact_mut(8).zip(&rows) {
        line.iter_mut().zip(row).for_each(|(cell, &value)| *cell = value as f32);
    }
    let lines = together.input_mut().to_vec();
    together.forward(&stack, 23);
    for row in 0..23 {
        let mut alone = Tape::for_scoring(&stack, 1);
        alone.input_mut().copy_from_slice(&lines[row * 8..][..8]);
        alone.forward(&stack, 1);
        assert_eq!(alone.output(), &together.output()[row * 8..][..8]);
    }
}

#[test]
fn a_saved_stack_loads_to_the_same_bits_and_wrong_shapes_are_refused() {
    let norm = |affine| Layer::BatchNorm { channels: Channels::Columns, affine };
    let layers = [Layer::torch(5), norm(true), Layer::torch_without_bias(3), norm(false)];
    let mut stack = Stack::new(4, &layers, Seed(2));
    let mut tape = Tape::for_training(&stack, 6);
    tape.input_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(at, cell)| *cell = if at % 8 < 4 { at as f32 } else { 0.0 });
    tape.forward_training(&mut stack, 6, 0);
    let saved = || {
        let mut tensors = Tensors::default();
        stack.save("net", &mut tensors);
        tensors
    };
    let mut tensors = saved();
    assert_eq!(tensors.0.len(), 2 + 4 + 1 + 2);
    let loaded = Stack::load("net", 4, &layers, &mut tensors).unwrap();
    assert!(tensors.0.is_empty());
    assert_eq!((loaded.weights(), &loaded.running), (stack.weights(), &stack.running));
    assert!(matches!(Stack::load("net", 3, &layers, &mut saved()), Err(TensorError::WrongShape { .. })));
    let mut negative = saved();
    negative.put_f32("net.1.variance", &[5], vec![-1.0; 5]);
    assert!(matches!(Stack::load("net", 4, &layers, &mut negative), Err(TensorError::Invalid { .. })));
}
