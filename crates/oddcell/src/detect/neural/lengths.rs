//! Penalties on the lengths of a net's matrices.

use crate::net::stack::Trainee;

/// Adds up a penalty on the length ‖W‖ of every matrix W of a net, and adds its gradient to the net's.
/// `penalty` turns a length into its part of the sum and the derivative of the loss by the length.
pub(in crate::detect) fn penalize_lengths(net: &mut Trainee, penalty: impl Fn(f64) -> (f64, f64)) -> f64 {
    let Trainee { stack, gradient, .. } = net;
    let mut sum = 0.0;
    for matrix in stack.matrices() {
        let weights = &stack.weights()[matrix.clone()];
        let length = weights.iter().map(|&weight| f64::from(weight).powi(2)).sum::<f64>().sqrt();
        let (part, by_length) = penalty(length);
        sum += part;
        let slope = if length > 0.0 { (by_length / length) as f32 } else { 0.0 };
        gradient[matrix].iter_mut().zip(weights).for_each(|(gradient, weight)| *gradient += slope * weight);
    }
    sum
}
