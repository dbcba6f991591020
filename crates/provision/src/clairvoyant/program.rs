//! What the rest costs, tick by tick from the last to the first, and then the way, from the first to the last.
//!
//! Costs of a tick need those of a few ticks after it, so that a ring of layers is enough; layers of some ticks are saved. The
//! way then takes, from saved ones on, the costs of what can be reached from where it is, and goes to the least.

use std::cell::RefCell;
use std::ops::Range;

use super::ground::Ground;
use super::way::{Rented, Way};

/// Numbers of parts done that are looked at together: few enough for all that they need to stay at hand.
const CHUNK: usize = 256;

/// Buffers that are used again by the next life of a thread. Nothing is read that was not written before by the same.
#[derive(Default)]
struct Buffers {
    ring: Layers,
    block: Layers,
    saved: Layers,
    meets: Meets,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// Costs of the rest, by mode and parts done, of some ticks.
#[derive(Default)]
struct Layers {
    wide: usize,
    slots: Vec<Vec<f64>>,
}

impl Layers {
    /// Makes room, whatever is in it then.
    fn make(&mut self, slots: usize, modes: usize, wide: usize) {
        self.wide = wide;
        self.slots.resize_with(slots, Vec::new);
        for slot in &mut self.slots {
            if slot.len() < modes * wide {
                slot.resize(modes * wide, 0.0);
            }
        }
    }

    fn slot(&mut self, tick: usize) -> &mut Vec<f64> {
        let count = self.slots.len();
        &mut self.slots[tick % count]
    }

    fn row(&self, tick: usize, mode: usize) -> &[f64] {
        let slot = &self.slots[tick % self.slots.len()];
        &slot[mode * self.wide..(mode + 1) * self.wide]
    }
}

/// What the rest costs at best if machines are started in a zone, by start-up, zone and parts done; and in any zone, behind the
/// first start-up's.
#[derive(Default)]
struct Meets {
    wide: usize,
    cells: Vec<f64>,
    /// By start-up and zone: whether any machines can be started.
    are_there: Vec<bool>,
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

/// Parts done from one number up to another, both included.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: usize,
    upto: usize,
}

/// Where it is on its way.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Nothing was ever started.
    Nowhere,
    Waits(usize),
    Runs(usize),
}

/// The cheapest way; `None` where there is none in time.
pub(super) fn cheapest(ground: &Ground<'_>) -> Option<Way> {
    BUFFERS.with_borrow_mut(|buffers| {
        let mut program = Program::new(ground, buffers);
        program.go_back();
        let cost_usd = program.nowhere[0];
        cost_usd.is_finite().then(|| Way {
            ticks: program.walk(),
            cost_usd,
        })
    })
}

struct Program<'g, 'w> {
    ground: &'g Ground<'w>,
    buffers: &'g mut Buffers,
    /// Ticks that a start may take.
    ahead: usize,
    /// Ticks from one saved layer to the next.
    block: usize,
    /// What all costs if nothing was started before a tick.
    nowhere: Vec<f64>,
}

impl<'g, 'w> Program<'g, 'w> {
    fn new(ground: &'g Ground<'w>, buffers: &'g mut Buffers) -> Self {
        let starts = ground.start_ups.iter().map(|one| one.takes);
        let ahead = starts.max().unwrap_or(0).max(1);
        let block = (ground.ticks as f64).sqrt() as usize;
        let block = block.max(2 * ahead);
        let (modes, wide) = (ground.modes(), ground.work + 1);
        let saved = (ground.ticks / block + 2) * ahead;
        buffers.ring.make(ahead + 1, modes, wide);
        buffers.block.make(block + ahead, modes, wide);
        buffers.saved.make(saved, modes, wide);
        let meets = ground.start_ups.len() * ground.zones + 1;
        buffers.meets.wide = wide;
        buffers.meets.cells.resize(meets * wide, 0.0);
        buffers.meets.are_there.resize(meets, false);
        Program {
            ground,
            buffers,
            ahead,
            block,
            nowhere: vec![f64::INFINITY; ground.ticks + 1],
        }
    }

    /// Costs of all that can be reached, from the last tick to the first.
    fn go_back(&mut self) {
        let ground = self.ground;
        let Buffers {
            ring, saved, meets, ..
        } = &mut *self.buffers;
        for tick in (0..=ground.ticks).rev() {
            let span = Span {
                from: ground.least(tick.saturating_sub(self.ahead)),
                upto: ground.work,
            };
            ground.compute(tick, span, ring, meets);
            if tick < ground.ticks {
                let wait = ground.late_usd(tick) + self.nowhere[tick + 1];
                self.nowhere[tick] = ground.first(tick, wait, meets);
            }
            if tick.is_multiple_of(self.block) || tick == ground.ticks {
                let number = tick.div_ceil(self.block);
                for at in 0..self.ahead.min(ground.ticks + 1 - tick) {
                    let upto = ground.most(tick + at) + 1;
                    let span = Span {
                        from: ground.least(tick),
                        upto: upto.min(ground.work),
                    };
                    let into = saved.slot(number * self.ahead + at);
                    ground.copy(ring.slot(tick + at), into, span);
                }
            }
        }
    }

    /// Costs of all that can be reached from a tick and parts done, until the next saved layers.
    fn look_ahead(&mut self, tick: usize, done: usize) -> usize {
        let ground = self.ground;
        let number = tick / self.block + 1;
        let end = (number * self.block).min(ground.ticks);
        let Buffers {
            block,
            saved,
            meets,
            ..
        } = &mut *self.buffers;
        let reach = |at: usize| Span {
            from: done,
            upto: (done + (at - tick) * ground.fastest).min(ground.work),
        };
        for at in 0..self.ahead.min(ground.ticks + 1 - end) {
            let from = saved.slot(number * self.ahead + at);
            let into = block.slot(end + at);
            let Span { from: first, upto } = reach(end + at);
            // What is saved begins with the least from which all can be done.
            let least = ground.least(end).clamp(first, upto + 1);
            for row in into.chunks_exact_mut(ground.work + 1) {
                row[first..least].fill(f64::INFINITY);
            }
            ground.copy(from, into, Span { from: least, upto });
        }
        for at in (tick + 1..end).rev() {
            ground.compute(at, reach(at), block, meets);
        }
        end
    }

    fn walk(&mut self) -> Vec<Option<Rented>> {
        let ground = self.ground;
        let (mut tick, mut done, mut at) = (0, 0, At::Nowhere);
        let mut way = Vec::with_capacity(ground.ticks);
        let mut known_until = 0;
        while tick < ground.ticks {
            if tick >= known_until {
                known_until = self.look_ahead(tick, done);
            }
            let layers = &self.buffers.block;
            let port = match at {
                At::Nowhere => None,
                At::Waits(port) => Some(port),
                At::Runs(place) => Some(ground.port_of(place)),
            };
            let wait = match port {
                None => self.nowhere[tick + 1],
                Some(port) => layers.row(tick + 1, ground.waiting(port))[done],
            };
            let (usd, start) = ground.best(tick, done, port, ground.late_usd(tick) + wait, layers);
            if let At::Runs(place) = at
                && let Some(works) = ground.cost_at(place, None, (tick, done), layers)
                && usd >= works
            {
                way.push(Some(ground.places[place]));
                tick += 1;
                match ground.stride(place, None).1.land(done) {
                    Some(then) => done = then,
                    None => break,
                }
                continue;
            }
            let Some((place, start_up)) = start else {
                at = port.map_or(At::Nowhere, At::Waits);
                way.push(None);
                tick += 1;
                continue;
            };
            at = At::Runs(place);
            let (takes, stride, _) = ground.stride(place, Some(start_up));
            way.extend((0..takes).map(|_| Some(ground.places[place])));
            tick += takes;
            match stride.land(done) {
                Some(then) => done = then,
                None => break,
            }
        }
        way
    }
}

impl Ground<'_> {
    /// The least number of parts done in a tick from which all can be done in time.
    fn least(&self, tick: usize) -> usize {
        self.work.saturating_sub((self.ticks - tick) * self.fastest)
    }

    /// The largest number of parts done in a tick, short of all.
    fn most(&self, tick: usize) -> usize {
        (tick * self.fastest).min(self.work.saturating_sub(1))
    }

    fn copy(&self, from: &[f64], into: &mut [f64], span: Span) {
        let wide = self.work + 1;
        for mode in 0..self.modes() {
            let cells = mode * wide + span.from..mode * wide + (span.upto + 1).max(span.from);
            into[cells.clone()].copy_from_slice(&from[cells]);
        }
    }

    /// Costs of a tick from those of the next ones.
    fn compute(&self, tick: usize, span: Span, layers: &mut Layers, meets: &mut Meets) {
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
    fn cost_at(
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
    fn first(&self, tick: usize, wait: f64, meets: &Meets) -> f64 {
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
    fn best(
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
    fn row(&self, at: usize) -> Option<&[f64]> {
        let cells = &self.cells[at * self.wide..(at + 1) * self.wide];
        self.are_there[at].then_some(cells)
    }
}
