use std::sync::Mutex;

use super::*;
use crate::{DetectorSpec, Matrix, Monitor, Silent};

/// Every net's gradient against central differences of the loss itself, at the weights that matter most. A
/// wrong sign, factor or missing term is outside of the tolerance whatever the width of the difference; a
/// right one is inside for at least one of three, as 32-bit rounding spoils narrow differences, and kinks of
/// a ReLU wide ones.
pub(in crate::detect) fn check_gradient(learner: &mut impl Learner, batch: &[u32]) {
    const SHIFTS: [f32; 3] = [2.5e-4, 1e-3, 4e-3];
    const CHECKED: usize = 40;
    learner.for_each_trainee(&mut |trainee| trainee.gradient.fill(0.0));
    learner.learn(batch, 1);
    let mut gradients = Vec::new();
    learner.for_each_trainee(&mut |trainee| gradients.push(trainee.gradient.clone()));
    assert!(!gradients.is_empty());
    for (which, gradient) in gradients.iter().enumerate() {
        let mut order: Vec<usize> = (0..gradient.len()).collect();
        order.sort_by(|&a, &b| gradient[b].abs().total_cmp(&gradient[a].abs()));
        let largest = f64::from(gradient[order[0]].abs());
        assert!(largest > 0.0, "net {which} has no gradient");
        for &at in &order[..CHECKED.min(order.len())] {
            let got = f64::from(gradient[at]);
            let differences = SHIFTS.map(|shift| difference(learner, batch, which, at, shift));
            let is_close = differences.iter().any(|difference| (got - difference).abs() < 0.03 * largest);
            assert!(is_close, "net {which}, weight {at}: {got} against {differences:?}");
        }
    }
}

/// The central difference of the loss by the weight `at` of the net `which`.
fn difference(learner: &mut impl Learner, batch: &[u32], which: usize, at: usize, shift: f32) -> f64 {
    let mut kept = 0.0;
    let mut set = |learner: &mut dyn Learner, change: Option<f32>| {
        let mut index = 0;
        learner.for_each_trainee(&mut |trainee| {
            if index == which {
                trainee.stack.change(|weights| match change {
                    Some(shift) => {
                        kept = weights[at];
                        weights[at] += shift;
                    }
                    None => weights[at] = kept,
                });
            }
            index += 1;
        });
    };
    let mut loss_at = |shift: f32| {
        set(learner, Some(shift));
        let loss = learner.learn(batch, 1);
        set(learner, None);
        loss
    };
    (loss_at(shift) - loss_at(-shift)) / (2.0 * f64::from(shift))
}

/// Learns nothing, and remembers the batches.
#[derive(Default)]
struct Recorder {
    batches: Vec<Vec<u32>>,
    epochs: Vec<(usize, f64)>,
    bad_at: Option<usize>,
    last_epoch: Option<usize>,
}

impl Learner for Recorder {
    fn learn(&mut self, batch: &[u32], step: usize) -> f64 {
        self.batches.push(batch.to_vec());
        if self.bad_at == Some(step) { f64::NAN } else { step as f64 }
    }

    fn for_each_trainee(&mut self, _: &mut dyn FnMut(&mut Trainee)) {}

    fn end_epoch(&mut self, epoch: usize, loss: f64) -> ControlFlow<()> {
        self.epochs.push((epoch, loss));
        if self.last_epoch == Some(epoch) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Stops at once.
struct Stop;

impl Monitor for Stop {
    fn advanced(&self, _: Progress) {}
    fn cancelled(&self) -> bool {
        true
    }
}

fn plan(batches: Batches, train_for: TrainFor) -> Plan {
    Plan { rows: (0..10).collect(), train_for, batch_size: 4, batches, learning_rate: 0.1 }
}

fn run(mut recorder: Recorder, plan: Plan) -> (Recorder, Result<(), FitError>) {
    let outcome = super::run(&mut recorder, plan, &Context::silent(Seed(1)), |_, _, _| ());
    (recorder, outcome)
}

#[test] // Ten rows in fours: 4, 4, 2. The losses are the step numbers: means (1 + 2 + 3)/3 and (4 + 5 + 6)/3.
fn an_epoch_shows_every_row_once_in_another_order_each_time() {
    let (seen, outcome) = run(Recorder::default(), plan(Batches::All, TrainFor::Epochs(2)));
    outcome.unwrap();
    assert_eq!(seen.batches.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2, 4, 4, 2]);
    let epoch = |batches: &[Vec<u32>]| batches.concat();
    let (first, second) = (epoch(&seen.batches[..3]), epoch(&seen.batches[3..]));
    assert_ne!(first, second);
    for mut rows in [first, second] {
        rows.sort_unstable();
        assert_eq!(rows, (0..10).collect::<Vec<u32>>());
    }
    assert_eq!(seen.epochs, [(1, 2.0), (2, 5.0)]);
}

#[test]
fn whole_batches_leave_out_the_rest_and_one_batch_is_a_whole_epoch() {
    let lengths = |batches, train_for| {
        let (seen, outcome) = run(Recorder::default(), plan(batches, train_for));
        outcome.unwrap();
        (seen.batches.iter().map(Vec::len).collect::<Vec<_>>(), seen.epochs.len())
    };
    assert_eq!(lengths(Batches::Whole, TrainFor::Epochs(1)), (vec![4, 4], 1));
    assert_eq!(lengths(Batches::One, TrainFor::Epochs(3)), (vec![4, 4, 4], 3));
    assert_eq!(lengths(Batches::All, TrainFor::Steps(4)), (vec![4, 4, 2, 4], 2));
    let few = Plan { rows: vec![7, 8], ..plan(Batches::Whole, TrainFor::Epochs(1)) };
    assert_eq!(run(Recorder::default(), few).0.batches.concat().len(), 2);
}

#[test]
fn a_loss_that_is_no_number_and_a_cancelling_monitor_end_with_their_names() {
    let bad = Recorder { bad_at: Some(5), ..Recorder::default() };
    let (_, outcome) = run(bad, plan(Batches::All, TrainFor::Epochs(9)));
    assert!(matches!(outcome, Err(FitError::Diverged { step: 5, .. })));

    let context = Context { seed: Seed(1), monitor: &Stop };
    let plan = plan(Batches::All, TrainFor::Epochs(9));
    let outcome = super::run(&mut Recorder::default(), plan, &context, |_, _, _| ());
    assert!(matches!(outcome, Err(FitError::Cancelled)));
}

#[test]
fn the_learner_may_end_the_training_and_the_best_nets_are_kept() {
    let early = Recorder { last_epoch: Some(2), ..Recorder::default() };
    assert_eq!(run(early, plan(Batches::All, TrainFor::Epochs(9))).0.epochs.len(), 2);

    let stack = |seed| Stack::new(2, &[crate::net::stack::Layer::torch(1)], Seed(seed));
    let mut best = Best::default();
    for (epoch, loss) in [(1, 3.0), (2, 1.0), (3, 1.0), (4, 2.0)] {
        best.offer(epoch, loss, [&stack(epoch as u64)].into_iter());
    }
    assert_eq!(best.age(4), 2);
    assert_eq!(best.stacks().unwrap()[0].weights(), stack(2).weights());
}

#[test] // floor(0.9 · 10) = 9, floor(0.9 · 15) = 13, and never none.
fn a_share_of_the_rows_is_held_out() {
    let kept = |n_rows: usize, holdout: f64| {
        let all = Plan::new(&Matrix::zeros(n_rows, 1), TrainFor::Epochs(1), 4, 0.1, Seed(1));
        all.of_generation(Generation::Keras, holdout).rows.len()
    };
    assert_eq!([kept(10, 0.1), kept(15, 0.1), kept(1, 0.1), kept(3, 0.0)], [9, 13, 1, 3]);
}

/// Looks at every state, and keeps the scores that it gives.
struct Looks<'a>(&'a Matrix, Mutex<Vec<(usize, Vec<f64>)>>);

impl Monitor for Looks<'_> {
    fn advanced(&self, _: Progress) {}

    fn wants_state(&self, _: usize, _: usize) -> bool {
        true
    }

    fn state(&self, done: usize, _: usize, fitted: &dyn Fitted) {
        self.1.lock().unwrap().push((done, fitted.score(self.0).unwrap()));
    }
}

#[test]
fn a_training_that_is_looked_at_learns_the_same_and_its_last_state_is_the_result() {
    let cell = |row: usize, column: usize| ((row * 37 + column * 11) % 101) as f64 / 30.0;
    let table = |first: usize| Matrix::new((0..120).map(|at| cell(first + at / 4, at % 4)).collect(), 30, 4);
    let (rows, fresh) = (table(0), table(30));
    let presets = ["ae", "deepsvdd", "anogan", "neutralad", "plad", "dpad"].map(|name| (name, None));
    for (name, preset) in presets.into_iter().chain([("ae", Some("torch")), ("deepsvdd", Some("torch"))]) {
        let mut spec = DetectorSpec::new(name, preset).unwrap();
        spec.set_text("batch_size", "8").unwrap();
        spec.set_text("train_for", "7 steps").unwrap();
        let detector = spec.build().unwrap();
        let fit = |monitor: &dyn Monitor| detector.fit(&rows, &Context { seed: Seed(1), monitor }).unwrap();
        let looks = Looks(&fresh, Mutex::default());
        let (result, seen) = (fit(&Silent).score(&fresh).unwrap(), fit(&looks).score(&fresh).unwrap());
        assert_eq!(seen, result, "{name}");
        let states = looks.1.into_inner().unwrap();
        assert_eq!(states.iter().map(|state| state.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7], "{name}");
        assert_eq!(states[6].1, result, "{name}");
        assert_ne!(states[0].1, result, "{name}");
    }
}
