//! Makes a draft legal, and reduces one that violates a law, by leaving out lines.

use std::time::{Duration, Instant};

use crate::draft::{BASE, Draft, Line};
use crate::hints::{list, string};
use crate::luck::Luck;
use crate::program::{Not, Program, Wrong};

/// Number of attempts before a draft is given up.
const TRIES: usize = 40;

/// A draft without its mistakes; `None` if nothing legal is left.
///
/// # Errors
/// That reading it crashed.
pub fn legal(mut draft: Draft, program: &Program) -> Result<Option<Draft>, String> {
    let mut luck = Luck::new(0x1e9a1, draft.number);
    for _ in 0..TRIES {
        match program.check(&draft) {
            Ok(()) => return Ok(Some(draft)),
            Err(Not::Refused(all)) if all.is_empty() => {
                return Err("refused without a reason".to_owned());
            }
            Err(Not::Refused(all)) => draft = without(draft, &all, &mut luck),
            Err(Not::TooSlow) => return Ok(None),
            Err(Not::Crashed(said)) => return Err(said),
        }
    }
    Ok(None)
}

/// Required keys.
const NEEDED: [&str; 10] = [
    "workloads",
    "grid",
    "bag.jobs",
    "bag.job_times",
    "parallel.profile",
    "parallel.model",
    "parallel.nodes",
    "parallel.global_batch",
    "pricing.policies",
    "search.strategies",
];

/// Leaves out lines that mistakes name or point at; if there are none, a random one.
fn without(mut draft: Draft, all: &[Wrong], luck: &mut Luck) -> Draft {
    if all.iter().any(|wrong| wrong.file.ends_with(BASE)) {
        return draft.flat();
    }
    let before = draft.lines.len();
    let listed = draft.text();
    // Places refer to the draft as it was read.
    let read = draft.lines.clone();
    for wrong in all {
        let named: Vec<&str> = wrong.said.split('`').skip(1).step_by(2).collect();
        let place = wrong.line.and_then(|line| read.get(line - 1));
        match (wrong.said.split(' ').next(), named.first()) {
            (Some("pricing"), Some(name)) => not_listed(
                &mut draft,
                "pricing.policies",
                name.split(' ').next().unwrap_or(name),
            ),
            (Some("strategy"), Some(name)) => not_listed(&mut draft, "search.strategies", name),
            _ => {
                let in_table = |key: &str| {
                    let table = place.map_or(String::new(), |line| {
                        line.path[..line.path.len() - 1].join(".")
                    });
                    format!("{table}.{key}")
                };
                let keys = named
                    .iter()
                    .flat_map(|key| [(*key).to_owned(), in_table(key)]);
                let key = keys.into_iter().find(|key| {
                    draft
                        .lines
                        .iter()
                        .any(|line| line.is_in(key) && !is_needed(&line.path))
                });
                let key = key.or_else(|| place.map(|line| line.path.join(".")));
                if let Some(key) = key {
                    // Lines of a whole subject are removed one at a time.
                    let is_ground = ["bag", "parallel", "cluster"].contains(&&*key);
                    let own = |line: &Line| line.is_in(&key) && !is_needed(&line.path);
                    let count = draft.lines.iter().filter(|line| own(line)).count();
                    if is_ground && count > 0 {
                        one_of(&mut draft, luck, own)
                    } else {
                        draft.lines.retain(|line| !own(line))
                    }
                }
            }
        }
    }
    if draft.lines.len() == before && draft.text() == listed {
        one_of(&mut draft, luck, |line| !is_needed(&line.path));
    }
    // A file that is not included is no part of it.
    if !draft.base.is_empty() && !draft.lines.iter().any(|line| line.is_in("include")) {
        return draft.flat();
    }
    draft
}

fn is_needed(path: &[String]) -> bool {
    NEEDED.contains(&&*path.join("."))
}

/// Leaves out a random line for which `goes` is true, if there is one.
fn one_of(draft: &mut Draft, luck: &mut Luck, goes: impl Fn(&Line) -> bool) {
    let all = draft
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| goes(line));
    let all: Vec<usize> = all.map(|(at, _)| at).collect();
    if !all.is_empty() {
        draft.lines.remove(*luck.pick(&all));
    }
}

/// Removes a name from a list, and its definition.
fn not_listed(draft: &mut Draft, key: &str, name: &str) {
    let Some(line) = draft.lines.iter_mut().find(|line| line.is_in(key)) else {
        return;
    };
    let names = line
        .value
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|other| *other != name);
    line.value = list(names.map(string));
    let suffix = format!("={name}");
    line.points.retain(|point| !point.ends_with(&suffix));
    let defined = match key {
        "pricing.policies" => format!("pricing.define.{name}"),
        _ => format!("strategy.{name}"),
    };
    draft.lines.retain(|line| !line.is_in(&defined));
}

/// The draft with as few lines as still violate the law, within the time limit.
pub fn smaller(draft: Draft, breaks: impl Fn(&Draft) -> bool, patience: Duration) -> Draft {
    let until = Instant::now() + patience;
    let mut small = draft.flat();
    if !breaks(&small) {
        return draft;
    }
    let mut at = 0;
    while at < small.lines.len() && Instant::now() < until {
        let mut fewer = small.clone();
        fewer.lines.remove(at);
        if breaks(&fewer) {
            small = fewer
        } else {
            at += 1
        }
    }
    small
}
