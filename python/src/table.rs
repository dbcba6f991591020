//! Records as Arrow, handed to Python without a copy.

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The records of a run: columns in memory, as the PyCapsule interface of Arrow has them.
#[pyclass(frozen, module = "scavsim")]
pub(crate) struct Records {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    /// Cases that were evaluated.
    #[pyo3(get)]
    pub(crate) cases: u64,
    /// Of these, those without a result.
    #[pyo3(get)]
    pub(crate) failed: u64,
    /// Name of the scenario.
    #[pyo3(get)]
    pub(crate) name: String,
    /// What is to be minded of its prices.
    #[pyo3(get)]
    pub(crate) remarks: Vec<String>,
    /// Means, shares and intervals, as JSON.
    #[pyo3(get)]
    pub(crate) summary: String,
    /// What decides its records, as JSON.
    #[pyo3(get)]
    pub(crate) manifest: String,
}

pub(crate) fn arrow_failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Records {
    /// The columns with their types.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(arrow_failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// All records, batch by batch. They are shared, not copied.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // What was asked for is a wish; the consumer casts what it gets.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Bytes that the columns take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches
            .iter()
            .map(RecordBatch::get_array_memory_size)
            .sum()
    }
}
