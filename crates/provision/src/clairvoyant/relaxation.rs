//! Lower bounds of the rest's cost: work earns a price instead of being required (a Lagrangian relaxation).

use super::instance::{Instance, Step, segment_of};

/// Tries to improve the prices, where each segment has its own.
const TRIES: usize = 14;
const MOST: usize = 12;
/// Nanoseconds of work above all errors of floating point.
const ERROR_NS: f64 = 1e3;

/// A lower bound that falls with work done, as a line in each segment.
struct Relaxation {
    /// USD per nanosecond of work, by segment.
    prices: Vec<f64>,
    /// USD at no work, by tick, segment and state.
    costs: Vec<f64>,
    all_usd: f64,
    /// Nanoseconds of work of the cheapest way, by segment.
    done_ns: Vec<f64>,
}

/// Next choice of the cheapest way.
const END: u32 = u32::MAX;
/// The next segment begins.
const LATER: u32 = u32::MAX - 1;
/// Machines are given back, or the job waits.
const WAIT: u32 = u32::MAX - 2;

impl Relaxation {
    /// USD are weighted: with weight 0 work alone counts, and where the bound is above 0 the work cannot be done in time.
    fn new(instance: &Instance<'_>, prices: Vec<f64>, weight: f64) -> Self {
        let (states, segments) = (instance.states, prices.len());
        let width = segments * states;
        let steps = &instance.steps;
        let begin = |state: usize| steps.partition_point(|step| step.from < state);
        let begins: Vec<usize> = (0..=states).map(begin).collect();
        let own_usd = |segment: usize| {
            let earns = |step: &Step| prices[segment] * step.gains_ns[segment] as f64;
            let usd = |step: &Step| weight * step.egress_usd - earns(step);
            steps.iter().map(usd).collect()
        };
        let own_usd: Vec<Vec<f64>> = (0..segments).map(own_usd).collect();
        let mut costs = vec![0.0; (instance.ticks + 1) * width];
        let mut choices = vec![END; instance.ticks * width];
        let mut tick_usd = vec![0.0; instance.offers.len()];
        for tick in (0..instance.ticks).rev() {
            let late_usd = weight * instance.late_through_usd(tick);
            for (tick_usd, offer) in tick_usd.iter_mut().zip(&instance.offers) {
                let usd = offer.usd[tick];
                *tick_usd = late_usd + if usd.is_finite() { weight * usd } else { usd };
            }
            let (now, next) = costs[tick * width..(tick + 2) * width].split_at_mut(width);
            let choices = &mut choices[tick * width..(tick + 1) * width];
            for (segment, own_usd) in own_usd.iter().enumerate().rev() {
                let first = segment * states;
                let next = &next[first..first + states];
                // Those of waiting come first, since machines can be given back.
                for state in (0..states).rev() {
                    let mut least = match instance.running.get(state) {
                        Some(&offer) => now[first + instance.offers[offer].waiting],
                        None => late_usd + next[state],
                    };
                    let mut choice = WAIT;
                    // The segment may be done, or all.
                    let (usd, ends) = match now.get(first + states + state) {
                        Some(&usd) => (usd, LATER),
                        None => (0.0, END),
                    };
                    if usd <= least {
                        (least, choice) = (usd, ends);
                    }
                    for at in begins[state]..begins[state + 1] {
                        let usd = own_usd[at] + tick_usd[steps[at].offer] + next[steps[at].to];
                        if usd < least {
                            (least, choice) = (usd, at as u32);
                        }
                    }
                    now[first + state] = least;
                    choices[first + state] = choice;
                }
            }
        }
        // What all work until the end of all would earn from here on.
        let mut earned = vec![prices[segments - 1] * instance.work_ns() as f64; segments];
        for at in (1..segments).rev() {
            let end_ns = instance.ends_ns[at - 1] as f64;
            earned[at - 1] = earned[at] + (prices[at - 1] - prices[at]) * end_ns;
        }
        for (row, earned) in costs.chunks_exact_mut(states).zip(earned.iter().cycle()) {
            row.iter_mut().for_each(|cost| *cost += earned);
        }
        Relaxation {
            all_usd: costs[states - 1],
            done_ns: done_by(instance, &choices, segments),
            prices,
            costs,
        }
    }
}

fn done_by(instance: &Instance<'_>, choices: &[u32], segments: usize) -> Vec<f64> {
    let (states, mut done_ns) = (instance.states, vec![0.0; segments]);
    let (mut tick, mut segment, mut state) = (0, 0, states - 1);
    while tick < instance.ticks {
        match choices[(tick * segments + segment) * states + state] {
            END => break,
            LATER => segment += 1,
            WAIT => match instance.running.get(state) {
                Some(&offer) => state = instance.offers[offer].waiting,
                None => tick += 1,
            },
            number => {
                let step = &instance.steps[number as usize];
                done_ns[segment] += step.gains_ns[segment] as f64;
                (tick, state) = (tick + 1, step.to);
            }
        }
    }
    done_ns
}

fn at_best_prices(instance: &Instance<'_>) -> Vec<Relaxation> {
    let usd = instance.offers.iter().flat_map(|offer| &offer.usd);
    let usd = usd.filter(|usd| usd.is_finite());
    let dearest_usd = usd.fold(0.0, |dearest: f64, &usd| dearest.max(usd));
    let begins = [0].iter().chain(&instance.ends_ns);
    let lengths = begins.zip(&instance.ends_ns);
    let lengths_ns: Vec<f64> = lengths.map(|(from, to)| (to - from) as f64).collect();
    // Work is worth more where all are slow.
    let worth = |segment: usize| {
        let gains = (instance.steps.iter()).map(|step| step.gains_ns[segment] as f64);
        (instance.tick_ns * instance.steps.len() as i64) as f64 / gains.sum::<f64>()
    };
    let worth: Vec<f64> = (0..lengths_ns.len()).map(worth).collect();
    let worth_of = |done_ns: &[f64]| {
        let parts = done_ns.iter().zip(&worth);
        parts.map(|(ns, worth)| ns * worth).sum::<f64>()
    };
    let all = worth_of(&lengths_ns);
    let mut found: Vec<Relaxation> = Vec::new();
    // Work of the cheapest way at a price, and its USD.
    let mut at_price = |price: f64| {
        let prices = worth.iter().map(|worth| price * worth);
        let relaxation = Relaxation::new(instance, prices.collect(), 1.0);
        let work = worth_of(&relaxation.done_ns);
        let usd = relaxation.all_usd + price * (work - all);
        found.push(relaxation);
        (work, usd)
    };
    let mut price = 2.0 * dearest_usd / instance.tick_ns as f64;
    let (mut low, mut high) = ((0.0, 0.0), at_price(price));
    for _ in 0..3 {
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
        // Steps along the subgradient, as long as what is missing up to a cost that falls (Polyak 1969).
        let (mut prices, mut above) = (found[0].prices.clone(), 0.1);
        let (mut done_ns, mut usd) = (found[0].done_ns.clone(), found[0].all_usd);
        let mut best_usd = usd;
        for _ in 0..TRIES {
            let missing = |segment: usize| 1.0 - done_ns[segment] / lengths_ns[segment];
            let squares: f64 = (0..worth.len())
                .map(|segment| missing(segment).powi(2))
                .sum();
            let step_usd = (best_usd * (1.0 + above) - usd) / squares.max(1e-9);
            for (segment, price) in prices.iter_mut().enumerate() {
                let change = step_usd * missing(segment) / lengths_ns[segment];
                *price = (*price + change).max(0.0);
            }
            let relaxation = Relaxation::new(instance, prices.clone(), 1.0);
            (done_ns, usd) = (relaxation.done_ns.clone(), relaxation.all_usd);
            if usd > best_usd {
                best_usd = usd;
            } else {
                above *= 0.7;
            }
            found.push(relaxation);
        }
        found.sort_by(by_bound);
    }
    found.truncate(MOST);
    found
}

/// Lower bounds of the rest's cost, from all states.
pub(super) struct Bounds {
    states: usize,
    ends_ns: Vec<i64>,
    /// USD per nanosecond of work, by segment and relaxation; last that of the most work.
    prices: Vec<Vec<f64>>,
    /// USD at no work, by tick, segment, state and relaxation.
    costs: Vec<f64>,
    pub(super) all_usd: f64,
}

impl Bounds {
    /// `None` where the work cannot be done in time.
    pub(super) fn new(instance: &Instance<'_>) -> Option<Bounds> {
        let price = |segment: usize| {
            let gains = instance.steps.iter().map(|step| step.gains_ns[segment]);
            instance.tick_ns as f64 / gains.max().unwrap_or(1).max(1) as f64
        };
        let ends_ns = instance.ends_ns.clone();
        let segments = ends_ns.len();
        let most_work = Relaxation::new(instance, (0..segments).map(price).collect(), 0.0);
        if most_work.all_usd > ERROR_NS {
            return None;
        }
        let mut all = at_best_prices(instance);
        let all_usd = all[0].all_usd.max(0.0);
        all.push(most_work);
        let prices = |segment: usize| all.iter().map(|one| one.prices[segment]).collect();
        let costs_of = |cell| all.iter().map(move |one: &Relaxation| one.costs[cell]);
        Some(Bounds {
            states: instance.states,
            ends_ns,
            prices: (0..segments).map(prices).collect(),
            costs: (0..all[0].costs.len()).flat_map(costs_of).collect(),
            all_usd,
        })
    }

    /// Lower bound of the rest's USD from a state at a tick's begin; infinite where it cannot be done in time.
    #[inline]
    pub(super) fn usd(&self, tick: usize, state: usize, done_ns: i64) -> f64 {
        let segment = segment_of(&self.ends_ns, done_ns);
        let prices = &self.prices[segment];
        let cell = (tick * self.prices.len() + segment) * self.states + state;
        let costs = &self.costs[cell * prices.len()..(cell + 1) * prices.len()];
        let usd = |(cost, price): (&f64, &f64)| cost - price * done_ns as f64;
        let mut lines = costs.iter().zip(prices).map(usd);
        let most_work = lines.next_back().unwrap_or(0.0);
        if most_work > ERROR_NS {
            return f64::INFINITY;
        }
        lines.fold(0.0, |most, usd| if usd > most { usd } else { most })
    }
}
