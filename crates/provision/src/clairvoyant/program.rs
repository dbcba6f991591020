//! What the rest costs, tick by tick from the last to the first, and then the way, from the first to the last.
//!
//! Costs of a tick need those of a few ticks after it, so that a ring of layers is enough; layers of some ticks are saved. The
//! way then takes, from saved ones on, the costs of what can be reached from where it is, and goes to the least.

use std::cell::RefCell;

use super::costs::{Layers, Meets, Span};
use super::ground::Ground;
use super::way::{Rented, Way};

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
        buffers.meets.make(meets, wide);
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
