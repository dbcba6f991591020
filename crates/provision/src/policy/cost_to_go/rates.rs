//! How often a zone's spot machines are lost, and how soon there are some again: learned as it goes.
//!
//! Runs and pauses are taken as young for [`YOUNG_H`] and old thereafter, each with a constant rate of ending that is not
//! known and of which a gamma prior is believed: the mean of the posterior is (ends seen + prior ends) / (hours seen +
//! prior hours). Markets come in bursts: what is young ends sooner. What lies back counts less.

/// Hours for which a run or a pause is young.
pub(super) const YOUNG_H: f64 = 0.5;

/// How old a run or a pause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Young,
    Old,
}

/// What is believed before anything was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    /// How many ends of each kind that is worth.
    pub(super) ends: f64,
    /// Hours per end of runs, young and old.
    pub(super) run_h: [f64; 2],
    /// Hours per end of pauses, young and old.
    pub(super) pause_h: [f64; 2],
    /// Hours after which what was seen counts half.
    pub(super) half_life_h: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Prior {
            ends: 4.0,
            run_h: [1.5, 4.0],
            pause_h: [1.0, 1.5],
            half_life_h: 48.0,
        }
    }
}

/// Ends and hours of runs or pauses that were seen, young and old.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    ends: [f64; 2],
    hours: [f64; 2],
}

/// What a market was when it was seen last.
#[derive(Debug, Clone, Copy)]
struct Last {
    is_up: bool,
    ago_h: f64,
    /// Hours that it had been so; `None` where its change was not seen.
    age_h: Option<f64>,
}

/// What is known of a zone's market.
#[derive(Debug)]
pub(super) struct Rates {
    prior: Prior,
    runs: Seen,
    pauses: Seen,
    last: Option<Last>,
    tick_h: f64,
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
            runs: Seen::default(),
            pauses: Seen::default(),
            last: None,
            tick_h: 0.0,
        }
    }

    /// A tick has passed.
    pub(super) fn pass(&mut self, tick_h: f64) {
        if self.tick_h != tick_h {
            self.tick_h = tick_h;
        }
        let keeps = libm::exp2(-tick_h / self.prior.half_life_h);
        for seen in [&mut self.runs, &mut self.pauses] {
            for sum in seen.ends.iter_mut().chain(&mut seen.hours) {
                *sum *= keeps;
            }
        }
        if let Some(last) = &mut self.last {
            last.ago_h += tick_h;
        }
    }

    /// The market was seen to have machines, or none.
    pub(super) fn see(&mut self, is_up: bool) {
        // What was not watched tick by tick may have changed twice.
        let watched = (self.last).filter(|last| last.ago_h < 1.5 * self.tick_h);
        let mut age_h = None;
        if let Some(last) = watched {
            let seen = if last.is_up {
                &mut self.runs
            } else {
                &mut self.pauses
            };
            let at = age(last.age_h) as usize;
            seen.hours[at] += last.ago_h;
            if last.is_up == is_up {
                age_h = last.age_h.map(|age_h| age_h + last.ago_h);
            } else {
                seen.ends[at] += 1.0;
                age_h = Some(0.0);
            }
        }
        self.last = Some(Last {
            is_up,
            ago_h: 0.0,
            age_h,
        });
    }

    /// How old a run is that is on, or would be met now.
    pub(super) fn run_age(&self) -> Age {
        let watched = (self.last).filter(|last| last.ago_h < 1.5 * self.tick_h);
        match watched {
            Some(last) if last.is_up => age(last.age_h),
            Some(_) => Age::Young,
            // At any time most runs that are met are old.
            None => Age::Old,
        }
    }

    /// How old the pause is.
    pub(super) fn pause_age(&self) -> Age {
        let watched = (self.last).filter(|last| last.ago_h < 1.5 * self.tick_h && !last.is_up);
        watched.map_or(Age::Old, |last| age(last.age_h))
    }

    fn rates(&self, seen: &Seen, hours: [f64; 2]) -> [f64; 2] {
        let ends = self.prior.ends;
        [0, 1].map(|at| (seen.ends[at] + ends) / (seen.hours[at] + ends * hours[at]))
    }

    /// Losses per hour of machines that run, young and old.
    pub(super) fn losses_per_h(&self) -> [f64; 2] {
        self.rates(&self.runs, self.prior.run_h)
    }

    /// Returns per hour where there are none, young and old.
    pub(super) fn returns_per_h(&self) -> [f64; 2] {
        self.rates(&self.pauses, self.prior.pause_h)
    }
}
