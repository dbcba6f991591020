//! Files that the program writes, and the only place where it opens files to write.
//!
//! A file grows under another name and takes its own when it is whole. No symbolic link in a folder is followed. Errors name
//! the path.
//!
//! - [`OutputFolder`]: a folder to write to, held against other processes.
//! - [`PartialFile`]: a file that has not its name yet.
//! - [`replace_folder`]: a folder that appears with all its files, or not at all.
//! - [`Lock`]: one process at a time in a folder.

mod folder;
mod lock;
mod partial;
mod replace;

pub use folder::{OutputFolder, remove_empty, write_file};
pub use lock::Lock;
pub use partial::{PartialFile, is_partial, partial_name};
pub use replace::replace_folder;

use std::io;
use std::path::Path;

fn cannot_write(path: &Path, error: io::Error) -> io::Error {
    let what = format!("cannot write {}: {error}", path.display());
    io::Error::new(error.kind(), what)
}
