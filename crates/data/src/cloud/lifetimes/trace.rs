use std::collections::HashMap;
use std::sync::Arc;

use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

/// When VMs came and went in a measured cluster that asked for as many as it could get.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    changes: Vec<Change>,
    pub mean_held: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Seconds since the beginning of the trace, or of its replay.
    pub at_s: u64,
    pub held: u32,
    pub added: u32,
    pub removed: u32,
}

impl Change {
    fn held_after(self) -> u32 {
        self.held + self.added - self.removed
    }
}

impl Declared for Trace {
    const DECLARATION: Declaration = Declaration {
        name: "trace",
        what: "Losses and additions of a measured cluster are replayed from a random time on; behind its end it begins again, where the market has another size at once and nobody is lost.",
        formula: "",
        source: "AWS 2020",
        example: "spot.lifetime = \"aws-2020-p3-trace\"",
    };
}

impl Trace {
    /// From (seconds, added, removed), rising in time; `None` if more are removed than held, or no VMs are held in between.
    pub fn new(rows: &[(u64, u32, u32)]) -> Option<Self> {
        let (first, last) = (rows.first()?.0, rows.last()?.0);
        let mut changes: Vec<Change> = Vec::with_capacity(rows.len());
        let mut vm_seconds = 0.0;
        for &(at_s, added, removed) in rows {
            let at_s = at_s.checked_sub(first)?;
            let mut held = 0;
            if let Some(before) = changes.last() {
                held = before.held_after();
                let since = at_s.checked_sub(before.at_s).filter(|since| *since > 0)?;
                vm_seconds += f64::from(held) * since as f64;
            }
            if removed > held || held.checked_add(added).is_none() {
                return None;
            }
            changes.push(Change {
                at_s,
                held,
                added,
                removed,
            });
        }
        let length_s = last.checked_sub(first).filter(|length| *length > 0)?;
        let mean_held = vm_seconds / length_s as f64;
        (mean_held > 0.0).then_some(Trace { changes, mean_held })
    }

    /// All changes in order, the first at 0 s.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Length in whole seconds: a replay begins at any time before.
    pub fn length_s(&self) -> u64 {
        self.changes.last().map_or(0, |last| last.at_s)
    }

    pub fn length_h(&self) -> f64 {
        self.length_s() as f64 / SECONDS_PER_HOUR
    }

    /// VMs held at a time of the trace, what changes then included.
    pub fn held_at(&self, at_s: u64) -> u32 {
        let next = self.changes.partition_point(|change| change.at_s <= at_s);
        let last = next.checked_sub(1).and_then(|last| self.changes.get(last));
        last.map_or(0, |change| change.held_after())
    }

    /// The changes after `start_s`, in seconds from it, endlessly: the trace repeats from its first count, without losses at
    /// the seam.
    pub fn replay(&self, start_s: u64) -> TraceReplay<'_> {
        TraceReplay {
            trace: self,
            cursor: self.cursor(start_s),
        }
    }

    /// The place before the changes after `start_s`; [`next`](Self::next) goes on from it.
    pub fn cursor(&self, start_s: u64) -> Cursor {
        let start_s = start_s % self.length_s().max(1);
        Cursor {
            next: self
                .changes
                .partition_point(|change| change.at_s <= start_s),
            start_s,
            rounds_s: 0,
        }
    }

    /// The change behind `cursor`, as [`replay`](Self::replay) gives it.
    pub fn next(&self, cursor: &mut Cursor) -> Option<Change> {
        let changes = &self.changes;
        let seam = cursor.next >= changes.len();
        if seam {
            cursor.next = 0;
            cursor.rounds_s = cursor.rounds_s.checked_add(self.length_s())?;
        }
        let mut change = *changes.get(cursor.next)?;
        if seam {
            // Where fewer were held at the beginning, the size changes all the same: nobody lost them.
            change.held = changes.last()?.held_after();
            change.added = change.added.saturating_sub(change.held);
        }
        cursor.next += 1;
        change.at_s = change.at_s.checked_add(cursor.rounds_s)? - cursor.start_s;
        Some(change)
    }

    /// P(a VM held at a random time of the trace is lost within `hours`); `None` if the trace is not longer than that.
    pub fn lost_by(&self, hours: f64) -> Option<f64> {
        let latest_h = self.length_h() - hours;
        (latest_h > 0.0).then(|| self.lost_from(hours, latest_h))
    }

    /// P(a VM is lost within `hours`), counted up to `latest_h`: mean over those times, weighted with the VMs held.
    fn lost_from(&self, hours: f64, latest_h: f64) -> f64 {
        const TIMES: u32 = 512;
        let (mut lost, mut all) = (0.0, 0.0);
        for time in 0..TIMES {
            let start_h = latest_h * (f64::from(time) + 0.5) / f64::from(TIMES);
            let start_s = start_h * SECONDS_PER_HOUR;
            let end_s = start_s + hours * SECONDS_PER_HOUR;
            let next = (self.changes).partition_point(|change| change.at_s as f64 <= start_s);
            let mut survival = 1.0;
            for change in &self.changes[next..] {
                if change.at_s as f64 > end_s {
                    break;
                }
                if change.held > 0 {
                    survival *= 1.0 - f64::from(change.removed) / f64::from(change.held);
                }
            }
            let held = f64::from(self.held_at(start_s as u64));
            lost += held * (1.0 - survival);
            all += held;
        }
        if all > 0.0 { lost / all } else { 0.0 }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    next: usize,
    start_s: u64,
    rounds_s: u64,
}

#[derive(Debug, Clone)]
pub struct TraceReplay<'t> {
    trace: &'t Trace,
    cursor: Cursor,
}

impl Iterator for TraceReplay<'_> {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        self.trace.next(&mut self.cursor)
    }
}

pub(super) fn read(source: &Arc<Source>, d: &mut Diagnostics) -> HashMap<String, Trace> {
    const MOST: u64 = 1_000_000;
    let table = Table::read(source, &["name", "at_s", "added", "removed"], &[], d);
    let mut rows: HashMap<&str, Vec<(u64, u32, u32)>> = HashMap::new();
    let mut held: HashMap<&str, u64> = HashMap::new();
    for row in table.iter().flat_map(Table::rows) {
        let cells = (
            row.text("name", d),
            row.whole_number("at_s", ..=u64::MAX / 4, d),
        );
        let counts = (
            row.whole_number("added", ..=MOST, d),
            row.whole_number("removed", ..=MOST, d),
        );
        let ((Some(name), Some(at_s)), (Some(added), Some(removed))) = (cells, counts) else {
            continue;
        };
        let trace = rows.entry(name).or_default();
        let held = held.entry(name).or_default();
        if trace.last().is_some_and(|last| at_s <= last.0) {
            let title = format!("`at_s` of `{name}` does not rise");
            row.report("at_s", title, "not after the row before", d);
        } else if removed > *held {
            let title = format!("`{name}` loses {removed} VMs of {held}");
            row.report("removed", title, "more than are held", d);
        } else if *held + added > MOST {
            let title = format!("`{name}` holds more than {MOST} VMs");
            row.report("added", title, "too many", d);
        } else {
            *held = *held + added - removed;
            trace.push((at_s, added as u32, removed as u32));
        }
    }
    let mut traces = HashMap::new();
    for (name, rows) in rows {
        match Trace::new(&rows) {
            Some(trace) => {
                traces.insert(name.to_owned(), trace);
            }
            None => d.error_at(
                source,
                0..0,
                format!("`{name}` holds no VM at any time"),
                "in this table",
            ),
        }
    }
    traces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::stream;
    use scavsim_base::stats::kolmogorov_smirnov_against;

    fn trace() -> Trace {
        let rows = [
            (600, 4, 0),
            (1800, 2, 0),
            (3600, 0, 3),
            (7200, 4, 1),
            (9600, 0, 2),
        ];
        Trace::new(&rows).expect("it is legal")
    }

    #[test]
    fn a_replay_meets_the_changes_after_its_beginning_and_goes_round() {
        let trace = trace();
        assert_eq!((trace.length_s(), trace.held_at(3000)), (9000, 3));
        let seen: Vec<(u64, u32, u32, u32)> = (trace.replay(1200).take(6))
            .map(|c| (c.at_s, c.held, c.added, c.removed))
            .collect();
        let expected = [
            (1800, 6, 0, 3),
            (5400, 3, 4, 1),
            (7800, 6, 0, 2),
            // The seam: four VMs at either end.
            (7800, 4, 0, 0),
            (9000, 4, 2, 0),
            (10800, 6, 0, 3),
        ];
        assert_eq!(seen, expected);
        let held = 4.0 * 1200.0 + 6.0 * 1800.0 + 3.0 * 3600.0 + 6.0 * 2400.0;
        assert!((trace.mean_held - held / 9000.0).abs() < 1e-12);
    }

    /// Four thousand lives, cut at 6 h; one false alarm in a hundred for each trace, at this fixed seed.
    #[test]
    fn lives_in_replays_are_those_that_the_trace_foretells() {
        let text = include_str!("../../../../../data/clouds/lifetimes/trace.csv");
        let source = Source::new("trace.csv", text);
        let mut traces = read(&source, &mut Diagnostics::default());
        for (name, latest_h) in [("aws-2020-p3", 5.0), ("aws-2020-g4dn", 4.0)] {
            let trace = traces.remove(name).expect("it is there");
            const LONGEST_H: f64 = 6.0;
            let mut lives = Vec::new();
            let mut stream = stream(8);
            let most = (trace.changes().iter().map(|c| c.held)).max().unwrap_or(0);
            while lives.len() < 4000 {
                let start_s = (stream.uniform() * latest_h * SECONDS_PER_HOUR) as u64;
                // A VM held at a random time: times count by how many are held.
                if stream.below(most as usize) >= trace.held_at(start_s) as usize {
                    continue;
                }
                let lost = trace.replay(start_s).find(|change| {
                    let is_behind = change.at_s as f64 > LONGEST_H * SECONDS_PER_HOUR;
                    is_behind || stream.below(change.held as usize) < change.removed as usize
                });
                let life_s = lost.map_or(u64::MAX, |change| change.at_s);
                lives.push((life_s as f64 / SECONDS_PER_HOUR).min(LONGEST_H));
            }
            let cdf = |t: f64| {
                if t < LONGEST_H {
                    trace.lost_from(t, latest_h)
                } else {
                    1.0
                }
            };
            let before = |t: f64| trace.lost_from(t.min(LONGEST_H), latest_h);
            let test = kolmogorov_smirnov_against(&lives, cdf, before);
            assert!(test.p_value > 0.01, "{name}: {test:?}");
        }
    }

    #[test]
    fn rows_that_are_no_trace_are_refused() {
        for rows in [
            &[][..],
            &[(0, 1, 0)],
            &[(0, 1, 0), (0, 1, 0)],
            &[(9, 1, 0), (5, 1, 0)],
            &[(0, 1, 0), (5, 0, 2)],
            &[(0, 0, 0), (5, 0, 0)],
            &[(0, u32::MAX, 0), (5, 1, 0)],
        ] {
            assert_eq!(Trace::new(rows), None, "{rows:?}");
        }
    }
}
