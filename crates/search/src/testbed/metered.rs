//! A job on an environment as a strategy sees it: with clock and bill, and nothing else.

use super::{Extent, Observation, SearchCost, Stop, Target, Testbed};
use super::{JobTrial, Length};
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;

/// A testbed over a job. The bill is told where the strategy depends on prices.
pub struct Metered<'s> {
    site: &'s mut dyn JobTrial,
    tariff: Option<&'s Tariff>,
    usage: Usage,
    configurations: usize,
    /// Runs to the target, each from scratch.
    pub completed: u64,
    /// All questions, and what they are billed by, where somebody asks for them.
    notes: Option<(&'s Tariff, Vec<TestbedExchange>)>,
}

/// What a strategy asked of a testbed, of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TestbedRequest {
    ColdStart(u64),
    Probe(Extent),
}

/// A question to a testbed, its answer, and where the job stood before and behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestbedExchange {
    pub configuration: usize,
    pub asked: TestbedRequest,
    /// What was seen; nothing after a cold start.
    pub seen: Observation,
    /// Seconds since the start of the job when it was asked.
    pub before_s: f64,
    pub before_usd: f64,
    pub seconds: f64,
    /// USD, as if everything were released now.
    pub usd: f64,
    pub reached: bool,
}

/// Halvings of a time in which a budget of money is used up: to a nanosecond of three centuries.
const HALVINGS: u32 = 64;
/// Longest probe that a budget pays, in seconds: ten years.
const LONGEST_S: f64 = 3.2e8;

impl<'s> Metered<'s> {
    pub fn new(
        site: &'s mut dyn JobTrial,
        configurations: usize,
        tariff: Option<&'s Tariff>,
    ) -> Metered<'s> {
        Metered {
            site,
            tariff,
            usage: Usage::default(),
            configurations,
            completed: 0,
            notes: None,
        }
    }

    /// Notes all probes and cold starts of a job that is about to begin, with bills by a tariff.
    pub fn note(&mut self, tariff: &'s Tariff) {
        self.notes = Some((tariff, Vec::new()));
    }

    pub fn into_noted(self) -> Vec<TestbedExchange> {
        self.notes.map_or(Vec::new(), |(_, noted)| noted)
    }

    fn take_note(&mut self, configuration: usize, asked: TestbedRequest, seen: Observation) {
        let Some((tariff, mut noted)) = self.notes.take() else {
            return;
        };
        let now = self.site.now();
        let (before_s, before_usd) = noted.last().map_or((0.0, 0.0), |last: &TestbedExchange| {
            (last.seconds, last.usd)
        });
        noted.push(TestbedExchange {
            configuration,
            asked,
            seen,
            before_s,
            before_usd,
            seconds: now.seconds(),
            usd: self.usd_at(tariff, now),
            reached: matches!(seen.target, Target::Reached(_)),
        });
        self.notes = Some((tariff, noted));
    }

    fn usd_at(&mut self, tariff: &Tariff, end: SimTime) -> f64 {
        self.site.usage_until(end, &mut self.usage);
        tariff.so_far_usd(&self.usage)
    }

    /// When a probe that begins now has cost `usd` more than was spent before.
    fn moment_of(&mut self, configuration: usize, usd: f64) -> Result<SimTime, Stop> {
        let Some(tariff) = self.tariff else {
            return Err(Stop::Failed(
                "the strategy asks for a probe by its cost, but does not depend on prices"
                    .to_owned(),
            ));
        };
        let before = self.usd_at(tariff, self.site.now());
        self.site.move_to(configuration)?;
        let (mut low, mut high) = (0.0, LONGEST_S);
        let now = self.site.now();
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let spent = self.usd_at(tariff, now + SimTime::from_seconds(middle)) - before;
            if spent > usd {
                high = middle
            } else {
                low = middle
            }
        }
        Ok(now + SimTime::from_seconds(low))
    }

    fn known(&self, configuration: usize) -> Result<(), Stop> {
        if configuration < self.configurations {
            Ok(())
        } else {
            Err(Stop::Failed(format!(
                "the strategy asks for configuration {configuration} of {}: what is not in its space is a hole, which \
                 nobody can try",
                self.configurations
            )))
        }
    }
}

impl Testbed for Metered<'_> {
    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop> {
        self.known(configuration)?;
        self.site.cold_start(configuration, steps)?;
        self.take_note(
            configuration,
            TestbedRequest::ColdStart(steps),
            Observation::default(),
        );
        Ok(())
    }

    fn probe(&mut self, configuration: usize, extent: Extent) -> Result<Observation, Stop> {
        self.known(configuration)?;
        let sound = |value: f64, most: f64| value > 0.0 && value <= most;
        let length = match extent {
            Extent::Steps(steps @ 1..) => Length::Steps(steps),
            Extent::Share(share) if sound(share, 1.0) => Length::Share(share),
            Extent::ToTarget => Length::Whole,
            Extent::Seconds(seconds) if sound(seconds, LONGEST_S) => {
                Length::Until(self.site.now() + SimTime::from_seconds(seconds))
            }
            Extent::Usd(usd) if sound(usd, f64::MAX) => {
                Length::Until(self.moment_of(configuration, usd)?)
            }
            Extent::ToTargetInSeconds(seconds) if sound(seconds, LONGEST_S) => {
                Length::WholeUntil(self.site.now() + SimTime::from_seconds(seconds))
            }
            Extent::ToTargetForUsd(usd) if sound(usd, f64::MAX) => {
                Length::WholeUntil(self.moment_of(configuration, usd)?)
            }
            Extent::Profile(passes @ 1..) => Length::Profile(passes),
            Extent::Fidelity(share) if sound(share, 1.0) => Length::Fidelity(share),
            impossible => {
                return Err(Stop::Failed(format!(
                    "the strategy asks for an impossible probe: {impossible:?}"
                )));
            }
        };
        let seen = self.site.probe(configuration, length)?;
        self.completed += u64::from(matches!(seen.target, Target::Reached(_)));
        self.take_note(configuration, TestbedRequest::Probe(extent), seen);
        Ok(seen)
    }

    fn spent(&mut self) -> SearchCost {
        let now = self.site.now();
        SearchCost {
            seconds: now.seconds(),
            usd: self.tariff.map(|tariff| self.usd_at(tariff, now)),
        }
    }
}
