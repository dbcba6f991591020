use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::chosen::{Chosen, ChosenRef};
use super::gather::Part;
use super::key_columns::{Cell, Keeps, KeyColumns, OrderedNumber, WITH_MEDIAN};
use super::metrics::KeptMetrics;
use super::record::{Record, Status};
use super::record_axes::OwnedAxes;
use super::stored::{Reader, Writer};
use super::tally::Tally;
use scavsim_base::stats::RunningMedian;

pub const MOST_REASONS: usize = 8;

/// Cases of a group that a part has room for at once.
const MANY: usize = 16;

/// Records of one task, by groups in the order of appearance.
pub struct SummaryPart {
    by: Arc<KeyColumns>,
    pub(super) groups: Vec<Cases>,
    places: Places,
}

/// Setting, workload, policy, objective and strategy of a case.
pub(super) type Identity = [String; 5];

#[derive(Clone)]
pub(super) struct Cases {
    /// Group number of the plan's records here, where the columns are those of it.
    group: Option<NonZeroU64>,
    pub(super) key: Vec<OwnedCell>,
    pub(super) identity: Identity,
    pub(super) is_one: bool,
    pub(super) tally: Tally,
    /// Running medians of all metrics with one, of [`WITH_MEDIAN`], or none.
    pub(super) medians: Vec<RunningMedian>,
    /// Figures that medians have not seen yet: a row per case, NaN where missing.
    rows: Vec<f64>,
    pub(super) choices: Choices,
    /// Values of swept axes that all cases have in common; empty where not kept.
    pub(super) axes: OwnedAxes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OwnedCell {
    Empty,
    Name(String),
    Number(u64),
    Figure(OrderedNumber),
}

/// Choices in a group's cases, and why some failed; empty where not kept.
#[derive(Clone, Default)]
pub(super) struct Choices {
    pub(super) oracle: Option<Chosen>,
    /// With provenance and count.
    pub(super) chosen: Vec<(Chosen, Option<String>, u64)>,
    pub(super) reasons: Vec<(String, u64)>,
}

#[derive(Default)]
pub(super) struct Places {
    next: usize,
    /// The last group found out of turn.
    first: usize,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl Places {
    /// Place of the group with this hash for which `is_it` holds; else `count`, the next free one.
    pub(super) fn find(
        &mut self,
        count: usize,
        is_it: impl Fn(usize) -> bool,
        hash: impl FnOnce() -> u64,
    ) -> usize {
        // They come in turns: it is the next, or again the first.
        let in_turn = [self.next, self.first].into_iter();
        let in_turn = in_turn.filter(|at| *at < count).find(|at| is_it(*at));
        let at = in_turn.unwrap_or_else(|| {
            let known = self.by_hash.entry(hash()).or_default();
            self.first = known
                .iter()
                .copied()
                .find(|at| is_it(*at))
                .unwrap_or_else(|| {
                    known.push(count);
                    count
                });
            self.first
        });
        self.next = at + 1;
        at
    }
}

fn hash_of<'c>(cells: impl Iterator<Item = Cell<'c>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    cells.for_each(|cell| cell.hash(&mut hasher));
    hasher.finish()
}

impl OwnedCell {
    pub(super) fn borrowed(&self) -> Cell<'_> {
        match self {
            OwnedCell::Empty => Cell::Empty,
            OwnedCell::Name(name) => Cell::Name(name),
            OwnedCell::Number(number) => Cell::Number(*number),
            OwnedCell::Figure(figure) => Cell::Figure(*figure),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            OwnedCell::Empty => String::new(),
            OwnedCell::Name(name) => name.clone(),
            OwnedCell::Number(number) => number.to_string(),
            OwnedCell::Figure(figure) => figure.get().to_string(),
        }
    }
}

impl From<Cell<'_>> for OwnedCell {
    fn from(cell: Cell<'_>) -> OwnedCell {
        match cell {
            Cell::Empty => OwnedCell::Empty,
            Cell::Name(name) => OwnedCell::Name(name.to_owned()),
            Cell::Number(number) => OwnedCell::Number(number),
            Cell::Figure(figure) => OwnedCell::Figure(figure),
        }
    }
}

/// Setting, workload, policy, objective and strategy of a record.
fn identity<'r>(record: &Record<'r>) -> [&'r str; 5] {
    [
        record.setting,
        record.workload,
        record.pricing,
        record.objective,
        record.strategy,
    ]
}

impl Cases {
    fn new(
        key: Vec<OwnedCell>,
        identity: Identity,
        keeps: Keeps,
        kept: &'static KeptMetrics,
    ) -> Cases {
        let (medians, rows) = match keeps {
            Keeps::Sums => (0, 0),
            Keeps::TwoMedians => (WITH_MEDIAN.len(), 0),
            // They are told later.
            Keeps::Choices { .. } => (0, MANY * kept.medians.len()),
        };
        Cases {
            group: None,
            key,
            identity,
            is_one: true,
            tally: Tally::new(kept),
            medians: vec![RunningMedian::new(); medians],
            rows: Vec::with_capacity(rows),
            choices: Choices::default(),
            axes: OwnedAxes::default(),
        }
    }

    /// An empty group with the same key, to add parts to.
    pub(super) fn none(&self, keeps: Keeps) -> Cases {
        let kept = self.tally.kept();
        let mut none = Cases::new(self.key.clone(), self.identity.clone(), keeps, kept);
        if matches!(keeps, Keeps::Choices { .. }) {
            none.medians = vec![RunningMedian::new(); kept.medians.len()];
            none.rows = Vec::new();
        }
        none.choices.oracle = self.choices.oracle.clone();
        none.axes = self.axes.clone();
        none
    }

    pub(super) fn hash(&self) -> u64 {
        hash_of(self.key.iter().map(OwnedCell::borrowed))
    }

    fn push_record(&mut self, record: &Record<'_>, by: &KeyColumns) {
        match by.keeps {
            Keeps::Choices { across_vms } => {
                let rows = Some(&mut self.rows);
                self.tally.push_record(record, by.are_paired, rows);
                self.choices.push_record(record, across_vms);
                self.axes.keep_common(record.axes.values());
            }
            Keeps::Sums | Keeps::TwoMedians => {
                self.tally.push_record(record, by.are_paired, None);
                self.is_one = self.is_one && self.identity == identity(record);
                let values = [record.time_h, record.cost_usd];
                for (median, value) in self.medians.iter_mut().zip(values) {
                    value.into_iter().for_each(|value| median.add(value));
                }
            }
        }
    }

    pub(super) fn tell_median(&self, at: usize, median: &mut RunningMedian) {
        match self.medians.get(at) {
            Some(own) => median.merge(own),
            None => median.add_all(self.values(at)),
        }
    }

    fn values(&self, at: usize) -> impl Iterator<Item = f64> {
        let width = self.tally.kept().medians.len();
        let rows = self.rows.iter().skip(at).step_by(width);
        rows.copied().filter(|value| !value.is_nan())
    }

    /// Adds cases that follow, but for figures and medians.
    pub(super) fn merge_but_figures(&mut self, others: Cases) {
        self.is_one = self.is_one && others.is_one && self.identity == others.identity;
        self.choices.merge(others.choices);
        self.axes.keep_common(others.axes.values().iter().copied());
        self.tally.merge_counts(&others.tally);
    }
}

impl Choices {
    fn push_record(&mut self, record: &Record<'_>, across_vms: bool) {
        if let Some(seen) = ChosenRef::choice(record) {
            let seen = if across_vms { seen.on_any_vm() } else { seen };
            let chosen = &mut self.chosen;
            match chosen.iter_mut().find(|(chosen, ..)| seen.is(chosen)) {
                Some((.., count)) => *count += 1,
                None => {
                    let provenance = record.provenance.filter(|_| !across_vms);
                    let provenance = provenance.map(str::to_owned);
                    chosen.push((seen.to_owned(), provenance, 1));
                }
            }
        }
        if record.status == Status::Failed {
            self.count_reason(&record.reason, 1);
        }
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

    fn merge(&mut self, others: Choices) {
        for (chosen, provenance, count) in others.chosen {
            match self.chosen.iter_mut().find(|(own, ..)| *own == chosen) {
                Some((.., own)) => *own += count,
                None => self.chosen.push((chosen, provenance, count)),
            }
        }
        for (reason, count) in &others.reasons {
            self.count_reason(reason, *count);
        }
    }
}

impl SummaryPart {
    pub(super) fn new(by: Arc<KeyColumns>) -> SummaryPart {
        SummaryPart {
            by,
            groups: Vec::new(),
            places: Places::default(),
        }
    }

    /// `across_vms` where every VM type is searched by itself; `are_paired` where replicas 2 r and 2 r + 1 share their luck.
    pub fn usual(across_vms: bool, are_paired: bool) -> SummaryPart {
        SummaryPart::new(Arc::new(KeyColumns {
            are_paired,
            ..KeyColumns::usual(across_vms)
        }))
    }

    pub fn push_record(&mut self, record: &Record<'_>) {
        let (columns, keeps) = (&self.by.columns, self.by.keeps);
        let cells = || columns.iter().map(|column| column.cell(record));
        let is_identity = matches!(keeps, Keeps::Choices { .. });
        let group = record.group.0.filter(|_| is_identity);
        let is_it = |at: usize| {
            let cases = &self.groups[at];
            if group.is_some() && cases.group.is_some() {
                return cases.group == group;
            }
            let mut own = cases.key.iter().zip(columns);
            own.all(|(cell, column)| cell.borrowed() == column.cell(record))
        };
        let at = (self.places).find(self.groups.len(), is_it, || hash_of(cells()));
        if at == self.groups.len() {
            let key = cells().map(OwnedCell::from).collect();
            let identity = identity(record).map(str::to_owned);
            let mut cases = Cases::new(key, identity, keeps, self.by.kept);
            cases.group = group;
            if is_identity {
                cases.axes = record.axes.into_owned();
            }
            if keeps == (Keeps::Choices { across_vms: false }) {
                cases.choices.oracle = ChosenRef::oracle(record).map(ChosenRef::to_owned);
            }
            self.groups.push(cases);
        }
        self.groups[at].push_record(record, &self.by);
    }
}

impl<'p> Part<'p> for SummaryPart {
    fn push_record(&mut self, record: &mut Record<'p>) -> io::Result<()> {
        SummaryPart::push_record(self, record);
        Ok(())
    }
}

/// The bytes of a part of the usual summary, beside the rows of a shard.
impl SummaryPart {
    pub fn write(&self, to: &mut Writer) {
        to.count(u64::from(
            self.by.keeps == Keeps::Choices { across_vms: true },
        ));
        to.count(self.groups.len() as u64);
        self.groups.iter().for_each(|cases| cases.write(to));
    }

    /// Inverse of [`SummaryPart::write`]; `None` for other bytes.
    pub fn read(from: &mut Reader<'_>) -> Option<SummaryPart> {
        let mut part = SummaryPart::usual(from.count()? == 1, false);
        let keeps = part.by.keeps;
        let groups = (0..from.count()?).map(|_| Cases::read(from, keeps));
        part.groups = groups.collect::<Option<_>>()?;
        Some(part)
    }
}

impl Cases {
    fn write(&self, to: &mut Writer) {
        self.identity.iter().for_each(|text| to.text(text));
        let Choices {
            oracle,
            chosen,
            reasons,
        } = &self.choices;
        to.maybe(oracle.as_ref(), write_choice);
        to.count(chosen.len() as u64);
        for (chosen, provenance, count) in chosen {
            write_choice(to, chosen);
            to.maybe(provenance.as_deref(), Writer::text);
            to.count(*count);
        }
        to.count(reasons.len() as u64);
        for (reason, count) in reasons {
            to.text(reason);
            to.count(*count);
        }
        self.axes.write(to);
        self.tally.write(to);
        let mut values = Vec::new();
        for at in 0..self.tally.kept().medians.len() {
            values.clear();
            values.extend(self.values(at));
            let first = values.first().copied().unwrap_or_default();
            let times = if values
                .iter()
                .all(|value| value.to_bits() == first.to_bits())
            {
                // Once, and how often it came.
                let count = values.len() as u64;
                values.clear();
                values.push(first);
                count
            } else {
                1
            };
            to.count(values.len() as u64);
            to.count(times);
            to.numbers(&values);
        }
    }

    fn read(from: &mut Reader<'_>, keeps: Keeps) -> Option<Cases> {
        let mut identity = Identity::default();
        for text in &mut identity {
            *text = from.text()?;
        }
        let key = identity.iter().cloned().map(OwnedCell::Name).collect();
        let mut cases = Cases::new(key, identity, keeps, KeptMetrics::all());
        let choices = &mut cases.choices;
        choices.oracle = from.maybe(read_choice)?;
        for _ in 0..from.count()? {
            let chosen = read_choice(from)?;
            let own = (chosen, from.maybe(Reader::text)?, from.count()?);
            choices.chosen.push(own);
        }
        for _ in 0..from.count()? {
            choices.reasons.push((from.text()?, from.count()?));
        }
        cases.axes = OwnedAxes::read(from)?;
        cases.tally = Tally::read(from)?;
        for _ in &cases.tally.kept().medians {
            let (count, times) = (from.count()?, from.count()?);
            let median = RunningMedian::of_values(from.list(count)?, times);
            cases.medians.push(median);
        }
        Some(cases)
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
