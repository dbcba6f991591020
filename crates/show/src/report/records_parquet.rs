//! `records.parquet`: the columns of `records.csv` with their types, for data frames and DuckDB. Row groups consist of whole
//! tasks, and the file has no time or machine in it: equal records give equal bytes.

use std::borrow::Cow;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use csv::StringRecord;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::records_file::{FormPart, RecordsFile, RecordsFileFactory, RecordsFormat, own};
use super::stored_rows::invalid;
use scavsim_base::output::PartialFile;
use scavsim_experiment::columns::Kind;
use scavsim_experiment::{AXIS, COLUMNS, Record, RecordBatches, RecordColumns};
use scavsim_read::input::regular;

pub const FILE: &str = "records.parquet";

pub const FORMAT: RecordsFormat = RecordsFormat {
    name: "parquet",
    file: FILE,
    beside: Some(RecordsFileFactory {
        create: |folder, columns| {
            Ok(Box::new(RecordsParquet::new(
                folder.create(FILE)?,
                columns,
            )?))
        },
        part: |columns| {
            Box::new(Batch {
                open: RecordBatches::with_axes(columns.axes()),
                closed: None,
            })
        },
    }),
};

/// Minimum number of rows of a group, in whole tasks: enough to compress well, few enough to hold in memory.
const ROWS_PER_GROUP: usize = 16_384;

struct RecordsParquet {
    file: SerializedFileWriter<PartialFile>,
    columns: ArrowRowGroupWriterFactory,
    groups: usize,
    waiting: Vec<RecordBatch>,
    rows: usize,
}

struct Batch {
    open: RecordBatches,
    closed: Option<RecordBatch>,
}

impl FormPart for Batch {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.open.push_record(record);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        if self.open.waiting() > 0 {
            self.closed = Some(self.open.batch().map_err(io::Error::other)?);
        }
        Ok(())
    }
}

impl RecordsParquet {
    fn new(file: PartialFile, columns: &RecordColumns) -> io::Result<Self> {
        let schema = RecordBatches::with_axes(columns.axes()).schema();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(false);
        let texts = (schema.fields().iter()).filter(|f| *f.data_type() == DataType::Utf8);
        for field in texts {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_dictionary_enabled(path, true);
        }
        let properties = properties.build();
        let writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(io_error)?;
        let (file, columns) = writer.into_serialized_writer().map_err(io_error)?;
        Ok(RecordsParquet {
            file,
            columns,
            groups: 0,
            waiting: Vec::new(),
            rows: 0,
        })
    }

    /// Writes waiting rows as one row group. Columns are encoded on all threads of the current pool.
    fn write_waiting(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let batches = std::mem::take(&mut self.waiting);
        let writers = self
            .columns
            .create_column_writers(self.groups)
            .map_err(io_error)?;
        let encode = |(at, mut writer): (usize, ArrowColumnWriter)| {
            for batch in &batches {
                let schema = batch.schema_ref();
                for leaf in compute_leaves(schema.field(at), batch.column(at))? {
                    writer.write(&leaf)?;
                }
            }
            writer.close()
        };
        type Chunks = Result<Vec<ArrowColumnChunk>, ParquetError>;
        let chunks: Chunks = match rayon::current_thread_index() {
            Some(_) => writers.into_par_iter().enumerate().map(encode).collect(),
            None => writers.into_iter().enumerate().map(encode).collect(),
        };
        let mut group = self.file.next_row_group().map_err(io_error)?;
        for chunk in chunks.map_err(io_error)? {
            chunk.append_to_row_group(&mut group).map_err(io_error)?;
        }
        group.close().map_err(io_error)?;
        (self.groups, self.rows) = (self.groups + 1, 0);
        Ok(())
    }
}

/// Passes the rows of a file to `take`, each as in a `records.csv` with all columns and these axes.
pub fn read(
    path: &Path,
    axes: &[String],
    take: &mut dyn FnMut(&StringRecord) -> io::Result<()>,
) -> io::Result<()> {
    let file = regular::open(path)?;
    let open = || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(io_error)?;
        builder.build().map_err(io_error)
    };
    let mut batches = guarded(open)?;
    let mut row = StringRecord::new();
    while let Some(batch) = guarded(|| batches.next().transpose().map_err(io::Error::other))? {
        let own = (COLUMNS.iter()).map(|column| (Cow::Borrowed(column.name), column.kind));
        let swept = axes
            .iter()
            .map(|axis| (format!("{AXIS}{axis}").into(), Kind::Figure));
        let columns: Vec<StoredColumn<'_>> = (own.chain(swept))
            .map(|(name, kind)| {
                let array = batch.column_by_name(&name);
                let stored = array.and_then(|array| StoredColumn::from_array(kind, array));
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

/// The result of the library's reader, which panics on some damaged files.
fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    done.unwrap_or_else(|_| Err(invalid("the file is damaged")))
}

enum StoredColumn<'b> {
    Count(&'b UInt64Array),
    Text(&'b StringArray),
    Whole(&'b UInt32Array),
    Figure(&'b Float64Array),
}

impl<'b> StoredColumn<'b> {
    fn from_array(kind: Kind, array: &'b ArrayRef) -> Option<Self> {
        let array = array.as_any();
        match kind {
            Kind::Count => array.downcast_ref().map(StoredColumn::Count),
            Kind::Name | Kind::Word | Kind::Text => array.downcast_ref().map(StoredColumn::Text),
            Kind::Whole => array.downcast_ref().map(StoredColumn::Whole),
            Kind::Figure => array.downcast_ref().map(StoredColumn::Figure),
        }
    }

    /// A missing value is an empty cell.
    fn push(&self, at: usize, row: &mut StringRecord) {
        match self {
            StoredColumn::Count(a) if a.is_valid(at) => row.push_field(&a.value(at).to_string()),
            StoredColumn::Text(a) if a.is_valid(at) => row.push_field(a.value(at)),
            StoredColumn::Whole(a) if a.is_valid(at) => row.push_field(&a.value(at).to_string()),
            StoredColumn::Figure(a) if a.is_valid(at) => row.push_field(&a.value(at).to_string()),
            _ => row.push_field(""),
        }
    }
}

/// The underlying error, without the library's own words.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

impl RecordsFile for RecordsParquet {
    fn merge(&mut self, part: Box<dyn FormPart>) -> io::Result<()> {
        if let Some(batch) = own::<Batch>(part)?.closed {
            self.rows += batch.num_rows();
            self.waiting.push(batch);
        }
        if self.rows >= ROWS_PER_GROUP {
            self.write_waiting()
        } else {
            Ok(())
        }
    }

    fn close(mut self: Box<Self>) -> io::Result<()> {
        self.write_waiting()?;
        self.file.into_inner().map_err(io_error)?.close()
    }
}
