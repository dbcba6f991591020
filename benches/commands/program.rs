//! The two programs: the current one and the reference.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The commit of the reference: the last before the simulator had clusters that change.
pub const REFERENCE: &str = "329721d";

/// The reference: what it was built from, and the program.
pub struct Reference {
    /// The files of its commit.
    pub tree: PathBuf,
    /// The program.
    pub program: PathBuf,
}

/// The current program, as `cargo install` builds it.
///
/// # Errors
/// It cannot be built.
pub fn today() -> io::Result<PathBuf> {
    match std::env::var_os("SCAVSIM_PROGRAM") {
        Some(program) => Ok(program.into()),
        None => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let target = root.join("target");
            build(root, &target, &["--profile", "dist"])?;
            Ok(target.join("dist/scavsim"))
        }
    }
}

/// The program of [`REFERENCE`], built if it does not exist yet.
///
/// # Errors
/// Its commit is not in the repository, or it cannot be built.
pub fn reference() -> io::Result<Reference> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = root.join("target/reference").join(REFERENCE);
    if !tree.join("Cargo.toml").is_file() {
        std::fs::create_dir_all(&tree)?;
        let mut archive = Command::new("git")
            .args(["archive", REFERENCE])
            .current_dir(root)
            .stdout(Stdio::piped())
            .spawn()?;
        let unpacked = Command::new("tar")
            .args(["xf", "-"])
            .current_dir(&tree)
            .stdin(archive.stdout.take().map_or(Stdio::null(), Stdio::from))
            .status()?;
        ended("git archive", archive.wait()?)?;
        ended("tar", unpacked)?;
    }
    let program = match std::env::var_os("SCAVSIM_REFERENCE") {
        Some(program) => program.into(),
        None => {
            let target = tree.join("target");
            build(&tree, &target, &["--release", "--no-default-features"])?;
            target.join("release/scavsim")
        }
    };
    Ok(Reference { tree, program })
}

/// Builds the package in a folder.
fn build(folder: &Path, target: &Path, words: &[&str]) -> io::Result<()> {
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--locked"])
        .args(words)
        .arg("--target-dir")
        .arg(target)
        .current_dir(folder)
        .status()?;
    ended("cargo build", built)
}

fn ended(what: &str, status: ExitStatus) -> io::Result<()> {
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("{what}: {status}")))
    }
}
