//! What a detector is made of: its parameters. Those that passed their checks are a [`Detector`].

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Abilities, BlockDetector, Detector, Fitted, Size, blocks::NEEDS_ALL_ROWS, check_training,
    coordinates::OfCoordinates,
};
use crate::{
    Context, Matrix,
    error::{FitError, ParamError},
    noise::Noise,
    tensors::{TensorError, Tensors},
};

/// A name, and the parameters behind it.
pub(super) type Preset<P> = (&'static str, fn() -> P);

/// The parameters of one method, and what the method can do.
///
/// `parameters!` declares them: plain data with their defaults in one place, where a typo in a config file is an
/// error.
pub(super) trait Params:
    Debug + Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The name on the command line, in model files and in result tables.
    const NAME: &'static str;
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// The presets, the default first.
    const PRESETS: &'static [Preset<Self>] = &[("default", Self::default)];
    /// What it can do, with its default parameters.
    const ABILITIES: Abilities;
    /// The fewest rows it learns from. One row alone shows no spread.
    const LEAST_ROWS: usize = 2;

    /// Whether it sees levels and signs, too. All others see the coordinates of a row.
    const SEES_ALL: bool = false;

    /// The parameters for a table that is judged by itself, where some of the rows learned from are odd. Only
    /// parameters that the user left open may change.
    #[must_use]
    fn for_one_table(self) -> Self {
        self
    }

    /// Checks every range.
    fn check(&self) -> Result<(), ParamError>;

    /// A rough estimate of the seconds of fitting and scoring on one core. It orders work and predicts waiting times;
    /// results never depend on it.
    fn seconds(&self, size: Size) -> f64 {
        Self::ABILITIES.seconds(size)
    }

    /// What it can do with these parameters.
    fn abilities(&self) -> Abilities {
        Self::ABILITIES
    }

    /// The noise that it trains with, if it adds noise of known strength to rows. Maps and time tables show it.
    fn noise(&self) -> Option<Noise> {
        None
    }

    /// Learns "normal" from `rows`, which are enough and finite: see [`Detector::fit`].
    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError>;

    /// The same for rows that do not fit into memory: see [`Detector::in_blocks`].
    fn in_blocks(&self) -> Result<&dyn BlockDetector, &'static str> {
        Err(NEEDS_ALL_ROWS)
    }

    /// Restores what [`Fitted::save`] gave. Checks every shape and value: the file may be hostile.
    fn load(&self, tensors: &mut Tensors) -> Result<Box<dyn Fitted>, TensorError>;

    /// The detector, if every parameter is valid.
    fn build(self) -> Result<Box<dyn Detector>, ParamError> {
        self.check()?;
        Ok(Box::new(Ready(self)))
    }
}

/// Parameters that passed their checks: a detector that can learn.
#[derive(Debug)]
struct Ready<P>(P);

impl<P: Params> Detector for Ready<P> {
    fn fit(&self, rows: &Matrix, context: &Context<'_>) -> Result<Box<dyn Fitted>, FitError> {
        check_training::<P>(rows)?;
        match rows.layout().coordinates().filter(|_| !P::SEES_ALL) {
            None => self.0.fit(rows, context),
            Some(kept) => {
                let inner = self.0.fit(&rows.columns(&kept), context)?;
                Ok(Box::new(OfCoordinates { inner, kept, n_features: rows.n_cols() }))
            }
        }
    }

    fn in_blocks(&self) -> Result<&dyn BlockDetector, &'static str> {
        self.0.in_blocks()
    }
}
