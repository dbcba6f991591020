//! Reads rows of a file of records back as the original records.

use csv::StringRecord;

use scavsim_experiment::{COLUMNS, Record, RecordAxes, RecordColumns};

pub struct RowReader {
    columns: RecordColumns,
    /// The row with a cell for each of [`COLUMNS`].
    whole: StringRecord,
    axes: Vec<Option<f64>>,
}

impl RowReader {
    pub fn new(columns: RecordColumns) -> RowReader {
        RowReader {
            columns,
            whole: StringRecord::new(),
            axes: Vec::new(),
        }
    }

    /// The record of a row with a cell for each column; cells of columns that are left out are empty.
    ///
    /// # Errors
    /// If a cell is not of its column's kind, or missing.
    pub fn record(&mut self, row: &StringRecord) -> Result<Record<'_>, csv::Error> {
        let mut cells = row.iter();
        self.whole.clear();
        for at in 0..COLUMNS.len() {
            let cell = if self.columns.has(at) {
                cells.next()
            } else {
                Some("")
            };
            // A row that ends early has too few cells here, too.
            self.whole.extend(cell);
        }
        self.axes.clear();
        for _ in self.columns.axes() {
            let cell = StringRecord::from(vec![cells.next().unwrap_or("none")]);
            let (value,): (Option<f64>,) = cell.deserialize(None)?;
            self.axes.push(value);
        }
        let mut record: Record<'_> = self.whole.deserialize(None)?;
        record.axes = RecordAxes::new(self.columns.axes(), &self.axes);
        Ok(record)
    }
}
