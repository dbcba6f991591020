//! An output folder. Files appear whole or not at all: they are written beside their place,
//! synchronised, and renamed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// How the names of files begin that have none yet.
const UNNAMED: &str = ".scavsim-";

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
        // The only proof that a file can be created is to create one; it never has a name.
        tempfile::tempfile_in(path).map_err(named)?;
        Ok(Folder {
            path: path.to_owned(),
        })
    }

    /// A folder that is only read.
    pub fn existing(path: &Path) -> Folder {
        Folder {
            path: path.to_owned(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in this folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A folder in this one; made when it is missing. A link is not followed: what is written here stays here.
    ///
    /// # Errors
    /// Whatever prevents writing to it.
    pub fn subfolder(&self, name: &str) -> io::Result<Folder> {
        let path = self.file(name);
        if fs::symlink_metadata(&path).is_ok_and(|there| there.is_symlink()) {
            let what = format!("cannot write to {}: it is a link", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Folder::prepare(&path)
    }

    /// Removes a file; that it is not there is no error.
    ///
    /// # Errors
    /// Whatever else prevents it.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io::Error::new(
                error.kind(),
                format!("cannot remove {}: {error}", self.file(name).display()),
            )),
            _ => Ok(()),
        }
    }

    /// Removes files that a killed run had not yet given their names. Not for a folder in which
    /// others may be writing.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn remove_unnamed(&self) -> io::Result<()> {
        let named = |error: io::Error| {
            let what = format!("cannot read {}: {error}", self.path.display());
            io::Error::new(error.kind(), what)
        };
        for entry in fs::read_dir(&self.path).map_err(named)? {
            let name = entry.map_err(named)?.file_name();
            if let Some(name) = name.to_str().filter(|name| name.starts_with(UNNAMED)) {
                self.remove(name)?;
            }
        }
        Ok(())
    }

    /// A new file without a name, for one that [`NamedTempFile::persist`] gives its own.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn unnamed(&self) -> io::Result<NamedTempFile> {
        temporary(&self.path).map_err(|error| {
            let what = format!("cannot write to {}: {error}", self.path.display());
            io::Error::new(error.kind(), what)
        })
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
        let mut file = self.unnamed()?;
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
        .prefix(UNNAMED)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// A file beside its place.
#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(UNNAMED).tempfile_in(folder)
}
