//! The pages of a column, each checked before it is decompressed and again before it is decoded.

use std::{fs::File, io::BufReader, sync::Arc};

use parquet::{
    basic::Encoding,
    column::page::{Page, PageIterator, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    file::{metadata::ParquetMetaData, reader::ChunkReader, serialized_reader::SerializedPageReader},
    schema::types::ColumnDescPtr,
};

use super::{
    super::limits::{MOST_DECODED_BYTES, mebibytes},
    CheckedFile, deltas,
    header::PageSizes,
};

/// The pages of one column, row group by row group.
pub(super) struct Chunks {
    file: Arc<CheckedFile>,
    metadata: Arc<ParquetMetaData>,
    column: usize,
    group: usize,
}

impl Chunks {
    pub(super) fn new(file: Arc<CheckedFile>, metadata: Arc<ParquetMetaData>, column: usize) -> Self {
        Self { file, metadata, column, group: 0 }
    }

    fn pages(&self, group: usize) -> Result<CheckedPages> {
        let rows = self.metadata.row_group(group);
        let column = rows.columns().get(self.column).ok_or_else(|| {
            ParquetError::General(format!("row group {} lacks column {}", group + 1, self.column + 1))
        })?;
        let n_rows = usize::try_from(rows.num_rows())
            .map_err(|_| ParquetError::General(format!("row group {} has a negative length", group + 1)))?;
        let (offset, length) = column.byte_range();
        Ok(CheckedPages {
            pages: SerializedPageReader::new(Arc::clone(&self.file), column, n_rows, None)?,
            file: Arc::clone(&self.file),
            offset,
            end: offset.saturating_add(length),
            checked: false,
            column: column.column_descr_ptr(),
        })
    }
}

impl Iterator for Chunks {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.group;
        self.group += 1;
        (group < self.metadata.num_row_groups())
            .then(|| self.pages(group).map(|pages| Box::new(pages) as Box<dyn PageReader>))
    }
}

impl PageIterator for Chunks {}

struct CheckedPages {
    pages: SerializedPageReader<CheckedFile>,
    file: Arc<CheckedFile>,
    /// Where the header of the next page is.
    offset: u64,
    end: u64,
    /// Whether the header of the next page was checked.
    checked: bool,
    column: ColumnDescPtr,
}

impl CheckedPages {
    /// Checks how large the next page says it is, before memory is allocated for it.
    fn check_next_sizes(&mut self) -> Result<()> {
        while !self.checked && self.offset < self.end {
            let mut input: BufReader<File> = self.file.get_read(self.offset)?;
            // A header that cannot be read is reported by the reader itself.
            let Ok(sizes) = PageSizes::read(&mut input) else { break };
            if usize::try_from(sizes.uncompressed).is_ok_and(|size| size > MOST_DECODED_BYTES) {
                return Err(self.wrong(&format!(
                    "a page says it holds {} bytes, more than the limit of {}",
                    sizes.uncompressed,
                    mebibytes(MOST_DECODED_BYTES)
                )));
            }
            let compressed = u64::try_from(sizes.compressed).unwrap_or(0);
            self.offset = self.offset.saturating_add(sizes.header).saturating_add(compressed);
            self.checked = !sizes.is_index;
        }
        Ok(())
    }

    /// Checks the claims within a page, before it is decoded.
    fn check(&self, page: &Page) -> Result<()> {
        let (encoding, n_values) = (page.encoding(), u64::from(page.num_values()));
        if !matches!(encoding, Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) {
            return Ok(());
        }
        let values = page.buffer().get(self.values_begin(page)?..);
        let values = values.ok_or_else(|| self.wrong("a page ends before its values"))?;
        let checked = if encoding == Encoding::DELTA_BYTE_ARRAY {
            deltas::check_texts(values, n_values, MOST_DECODED_BYTES as u64)
        } else {
            deltas::check_lengths(values, n_values)
        };
        // A page of nulls alone has no values, and so no run of lengths.
        checked.or_else(|claim| if values.is_empty() { Ok(()) } else { Err(self.wrong(&claim)) })
    }

    /// Where the values begin: after the levels that say which of them are null or nested.
    fn values_begin(&self, page: &Page) -> Result<usize> {
        match page {
            Page::DataPage { buf, num_values, rep_level_encoding, def_level_encoding, .. } => {
                let levels = [
                    (self.column.max_rep_level(), rep_level_encoding),
                    (self.column.max_def_level(), def_level_encoding),
                ];
                let mut begin = 0usize;
                for (highest, encoding) in levels.into_iter().filter(|(highest, _)| *highest > 0) {
                    begin += if *encoding == Encoding::RLE {
                        let length = buf.get(begin..).and_then(|rest| rest.first_chunk::<4>());
                        let length = length.ok_or_else(|| self.wrong("a page ends before its values"))?;
                        4 + u32::from_le_bytes(*length) as usize
                    } else {
                        let bits = 16 - highest.leading_zeros() as usize;
                        (*num_values as usize * bits).div_ceil(8)
                    };
                }
                Ok(begin)
            }
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                Ok(*def_levels_byte_len as usize + *rep_levels_byte_len as usize)
            }
            Page::DictionaryPage { .. } => Ok(0),
        }
    }

    fn wrong(&self, what: &str) -> ParquetError {
        ParquetError::General(format!("column `{}`: {what}", self.column.path().string()))
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.check_next_sizes()?;
        self.checked = false;
        let page = self.pages.get_next_page()?;
        page.as_ref().map_or(Ok(()), |page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.check_next_sizes()?;
        self.checked = false;
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
