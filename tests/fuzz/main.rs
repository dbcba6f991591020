//! Whatever somebody writes is read, run or refused: no panic, no hang over 20 s, no more than 1 GB. The longest of the shipped
//! scenarios takes 8.5 s here.
//!
//! Every input is a file of `tests/corpus`, or a result of a run, with a few changes that leave most of its structure.
//! `cargo test --test fuzz` takes some thousands of them. The long run:
//!
//! ```sh
//! cargo test --release --test fuzz -- --ignored --nocapture
//! ```
//!
//! takes a million. `SCAVSIM_FUZZ_INPUTS` is their number, `SCAVSIM_FUZZ_SEED` gives others, `SCAVSIM_FUZZ_TARGET` names
//! one of the targets. An input that fails is kept in the folder that the message names; put into `tests/corpus`, mended, it is
//! tried for ever. In a binary of its own, because counting memory replaces the allocator.
//!
//! - [`luck`], [`mutate`]: the changes. [`inputs`], [`texts`], [`results`]: the targets.

// A test tells one story from its beginning to its end.
#![allow(clippy::too_many_lines)]

mod inputs;
mod luck;
mod mutate;
mod results;
mod texts;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use luck::Luck;

/// What an input may take.
const MOST_S: u64 = 20;
const MOST_BYTES: u64 = 1 << 30;

/// Something that reads what people write.
pub struct Target {
    /// As in `SCAVSIM_FUZZ_TARGET`.
    pub name: &'static str,
    /// Of a thousand inputs, how many are for it.
    pub share: u64,
    /// Reads one input: the changed files, in a folder of its own. What it says with a panic is a fault.
    pub read: Box<dyn Fn(&Path)>,
    /// The files that are changed, as sets of names and contents that belong together.
    pub seeds: Vec<Files>,
}

/// Names and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// The files of each folder in a folder of the corpus.
pub fn corpus(target: &str) -> Vec<Files> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(target);
    let mut sets: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the corpus is checked in")
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    sets.sort();
    sets.iter().map(|set| files_of(set)).collect()
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

/// An input: a set of files of which one or two are changed. The first inputs are the sets as they are.
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
    /// Where the last panic of this thread was, and what it said.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a run of inputs came to.
struct Faults {
    kept: PathBuf,
    /// By place and words; how often, and where the first input is.
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

/// When the input in hand began, in milliseconds after the start; 0 for none.
static BEGAN: AtomicU64 = AtomicU64::new(0);

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
            let began = BEGAN.load(Ordering::Relaxed);
            let now = start.elapsed().as_millis() as u64;
            if began > 0 && now.saturating_sub(began) > 1000 * MOST_S {
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
    let wanted = std::env::var("SCAVSIM_FUZZ_TARGET").ok();
    let targets = [
        inputs::targets(),
        texts::targets(),
        results::targets(scratch.path()),
    ];
    for target in targets.into_iter().flatten() {
        if wanted
            .as_deref()
            .is_some_and(|wanted| wanted != target.name)
        {
            continue;
        }
        let share = if wanted.is_some() { 1000 } else { target.share };
        let count = (inputs * share / 1000).max(target.seeds.len() as u64);
        let began = Instant::now();
        let (mut longest, mut largest) = (Duration::ZERO, 0);
        for number in 0..count {
            let mut luck = Luck::new(seed, number);
            let files = input(&target, number, &mut luck);
            let folder = scratch.path().join("input");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir(&folder).expect("it is writable");
            for (name, contents) in &files {
                fs::write(folder.join(name), contents).expect("it is writable");
            }
            let at = Instant::now();
            BEGAN.store(1 + start.elapsed().as_millis() as u64, Ordering::Relaxed);
            let mut done = Ok(());
            let memory = allocation_counter::measure(|| {
                done = panic::catch_unwind(AssertUnwindSafe(|| (target.read)(&folder)));
            });
            BEGAN.store(0, Ordering::Relaxed);
            longest = longest.max(at.elapsed());
            largest = largest.max(memory.bytes_max);
            if done.is_err() {
                faults.add(PANIC.with_borrow(String::clone), target.name, &files);
            }
            if memory.bytes_max > MOST_BYTES {
                faults.add(
                    format!("{}: over 1 GB of memory", target.name),
                    target.name,
                    &files,
                );
            }
        }
        println!(
            "{:<10} {count:>8} inputs, {:>6.0} s, the longest {:>5.0} ms, at most {:>4} MB",
            target.name,
            began.elapsed().as_secs_f64(),
            longest.as_secs_f64() * 1e3,
            largest >> 20
        );
    }
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
