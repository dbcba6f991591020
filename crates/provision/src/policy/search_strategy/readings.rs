//! What a strategy has read of a job's configurations, and the testbed that answers from it.

use crate::policy_run::policy_view::PolicyView;
use scavsim_base::rng::mix;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_experiment::SearchProblem;
use scavsim_search::search::Prices;
use scavsim_search::testbed::{
    Extent, Metered, Observation, SearchCost, Stop, Terms, Testbed, TestbedRequest,
};

/// What a strategy asks of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    pub configuration: usize,
    pub asked: TestbedRequest,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    question: Question,
    seen: Observation,
    seconds: f64,
    usd: f64,
}

#[derive(Debug)]
pub struct Readings {
    seed: u64,
    all: Vec<Reading>,
    /// The longest reading of each configuration that the job itself ran in.
    of_run: Vec<(usize, Observation)>,
    count: u64,
}

impl Readings {
    pub fn new(seed: u64) -> Readings {
        Readings {
            seed,
            all: Vec::new(),
            of_run: Vec::new(),
            count: 0,
        }
    }

    pub fn testbed(&self, configurations: usize, tells_usd: bool) -> AnsweredTestbed<'_> {
        AnsweredTestbed {
            readings: self,
            configurations,
            question: None,
            used: vec![false; self.all.len()],
            seconds: 0.0,
            usd: tells_usd.then_some(0.0),
        }
    }

    /// Answers a question, at a price per hour; how many seconds that takes.
    pub fn answer(
        &mut self,
        question: Question,
        problem: &SearchProblem,
        terms: &Terms,
        usd_per_h: f64,
    ) -> Result<f64, Stop> {
        let (seen, seconds) = self.read(question, problem, terms)?;
        self.all.push(Reading {
            question,
            seen,
            seconds,
            usd: usd_per_h * seconds / SECONDS_PER_HOUR,
        });
        Ok(seconds)
    }

    /// Adds what a run of some seconds shows of its own configuration.
    pub fn read_run(&mut self, at: usize, seconds: f64, problem: &SearchProblem, terms: &Terms) {
        let question = Question {
            configuration: at,
            asked: TestbedRequest::Probe(Extent::Seconds(seconds)),
        };
        if let Ok((seen, _)) = self.read(question, problem, terms) {
            self.of_run.retain(|(other, _)| *other != at);
            self.of_run.push((at, seen));
        }
    }

    /// Reads in a job of its own, after the cold start if there was one: what is seen, and how long it took.
    fn read(
        &mut self,
        question: Question,
        problem: &SearchProblem,
        terms: &Terms,
    ) -> Result<(Observation, f64), Stop> {
        let Question {
            configuration: at,
            asked,
        } = question;
        let mut trial = problem.ground.open(terms);
        trial.restart(mix(self.seed, self.count));
        self.count += 1;
        trial.move_to(at)?;
        let mut testbed = Metered::new(&mut *trial, problem.space.len(), None);
        let cold_start = self.all.iter().find_map(|own| match own.question.asked {
            TestbedRequest::ColdStart(steps) => Some(steps),
            TestbedRequest::Probe(_) => None,
        });
        if let (Some(steps), TestbedRequest::Probe(_)) = (cold_start, asked) {
            testbed.cold_start(at, steps)?;
        }
        let before_s = testbed.spent().seconds;
        let seen = match asked {
            TestbedRequest::Probe(extent) => testbed.probe(at, extent)?,
            TestbedRequest::ColdStart(steps) => {
                testbed.cold_start(at, steps)?;
                Observation::default()
            }
        };
        Ok((seen, testbed.spent().seconds - before_s))
    }
}

/// A testbed that knows some answers, and ends the search at the first question that it does not know.
pub struct AnsweredTestbed<'r> {
    readings: &'r Readings,
    configurations: usize,
    /// The question that it could not answer.
    pub question: Option<Question>,
    /// Readings that answered.
    used: Vec<bool>,
    seconds: f64,
    usd: Option<f64>,
}

impl AnsweredTestbed<'_> {
    fn ask(&mut self, configuration: usize, asked: TestbedRequest) -> Result<Observation, Stop> {
        if configuration >= self.configurations {
            return Err(Stop::Failed(format!(
                "the strategy asks for configuration {configuration} of {}",
                self.configurations
            )));
        }
        let question = Question {
            configuration,
            asked,
        };
        let all = &self.readings.all;
        let is_answer = |own: usize| match (all[own].question.asked, asked) {
            // Noise settles once.
            (TestbedRequest::ColdStart(_), TestbedRequest::ColdStart(_)) => true,
            _ => !self.used[own] && all[own].question == question,
        };
        let Some(place) = (0..all.len()).find(|&own| is_answer(own)) else {
            self.question.get_or_insert(question);
            return Err(Stop::Failed("the answer is not there yet".to_owned()));
        };
        self.used[place] = true;
        let reading = all[place];
        self.seconds += reading.seconds;
        self.usd = self.usd.map(|usd| usd + reading.usd);
        let TestbedRequest::Probe(Extent::Steps(_) | Extent::Share(_) | Extent::Seconds(_)) = asked
        else {
            return Ok(reading.seen);
        };
        let is_longer = |(at, seen): &&(usize, Observation)| {
            *at == configuration && seen.steps > reading.seen.steps
        };
        let of_run = self.readings.of_run.iter().find(is_longer);
        Ok(of_run.map_or(reading.seen, |(_, seen)| *seen))
    }
}

impl Testbed for AnsweredTestbed<'_> {
    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop> {
        self.ask(configuration, TestbedRequest::ColdStart(steps))
            .map(|_| ())
    }

    fn probe(&mut self, configuration: usize, extent: Extent) -> Result<Observation, Stop> {
        match extent {
            Extent::ToTarget | Extent::ToTargetInSeconds(_) | Extent::ToTargetForUsd(_) => {
                let why = "a job that runs once cannot be run to its target as a probe";
                Err(Stop::Failed(why.to_owned()))
            }
            extent => self.ask(configuration, TestbedRequest::Probe(extent)),
        }
    }

    fn spent(&mut self) -> SearchCost {
        SearchCost::new(self.seconds, self.usd)
    }
}

/// What configurations cost now, each in the zone where it costs least.
pub struct MarketPrices {
    usd_per_h: Vec<Option<f64>>,
}

impl MarketPrices {
    pub fn new(view: &PolicyView<'_, '_>, forms: &[Option<usize>]) -> MarketPrices {
        let least = |form: usize| {
            let zones = (0..view.zones()).filter(|&zone| view.is_served(zone, form));
            zones
                .map(|zone| view.spot_usd_per_h_as(zone, form))
                .min_by(f64::total_cmp)
        };
        MarketPrices {
            usd_per_h: forms.iter().map(|form| least((*form)?)).collect(),
        }
    }

    pub fn usd_per_h(&self, configuration: usize) -> Option<f64> {
        self.usd_per_h.get(configuration).copied().flatten()
    }
}

impl Prices for MarketPrices {
    fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64> {
        Some(self.usd_per_h(configuration)? * seconds / SECONDS_PER_HOUR)
    }
}
