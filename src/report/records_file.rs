//! What a form of records has to do.

use std::io;

use super::folder::Folder;
use crate::experiment::Sink;

/// A file of records. Dropped, it leaves an unfinished file.
pub trait RecordsFile: Sink + Send {
    /// Finishes the file and gives it its name.
    ///
    /// # Errors
    /// Whatever prevents it.
    fn close(self: Box<Self>) -> io::Result<()>;
}

/// One form.
pub struct RecordsFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Starts the file; `None` for the form that every run writes anyway.
    pub create: Option<Create>,
}

/// Starts a file of records in a folder.
pub type Create = fn(&Folder) -> io::Result<Box<dyn RecordsFile>>;
