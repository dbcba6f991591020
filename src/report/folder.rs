//! An output folder. Files appear whole or not at all: they are written beside their place,
//! synchronised, and renamed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A folder that was seen to be writable.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes sure that `path` is a folder in which files can be created. Missing folders are made;
    /// where that fails nothing is left behind.
    ///
    /// # Errors
    /// Whatever prevents writing, with the path in the message.
    pub fn prepare(path: &Path) -> io::Result<Folder> {
        let named = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot write to {}: {error}", path.display()),
            )
        };
        fs::create_dir_all(path).map_err(|error| {
            named(match error.kind() {
                io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), "it is not a folder"),
                _ => error,
            })
        })?;
        // The only proof that a file can be created is to create one; it is removed at once.
        NamedTempFile::new_in(path)
            .and_then(NamedTempFile::close)
            .map_err(named)?;
        Ok(Folder {
            path: path.to_owned(),
        })
    }

    /// The path of a file in this folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// Whatever prevents it; an older file of that name is then untouched.
    pub fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        let target = self.file(name);
        let named = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot write {}: {error}", target.display()),
            )
        };
        let mut file = temporary(&self.path).map_err(named)?;
        file.write_all(contents).map_err(named)?;
        file.as_file().sync_all().map_err(named)?;
        file.persist(&target).map_err(|e| named(e.error))?;
        Ok(())
    }
}

/// A file beside its place, with the rights that any new file has.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// A file beside its place.
#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder)
}
