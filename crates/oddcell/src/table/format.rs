//! The formats, their names, and how to recognize them.

use std::{fmt::Display, path::Path, str::FromStr};

use super::source::without_marks;

/// A file format for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text fields between delimiters, one row per line.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file or stream.
    ArrowIpc,
    /// One `NumPy` array.
    Npy,
    /// Several `NumPy` arrays in a zip file.
    Npz,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Csv, Self::JsonLines, Self::Parquet, Self::ArrowIpc, Self::Npy, Self::Npz];

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Parquet => "parquet",
            Self::ArrowIpc => "arrow",
            Self::Npy => "npy",
            Self::Npz => "npz",
        }
    }

    /// The format that a file name's extension stands for. A `.gz` or `.zst` at the end (`.csv.gz`) is
    /// ignored.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "gz" | "gzip" | "zst" | "zstd" => Self::from_path(Path::new(path.file_stem()?)),
            "csv" | "tsv" | "tab" => Some(Self::Csv),
            "jsonl" | "ndjson" | "json" => Some(Self::JsonLines),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "ipc" | "feather" => Some(Self::ArrowIpc),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            _ => None,
        }
    }

    /// The format whose signature the first bytes are, if any.
    pub(super) fn from_magic(start: &[u8]) -> Option<Self> {
        // An Arrow stream starts with a continuation marker.
        let magic: [(&[u8], Self); 5] = [
            (b"PAR1", Self::Parquet),
            (b"ARROW1", Self::ArrowIpc),
            (b"\xFF\xFF\xFF\xFF", Self::ArrowIpc),
            (b"\x93NUMPY", Self::Npy),
            (b"PK\x03\x04", Self::Npz),
        ];
        magic.into_iter().find(|(bytes, _)| start.starts_with(bytes)).map(|(_, format)| format)
    }

    /// The format of an input: the requested one; else the one whose signature it starts with (a Parquet file
    /// named `.csv` is still a Parquet file); else the one its name stands for; else JSON lines if it starts
    /// with `{` or `[{`; else CSV. If the signature contradicts the request, `Err` holds the requested and the found
    /// format.
    pub(super) fn detect(
        asked: Option<Self>,
        path: Option<&Path>,
        start: &[u8],
    ) -> Result<Self, (Self, Self)> {
        let magic = Self::from_magic(start);
        if let Some(asked) = asked {
            return match magic {
                Some(found) if found != asked => Err((asked, found)),
                _ => Ok(asked),
            };
        }
        let by_content = || match without_marks(start).trim_ascii_start() {
            [b'{', ..] => Self::JsonLines,
            [b'[', inner @ ..] if inner.trim_ascii_start().starts_with(b"{") => Self::JsonLines,
            _ => Self::Csv,
        };
        Ok(magic.or_else(|| path.and_then(Self::from_path)).unwrap_or_else(by_content))
    }
}

impl Display for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

/// There is no format of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no format `{0}`; known: csv, jsonl, parquet, arrow, npy, npz")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_an_unknown_one_is_refused_with_the_list() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "xlsx".parse::<Format>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no format `xlsx`; known: csv, jsonl, parquet, arrow, npy, npz"
        );
    }

    #[test]
    fn extensions_are_recognized_in_any_case_and_below_compression() {
        let of = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(of("a/b.CSV.gz"), Some(Format::Csv));
        assert_eq!(of("x.ndjson.zst"), Some(Format::JsonLines));
        assert_eq!(of("x.feather"), Some(Format::ArrowIpc));
        assert_eq!(of("x.gz"), None);
        assert_eq!(of("README"), None);
    }

    #[test]
    fn a_signature_beats_the_name_and_the_name_beats_a_guess() {
        let detect = |name: &str, start: &[u8]| Format::detect(None, Some(Path::new(name)), start).unwrap();
        assert_eq!(detect("x.csv", b"PAR1...."), Format::Parquet);
        assert_eq!(detect("x.csv", b"{\"a\":1}"), Format::Csv);
        assert_eq!(detect("x", b"\xEF\xBB\xBF {\"a\":1}"), Format::JsonLines);
        assert_eq!(detect("x", b"[\n  {\"a\":1}]"), Format::JsonLines);
        assert_eq!(detect("x", b"[a],b\n"), Format::Csv);
        assert_eq!(detect("x", b"a,b\n"), Format::Csv);
        let clash = Format::detect(Some(Format::Csv), None, b"PAR1");
        assert_eq!(clash, Err((Format::Csv, Format::Parquet)));
    }
}
