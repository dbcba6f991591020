//! The files that are changed: those of `tests/corpus`, and shipped ones.

use std::fs;
use std::path::{Path, PathBuf};

/// Names and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// The entries of a folder of this repository, sorted by name.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("it is checked in");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    paths.sort();
    paths
}

/// The files of each folder in a folder of this repository.
pub fn folders(folder: &str) -> Vec<Files> {
    let all = entries(folder).into_iter().filter(|path| path.is_dir());
    all.map(|folder| files_of(&folder)).collect()
}

/// The files of each folder in a folder of the corpus.
pub fn corpus(target: &str) -> Vec<Files> {
    folders(&format!("tests/corpus/{target}"))
}

/// Each TOML file in a folder of this repository, under one name.
pub fn each_toml(folder: &str, name: &str) -> Vec<Files> {
    let all = entries(folder).into_iter();
    let all = all.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    all.map(|path| {
        let contents = fs::read(path).expect("it is readable");
        vec![(name.to_owned(), contents)]
    })
    .collect()
}

/// The text of a file of this repository.
pub fn text_of(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(path).expect("it is checked in")
}

/// The files of a folder.
pub fn files_of(folder: &Path) -> Files {
    let mut files: Files = fs::read_dir(folder)
        .expect("it is a folder")
        .map(|entry| entry.expect("it is readable").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            (name, fs::read(path).expect("it is readable"))
        })
        .collect();
    files.sort();
    files
}
