//! Forwards in time, without what the lower bounds exclude.
//!
//! Nobody knows the least cost beforehand, and every USD above it leaves more to look at. So a limit a little above the lower bound
//! rises until a schedule is found below it. On the way the labels of a state are few; once there is a schedule, it is the limit,
//! and all labels below it are looked at.

use super::frontier::{Label, merge};
use super::instance::Instance;
use super::relaxation::Bounds;
use super::{Rental, Schedule};
use crate::life::Market;

/// Share of the least cost that may be missed, which is more than all errors of floating point.
const MISSED: f64 = 1e-10;
/// How far the first limit is above the lower bound, as a share of it.
const FIRST_GAP: f64 = 1e-3;
/// Labels of a state before there is a schedule.
const FIRST_WIDTH: usize = 8;

/// No change.
const NONE: u32 = u32::MAX;
/// Machines are given back.
const STOP: u32 = u32::MAX - 1;

/// A change of machines: they are started, or given back.
struct Change {
    before: u32,
    tick: u32,
    /// Step of the start, or [`STOP`].
    step: u32,
}

/// Labels of all states as ticks begin, and how they came to be.
struct Search<'i, 'w> {
    instance: &'i Instance<'w>,
    bounds: Bounds,
    labels: Vec<Vec<Label>>,
    next: Vec<Vec<Label>>,
    changes: Vec<Change>,
    /// USD that labels have to stay below.
    limit_usd: f64,
    /// Tick of the cheapest end, and the change before it.
    end: Option<(usize, u32)>,
    /// Most labels of a state, and whether any had more.
    width: usize,
    is_narrowed: bool,
    /// Labels of all ticks.
    count: usize,
    /// Room that is used again.
    fresh: Vec<Label>,
    spare: Vec<Label>,
    keys: Vec<f64>,
}

/// The cheapest schedule; `None` where there is none in time.
pub(super) fn cheapest(instance: &Instance<'_>) -> Option<Schedule> {
    let usd = instance.offers.iter().flat_map(|offer| &offer.usd);
    let usd = usd.filter(|usd| usd.is_finite());
    let dearest_usd = usd.fold(0.0, |dearest: f64, &usd| dearest.max(usd));
    let egress = instance.steps.iter().map(|step| step.egress_usd);
    let egress_usd = egress.fold(0.0, f64::max);
    let late_usd = instance.late_until_usd(instance.ticks);
    let most_usd = (dearest_usd + egress_usd) * instance.ticks as f64 + late_usd;
    let bounds = Bounds::new(instance, dearest_usd)?;
    let low_usd = bounds.all_usd;
    let mut gap_usd = FIRST_GAP * (low_usd + dearest_usd).max(1e-9);
    let lists = |count: usize| (0..count).map(|_| Vec::new()).collect();
    let mut search = Search {
        instance,
        bounds,
        labels: lists(instance.states),
        next: lists(instance.running.len()),
        changes: Vec::new(),
        limit_usd: 0.0,
        end: None,
        width: FIRST_WIDTH,
        is_narrowed: false,
        count: 0,
        fresh: Vec::new(),
        spare: Vec::new(),
        keys: Vec::new(),
    };
    loop {
        let is_last = gap_usd > most_usd;
        if is_last {
            search.width = usize::MAX;
        }
        search.limit_usd = if is_last {
            f64::INFINITY
        } else {
            low_usd + gap_usd
        };
        if let Some(found) = search.run() {
            let is_best = !search.is_narrowed;
            search.width = usize::MAX;
            let best = if is_best { None } else { search.run() };
            return Some(Schedule {
                ticks: best.unwrap_or(found),
                bound_usd: search.limit_usd * (1.0 - MISSED),
            });
        }
        if is_last {
            return None;
        }
        if search.is_narrowed {
            search.width *= 2;
        }
        let is_cheap = search.count < instance.ticks * instance.states;
        gap_usd *= if is_cheap { 4.0 } else { 2.0 };
    }
}

impl Search<'_, '_> {
    /// A schedule below the limit; the cheapest, unless it is narrowed. Its cost is the new limit.
    fn run(&mut self) -> Option<Vec<Option<Rental>>> {
        (self.end, self.is_narrowed, self.count) = (None, false, 0);
        self.changes.clear();
        self.labels.iter_mut().for_each(Vec::clear);
        self.labels[self.instance.states - 1].push(Label {
            done_ns: 0,
            saved_ns: 0,
            usd: 0.0,
            history: NONE,
            change: NONE,
        });
        for tick in 0..self.instance.ticks {
            self.stop(tick);
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
                ticks[begin] = Some(rental(true));
            }
            (end, history) = (begin, change.before);
        }
        Some(ticks)
    }

    /// As a tick begins, machines are lost, or may be given back.
    fn stop(&mut self, tick: usize) {
        let (running, mut fresh) = (self.instance.running.len(), std::mem::take(&mut self.fresh));
        for state in 0..running {
            if self.labels[state].is_empty() {
                continue;
            }
            let offer = &self.instance.offers[self.instance.running[state]];
            fresh.clear();
            let stopped = |label: &Label| Label {
                change: STOP,
                ..*label
            };
            fresh.extend(self.labels[state].iter().map(stopped));
            if offer.usd[tick] == f64::INFINITY {
                self.labels[state].clear();
                if self.instance.checkpoint_ns.is_some() {
                    fresh
                        .iter_mut()
                        .for_each(|label| label.done_ns = label.saved_ns);
                    fresh.sort_by(|a, b| b.done_ns.cmp(&a.done_ns).then(a.usd.total_cmp(&b.usd)));
                }
            }
            merge(
                &mut self.labels[offer.waiting],
                &mut fresh,
                &mut self.spare,
                false,
            );
        }
        self.fresh = fresh;
        for state in running..self.instance.states {
            let labels = std::mem::take(&mut self.labels[state]);
            self.labels[state] = self.settle(labels, tick, state, tick);
        }
    }

    /// All steps of a tick.
    fn advance(&mut self, tick: usize) {
        let instance = self.instance;
        let (keeps_saved, mut fresh) = (
            self.instance.checkpoint_ns.is_some(),
            std::mem::take(&mut self.fresh),
        );
        let mut number = 0;
        for to in 0..instance.running.len() {
            let mut next = std::mem::take(&mut self.next[to]);
            next.clear();
            while let Some(step) = instance.steps.get(number).filter(|step| step.to == to) {
                let offer = &instance.offers[step.offer];
                if offer.usd[tick].is_finite() && !self.labels[step.from].is_empty() {
                    self.take(tick, number, &mut fresh);
                    merge(&mut next, &mut fresh, &mut self.spare, keeps_saved);
                }
                number += 1;
            }
            self.next[to] = self.settle(next, tick + 1, to, tick);
        }
        self.fresh = fresh;
        for (labels, next) in self.labels.iter_mut().zip(&mut self.next) {
            std::mem::swap(labels, next);
        }
    }

    /// Labels after a step; those that are done end.
    fn take(&mut self, tick: usize, number: usize, fresh: &mut Vec<Label>) {
        let instance = self.instance;
        let step = &instance.steps[number];
        let offer = &instance.offers[step.offer];
        let change = if step.is_start { number as u32 } else { NONE };
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
                history: label.history,
                change,
            }
        }));
        self.labels[step.from] = labels;
    }

    /// Leaves labels that are not excluded in a state at the begin of a tick, and numbers their changes.
    fn settle(
        &mut self,
        mut labels: Vec<Label>,
        tick: usize,
        state: usize,
        changed: usize,
    ) -> Vec<Label> {
        if labels.is_empty() {
            return labels;
        }
        let mut bounds = self.bounds.of(tick, state);
        let late_usd = self.instance.late_until_usd(tick);
        let limit_usd = self.limit_usd * (1.0 - MISSED) - late_usd;
        self.keys.clear();
        labels.retain(|label| {
            let key = label.usd + bounds.usd(label.done_ns);
            let stays = key < limit_usd;
            if stays {
                self.keys.push(key);
            }
            stays
        });
        if labels.len() > self.width {
            self.is_narrowed = true;
            let mut keys = self.keys.clone();
            let (_, &mut most, _) = keys.select_nth_unstable_by(self.width - 1, f64::total_cmp);
            let mut keys = self.keys.iter();
            labels.retain(|_| keys.next().is_some_and(|&key| key <= most));
        }
        for label in labels.iter_mut().filter(|label| label.change != NONE) {
            label.history = number_change(&mut self.changes, *label, changed);
            label.change = NONE;
        }
        self.count += labels.len();
        labels
    }
}

/// Gives the change of a label a number, if there is any; the number of its last one.
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
