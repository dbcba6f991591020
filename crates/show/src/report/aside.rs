//! A file that grows under another name and takes its own when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::folder::Folder;
use scavsim_read::input::regular;

/// A file `records.jsonl` that is still `records.partial.jsonl`.
pub struct Aside {
    partial: PathBuf,
    target: PathBuf,
    file: BufWriter<File>,
}

/// The name of an unfinished file.
pub fn partial_name(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.partial.{extension}"),
        None => format!("{name}.partial"),
    }
}

impl Aside {
    /// Starts the file `name` of `folder`; an older unfinished one is replaced.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn create(folder: &Folder, name: &str) -> io::Result<Aside> {
        let partial = folder.file(&partial_name(name));
        let file = fresh(&partial).map_err(|e| named(&partial, e))?;
        Ok(Aside {
            target: folder.file(name),
            partial,
            file: BufWriter::new(file),
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Whatever prevents it; the unfinished file stays.
    pub fn close(mut self) -> io::Result<()> {
        self.flush()?;
        (self.file.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.partial, &self.target))
            .map_err(|e| named(&self.partial, e))
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|e| named(&self.partial, e))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|e| named(&self.partial, e))
    }
}

/// A new file in place of an older one; whatever else stands there is neither followed nor replaced.
fn fresh(path: &Path) -> io::Result<File> {
    regular::may_be_written(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot write {}: {error}", path.display()),
    )
}
