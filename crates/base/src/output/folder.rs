use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::partial::{may_be_written, probe};
use super::{Lock, PartialFile, cannot_write};

/// A folder in which a file could be created. Its lock, if it has one, is held until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct OutputFolder {
    path: PathBuf,
    lock: Option<Arc<Lock>>,
}

impl OutputFolder {
    /// A folder that nobody else may write to, for files that belong together. Missing folders are made.
    pub fn alone(path: &Path) -> io::Result<OutputFolder> {
        OutputFolder::prepare(path, Some(Lock::alone))
    }

    /// A folder that others may write other files to, but nobody who needs it alone.
    pub fn shared(path: &Path) -> io::Result<OutputFolder> {
        OutputFolder::prepare(path, Some(Lock::shared))
    }

    /// A folder for files that stand each by itself.
    pub fn open(path: &Path) -> io::Result<OutputFolder> {
        OutputFolder::prepare(path, None)
    }

    fn prepare(
        path: &Path,
        lock: Option<fn(&Path) -> io::Result<Lock>>,
    ) -> io::Result<OutputFolder> {
        make(path)?;
        let lock = lock.map(|lock| lock(path)).transpose()?.map(Arc::new);
        probe(path).map_err(|error| cannot_write_to(path, error))?;
        let path = path.to_owned();
        Ok(OutputFolder { path, lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A folder in this one, held with it; made when it is missing. A link is not followed: what is written here stays here.
    pub fn subfolder(&self, name: &str) -> io::Result<OutputFolder> {
        let path = self.file(name);
        if fs::symlink_metadata(&path).is_ok_and(|there| there.is_symlink()) {
            let why = io::Error::new(io::ErrorKind::InvalidInput, "it is a link");
            return Err(cannot_write_to(&path, why));
        }
        let mut folder = OutputFolder::open(&path)?;
        folder.lock.clone_from(&self.lock);
        Ok(folder)
    }

    pub fn create(&self, name: &str) -> io::Result<PartialFile> {
        PartialFile::create(&self.path, name)
    }

    /// Writes a file of this folder, whole or not at all.
    pub fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        let mut file = self.create(name)?;
        file.write_all(contents)?;
        file.close()
    }

    /// Copies a file with what may be done with it.
    pub fn copy(&self, from: &Path, name: &str) -> io::Result<()> {
        let target = self.file(name);
        let copied = may_be_written(&target).and_then(|()| fs::copy(from, &target));
        copied
            .map(drop)
            .map_err(|error| cannot_write(&target, error))
    }

    /// Opens an unfinished file to write behind its first `bytes` bytes; what stands there is cut off.
    pub fn open_behind(&self, name: &str, bytes: u64) -> io::Result<File> {
        let path = self.file(name);
        let open = || {
            may_be_written(&path)?;
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(false);
            let mut file = options.open(&path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(file)
        };
        open().map_err(|error| cannot_write(&path, error))
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let target = self.file(to);
        fs::rename(self.file(from), &target).map_err(|error| cannot_write(&target, error))
    }

    /// Removes a file; that it is not there is no error.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let what = format!("cannot remove {}: {error}", path.display());
                Err(io::Error::new(error.kind(), what))
            }
            _ => Ok(()),
        }
    }

    /// Makes sure that neither a link nor a pipe stands where these files are written; the error says what does.
    pub fn may_hold(&self, names: impl IntoIterator<Item = String>) -> io::Result<()> {
        names.into_iter().try_for_each(|name| {
            let path = self.file(&name);
            may_be_written(&path).map_err(|error| cannot_write(&path, error))
        })
    }
}

fn make(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path).map_err(|error| match error.kind() {
        kind @ io::ErrorKind::AlreadyExists => {
            cannot_write_to(path, io::Error::new(kind, "it is not a folder"))
        }
        _ => cannot_write_to(path, error),
    })
}

fn cannot_write_to(folder: &Path, error: io::Error) -> io::Error {
    let what = format!("cannot write to {}: {error}", folder.display());
    io::Error::new(error.kind(), what)
}

/// Writes a file whole or not at all, in place of what is there. Missing folders are made. A device, a pipe, and what a
/// descriptor such as `/dev/stdout` leads to, are written into.
pub fn write_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    if is_stream(path) {
        let written = write_into(path, contents);
        return written.map_err(|error| cannot_write(path, error));
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !path.is_dir()) else {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "it is no file");
        return Err(cannot_write(path, why));
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    make(folder)?;
    let mut file = PartialFile::create(folder, name)?;
    file.write_all(contents)?;
    file.close()
}

/// Whether a file cannot take the place of what is there: a device, a pipe, a descriptor.
fn is_stream(path: &Path) -> bool {
    let is_of_system = path.starts_with("/dev") || path.starts_with("/proc");
    fs::metadata(path).is_ok_and(|there| {
        !there.is_dir() && (!there.is_file() || (path.is_symlink() && is_of_system))
    })
}

fn write_into(path: &Path, contents: &[u8]) -> io::Result<()> {
    // What else is printed goes behind it, also where stdout is a file.
    if path == Path::new("/dev/stdout") {
        let mut stdout = io::stdout();
        return stdout.write_all(contents).and_then(|()| stdout.flush());
    }
    let mut stream = OpenOptions::new().append(true).open(path)?;
    stream.write_all(contents)
}

pub fn remove_empty(path: &Path) {
    // Whatever keeps it there, it is as it was.
    let _ = fs::remove_dir(path);
}
