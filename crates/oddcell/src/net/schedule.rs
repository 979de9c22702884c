//! How the learning rate changes while training.

use serde::{Deserialize, Serialize};

/// The learning rate over time, as a factor of the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Times 0.1 after a fifth of the training: the paper's step at epoch 100 of 500.
    Step,
    /// Half a cosine from 1 down to 0.
    Cosine,
    /// Always 1.
    Constant,
}

impl Schedule {
    /// The factor for step `done` of `total` (0 is the first).
    pub fn factor(self, done: usize, total: usize) -> f64 {
        match self {
            Schedule::Step if done * 5 >= total => 0.1,
            Schedule::Step | Schedule::Constant => 1.0,
            Schedule::Cosine => 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done as f64 / total as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_comes_after_a_fifth_and_the_cosine_ends_near_zero() {
        let rates = |schedule: Schedule| [0, 99, 100, 499].map(|done| schedule.factor(done, 500));
        assert_eq!(rates(Schedule::Step), [1.0, 1.0, 0.1, 0.1]);
        assert_eq!(rates(Schedule::Constant), [1.0; 4]);
        assert_eq!(Schedule::Cosine.factor(0, 500), 1.0);
        assert!((Schedule::Cosine.factor(250, 500) - 0.5).abs() < 1e-15);
        assert!(Schedule::Cosine.factor(499, 500) < 1e-5);
    }
}
