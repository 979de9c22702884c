//! The numbers a fitted detector is made of, by name: what goes into and comes out of a model file.
//!
//! Taking a tensor checks its shape and that every value is finite, so a detector restored from a hostile
//! file is as valid as a fitted one or is not restored at all.

use std::collections::BTreeMap;

/// One array of numbers with its shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Tensor {
    /// 32-bit floats.
    F32(Vec<usize>, Vec<f32>),
    /// 64-bit floats.
    F64(Vec<usize>, Vec<f64>),
    /// 32-bit whole numbers.
    U32(Vec<usize>, Vec<u32>),
}

/// Tensors by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tensors(pub BTreeMap<String, Tensor>);

/// Why a tensor could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// There is none of that name.
    #[error("tensor `{0}` is missing")]
    Missing(String),
    /// It holds another type of number.
    #[error("tensor `{name}` holds {got} values, but {expected} were expected")]
    WrongType {
        /// The tensor's name.
        name: String,
        /// What it holds.
        got: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// It has another shape.
    #[error("tensor `{name}` has the shape {got:?}, but {expected:?} was expected")]
    WrongShape {
        /// The tensor's name.
        name: String,
        /// The shape found.
        got: Vec<usize>,
        /// The shape expected.
        expected: Vec<usize>,
    },
    /// A value is NaN or infinite.
    #[error("tensor `{name}`: value {index} is {value}, but must be finite")]
    NotFinite {
        /// The tensor's name.
        name: String,
        /// Which value, counted from 0.
        index: usize,
        /// The value, as text.
        value: String,
    },
    /// A value is out of the range its meaning allows.
    #[error("tensor `{name}`: {reason}")]
    Invalid {
        /// The tensor's name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Tensor {
    fn type_name(&self) -> &'static str {
        match self {
            Tensor::F32(..) => "f32",
            Tensor::F64(..) => "f64",
            Tensor::U32(..) => "u32",
        }
    }

    fn n_values(&self) -> usize {
        match self {
            Tensor::F32(_, values) => values.len(),
            Tensor::F64(_, values) => values.len(),
            Tensor::U32(_, values) => values.len(),
        }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        match self {
            Tensor::F32(shape, _) | Tensor::F64(shape, _) | Tensor::U32(shape, _) => shape,
        }
    }
}

impl Tensors {
    /// Adds 32-bit floats.
    pub fn put_f32(&mut self, name: &str, shape: &[usize], values: Vec<f32>) {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        self.0.insert(name.to_owned(), Tensor::F32(shape.to_vec(), values));
    }

    /// Adds 64-bit floats.
    pub fn put_f64(&mut self, name: &str, shape: &[usize], values: Vec<f64>) {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        self.0.insert(name.to_owned(), Tensor::F64(shape.to_vec(), values));
    }

    /// Adds 32-bit whole numbers.
    pub fn put_u32(&mut self, name: &str, shape: &[usize], values: Vec<u32>) {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        self.0.insert(name.to_owned(), Tensor::U32(shape.to_vec(), values));
    }

    /// Adds all of `other` with `prefix` before the names.
    pub fn put_all(&mut self, prefix: &str, other: Tensors) {
        self.0.extend(other.0.into_iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor)));
    }

    /// Removes and returns everything whose name starts with `prefix`, without the prefix.
    #[must_use]
    pub fn take_all(&mut self, prefix: &str) -> Tensors {
        let names: Vec<String> = self.0.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
        let part = names
            .into_iter()
            .filter_map(|name| self.0.remove(&name).map(|tensor| (name[prefix.len()..].to_owned(), tensor)));
        Tensors(part.collect())
    }

    /// The shape of a tensor, to be checked by the caller before anything is sized by it.
    pub fn shape(&self, name: &str) -> Result<&[usize], TensorError> {
        self.0.get(name).map(Tensor::shape).ok_or_else(|| TensorError::Missing(name.to_owned()))
    }

    /// Takes 32-bit floats of exactly this shape, all finite.
    pub fn take_f32(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, TensorError> {
        let tensor = self.take_shaped(name, "f32", shape)?;
        let Tensor::F32(_, values) = tensor else { unreachable!("its type was checked") };
        check_finite(name, values, f32::is_finite)
    }

    /// Takes 64-bit floats of exactly this shape, all finite.
    pub fn take_f64(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>, TensorError> {
        let tensor = self.take_shaped(name, "f64", shape)?;
        let Tensor::F64(_, values) = tensor else { unreachable!("its type was checked") };
        check_finite(name, values, f64::is_finite)
    }

    /// Takes 32-bit whole numbers of exactly this shape.
    pub fn take_u32(&mut self, name: &str, shape: &[usize]) -> Result<Vec<u32>, TensorError> {
        let tensor = self.take_shaped(name, "u32", shape)?;
        let Tensor::U32(_, values) = tensor else { unreachable!("its type was checked") };
        Ok(values)
    }

    /// Takes a tensor of exactly this type and shape.
    fn take_shaped(
        &mut self,
        name: &str,
        expected: &'static str,
        shape: &[usize],
    ) -> Result<Tensor, TensorError> {
        let tensor = self.0.remove(name).ok_or_else(|| TensorError::Missing(name.to_owned()))?;
        let (got, n_values, name) = (tensor.type_name(), tensor.n_values(), name.to_owned());
        if tensor.shape() != shape {
            let got = tensor.shape().to_vec();
            return Err(TensorError::WrongShape { name, got, expected: shape.to_vec() });
        }
        if n_values != shape.iter().product::<usize>() {
            let reason = format!("{n_values} values do not make the shape {shape:?}");
            return Err(TensorError::Invalid { name, reason });
        }
        if got == expected { Ok(tensor) } else { Err(TensorError::WrongType { name, got, expected }) }
    }
}

fn check_finite<T: Copy + std::fmt::Display>(
    name: &str,
    values: Vec<T>,
    finite: impl Fn(T) -> bool,
) -> Result<Vec<T>, TensorError> {
    match values.iter().position(|&value| !finite(value)) {
        None => Ok(values),
        Some(index) => {
            let value = values[index].to_string();
            Err(TensorError::NotFinite { name: name.to_owned(), index, value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_is_given_out_only_with_the_expected_shape_type_and_finite_values() {
        let full = || {
            let mut tensors = Tensors::default();
            tensors.put_f32("w", &[2, 1], vec![1.0, f32::NAN]);
            tensors.put_f64("m", &[1], vec![0.5]);
            tensors
        };
        assert_eq!(full().take_f64("m", &[1]), Ok(vec![0.5]));
        assert_eq!(full().take_f64("x", &[1]), Err(TensorError::Missing("x".into())));
        assert!(matches!(full().take_f64("m", &[2]), Err(TensorError::WrongShape { .. })));
        assert!(matches!(full().take_f32("m", &[1]), Err(TensorError::WrongType { .. })));
        assert!(matches!(full().take_f32("w", &[2, 1]), Err(TensorError::NotFinite { index: 1, .. })));
    }

    #[test]
    fn a_prefix_puts_a_part_aside_and_takes_it_back() {
        let mut part = Tensors::default();
        part.put_u32("tree", &[1], vec![3]);
        let mut all = Tensors::default();
        all.put_all("member.0.", part.clone());
        assert_eq!(all.take_all("member.0."), part);
        assert!(all.0.is_empty());
    }
}
