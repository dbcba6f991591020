//! How often a zone's spot machines are lost and return, learned from what is seen.
//!
//! Runs and pauses are young for [`YOUNG_H`] and old thereafter, each with a rate of ending, since markets come in bursts. The prior
//! gives rates; a market's are unknown factors times these, one for losses and one for returns, with a gamma prior: posterior mean =
//! (ends seen + prior ends) / (ends that the prior expects in the hours seen + prior ends). Older observations count less.

pub(super) const YOUNG_H: f64 = 0.5;

/// Hours from one look at a market to the next, unless ticks are longer.
const LOOK_H: f64 = 1.0 / 6.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Young,
    Old,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    /// Weight of the prior in ends of runs, and of pauses.
    pub(super) ends: f64,
    /// Hours per end of runs, young and old.
    pub(super) run_h: [f64; 2],
    /// Hours per end of pauses, young and old.
    pub(super) pause_h: [f64; 2],
    /// Hours after which an observation counts half.
    pub(super) half_life_h: f64,
}

/// Chosen on the market of `data/markets` and on every other one of the traces of Can't Be Late (NSDI 2024).
impl Default for Prior {
    fn default() -> Self {
        Prior {
            ends: 6.0,
            run_h: [3.0, 6.0],
            pause_h: [0.7, 1.0],
            half_life_h: 48.0,
        }
    }
}

impl Prior {
    /// The prior of several times as many machines, all or none: they are lost as soon as one of them is, return the later, and are
    /// known the less.
    pub(super) fn of_machines(self, times: f64) -> Prior {
        Prior {
            ends: self.ends / times,
            run_h: self.run_h.map(|hours| hours / times),
            pause_h: self.pause_h.map(|hours| hours * times),
            half_life_h: self.half_life_h,
        }
    }
}

/// Ends of runs or pauses seen, and expected by the prior in as many hours.
#[derive(Debug, Clone, Copy, Default)]
struct ObservedEnds {
    ends: f64,
    expected: f64,
}

/// A market when last seen.
#[derive(Debug, Clone, Copy)]
struct Last {
    is_up: bool,
    ago_h: f64,
    /// `None` where its change was not seen.
    age_h: Option<f64>,
}

#[derive(Debug)]
pub(super) struct Rates {
    prior: Prior,
    runs: ObservedEnds,
    pauses: ObservedEnds,
    last: Option<Last>,
    tick_h: f64,
    /// Hours until the market may have changed twice.
    gap_h: f64,
    /// Weight of earlier observations, one tick later.
    keeps: f64,
}

fn age(hours: Option<f64>) -> Age {
    match hours {
        Some(hours) if hours < YOUNG_H => Age::Young,
        _ => Age::Old,
    }
}

impl Rates {
    pub(super) fn new(prior: Prior) -> Self {
        Rates {
            prior,
            runs: ObservedEnds::default(),
            pauses: ObservedEnds::default(),
            last: None,
            tick_h: 0.0,
            gap_h: 1.5 * LOOK_H,
            keeps: 1.0,
        }
    }

    pub(super) fn pass(&mut self, tick_h: f64) {
        if self.tick_h != tick_h {
            self.tick_h = tick_h;
            self.gap_h = 1.5 * LOOK_H.max(tick_h);
            self.keeps = libm::exp2(-tick_h / self.prior.half_life_h);
        }
        let keeps = self.keeps;
        for seen in [&mut self.runs, &mut self.pauses] {
            seen.ends *= keeps;
            seen.expected *= keeps;
        }
        if let Some(last) = &mut self.last {
            last.ago_h += tick_h;
        }
    }

    pub(super) fn see(&mut self, is_up: bool) {
        let watched = (self.last).filter(|last| last.ago_h < self.gap_h);
        let mut age_h = None;
        if let Some(last) = watched {
            let (seen, hours) = if last.is_up {
                (&mut self.runs, self.prior.run_h)
            } else {
                (&mut self.pauses, self.prior.pause_h)
            };
            seen.expected += last.ago_h / hours[age(last.age_h) as usize];
            if last.is_up == is_up {
                age_h = last.age_h.map(|age_h| age_h + last.ago_h);
            } else {
                seen.ends += 1.0;
                age_h = Some(0.0);
            }
        }
        self.last = Some(Last {
            is_up,
            ago_h: 0.0,
            age_h,
        });
    }

    /// Whether its state may have changed since it was seen; machines are not asked for again at once.
    pub(super) fn is_worth_a_look(&self) -> bool {
        (self.last).is_none_or(|last| !last.is_up || last.ago_h > 0.999 * LOOK_H.max(self.tick_h))
    }

    /// Age of a run that is on, or would be met now.
    pub(super) fn run_age(&self) -> Age {
        let watched = (self.last).filter(|last| last.ago_h < self.gap_h);
        match watched {
            Some(last) if last.is_up => age(last.age_h),
            Some(_) => Age::Young,
            // At any time most runs that are met are old.
            None => Age::Old,
        }
    }

    pub(super) fn pause_age(&self) -> Age {
        let watched = (self.last).filter(|last| last.ago_h < self.gap_h && !last.is_up);
        watched.map_or(Age::Old, |last| age(last.age_h))
    }

    fn factor(&self, seen: &ObservedEnds) -> [f64; 2] {
        let prior = self.prior.ends;
        [seen.ends + prior, seen.expected + prior]
    }

    /// Ratio of the loss rate to the prior's, undivided.
    pub(super) fn losses(&self) -> [f64; 2] {
        self.factor(&self.runs)
    }

    /// Ratio of the return rate to the prior's, undivided.
    pub(super) fn returns(&self) -> [f64; 2] {
        self.factor(&self.pauses)
    }
}
