//! Regular files of limited size.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::{Diagnostic, Diagnostics, Source};

/// Maximum size of a text that is read into memory; all measurements of a workload are smaller.
pub const MOST_BYTES: u64 = 64 << 20;

/// Opens a regular file for reading. A pipe would block, and a device has no end.
pub fn open(path: &Path) -> io::Result<File> {
    is_regular(&fs::metadata(path)?)?;
    File::open(path)
}

/// The bytes of a regular file that is not larger than [`MOST_BYTES`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        0..=MOST_BYTES => Ok(bytes),
        _ => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {} MiB", MOST_BYTES >> 20),
        )),
    }
}

impl Source {
    /// Reads a file; a file that is unreadable, or not text, becomes a diagnostic.
    pub fn read(path: &Path, diagnostics: &mut Diagnostics) -> Option<Arc<Source>> {
        let name = path.display().to_string();
        let bytes = match read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                diagnostics.push(Diagnostic::general(format!("cannot read {name}: {error}")));
                return None;
            }
        };
        match String::from_utf8(bytes) {
            Ok(text) => Some(Source::new(name, text)),
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
                diagnostics.push(
                    Diagnostic::general(format!("cannot read {name}: line {line} is not UTF-8"))
                        .with_help("save the file as UTF-8 text"),
                );
                None
            }
        }
    }
}

fn is_regular(found: &fs::Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let what = if found.is_dir() {
        "it is a folder"
    } else {
        "it is not a regular file"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_devices_and_endless_files_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("the temporary directory is writable");
        let told = |path: &Path| read(path).map_err(|e| e.to_string());
        assert!(read(folder.path()).is_err());
        let no_file = Err("it is not a regular file".to_owned());
        #[cfg(unix)]
        assert_eq!(told(Path::new("/dev/zero")), no_file);
        let large = folder.path().join("large");
        let file = File::create(&large).expect("it is writable");
        file.set_len(MOST_BYTES + 1).expect("it can have holes");
        assert_eq!(told(&large), Err("it is larger than 64 MiB".to_owned()));
        file.set_len(MOST_BYTES).expect("it can have holes");
        assert_eq!(read(&large).map(|b| b.len() as u64).ok(), Some(MOST_BYTES));
    }

    #[test]
    fn an_unreadable_file_is_named() {
        let mut diagnostics = Diagnostics::default();
        let none = Source::read(Path::new("/no/such.toml"), &mut diagnostics);
        assert_eq!(none, None);
        let shown = diagnostics.render(false);
        assert!(shown.starts_with("error: cannot read /no/such.toml: "));
    }

    #[test]
    fn a_file_that_is_not_text_is_refused_with_its_line() {
        let path = std::env::temp_dir().join(format!("input-source-{}", std::process::id()));
        std::fs::write(&path, b"a = 1\nb = \"\xff\"\n")
            .expect("the temporary directory is writable");
        let mut diagnostics = Diagnostics::default();
        let read = Source::read(&path, &mut diagnostics);
        std::fs::remove_file(&path).expect("it was just written");
        assert_eq!(read, None);
        let shown = diagnostics.render(false);
        assert!(shown.contains("line 2 is not UTF-8"), "{shown}");
    }
}
