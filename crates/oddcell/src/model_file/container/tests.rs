//! Whole and broken containers. "Broken" files are made by hand, with a right checksum where the point is
//! what comes after it.

use proptest::prelude::*;

use super::*;
use crate::tensors::TensorError;

const HEADER: &str = r#"{"format":4,"name":"café \"x\""}"#;

fn small() -> Tensors {
    let mut tensors = Tensors::default();
    tensors.put_f32("a", &[2, 2], vec![1.0, -2.5, 0.0, 3.0]);
    tensors.put_f64("b", &[3], vec![0.1, 0.2, 1e300]);
    tensors.put_u32("c", &[1], vec![7]);
    tensors.put_f32("empty", &[0, 5], vec![]);
    tensors
}

/// A file with this index and these data, as the layout wants it but with any content.
fn file(index: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (index.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(index.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// A file with the given index entries after the metadata of a valid header.
fn file_with(entries: &str, data: &[u8]) -> Vec<u8> {
    let metadata = json(&Metadata { checksum: Some("00".into()), oddcell: Some(HEADER.into()) });
    file(&format!("{{\"__metadata__\":{metadata},{entries}}}"), data)
}

#[test]
fn what_was_sealed_is_opened_again_bit_for_bit() {
    let bytes = seal(HEADER, &small()).unwrap();
    assert_eq!(open(&bytes).unwrap(), (HEADER.to_owned(), small()));
    assert_eq!(seal(HEADER, &small()).unwrap(), bytes, "equal content, equal bytes");
    let nothing = seal(HEADER, &Tensors::default()).unwrap();
    assert_eq!(open(&nothing).unwrap().1, Tensors::default());
}

#[test] // The container is the safetensors format: its own reader agrees.
fn the_safetensors_reader_finds_the_same_tensors() {
    let bytes = seal(HEADER, &small()).unwrap();
    let theirs = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(theirs.len(), 4);
    let a = theirs.tensor("a").unwrap();
    assert_eq!((a.dtype(), a.shape()), (safetensors::Dtype::F32, &[2, 2][..]));
    assert_eq!(a.data()[4..8], (-2.5f32).to_le_bytes());
    assert_eq!(theirs.tensor("b").unwrap().data()[16..], 1e300f64.to_le_bytes());
    assert_eq!(theirs.tensor("b").unwrap().data().as_ptr() as usize % 8, bytes.as_ptr() as usize % 8);
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(metadata.metadata().as_ref().unwrap()["oddcell"], HEADER);
}

#[test]
fn cut_off_at_any_byte_it_is_refused() {
    let bytes = seal(HEADER, &small()).unwrap();
    for length in 0..bytes.len() {
        match open(&bytes[..length]) {
            Err(ModelFileError::Truncated { got, needed }) => assert!(got == length as u64 && needed > got),
            Err(ModelFileError::NotAModel { .. }) => assert!(length < 9, "{length}"),
            other => panic!("cut off at {length}: {other:?}"),
        }
    }
}

#[test]
fn with_any_single_bit_flipped_it_is_refused() {
    let mut bytes = seal(HEADER, &small()).unwrap();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&bytes).is_err(), "bit {} of byte {} is not noticed", bit % 8, bit / 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(open(&bytes).is_ok());
}

#[test]
fn a_flipped_bit_in_a_weight_is_told_by_the_checksum() {
    let mut bytes = seal(HEADER, &small()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let error = open(&bytes).unwrap_err();
    assert!(matches!(&error, ModelFileError::Checksum { found, expected } if found != expected), "{error}");
}

#[test]
fn bytes_that_go_on_after_the_end_are_refused() {
    let mut bytes = seal(HEADER, &small()).unwrap();
    bytes.extend([0; 5]);
    assert!(matches!(open(&bytes), Err(ModelFileError::Extra { extra: 5 })));
}

#[test]
fn an_index_that_claims_to_be_huge_is_refused_before_anything_is_allocated() {
    for claimed in [1u64 << 60, u64::MAX, MAX_INDEX_BYTES + 1] {
        let mut bytes = seal(HEADER, &small()).unwrap();
        bytes[..8].copy_from_slice(&claimed.to_le_bytes());
        let error = open(&bytes).unwrap_err();
        assert!(
            matches!(error, ModelFileError::TooLarge { part: "index", got, .. } if got == claimed),
            "{error}"
        );
    }
    let mut bytes = seal(HEADER, &small()).unwrap();
    bytes[..8].copy_from_slice(&MAX_INDEX_BYTES.to_le_bytes());
    assert!(matches!(open(&bytes), Err(ModelFileError::Truncated { .. })));
}

#[test]
fn tensors_that_claim_what_the_file_does_not_hold_are_refused() {
    let layout = |entries: &str| match open(&file_with(entries, &[0; 16])) {
        Err(ModelFileError::Layout { name, reason }) => format!("{name} {reason}"),
        Err(ModelFileError::Truncated { needed, .. }) => format!("needs {needed}"),
        other => panic!("{entries}: {other:?}"),
    };
    let two = |first: &str, second: &str| {
        let entry = |name: &str, offsets: &str| {
            format!(r#""{name}":{{"dtype":"F32","shape":[2],"data_offsets":[{offsets}]}}"#)
        };
        layout(&format!("{},{}", entry("a", first), entry("b", second)))
    };
    assert_eq!(two("0,8", "4,12"), "b starts at byte 4, but the one before it ends at byte 8");
    assert_eq!(two("0,8", "0,8"), "b starts at byte 0, but the one before it ends at byte 8");
    assert_eq!(two("0,8", "12,20"), "b starts at byte 12, but the one before it ends at byte 8");
    assert_eq!(two("0,8", "8,4"), "b spans bytes 8 to 4, which does not match [2] F32");
    assert_eq!(
        layout(r#""w":{"dtype":"F64","shape":[3],"data_offsets":[0,16]}"#),
        "w spans bytes 0 to 16, which does not match [3] F64"
    );
    // Sums and products of claimed sizes that would overflow, and an axis that only an empty tensor can
    // claim.
    let huge = "claims 18446744073709551615 values along one axis, more than the file has bytes";
    for shape in ["18446744073709551615", "18446744073709551615,2", "0,18446744073709551615"] {
        let entry = format!(r#""w":{{"dtype":"F32","shape":[{shape}],"data_offsets":[0,16]}}"#);
        assert_eq!(layout(&entry), format!("w {huge}"));
    }
    let product = format!(r#""w":{{"dtype":"F64","shape":[{}4],"data_offsets":[0,16]}}"#, "200,".repeat(40));
    assert!(layout(&product).starts_with("w spans bytes 0 to 16"));
    let behind = r#""w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"z":{"dtype":"U32","shape":[0],"data_offsets":[18446744073709551615,18446744073709551615]}"#;
    assert_eq!(
        layout(behind),
        "z starts at byte 18446744073709551615, but the one before it ends at byte 16"
    );
    assert_eq!(
        layout(r#""w":{"dtype":"F32","shape":[5],"data_offsets":[0,20]}"#).split(' ').next(),
        Some("needs")
    );
}

#[test]
fn an_index_with_a_name_twice_an_unknown_type_or_no_json_is_refused() {
    let entry = r#""a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#;
    let message = |bytes: Vec<u8>| match open(&bytes) {
        Err(error @ ModelFileError::Index(_)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(message(file_with(&format!("{entry},{entry}"), &[0; 8])).contains("`a` appears twice"));
    let unknown = entry.replace("F32", "BF16");
    assert!(message(file_with(&unknown, &[0; 8])).contains("unknown variant `BF16`"));
    assert!(
        message(file_with(&entry.replace("shape", "shapes"), &[0; 8])).contains("unknown field `shapes`")
    );
    assert!(message(file_with(&entry.replace("[2]", "[-2]"), &[0; 8])).contains("invalid value"));
    message(file("{\"a\":", &[]));
    message(file(&format!("{{{}", "[".repeat(100_000)), &[]));
}

#[test]
fn other_files_are_told_by_name() {
    let looks = |bytes: &[u8]| match open(bytes) {
        Err(ModelFileError::NotAModel { looks_like }) => looks_like,
        other => panic!("{other:?}"),
    };
    assert_eq!(looks(b"id,amount\n1,2.5\n"), "a text, such as a CSV table");
    assert_eq!(looks(b"PAR1\x15\x04\x15\x10\x15\x14"), "a Parquet table");
    assert_eq!(looks(b""), "an empty file");
    assert_eq!(looks(&file("{}", &[])), "a safetensors file that oddcell did not write");
}

#[test]
fn another_version_is_refused_before_its_other_fields_are_read() {
    let message = |format: u64| {
        let header = format!(r#"{{"format":{format},"brand_new":[]}}"#);
        open(&seal(&header, &Tensors::default()).unwrap()).unwrap_err().to_string()
    };
    assert_eq!(
        message(1),
        "the model file has format version 1, but this version of oddcell reads version 4; fit the model again"
    );
    assert_eq!(
        message(5),
        "the model file has format version 5, but this version of oddcell reads version 4; a newer oddcell wrote it"
    );
    for header in ["", "[]", "{}", r#"{"format":"1"}"#, r#"{"format":-1}"#] {
        let bytes = seal(header, &Tensors::default()).unwrap();
        assert!(matches!(open(&bytes), Err(ModelFileError::Header(_))), "{header}");
    }
}

#[test]
fn a_missing_checksum_is_a_wrong_one() {
    let bytes = file(&format!("{{\"__metadata__\":{{\"oddcell\":{}}}}}", json(HEADER)), &[]);
    assert!(matches!(open(&bytes), Err(ModelFileError::Checksum { found, .. }) if found == "missing"));
}

#[test]
fn not_a_number_passes_the_container_but_not_the_taking() {
    let mut tensors = Tensors::default();
    tensors.put_f32("w", &[1], vec![f32::NAN]);
    let (_, mut opened) = open(&seal(HEADER, &tensors).unwrap()).unwrap();
    assert!(matches!(opened.take_f32("w", &[1]), Err(TensorError::NotFinite { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test] // Law: any content comes back.
    fn any_header_and_tensors_come_back(
        text in any::<String>(),
        tensors in prop::collection::btree_map(any::<String>(), prop::collection::vec(any::<u32>(), 0..9), 0..6)
    ) {
        let header = json(&serde_json::json!({ "format": FORMAT_VERSION, "text": text }));
        let mut all = Tensors::default();
        for (name, values) in tensors {
            // The name of the metadata cannot be a tensor's; ours never are.
            prop_assume!(name != METADATA);
            all.put_u32(&format!("{name} u"), &[values.len()], values.clone());
            all.put_f64(&name, &[values.len(), 1], values.into_iter().map(f64::from).collect());
        }
        let bytes = seal(&header, &all).unwrap();
        prop_assert_eq!(open(&bytes).unwrap(), (header, all));
    }

    #[test] // Law: no bytes make it panic. A valid start lets them get past the first checks.
    fn any_bytes_are_refused_without_a_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300), valid in 0usize..300, brace in any::<bool>()
    ) {
        let whole = seal(HEADER, &small()).unwrap();
        let valid = valid.min(bytes.len()).min(whole.len() - 1);
        bytes[..valid].copy_from_slice(&whole[..valid]);
        if brace && bytes.len() > 8 {
            let length = bytes.len() as u64 - 8;
            bytes[..8].copy_from_slice(&length.to_le_bytes());
            bytes[8] = b'{';
        }
        prop_assert!(open(&bytes).is_err());
    }
}
