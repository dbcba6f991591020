//! Costs of a tick from those of the next ones, by what it has and by parts done.

use std::ops::Range;

use super::ground::Ground;

/// Numbers of parts done that are looked at together: few enough for all that they need to stay at hand.
const CHUNK: usize = 256;

/// Costs of the rest, by mode and parts done, of some ticks.
#[derive(Default)]
pub(super) struct Layers {
    wide: usize,
    slots: Vec<Vec<f64>>,
}

impl Layers {
    /// Makes room, whatever is in it then.
    pub(super) fn make(&mut self, slots: usize, modes: usize, wide: usize) {
        self.wide = wide;
        self.slots.resize_with(slots, Vec::new);
        for slot in &mut self.slots {
            if slot.len() < modes * wide {
                slot.resize(modes * wide, 0.0);
            }
        }
    }

    pub(super) fn slot(&mut self, tick: usize) -> &mut Vec<f64> {
        let count = self.slots.len();
        &mut self.slots[tick % count]
    }

    pub(super) fn row(&self, tick: usize, mode: usize) -> &[f64] {
        let slot = &self.slots[tick % self.slots.len()];
        &slot[mode * self.wide..(mode + 1) * self.wide]
    }
}

/// What the rest costs at best if machines are started in a zone, by start-up, zone and parts done; and in any zone, behind the
/// first start-up's.
#[derive(Default)]
pub(super) struct Meets {
    wide: usize,
    cells: Vec<f64>,
    /// By start-up and zone: whether any machines can be started.
    are_there: Vec<bool>,
}

/// Parts done from one number up to another, both included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) upto: usize,
}

/// What costs are held against.
#[derive(Clone, Copy)]
enum Others<'o> {
    /// Nothing: they are written.
    None,
    /// Those that are there.
    Known,
    These(&'o [f64]),
}

/// The less of two costs, without a branch: which it is cannot be foreseen.
#[inline]
fn less(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl Ground<'_> {
    /// The least number of parts done in a tick from which all can be done in time.
    pub(super) fn least(&self, tick: usize) -> usize {
        self.work.saturating_sub((self.ticks - tick) * self.fastest)
    }

    /// The largest number of parts done in a tick, short of all.
    pub(super) fn most(&self, tick: usize) -> usize {
        (tick * self.fastest).min(self.work.saturating_sub(1))
    }

    pub(super) fn copy(&self, from: &[f64], into: &mut [f64], span: Span) {
        let wide = self.work + 1;
        for mode in 0..self.modes() {
            let cells = mode * wide + span.from..mode * wide + (span.upto + 1).max(span.from);
            into[cells.clone()].copy_from_slice(&from[cells]);
        }
    }

    /// Costs of a tick from those of the next ones.
    pub(super) fn compute(&self, tick: usize, span: Span, layers: &mut Layers, meets: &mut Meets) {
        let wide = layers.wide;
        let least = self.least(tick).max(span.from);
        let cells = least..(self.most(tick).min(span.upto) + 1).max(least);
        let mut layer = std::mem::take(layers.slot(tick));
        for row in layer.chunks_exact_mut(wide).take(self.modes()) {
            row[span.from..least].fill(f64::INFINITY);
            // Whoever has no work left pays nothing.
            row[self.work] = 0.0;
        }
        if tick < self.ticks {
            for first in cells.clone().step_by(CHUNK) {
                let chunk = first..(first + CHUNK).min(cells.end);
                self.compute_chunk(tick, &chunk, layers, meets, &mut layer);
            }
        }
        *layers.slot(tick) = layer;
    }

    fn compute_chunk(
        &self,
        tick: usize,
        cells: &Range<usize>,
        layers: &Layers,
        meets: &mut Meets,
        layer: &mut [f64],
    ) {
        let wide = layers.wide;
        self.meet(tick, cells, layers, meets);
        let (running, waiting) = layer.split_at_mut(self.places.len() * wide);
        let late = self.late_usd(tick);
        for (port, row) in waiting.chunks_exact_mut(wide).take(self.ports).enumerate() {
            let row = &mut row[cells.clone()];
            let next = &layers.row(tick + 1, self.waiting(port))[cells.clone()];
            for (cell, then) in row.iter_mut().zip(next) {
                *cell = late + then;
            }
            for one in &self.approaches[port] {
                if let Some(meets) = meets.row(one.meets) {
                    for (cell, meets) in row.iter_mut().zip(&meets[cells.clone()]) {
                        *cell = less(meets + one.egress, *cell);
                    }
                }
            }
        }
        for (place, row) in running.chunks_exact_mut(wide).enumerate() {
            if self.mode_at(place, tick) == place {
                let waits = self.port_of(place) * wide;
                let waits = &waiting[waits + cells.start..waits + cells.end];
                let row = &mut row[cells.clone()];
                let waits = Others::These(waits);
                self.lower((place, None), (tick, cells.start), layers, waits, row);
            }
        }
    }

    /// What the rest costs at best if machines are started now, by zone.
    fn meet(&self, tick: usize, cells: &Range<usize>, layers: &Layers, meets: &mut Meets) {
        meets.are_there.fill(false);
        for start_up in 0..self.start_ups.len() {
            for (place, rented) in self.places.iter().enumerate() {
                let at = start_up * self.zones + rented.place.zone;
                let (takes, ..) = self.stride(place, Some(start_up));
                if self.usd(place, tick, tick + takes).is_none() {
                    continue;
                }
                let row = &mut meets.cells[at * meets.wide..][cells.clone()];
                let is_known = std::mem::replace(&mut meets.are_there[at], true);
                let others = if is_known {
                    Others::Known
                } else {
                    Others::None
                };
                let starts = (place, Some(start_up));
                self.lower(starts, (tick, cells.start), layers, others, row);
            }
        }
        if self.has_any {
            let (zones, any) = meets.cells.split_at_mut(self.zones * meets.wide);
            let any = &mut any[cells.clone()];
            any.fill(f64::INFINITY);
            for (row, _) in
                (zones.chunks_exact(meets.wide).zip(&meets.are_there)).filter(|one| *one.1)
            {
                for (any, one) in any.iter_mut().zip(&row[cells.clone()]) {
                    *any = less(*one, *any);
                }
            }
            meets.are_there[self.zones] = true;
        }
    }

    /// Costs, from some parts done on, of work at a place in this tick, or of a start there, where they are less than others.
    fn lower(
        &self,
        (place, start_up): (usize, Option<usize>),
        (tick, first): (usize, usize),
        layers: &Layers,
        others: Others<'_>,
        costs: &mut [f64],
    ) {
        let (takes, stride, passed) = self.stride(place, start_up);
        let end = tick + takes;
        let Some(usd) = self.usd(place, tick, end) else {
            return;
        };
        let next = layers.row(end, self.mode_at(place, end));
        let beyond = first + costs.len();
        for run in &stride.runs {
            let (from, to) = (run.from.max(first), run.to.min(beyond));
            if from < to {
                let then = &next[from + run.parts..to + run.parts];
                let cells = from - first..to - first;
                let costs = &mut costs[cells.clone()];
                match others {
                    Others::None => {
                        for (cost, then) in costs.iter_mut().zip(then) {
                            *cost = usd + then;
                        }
                    }
                    Others::Known => {
                        for (cost, then) in costs.iter_mut().zip(then) {
                            *cost = less(usd + then, *cost);
                        }
                    }
                    Others::These(others) => {
                        for ((cost, then), other) in costs.iter_mut().zip(then).zip(&others[cells])
                        {
                            *cost = less(usd + then, *other);
                        }
                    }
                }
            }
        }
        // In the last tick of work no more may be paid than is used.
        if beyond > stride.ends_from {
            let before = self.usd(place, tick, end - 1).unwrap_or(0.0);
            let last = self.usd(place, end - 1, end).unwrap_or(usd);
            for done in stride.ends_from.max(first)..beyond {
                let parts = passed as f64 + stride.ends[done - stride.ends_from];
                let ends = before + last * self.billed(parts) / self.parts as f64;
                let cost = &mut costs[done - first];
                *cost = match others {
                    Others::None => ends,
                    Others::Known => less(ends, *cost),
                    Others::These(others) => less(ends, others[done - first]),
                };
            }
        }
    }

    /// What the rest costs at a place that works now, or is started; `None` where it is not there.
    pub(super) fn cost_at(
        &self,
        place: usize,
        start_up: Option<usize>,
        at: (usize, usize),
        layers: &Layers,
    ) -> Option<f64> {
        let mut cost = [f64::INFINITY];
        self.lower((place, start_up), at, layers, Others::None, &mut cost);
        cost[0].is_finite().then_some(cost[0])
    }

    /// What all costs at best if nothing was started before a tick.
    pub(super) fn first(&self, tick: usize, wait: f64, meets: &Meets) -> f64 {
        if self.least(tick) > 0 {
            return f64::INFINITY;
        }
        let starts = (0..self.zones).filter_map(|zone| {
            let (start_up, _) = self.move_to(self.port[zone], zone);
            meets.row(start_up * self.zones + zone).map(|row| row[0])
        });
        starts.fold(wait, f64::min)
    }

    /// The least of waiting and of starting machines, and which; from a port, or where nothing was ever started.
    pub(super) fn best(
        &self,
        tick: usize,
        done: usize,
        port: Option<usize>,
        wait: f64,
        layers: &Layers,
    ) -> (f64, Option<(usize, usize)>) {
        let mut best = (wait, None);
        for (place, rented) in self.places.iter().enumerate() {
            let zone = rented.place.zone;
            let (start_up, egress) = match port {
                Some(port) => self.move_to(port, zone),
                None => (self.move_to(self.port[zone], zone).0, 0.0),
            };
            if let Some(usd) = self.cost_at(place, Some(start_up), (tick, done), layers)
                && usd + egress < best.0
            {
                best = (usd + egress, Some((place, start_up)));
            }
        }
        best
    }
}

impl Meets {
    /// Makes room, whatever is in it then.
    pub(super) fn make(&mut self, rows: usize, wide: usize) {
        self.wide = wide;
        self.cells.resize(rows * wide, 0.0);
        self.are_there.resize(rows, false);
    }

    fn row(&self, at: usize) -> Option<&[f64]> {
        let cells = &self.cells[at * self.wide..(at + 1) * self.wide];
        self.are_there[at].then_some(cells)
    }
}
