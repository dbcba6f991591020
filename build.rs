//! Tells the program from which commit it is built: that of the package, or of the repository.
//!
//! Builds for development know none, so that a commit does not compile everything anew.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PROFILE");
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo:rerun-if-env-changed={COMMIT}");
    let commit = release
        .then(|| of_environment().or_else(of_package).or_else(of_repository))
        .flatten();
    println!("cargo:rustc-env={COMMIT}={}", commit.unwrap_or_default());
}

const COMMIT: &str = "SCAVSIM_COMMIT";

/// What whoever builds says, where the repository is not there, as in an image.
fn of_environment() -> Option<String> {
    let told = std::env::var(COMMIT).ok()?;
    (!told.is_empty()).then(|| short(&told))
}

/// What cargo notes in a package that is published.
fn of_package() -> Option<String> {
    let note = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = note.split_once("\"sha1\": \"")?;
    Some(short(rest.split('"').next()?))
}

fn of_repository() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // A package that lies in the repository of something else has its commit from nobody.
    let root = git(&["rev-parse", "--show-toplevel"])?;
    let here = std::env::current_dir().ok()?;
    if Path::new(&root).canonicalize().ok()? != here.canonicalize().ok()? {
        return None;
    }
    let head = git(&["rev-parse", "--git-path", "HEAD"])?;
    println!("cargo:rerun-if-changed={head}");
    // What a branch points at is in another file than its name.
    if let Some(branch) = git(&["symbolic-ref", "-q", "HEAD"]) {
        let file = git(&["rev-parse", "--git-path", &branch])?;
        println!("cargo:rerun-if-changed={file}");
    }
    Some(short(&git(&["rev-parse", "HEAD"])?))
}

fn short(commit: &str) -> String {
    commit.chars().take(9).collect()
}
