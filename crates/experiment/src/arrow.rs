//! Records as Arrow: the columns with their types, batch by batch.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::columns::{Kind, Value};
use super::record::Column;
use super::record::{COLUMNS, Record};
use super::record_axes::AXIS;

/// Records that become a batch of Arrow. Columns without a value in a record are null there.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// use scavsim::{RecordBatches, Scenario};
///
/// let scenario = Scenario::parse("workloads = [\"scavenger-resnet18\"]")?;
/// let mut batches = RecordBatches::default();
/// scenario.run(|record| batches.push_record(record))?;
/// let batch = batches.batch()?;
/// assert_eq!(batch.num_rows() as u64, scenario.cases());
/// assert_eq!(batches.waiting(), 0); // the next batch begins
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RecordBatches {
    schema: SchemaRef,
    columns: Vec<Values>,
    waiting: usize,
}

/// What waits in a column, in the form that it has in a batch.
#[derive(Debug)]
enum Values {
    Count(UInt64Builder),
    Text(StringBuilder),
    Whole(UInt32Builder),
    Figure(Float64Builder),
}

impl Default for RecordBatches {
    fn default() -> Self {
        RecordBatches::with_axes(&[])
    }
}

impl RecordBatches {
    /// Batches with a column for each of these axes behind all others.
    pub fn with_axes(axes: &[String]) -> RecordBatches {
        let axes = axes.iter().map(|axis| format!("{AXIS}{axis}"));
        let of_axes = axes.map(|name| Field::new(name, DataType::Float64, true));
        let fields: Vec<Field> = COLUMNS.iter().map(field).chain(of_axes).collect();
        let kinds = COLUMNS.iter().map(|column| column.kind);
        let kinds = kinds
            .chain(std::iter::repeat(Kind::Figure))
            .take(fields.len());
        RecordBatches {
            columns: kinds.map(Values::for_kind).collect(),
            schema: Arc::new(Schema::new(fields)),
            waiting: 0,
        }
    }

    /// Names and types of the columns, those of `records.csv`.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Adds a record.
    pub fn push_record(&mut self, record: &Record<'_>) {
        let own = COLUMNS.iter().map(|column| (column.of)(record));
        let axes = record.axes.values();
        let axes = axes.map(|value| value.map_or(Value::Empty, Value::Figure));
        let behind = axes.chain(std::iter::repeat(Value::Empty));
        for (values, value) in self.columns.iter_mut().zip(own.chain(behind)) {
            values.push_value(value);
        }
        self.waiting += 1;
    }

    /// How many records are in no batch yet.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// All that waits as one batch.
    ///
    /// # Errors
    /// [`ArrowError`] where it is more than Arrow can hold in one.
    pub fn batch(&mut self) -> Result<RecordBatch, ArrowError> {
        self.waiting = 0;
        let arrays = self.columns.iter_mut().map(Values::array).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
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

const ROOM: usize = 64;

/// An array without the room that it was let grow by.
fn fit(mut array: impl Array + 'static) -> ArrayRef {
    array.shrink_to_fit();
    Arc::new(array)
}

impl Values {
    /// With little room: a task has few records, and many wait to be written.
    fn for_kind(kind: Kind) -> Values {
        match kind {
            Kind::Count => Values::Count(UInt64Builder::with_capacity(ROOM)),
            Kind::Name | Kind::Word | Kind::Text => {
                Values::Text(StringBuilder::with_capacity(ROOM, ROOM))
            }
            Kind::Whole => Values::Whole(UInt32Builder::with_capacity(ROOM)),
            Kind::Figure => Values::Figure(Float64Builder::with_capacity(ROOM)),
        }
    }

    fn push_value(&mut self, value: Value<'_>) {
        match self {
            // There is one in every record.
            Values::Count(values) => values.append_value(value.count().unwrap_or_default()),
            Values::Text(values) => values.append_option(value.text()),
            Values::Whole(values) => values.append_option(value.whole_number()),
            Values::Figure(values) => values.append_option(value.figure()),
        }
    }

    fn array(&mut self) -> ArrayRef {
        match self {
            Values::Count(values) => fit(values.finish()),
            Values::Text(values) => fit(values.finish()),
            Values::Whole(values) => fit(values.finish()),
            Values::Figure(values) => fit(values.finish()),
        }
    }
}
