//! Rows of `records.csv`: the shortest digits that reproduce a number (Ryū), quotes only where needed.

use std::sync::Arc;

use scavsim_experiment::columns::Value;
use scavsim_experiment::{COLUMNS, Record, RecordColumns};

/// Rows as bytes. Many figures equal those of the row before (the oracle's, zeros): their digits are reused.
pub struct CsvRows {
    columns: Arc<RecordColumns>,
    bytes: Vec<u8>,
    rows: u64,
    digits: Vec<Digits>,
    shortest: ryu::Buffer,
}

#[derive(Clone, Copy)]
struct Digits {
    bits: u64,
    length: u8,
    text: [u8; 24],
}

impl Digits {
    const ZERO: Digits = {
        let mut text = [0; 24];
        (text[0], text[1], text[2]) = (b'0', b'.', b'0');
        Digits {
            bits: 0,
            length: 3,
            text,
        }
    };
}

impl CsvRows {
    pub fn new(columns: &Arc<RecordColumns>) -> CsvRows {
        CsvRows::from_bytes(columns, Vec::new(), 0)
    }

    pub fn push_record(&mut self, record: &Record<'_>) {
        let columns = Arc::clone(&self.columns);
        record.each_cell(|at, value| {
            if !columns.has(at) {
                return;
            }
            // The case number is the first column, and is never left out.
            if at > 0 {
                self.bytes.push(b',');
            }
            match value {
                Value::Empty => {}
                Value::Count(count) => self.write_whole(count),
                Value::Whole(whole) => self.write_whole(u64::from(whole)),
                Value::Text(text) => self.text(text),
                Value::Figure(figure) => self.figure(at, figure),
            }
        });
        let axes = columns.axes().len();
        let values = record.axes.values().chain(std::iter::repeat(None));
        for (at, value) in values.take(axes).enumerate() {
            self.bytes.push(b',');
            if let Some(value) = value {
                self.figure(COLUMNS.len() + at, value);
            }
        }
        self.bytes.push(b'\n');
        self.rows += 1;
    }

    /// Whether the columns that are left out are all empty in a record.
    pub fn holds_all_of(&self, record: &Record<'_>) -> bool {
        let mut holds = true;
        record.each_cell(|at, value| holds &= self.columns.has(at) || value == Value::Empty);
        holds
    }

    pub fn from_bytes(columns: &Arc<RecordColumns>, bytes: Vec<u8>, rows: u64) -> CsvRows {
        CsvRows {
            columns: Arc::clone(columns),
            bytes,
            rows,
            digits: Vec::new(),
            shortest: ryu::Buffer::new(),
        }
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows = 0;
    }

    #[inline(never)]
    fn figure(&mut self, at: usize, figure: f64) {
        if self.digits.is_empty() {
            self.digits = vec![Digits::ZERO; COLUMNS.len() + self.columns.axes().len()];
        }
        let known = &mut self.digits[at];
        if known.bits != figure.to_bits() {
            let text = self.shortest.format(figure).as_bytes();
            known.bits = figure.to_bits();
            known.length = text.len() as u8;
            known.text[..text.len()].copy_from_slice(text);
        }
        // Copying a fixed number of bytes needs no call; the excess is removed.
        let end = self.bytes.len() + usize::from(known.length);
        self.bytes.extend_from_slice(&known.text);
        self.bytes.truncate(end);
    }

    #[inline(never)]
    fn write_whole(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut begin = digits.len();
        loop {
            begin -= 1;
            digits[begin] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[begin..]);
    }

    #[inline(never)]
    fn text(&mut self, text: &str) {
        let needs_quotes = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if !text.as_bytes().iter().any(needs_quotes) {
            self.bytes.extend_from_slice(text.as_bytes());
            return;
        }
        self.bytes.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                self.bytes.push(b'"');
            }
            self.bytes.push(byte);
        }
        self.bytes.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::records_csv::rows_behind;
    use proptest::prelude::*;

    proptest! {
        /// They are what the library writes, whatever stands in a row and in that before.
        #[test]
        fn rows_are_those_that_the_library_writes(
            rows in prop::collection::vec(
                (
                    any::<u64>(),
                    "[a-z,\"\r\n é]{0,8}",
                    prop::option::of("[a-c;=,]{0,4}"),
                    prop::option::of(any::<u32>()),
                    prop::collection::vec(
                        prop_oneof![
                            Just(None),
                            Just(Some(0.0)),
                            Just(Some(-0.0)),
                            (-50i32..50).prop_map(|n| Some(f64::from(n) / 4.0)),
                            any::<u64>().prop_map(|b| Some(f64::from_bits(b)).filter(|f| f.is_finite())),
                        ],
                        4,
                    ),
                ),
                1..6,
            ),
        ) {
            let mut own = CsvRows::new(&Arc::default());
            let mut library = rows_behind(Vec::new());
            for (case, name, other, workers, figures) in &rows {
                let mut record = Record::default();
                record.case = *case;
                record.strategy = name;
                record.reason = name.into();
                record.chosen_other = other.as_deref();
                record.chosen_workers = *workers;
                record.time_h = figures[0];
                record.cost_usd = figures[1];
                record.lost_vms = figures[2];
                record.error_max = figures[3];
                own.push_record(&record);
                library.serialize(&record).expect("it fits into a row");
            }
            let library = library.into_inner().expect("it is in memory");
            prop_assert_eq!(String::from_utf8_lossy(own.bytes()), String::from_utf8_lossy(&library));
            prop_assert_eq!(own.rows(), rows.len() as u64);
        }
    }
}
