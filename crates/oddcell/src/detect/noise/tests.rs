use std::sync::Mutex;

use super::*;
use crate::{
    Monitor, Progress, Seed, detect::DetectorSpec, error::ParamError, noise::Kind, simd::on_every_path,
};

/// Rows on a noisy line through three columns, the last one independent.
fn rows(n: usize) -> Matrix {
    let mut stream = Seed(3).stream("rows", &[]);
    let row = |_| {
        let t = stream.normal();
        [t, t + 0.1 * stream.normal(), -t + 0.1 * stream.normal(), stream.normal()]
    };
    Matrix::from_rows(&(0..n).map(row).collect::<Vec<_>>())
}

fn spec(steps: usize) -> DetectorSpec {
    let mut spec = DetectorSpec::new("noise", None).unwrap();
    spec.set_text("train_for", &format!("{steps} steps")).unwrap();
    spec
}

fn on_threads<R: Send>(n: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(work)
}

#[derive(Default)]
struct Losses(Mutex<Vec<f64>>);

impl Monitor for Losses {
    fn advanced(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress.loss.unwrap());
    }
}

#[test]
fn training_lowers_the_loss_and_tells_far_and_broken_rows_from_normal_ones() {
    let train = rows(400);
    let losses = Losses::default();
    let context = Context { seed: Seed(1), monitor: &losses };
    let mut spec = spec(600);
    spec.set_text("batch_size", "400").unwrap(); // whole epochs: the loss of a batch of 16 rows says little
    let fitted = spec.build().unwrap().fit(&train, &context).unwrap();
    let losses = losses.0.into_inner().unwrap();
    let last = losses[losses.len() - 10..].iter().sum::<f64>() / 10.0;
    assert!(last < 0.6 * losses[0], "{losses:?}");

    // A normal row, a far row, and one that is odd only against its other columns.
    let judged = fitted
        .judge(
            &Matrix::from_rows(&[[1.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 8.0], [1.5, -1.5, -1.5, 0.0]]),
            true,
        )
        .unwrap();
    assert!(judged.scores[1] > 3.0 * judged.scores[0], "{judged:?}");
    assert!(judged.scores[2] > 3.0 * judged.scores[0], "{judged:?}");
    let cells = judged.cells.unwrap();
    let oddest =
        |row: usize| (0..4).max_by(|&a, &b| cells.row(row)[a].total_cmp(&cells.row(row)[b])).unwrap();
    assert_eq!((oddest(1), oddest(2)), (3, 1));
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_another_seed_others() {
    let train = rows(300);
    let score = |threads: usize, seed: u64| {
        on_threads(threads, || {
            let fitted = spec(40).build().unwrap().fit(&train, &Context::silent(Seed(seed))).unwrap();
            fitted.judge(&train, true).unwrap()
        })
    };
    assert_eq!(score(1, 7), score(2, 7));
    assert_eq!(score(1, 7), score(3, 7));
    assert_ne!(score(1, 7), score(1, 8));
}

#[test]
fn every_noise_kind_net_loss_and_schedule_trains_to_finite_scores() {
    let train = rows(150);
    let mut settings: Vec<(&str, String)> = Kind::ALL
        .iter()
        .map(|kind| ("noise", serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()))
        .collect();
    for (name, value) in [
        ("net", "resmlp"),
        ("loss", "mean"),
        ("schedule", "constant"),
        ("output", "relu"),
        ("difference", "1"),
        ("aggregate", "0.5*max + 0.5*median"),
        ("hidden", "5"),
        ("batch_size", "1000"),
        ("levels", "9"),
        ("train_for", "2 epochs"),
    ] {
        settings.push((name, value.to_owned()));
    }
    for (name, value) in settings {
        let mut spec = spec(20);
        spec.set_text(name, &value).unwrap();
        let fitted = spec.build().unwrap().fit(&train, &Context::silent(Seed(1))).unwrap();
        let scores = fitted.score(&train).unwrap();
        assert!(scores.iter().all(|score| score.is_finite()), "{name} = {value}");
        assert!(scores.windows(2).any(|pair| pair[0] != pair[1]), "{name} = {value}");
    }
}

#[test]
fn strong_decay_and_huge_cells_keep_scores_finite() {
    let mut spec = spec(300);
    for (name, value) in
        [("weight_decay", "1"), ("loss", "mean"), ("learning_rate", "0.01"), ("schedule", "constant")]
    {
        spec.set_text(name, value).unwrap();
    }
    let fitted = spec.build().unwrap().fit(&rows(100), &Context::silent(Seed(1))).unwrap();
    let scores = fitted.score(&Matrix::from_rows(&[[1e300, -1e300, 0.0, 5e-324]])).unwrap();
    assert!(scores[0].is_finite());
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    for (name, value) in [
        ("sigma_max", "0"),
        ("sigma_max", "-1"),
        ("ratios", "[]"),
        ("ratios", "[1.5]"),
        ("difference", "2"),
        ("hidden", "0"),
        ("learning_rate", "0"),
        ("weight_decay", "-1"),
        ("batch_size", "0"),
        ("levels", "0"),
        ("trust", "0"),
        ("trust", "1.1"),
    ] {
        let mut spec = spec(1);
        spec.set_text(name, value).unwrap();
        let error = spec.build().unwrap_err();
        assert!(
            matches!(error, ParamError::OutOfRange { name: found, .. } if found == name),
            "{name}: {error}"
        );
    }
    for (name, value) in [
        ("train_for", "0 steps"),
        ("train_for", "500"),
        ("noise", "pink"),
        ("aggregate", "most"),
        ("net", "3"),
    ] {
        let mut spec = spec(1);
        spec.set_text(name, value).unwrap();
        let error = spec.build().unwrap_err();
        assert!(
            matches!(&error, ParamError::WrongType { name: found, .. } | ParamError::WrongValue { name: found, .. } if found == name),
            "{name}: {error}"
        );
    }
    let unknown = spec(1).set_text("sigma", "1").unwrap_err();
    assert!(
        unknown
            .to_string()
            .starts_with("detector `noise` has no parameter `sigma`; known: aggregate, batch_size")
    );
}

#[test]
fn the_paper_preset_is_what_the_paper_says() {
    let spec = DetectorSpec::new("noise", Some("paper")).unwrap();
    let expected = serde_json::json!({
        "net": "mlp", "hidden": null, "output": "linear", "noise": "gaussian", "sigma_max": 2.0, "levels": 3,
        "ratios": [0.5, 0.8, 1.0], "difference": 0.0, "beta": 1.0, "form": "printed",
        "train_for": "500 epochs", "batch_size": 256, "learning_rate": 1e-4, "schedule": "step", "weight_decay": 5e-4, "loss": "sum",
        "aggregate": "max", "keep_rows": 0, "n_neighbors": null, "one_hot": true, "trust": 1.0,
    });
    assert_eq!(serde_json::Value::Object(spec.params().clone()), expected);
    let widths =
        |d: usize| NoiseParams::paper().net(d).layers().iter().map(|l| l.outputs).collect::<Vec<_>>();
    assert_eq!(widths(64), [64, 64, 64, 64]);
    assert_eq!(widths(65), [256, 256, 256, 65]);
}

#[test]
fn cancelling_stops_the_training() {
    struct Stop;
    impl Monitor for Stop {
        fn advanced(&self, _: Progress) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let context = Context { seed: Seed(1), monitor: &Stop };
    let result = spec(100_000).build().unwrap().fit(&rows(50), &context);
    assert!(matches!(result, Err(FitError::Cancelled)));
}

// On one thread, because a path is forced for a thread. Noise, passes, loss and optimizer all take part.
#[test]
fn every_vector_path_trains_the_same_net_to_the_bit() {
    for net in ["mlp", "resmlp"] {
        let mut spec = spec(12);
        spec.set_text("net", net).unwrap();
        let detector = spec.build().unwrap();
        let (train, fresh) = (rows(150), rows(37));
        on_threads(1, || {
            on_every_path(|| {
                let fitted = detector.fit(&train, &Context::silent(Seed(1))).unwrap();
                // As text, which tells 0 from −0.
                format!("{:?} {:?}", fitted.save(), fitted.judge(&fresh, true).unwrap())
            })
        });
    }
}

/// Looks at every fifth state.
struct Looks<'a>(&'a Matrix, Mutex<Vec<(usize, Vec<f64>)>>);

impl Monitor for Looks<'_> {
    fn advanced(&self, _: Progress) {}

    fn wants_state(&self, done: usize, total: usize) -> bool {
        assert_eq!(total, 20);
        done.is_multiple_of(5)
    }

    fn state(&self, done: usize, _: usize, fitted: &dyn Fitted) {
        self.1.lock().unwrap().push((done, fitted.score(self.0).unwrap()));
    }
}

#[test]
fn a_training_that_is_looked_at_learns_the_same_and_its_last_state_is_the_result() {
    let rows = rows(300);
    let detector = spec(20).build().unwrap();
    let fit = |monitor: &dyn Monitor| detector.fit(&rows, &Context { seed: Seed(1), monitor }).unwrap();
    for n_threads in [1, 2] {
        let looks = Looks(&rows, Mutex::default());
        let (unseen, seen) = on_threads(n_threads, || (fit(&crate::Silent), fit(&looks)));
        let result = unseen.score(&rows).unwrap();
        assert_eq!(seen.score(&rows).unwrap(), result);
        let states = looks.1.into_inner().unwrap();
        assert_eq!(states.iter().map(|state| state.0).collect::<Vec<_>>(), [5, 10, 15, 20]);
        assert_eq!(states[3].1, result);
        assert_ne!(states[2].1, result);
    }
}

#[test]
fn the_last_hidden_layer_is_what_the_last_layer_works_on() {
    let rows = rows(300);
    for net in ["mlp", "resmlp"] {
        let mut spec = spec(5);
        for (name, value) in [("net", net), ("hidden", "64"), ("keep_rows", "0")] {
            spec.set_text(name, value).unwrap();
        }
        let params = NoiseParams::of(&spec).unwrap();
        let net = params.net(4);
        let net_layers = net.layers().len();
        let fitted = |weights| NoiseFitted::new(net.clone(), weights, params.aggregate.clone(), None);
        let weights = train::train(&params, &net, &rows, &Context::silent(Seed(1)), &fitted).unwrap();
        let fitted = fitted(weights);
        let hidden = fitted.embed(&rows).unwrap().unwrap();
        assert_eq!((hidden.n_rows(), hidden.n_cols()), (300, 64));
        let said = fitted.judge(&rows, true).unwrap().cells.unwrap();
        // The last layer by hand: bias + hidden · W, negative estimates as 0.
        let mut saved = fitted.save();
        let last = net_layers - 1;
        let weight = saved.take_f32(&format!("layer.{last}.weight"), &[64, 4]).unwrap();
        let bias = saved.take_f32(&format!("layer.{last}.bias"), &[4]).unwrap();
        for row in [0, 255, 256, 299] {
            for column in 0..4 {
                let products = hidden.row(row).iter().zip(weight.chunks_exact(4));
                let sum = products.map(|(unit, weights)| unit * f64::from(weights[column])).sum::<f64>();
                let expected = (sum + f64::from(bias[column])).max(0.0);
                assert!((said.row(row)[column] - expected).abs() < 1e-4, "row {row}, column {column}");
            }
        }
    }
}

/// Rows of six columns: the first four follow two hidden causes, the last two are their own.
fn caused(n: usize, stream: &mut crate::seed::Stream) -> Matrix {
    let rows: Vec<[f64; 6]> = (0..n)
        .map(|_| {
            let (a, b) = (stream.normal(), stream.normal());
            let mut little = || 0.2 * stream.normal();
            [a + little(), b + little(), a + b + little(), a - b + little(), stream.normal(), stream.normal()]
        })
        .collect();
    Matrix::from_rows(&rows)
}

// The reasons explain the score: of all cells, restoring the one named first lowers the score most.
// A cell is restored to its value in the training row that is nearest in the other cells.
#[test]
fn restoring_the_named_cell_lowers_the_score_most() {
    let mut stream = Seed(8).stream("rows", &[]);
    let train = caused(600, &mut stream);
    let mut spoiled = caused(200, &mut stream);
    for row in 0..spoiled.n_rows() {
        let cell = stream.below(6);
        let shift = if stream.uniform() < 0.5 { -3.0 } else { 3.0 };
        spoiled.row_mut(row)[cell] += shift;
    }
    let fitted = spec(600).build().unwrap().fit(&train, &Context::silent(Seed(1))).unwrap();
    let judged = fitted.judge(&spoiled, true).unwrap();
    let cells = judged.cells.unwrap();
    let most = |values: &[f64]| (0..6).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
    let agree = (0..spoiled.n_rows()).filter(|&row| {
        let restored: Vec<[f64; 6]> = (0..6)
            .map(|cell| {
                let apart = |other: &[f64]| {
                    let cells = (0..6).filter(|&at| at != cell);
                    cells.map(|at| (spoiled.row(row)[at] - other[at]).powi(2)).sum::<f64>()
                };
                let nearest = train.rows().min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap();
                let mut restored: [f64; 6] = spoiled.row(row).try_into().unwrap();
                restored[cell] = nearest[cell];
                restored
            })
            .collect();
        let drops: Vec<f64> =
            fitted.score(&Matrix::from_rows(&restored)).unwrap().iter().map(|score| -score).collect();
        most(&drops) == most(cells.row(row))
    });
    let agree = agree.count();
    assert!(agree >= 180, "{agree} of 200");
}

#[test]
fn the_norm_of_the_cells_is_the_score() {
    let fitted = spec(100).build().unwrap().fit(&rows(300), &Context::silent(Seed(1))).unwrap();
    let judged =
        fitted.judge(&Matrix::from_rows(&[[1.0, 1.0, -1.0, 0.0], [0.0, 5.0, 0.0, 8.0]]), true).unwrap();
    let cells = judged.cells.unwrap();
    for (score, cells) in judged.scores.iter().zip(cells.rows()) {
        let norm = cells.iter().map(|cell| cell * cell).sum::<f64>().sqrt();
        assert!((norm - score).abs() < 1e-9 * score, "{norm} {score}");
    }
}

// What it says: learn from all, keep the half that is least odd, learn from it as if there were nothing else.
#[test]
fn with_trust_the_net_is_the_one_that_learns_from_the_least_odd_rows_alone() {
    let mut values = rows(101).into_values();
    values[..40].iter_mut().for_each(|cell| *cell += 5.0); // ten rows apart from the others
    let all = Matrix::new(values, 101, 4);
    let fit = |rows: &Matrix, settings: &[(&str, &str)]| {
        let mut spec = spec(60);
        for (name, value) in settings {
            spec.set_text(name, value).unwrap();
        }
        spec.build().unwrap().fit(rows, &Context::silent(Seed(1))).unwrap()
    };
    let scores = fit(&all, &[("keep_rows", "0")]).judge(&all, false).unwrap().scores;
    let mut sorted = scores.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let half: Vec<usize> = (0..101).filter(|&row| scores[row] <= sorted[49]).collect();
    assert_eq!(half.len(), 50);

    let twice = fit(&all, &[("keep_rows", "0"), ("trust", "0.5")]);
    let expected = fit(&all.take(&half), &[("keep_rows", "0")]);
    assert_eq!(twice.judge(&all, true).unwrap(), expected.judge(&all, true).unwrap());

    // Rows are compared with all rows, also with those that the net did not learn from.
    let tensors = fit(&all, &[("trust", "0.5")]).save();
    assert_eq!(tensors.shape(KEPT).unwrap(), [101, 4]);
}

#[test] // 30 steps of 128 rows are 3,840 rows.
fn no_more_rows_are_needed_than_the_steps_come_to_and_than_are_kept() {
    let needed = |train_for: &str, keep_rows: usize, n_rows: usize| {
        let params =
            NoiseParams { train_for: train_for.parse().unwrap(), keep_rows, ..NoiseParams::default() };
        params.rows_needed(n_rows)
    };
    assert_eq!(needed("30 steps", 0, 1_000_000), 3_840);
    assert_eq!(needed("30 steps", 0, 3_000), 3_000);
    assert_eq!(needed("30 steps", 10_000, 1_000_000), 10_000);
    assert_eq!(needed("30 steps", 10_000, 5_000), 5_000);
    assert_eq!(needed("1 epochs", 0, 1_000_000), 1_000_000);
}
