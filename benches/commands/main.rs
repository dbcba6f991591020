//! Whole commands of the installed program, compared with the program of an earlier commit.
//!
//! `cargo bench --bench commands` builds both: the current one by `cargo build --profile dist`, the other once, in `target/reference/`, as
//! it was released but without Parquet. `SCAVSIM_PROGRAM` and `SCAVSIM_REFERENCE` name existing programs. Commands alternate on one thread;
//! the least CPU time of all rounds counts. Current figures are in docs/performance.md.
//!
//! - [`program`]: the two programs; [`measured`]: time and memory of a command.

mod measured;
mod program;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use measured::Measured;
use program::REFERENCE;

/// A command that is measured.
struct Measure {
    name: &'static str,
    /// Words after the program; the first that ends in `.toml` or `.csv` is in `scenarios/`.
    words: &'static [&'static str],
    /// Whether the reference has it; then both run the reference's scenario, because the current one has more strategies.
    is_old: bool,
    /// Maximum CPU time relative to the reference.
    goal: Option<f64>,
}

const fn old(name: &'static str, words: &'static [&'static str], goal: f64) -> Measure {
    Measure {
        name,
        words,
        is_old: true,
        goal: Some(goal),
    }
}

const fn new(name: &'static str, words: &'static [&'static str]) -> Measure {
    Measure {
        name,
        words,
        is_old: false,
        goal: None,
    }
}

const MEASURES: &[Measure] = &[
    old("thousands", &["run", "thousands.toml"], 0.7),
    old(
        "scavenger × 5,000",
        &["run", "scavenger.toml", "--replicas", "5000"],
        0.85,
    ),
    old(
        "pricing-policies × 2,000",
        &["run", "pricing-policies.toml", "--replicas", "2000"],
        1.0,
    ),
    old("spot", &["run", "spot.toml"], 1.0),
    old("markets", &["run", "markets.toml"], 1.0),
    old("gpu-catalogue", &["run", "gpu-catalogue.toml"], 1.0),
    new("llm-plans", &["run", "llm-plans.toml"]),
    new("compare-scout", &["compare", "compare-scout.toml"]),
    new("reproduce", &["reproduce", "scavenger"]),
    new(
        "advise",
        &[
            "advise",
            "example-profile.csv",
            "--samples-per-epoch",
            "50000",
        ],
    ),
];

/// Names of strategies at the commit of the reference, and their current names, the longer ones first.
const RENAMED: [(&str, &str); 3] = [
    ("\"no-search\"", "\"same-job\""),
    ("\"universal-leave-out\"", "\"no-search-leave-out\""),
    ("\"universal\"", "\"no-search\""),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_trial = !words.iter().any(|word| word == "--bench");
    let asked: Vec<&String> = words.iter().filter(|w| !w.starts_with("--")).collect();
    let chosen = |measure: &&Measure| {
        asked.is_empty() || asked.iter().any(|word| measure.name.starts_with(&***word))
    };
    let measures = MEASURES.iter().filter(chosen);
    if is_trial {
        println!("{} commands; `--bench` measures them", measures.count());
        return ExitCode::SUCCESS;
    }
    match bench(measures) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Rounds of all commands.
const ROUNDS: usize = 3;

fn bench<'m>(measures: impl Iterator<Item = &'m Measure>) -> io::Result<()> {
    let (today, reference) = (program::today()?, program::reference()?);
    let folder = tempfile::tempdir()?;
    let seen = measures.map(|measure| {
        let (words, old_words) = scenario_words(measure, &reference.tree, folder.path())?;
        Ok((measure, words, old_words, [Measured::NONE; 2]))
    });
    let mut seen: Vec<_> = seen.collect::<io::Result<_>>()?;
    for _ in 0..ROUNDS {
        for (measure, words, old_words, [own, other]) in &mut seen {
            own.least(measured::run(&today, words, measure.name)?);
            if let Some(old_words) = old_words {
                other.least(measured::run(&reference.program, old_words, measure.name)?);
            }
        }
    }
    println!("Beside the program of {REFERENCE}; one thread, least of {ROUNDS} rounds in turns.");
    println!();
    println!(
        "| command | CPU s | wall s | peak MB | CPU s of {REFERENCE} | peak MB | ratio | goal |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (measure, _, old_words, [own, other]) in &seen {
        let own_cells = format!("{:.2} | {:.2} | {:.0}", own.cpu_s, own.wall_s, own.peak_mb);
        let others = match old_words {
            Some(_) => format!(
                "{:.2} | {:.0} | {:.2} | {}",
                other.cpu_s,
                other.peak_mb,
                own.cpu_s / other.cpu_s,
                measure.goal.map_or(String::new(), |goal| goal.to_string())
            ),
            None => " | | | ".to_owned(),
        };
        println!("| {} | {own_cells} | {others} |", measure.name);
    }
    Ok(())
}

/// Words for the current program, and for the reference if it has the command.
fn scenario_words(
    measure: &Measure,
    tree: &Path,
    folder: &Path,
) -> io::Result<(Vec<String>, Option<Vec<String>>)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let with = |scenarios: &Path| -> Vec<String> {
        let is_file = |word: &str| word.ends_with(".toml") || word.ends_with(".csv");
        let placed = |word: &&str| {
            if is_file(word) {
                scenarios.join(word).display().to_string()
            } else {
                (*word).to_owned()
            }
        };
        let mut words: Vec<String> = measure.words.iter().map(placed).collect();
        if measure.words[0] == "run" {
            words.extend(["--jobs", "1"].map(str::to_owned));
        }
        words
    };
    if !measure.is_old {
        return Ok((with(&here), None));
    }
    let old = tree.join("scenarios");
    let file = measure.words[1];
    let mut text = std::fs::read_to_string(old.join(file))?;
    for (from, to) in RENAMED {
        text = text.replace(from, to);
    }
    let copy: PathBuf = folder.join(file);
    std::fs::write(copy, text)?;
    Ok((with(folder), Some(with(&old))))
}
