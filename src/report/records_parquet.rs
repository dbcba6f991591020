//! `records.parquet`: the columns of `records.csv` with their types, for data frames and DuckDB.
//!
//! Row groups are of fixed size and nothing in the file tells of time or machine: the same records
//! give the same bytes.

use std::io;
use std::panic::{self, AssertUnwindSafe};
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
use crate::experiment::columns::{Kind, Value};
use crate::experiment::{COLUMNS, Column, Record, Sink};
use crate::input::regular;

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

/// What waits in a column.
enum Values {
    Count(Vec<u64>),
    Text(Vec<Option<String>>),
    Whole(Vec<Option<u32>>),
    Figure(Vec<Option<f64>>),
}

fn field(column: &Column) -> Field {
    let (kind, nullable) = match column.kind {
        Kind::Count => (DataType::UInt64, false),
        Kind::Name | Kind::Word | Kind::Text => (DataType::Utf8, true),
        Kind::Whole => (DataType::UInt32, true),
        Kind::Figure => (DataType::Float64, true),
    };
    Field::new(column.name, kind, nullable)
}

impl Values {
    fn of(kind: Kind) -> Values {
        match kind {
            Kind::Count => Values::Count(Vec::new()),
            Kind::Name | Kind::Word | Kind::Text => Values::Text(Vec::new()),
            Kind::Whole => Values::Whole(Vec::new()),
            Kind::Figure => Values::Figure(Vec::new()),
        }
    }

    fn take(&mut self, value: Value<'_>) {
        match self {
            // There is one in every record.
            Values::Count(values) => values.push(value.count().unwrap_or_default()),
            Values::Text(values) => values.push(value.text().map(str::to_owned)),
            Values::Whole(values) => values.push(value.whole()),
            Values::Figure(values) => values.push(value.figure()),
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
        let fields: Vec<Field> = COLUMNS.iter().map(field).collect();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .set_dictionary_enabled(false);
        for field in fields.iter().filter(|f| *f.data_type() == DataType::Utf8) {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_dictionary_enabled(path, true);
        }
        let properties = properties.build();
        let schema = Arc::new(Schema::new(fields));
        Ok(RecordsParquet {
            writer: ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
                .map_err(told)?,
            schema,
            columns: COLUMNS
                .iter()
                .map(|column| Values::of(column.kind))
                .collect(),
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
    let file = regular::open(path)?;
    let open = || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(told)?;
        builder.build().map_err(told)
    };
    let mut batches = guarded(open)?;
    let mut row = StringRecord::new();
    while let Some(batch) = guarded(|| batches.next().transpose().map_err(io::Error::other))? {
        let columns: Vec<Stored<'_>> = (COLUMNS.iter())
            .map(|column| {
                let name = column.name;
                let array = batch.column_by_name(name);
                let stored = array.and_then(|array| Stored::of(column.kind, array));
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

/// What the library's reader comes to: it panics where a damaged file says what it does not expect.
fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the file is damaged");
    done.unwrap_or_else(|_| Err(damaged()))
}

/// A column that was read.
enum Stored<'b> {
    Count(&'b UInt64Array),
    Text(&'b StringArray),
    Whole(&'b UInt32Array),
    Figure(&'b Float64Array),
}

impl<'b> Stored<'b> {
    /// The array of a column of this kind, if it is one.
    fn of(kind: Kind, array: &'b ArrayRef) -> Option<Self> {
        let array = array.as_any();
        match kind {
            Kind::Count => array.downcast_ref().map(Stored::Count),
            Kind::Name | Kind::Word | Kind::Text => array.downcast_ref().map(Stored::Text),
            Kind::Whole => array.downcast_ref().map(Stored::Whole),
            Kind::Figure => array.downcast_ref().map(Stored::Figure),
        }
    }

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
        for (values, column) in self.columns.iter_mut().zip(COLUMNS) {
            values.take((column.of)(record));
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
