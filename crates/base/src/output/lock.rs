//! One run at a time in a result folder. The operating system holds the lock, so it ends with its process, whatever that dies
//! of. Where a folder can be locked itself, nothing is left in it.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The file that is locked where folders cannot be; it stays behind.
pub(super) const FILE: &str = ".scavsim.lock";

#[derive(Debug)]
pub struct Lock {
    _held: Option<File>,
}

impl Lock {
    /// Keeps everyone else out; fails when someone is in, and says who, where that is known.
    pub fn alone(folder: &Path) -> io::Result<Lock> {
        Self::acquire(folder, File::try_lock)
    }

    /// Keeps those out who need the folder alone; fails when one of these is in.
    pub fn shared(folder: &Path) -> io::Result<Lock> {
        Self::acquire(folder, File::try_lock_shared)
    }

    fn acquire(
        folder: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> io::Result<Lock> {
        // Without a folder there is nobody to keep out, and some disks know no locks.
        let nothing = Lock { _held: None };
        if !folder.is_dir() {
            return Ok(nothing);
        }
        let Ok(file) = open(folder) else {
            return Ok(nothing);
        };
        match lock(&file) {
            Ok(()) => Ok(Lock { _held: Some(file) }),
            Err(TryLockError::Error(_)) => Ok(nothing),
            Err(TryLockError::WouldBlock) => {
                let who = match holder(&file) {
                    Some(process) => format!("another scavsim, process {process},"),
                    None => "another scavsim".to_owned(),
                };
                Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    format!(
                        "{who} is writing to {}; wait for its end, or choose another folder",
                        folder.display()
                    ),
                ))
            }
        }
    }
}

#[cfg(unix)]
fn open(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(not(unix))]
fn open(folder: &Path) -> io::Result<File> {
    File::create(folder.join(FILE))
}

/// The process that holds a lock on the file, as far as the system tells.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // `7: FLOCK  ADVISORY  WRITE 4242 fd:01:1837 0 EOF`
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_it = words.get(1) == Some(&"FLOCK")
            && words.get(5)?.rsplit(':').next() == Some(inode.as_str());
        let process = words.get(4)?.parse().ok()?;
        (is_it && process > 0).then_some(process)
    })
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<u32> {
    None
}
