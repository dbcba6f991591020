use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::cannot_write;

/// A file `records.jsonl` that is still `records.partial.jsonl`. Dropped before it is closed, it is removed.
pub struct PartialFile {
    partial: PathBuf,
    target: PathBuf,
    file: BufWriter<File>,
    is_closed: bool,
}

pub fn partial_name(name: &str) -> String {
    numbered_name(name, 1)
}

fn numbered_name(name: &str, number: u32) -> String {
    let number = match number {
        1 => String::new(),
        other => format!("-{other}"),
    };
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.partial{number}.{extension}"),
        None => format!("{name}.partial{number}"),
    }
}

pub fn is_partial(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.and_then(|stem| stem.rsplit_once('.'))
        .is_some_and(|(_, last)| last == "partial" || last.starts_with("partial-"))
}

impl PartialFile {
    /// Starts the file `name` of a folder. What a killed process left of it is written over; where another process is
    /// writing it at the same time, each writes its own, and the last one stays.
    pub(super) fn create(folder: &Path, name: &str) -> io::Result<PartialFile> {
        let mut number = 1;
        loop {
            let partial = folder.join(numbered_name(name, number));
            if let Some(file) = open(&partial).map_err(|e| cannot_write(&partial, e))? {
                return Ok(PartialFile {
                    partial,
                    target: folder.join(name),
                    file: BufWriter::new(file),
                    is_closed: false,
                });
            }
            number += 1;
        }
    }

    /// Writes what is buffered, waits until the disk has it, and gives the file its name in place of what had it.
    pub fn close(mut self) -> io::Result<()> {
        self.flush()?;
        (self.file.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.partial, &self.target))
            .map_err(|e| cannot_write(&self.target, e))?;
        self.is_closed = true;
        Ok(())
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        written.map_err(|e| cannot_write(&self.target, e))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        flushed.map_err(|e| cannot_write(&self.target, e))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_closed {
            // Whatever prevents that has prevented the file, and was told.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Creates a file in a folder and removes it again: nothing else proves that one can be created.
pub(super) fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(".scavsim-probe");
    match open(&path)? {
        Some(_held) => fs::remove_file(&path),
        None => Ok(()),
    }
}

/// An empty file that no other process writes; `None` where one does. The lock ends with the process that holds it.
fn open(path: &Path) -> io::Result<Option<File>> {
    loop {
        let (file, is_new) = match File::create_new(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                may_be_written(path)?;
                match OpenOptions::new().write(true).open(path) {
                    Ok(file) => (file, false),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => {}
            // Some disks know no locks: what is there may be another's.
            Err(TryLockError::Error(_)) if is_new => {}
            Err(_) => return Ok(None),
        }
        // Whoever held it before may have given it its name.
        if is_at(&file, path) {
            file.set_len(0)?;
            return Ok(Some(file));
        }
    }
}

/// Whether the file has this name, by itself and not through a link.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    let there = fs::symlink_metadata(path).map(place).ok();
    there.is_some() && there == file.metadata().map(place).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_file()
}

/// Makes sure that a regular file, or nothing, stands where a file is to be written: no link out of the folder, no pipe.
pub(super) fn may_be_written(path: &Path) -> io::Result<()> {
    let what = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if found.is_file() => return Ok(()),
        Ok(found) if found.is_symlink() => "it is a link, which is not followed",
        Ok(found) if found.is_dir() => "it is a folder",
        Ok(_) => "it is not a regular file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}
