//! Positions of the cells of a record in the raw text, which the `csv` crate does not give: computed for records in messages,
//! by the rules of [`super::table`].

use std::ops::Range;

/// The cells of one record as written in the text, quotes included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawRecord {
    /// One span for every cell, without the blanks around it.
    pub(super) cells: Vec<Range<usize>>,
    /// From the first cell to the last, without the line end.
    pub(super) line: Range<usize>,
    /// A quote that was opened and never closed.
    pub(super) open_quote: Option<usize>,
}

/// Scans the first record at or after `from`.
pub(super) fn record(text: &str, from: usize, delimiter: u8) -> RawRecord {
    let bytes = text.as_bytes();
    let start = record_start(bytes, from.min(bytes.len()));
    let mut raw = RawRecord {
        cells: Vec::new(),
        line: start..start,
        open_quote: None,
    };
    let mut cell_start = start;
    loop {
        let (cell_end, is_closed) = cell_end(bytes, cell_start, delimiter);
        raw.cells.push(trimmed(text, cell_start..cell_end));
        raw.line.end = cell_end;
        if !is_closed {
            raw.open_quote = Some(cell_start);
        }
        if bytes.get(cell_end) != Some(&delimiter) {
            return raw;
        }
        cell_start = cell_end + 1;
    }
}

/// Skips line ends and comments, as the `csv` crate does before a record.
fn record_start(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b'\r' | b'\n') => at += 1,
            Some(b'#') => at += length_until(&bytes[at..], |byte| byte == b'\n'),
            _ => return at,
        }
    }
}

/// Where a cell ends, and whether its quotes, if any, were closed.
fn cell_end(bytes: &[u8], start: usize, delimiter: u8) -> (usize, bool) {
    let mut at = start;
    let mut is_closed = true;
    if bytes.get(at) == Some(&b'"') {
        // A doubled quote closes and opens again.
        while bytes.get(at) == Some(&b'"') {
            at += 1;
            at += length_until(&bytes[at..], |byte| byte == b'"');
            is_closed = at < bytes.len();
            at = (at + 1).min(bytes.len());
        }
    }
    let is_end = |byte| byte == delimiter || matches!(byte, b'\r' | b'\n');
    (at + length_until(&bytes[at..], is_end), is_closed)
}

fn length_until(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|byte| is_end(*byte))
        .unwrap_or(bytes.len())
}

fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let Some(cell) = text.get(span.clone()) else {
        return span;
    };
    let start = span.start + (cell.len() - cell.trim_start().len());
    start..start + cell.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str, from: usize) -> Vec<&str> {
        let spans = record(text, from, b',').cells.into_iter();
        spans.map(|span| &text[span]).collect()
    }

    #[test]
    fn cells_are_found_as_they_are_written() {
        assert_eq!(cells("a, b ,\r\nc", 0), ["a", "b", ""]);
        assert_eq!(cells("a,b\r\n# x,y\n\nc,d", 4), ["c", "d"]);
        assert_eq!(cells("\"a,\"\"b\n\",ö", 0), ["\"a,\"\"b\n\"", "ö"]);
        assert_eq!(cells("a\"b,c", 0), ["a\"b", "c"]);
        assert_eq!(cells("\"\",\"a\"b,", 0), ["\"\"", "\"a\"b", ""]);
        assert_eq!(cells("", 0), [""]);
        assert_eq!(cells("a", 99), [""]);
        let semicolons = record("a,b; c;", 0, b';').cells;
        assert_eq!(semicolons, [0..3, 5..6, 7..7]);
    }

    #[test]
    fn an_open_quote_is_noticed() {
        assert_eq!(record("a,\"b\nc,d\n", 0, b',').open_quote, Some(2));
        assert_eq!(record("a,\"b\"\"", 0, b',').open_quote, Some(2));
        assert_eq!(record("a,\"b\"", 0, b',').open_quote, None);
        assert_eq!(record("\"", 0, b',').open_quote, Some(0));
    }
}
