//! Any input is read, run or refused: no panic, no more than 10 s of a processor, no more than 2 GB.
//!
//! Every input is a file of `tests/corpus`, a shipped one, or a result of a run, with a few changes that keep most of its
//! structure. `cargo test --test fuzz` tries some thousands of them. The long run:
//!
//! ```sh
//! cargo test --release --test fuzz -- --ignored --nocapture
//! ```
//!
//! tries a million. `SCAVSIM_FUZZ_INPUTS` is their number, `SCAVSIM_FUZZ_SEED` selects others, `SCAVSIM_FUZZ_TARGET` names
//! one of the targets. A failing input stays in the folder that the message names; once it is fixed and copied to
//! `tests/corpus`, it is tried in every run. In a binary of its own, because counting memory replaces the allocator.
//!
//! - [`seeds`], [`luck`], [`mutate`]: the files, and their changes.
//! - [`inputs`], [`texts`], [`models`], [`policies`], [`suites`], [`results`]: the targets, each with its reader.

// A test tells one story from its beginning to its end.
#![allow(clippy::too_many_lines)]

mod inputs;
mod luck;
mod models;
mod mutate;
mod policies;
mod results;
mod seeds;
mod suites;
mod texts;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use luck::Luck;
use seeds::{Files, files_of};

/// Limits of an input: seconds of a processor, which do not depend on other processes; and of the clock, if it waits.
const MOST_S: u64 = 10;
const MOST_WAITING_S: u64 = 60;
const MOST_BYTES: u64 = 2 << 30;

/// A reader of user input.
pub struct Target {
    /// The name in `SCAVSIM_FUZZ_TARGET`.
    name: &'static str,
    /// The share of all inputs, relative to the other targets.
    share: u64,
    /// The files that are changed, as sets of related names and contents.
    seeds: Vec<Files>,
    read: Reader,
}

/// Reads one input: the changed files, in a folder of its own. Returns whether it was accepted; a panic is a fault.
type Reader = Box<dyn Fn(&Path) -> bool>;

impl Target {
    /// A target with files that are changed, and their reader.
    pub fn new(
        name: &'static str,
        share: u64,
        seeds: Vec<Files>,
        read: impl Fn(&Path) -> bool + 'static,
    ) -> Target {
        let read = Box::new(read);
        Target {
            name,
            share,
            seeds,
            read,
        }
    }
}

/// An input: a set of files of which one or two are changed. The first inputs are the unchanged sets.
fn input(target: &Target, number: u64, luck: &mut Luck) -> Files {
    let seeds = &target.seeds;
    if let Some(seed) = seeds.get(number as usize) {
        return seed.clone();
    }
    let mut files = luck.pick(seeds).clone();
    for _ in 0..=usize::from(luck.once_in(4)) {
        let at = luck.below(files.len());
        let (name, contents) = &files[at];
        let alike = seeds
            .iter()
            .flatten()
            .filter(|(other, _)| ending(other) == ending(name));
        let others: Vec<&str> = alike
            .filter_map(|(_, bytes)| str::from_utf8(bytes).ok())
            .collect();
        files[at].1 = match str::from_utf8(contents) {
            Ok(text) => mutate::text(text, &others, luck).into_bytes(),
            Err(_) => mutate::bytes(contents, luck),
        };
    }
    files
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

thread_local! {
    /// Place and message of the last panic of this thread.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The faults of a run of inputs.
struct Faults {
    kept: PathBuf,
    /// Number of faults and the folder of the first input, by place and message.
    seen: BTreeMap<String, (u64, PathBuf)>,
}

impl Faults {
    fn add(&mut self, what: String, name: &str, files: &Files) {
        let folder = self.kept.join(format!("{name}-{}", self.seen.len()));
        let (count, _) = self.seen.entry(what).or_insert_with(|| {
            fs::create_dir_all(&folder).expect("it is writable");
            for (name, contents) in files {
                fs::write(folder.join(name), contents).expect("it is writable");
            }
            (0, folder)
        });
        *count += 1;
    }
}

/// Start of the current input, in milliseconds of the process's processors and of the clock; 0 for none.
static BEGAN: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Milliseconds of the process's processors and of the clock, above 0.
fn now(start: Instant) -> [u64; 2] {
    let used = ProcessTime::now().as_duration();
    [used, start.elapsed()].map(|time| 1 + time.as_millis() as u64)
}

/// The number of inputs of each target: its unchanged files, and its share of the damaged ones.
fn counts(targets: &[Target], inputs: u64) -> Vec<u64> {
    let all: u64 = targets.iter().map(|target| target.share).sum();
    let count = |target: &Target| inputs * target.share / all.max(1);
    (targets.iter())
        .map(|target| count(target) + target.seeds.len() as u64)
        .collect()
}

fn fuzz(inputs: u64, seed: u64) {
    let start = Instant::now();
    let scratch = tempfile::TempDir::new().expect("the temporary directory is writable");
    let kept = std::env::temp_dir().join(format!("scavsim-fuzz-{seed}"));
    let mut faults = Faults {
        kept: kept.clone(),
        seen: BTreeMap::new(),
    };
    panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|l| format!("{}:{}", l.file(), l.line()));
        let said = info.payload_as_str().unwrap_or("?").to_owned();
        PANIC.with_borrow_mut(|panic| *panic = format!("{}: {said}", place.unwrap_or_default()));
    }));
    let in_hand = scratch.path().to_owned();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let [used, waited] = [0, 1].map(|at| {
                let began = BEGAN[at].load(Ordering::Relaxed);
                let now = now(start)[at];
                if began > 0 {
                    now.saturating_sub(began)
                } else {
                    0
                }
            });
            if used > 1000 * MOST_S || waited > 1000 * MOST_WAITING_S {
                // The thread cannot be ended, so the process is; the input stays.
                let kept = kept.join("hang");
                let _ = fs::create_dir_all(&kept);
                for (name, contents) in files_of(&in_hand.join("input")) {
                    let _ = fs::write(kept.join(name), contents);
                }
                eprintln!("no end after {MOST_S} s: {}", kept.display());
                std::process::exit(1);
            }
        }
    });
    // Memory is counted per thread, so a single thread does all the work.
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build();
    let _alone = alone.expect("this thread is in no pool yet");
    let wanted = std::env::var("SCAVSIM_FUZZ_TARGET").ok();
    let targets = [
        inputs::targets(),
        texts::targets(),
        models::targets(),
        policies::targets(),
        suites::targets(scratch.path()),
        results::targets(scratch.path()),
    ];
    let mut targets: Vec<Target> = targets.into_iter().flatten().collect();
    targets.retain(|target| wanted.as_deref().is_none_or(|wanted| wanted == target.name));
    let (mut damaged, mut all) = (0, 0);
    for (target, count) in targets.iter().zip(counts(&targets, inputs)) {
        let began = Instant::now();
        let (mut longest, mut largest, mut taken) = (Duration::ZERO, 0, 0);
        for number in 0..count {
            let mut luck = Luck::new(seed, number);
            let files = input(target, number, &mut luck);
            let folder = scratch.path().join("input");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir(&folder).expect("it is writable");
            for (name, contents) in &files {
                fs::write(folder.join(name), contents).expect("it is writable");
            }
            let at = Instant::now();
            for (began, now) in BEGAN.iter().zip(now(start)) {
                began.store(now, Ordering::Relaxed);
            }
            let mut done = Ok(false);
            let memory = allocation_counter::measure(|| {
                done = panic::catch_unwind(AssertUnwindSafe(|| (target.read)(&folder)));
            });
            BEGAN
                .iter()
                .for_each(|began| began.store(0, Ordering::Relaxed));
            longest = longest.max(at.elapsed());
            largest = largest.max(memory.bytes_max);
            taken += u64::from(matches!(done, Ok(true)));
            if done.is_err() {
                faults.add(PANIC.with_borrow(String::clone), target.name, &files);
            }
            if memory.bytes_max > MOST_BYTES {
                faults.add(
                    format!("{}: over 2 GB of memory", target.name),
                    target.name,
                    &files,
                );
            }
            // The first inputs are unchanged, or failed once and were fixed.
            if number + 1 == target.seeds.len() as u64 && taken == 0 {
                let what = format!("{}: not one of the files is taken as it is", target.name);
                faults.add(what, target.name, &files);
            }
        }
        damaged += count - target.seeds.len() as u64;
        all += count;
        println!(
            "{:<14} {count:>7} inputs, {taken:>7} taken, {:>6.1} s, the longest {:>5.0} ms, at most {:>4} MB",
            target.name,
            began.elapsed().as_secs_f64(),
            longest.as_secs_f64() * 1e3,
            largest >> 20
        );
    }
    println!(
        "{damaged} damaged inputs of {all}, {:.0} s, {:.0} s of processors",
        start.elapsed().as_secs_f64(),
        ProcessTime::now().as_duration().as_secs_f64()
    );
    drop(panic::take_hook());
    for (what, (count, folder)) in &faults.seen {
        println!("{count} × {what}\n    {}", folder.display());
    }
    assert!(faults.seen.is_empty(), "{} faults", faults.seen.len());
}

fn number(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is to be a number")),
        Err(_) => usual,
    }
}

#[test]
fn some_thousand_inputs_are_read_or_refused() {
    fuzz(
        number("SCAVSIM_FUZZ_INPUTS", 4_000),
        number("SCAVSIM_FUZZ_SEED", 1),
    );
}

#[test]
#[ignore = "takes an hour"]
fn a_million_inputs_are_read_or_refused() {
    fuzz(
        number("SCAVSIM_FUZZ_INPUTS", 1_000_000),
        number("SCAVSIM_FUZZ_SEED", 2),
    );
}
