//! Lower bounds of what the rest costs: work earns a price in place of having to be done (a Lagrangian relaxation).

use std::cmp::Reverse;

use super::instance::{Instance, Step, segment_of};

/// Tries to better the prices, where each segment of the work has its own.
const TRIES: usize = 24;
/// Most relaxations that are kept.
const MOST: usize = 12;
/// Nanoseconds of work that errors of floating point stay below.
const ERROR_NS: f64 = 1e3;

/// A lower bound that falls with work done, as a line in each segment of it.
struct Relaxation {
    /// USD per nanosecond of work, by segment.
    prices: Vec<f64>,
    /// USD at no work, by tick, segment and state.
    costs: Vec<f64>,
    /// USD of all.
    all_usd: f64,
    /// Nanoseconds of work that the cheapest way does, by segment.
    done_ns: Vec<f64>,
}

impl Relaxation {
    /// All USD count by a weight: where it is 0, work alone does, and what is above a bound of 0 cannot be done in time.
    fn new(instance: &Instance<'_>, prices: Vec<f64>, weight: f64) -> Self {
        let (states, segments) = (instance.states, prices.len());
        // Those of waiting come first, since machines can be given back.
        let mut steps: Vec<&Step> = instance.steps.iter().collect();
        steps.sort_by_key(|step| Reverse(step.from));
        let own_usd = |segment: usize| {
            let price = prices[segment];
            let usd = |step: &&Step| weight * step.egress_usd - price * step.gains_ns[segment] as f64;
            steps.iter().map(usd).collect()
        };
        let own_usd: Vec<Vec<f64>> = (0..segments).map(own_usd).collect();
        let width = segments * states;
        let mut costs = vec![0.0; (instance.ticks + 1) * width];
        // Work of the cheapest ways from this tick on and from the next.
        let mut done_ns = vec![0.0; 2 * width * segments];
        let mut tick_usd = vec![0.0; instance.offers.len()];
        for tick in (0..instance.ticks).rev() {
            let late_usd = weight * instance.late_through_usd(tick);
            for (tick_usd, offer) in tick_usd.iter_mut().zip(&instance.offers) {
                let usd = offer.usd[tick];
                *tick_usd = late_usd + if usd.is_finite() { weight * usd } else { usd };
            }
            let (now, next) = costs[tick * width..(tick + 2) * width].split_at_mut(width);
            let (this, then) = (tick % 2 * width, (tick + 1) % 2 * width);
            for segment in (0..segments).rev() {
                let (first, mut at) = (segment * states, 0);
                for state in first..first + states {
                    let state = 2 * first + states - 1 - state;
                    let waits = instance.running.get(state - first).map(|&offer| first + instance.offers[offer].waiting);
                    let (mut least, mut from, mut gain_ns) = match waits {
                        Some(waiting) => (now[waiting], Some(this + waiting), 0),
                        None => (late_usd + next[state], Some(then + state), 0),
                    };
                    // The segment may be done, or all.
                    let later = (segment + 1 < segments).then_some(state + states);
                    let later_usd = later.map_or(0.0, |later| now[later]);
                    if later_usd <= least {
                        (least, from) = (later_usd, later.map(|later| this + later));
                    }
                    while let Some(step) = steps.get(at).filter(|step| first + step.from == state) {
                        let usd = tick_usd[step.offer] + own_usd[segment][at] + next[first + step.to];
                        if usd < least {
                            (least, from, gain_ns) = (usd, Some(then + first + step.to), step.gains_ns[segment]);
                        }
                        at += 1;
                    }
                    now[state] = least;
                    let to = (this + state) * segments;
                    match from {
                        Some(from) => done_ns.copy_within(from * segments..(from + 1) * segments, to),
                        None => done_ns[to..to + segments].fill(0.0),
                    }
                    done_ns[to + segment] += gain_ns as f64;
                }
            }
        }
        // What all work until the end of all would earn from here on.
        let mut earned = vec![prices[segments - 1] * instance.work_ns() as f64; segments];
        for at in (1..segments).rev() {
            earned[at - 1] = earned[at] + (prices[at - 1] - prices[at]) * instance.ends_ns[at - 1] as f64;
        }
        for (row, earned) in costs.chunks_exact_mut(states).zip(earned.iter().cycle()) {
            row.iter_mut().for_each(|cost| *cost += earned);
        }
        Relaxation {
            all_usd: costs[states - 1],
            done_ns: done_ns[(states - 1) * segments..states * segments].to_vec(),
            prices,
            costs,
        }
    }
}

/// Relaxations at the prices that bound best, the best first.
fn at_best_prices(instance: &Instance<'_>, dearest_usd: f64) -> Vec<Relaxation> {
    let begins = [0].iter().chain(&instance.ends_ns);
    let lengths = begins.zip(&instance.ends_ns);
    let lengths_ns: Vec<f64> = lengths.map(|(from, to)| (to - from) as f64).collect();
    // Work is worth more where all are slow.
    let worth = |segment: usize| {
        let gains = instance.steps.iter().map(|step| step.gains_ns[segment] as f64);
        (instance.tick_ns * instance.steps.len() as i64) as f64 / gains.sum::<f64>()
    };
    let worth: Vec<f64> = (0..lengths_ns.len()).map(worth).collect();
    let worth_of = |done_ns: &[f64]| -> f64 { done_ns.iter().zip(&worth).map(|(ns, worth)| ns * worth).sum() };
    let all = worth_of(&lengths_ns);
    let mut found: Vec<Relaxation> = Vec::new();
    // Work of the cheapest way at a price, and its USD.
    let mut at_price = |price: f64| {
        let relaxation = Relaxation::new(instance, worth.iter().map(|worth| price * worth).collect(), 1.0);
        let work = worth_of(&relaxation.done_ns);
        let usd = relaxation.all_usd + price * (work - all);
        found.push(relaxation);
        (work, usd)
    };
    let mut price = 2.0 * dearest_usd / instance.tick_ns as f64;
    let (mut low, mut high) = ((0.0, 0.0), at_price(price));
    for _ in 0..10 {
        if high.0 < all && price > 0.0 {
            price *= 8.0;
            (low, high) = (high, at_price(price));
        }
    }
    // The price at which two ways cost as much, until no other costs less.
    for _ in 0..30 {
        price = (high.1 - low.1) / (high.0 - low.0);
        if price.is_nan() || price <= 0.0 {
            break;
        }
        let here = at_price(price);
        if here.1 - price * here.0 >= low.1 - price * low.0 - 1e-9 * high.1 {
            break;
        }
        *(if here.0 < all { &mut low } else { &mut high }) = here;
    }
    let by_bound = |a: &Relaxation, b: &Relaxation| b.all_usd.total_cmp(&a.all_usd);
    found.sort_by(by_bound);
    if worth.len() > 1 {
        let (mut prices, mut share) = (found[0].prices.clone(), 0.2);
        for _ in 0..TRIES {
            let relaxation = Relaxation::new(instance, prices.clone(), 1.0);
            for (segment, price) in prices.iter_mut().enumerate() {
                let done = relaxation.done_ns[segment] / lengths_ns[segment];
                *price *= 1.0 + share * (1.0 - done).max(-1.0);
            }
            share *= 0.85;
            found.push(relaxation);
        }
        found.sort_by(by_bound);
    }
    found.truncate(MOST);
    found
}

/// Lower bounds of what the rest costs, from all states on.
pub(super) struct Bounds {
    states: usize,
    ends_ns: Vec<i64>,
    /// By price.
    relaxations: Vec<Relaxation>,
    most_work: Relaxation,
    /// USD of all.
    pub(super) all_usd: f64,
}

impl Bounds {
    /// Bounds, with the USD of the dearest tick; `None` where the work cannot be done in time.
    pub(super) fn new(instance: &Instance<'_>, dearest_usd: f64) -> Option<Bounds> {
        let price = |segment: usize| {
            let gains = instance.steps.iter().map(|step| step.gains_ns[segment]);
            instance.tick_ns as f64 / gains.max().unwrap_or(1).max(1) as f64
        };
        let ends_ns = instance.ends_ns.clone();
        let most_work = Relaxation::new(instance, (0..ends_ns.len()).map(price).collect(), 0.0);
        if most_work.all_usd > ERROR_NS {
            return None;
        }
        let mut relaxations = at_best_prices(instance, dearest_usd);
        let all_usd = relaxations[0].all_usd.max(0.0);
        relaxations.sort_by(|a, b| a.prices[0].total_cmp(&b.prices[0]));
        let states = instance.states;
        Some(Bounds { states, ends_ns, relaxations, most_work, all_usd })
    }

    /// Bounds of a state as a tick begins.
    pub(super) fn of(&self, tick: usize, state: usize) -> StateBounds<'_> {
        let cell = tick * self.ends_ns.len() * self.states + state;
        StateBounds {
            bounds: self,
            cell,
            segment: 0,
            best: 0,
        }
    }
}

/// Bounds of a state, which are asked for from most work to least: the less of a segment is done, the higher is the price of the best.
pub(super) struct StateBounds<'b> {
    bounds: &'b Bounds,
    cell: usize,
    segment: usize,
    /// Number of the relaxation that bounds best.
    best: usize,
}

impl StateBounds<'_> {
    /// USD that the rest costs at least, if so much is done; infinite where it cannot be done in time.
    #[inline]
    pub(super) fn usd(&mut self, done_ns: i64) -> f64 {
        let bounds = self.bounds;
        let segment = segment_of(&bounds.ends_ns, done_ns);
        if segment != self.segment {
            (self.segment, self.best) = (segment, 0);
        }
        let cell = self.cell + segment * bounds.states;
        let line = |one: &Relaxation| one.costs[cell] - one.prices[segment] * done_ns as f64;
        if line(&bounds.most_work) > ERROR_NS {
            return f64::INFINITY;
        }
        let mut usd = line(&bounds.relaxations[self.best]);
        for next in &bounds.relaxations[self.best + 1..] {
            let next = line(next);
            if next < usd {
                break;
            }
            usd = next;
            self.best += 1;
        }
        usd
    }
}
