//! What the records of one task come to in a summary.

use std::io;

use super::chosen::{Chosen, Seen};
use super::gather::Part;
use super::record::{Record, Status};
use super::stored::{Reader, Writer};
use super::summary::MOST_REASONS;
use super::tally::{METRICS, Tally};
use scavsim_base::stats::RunningMedian;

/// What the records of one task come to, by groups in the order in which they came.
pub struct SummaryPart {
    across_vms: bool,
    pub(super) groups: Vec<Cases>,
    /// The first group of the strategy of the last record.
    begin: usize,
    /// The group behind that of the last record.
    next: usize,
}

/// What tells groups apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) setting: String,
    pub(super) workload: String,
    pub(super) pricing: String,
    pub(super) objective: String,
    pub(super) strategy: String,
}

/// Cases of one group.
#[derive(Clone)]
pub(super) struct Cases {
    pub(super) key: Key,
    pub(super) oracle: Option<Chosen>,
    /// With how each was obtained, and how often it was chosen.
    pub(super) choices: Vec<(Chosen, Option<String>, u64)>,
    pub(super) reasons: Vec<(String, u64)>,
    pub(super) tally: Tally,
    pub(super) medians: Vec<RunningMedian>,
}

impl Key {
    fn of(record: &Record<'_>) -> Key {
        Key {
            setting: record.setting.to_owned(),
            workload: record.workload.to_owned(),
            pricing: record.pricing.to_owned(),
            objective: record.objective.to_owned(),
            strategy: record.strategy.to_owned(),
        }
    }

    fn is(&self, record: &Record<'_>) -> bool {
        self.objective == record.objective
            && self.pricing == record.pricing
            && self.has_strategy_of(record)
    }

    fn has_strategy_of(&self, record: &Record<'_>) -> bool {
        self.strategy == record.strategy
            && self.workload == record.workload
            && self.setting == record.setting
    }
}

impl Cases {
    /// None of a group yet.
    fn of(key: Key, oracle: Option<Chosen>) -> Cases {
        Cases {
            key,
            oracle,
            choices: Vec::new(),
            reasons: Vec::new(),
            tally: Tally::default(),
            medians: vec![RunningMedian::new(); METRICS.len()],
        }
    }

    /// None of the same group.
    pub(super) fn none(&self) -> Cases {
        Cases::of(self.key.clone(), self.oracle.clone())
    }

    fn take(&mut self, record: &Record<'_>, across_vms: bool) {
        if let Some(seen) = Seen::choice(record) {
            let seen = if across_vms { seen.on_any_vm() } else { seen };
            let choices = &mut self.choices;
            match choices.iter_mut().find(|(chosen, ..)| seen.is(chosen)) {
                Some((.., count)) => *count += 1,
                None => {
                    let provenance = record.provenance.filter(|_| !across_vms);
                    let provenance = provenance.map(str::to_owned);
                    choices.push((seen.to_owned(), provenance, 1));
                }
            }
        }
        if record.status == Status::Failed {
            self.count_reason(&record.reason, 1);
        }
        let medians = &mut self.medians;
        (self.tally).take(record, |at, value| medians[at].add(value));
    }

    fn count_reason(&mut self, reason: &str, count: u64) {
        match self.reasons.iter().position(|(why, _)| *why == reason) {
            Some(at) => self.reasons[at].1 += count,
            None if self.reasons.len() < MOST_REASONS => {
                self.reasons.push((reason.to_owned(), count));
            }
            None => {}
        }
    }

    /// Takes in cases that follow, but for figures and their medians.
    pub(super) fn merge_but_figures(&mut self, others: Cases) {
        for (chosen, provenance, count) in others.choices {
            match self.choices.iter_mut().find(|(own, ..)| *own == chosen) {
                Some((.., own)) => *own += count,
                None => self.choices.push((chosen, provenance, count)),
            }
        }
        for (reason, count) in &others.reasons {
            self.count_reason(reason, *count);
        }
        self.tally.merge_counts(&others.tally);
    }
}

impl SummaryPart {
    /// Of no records; `across_vms` where every VM type is searched by itself.
    pub fn new(across_vms: bool) -> SummaryPart {
        SummaryPart {
            across_vms,
            groups: Vec::new(),
            begin: 0,
            next: 0,
        }
    }

    /// Takes the next record of the task.
    pub fn take(&mut self, record: &Record<'_>) {
        let is_done = |first: &Cases| !first.key.has_strategy_of(record);
        if !self.across_vms && self.groups.get(self.begin).is_some_and(is_done) {
            // Nothing comes back to a strategy that lies behind.
            (self.begin, self.next) = (self.groups.len(), self.groups.len());
        }
        // Records come in turns: it is the next, or again the first.
        let at = [self.next, self.begin]
            .into_iter()
            .find(|&at| (self.groups.get(at)).is_some_and(|group| group.key.is(record)))
            .or_else(|| {
                let mut own = self.groups[self.begin..].iter();
                let at = own.position(|group| group.key.is(record));
                at.map(|at| self.begin + at)
            })
            .unwrap_or(self.groups.len());
        if at == self.groups.len() {
            let oracle = Seen::oracle(record).filter(|_| !self.across_vms);
            let oracle = oracle.map(Seen::to_owned);
            self.groups.push(Cases::of(Key::of(record), oracle));
        }
        self.next = at + 1;
        self.groups[at].take(record, self.across_vms);
    }
}

impl<'p> Part<'p> for SummaryPart {
    fn take(&mut self, record: Record<'p>) -> io::Result<()> {
        SummaryPart::take(self, &record);
        Ok(())
    }
}

/// How a part is kept beside the rows of a shard.
impl SummaryPart {
    /// Writes it where [`SummaryPart::read`] finds it.
    ///
    /// # Errors
    /// More values than a part has.
    pub fn write(&self, to: &mut Writer) -> io::Result<()> {
        to.count(u64::from(self.across_vms));
        to.count(self.groups.len() as u64);
        self.groups.iter().try_for_each(|cases| cases.write(to))
    }

    /// What [`SummaryPart::write`] wrote; `None` where that is not what stands there.
    pub fn read(from: &mut Reader<'_>) -> Option<SummaryPart> {
        let across_vms = from.count()? == 1;
        let groups = (0..from.count()?).map(|_| Cases::read(from));
        Some(SummaryPart {
            across_vms,
            groups: groups.collect::<Option<_>>()?,
            begin: 0,
            next: 0,
        })
    }
}

impl Cases {
    fn write(&self, to: &mut Writer) -> io::Result<()> {
        let Key {
            setting,
            workload,
            pricing,
            objective,
            strategy,
        } = &self.key;
        for text in [setting, workload, pricing, objective, strategy] {
            to.text(text);
        }
        to.maybe(self.oracle.as_ref(), write_choice);
        to.count(self.choices.len() as u64);
        for (chosen, provenance, count) in &self.choices {
            write_choice(to, chosen);
            to.maybe(provenance.as_deref(), Writer::text);
            to.count(*count);
        }
        to.count(self.reasons.len() as u64);
        for (reason, count) in &self.reasons {
            to.text(reason);
            to.count(*count);
        }
        self.tally.write(to);
        for median in &self.medians {
            let too_many =
                || io::Error::other("a task has more cases of a group than a shard keeps");
            let (values, times) = median.values().ok_or_else(too_many)?;
            to.count(values.len() as u64);
            to.count(times);
            to.numbers(values);
        }
        Ok(())
    }

    fn read(from: &mut Reader<'_>) -> Option<Cases> {
        let key = Key {
            setting: from.text()?,
            workload: from.text()?,
            pricing: from.text()?,
            objective: from.text()?,
            strategy: from.text()?,
        };
        let oracle = from.maybe(read_choice)?;
        let choices = (0..from.count()?)
            .map(|_| {
                let chosen = read_choice(from)?;
                Some((chosen, from.maybe(Reader::text)?, from.count()?))
            })
            .collect::<Option<_>>()?;
        let reasons = (0..from.count()?)
            .map(|_| Some((from.text()?, from.count()?)))
            .collect::<Option<_>>()?;
        let tally = Tally::read(from)?;
        let medians = METRICS.iter().map(|_| {
            let (count, times) = (from.count()?, from.count()?);
            Some(RunningMedian::of_values(from.list(count)?, times))
        });
        let medians = medians.collect::<Option<_>>()?;
        Some(Cases {
            key,
            oracle,
            choices,
            reasons,
            tally,
            medians,
        })
    }
}

fn write_choice(to: &mut Writer, chosen: &Chosen) {
    let Chosen {
        vm,
        workers,
        batch,
        other,
    } = chosen;
    to.maybe(vm.as_deref(), Writer::text);
    to.maybe(*workers, |to, workers| to.count(u64::from(workers)));
    to.maybe(*batch, |to, batch| to.count(u64::from(batch)));
    to.maybe(other.as_deref(), Writer::text);
}

fn read_choice(from: &mut Reader<'_>) -> Option<Chosen> {
    let whole = |from: &mut Reader<'_>| u32::try_from(from.count()?).ok();
    Some(Chosen {
        vm: from.maybe(Reader::text)?,
        workers: from.maybe(whole)?,
        batch: from.maybe(whole)?,
        other: from.maybe(Reader::text)?,
    })
}
