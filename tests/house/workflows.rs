//! The workflows on the servers of the repository.

use std::fs;

/// The jobs of a workflow, each with its lines.
fn jobs(text: &str) -> Vec<String> {
    let (_, jobs) = text.split_once("\njobs:\n").expect("it has jobs");
    let mut all: Vec<String> = Vec::new();
    for line in jobs.lines() {
        let is_name = line.starts_with("  ") && !line[2..].starts_with([' ', '#']);
        if is_name || all.is_empty() {
            all.push(String::new());
        }
        if let Some(last) = all.last_mut() {
            *last += line;
            last.push('\n');
        }
    }
    all
}

/// A job with a token attests where something was built, or publishes it.
#[test]
fn no_job_that_can_have_a_token_builds_anything() {
    let folder = crate::root().join(".github/workflows");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("there are some") {
        let path = entry.expect("it is readable").path();
        for job in jobs(&crate::read(&path)) {
            if job.contains("id-token: write") {
                count += 1;
                for word in ["actions/checkout", ".ci/", "cargo", "pip install"] {
                    assert!(!job.contains(word), "{}: {word} in\n{job}", path.display());
                }
            }
        }
    }
    assert_eq!(count, 3, "of a site, an attestation and an index");
}
