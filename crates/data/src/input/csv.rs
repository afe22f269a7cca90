//! CSV and TSV: the first record names the keys, every other record is a row of texts.

use std::io::{self, BufRead as _};

use csv_core::{ReadRecordResult, ReaderBuilder};
use serde_json::Value;

use super::bytes::{Bytes, ending};
use super::{Next, RowReader, too_long};
use crate::DatasetError;
use crate::messages::{Messages, listed};

pub(super) struct Csv {
    bytes: Bytes,
    parser: csv_core::Reader,
    delimiter: u8,
    /// `"key":` of each column, as JSON.
    keys: Vec<String>,
    record: Record,
    /// The line where the record begins.
    place: usize,
}

/// The fields of a record, one after the other.
struct Record {
    /// The record as it is written, for whoever has to mend it.
    raw: Vec<u8>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
    /// The line of the quote that is still open at the end of the source, where the parser ends the field without an error, and the lines since.
    unclosed: Option<(usize, usize)>,
    quotes: Quotes,
    /// Whether text follows a quote that closes a field, which the parser adds to it.
    has_text_after: bool,
}

const TEXT_AFTER: &str =
    "text follows the quote that closes a field: a quote within a field is written twice";

/// What the byte before is to its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// There is none.
    Before,
    Without,
    Within,
    /// It is a quote that closes the field, unless another follows.
    Closed,
    After,
}

impl Record {
    /// Follows the quotes of what the parser takes.
    fn follow(&mut self, bytes: &[u8], delimiter: u8) {
        for &byte in bytes {
            self.quotes = match (self.quotes, byte) {
                (Quotes::Within, b'"') => Quotes::Closed,
                (Quotes::Within, _) | (Quotes::Before | Quotes::Closed, b'"') => Quotes::Within,
                (_, b'\r' | b'\n') => Quotes::Before,
                (_, byte) if byte == delimiter => Quotes::Before,
                (Quotes::Closed | Quotes::After, b' ' | b'\t') => Quotes::After,
                (before, _) => {
                    self.has_text_after |= matches!(before, Quotes::Closed | Quotes::After);
                    Quotes::Without
                }
            };
        }
    }

    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.ends[..self.count].iter();
        ends.scan(0, |begin, &end| {
            Some(&self.bytes[std::mem::replace(begin, end)..end])
        })
    }
}

/// The delimiter of a table with this first line: a tab if the file's name says so, else whichever of comma, tab, semicolon and bar occurs most often.
pub(super) fn delimiter(file: &str, header: &[u8]) -> u8 {
    if ending(file, "tsv") {
        return b'\t';
    }
    let count = |delimiter: u8| header.split(|&byte| byte == delimiter).count();
    // `max_by_key` returns the last of equals, so the comma wins.
    let all = [b'|', b';', b'\t', b','].into_iter();
    all.max_by_key(|&it| count(it)).unwrap_or(b',')
}

/// The names in a table's first line; a delimiter within quotes parts them too.
pub(super) fn names(header: &[u8], delimiter: u8) -> Vec<String> {
    let header = String::from_utf8_lossy(header);
    let name = |name: &str| name.trim_matches([' ', '\r', '"']).to_owned();
    header.split(char::from(delimiter)).map(name).collect()
}

/// The JSON of a cell that shows no value, or a list or an object with texts, as Python or JSON do, with the mark of such cells.
fn marked(cell: &str) -> Option<String> {
    let within = cell.trim_start_matches(['[', '{', '(']).trim_start();
    let is_list = cell.starts_with(['[', '{', '(']) && within.starts_with('\'')
        // In Python a text with an apostrophe has other quotes.
        || cell.starts_with("[\"") && (cell.ends_with("']") || cell.ends_with("\"]"));
    let is_marked = is_list || ["nan", "NaN", "None"].contains(&cell);
    let (first, rest) = cell.split_at_checked(1).filter(|_| is_marked)?;
    let rest = Value::from(rest).to_string();
    Some(format!("\"\\u{:04x}{}", first.as_bytes()[0], &rest[1..]))
}

impl Csv {
    pub(super) fn new(bytes: Bytes, delimiter: u8) -> Result<Self, DatasetError> {
        let mut csv = Self {
            bytes,
            parser: ReaderBuilder::new().delimiter(delimiter).build(),
            delimiter,
            keys: Vec::new(),
            record: Record {
                raw: Vec::new(),
                bytes: vec![0; 1 << 10],
                ends: vec![0; 16],
                count: 0,
                unclosed: None,
                quotes: Quotes::Before,
                has_text_after: false,
            },
            place: 0,
        };
        if csv.read()? {
            if csv.record.has_text_after {
                let source = io::Error::new(io::ErrorKind::InvalidData, TEXT_AFTER);
                let file = csv.bytes.file;
                return Err(DatasetError::Read { file, source });
            }
            // The parser removes a byte order mark.
            let key = |name| {
                let name = String::from_utf8_lossy(name);
                format!("{}:", Value::from(name.trim()))
            };
            csv.keys = csv.record.fields().map(key).collect();
        }
        Ok(csv)
    }

    /// Reads a record; `false` at the end. An unclosed quote does not take a whole file into memory.
    fn read(&mut self) -> Result<bool, DatasetError> {
        let most = self.bytes.limit.bytes() as u64 + self.bytes.limit.passed_over();
        let (mut read, mut passed_over, mut length) = (0, 0, 0);
        let record = &mut self.record;
        (record.count, record.unclosed) = (0, None);
        (record.quotes, record.has_text_after) = (Quotes::Before, false);
        record.raw.clear();
        self.place = self.parser.line() as usize;
        loop {
            let input = match self.bytes.reader.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(self.bytes.broken_off(self.place, source)),
            };
            let at_end = input.is_empty();
            if read == 0 {
                let is_end_of_line = |byte: &&u8| matches!(byte, b'\r' | b'\n');
                let blank = input.iter().take_while(is_end_of_line).count();
                if blank > 0 {
                    // The rest of the end of the line before, and blank lines.
                    let blank_lines = &input[..blank];
                    self.parser
                        .read_record(blank_lines, &mut record.bytes, &mut record.ends);
                    self.bytes.reader.consume(blank);
                    self.place = self.parser.line() as usize;
                    passed_over += blank as u64;
                    if passed_over > most {
                        return Err(self.bytes.endless(self.place, passed_over));
                    }
                    continue;
                }
                if at_end {
                    return Ok(false);
                }
            }
            // At the end of the source an end of a line ends the record, unless it is within quotes: then it is a part of the field.
            let input = match record.unclosed {
                Some(_) => &[],
                None if at_end => &b"\n"[..],
                None => input,
            };
            let line = self.parser.line() as usize;
            let (result, taken, written, ends) = self.parser.read_record(
                input,
                &mut record.bytes[length..],
                &mut record.ends[record.count..],
            );
            length += written;
            record.count += ends;
            if !at_end {
                record.raw.extend_from_slice(&input[..taken]);
                record.follow(&input[..taken], self.delimiter);
                self.bytes.reader.consume(taken);
                read += taken as u64;
            }
            match result {
                ReadRecordResult::OutputFull => record.bytes.resize(2 * record.bytes.len(), 0),
                ReadRecordResult::OutputEndsFull => record.ends.resize(2 * record.ends.len(), 0),
                ReadRecordResult::InputEmpty if at_end => record.unclosed = Some((line, 1)),
                ReadRecordResult::InputEmpty if read > most => {
                    return Err(self.bytes.endless(self.place, read));
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(false),
            }
        }
        if let Some((line, _)) = record.unclosed {
            // The field holds the lines since its quote, and the one more.
            record.ends[record.count - 1] -= 1;
            let last = record.fields().last().unwrap_or_default();
            let lines = last.split(|byte| *byte == b'\n').count();
            record.unclosed = Some((line + 1 - lines, lines));
        }
        Ok(true)
    }
}

impl RowReader for Csv {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        if !self.read()? {
            return Ok(Next::End);
        }
        let record = &self.record;
        let bad = |row: &mut Vec<u8>, why: String| {
            row.clear();
            let end = record.raw.iter().rposition(|it| !b"\r\n".contains(it));
            row.extend_from_slice(&record.raw[..end.map_or(0, |end| end + 1)]);
            Ok(Next::Bad(why))
        };
        if let Some((opens, lines)) = record.unclosed {
            let why = format!(
                "the field is within quotes to the end of the file (lines in it: {lines}): the quote that opens on line {opens} has no partner"
            );
            return bad(row, why);
        }
        if record.has_text_after {
            return bad(row, TEXT_AFTER.to_owned());
        }
        let (count, named) = (record.count, self.keys.len());
        if count != named {
            let why = format!(
                "{count} fields, and the header has {named}: a comma or a line break within a field needs quotes around the field"
            );
            return bad(row, why);
        }
        row.push(b'{');
        for (key, value) in self.keys.iter().zip(record.fields()) {
            let Ok(value) = std::str::from_utf8(value) else {
                let key = key.trim_end_matches(':');
                let why = format!("{key} is not UTF-8: convert the file to UTF-8");
                return bad(row, why);
            };
            if row.len() > 1 {
                row.push(b',');
            }
            row.extend_from_slice(key.as_bytes());
            // A table has no lists; its cells hold them as JSON.
            let messages = Messages::in_text(value).and_then(|_| listed(value));
            let value = match messages.and_then(|json| serde_json::from_str(&json).ok()) {
                None => marked(value).unwrap_or_else(|| Value::from(value).to_string()),
                Some(messages) => Value::to_string(&messages),
            };
            row.extend_from_slice(value.as_bytes());
        }
        row.push(b'}');
        if row.len() > self.bytes.limit.bytes() {
            return Ok(Next::Bad(too_long(row, self.bytes.limit)));
        }
        Ok(Next::Row)
    }

    fn place(&self) -> usize {
        self.place
    }

    fn is_table(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::json_text::is_marked;
    use std::io::{BufReader, Cursor, Read as _};

    use proptest::prelude::*;

    use super::super::line::LineLimit;
    use super::*;

    /// The records of a text, each with the byte after the record before it.
    fn of_crate(text: &str) -> Vec<(usize, Vec<Vec<u8>>)> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let record = |record: csv::ByteRecord| {
            let from = record.position().unwrap().byte() as usize;
            (from, record.iter().map(<[u8]>::to_vec).collect())
        };
        let records = reader.byte_records();
        records.map(|read| record(read.unwrap())).collect()
    }

    proptest! {
        #[test]
        fn records_are_those_of_the_crate_and_an_open_quote_is_noticed(
            text in "[ab,,\"\"\r\n\n]{0,48}", at_once in 1_usize..9
        ) {
            let mut bytes = Bytes::new("rows.csv".into(), io::empty(), LineLimit::DEFAULT, false).unwrap();
            bytes.reader = Box::new(BufReader::with_capacity(at_once, Cursor::new(text.clone())));
            let Ok(mut csv) = Csv::new(bytes, b',') else {
                // A header with text behind a quote that closes a field.
                let quoted = text.split("\"a").count() + text.split("\"b").count() > 2;
                prop_assert!(quoted, "{:?}", text);
                return Ok(());
            };
            // Its memory grows with the record.
            csv.record.bytes.truncate(1);
            csv.record.ends.truncate(1);
            let all = of_crate(&text);
            let is_closed = of_crate(&format!("{text}\nz")).len() > all.len();
            prop_assert_eq!(csv.keys.len(), all.first().map_or(0, |(_, fields)| fields.len()));
            for (at, (from, fields)) in all.iter().enumerate().skip(1) {
                prop_assert!(csv.read().unwrap());
                let found: Vec<&[u8]> = csv.record.fields().collect();
                prop_assert_eq!(&found, fields);
                let begins = text[*from..].find(|c| !matches!(c, '\r' | '\n')).unwrap();
                prop_assert_eq!(csv.place, 1 + text[..from + begins].matches('\n').count());
                let is_last = at + 1 == all.len();
                prop_assert_eq!(csv.record.unclosed.is_some(), is_last && !is_closed);
                if let Some((line, _)) = csv.record.unclosed {
                    let quote = text.match_indices('"').map(|(at, _)| 1 + text[..at].matches('\n').count());
                    prop_assert!(quote.into_iter().any(|of_quote| of_quote == line));
                }
            }
            prop_assert!(!csv.read().unwrap());
        }
    }

    #[test]
    fn blank_lines_without_an_end_are_an_error() {
        let endless = (&b"a,b\n"[..]).chain(io::repeat(b'\n'));
        let bytes = Bytes::new("rows.csv".into(), endless, LineLimit(100), false).unwrap();
        let mut csv = Csv::new(bytes, b',').unwrap();
        let error = csv.next(&mut Vec::new()).unwrap_err();
        assert!(
            matches!(error, DatasetError::Endless { read: 501.., .. }),
            "{error}"
        );
    }

    #[test]
    fn a_record_far_beyond_the_limit_is_one_bad_row_whatever_memory_the_last_one_took() {
        let long = "x".repeat(3000);
        let text = format!("a,b\n1,2\n3,{long}\n{}4,5\n", "\n".repeat(300));
        let bytes =
            Bytes::new("rows.csv".into(), Cursor::new(text), LineLimit(100), false).unwrap();
        let mut csv = Csv::new(bytes, b',').unwrap();
        let mut row = Vec::new();
        let rows: Vec<_> = (0..4).map(|_| csv.next(&mut row).unwrap()).collect();
        assert!(
            matches!(rows[..], [Next::Row, Next::Bad(_), Next::Row, Next::End]),
            "{rows:?}"
        );
    }

    #[test]
    fn cells_that_are_no_text_are_marked_and_come_back_as_they_were() {
        for cell in [
            "nan",
            "None",
            "[{'role': 'user', 'content': 'q'}]",
            "[{'content': 'q', 'role': 'user'}\n {'content': 'r'}]",
            "{'ground_truth': '4', 'style': 'rule'}",
            "['a' 'b']",
            "[\"it's\", 'b']",
            "('a', 'b')",
            "[\"it's\", \"b\"]",
        ] {
            let json = marked(cell).unwrap();
            assert!(is_marked(&json), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), cell);
        }
        for cell in [
            "None of them",
            "nano",
            "[1, 2]",
            "[0, 1)",
            "{1, 2}",
            "'tis",
            "f' = 2",
            "[x]",
            "[]",
            "",
        ] {
            assert_eq!(marked(cell), None, "{cell}");
        }
    }

    #[test]
    fn text_after_a_quote_that_closes_a_field_is_a_bad_row() {
        let rows = |text: &str, at_once: usize| {
            let mut bytes =
                Bytes::new("rows.csv".into(), io::empty(), LineLimit::DEFAULT, false).unwrap();
            let text = Cursor::new(format!("a,b\n{text}"));
            bytes.reader = Box::new(BufReader::with_capacity(at_once, text));
            let mut csv = Csv::new(bytes, b',').unwrap();
            let mut row = Vec::new();
            let mut read = || match csv.next(&mut row).unwrap() {
                Next::Row => Some(String::from_utf8(row.clone()).unwrap()),
                Next::Bad(why) => {
                    let why = why.split(':').next().unwrap();
                    Some(format!("{why}|{}", String::from_utf8_lossy(&row)))
                }
                Next::End => None,
            };
            std::iter::from_fn(&mut read).collect::<Vec<_>>()
        };
        // With the line as it is written.
        let bad = |line: &str| {
            let line = line.trim_end();
            format!("text follows the quote that closes a field|{line}")
        };
        let good = |a: &str| format!("{{\"a\":{},\"b\":\"1\"}}", Value::from(a));
        for at_once in [1, 3, 100] {
            for text in [
                "\"x\"y,1\n",
                "\"say \"x\"\",1\n",
                "\"x\" y,1\n",
                "\"x\"  \"y\",1\r\n",
                "1,\"x\\\"y\n",
            ] {
                assert_eq!(rows(text, at_once), [bad(text)], "{text}");
            }
            let text = "\"x\"y,1\n\"x\"\"y\",1\n\"x\" ,1\nx\"y\",1\n\"x\ny\",\"1\"\r\n";
            let expected = [
                bad("\"x\"y,1"),
                good("x\"y"),
                good("x "),
                good("x\"y\""),
                good("x\ny"),
            ];
            assert_eq!(rows(text, at_once), expected);
        }
        let mut bytes = Bytes::new("t.csv".into(), io::empty(), LineLimit::DEFAULT, false).unwrap();
        bytes.reader = Box::new(Cursor::new("\"a\"x,b\n1,2\n"));
        let refused = Csv::new(bytes, b',').err().unwrap().to_string();
        assert!(
            refused.starts_with("could not read t.csv: text follows"),
            "{refused}"
        );
    }

    #[test]
    fn an_open_quote_is_named_by_its_line() {
        let text = "a,b\r\n1,2\n\n\"x\ny\",\"z\r\nz\n";
        let bytes = Bytes::new(
            "rows.csv".into(),
            text.as_bytes(),
            LineLimit::DEFAULT,
            false,
        );
        let mut csv = Csv::new(bytes.unwrap(), b',').unwrap();
        assert!(csv.read().unwrap() && csv.place == 2);
        assert!(csv.read().unwrap() && csv.place == 4);
        let found: Vec<&[u8]> = csv.record.fields().collect();
        assert_eq!(found, [&b"x\ny"[..], b"z\r\nz\n"]);
        assert_eq!(csv.record.unclosed, Some((5, 3)));
        assert!(!csv.read().unwrap());
    }
}
