//! Jobs on VMs that the provider takes away: a paper's lives, jobs and rival policies by name, and its quantities.
//!
//! A quantity over several ages of the first VM is their mean, each age weighing as much. Its name with
//! `_simulated` is the same from jobs drawn at random. Losses are reckoned by `odds`: `exact`, as `published`, or `as-coded`
//! by the authors, which is what some printed figures are of.
//!
//! - `as_coded`: the definitions in the authors' code.

mod as_coded;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use crate::cloud::date::Date;
use crate::cloud::lifetimes::{Bathtub, Empirical, Kind, Lifetime, Model};
use crate::cloud::prices::Market;
use crate::cloud::{Catalogue, Offer};
use crate::cluster::checkpoint::run_time::{
    daly_h, from_age_h, from_scratch_h, increase_h, is_better_reused,
};
use crate::cluster::checkpoint::{Dynamic, Losses, Task, YoungDaly};
use crate::input::checked::{Count, NonNegative, Positive};
use crate::input::{self, Diagnostic, Diagnostics, Source};
use crate::reproduce::figures::{Figures, Quantity, mean, named, quantities};
use crate::reproduce::selector::Selector;
use crate::rng::{ModelKey, Purpose, Stream, Streams};
use as_coded::Schedule;

const MINUTES_PER_HOUR: f64 = 60.0;

/// The file of a paper on preemptions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PreemptionsFile {
    /// Name of the paper: marks the file as no scenario.
    #[serde(rename = "paper")]
    _paper: String,
    lives: BTreeMap<String, Life>,
    jobs_h: BTreeMap<String, Positive>,
    lengths: BTreeMap<String, Starts>,
    starts: BTreeMap<String, Starts>,
    checkpoints: Checkpoints,
    prices: Prices,
    simulation: Simulation,
}

/// How long VMs live.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Life {
    /// By a model of the registry.
    Named(String),
    /// Lost at any age up to this with equal odds.
    UniformUpToH(Positive),
    /// By a law with these parameters, up to a cap.
    Bathtub {
        a: Positive,
        tau1_h: Positive,
        tau2_h: Positive,
        b_h: Positive,
        cap_h: Positive,
    },
}

/// Ages of the VM that a job starts on, or lengths of jobs: one, or from one to another in steps.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Starts {
    from_h: NonNegative,
    to_h: Option<NonNegative>,
    step_h: Option<Positive>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checkpoints {
    life: String,
    job_h: Positive,
    write_min: NonNegative,
    restart_min: NonNegative,
    step_min: Positive,
    policies: BTreeMap<String, Rival>,
}

/// A policy of checkpoints.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Rival {
    /// What suits the age of the VM.
    Dynamic,
    /// Young's interval for losses so many hours apart.
    YoungDaly { mtbf_h: Positive },
}

/// Where and when VMs have their prices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    provider: String,
    region: String,
    on: Date,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Simulation {
    seed: u64,
    runs: Count,
}

/// What a paper on preemptions is computed from.
#[derive(Debug, Clone)]
pub struct Preemptions {
    lives: BTreeMap<String, Lifetime>,
    jobs_h: BTreeMap<String, Positive>,
    /// Lengths of jobs that a figure is the mean over.
    lengths: BTreeMap<String, Vec<f64>>,
    /// Never empty.
    starts: BTreeMap<String, Vec<f64>>,
    checkpointed: Lifetime,
    task: Task,
    tables: BTreeMap<String, Tables>,
    /// Checkpoints as coded: made when they are first asked for.
    coded: OnceLock<Schedule>,
    prices: Prices,
    simulation: Simulation,
}

/// A policy's expected run times by how losses are reckoned.
#[derive(Debug, Clone)]
struct Tables {
    /// Hours between losses and between checkpoints, of a policy with equal stretches.
    young: Option<(f64, f64)>,
    published: Dynamic,
    exact: Dynamic,
}

impl Figures for Preemptions {
    const QUANTITIES: &'static [Quantity<Self>] = quantities! {
        lost_by,
        lost_by_simulated,
        increase,
        increase_simulated,
        increase_share,
        cross_over,
        run_time,
        run_time_simulated,
        reuse_until,
        failure,
        failure_simulated,
        failure_ratio,
        failure_increase,
        failure_decrease,
        stretches,
        stretch,
        scheduled_work,
        interval,
        overhead,
        overhead_simulated,
        overhead_memoryless,
        price_ratio,
        cost_ratio,
    };

    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let file: PreemptionsFile = input::toml::read(source, diagnostics)?;
        Preemptions::new(file)
            .map_err(|why| {
                diagnostics.push(Diagnostic::general(format!("{}: {why}", source.name)));
            })
            .ok()
    }
}

impl Preemptions {
    fn new(file: PreemptionsFile) -> Result<Self, String> {
        let lives = (file.lives.into_iter())
            .map(|(name, life)| Ok((name, life.lifetime()?)))
            .collect::<Result<BTreeMap<_, _>, String>>()?;
        let checkpoints = &file.checkpoints;
        let checkpointed = named(&lives, "life", &checkpoints.life)?.clone();
        let task = Task {
            job_h: checkpoints.job_h.get(),
            write_h: checkpoints.write_min.get() / MINUTES_PER_HOUR,
            restart_h: checkpoints.restart_min.get() / MINUTES_PER_HOUR,
            step_h: checkpoints.step_min.get() / MINUTES_PER_HOUR,
        };
        let tables = (checkpoints.policies.iter())
            .map(|(name, rival)| Ok((name.clone(), rival.tables(&checkpointed, task)?)))
            .collect::<Result<_, String>>()?;
        Ok(Preemptions {
            lives,
            jobs_h: file.jobs_h,
            lengths: hours(file.lengths),
            starts: hours(file.starts),
            checkpointed,
            task,
            tables,
            coded: OnceLock::new(),
            prices: file.prices,
            simulation: file.simulation,
        })
    }

    fn life(&self, selector: &Selector, key: &str) -> Result<&Lifetime, String> {
        named(&self.lives, key, selector.text(key)?)
    }

    fn job_h(&self, selector: &Selector) -> Result<f64, String> {
        Ok(named(&self.jobs_h, "job", selector.text("job")?)?.get())
    }

    /// Hours of a selector's `job`, or of all its `lengths`.
    fn lengths_h(&self, selector: &Selector) -> Result<Vec<f64>, String> {
        match selector.optional("lengths") {
            Some(name) => Ok(named(&self.lengths, "lengths", name)?.clone()),
            None => Ok(vec![self.job_h(selector)?]),
        }
    }

    /// The checkpoints of the one policy that is `as-coded`.
    fn coded(&self, selector: &Selector) -> Result<&Schedule, String> {
        if self.tables(selector)?.young.is_some() {
            return Err("only the dynamic policy is there as coded".to_owned());
        }
        Ok(self
            .coded
            .get_or_init(|| Schedule::new(&self.checkpointed, self.task)))
    }

    fn starts_h(&self, selector: &Selector) -> Result<&[f64], String> {
        Ok(named(&self.starts, "starts", selector.text("starts")?)?)
    }

    fn tables(&self, selector: &Selector) -> Result<&Tables, String> {
        named(&self.tables, "policy", selector.text("policy")?)
    }

    /// A selector's policy, its losses reckoned as `odds` says.
    fn table(&self, selector: &Selector) -> Result<&Dynamic, String> {
        let tables = self.tables(selector)?;
        Ok(match odds(selector)? {
            Losses::Published => &tables.published,
            Losses::Exact => &tables.exact,
        })
    }

    /// Mean of what `draw` gives for the ages in turn.
    fn drawn(
        &self,
        ages_h: &[f64],
        name: &str,
        draw: impl Fn(f64, &mut Stream) -> f64,
    ) -> Result<f64, String> {
        let Simulation { seed, runs } = self.simulation;
        let mut stream = Streams::new(seed).stream(0, Purpose::ModelLives(ModelKey::of(name)));
        // Every age equally often.
        let rounds = (runs.get() as usize).div_ceil(ages_h.len());
        mean(
            (0..rounds)
                .flat_map(|_| ages_h)
                .map(|&age_h| draw(age_h, &mut stream)),
        )
    }
}

impl Life {
    fn lifetime(&self) -> Result<Lifetime, String> {
        match self {
            Life::Named(name) => {
                let model = Model::named(name)
                    .map_err(|help| format!("there is no lifetime `{name}`: {help}"))?;
                match &model.kind {
                    Kind::Alone(life) => Ok(life.clone()),
                    Kind::Batch(_) | Kind::Trace(_) => {
                        Err(format!("`{name}` is not of single VMs"))
                    }
                }
            }
            Life::UniformUpToH(end) => {
                let law = Empirical::new(&[(end.get(), 1.0)]).ok_or("no uniform lives")?;
                Ok(Lifetime::new(law, None))
            }
            Life::Bathtub {
                a,
                tau1_h,
                tau2_h,
                b_h,
                cap_h,
            } => {
                let law = Bathtub::new(a.get(), tau1_h.get(), tau2_h.get(), b_h.get());
                let law = law.ok_or("a bathtub's `a` is at most 1")?;
                Ok(Lifetime::new(law, Some(cap_h.get())))
            }
        }
    }
}

impl Starts {
    fn ages_h(self) -> Vec<f64> {
        let (from, step) = (self.from_h.get(), self.step_h.map_or(1.0, Positive::get));
        let to = self.to_h.map_or(from, NonNegative::get).max(from);
        let steps = ((to - from) / step + 1e-9) as u32;
        (0..=steps).map(|n| from + f64::from(n) * step).collect()
    }
}

impl Rival {
    fn tables(self, life: &Lifetime, task: Task) -> Result<Tables, String> {
        let young = match self {
            Rival::Dynamic => None,
            Rival::YoungDaly { mtbf_h } => {
                let young = YoungDaly::first_order(task.write_h, mtbf_h.get())
                    .ok_or("Young's interval needs a time to write")?;
                Some((mtbf_h.get(), young.interval_h()))
            }
        };
        let table = |losses| {
            let table = match young {
                None => Dynamic::best(life, task, losses),
                Some((_, interval_h)) => Dynamic::periodic(life, task, losses, interval_h),
            };
            table.map_err(|refused| refused.to_string())
        };
        Ok(Tables {
            young,
            published: table(Losses::Published)?,
            exact: table(Losses::Exact)?,
        })
    }
}

impl Prices {
    /// Listed USD per hour of a VM type.
    fn usd_per_hour(&self, vm: &str, market: Market) -> Result<f64, String> {
        let offer = Offer {
            provider: self.provider.clone(),
            region: self.region.clone(),
            market,
            date: self.on,
        };
        let catalogue = Catalogue::embedded().0;
        (catalogue.usd_per_hour(vm, &offer))
            .ok_or_else(|| format!("no price of `{vm}`; {}", catalogue.instead(vm, &offer)))
    }
}

/// Ages or lengths in hours, by name.
fn hours(all: BTreeMap<String, Starts>) -> BTreeMap<String, Vec<f64>> {
    let each = all.into_iter();
    each.map(|(name, starts)| (name, starts.ages_h())).collect()
}

fn is_as_coded(selector: &Selector) -> bool {
    selector.optional("odds") == Some("as-coded")
}

fn odds(selector: &Selector) -> Result<Losses, String> {
    match selector.text("odds")? {
        "published" => Ok(Losses::Published),
        "exact" => Ok(Losses::Exact),
        other => Err(format!(
            "`odds={other}` is neither published nor exact, nor is it known of this figure as coded"
        )),
    }
}

/// Whether hours are fewer by more than what rounding makes of them: many lives end at the same deadline.
fn is_shorter(hours: f64, than_h: f64) -> bool {
    hours < than_h - 1e-9
}

/// Probability that a VM is lost by an age.
fn lost_by(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    Ok(preemptions
        .life(selector, "life")?
        .cdf(selector.number("age_h")?))
}

/// The same among lives drawn.
fn lost_by_simulated(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let age_h: f64 = selector.number("age_h")?;
    let draw = |_, stream: &mut Stream| f64::from(u8::from(life.sample(stream) <= age_h));
    preemptions.drawn(&[0.0], "lost_by", draw)
}

/// Hours that a job on a new VM takes longer if it is lost at most once: ∫₀ᵀ t dF.
fn increase(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    Ok(increase_h(life, 0.0, preemptions.job_h(selector)?))
}

/// The same from lives drawn: what was done when the first VM was lost.
fn increase_simulated(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let job_h = preemptions.job_h(selector)?;
    let draw = |_, stream: &mut Stream| match life.sample(stream) {
        lost_at_h if lost_at_h < job_h => lost_at_h,
        _ => 0.0,
    };
    preemptions.drawn(&[0.0], "increase", draw)
}

/// [`increase`] in percent of the job.
fn increase_share(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    Ok(100.0 * increase(preemptions, selector)? / preemptions.job_h(selector)?)
}

/// Hours of the shortest job, to the minute, that [`increase`]s less than with the lives `against`, as all up to a
/// day do that are longer.
fn cross_over(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let against = preemptions.life(selector, "against")?;
    let is_more = |job_h| increase_h(life, 0.0, job_h) >= increase_h(against, 0.0, job_h);
    last_minute(is_more).ok_or_else(|| "there is no such job".to_owned())
}

/// The last minute of the day, in hours, of which something is true while it is not of the next.
fn last_minute(is_true: impl Fn(f64) -> bool) -> Option<f64> {
    let hours = |minute: u32| f64::from(minute) / MINUTES_PER_HOUR;
    (0..24 * 60)
        .rev()
        .find(|&minute| is_true(hours(minute)) && !is_true(hours(minute + 1)))
        .map(hours)
}

/// Expected hours of a job without checkpoints; the published formula counts one loss at most.
fn run_time(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let job_h = preemptions.job_h(selector)?;
    let restart_h = preemptions.task.restart_h;
    let starts_h = preemptions.starts_h(selector)?.iter();
    match odds(selector)? {
        Losses::Published => mean(starts_h.map(|&age| job_h + increase_h(life, age, job_h))),
        Losses::Exact => mean(starts_h.map(|&age| from_age_h(life, age, job_h, restart_h))),
    }
}

/// The same from jobs drawn, each begun anew on new VMs until one lives long enough.
fn run_time_simulated(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let job_h = preemptions.job_h(selector)?;
    if from_scratch_h(life, job_h, 0.0).is_infinite() {
        return Err("no VM lives long enough".to_owned());
    }
    let draw = |age_h, stream: &mut Stream| {
        let mut clock_h = 0.0;
        let mut rest_h = life.sample_rest(age_h, stream);
        while is_shorter(rest_h, job_h) {
            clock_h += rest_h + preemptions.task.restart_h;
            rest_h = life.sample(stream);
        }
        clock_h + job_h
    };
    preemptions.drawn(preemptions.starts_h(selector)?, "run_time", draw)
}

/// The last age in hours, to the minute, at which a VM suits a job no worse than a new one does.
fn reuse_until(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let job_h = preemptions.job_h(selector)?;
    if is_as_coded(selector) {
        let last = last_minute(|age_h| as_coded::is_reused(life, age_h, job_h));
        return last.ok_or_else(|| "there is no such age".to_owned());
    }
    let restart_h = preemptions.task.restart_h;
    let new_h = from_scratch_h(life, job_h, restart_h);
    let last = match odds(selector)? {
        Losses::Published => last_minute(|age| is_better_reused(life, age, job_h)),
        Losses::Exact => last_minute(|age| from_age_h(life, age, job_h, restart_h) <= new_h),
    };
    last.ok_or_else(|| "there is no such age".to_owned())
}

/// The age of the VM that a job gets which could have one of `age_h`: with `reuse=memoryless` that one, with
/// `reuse=model` a new one where the published rule says so for the lives `by`, or else `life`.
fn given_h(
    preemptions: &Preemptions,
    selector: &Selector,
    job_h: f64,
) -> Result<impl Fn(f64) -> f64, String> {
    let model = match selector.text("reuse")? {
        "memoryless" => None,
        "model" => {
            let key = selector.optional("by").map_or("life", |_| "by");
            Some(preemptions.life(selector, key)?.clone())
        }
        other => return Err(format!("`reuse={other}` is neither memoryless nor model")),
    };
    Ok(move |age_h| match &model {
        Some(life) if !is_better_reused(life, age_h, job_h) => 0.0,
        _ => age_h,
    })
}

/// Probability that a job's first VM is lost before the job is done; a job done at the deadline is done.
fn failure(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let job_h = preemptions.job_h(selector)?;
    let given_h = given_h(preemptions, selector, job_h)?;
    let starts_h = preemptions.starts_h(selector)?.iter();
    mean(starts_h.map(|&age_h| {
        let age_h = given_h(age_h);
        let reached = life.survival(age_h);
        if reached > 0.0 {
            (life.cdf_before(age_h + job_h) - life.cdf(age_h)) / reached
        } else {
            1.0
        }
    }))
}

/// The same from lives drawn.
fn failure_simulated(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let job_h = preemptions.job_h(selector)?;
    let given_h = given_h(preemptions, selector, job_h)?;
    let draw = |age_h, stream: &mut Stream| {
        let rest_h = life.sample_rest(given_h(age_h), stream);
        f64::from(u8::from(is_shorter(rest_h, job_h)))
    };
    preemptions.drawn(preemptions.starts_h(selector)?, "failure", draw)
}

/// [`failure`] of a selector's job under another rule.
fn failure_with(preemptions: &Preemptions, selector: &Selector, rule: &str) -> Result<f64, String> {
    let (life, job) = (selector.text("life")?, selector.text("job")?);
    let starts = selector.text("starts")?;
    let other = format!("life={life} job={job} starts={starts} {rule}");
    failure(preemptions, &Selector::parse(&other)?)
}

/// Mean over a selector's lengths of jobs of what `of` makes of the failures as coded: without memory, with the model
/// `by`, with the right one.
fn failures_as_coded(
    preemptions: &Preemptions,
    selector: &Selector,
    of: impl Fn(f64, f64, f64) -> f64,
) -> Result<f64, String> {
    let life = preemptions.life(selector, "life")?;
    let by = selector.optional("by").map_or("life", |_| "by");
    let by = preemptions.life(selector, by)?;
    let starts_h = preemptions.starts_h(selector)?;
    let lengths_h = preemptions.lengths_h(selector)?;
    mean(lengths_h.iter().map(|&job_h| {
        let (mut memoryless, mut wrong, mut right) = (0.0, 0.0, 0.0);
        for &age_h in starts_h {
            let kept = as_coded::loss(life, age_h, job_h);
            let given = |model| match as_coded::is_reused(model, age_h, job_h) {
                true => kept,
                false => as_coded::loss(life, 0.0, job_h),
            };
            memoryless += kept;
            wrong += given(by);
            right += given(life);
        }
        let ages = starts_h.len() as f64;
        of(memoryless / ages, wrong / ages, right / ages)
    }))
}

/// [`failure`] without memory over that of the model.
fn failure_ratio(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    if is_as_coded(selector) {
        return failures_as_coded(preemptions, selector, |memoryless, _, right| {
            memoryless / right
        });
    }
    let memoryless = failure_with(preemptions, selector, "reuse=memoryless")?;
    Ok(memoryless / failure_with(preemptions, selector, "reuse=model")?)
}

/// Percent by which [`failure`] is more often with the model `by` than with the right one; as coded, the difference of
/// both in points.
fn failure_increase(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    if is_as_coded(selector) {
        let points = |_, wrong, right| 100.0 * (wrong - right);
        return failures_as_coded(preemptions, selector, points);
    }
    let by = format!("reuse=model by={}", selector.text("by")?);
    let wrong = failure_with(preemptions, selector, &by)?;
    Ok(100.0 * (wrong / failure_with(preemptions, selector, "reuse=model")? - 1.0))
}

/// Percent by which [`failure`] is rarer with the model `by` than without memory.
fn failure_decrease(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    if is_as_coded(selector) {
        let rarer = |memoryless, wrong, _| 100.0 * (1.0 - wrong / memoryless);
        return failures_as_coded(preemptions, selector, rarer);
    }
    let by = format!("reuse=model by={}", selector.text("by")?);
    let wrong = failure_with(preemptions, selector, &by)?;
    Ok(100.0 * (1.0 - wrong / failure_with(preemptions, selector, "reuse=memoryless")?))
}

/// Hours of work between checkpoints if no VM is lost, from the first age of `starts` on.
fn schedule_h(preemptions: &Preemptions, selector: &Selector) -> Result<Vec<f64>, String> {
    let job_h = preemptions.job_h(selector)?;
    if is_as_coded(selector) {
        return Ok(preemptions.coded(selector)?.stretches_h(job_h));
    }
    let start_h = preemptions.starts_h(selector)?[0];
    let table = preemptions.table(selector)?;
    Ok(table.schedule_h(job_h, start_h, preemptions.task.write_h))
}

/// Stretches of work that checkpoints divide a job into.
fn stretches(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    Ok(schedule_h(preemptions, selector)?.len() as f64)
}

/// Minutes of a stretch: number `nth`, or counted from the end of the job `last`.
fn stretch(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let schedule = schedule_h(preemptions, selector)?;
    let at = match selector.optional("nth") {
        Some(_) => selector.number::<usize>("nth")?.checked_sub(1),
        None => schedule.len().checked_sub(selector.number("last")?),
    };
    let hours = at.and_then(|at| schedule.get(at));
    Ok(hours.ok_or("there is no such stretch")? * MINUTES_PER_HOUR)
}

/// Minutes of all stretches.
fn scheduled_work(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    Ok(schedule_h(preemptions, selector)?.iter().sum::<f64>() * MINUTES_PER_HOUR)
}

/// Minutes between checkpoints of a policy of equal stretches.
fn interval(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let young = preemptions.tables(selector)?.young;
    let (_, interval_h) = young.ok_or("the stretches are not equal")?;
    Ok(interval_h * MINUTES_PER_HOUR)
}

/// The job that a table of checkpoints is asked for.
fn checkpointed_job_h(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let job_h = preemptions.job_h(selector)?;
    if job_h > preemptions.task.job_h {
        return Err("the job is longer than the table of checkpoints".to_owned());
    }
    Ok(job_h)
}

/// Percent by which a job with checkpoints is expected to take longer than its work.
fn overhead(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let job_h = checkpointed_job_h(preemptions, selector)?;
    let starts_h = preemptions.starts_h(selector)?.iter();
    let run_h = if is_as_coded(selector) {
        let coded = preemptions.coded(selector)?;
        mean(starts_h.map(|&age_h| coded.expected_h(job_h, age_h)))?
    } else {
        let table = preemptions.table(selector)?;
        mean(starts_h.map(|&age_h| table.expected_h(job_h, age_h)))?
    };
    Ok(100.0 * (run_h / job_h - 1.0))
}

/// The same from jobs drawn, which follow the schedule and fall back on their last checkpoint.
fn overhead_simulated(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let job_h = checkpointed_job_h(preemptions, selector)?;
    let table = preemptions.table(selector)?;
    let draw = |age_h, stream: &mut Stream| preemptions.checkpointed_h(table, job_h, age_h, stream);
    let run_h = preemptions.drawn(preemptions.starts_h(selector)?, "overhead", draw)?;
    Ok(100.0 * (run_h / job_h - 1.0))
}

impl Preemptions {
    /// Hours of one job with the checkpoints of `table`, from a VM of age `age_h` on.
    fn checkpointed_h(
        &self,
        table: &Dynamic,
        job_h: f64,
        mut age_h: f64,
        stream: &mut Stream,
    ) -> f64 {
        let life = &self.checkpointed;
        let Task {
            write_h,
            restart_h,
            step_h,
            ..
        } = self.task;
        let (mut clock_h, mut left_h) = (0.0, job_h);
        let mut lost_at_h = age_h + life.sample_rest(age_h, stream);
        // Half a step: what rounding leaves is no work.
        while left_h > 0.5 * step_h {
            let work_h = table.next_h(left_h, age_h);
            let is_last = work_h >= left_h - 1e-9;
            let ends_h = age_h + work_h + if is_last { 0.0 } else { write_h };
            // As in the table, a stretch that ends at the deadline is lost.
            if is_shorter(ends_h, lost_at_h) {
                clock_h += ends_h - age_h;
                age_h = ends_h;
                left_h -= work_h;
            } else {
                clock_h += lost_at_h - age_h + restart_h;
                age_h = 0.0;
                lost_at_h = life.sample(stream);
            }
        }
        clock_h
    }
}

/// Percent by which a job with equal stretches would take longer if losses were as far apart at every age as the
/// policy takes them to be: Daly's formula.
fn overhead_memoryless(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let young = preemptions.tables(selector)?.young;
    let (mtbf_h, interval_h) = young.ok_or("the policy takes losses to depend on age")?;
    let Task {
        write_h, restart_h, ..
    } = preemptions.task;
    Ok(100.0 * (daly_h(1.0, interval_h, write_h, restart_h, mtbf_h) - 1.0))
}

/// Listed price on demand over that of the same VM type where it may be taken away.
fn price_ratio(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let vm = selector.text("vm")?;
    let usd = |market| preemptions.prices.usd_per_hour(vm, market);
    Ok(usd(Market::OnDemand)? / usd(Market::Spot)?)
}

/// Cost on demand over that of the same job on VMs that may be taken away.
fn cost_ratio(preemptions: &Preemptions, selector: &Selector) -> Result<f64, String> {
    let slower = run_time(preemptions, selector)? / preemptions.job_h(selector)?;
    Ok(price_ratio(preemptions, selector)? / slower)
}
