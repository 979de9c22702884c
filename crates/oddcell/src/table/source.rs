//! Opens inputs (files, standard input, bytes), decompresses them and reads their first bytes.

use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::PathBuf,
};

#[cfg(any(feature = "numpy", feature = "parquet"))]
use std::io::Seek;

use super::{Source, TableError};

/// The number of bytes used to recognize the format and the delimiter.
const START: usize = 64 << 10;

/// An open, decompressed input whose first bytes are known.
pub(super) struct Input {
    /// For messages: the path, or "standard input".
    pub(super) origin: String,
    pub(super) path: Option<PathBuf>,
    /// The first bytes, at most [`START`] of them.
    pub(super) start: Vec<u8>,
    body: Body,
}

enum Body {
    /// An uncompressed regular file, which can be read at any position.
    File(File),
    /// The bytes after the start.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    pub(super) fn open(source: &Source) -> Result<Self, TableError> {
        let path = match source {
            Source::Stdin => return Self::from_reader("standard input", Box::new(io::stdin())),
            Source::Path(path) => path,
        };
        let origin = path.display().to_string();
        let failed = |source| TableError::Io { action: "open", origin: origin.clone(), source };
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // Pipes and devices also have a path, but cannot be read twice.
        let path = Some(path.clone());
        if !metadata.is_file() {
            return Ok(Self { path, ..Self::from_reader(&origin, Box::new(file))? });
        }
        let start = read_start(&mut file, &origin)?;
        Self { origin, path, start, body: Body::File(file) }.decompressed()
    }

    pub(super) fn from_reader(origin: &str, mut reader: Box<dyn Read + Send>) -> Result<Self, TableError> {
        let start = read_start(&mut reader, origin)?;
        Self { origin: origin.to_owned(), path: None, start, body: Body::Stream(reader) }.decompressed()
    }

    /// Whether the first bytes are the whole input.
    pub(super) fn start_is_all(&self) -> bool {
        self.start.len() < START
    }

    /// Decompresses gzip and zstd, whatever the file's name is.
    fn decompressed(self) -> Result<Self, TableError> {
        let Some(compression) = Compression::of(&self.start) else { return Ok(self) };
        let (origin, path) = (self.origin.clone(), self.path.clone());
        let mut plain = compression.decoder(self.into_read(), &origin)?;
        let start = read_start(&mut plain, &origin)?;
        Ok(Self { origin, path, start, body: Body::Stream(plain) })
    }

    /// All bytes, from the beginning.
    pub(super) fn into_read(self) -> Box<dyn Read + Send> {
        match self.body {
            Body::File(file) => Box::new(Cursor::new(self.start).chain(file)),
            Body::Stream(rest) => Box::new(Cursor::new(self.start).chain(rest)),
        }
    }

    /// All bytes of a text without UTF-8 byte-order marks; programs that add one to a text that has one make two.
    /// Refuses UTF-16.
    pub(super) fn into_text(mut self) -> Result<Box<dyn Read + Send>, TableError> {
        if looks_like_utf16(&self.start) {
            return Err(TableError::Utf16 { origin: self.origin });
        }
        let marks = self.start.len() - without_marks(&self.start).len();
        self.start.drain(..marks);
        Ok(self.into_read())
    }

    /// A file that can be read at any position. Streams are copied to a temporary file, which the system
    /// removes.
    #[cfg(any(feature = "numpy", feature = "parquet"))]
    pub(super) fn into_file(self) -> Result<File, TableError> {
        let origin = self.origin.clone();
        let failed = |source| TableError::Io { action: "spool", origin, source };
        if let Body::File(mut file) = self.body {
            return file.rewind().map(|()| file).map_err(failed);
        }
        spooled(&mut self.into_read()).map_err(failed)
    }
}

/// A text without the UTF-8 byte-order marks at its beginning.
pub(super) fn without_marks(mut start: &[u8]) -> &[u8] {
    while let Some(rest) = start.strip_prefix(b"\xEF\xBB\xBF") {
        start = rest;
    }
    start
}

/// Whether a text begins with the mark of UTF-16 or, without a mark, as Latin letters do in UTF-16: every other byte is
/// zero, also beside the first line end. Zeros alone say little: a UTF-8 text may hold them, and those that we write hold
/// them in quotes.
fn looks_like_utf16(start: &[u8]) -> bool {
    let zeros = start.first_chunk::<4>().map(|first| first.map(|byte| byte == 0));
    let little = zeros == Some([false, true, false, true]);
    let big = zeros == Some([true, false, true, false]);
    let line_end = start.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
    let zero_at =
        |place: Option<usize>| place.and_then(|place| start.get(place)).is_none_or(|&byte| byte == 0);
    start.starts_with(b"\xFF\xFE")
        || start.starts_with(b"\xFE\xFF")
        || (little && line_end.is_none_or(|end| zero_at(end.checked_add(1))))
        || (big && line_end.is_none_or(|end| zero_at(end.checked_sub(1))))
}

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(start: &[u8]) -> Option<Self> {
        let magic: [(&[u8], Self); 2] = [(b"\x1F\x8B", Self::Gzip), (b"\x28\xB5\x2F\xFD", Self::Zstd)];
        magic.into_iter().find(|(bytes, _)| start.starts_with(bytes)).map(|(_, compression)| compression)
    }

    #[cfg(feature = "compression")]
    fn decoder(
        self,
        compressed: Box<dyn Read + Send>,
        origin: &str,
    ) -> Result<Box<dyn Read + Send>, TableError> {
        let failed = |source| TableError::Io { action: "decompress", origin: origin.to_owned(), source };
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(compressed)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(compressed).map_err(failed)?),
        })
    }

    #[cfg(not(feature = "compression"))]
    fn decoder(self, _: Box<dyn Read + Send>, origin: &str) -> Result<Box<dyn Read + Send>, TableError> {
        let what = match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        };
        Err(TableError::MissingFeature { origin: origin.to_owned(), what, feature: "compression" })
    }
}

/// Copies `reader` to a temporary file and returns the file, positioned at its start.
#[cfg(any(feature = "numpy", feature = "parquet"))]
pub(super) fn spooled(reader: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(reader, &mut file)?;
    file.rewind()?;
    Ok(file)
}

fn read_start(reader: &mut dyn Read, origin: &str) -> Result<Vec<u8>, TableError> {
    let mut start = Vec::new();
    match reader.take(START as u64).read_to_end(&mut start) {
        Ok(0) => Err(TableError::Empty { origin: origin.to_owned() }),
        Ok(_) => Ok(start),
        Err(error) => Err(TableError::reading(origin)(error)),
    }
}
