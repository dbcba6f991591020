//! What a form of records has to do.

use std::any::Any;
use std::io;

use scavsim_base::output::OutputFolder;
use scavsim_experiment::{Record, RecordColumns};

/// A file of records. Dropped, nothing of it is left.
pub trait RecordsFile: Send {
    fn merge(&mut self, part: Box<dyn FormPart>) -> io::Result<()>;

    fn close(self: Box<Self>) -> io::Result<()>;
}

/// The records of one task in some form, made by the thread that makes them.
pub trait FormPart: Any + Send {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Is told that it was the last.
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A part as its own file made it.
pub fn own<P: FormPart>(part: Box<dyn FormPart>) -> io::Result<Box<P>> {
    let any: Box<dyn Any> = part;
    let own = any.downcast::<P>();
    own.map_err(|_| io::Error::other("records in another form than that of their file"))
}

pub struct RecordsFormat {
    /// Name of the format on the command line.
    pub name: &'static str,
    pub file: &'static str,
    /// How it is written; `None` for the form that every run writes anyway.
    pub beside: Option<RecordsFileFactory>,
}

/// How a form is written beside the rows.
#[derive(Clone, Copy)]
pub struct RecordsFileFactory {
    pub create: fn(&OutputFolder, &RecordColumns) -> io::Result<Box<dyn RecordsFile>>,
    pub part: fn(&RecordColumns) -> Box<dyn FormPart>,
}
