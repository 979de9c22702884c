//! What the neural baselines share: how rows reach a net, how nets are trained, how rows are scored.
//!
//! Each detector is its architecture, its loss and its score; everything else is here. Training runs on one
//! thread; scoring runs in blocks of rows on all of them.

mod lengths;
mod rows;
mod scale;
mod train;

use serde::{Deserialize, Serialize};

use crate::net::Flavour;

pub(super) use lengths::penalize_lengths;
pub(super) use rows::{
    fill, for_each_output, judge_by_output, judge_in_blocks, put_width, take_width, width_of,
};
#[cfg(test)]
pub(super) use train::tests::check_gradient;
pub(super) use train::{fit, run};

use scale::Scaler;

/// What every file of a neural baseline imports.
pub(super) mod prelude {
    pub(in crate::detect) use serde::{Deserialize, Serialize};

    pub(in crate::detect) use super::{
        rows::{SCORE_ROWS, TrainingRows},
        scale::Scaler,
        train::{Batches, Best, Learner, Plan},
    };
    pub(in crate::detect) use crate::{
        Context, Matrix, Seed,
        detect::{
            Abilities, Fitted, Generation, Judged, Params, Preset, Size, TrainFor, neural, parameters, ranges,
        },
        error::{FitError, ParamError},
        net::{
            Adam, Flavour,
            gemm::padded,
            stack::{Channels, Curve, Init, Layer, Stack, Tape, Trainee, sigmoid},
        },
        seed::subkey,
        tensors::{TensorError, Tensors},
    };
}

/// Binary cross-entropy of a sum s before its sigmoid: −y·ln σ(s) − (1 − y)·ln(1 − σ(s)), without overflow.
pub(super) fn cross_entropy(sum: f32, label: f32) -> f64 {
    let (sum, label) = (f64::from(sum), f64::from(label));
    sum.max(0.0) - sum * label + libm::log1p(libm::exp(-sum.abs()))
}

/// Which generation of PyOD a detector follows. They differ in architecture, loss, optimizer and length of
/// training, and often in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Generation {
    /// Up to version 1.1.3, on Keras: what most published results come from.
    Keras,
    /// From version 2.0 on, on PyTorch.
    Torch,
}

impl Generation {
    /// Whose optimizer.
    pub(super) fn flavour(self) -> Flavour {
        match self {
            Generation::Keras => Flavour::Keras,
            Generation::Torch => Flavour::Torch,
        }
    }
}
