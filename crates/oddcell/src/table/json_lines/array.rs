//! The elements of a JSON array, one after another, in memory for one element.

use std::io::{self, BufRead};

use super::LONGEST_ROW;
use crate::table::LineProblem;

/// Where we are in an array.
#[derive(Debug)]
pub(super) struct Array {
    /// The line on which the element starts that was read last, counted from 1.
    pub(super) line: u64,
    /// The line of the next byte.
    next_line: u64,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    /// After the opening bracket.
    Opened,
    AfterElement,
    AfterComma,
    Closed,
}

impl Default for Array {
    fn default() -> Self {
        Self { line: 1, next_line: 1, place: Place::Before }
    }
}

impl Array {
    /// Appends the text of the next element to `text`; returns false after the last one. Only brackets, quotes and commas are
    /// looked at: whether an element is JSON is for others to say.
    pub(super) fn next(
        &mut self,
        reader: &mut impl BufRead,
        text: &mut Vec<u8>,
    ) -> io::Result<Result<bool, LineProblem>> {
        // 1. Up to the element.
        loop {
            let Some(&byte) = reader.fill_buf()?.first() else {
                self.line = self.next_line;
                return Ok(if self.place == Place::Closed { Ok(false) } else { Err(unclosed()) });
            };
            self.place = match (byte, self.place) {
                (b'\n', place) => {
                    self.next_line += 1;
                    place
                }
                (b' ' | b'\t' | b'\r', place) => place,
                (b'[', Place::Before) => Place::Opened,
                (b',', Place::AfterElement) => Place::AfterComma,
                (b']', Place::Opened | Place::AfterElement) => Place::Closed,
                (b',' | b']', _) | (_, Place::Before | Place::AfterElement | Place::Closed) => {
                    self.line = self.next_line;
                    let message = format!("unexpected `{}`", char::from(byte).escape_default());
                    return Ok(Err(LineProblem::JsonSyntax { character: 1, message }));
                }
                (_, Place::Opened | Place::AfterComma) => break,
            };
            reader.consume(1);
        }
        // 2. The element: up to the bracket that closes it, or to the comma or bracket after it.
        self.line = self.next_line;
        let (mut depth, mut in_string, mut escaped, mut done) = (0_u32, false, false, false);
        while !done {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(Err(unclosed()));
            }
            let mut used = 0;
            for &byte in buffer {
                self.next_line += u64::from(byte == b'\n');
                if in_string {
                    in_string = escaped || byte != b'"';
                    escaped = !escaped && byte == b'\\';
                } else {
                    match byte {
                        b'"' => in_string = true,
                        b'{' | b'[' => depth += 1,
                        b',' | b'}' | b']' if depth == 0 => {
                            done = true;
                            break;
                        }
                        b'}' | b']' => {
                            depth -= 1;
                            done = depth == 0;
                        }
                        _ => {}
                    }
                }
                used += 1;
                if done {
                    break;
                }
            }
            text.extend_from_slice(&buffer[..used]);
            reader.consume(used);
            if text.len() > LONGEST_ROW {
                return Ok(Err(LineProblem::TooLong(LONGEST_ROW)));
            }
        }
        self.place = Place::AfterElement;
        Ok(Ok(true))
    }
}

fn unclosed() -> LineProblem {
    LineProblem::JsonSyntax { character: 1, message: "the array is not closed".to_owned() }
}
