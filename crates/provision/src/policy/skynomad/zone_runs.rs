//! Runs seen in a zone's spot market, of own machines and of probes.

use super::lifetimes::{Bursts, Knots};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Own,
    /// Machines that would have run.
    Probe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Lost,
    /// Given back, or not seen any more.
    Given,
}

#[derive(Debug, Clone, Copy)]
struct OpenRun {
    begin_s: f64,
    source: Source,
}

#[derive(Debug, Default)]
pub struct Runs {
    knots: Knots,
    open: Option<OpenRun>,
    /// Losses and refusals since the last tick.
    failures: u32,
    /// Age of the open run at the last tick, of own machines and of probes.
    own_age_h: Option<f64>,
    virtual_age_h: Option<f64>,
    bursts: Bursts,
}

impl Runs {
    /// Begins a run; an open one is forgotten.
    pub fn begin(&mut self, at_s: f64, source: Source) {
        self.open = Some(OpenRun {
            begin_s: at_s,
            source,
        });
        match source {
            Source::Own => {
                self.own_age_h = Some(0.0);
                self.virtual_age_h = None;
            }
            Source::Probe => self.virtual_age_h = Some(0.0),
        }
    }

    pub fn end(&mut self, at_s: f64, end: End) {
        if let Some(open) = self.open.take() {
            let hours = ((at_s - open.begin_s) / 3600.0).max(0.0);
            self.knots.push(hours, end == End::Lost);
        }
        if end == End::Lost {
            self.failures += 1;
        }
    }

    pub fn fail(&mut self) {
        self.failures += 1;
    }

    /// Begins to count the age of probes anew.
    pub fn forget_virtual(&mut self) {
        self.virtual_age_h = None;
    }

    pub fn age_h(&self, now_s: f64) -> Option<f64> {
        let open = self.open?;
        Some(((now_s - open.begin_s) / 3600.0).max(0.0))
    }

    /// Hours of the open run, which counts as not seen to end.
    fn open_h(&self, now_s: f64) -> Option<f64> {
        self.age_h(now_s).filter(|&age| age > 0.0)
    }

    pub fn expected_h(&mut self, age_h: f64, now_s: f64, tick_h: f64) -> f64 {
        let open_h = self.open_h(now_s);
        (self.knots).expected_h(age_h, open_h, self.bursts.factor, tick_h)
    }

    /// Ends a tick: notes the hazard and failures in it.
    pub fn pass(&mut self, now_s: f64, tick_h: f64) {
        let open_h = self.open_h(now_s);
        let (mut age, mut before) = (None, None);
        match self.open.map(|open| open.source) {
            Some(Source::Own) => {
                age = self.age_h(now_s);
                before = self.own_age_h;
                self.own_age_h = age;
            }
            Some(Source::Probe) => {
                age = self.age_h(now_s);
                before = self.virtual_age_h;
                self.virtual_age_h = age;
                self.own_age_h = None;
            }
            None => self.own_age_h = None,
        }
        let ages = age.map(|age| (before.unwrap_or((age - tick_h).max(0.0)), age));
        let failures = std::mem::take(&mut self.failures);
        let risk = self.knots.risk(ages, open_h, failures, tick_h);
        self.bursts.push(risk, failures);
    }
}
