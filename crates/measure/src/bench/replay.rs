//! A strategy that repeats the questions and the choice of a transcript.

use std::sync::{Mutex, PoisonError};

use super::transcript::Transcript;
use scavsim_base::rng::Stream;
use scavsim_search::search::{Depends, Forecast, Strategy, Task};
use scavsim_search::testbed::{Stop, Testbed, TestbedRequest};

#[derive(Debug)]
pub struct Replay {
    pub written: Transcript,
    /// Why a question or choice cannot be repeated, in words.
    wrong: Mutex<Option<String>>,
}

impl Replay {
    pub fn new(written: Transcript) -> Replay {
        Replay {
            written,
            wrong: Mutex::new(None),
        }
    }

    pub fn wrong(&self) -> Option<String> {
        let wrong = self.wrong.lock();
        wrong.unwrap_or_else(PoisonError::into_inner).take()
    }

    fn refuse(&self, why: String) -> Stop {
        let wrong = self.wrong.lock();
        *wrong.unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        Stop::Failed(why)
    }

    fn place(&self, task: &Task<'_>, name: &str, what: &str) -> Result<usize, Stop> {
        let place = (0..task.space.len()).find(|&at| task.space.name(at) == name);
        place.ok_or_else(|| self.refuse(format!("{what}: there is no configuration `{name}`")))
    }
}

impl Strategy for Replay {
    fn depends(&self) -> Depends {
        Depends::BOTH
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        for (number, step) in self.written.asked.iter().enumerate() {
            let what = format!("question {}", number + 1);
            let at = self.place(task, &step.configuration, &what)?;
            let asked = match step.asked.into_request() {
                TestbedRequest::ColdStart(steps) => testbed.cold_start(at, steps),
                TestbedRequest::Probe(extent) => testbed.probe(at, extent).map(|_| ()),
            };
            asked.map_err(|why| self.refuse(format!("{what} cannot be asked: {why}")))?;
        }
        let mut chosen = (self.written.chose.iter()).map(|name| self.place(task, name, "`chose`"));
        let Some(first) = chosen.next() else {
            let why = self.written.failed.clone().unwrap_or_default();
            return Err(Stop::Failed(why));
        };
        forecast.decided = Some(first?);
        for next in chosen {
            forecast.instead.push(next?);
        }
        Ok(())
    }
}
