//! The interface of a format of records.

use std::any::Any;
use std::io;

use scavsim_base::output::OutputFolder;
use scavsim_experiment::{Record, RecordColumns};

/// A file of records. If it is dropped, it is removed.
pub trait RecordsFile: Send {
    fn merge(&mut self, part: Box<dyn FormPart>) -> io::Result<()>;

    fn close(self: Box<Self>) -> io::Result<()>;
}

/// The records of one task in some format, made by the thread that makes them.
pub trait FormPart: Any + Send {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Called after the last record.
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Casts a part to the type of its own file.
pub fn own<P: FormPart>(part: Box<dyn FormPart>) -> io::Result<Box<P>> {
    let any: Box<dyn Any> = part;
    let own = any.downcast::<P>();
    own.map_err(|_| io::Error::other("records in another form than that of their file"))
}

pub struct RecordsFormat {
    /// Name of the format on the command line.
    pub name: &'static str,
    pub file: &'static str,
    /// The factory of its files; `None` for the format that every run writes.
    pub beside: Option<RecordsFileFactory>,
}

/// Creates files of a format in addition to the rows.
#[derive(Clone, Copy)]
pub struct RecordsFileFactory {
    pub create: fn(&OutputFolder, &RecordColumns) -> io::Result<Box<dyn RecordsFile>>,
    pub part: fn(&RecordColumns) -> Box<dyn FormPart>,
}
