//! A job in one replica, whatever it does: the marks that it comes back to, and how it came to its target.

use super::{JobTrial, Length, Observation, Stop, Timeline};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Usage;
use scavsim_sim::job::{SketchResult, Totals};
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::log::{Entry, LogEvent, Track, release_rest};

/// Entries of a job that ended at `end`, in the order of time, with all VMs given back then and counted at each change.
pub fn in_order<W: Work>(work: &W, job: &W::Job, mut all: Vec<Entry>, end: SimTime) -> Vec<Entry> {
    let mut usage = Usage::default();
    work.usage_until(job, end, &mut usage);
    for entry in &mut all {
        entry.until = entry.until.min(end);
    }
    release_rest(&mut all, end);
    let changes = usage.intervals.iter().flat_map(|i| {
        let vms = i64::from(i.vms);
        [(i.from, vms), (i.to, -vms)]
    });
    let mut counts: Vec<(SimTime, i64)> = changes.collect();
    counts.sort_unstable();
    let mut vms = 0;
    for change in counts.chunk_by(|a, b| a.0 == b.0) {
        vms += change.iter().map(|(_, by)| by).sum::<i64>();
        let held = LogEvent::Vms(u32::try_from(vms).unwrap_or(0));
        all.push(Entry::instant(change[0].0, Track::Job, held));
    }
    all.push(Entry::instant(end, Track::Job, LogEvent::Target));
    // Of equal moments by track; on a track as they were noted.
    all.sort_by_key(|entry| (entry.at, entry.what == LogEvent::Target, entry.track));
    all
}

/// What a job does on one kind of environment; everything else is [`WorkTrial`]'s.
pub trait Work: Send {
    /// What changes while the job goes on, and comes back with a mark.
    type Job: Clone + Send;

    fn restart(&mut self, job: &mut Self::Job, replica: u64);

    fn copy(from: &Self::Job, to: &mut Self::Job) {
        to.clone_from(from);
    }

    fn now(job: &Self::Job) -> SimTime;

    /// Takes and gives back VMs until they are those of a configuration, ready to train; whether the job is in it now.
    fn hold(
        &mut self,
        job: &mut Self::Job,
        configuration: usize,
        progress: Option<f64>,
    ) -> Result<bool, UnfinishedJob>;

    fn usage_until(&self, job: &Self::Job, end: SimTime, usage: &mut Usage);

    fn sketch_again(&mut self, _job: &mut Self::Job, _choice: usize) -> Option<SketchResult> {
        None
    }

    fn sketch(&mut self, _choice: usize, _replica: u64) -> Option<SketchResult> {
        None
    }

    fn watch(&mut self, _job: &mut Self::Job, _most: u64) {}

    fn noted_until(&mut self, _job: &mut Self::Job, _end: SimTime) -> Vec<Entry> {
        Vec::new()
    }
}

/// How such a job is looked at and comes to its end: in steps, or as its environment says.
pub trait ProbedWork: Work {
    /// Whether so many steps let the noise settle, where there is any.
    fn settles(&self, steps: u64) -> bool;

    fn probe(
        &mut self,
        at: &mut Stand<Self::Job>,
        configuration: usize,
        length: Length,
    ) -> Result<Observation, Stop>;

    fn run(&mut self, at: &mut Stand<Self::Job>, choice: usize) -> Result<Timeline, UnfinishedJob>;
}

#[derive(Debug)]
pub struct WorkTrial<W: Work> {
    pub(super) work: W,
    pub(super) now: Stand<W::Job>,
    marked: Vec<Stand<W::Job>>,
}

#[derive(Debug, Clone)]
pub struct Stand<J> {
    pub job: J,
    pub current: Option<usize>,
    /// The configuration whose VMs it holds.
    pub holds: Option<usize>,
    /// Share of the way to the target that is done.
    pub progress: f64,
    /// Steps that it has done, in all configurations.
    pub steps: u64,
    cold_start: Option<(usize, f64)>,
    reached: Option<ReachedTarget>,
    /// What was used when the target was reached during the search.
    used: Usage,
}

#[derive(Debug, Clone, Copy)]
pub struct ReachedTarget {
    pub configuration: usize,
    pub at: SimTime,
    pub lost_vms: u32,
    pub totals: Option<Totals>,
}

impl<J> Stand<J> {
    pub fn is_reached(&self) -> bool {
        self.reached.is_some()
    }

    /// Notes that the target is reached, if it was not before, and what was used until then.
    pub fn reach<W: Work<Job = J>>(&mut self, work: &W, reached: ReachedTarget) {
        if self.reached.is_none() {
            self.reached = Some(reached);
            work.usage_until(&self.job, reached.at, &mut self.used);
        }
    }

    pub fn hold<W: Work<Job = J>>(
        &mut self,
        work: &mut W,
        configuration: usize,
    ) -> Result<(), UnfinishedJob> {
        if self.holds != Some(configuration) {
            let progress = self.current.map(|_| self.progress);
            if work.hold(&mut self.job, configuration, progress)? {
                (self.current, self.holds) = (Some(configuration), Some(configuration));
            }
        }
        Ok(())
    }
}

impl<W: Work> WorkTrial<W> {
    pub fn at_zero(work: W, job: W::Job) -> WorkTrial<W> {
        WorkTrial {
            work,
            now: Stand {
                job,
                current: None,
                holds: None,
                progress: 0.0,
                steps: 0,
                cold_start: None,
                reached: None,
                used: Usage::default(),
            },
            marked: Vec::new(),
        }
    }
}

fn copy<W: Work>(from: &Stand<W::Job>, to: &mut Stand<W::Job>) {
    W::copy(&from.job, &mut to.job);
    (to.current, to.holds) = (from.current, from.holds);
    (to.progress, to.steps) = (from.progress, from.steps);
    to.cold_start = from.cold_start;
    to.reached = from.reached;
    if from.reached.is_some() {
        to.used.copy_from(&from.used);
    }
}

impl<W: ProbedWork> JobTrial for WorkTrial<W> {
    fn restart(&mut self, replica: u64) {
        self.work.restart(&mut self.now.job, replica);
        let now = &mut self.now;
        (now.current, now.holds) = (None, None);
        (now.progress, now.steps) = (0.0, 0);
        (now.cold_start, now.reached) = (None, None);
    }

    fn mark(&mut self, number: usize) {
        while self.marked.len() <= number {
            self.marked.push(self.now.clone());
        }
        copy::<W>(&self.now, &mut self.marked[number]);
    }

    fn back_to(&mut self, number: usize) {
        if let Some(marked) = self.marked.get(number) {
            copy::<W>(marked, &mut self.now);
        }
    }

    fn now(&self) -> SimTime {
        W::now(&self.now.job)
    }

    fn current(&self) -> Option<usize> {
        self.now.current
    }

    fn move_to(&mut self, configuration: usize) -> Result<(), Stop> {
        Ok(self.now.hold(&mut self.work, configuration)?)
    }

    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop> {
        self.move_to(configuration)?;
        let start = self.now();
        if self.work.settles(steps) {
            self.probe(configuration, Length::Steps(steps))?;
            let seconds = (self.now() - start).seconds();
            self.now.cold_start = Some((configuration, seconds));
        }
        Ok(())
    }

    fn probe(&mut self, configuration: usize, length: Length) -> Result<Observation, Stop> {
        self.work.probe(&mut self.now, configuration, length)
    }

    fn run_to_target(&mut self, choice: usize) -> Result<Timeline, UnfinishedJob> {
        let line = Timeline {
            cold_start: self.now.cold_start,
            ..self.work.run(&mut self.now, choice)?
        };
        Ok(match self.now.reached {
            None => line,
            Some(reached) => Timeline {
                net_end: reached.at,
                reached: Some(reached.configuration),
                lost_vms: reached.lost_vms,
                totals: reached.totals,
                ..line
            },
        })
    }

    fn sketch_again(&mut self, choice: usize) -> Option<SketchResult> {
        self.work.sketch_again(&mut self.now.job, choice)
    }

    fn sketch(&mut self, choice: usize, replica: u64) -> Option<SketchResult> {
        self.work.sketch(choice, replica)
    }

    fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.work.usage_until(&self.now.job, end, usage);
    }

    fn usage_until_target(&self, line: &Timeline, usage: &mut Usage) {
        match line.reached {
            None => self.usage_until(line.net_end, usage),
            Some(_) => usage.copy_from(&self.now.used),
        }
    }

    fn watch(&mut self, most: u64) {
        self.work.watch(&mut self.now.job, most);
    }

    fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        self.work.noted_until(&mut self.now.job, end)
    }
}
