//! Files that the program writes, and the only place where it opens files to write. A file grows under another name and takes
//! its own when it is whole. No symbolic link in a folder is followed. Errors name the path.

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
