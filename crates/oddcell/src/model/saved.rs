//! Converts a model to a header and tensors, and back; [`crate::model_file`] describes their layout in the file.
//!
//! The header holds everything except the numbers of the detector: version, detector, parameters, seed, how rows were
//! split and columns encoded, the encoder. The tensors of member k are `member.k.calibration` (its sorted calibration
//! scores), `member.k.detector.…` (whatever its detector saves) and `member.k.cells.…` (what judges cells). A parameter missing from the file has its default, so that
//! later versions can add parameters; unknown parameters and fields are refused.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::{Member, Model, SplitOptions, Threshold, options::MAX_FOLDS};
use crate::{
    DetectorSpec, Seed,
    calibrate::Calibration,
    cells::{CellLearner, learner_spec},
    encode::{EncodeOptions, Encoder},
    model_file::{FORMAT_VERSION, ModelFileError, open, seal},
    tensors::{TensorError, Tensors},
};

/// The header, with its fields in file order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u64,
    #[serde(deserialize_with = "version_text")]
    library: String,
    detector: String,
    params: Map<String, Value>,
    seed: Seed,
    split: SplitOptions,
    encode: EncodeOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<Threshold>,
    members: Vec<MemberHeader>,
    encoder: Encoder,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberHeader {
    n_training_rows: usize,
    /// Whether the model judges cells.
    cells: bool,
}

/// A version is printed as it is, so only characters that occur in versions are allowed.
fn version_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(usual) {
        return Ok(text);
    }
    Err(de::Error::invalid_value(de::Unexpected::Str(&text), &"a version such as 0.1.0"))
}

pub(super) fn to_bytes(model: &Model, threshold: Option<Threshold>) -> Result<Vec<u8>, ModelFileError> {
    let member_header = |member: &Member| MemberHeader {
        n_training_rows: member.n_training_rows,
        cells: member.cells.is_some(),
    };
    let header = Header {
        format: FORMAT_VERSION,
        library: model.library.clone(),
        detector: model.spec.entry().name.to_owned(),
        params: model.spec.params().clone(),
        seed: model.seed,
        split: model.split,
        encode: model.encode.clone(),
        threshold,
        members: model.members.iter().map(member_header).collect(),
        encoder: model.encoder.clone(),
    };
    let mut tensors = Tensors::default();
    for (index, member) in model.members.iter().enumerate() {
        let scores = member.calibration.sorted();
        tensors.put_f64(&calibration_name(index), &[scores.len()], scores.to_vec());
        tensors.put_all(&detector_prefix(index), member.fitted.save());
        if let Some(cells) = &member.cells {
            let mut own = Tensors::default();
            cells.save(&mut own);
            tensors.put_all(&cells_prefix(index), own);
        }
    }
    seal(&serde_json::to_string(&header).map_err(ModelFileError::Header)?, &tensors)
}

pub(super) fn from_bytes(bytes: &[u8]) -> Result<Model, ModelFileError> {
    let (header, mut tensors) = open(bytes)?;
    let header: Header = serde_json::from_str(&header).map_err(ModelFileError::Header)?;
    let spec = DetectorSpec::from_params(&header.detector, header.params)?;
    // Building it once proves that the parameters are valid.
    spec.build()?;
    let n_members = header.members.len();
    if !(1..=MAX_FOLDS).contains(&n_members) {
        let expected = format!("1 to {MAX_FOLDS}");
        return Err(ModelFileError::Mismatch { what: "the number of members", got: n_members, expected });
    }
    let mut members = Vec::with_capacity(n_members);
    for (index, member) in header.members.iter().enumerate() {
        members.push(load_member(index, member, &spec, &header.encoder, &mut tensors)?);
    }
    refuse_leftovers(&tensors, "")?;
    let Header { library, seed, split, encode, threshold, encoder, .. } = header;
    split.validate()?;
    threshold.map_or(Ok(()), Threshold::check)?;
    let strict = encode.strict;
    Ok(Model { encoder, spec, seed, split, encode, library, threshold, members }.strict(strict))
}

fn load_member(
    index: usize,
    header: &MemberHeader,
    spec: &DetectorSpec,
    encoder: &Encoder,
    tensors: &mut Tensors,
) -> Result<Member, ModelFileError> {
    let n_training_rows = header.n_training_rows;
    if n_training_rows == 0 {
        let (what, expected) = ("a member's number of training rows", "at least 1".to_owned());
        return Err(ModelFileError::Mismatch { what, got: n_training_rows, expected });
    }
    let name = calibration_name(index);
    // One axis of any length; the length has been checked against the bytes in the file.
    let length = tensors.shape(&name)?.iter().product();
    let calibration = Calibration::from_sorted(&name, tensors.take_f64(&name, &[length])?)?;
    let prefix = detector_prefix(index);
    let mut part = tensors.take_all(&prefix);
    let fitted = spec.load(&mut part)?;
    refuse_leftovers(&part, &prefix)?;
    let (got, expected) = (fitted.n_features(), encoder.n_features());
    if got != expected {
        let (what, expected) = ("a member's number of features", expected.to_string());
        return Err(ModelFileError::Mismatch { what, got, expected });
    }
    let cells = if header.cells {
        let prefix = cells_prefix(index);
        let mut part = tensors.take_all(&prefix);
        let learner = learner_spec(spec, got)?;
        let cells = CellLearner::load(&mut part, learner.as_ref(), &encoder.layout())?;
        refuse_leftovers(&part, &prefix)?;
        Some(cells)
    } else {
        None
    };
    Ok(Member { fitted, calibration, n_training_rows, cells })
}

/// Refuses unknown tensors, like unknown fields.
fn refuse_leftovers(tensors: &Tensors, prefix: &str) -> Result<(), TensorError> {
    match tensors.0.keys().next() {
        None => Ok(()),
        Some(name) => Err(TensorError::Invalid {
            name: format!("{prefix}{name}"),
            reason: "no part of the model has this name".to_owned(),
        }),
    }
}

fn calibration_name(member: usize) -> String {
    format!("member.{member}.calibration")
}

fn cells_prefix(member: usize) -> String {
    format!("member.{member}.cells.")
}

fn detector_prefix(member: usize) -> String {
    format!("member.{member}.detector.")
}

#[cfg(test)]
mod tests;
