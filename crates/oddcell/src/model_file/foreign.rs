//! Recognizes files that are not models, for the error message.

/// The number of bytes used to recognize a file.
pub(super) const START_BYTES: u64 = 512;

/// The signatures of other formats.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"PAR1", "a Parquet table"),
    (b"ARROW1", "an Arrow table"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"PK\x03\x04", "a zip archive (.npz, .xlsx, a PyTorch model)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
];

/// What a file with these first bytes is, if it cannot be a model file.
///
/// A model file starts with a length below 2³², so its bytes 4 to 7 are zero and its byte 8 is `{`. No
/// signature and no text matches that, unless there are too few bytes to tell.
pub(super) fn looks_like(start: &[u8]) -> Option<&'static str> {
    if start.is_empty() {
        return Some("an empty file");
    }
    if start.len() > 8 && start[4..9] == [0, 0, 0, 0, b'{'] {
        return None;
    }
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature)) {
        return Some(what);
    }
    if is_text(start) {
        return Some(match start.trim_ascii_start().first() {
            Some(b'{' | b'[') => "JSON text",
            Some(b'<') => "an HTML or XML page",
            _ => "a text, such as a CSV table",
        });
    }
    // With the brace, it may be a model with a claimed length beyond 2³², which has an error of its own.
    (start.len() > 8 && start[8] != b'{').then_some("binary data of another kind")
}

/// Whether these bytes are text: UTF-8 without control characters other than white space. The last character
/// may be incomplete.
fn is_text(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    valid.chars().all(|character| !character.is_control() || character.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_files_are_recognized() {
        let cases: [(&[u8], &str); 8] = [
            (b"", "an empty file"),
            (b"PAR1\x15\x04\x15\x00\x00", "a Parquet table"),
            (b"a,b\n1,2\n", "a text, such as a CSV table"),
            ("naïve;café".as_bytes().split_last().unwrap().1, "a text, such as a CSV table"),
            (b"  {\"a\": 1}", "JSON text"),
            (b"<!DOCTYPE html>", "an HTML or XML page"),
            (b"\x1f\x8b\x08\x00", "a gzip file"),
            (b"\x00\x01\x02\x03\x04\x05\x06\x07\x08", "binary data of another kind"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(looks_like(bytes), Some(expected));
        }
    }

    #[test]
    fn the_start_of_a_model_file_is_not_mistaken_even_if_its_length_reads_like_a_signature() {
        // 0x8b1f bytes of index, or 0x31524150: the first bytes of gzip and of Parquet.
        assert_eq!(looks_like(b"\x1f\x8b\x00\x00\x00\x00\x00\x00{"), None);
        assert_eq!(looks_like(b"PAR1\x00\x00\x00\x00{"), None);
    }
}
