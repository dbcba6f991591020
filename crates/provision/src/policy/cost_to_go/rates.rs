//! How often a zone's spot machines are lost, and how soon there are some again: learned as it goes.
//!
//! Runs and pauses are taken as exponential with rates that are not known, of which a gamma prior is believed: the mean of
//! the posterior is (runs ended + prior runs) / (hours seen + prior hours). What lies back counts less.

/// What is believed before anything was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// How many runs that is worth.
    pub runs: f64,
    /// Mean hours of a run.
    pub run_h: f64,
    /// How many pauses that is worth.
    pub pauses: f64,
    /// Mean hours of a pause.
    pub pause_h: f64,
    /// Hours after which what was seen counts half.
    pub half_life_h: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Prior {
            runs: 1.0,
            run_h: 4.0,
            pauses: 1.0,
            pause_h: 1.5,
            half_life_h: 24.0,
        }
    }
}

/// What is known of a zone's market.
#[derive(Debug)]
pub struct Rates {
    prior: Prior,
    runs: f64,
    run_h: f64,
    pauses: f64,
    pause_h: f64,
    /// Whether it was up when it was seen last, and how many hours ago.
    seen: Option<(bool, f64)>,
    tick_h: f64,
}

impl Rates {
    pub(super) fn new(prior: Prior) -> Self {
        Rates {
            prior,
            runs: 0.0,
            run_h: 0.0,
            pauses: 0.0,
            pause_h: 0.0,
            seen: None,
            tick_h: 0.0,
        }
    }

    /// A tick has passed.
    pub(super) fn pass(&mut self, tick_h: f64) {
        let keeps = libm::exp2(-tick_h / self.prior.half_life_h);
        for sum in [
            &mut self.runs,
            &mut self.run_h,
            &mut self.pauses,
            &mut self.pause_h,
        ] {
            *sum *= keeps;
        }
        self.tick_h = tick_h;
        if let Some((_, ago_h)) = &mut self.seen {
            *ago_h += tick_h;
        }
    }

    /// It was seen to have machines, or none.
    pub(super) fn see(&mut self, is_up: bool) {
        // What was not watched tick by tick may have changed twice.
        if let Some((was_up, ago_h)) = self.seen
            && ago_h > 0.0
            && ago_h < 1.5 * self.tick_h
        {
            if was_up {
                self.run_h += ago_h;
                self.runs += f64::from(u8::from(!is_up));
            } else {
                self.pause_h += ago_h;
                self.pauses += f64::from(u8::from(is_up));
            }
        }
        self.seen = Some((is_up, 0.0));
    }

    /// Losses per hour of machines that run.
    pub(super) fn losses_per_h(&self) -> f64 {
        let Prior { runs, run_h, .. } = self.prior;
        (self.runs + runs) / (self.run_h + runs * run_h)
    }

    /// Returns per hour where there are none.
    pub(super) fn returns_per_h(&self) -> f64 {
        let Prior {
            pauses, pause_h, ..
        } = self.prior;
        (self.pauses + pauses) / (self.pause_h + pauses * pause_h)
    }
}
