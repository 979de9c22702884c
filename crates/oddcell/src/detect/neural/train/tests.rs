use super::*;
use crate::Monitor;

/// Every net's gradient against central differences of the loss itself, at the weights that matter most: a wrong
/// sign, factor or missing term is far outside of the tolerance, 32-bit rounding far inside.
pub(in crate::detect) fn check_gradient(learner: &mut impl Learner, batch: &[u32]) {
    const SHIFT: f32 = 1e-3;
    const CHECKED: usize = 40;
    learner.for_each_trainee(&mut |trainee| trainee.gradient.fill(0.0));
    learner.learn(batch, 1);
    let mut gradients = Vec::new();
    learner.for_each_trainee(&mut |trainee| gradients.push(trainee.gradient.clone()));
    assert!(!gradients.is_empty());
    for (which, gradient) in gradients.iter().enumerate() {
        let mut order: Vec<usize> = (0..gradient.len()).collect();
        order.sort_by(|&a, &b| gradient[b].abs().total_cmp(&gradient[a].abs()));
        let largest = gradient[order[0]].abs();
        assert!(largest > 0.0, "net {which} has no gradient");
        for &at in &order[..CHECKED.min(order.len())] {
            let mut loss_at = |shift: f32| {
                let mut index = 0;
                learner.for_each_trainee(&mut |trainee| {
                    if index == which {
                        trainee.stack.change(|weights| weights[at] += shift);
                    }
                    index += 1;
                });
                learner.learn(batch, 1)
            };
            let (high, low) = (loss_at(SHIFT), loss_at(-2.0 * SHIFT));
            loss_at(SHIFT);
            let expected = (high - low) / (2.0 * f64::from(SHIFT));
            let distance = (f64::from(gradient[at]) - expected).abs();
            assert!(
                distance < 0.03 * f64::from(largest),
                "net {which}, weight {at}: {} against {expected}",
                gradient[at]
            );
        }
    }
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

fn plan(batches: Batches, budget: Budget) -> Plan {
    Plan { rows: (0..10).collect(), budget, batch_size: 4, batches, learning_rate: 0.1 }
}

fn run(mut recorder: Recorder, plan: Plan) -> (Recorder, Result<(), FitError>) {
    let outcome = train(&mut recorder, plan, &Context::silent(Seed(1)));
    (recorder, outcome)
}

#[test] // Ten rows in fours: 4, 4, 2. The losses are the step numbers: means (1 + 2 + 3)/3 and (4 + 5 + 6)/3.
fn an_epoch_shows_every_row_once_in_another_order_each_time() {
    let (seen, outcome) = run(Recorder::default(), plan(Batches::All, Budget::Epochs(2)));
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
    let lengths = |batches, budget| {
        let (seen, outcome) = run(Recorder::default(), plan(batches, budget));
        outcome.unwrap();
        (seen.batches.iter().map(Vec::len).collect::<Vec<_>>(), seen.epochs.len())
    };
    assert_eq!(lengths(Batches::Whole, Budget::Epochs(1)), (vec![4, 4], 1));
    assert_eq!(lengths(Batches::One, Budget::Epochs(3)), (vec![4, 4, 4], 3));
    assert_eq!(lengths(Batches::All, Budget::Steps(4)), (vec![4, 4, 2, 4], 2));
    let few = Plan { rows: vec![7, 8], ..plan(Batches::Whole, Budget::Epochs(1)) };
    assert_eq!(run(Recorder::default(), few).0.batches.concat().len(), 2);
}

#[test]
fn a_loss_that_is_no_number_and_a_cancelling_monitor_end_with_their_names() {
    let bad = Recorder { bad_at: Some(5), ..Recorder::default() };
    let (_, outcome) = run(bad, plan(Batches::All, Budget::Epochs(9)));
    assert!(matches!(outcome, Err(FitError::Diverged { step: 5, .. })));

    let context = Context { seed: Seed(1), monitor: &Stop };
    let outcome = train(&mut Recorder::default(), plan(Batches::All, Budget::Epochs(9)), &context);
    assert!(matches!(outcome, Err(FitError::Cancelled)));
}

#[test]
fn the_learner_may_end_the_training_and_the_best_nets_are_kept() {
    let early = Recorder { last_epoch: Some(2), ..Recorder::default() };
    assert_eq!(run(early, plan(Batches::All, Budget::Epochs(9))).0.epochs.len(), 2);

    let stack = |seed| Stack::new(2, &[crate::net::stack::Layer::torch(1)], Seed(seed));
    let mut best = Best::default();
    for (epoch, loss) in [(1, 3.0), (2, 1.0), (3, 1.0), (4, 2.0)] {
        best.offer(loss, [&stack(epoch)].into_iter());
    }
    assert_eq!(best.into_stacks().unwrap()[0].weights(), stack(2).weights());
}

#[test] // floor(0.9 · 10) = 9, floor(0.9 · 15) = 13, and never none.
fn a_share_of_the_rows_is_held_out() {
    let kept = |n_rows| keep_some(n_rows, 0.1, Seed(1)).len();
    assert_eq!([kept(10), kept(15), kept(1)], [9, 13, 1]);
    assert_eq!(keep_some(3, 0.0, Seed(1)).len(), 3);
}
