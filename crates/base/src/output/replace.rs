//! A folder that appears with all its files, or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Lock, cannot_write, lock};

/// Where the folder grows, and where what it replaces goes meanwhile.
const PLACES: [&str; 2] = ["new", "old"];

/// Writes files, each a name with `/` and a text, as the folder `out`, in place of its `own` files. Others stay.
pub fn replace_folder<N: AsRef<Path>>(
    out: &Path,
    files: &[(N, String)],
    own: &[&str],
) -> io::Result<()> {
    // Behind a link the folder itself is replaced, not the link.
    let real = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
    let written = Replacement::begin(&real, own).and_then(|begun| begun.end(files));
    written.map_err(|error| cannot_write(out, error))
}

/// A folder that is being replaced. Dropped, nothing is left beside it.
struct Replacement<'o> {
    out: &'o Path,
    own: &'o [&'o str],
    aside: PathBuf,
    _lock: Lock,
}

impl<'o> Replacement<'o> {
    /// Takes the place beside the folder, and brings to its end what was killed there.
    fn begin(out: &'o Path, own: &'o [&'o str]) -> io::Result<Replacement<'o>> {
        let mut name = out.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let aside = out.with_file_name(name);
        loop {
            fs::create_dir_all(&aside)?;
            let lock = Lock::alone(&aside)?;
            // Whoever had it before may have removed it.
            if !is_there(&aside) {
                continue;
            }
            let is_ours =
                |name: OsString| name == lock::FILE || PLACES.iter().any(|place| name == *place);
            let entries: io::Result<Vec<_>> = fs::read_dir(&aside)?.collect();
            if aside.is_symlink() || !entries?.iter().all(|entry| is_ours(entry.file_name())) {
                let what = format!("{} is in the way", aside.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
            let begun = Replacement {
                out,
                own,
                aside,
                _lock: lock,
            };
            begun.restore()?;
            return Ok(begun);
        }
    }

    fn place(&self, at: usize) -> PathBuf {
        self.aside.join(PLACES[at])
    }

    fn end(&self, files: &[(impl AsRef<Path>, String)]) -> io::Result<()> {
        let (new, old) = (self.place(0), self.place(1));
        fs::create_dir_all(&new)?;
        for (name, text) in files {
            let path = new.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&new))?;
            let mut file = File::create_new(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
        }
        if is_there(self.out) {
            fs::rename(self.out, &old)?;
        }
        fs::rename(&new, self.out)?;
        self.restore().map_err(|error| {
            let what = format!("{error}; what was not moved back is in {}", old.display());
            io::Error::new(error.kind(), what)
        })
    }

    /// Moves back what was moved aside: all of it where nothing took its place, else what the new folder has not.
    fn restore(&self) -> io::Result<()> {
        let (new, old) = (self.place(0), self.place(1));
        if is_there(&old) && !is_there(self.out) {
            fs::rename(&old, self.out)?;
        } else if is_there(&old) {
            for entry in fs::read_dir(&old)? {
                let name = entry?.file_name();
                if !self.own.iter().any(|own| name == *own) {
                    fs::rename(old.join(&name), self.out.join(&name))?;
                }
            }
            fs::remove_dir_all(&old)?;
        }
        match fs::remove_dir_all(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Replacement<'_> {
    fn drop(&mut self) {
        // What cannot be moved back stays, and the next replacement tries again.
        if self.restore().is_ok() {
            let _ = fs::remove_file(self.aside.join(lock::FILE));
            let _ = fs::remove_dir(&self.aside);
        }
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_lock_is_not_in_the_way() {
        let folder = std::env::temp_dir().join(format!("scavsim-replace-{}", std::process::id()));
        let aside = folder.join("out.partial");
        fs::create_dir_all(&aside).expect("it is writable");
        fs::write(aside.join(lock::FILE), "").expect("it is writable");
        let new = [("a.txt", "new".to_owned())];
        replace_folder(&folder.join("out"), &new, &[]).expect("it is ours");
        let written = fs::read(folder.join("out/a.txt")).expect("it is there");
        assert_eq!(written, b"new");
        assert!(!is_there(&aside));
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
