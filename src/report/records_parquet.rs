//! `records.parquet`: the columns of `records.csv` with their types, for data frames and DuckDB.
//!
//! Row groups are of fixed size and nothing in the file tells of time or machine: the same records
//! give the same bytes.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use csv::StringRecord;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::aside::Aside;
use super::records_file::{RecordsFile, RecordsFormat};
use crate::experiment::{Record, Sink};

/// Name of the file.
pub const FILE: &str = "records.parquet";

/// Apache Parquet.
pub const FORMAT: RecordsFormat = RecordsFormat {
    name: "parquet",
    file: FILE,
    create: Some(|folder| Ok(Box::new(RecordsParquet::new(Aside::create(folder, FILE)?)?))),
};

/// Rows that stand together: enough to compress well, few enough to hold in memory.
const ROWS_PER_GROUP: usize = 16_384;

struct RecordsParquet {
    schema: Arc<Schema>,
    writer: ArrowWriter<Aside>,
    columns: Vec<Values>,
    waiting: usize,
}

/// How a column is filled.
#[derive(Clone, Copy)]
enum Column {
    Count(fn(&Record<'_>) -> u64),
    Text(for<'a> fn(&'a Record<'_>) -> Option<&'a str>),
    Whole(fn(&Record<'_>) -> Option<u32>),
    Figure(fn(&Record<'_>) -> Option<f64>),
}

/// What waits in a column.
enum Values {
    Count(Vec<u64>),
    Text(Vec<Option<String>>),
    Whole(Vec<Option<u32>>),
    Figure(Vec<Option<f64>>),
}

macro_rules! columns {
    ($($kind:ident: $($name:ident),*;)*) => {
        /// All columns, in the order of `records.csv`.
        const COLUMNS: &[(&str, Column)] = &[$($((stringify!($name), columns!(@ $kind $name)),)*)*];
    };
    (@ text $name:ident) => { Column::Text(|r| Some(r.$name)) };
    (@ perhaps_text $name:ident) => { Column::Text(|r| r.$name) };
    (@ count $name:ident) => { Column::Count(|r| r.$name) };
    (@ whole $name:ident) => { Column::Whole(|r| r.$name) };
    (@ figure $name:ident) => { Column::Figure(|r| r.$name) };
    (@ status $name:ident) => {
        Column::Text(|r| Some(r.$name.name()))
    };
}

columns! {
    count: case;
    text: workload, pricing, objective, strategy;
    count: replica;
    perhaps_text: chosen_vm;
    whole: chosen_workers, chosen_batch;
    perhaps_text: oracle_vm;
    whole: oracle_workers, oracle_batch;
    figure: time_h, cost_usd, oracle_time_h, oracle_cost_usd, expected_time_h, expected_cost_usd,
        search_time_h, search_cost_usd, cold_start_time_h, cold_start_cost_usd,
        bill_useful_usd, bill_search_usd, bill_waiting_usd, bill_lost_usd,
        bill_restore_usd, bill_egress_usd, bill_storage_usd, lost_vms,
        staleness, dropped_gradients, wasted_compute,
        regret_time, regret_cost, search_share_time, search_share_cost,
        overhead_gross_time, overhead_gross_cost, overhead_net_time, overhead_net_cost,
        overhead_published_time, overhead_published_cost,
        break_even_jobs, error_mean, error_median, error_max;
    perhaps_text: provenance, fidelity;
    status: status;
    text: reason;
}

impl Column {
    fn field(self, name: &str) -> Field {
        let (kind, nullable) = match self {
            Column::Count(_) => (DataType::UInt64, false),
            Column::Text(_) => (DataType::Utf8, true),
            Column::Whole(_) => (DataType::UInt32, true),
            Column::Figure(_) => (DataType::Float64, true),
        };
        Field::new(name, kind, nullable)
    }

    /// The array of such a column, if it is one.
    fn stored(self, array: &ArrayRef) -> Option<Stored<'_>> {
        let array = array.as_any();
        match self {
            Column::Count(_) => array.downcast_ref().map(Stored::Count),
            Column::Text(_) => array.downcast_ref().map(Stored::Text),
            Column::Whole(_) => array.downcast_ref().map(Stored::Whole),
            Column::Figure(_) => array.downcast_ref().map(Stored::Figure),
        }
    }

    fn empty(self) -> Values {
        match self {
            Column::Count(_) => Values::Count(Vec::new()),
            Column::Text(_) => Values::Text(Vec::new()),
            Column::Whole(_) => Values::Whole(Vec::new()),
            Column::Figure(_) => Values::Figure(Vec::new()),
        }
    }
}

impl Values {
    fn take(&mut self, column: Column, record: &Record<'_>) {
        match (self, column) {
            (Values::Count(values), Column::Count(of)) => values.push(of(record)),
            (Values::Text(values), Column::Text(of)) => {
                values.push(of(record).map(str::to_owned));
            }
            (Values::Whole(values), Column::Whole(of)) => values.push(of(record)),
            (Values::Figure(values), Column::Figure(of)) => values.push(of(record)),
            // Every column was made by `Column::empty`.
            _ => {}
        }
    }

    fn array(&mut self) -> ArrayRef {
        match self {
            Values::Count(values) => Arc::new(UInt64Array::from(std::mem::take(values))),
            Values::Text(values) => Arc::new(StringArray::from(std::mem::take(values))),
            Values::Whole(values) => Arc::new(UInt32Array::from(std::mem::take(values))),
            Values::Figure(values) => Arc::new(Float64Array::from(std::mem::take(values))),
        }
    }
}

impl RecordsParquet {
    fn new(file: Aside) -> io::Result<Self> {
        let fields: Vec<Field> = (COLUMNS.iter())
            .map(|(name, column)| column.field(name))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .set_dictionary_enabled(false);
        for (name, column) in COLUMNS {
            if matches!(column, Column::Text(_)) {
                properties =
                    properties.set_column_dictionary_enabled(ColumnPath::from(*name), true);
            }
        }
        let properties = properties.build();
        Ok(RecordsParquet {
            writer: ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
                .map_err(told)?,
            schema,
            columns: COLUMNS.iter().map(|(_, column)| column.empty()).collect(),
            waiting: 0,
        })
    }

    /// Writes what waits as one row group.
    fn write_waiting(&mut self) -> io::Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        self.waiting = 0;
        let arrays = self.columns.iter_mut().map(Values::array).collect();
        let batch =
            RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(told)?;
        self.writer.flush().map_err(told)
    }
}

/// Hands the rows of a file to `take`, each as `records.csv` would have it.
///
/// # Errors
/// What keeps the file from being read, and failures of `take`.
pub fn read(path: &Path, take: &mut dyn FnMut(&StringRecord) -> io::Result<()>) -> io::Result<()> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(told)?;
    let mut row = StringRecord::new();
    for batch in builder.build().map_err(told)? {
        let batch = batch.map_err(|e| invalid(e.to_string()))?;
        let columns: Vec<Stored<'_>> = (COLUMNS.iter())
            .map(|(name, column)| {
                let array = batch.column_by_name(name);
                let stored = array.and_then(|array| column.stored(array));
                stored.ok_or_else(|| invalid(format!("there is no column `{name}` of its kind")))
            })
            .collect::<io::Result<_>>()?;
        for at in 0..batch.num_rows() {
            row.clear();
            for column in &columns {
                column.push(at, &mut row);
            }
            take(&row)?;
        }
    }
    Ok(())
}

/// A column that was read.
enum Stored<'b> {
    Count(&'b UInt64Array),
    Text(&'b StringArray),
    Whole(&'b UInt32Array),
    Figure(&'b Float64Array),
}

impl Stored<'_> {
    /// A missing value is an empty cell.
    fn push(&self, at: usize, row: &mut StringRecord) {
        match self {
            Stored::Count(a) if a.is_valid(at) => row.push_field(&a.value(at).to_string()),
            Stored::Text(a) if a.is_valid(at) => row.push_field(a.value(at)),
            Stored::Whole(a) if a.is_valid(at) => row.push_field(&a.value(at).to_string()),
            Stored::Figure(a) if a.is_valid(at) => row.push_field(&a.value(at).to_string()),
            _ => row.push_field(""),
        }
    }
}

/// What went wrong below, without the library's words about it.
fn told(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

impl Sink for RecordsParquet {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        for (values, (_, column)) in self.columns.iter_mut().zip(COLUMNS) {
            values.take(*column, record);
        }
        self.waiting += 1;
        if self.waiting == ROWS_PER_GROUP {
            self.write_waiting()?;
        }
        Ok(())
    }
}

impl RecordsFile for RecordsParquet {
    fn close(mut self: Box<Self>) -> io::Result<()> {
        self.write_waiting()?;
        self.writer.into_inner().map_err(told)?.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::records_csv;

    #[test]
    fn the_columns_are_those_of_the_csv_file() {
        let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        let header = records_csv::header().expect("it is in memory");
        assert_eq!(names.join(",") + "\n", String::from_utf8_lossy(&header));
    }
}
