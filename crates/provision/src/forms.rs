use crate::world::Zone;
use scavsim_base::units::SimTime;

/// Machines that a job can run on, and how fast it is on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub name: String,
    /// All or none.
    pub machines: u16,
    /// `None` where any will do.
    pub vm: Option<String>,
    pub speed: Speed,
}

impl Form {
    /// The only form of a job: machines of any type, at speed 1.
    pub fn of_machines(machines: u16) -> Form {
        Form {
            name: String::new(),
            machines,
            vm: None,
            speed: Speed::constant(1.0),
        }
    }

    pub fn is_served(&self, zone: &Zone) -> bool {
        match (&self.vm, &zone.vm) {
            (Some(needed), Some(has)) => needed == has,
            _ => true,
        }
    }
}

/// Seconds of work per second; may change as work is done, as where noise rises and large batches pay later.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Shares of the work from which a speed holds, ascending from 0.
    steps: Vec<(f64, f64)>,
}

impl Speed {
    pub fn constant(speed: f64) -> Speed {
        Speed {
            steps: vec![(0.0, speed)],
        }
    }

    /// Speeds from shares of the work on; `None` unless shares ascend from 0 and stay below 1, and speeds are above 0.
    pub fn of_steps(steps: Vec<(f64, f64)>) -> Option<Speed> {
        let begins = steps.first().is_some_and(|&(share, _)| share == 0.0);
        let ascends = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_legal = |&(share, speed): &(f64, f64)| share < 1.0 && speed > 0.0;
        (begins && ascends && steps.iter().all(is_legal)).then_some(Speed { steps })
    }

    pub fn after(&self, work_s: f64, done_s: f64) -> f64 {
        let holds = |&&(share, _): &&(f64, f64)| share * work_s <= done_s;
        let last = self.steps.iter().take_while(holds).last();
        last.map_or(self.steps[0].1, |&(_, speed)| speed)
    }

    pub(crate) fn speeds(&self) -> impl Iterator<Item = f64> {
        self.steps.iter().map(|&(_, speed)| speed)
    }

    /// Seconds of work at which speeds end, with the speeds.
    pub(crate) fn stretches(&self, work_s: f64) -> impl Iterator<Item = (f64, f64)> {
        let ends = self.steps.iter().skip(1).map(move |step| step.0 * work_s);
        ends.chain([work_s]).zip(self.speeds())
    }

    /// Time of all work from `done` on: exact at speed 1, else to the nanosecond.
    pub fn remaining_time(&self, work: SimTime, done: SimTime) -> SimTime {
        if self.is_one() {
            return work - done;
        }
        let (work, done) = (work.nanoseconds() as f64, done.nanoseconds() as f64);
        SimTime::from_nanoseconds(self.rest_s(work, done).round() as u64)
    }

    /// Work done after some time, from `done` on.
    pub fn done_after(&self, work: SimTime, done: SimTime, time: SimTime) -> SimTime {
        if self.is_one() {
            return work.min(done + time);
        }
        let [all, before, lasts] = [work, done, time].map(|time| time.nanoseconds() as f64);
        let works = self.work_in(all, before, lasts);
        work.min(done + SimTime::from_nanoseconds(works.round() as u64))
    }

    fn is_one(&self) -> bool {
        matches!(self.steps[..], [(_, speed)] if speed == 1.0)
    }

    /// Seconds for all work from `done_s` on.
    pub fn rest_s(&self, work_s: f64, done_s: f64) -> f64 {
        let (mut at_s, mut seconds) = (done_s, 0.0);
        for (end_s, speed) in self.stretches(work_s) {
            if end_s > at_s {
                seconds += (end_s - at_s) / speed;
                at_s = end_s;
            }
        }
        seconds
    }

    /// Seconds of work done in `seconds`, from `done_s` on; at most the rest of `work_s`.
    pub fn work_in(&self, work_s: f64, done_s: f64, seconds: f64) -> f64 {
        let (mut at_s, mut left_s, mut works_s) = (done_s, seconds, 0.0);
        for (end_s, speed) in self.stretches(work_s) {
            if end_s <= at_s {
                continue;
            }
            let most_s = end_s - at_s;
            if left_s * speed <= most_s {
                return works_s + left_s * speed;
            }
            works_s += most_s;
            left_s -= most_s / speed;
            at_s = end_s;
        }
        works_s
    }
}
