//! A search forwards in time, without what the lower bounds exclude.
//!
//! The least cost is unknown, and every USD above it leaves more to search. So a limit a little above the lower bound rises, with few
//! labels per state, until a schedule is found below it. Its cost limits the last search, which has room for as many labels as memory
//! and time allow. A dropped label still bounds the cost of all schedules from there on: the least of these and the limit is a lower
//! bound.

use super::frontier::{Label, SavedWork, merge};
use super::instance::Instance;
use super::relaxation::Bounds;
use crate::policy_run::{Market, Place};

#[derive(Debug, Clone, Copy)]
pub(super) struct Rental {
    pub(super) place: Place,
    pub(super) form: usize,
    /// Whether they are started in this tick, even in place of the same ones.
    pub(super) is_start: bool,
}

pub(super) struct Schedule {
    /// `None` where it waits; until the work is done.
    pub(super) ticks: Vec<Option<Rental>>,
    pub(super) bound_usd: f64,
    pub(super) is_exact: bool,
}

/// Share of the least cost that may be missed, above all errors of floating point.
const MISSED: f64 = 4e-10;
/// Share of it below which costs count as equal.
const NEAR: f64 = 1e-10;
/// Distance of the first limit from the lower bound, as a share of it.
const FIRST_GAP: f64 = 2e-3;
/// Labels of a state before there is a schedule: in the first search, and at most.
const WIDTHS: (usize, usize) = (8, 32);
/// Labels of the last search: of a tick, on average, and of all.
const MOST_LABELS: (usize, usize) = (1024, 4_000_000);

const NONE: u32 = u32::MAX;
const STOP: u32 = u32::MAX - 1;

struct Change {
    before: u32,
    tick: u32,
    /// Step of the start or of the change of form, or [`STOP`].
    step: u32,
}

/// Labels of all states at the begin of ticks, and the changes to them.
struct Search<'i, 'w> {
    instance: &'i Instance<'w>,
    bounds: Bounds,
    labels: Vec<Vec<Label>>,
    next: Vec<Vec<Label>>,
    changes: Vec<Change>,
    limit_usd: f64,
    /// Tick of its end, and the change before it.
    end: Option<(usize, u32)>,
    dropped_usd: f64,
    /// Most labels of a state, and of all states of a tick in the last search.
    width: usize,
    most: usize,
    room: usize,
    /// Reused memory.
    fresh: Vec<Label>,
    spare: Vec<Label>,
    keys: Vec<f64>,
    saved: SavedWork,
}

pub(super) fn cheapest(instance: &Instance<'_>) -> Option<Schedule> {
    let bounds = Bounds::new(instance)?;
    let lists = |count: usize| (0..count).map(|_| Vec::new()).collect();
    let mut search = Search {
        instance,
        limit_usd: f64::INFINITY,
        bounds,
        labels: lists(instance.states),
        next: lists(instance.running.len()),
        changes: Vec::new(),
        end: None,
        dropped_usd: f64::INFINITY,
        width: WIDTHS.0,
        most: usize::MAX,
        room: MOST_LABELS.1.min(MOST_LABELS.0 * instance.ticks),
        fresh: Vec::new(),
        spare: Vec::new(),
        keys: Vec::new(),
        saved: SavedWork::default(),
    };
    search.look_for_best()
}

impl Search<'_, '_> {
    /// The cheapest schedule found, with a lower bound; `None` where there is none.
    fn look_for_best(&mut self) -> Option<Schedule> {
        let low_usd = self.bounds.all_usd;
        let (mut bound_usd, mut gap) = (low_usd, FIRST_GAP);
        let narrow_room = self.room / 2;
        let mut best = loop {
            let is_hurried = self.room < narrow_room || gap > 1.0;
            self.limit_usd = low_usd * (1.0 + gap);
            if is_hurried {
                self.limit_usd = f64::INFINITY;
            }
            let found = self.run();
            bound_usd = bound_usd.max(self.dropped_usd.min(self.limit_usd));
            let is_narrowed = self.dropped_usd < self.limit_usd;
            match found {
                Some(found) => break found,
                None if is_hurried && !is_narrowed => return None,
                None if is_narrowed && is_hurried => self.width *= 2,
                None if is_narrowed => self.width = WIDTHS.1.min(2 * self.width),
                None => {}
            }
            gap *= 2.0;
        };
        if bound_usd < self.limit_usd * (1.0 - NEAR) {
            self.width = usize::MAX;
            best = self.run().unwrap_or(best);
            bound_usd = bound_usd.max(self.dropped_usd).min(self.limit_usd);
        }
        Some(Schedule {
            ticks: best,
            bound_usd: bound_usd * (1.0 - MISSED),
            is_exact: bound_usd >= self.limit_usd * (1.0 - NEAR),
        })
    }

    /// A schedule below the limit, which becomes its cost.
    fn run(&mut self) -> Option<Vec<Option<Rental>>> {
        (self.end, self.dropped_usd) = (None, f64::INFINITY);
        self.changes.clear();
        self.labels.iter_mut().for_each(Vec::clear);
        self.labels[self.instance.states - 1].push(Label {
            done_ns: 0,
            saved_ns: 0,
            usd: 0.0,
            key_usd: 0.0,
            history: NONE,
            change: NONE,
        });
        for tick in 0..self.instance.ticks {
            if self.width == usize::MAX {
                self.most = (self.room / (self.instance.ticks - tick)).max(WIDTHS.0);
            }
            self.stop(tick);
            let dropped_usd = narrow(&mut self.labels, self.most, &mut self.keys);
            self.dropped_usd = self.dropped_usd.min(dropped_usd);
            let count = self.labels.iter().map(Vec::len).sum();
            self.room = self.room.saturating_sub(count);
            self.advance(tick);
        }
        self.schedule()
    }

    fn schedule(&self) -> Option<Vec<Option<Rental>>> {
        let (last, mut history) = self.end?;
        let mut ticks = vec![None; last + 1];
        let mut end = last + 1;
        while let Some(change) = self.changes.get(history as usize) {
            let begin = change.tick as usize;
            if let Some(step) = self.instance.steps.get(change.step as usize) {
                let offer = &self.instance.offers[step.offer];
                let rental = |is_start| Rental {
                    place: offer.place,
                    form: offer.form,
                    is_start,
                };
                ticks[begin..end].fill(Some(rental(false)));
                ticks[begin] = Some(rental(step.is_start));
            }
            (end, history) = (begin, change.before);
        }
        Some(ticks)
    }

    /// Machines are lost as a tick begins, or given back.
    fn stop(&mut self, tick: usize) {
        let (running, mut fresh) = (self.instance.running.len(), std::mem::take(&mut self.fresh));
        for state in running..self.instance.states {
            let mut labels = std::mem::take(&mut self.labels[state]);
            self.settle(&mut labels, tick, state, tick);
            self.labels[state] = labels;
        }
        for state in 0..running {
            if self.labels[state].is_empty() {
                continue;
            }
            let offer = &self.instance.offers[self.instance.running[state]];
            let labels = &mut self.labels[state];
            fresh.clone_from(labels);
            fresh.iter_mut().for_each(|label| label.change = STOP);
            if offer.usd[tick] == f64::INFINITY {
                labels.clear();
                if self.instance.checkpoint_ns.is_some() {
                    let lost = |label: &mut Label| label.done_ns = label.saved_ns;
                    fresh.iter_mut().for_each(lost);
                    fresh.sort_by(|a, b| b.done_ns.cmp(&a.done_ns).then(a.usd.total_cmp(&b.usd)));
                }
            }
            self.settle(&mut fresh, tick, offer.waiting, tick);
            let waiting = &mut self.labels[offer.waiting];
            merge(waiting, &mut fresh, &mut self.spare, None);
        }
        self.fresh = fresh;
    }

    fn advance(&mut self, tick: usize) {
        let instance = self.instance;
        let (keeps_saved, mut fresh) = (
            self.instance.checkpoint_ns.is_some(),
            std::mem::take(&mut self.fresh),
        );
        self.next.iter_mut().for_each(Vec::clear);
        for (number, step) in instance.steps.iter().enumerate() {
            let usd = instance.offers[step.offer].usd[tick];
            if usd.is_finite() && !self.labels[step.from].is_empty() {
                self.extend_labels(tick, number, &mut fresh);
                let next = &mut self.next[step.to];
                let saved = keeps_saved.then_some(&mut self.saved);
                merge(next, &mut fresh, &mut self.spare, saved);
            }
        }
        for to in 0..instance.running.len() {
            let mut next = std::mem::take(&mut self.next[to]);
            self.settle(&mut next, tick + 1, to, tick);
            self.next[to] = next;
        }
        self.fresh = fresh;
        for (labels, next) in self.labels.iter_mut().zip(&mut self.next) {
            std::mem::swap(labels, next);
        }
    }

    /// Labels after a step; those with all work done end.
    fn extend_labels(&mut self, tick: usize, number: usize, fresh: &mut Vec<Label>) {
        let instance = self.instance;
        let step = &instance.steps[number];
        let offer = &instance.offers[step.offer];
        let is_change = step.is_start || step.is_reconfiguration;
        let change = if is_change { number as u32 } else { NONE };
        let labels = std::mem::take(&mut self.labels[step.from]);
        let is_done =
            |label: &Label| instance.done_after(step, label.done_ns) >= instance.work_ns();
        let done = labels.partition_point(is_done);
        for label in &labels[..done] {
            let last_usd = instance.last_usd(tick, step, label.done_ns);
            if let Some(usd) = last_usd
                .map(|usd| label.usd + usd)
                .filter(|&usd| usd < self.limit_usd)
            {
                self.limit_usd = usd;
                let history = number_change(&mut self.changes, Label { change, ..*label }, tick);
                self.end = Some((tick, history));
            }
        }
        let usd = step.egress_usd + offer.usd[tick];
        let checkpoint_ns = self
            .instance
            .checkpoint_ns
            .filter(|_| offer.place.market == Market::Spot);
        fresh.clear();
        fresh.extend(labels[done..].iter().map(|label| {
            let done_ns = instance.done_after(step, label.done_ns);
            let saved_ns = checkpoint_ns.map_or(done_ns, |every_ns| {
                let before_ns = if step.is_start {
                    label.done_ns
                } else {
                    label.saved_ns
                };
                before_ns.max(done_ns / every_ns * every_ns)
            });
            Label {
                done_ns,
                saved_ns,
                usd: label.usd + usd,
                key_usd: 0.0,
                history: label.history,
                change,
            }
        }));
        self.labels[step.from] = labels;
    }

    /// Keeps labels of a state at a tick's begin that are not excluded, and numbers their changes.
    fn settle(&mut self, labels: &mut Vec<Label>, tick: usize, state: usize, changed: usize) {
        if labels.is_empty() {
            return;
        }
        let bounds = &self.bounds;
        let late_usd = self.instance.late_until_usd(tick);
        let limit_usd = self.limit_usd * (1.0 - NEAR);
        labels.retain_mut(|label| {
            label.key_usd = label.usd + late_usd + bounds.usd(tick, state, label.done_ns);
            label.key_usd < limit_usd
        });
        // What there is no room for in a state has none among all.
        let dropped_usd = narrow(std::slice::from_mut(labels), self.most, &mut self.keys);
        self.dropped_usd = self.dropped_usd.min(dropped_usd);
        if labels.len() > self.width {
            // The best of as many parts as there is room for, since work done and money spent are to differ.
            let size = labels.len().div_ceil(self.width);
            self.spare.clear();
            for part in labels.chunks(size) {
                let least = part.iter().min_by(|a, b| a.key_usd.total_cmp(&b.key_usd));
                self.spare.extend(least);
                let dropped = part
                    .iter()
                    .filter(|&one| least.is_none_or(|least| !std::ptr::eq(one, least)));
                self.dropped_usd =
                    (dropped.map(|label| label.key_usd)).fold(self.dropped_usd, f64::min);
            }
            std::mem::swap(labels, &mut self.spare);
        }
        for label in labels.iter_mut().filter(|label| label.change != NONE) {
            label.history = number_change(&mut self.changes, *label, changed);
            label.change = NONE;
        }
    }
}

/// Drops labels of the highest keys until at most `most` are left; the least key that was dropped.
fn narrow(lists: &mut [Vec<Label>], most: usize, keys: &mut Vec<f64>) -> f64 {
    if lists.iter().map(Vec::len).sum::<usize>() <= most {
        return f64::INFINITY;
    }
    keys.clear();
    keys.extend(lists.iter().flatten().map(|label| label.key_usd));
    let (below, &mut last_usd, above) = keys.select_nth_unstable_by(most - 1, f64::total_cmp);
    let mut room = most - below.iter().filter(|&&usd| usd < last_usd).count();
    for labels in lists {
        labels.retain(|label| {
            let is_last = label.key_usd == last_usd && room > 0;
            room -= usize::from(is_last);
            label.key_usd < last_usd || is_last
        });
    }
    above.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Numbers a label's change, if any; the number of its last change.
fn number_change(changes: &mut Vec<Change>, label: Label, tick: usize) -> u32 {
    if label.change == NONE {
        return label.history;
    }
    changes.push(Change {
        before: label.history,
        tick: tick as u32,
        step: label.change,
    });
    (changes.len() - 1) as u32
}
