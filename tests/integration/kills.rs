//! A command that is killed at any moment and run again has the output of an undisturbed one, byte by byte, and nothing else.
//! Runs with records in all formats: `resume`.
//!
//! `cargo test --test integration kills` kills each a few times. A larger number, for example after changes to output code:
//!
//! ```sh
//! SCAVSIM_KILLS=400 cargo test --test integration kills -- --ignored --nocapture
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use scavsim::rng::mix;

use crate::result_folders::POLICIES;
use crate::sandbox::{Sandbox, repository_file};

/// A command that writes.
struct Step {
    /// Its words, separated by blanks.
    command: &'static str,
    again: Again,
}

/// How it is run after a kill.
#[derive(Clone, Copy)]
enum Again {
    /// As before, with these additional words.
    With(&'static str),
    /// As before, unless it is complete: it refuses a folder that is not empty.
    IfLacking,
}

/// The output of some commands one after another, and the files that they read.
struct Sink {
    name: &'static str,
    files: &'static [(&'static str, Text)],
    steps: &'static [Step],
}

/// The text of a file: a test's own, or that of a file of this repository.
#[derive(Clone, Copy)]
enum Text {
    Own(&'static str),
    Of(&'static str),
}

const SEARCH: Text = Text::Own(
    "workloads = [\"scavenger-resnet18\"]\nreplicas = 1500\nvariation = { step_cv = 0.05, epoch_cv = 0.02 }\n\
     search = { strategies = [\"oracle\", \"random\"], objectives = [\"time\"] }\n",
);
const SCENARIO: &[(&str, Text)] = &[("scenario.toml", SEARCH)];

const fn step(command: &'static str, again: &'static str) -> Step {
    let again = Again::With(again);
    Step { command, again }
}

const SINKS: &[Sink] = &[
    Sink {
        name: "shards",
        files: SCENARIO,
        steps: &[
            step("run scenario.toml --out out --shard 1/2", ""),
            step("run scenario.toml --out out --shard 2/2", ""),
            step("merge out", ""),
        ],
    },
    Sink {
        name: "policies",
        files: &[("lives.toml", Text::Own(POLICIES))],
        steps: &[step(
            "run lives.toml --out out --set market.replicas=3000",
            "--resume",
        )],
    },
    Sink {
        name: "comparison",
        files: SCENARIO,
        steps: &[step("compare scenario.toml --out out", "")],
    },
    Sink {
        name: "submission",
        files: &[("tiny.toml", Text::Of("tests/corpus/suites/tiny/suite.toml"))],
        steps: &[step(
            "bench run --suite tiny.toml --strategy cherrypick --out out",
            "",
        )],
    },
    Sink {
        name: "exported suite",
        files: &[("tiny.toml", Text::Of("tests/corpus/suites/tiny/suite.toml"))],
        steps: &[Step {
            command: "bench export out --suite tiny.toml",
            again: Again::IfLacking,
        }],
    },
    Sink {
        name: "page of a paper",
        files: &[
            (
                "paper/paper.toml",
                Text::Of("tests/corpus/papers/small/paper.toml"),
            ),
            (
                "paper/rows.csv",
                Text::Of("tests/corpus/papers/small/rows.csv"),
            ),
            (
                "paper/figures.csv",
                Text::Of("tests/corpus/papers/small/figures.csv"),
            ),
        ],
        steps: &[step("reproduce ./paper --report page.html", "")],
    },
    Sink {
        name: "trace",
        files: SCENARIO,
        steps: &[step(
            "trace scenario.toml --case 3 --out out --max-events 9000",
            "",
        )],
    },
    Sink {
        name: "imported market",
        files: &[(
            "us-east-1a.json",
            Text::Of("tests/corpus/market-traces/two-zones/us-east-1a.json"),
        )],
        steps: &[step(
            "import market us-east-1a.json --on-demand-usd-per-h 3 --spot-usd-per-h 1 --out out",
            "--force",
        )],
    },
];

/// All files of a folder by their paths, including hidden ones, and its empty folders.
type Tree = BTreeMap<String, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let entry = entry.expect("it is readable");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let within = tree(&entry.path());
            if within.is_empty() {
                all.insert(format!("{name}/"), Vec::new());
            }
            all.extend(
                within
                    .into_iter()
                    .map(|(path, bytes)| (format!("{name}/{path}"), bytes)),
            );
        } else {
            all.insert(name, fs::read(entry.path()).expect("it is readable"));
        }
    }
    all
}

fn start(sandbox: &Sandbox, step: &Step, is_again: bool) -> Child {
    let again = match step.again {
        Again::With(words) if is_again => words,
        _ => "",
    };
    let words = step.command.split(' ').chain(again.split_whitespace());
    let mut command = sandbox.scavsim();
    command.args(words).args(["--prices", "builtin"]);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.stderr(Stdio::piped()).spawn();
    child.expect("the program can be started")
}

/// Runs a step to its end.
fn run(sandbox: &Sandbox, step: &Step, is_again: bool) {
    let output = start(sandbox, step, is_again).wait_with_output();
    let output = output.expect("it is our child");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", step.command);
}

/// The output of commands without kills.
struct Undisturbed<'s> {
    sink: &'s Sink,
    left: Tree,
    took: Vec<Duration>,
}

impl<'s> Undisturbed<'s> {
    fn of(sink: &'s Sink) -> Undisturbed<'s> {
        let sandbox = Undisturbed::sandbox(sink);
        let took = sink.steps.iter().map(|step| {
            let begun = Instant::now();
            run(&sandbox, step, false);
            begun.elapsed()
        });
        Undisturbed {
            sink,
            took: took.collect(),
            left: tree(&sandbox.path(".")),
        }
    }

    fn sandbox(sink: &Sink) -> Sandbox {
        let sandbox = Sandbox::new();
        for (name, text) in sink.files {
            match text {
                Text::Own(text) => sandbox.write(name, text),
                Text::Of(file) => sandbox.write(name, &repository_file(file)),
            }
        }
        sandbox
    }

    /// Runs the commands with kills at moments from a random number; returns the number of kills before the end.
    fn killed(&self, number: u64) -> u64 {
        let sandbox = Undisturbed::sandbox(self.sink);
        let mut drawn = 0;
        let mut share = || {
            drawn += 1;
            mix(number, drawn) as f64 / u64::MAX as f64
        };
        let struck = (share() * self.sink.steps.len() as f64) as usize;
        let mut kills = 0;
        for (at, (step, took)) in self.sink.steps.iter().zip(&self.took).enumerate() {
            let mut is_again = false;
            // One in three is killed again when it continues.
            while at == struck && (!is_again || share() < 1.0 / 3.0) {
                let mut child = start(&sandbox, step, is_again);
                // Half of them near the end, where files are renamed.
                let from = if share() < 0.5 { 0.8 } else { 0.0 };
                std::thread::sleep(took.mul_f64(from + (1.1 - from) * share()));
                child.kill().expect("it is our child");
                let status = child.wait().expect("it is our child");
                kills += u64::from(status.code().is_none());
                is_again = true;
            }
            let is_whole = || tree(&sandbox.path(".")) == self.left;
            if !(is_again && matches!(step.again, Again::IfLacking) && is_whole()) {
                run(&sandbox, step, is_again);
            }
        }
        let left = tree(&sandbox.path("."));
        let name = self.sink.name;
        let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&left), names(&self.left), "{name}, kill {number}");
        for (file, bytes) in &self.left {
            assert!(
                left[file] == *bytes,
                "{name}, kill {number}: {file} differs"
            );
        }
        kills
    }
}

/// Kills until there were `count` kills, and at least one for each sink, in turn.
fn kill(count: u64) {
    let all: Vec<Undisturbed> = SINKS.iter().map(Undisturbed::of).collect();
    let mut kills = vec![0; all.len()];
    for number in 0.. {
        if kills.iter().sum::<u64>() >= count && kills.iter().all(|kills| *kills > 0) {
            break;
        }
        let at = number as usize % all.len();
        kills[at] += all[at].killed(number);
        assert!(
            number < 20 * count,
            "kills that came before the end: {kills:?}"
        );
    }
    for (of, kills) in all.iter().zip(kills) {
        let took = of.took.iter().sum::<Duration>();
        println!(
            "{:<28} {kills:>4} kills, undisturbed {took:.2?}",
            of.sink.name
        );
    }
}

#[test]
fn what_is_killed_and_run_again_leaves_what_it_leaves_undisturbed() {
    kill(2 * SINKS.len() as u64);
}

#[test]
#[ignore = "takes minutes"]
fn what_is_killed_very_often_leaves_the_same() {
    let count = std::env::var("SCAVSIM_KILLS").map_or(400, |n| n.parse().expect("a number"));
    kill(count);
}
