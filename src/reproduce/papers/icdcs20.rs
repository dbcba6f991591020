//! Asynchronous training on transient GPU VMs: a paper's clusters, lifetimes and delays by name, and its
//! quantities.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::Deserialize;

use crate::cloud::Market;
use crate::cloud::delays::checkpoint_write::Measured;
use crate::cloud::delays::{CheckpointWrite, Delay, Restart, Startup};
use crate::cloud::lifetimes::{Kind, Lifetime, Model};
use crate::engine::Queue;
use crate::input::checked::{
    self, Count, Fraction, Machines, NonNegative, Positive, Sharpness, Spread,
};
use crate::input::{self, Diagnostics, Source};
use crate::reproduce::figures::{Figures, Quantity, mean, mean_of_all, named, quantities};
use crate::reproduce::selector::Selector;
use crate::rng::{ModelKey, Purpose, Stream, Streams};
use crate::stats::kolmogorov_smirnov_against;
use crate::training::drift::DriftPath;
use crate::training::slowest;
use crate::training::sync::fast::Pace;
use crate::training::sync::{Asp, Goal, Protocol, Scratch, ServiceTime};
use crate::training::{Fidelity, Floor, Log, Stepping, Variation};
use crate::units::SimTime;

/// What a paper on transient GPUs is computed from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransientGpus {
    /// Name of the paper: marks the file as no scenario.
    #[serde(rename = "paper")]
    _paper: String,
    /// Updates of a simulated run.
    steps: Count,
    /// Variation of one worker's step.
    step_cv: Spread,
    /// From which shortfall on a cluster is said to fall short of its workers.
    shortfall: Fraction,
    /// Draws per figure that is sampled.
    draws: Count,
    servers: BTreeMap<String, Servers>,
    curves: BTreeMap<String, Curve>,
    lifetimes: BTreeMap<String, Counted>,
    models: BTreeMap<String, Names>,
    chief: Chief,
    losses: BTreeMap<String, Loss>,
}

/// Parameter servers under one model.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Servers {
    count: Machines,
    service_s: Positive,
    sharpness: Sharpness,
}

/// Clusters of one to so many workers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    servers: String,
    /// Measured steps per second with 1, 2, 3, … workers.
    measured: Vec<Positive>,
    /// Worker counts that parameters are solved from.
    calibrated: Vec<Count>,
}

/// VMs counted as revoked by the end of every hour of age.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    gpu: String,
    vms: Count,
    revoked_by_hour: Vec<u32>,
}

/// What a model is called in the tables of delays.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    restart: String,
    checkpoint: String,
}

/// Runs whose chief was lost.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chief {
    curve: String,
    workers: Count,
    model: String,
    gpu: String,
    market: Market,
    region: String,
    /// Steps after a checkpoint at which it was lost.
    lost_after: NonNegative,
}

/// A run that loses one worker.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Loss {
    curve: String,
    workers: Count,
    at_step: Count,
}

impl Figures for TransientGpus {
    const QUANTITIES: &'static [Quantity<Self>] = quantities! {
        cluster_speed,
        cluster_speed_error,
        cluster_speed_check_error,
        queue_speed,
        queue_speed_error,
        falls_short_from,
        one_worker_step,
        revoked_by,
        revoked_in_all,
        lifetime_distance,
        startup_time,
        rejoin_time,
        checkpoint_time,
        checkpoint_line_base,
        checkpoint_line_slope,
        checkpoint_error,
        chief_cluster_speed,
        chief_reference_time,
        chief_overhead,
        chief_repeated_steps,
        remaining_error,
        remaining_error_measured,
    };

    fn set_up(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Self> {
        input::toml::read(source, diagnostics)
    }
}

const SEED: u64 = 20;

fn stream(purpose: Purpose) -> Stream {
    Streams::new(SEED).stream(0, purpose)
}

/// |a/b − 1| in percent.
fn percent_off(a: f64, b: f64) -> f64 {
    100.0 * (a / b - 1.0).abs()
}

impl Curve {
    fn speed(&self, workers: u32) -> Result<f64, String> {
        let at = (workers as usize).wrapping_sub(1);
        let speed = self.measured.get(at).copied();
        let none = || format!("no speed of {workers} workers was measured");
        Ok(speed.ok_or_else(none)?.get())
    }

    fn workers(&self) -> RangeInclusive<u32> {
        1..=u32::try_from(self.measured.len()).unwrap_or(u32::MAX)
    }
}

/// A curve with parameter servers: what is simulated.
struct Cluster<'a> {
    curve: &'a Curve,
    asp: Asp,
    /// Seconds of a worker's step when it is alone, its update included.
    own_s: f64,
    steps: u64,
    step_cv: f64,
}

impl TransientGpus {
    fn curve(&self, name: &str) -> Result<&Curve, String> {
        named(&self.curves, "curve", name)
    }

    fn cluster<'a>(&'a self, curve: &'a Curve, servers: &str) -> Result<Cluster<'a>, String> {
        let own = named(&self.servers, "servers", &curve.servers)?;
        let servers = named(&self.servers, "servers", servers)?;
        let asp = Asp {
            servers: own.count,
            service_s: checked::Delay::new(servers.service_s.get()).ok_or("no service time")?,
            service: ServiceTime::Constant,
            sharpness: Some(servers.sharpness),
        };
        Ok(Cluster {
            curve,
            asp,
            own_s: 1.0 / curve.speed(1)?,
            steps: u64::from(self.steps.get()),
            step_cv: self.step_cv.get(),
        })
    }

    /// A selector's curve, with the service of other `servers` if it names some.
    fn selected(&self, selector: &Selector) -> Result<Cluster<'_>, String> {
        let curve = self.curve(selector.text("curve")?)?;
        self.cluster(
            curve,
            selector.optional("service").unwrap_or(&curve.servers),
        )
    }

    fn lifetime(&self, name: &str) -> Result<(&Counted, &'static Lifetime), String> {
        let counted = named(&self.lifetimes, "lifetime", name)?;
        match &Model::named(name)?.kind {
            Kind::Alone(life) => Ok((counted, life)),
            Kind::Batch(_) | Kind::Trace(_) => Err(format!("`{name}` is of several VMs at once")),
        }
    }

    fn lives(&self, name: &str) -> Result<(&Counted, Vec<f64>), String> {
        let (counted, life) = self.lifetime(name)?;
        let mut stream = stream(Purpose::ModelLives(ModelKey::of(name)));
        let draws = 0..self.draws.get();
        Ok((counted, draws.map(|_| life.sample(&mut stream)).collect()))
    }

    /// Share of a model's drawn lives that end by `age_h`; those that the cap ends were not revoked.
    fn revoked(&self, name: &str, age_h: f64) -> Result<f64, String> {
        let cap_h = self.lifetime(name)?.1.cap_h();
        let (_, lives) = self.lives(name)?;
        let lost = lives.iter().filter(|&&l| l <= age_h && l < cap_h).count();
        Ok(lost as f64 / lives.len() as f64)
    }

    /// Mean of drawn delays.
    fn mean_delay(&self, delay: Delay, name: &str) -> Result<f64, String> {
        let mut stream = stream(Purpose::ModelDelays(ModelKey::of(name)));
        mean((0..self.draws.get()).map(|_| delay.sample(&mut stream)))
    }

    fn restart(&self, model: &str) -> Result<&'static Restart, String> {
        let name = &named(&self.models, "model", model)?.restart;
        let mut all = Restart::embedded().0.iter();
        all.find(|r| r.model == *name)
            .ok_or_else(|| format!("no restart of `{name}` was measured"))
    }

    fn checkpoint(&self, model: &str) -> Result<&'static Measured, String> {
        let name = &named(&self.models, "model", model)?.checkpoint;
        let mut all = Measured::embedded().iter();
        all.find(|m| m.model == *name)
            .ok_or_else(|| format!("no checkpoint of `{name}` was measured"))
    }

    /// Steps per second of the chief's cluster: all workers, and one less.
    fn chief_speeds(&self) -> Result<(f64, f64), String> {
        let curve = self.curve(&self.chief.curve)?;
        let cluster = self.cluster(curve, &curve.servers)?;
        let workers = self.chief.workers.get();
        Ok((
            cluster.by_law(workers)?,
            cluster.by_law(workers.saturating_sub(1))?,
        ))
    }

    /// Seconds lost while one worker of the chief's cluster is away and nothing is dropped: R·(1 − u/v), v and u
    /// the speeds with and without it, R until a new worker trains.
    fn chief_away_s(&self) -> Result<f64, String> {
        let (all, less) = self.chief_speeds()?;
        let chief = &self.chief;
        let start = startup(&chief.gpu, chief.market, &chief.region)?;
        let away_s = start.mean_s() + self.restart(&chief.model)?.cold.mean_s();
        Ok(away_s * (1.0 - less / all))
    }

    /// Predicted seconds from a loss to the end, by one-worker speed and law, and simulated ones.
    fn remaining(&self, loss: &Loss) -> Result<(f64, f64), String> {
        let curve = self.curve(&loss.curve)?;
        let cluster = self.cluster(curve, &curve.servers)?;
        let left = loss.workers.get().saturating_sub(1);
        let at_step = u64::from(loss.at_step.get());
        let updates = cluster.steps.saturating_sub(at_step);
        let round_s = cluster.asp.law_round_s(left, cluster.own_s);
        let predicted = updates as f64 * round_s.ok_or("no sharpness")? / f64::from(left);
        Ok((
            predicted,
            cluster.by_queue(&[(loss.workers.get(), at_step), (left, updates)])?,
        ))
    }
}

impl Cluster<'_> {
    fn stepping(&self, workers: u32, worker_s: f64) -> Result<Stepping, String> {
        if workers == 0 {
            return Err("a cluster without workers has no speed".to_owned());
        }
        let time = Variation {
            step_cv: self.step_cv,
            ..Variation::default()
        }
        .worker_time();
        Ok(Stepping {
            workers,
            worker_s,
            communication_s: 0.0,
            time,
            slowest: slowest::moments(workers, time),
            machines: None,
        })
    }

    /// Steps per second in fidelity `fast`: servers by the saturating law.
    fn by_law(&self, workers: u32) -> Result<f64, String> {
        let stepping = self.stepping(workers, self.own_s)?;
        let mut asp = self.asp;
        if workers == 1 {
            // Its measured step has its update in it, and nobody else waits.
            asp.service_s = checked::Delay::new(0.0).ok_or("0 is no time")?;
        }
        let protocol = Protocol::Asp(asp);
        let fidelity = Fidelity::Fast;
        let wrong = |e: crate::training::sync::Invalid| e.to_string();
        (protocol.valid(fidelity, &stepping, self.steps)).map_err(wrong)?;
        let (_, end) = Pace::of(protocol, fidelity, &stepping)
            .advance(
                SimTime::ZERO,
                &mut DriftPath::still(),
                &stepping,
                Goal::updates(self.steps),
                &mut Streams::new(SEED).stream(0, Purpose::Trial(u64::from(workers))),
                &mut Scratch::default(),
            )
            .map_err(wrong)?;
        Ok(self.steps as f64 / end.seconds())
    }

    /// Seconds of the last of several stretches (workers, updates), every update an event at servers with
    /// constant service and nothing else.
    fn by_queue(&self, stretches: &[(u32, u64)]) -> Result<f64, String> {
        let mut queue = Queue::new();
        let mut drift = DriftPath::still();
        let mut scratch = Scratch::default();
        let mut began = SimTime::ZERO;
        for (number, &(workers, updates)) in (0..).zip(stretches) {
            // A lone worker's step holds its own update.
            let compute_s = self.own_s - self.asp.part_s();
            if compute_s <= 0.0 {
                return Err("serving takes longer than a step".to_owned());
            }
            let stepping = self.stepping(workers, compute_s)?;
            began = queue.now();
            let mut stream = Streams::new(SEED).stream(number, Purpose::Trial(u64::from(workers)));
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut drift,
                stepping: &stepping,
                stream: &mut stream,
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            Protocol::Asp(self.asp)
                .advance(&mut floor, Goal::updates(updates))
                .map_err(|e| e.to_string())?;
        }
        Ok((queue.now() - began).seconds())
    }

    /// Mean percentage by which the speeds of `workers` differ from the measured ones.
    fn error(
        &self,
        workers: impl IntoIterator<Item = u32>,
        speed: impl Fn(u32) -> Result<f64, String>,
    ) -> Result<f64, String> {
        let workers: Vec<u32> = workers.into_iter().collect();
        let off = |&k: &u32| Ok(percent_off(speed(k)?, self.curve.speed(k)?));
        mean_of_all(workers.iter().map(off))
    }

    fn queue_speed(&self, workers: u32) -> Result<f64, String> {
        Ok(self.steps as f64 / self.by_queue(&[(workers, self.steps)])?)
    }
}

/// Steps per second of a selector's `curve` with `workers`, simulated by the saturating law; `service` takes
/// the parameter servers' service and sharpness from elsewhere, not their number.
fn cluster_speed(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    gpus.selected(selector)?.by_law(selector.number("workers")?)
}

/// Mean absolute percentage error of a curve over all measured worker counts.
fn cluster_speed_error(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let cluster = gpus.selected(selector)?;
    cluster.error(cluster.curve.workers(), |k| cluster.by_law(k))
}

/// The same over the worker counts that nothing was calibrated on.
fn cluster_speed_check_error(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let cluster = gpus.selected(selector)?;
    let calibrated = &cluster.curve.calibrated;
    let rest = (cluster.curve.workers()).filter(|k| !calibrated.iter().any(|c| c.get() == *k));
    cluster.error(rest, |k| cluster.by_law(k))
}

/// Steps per second if the servers are a queue with constant service, every update an event.
fn queue_speed(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    gpus.selected(selector)?
        .queue_speed(selector.number("workers")?)
}

/// Mean absolute percentage error of that queue over all measured worker counts.
fn queue_speed_error(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let cluster = gpus.selected(selector)?;
    cluster.error(cluster.curve.workers(), |k| cluster.queue_speed(k))
}

/// The least worker count whose cluster is slower than the sum of one-worker speeds by the file's
/// `shortfall`; 0 if none is.
fn falls_short_from(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let cluster = gpus.selected(selector)?;
    for workers in cluster.curve.workers() {
        let sum = f64::from(workers) / cluster.own_s;
        if cluster.by_law(workers)? < (1.0 - gpus.shortfall.get()) * sum {
            return Ok(f64::from(workers));
        }
    }
    Ok(0.0)
}

/// Milliseconds of a step of one worker.
fn one_worker_step(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    Ok(1000.0 / gpus.selected(selector)?.by_law(1)?)
}

/// Percent of a `lifetime`'s VMs that are revoked by `age_h`, drawn.
fn revoked_by(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let (name, age_h) = (selector.text("lifetime")?, selector.number("age_h")?);
    Ok(100.0 * gpus.revoked(name, age_h)?)
}

/// Percent of a `gpu`'s VMs of all regions that are revoked, drawn region by region.
fn revoked_in_all(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let gpu = selector.text("gpu")?;
    let (mut vms, mut lost) = (0.0, 0.0);
    for (name, counted) in gpus.lifetimes.iter().filter(|(_, c)| c.gpu == gpu) {
        let here = f64::from(counted.vms.get());
        vms += here;
        lost += here * gpus.revoked(name, f64::INFINITY)?;
    }
    if vms > 0.0 {
        Ok(100.0 * lost / vms)
    } else {
        Err(format!("there is no lifetime of the GPU `{gpu}`"))
    }
}

/// Kolmogorov–Smirnov distance between drawn lives and the published counts, both by whole hours.
fn lifetime_distance(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let (counted, lives) = gpus.lives(selector.text("lifetime")?)?;
    let hours = counted.revoked_by_hour.len();
    let last = hours as f64;
    // What the cap ends at the last hour was not revoked: it counts an hour later.
    let by_hour = |life: f64| if life < last { life.ceil() } else { last + 1.0 };
    let lives: Vec<f64> = lives.into_iter().map(by_hour).collect();
    let share = |hour: f64| match counted.revoked_by_hour.get((hour - 1.0) as usize) {
        _ if hour < 1.0 => 0.0,
        Some(&revoked) => f64::from(revoked) / f64::from(counted.vms.get()),
        None => 1.0,
    };
    Ok(kolmogorov_smirnov_against(&lives, share, |h| share(h - 1.0)).distance)
}

/// Mean seconds until a VM of a `gpu`, `market` and `region` runs, drawn.
fn startup_time(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let market = selector.text("market")?;
    let market = (Market::ALL.into_iter())
        .find(|m| m.name() == market)
        .ok_or_else(|| format!("there is no market `{market}`"))?;
    let (gpu, region) = (selector.text("gpu")?, selector.text("region")?);
    gpus.mean_delay(startup(gpu, market, region)?, region)
}

fn startup(gpu: &str, market: Market, region: &str) -> Result<Delay, String> {
    Startup::measured("gcp", gpu, market, region)
        .map(|s| s.delay)
        .ok_or_else(|| format!("no start of {gpu} in {region} was measured"))
}

/// Mean seconds until a worker trains a `model` from a cold or warm `start`, drawn.
fn rejoin_time(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let model = selector.text("model")?;
    let restart = gpus.restart(model)?;
    let delay = match selector.text("start")? {
        "cold" => restart.cold,
        "warm" => restart.warm,
        other => return Err(format!("a start is cold or warm, not `{other}`")),
    };
    gpus.mean_delay(delay, model)
}

fn write_line() -> Result<CheckpointWrite, String> {
    (CheckpointWrite::embedded().0).ok_or_else(|| "no writes were measured".to_owned())
}

/// Seconds to write a checkpoint of a `model`, by the line a + b·MB.
fn checkpoint_time(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let measured = gpus.checkpoint(selector.text("model")?)?;
    Ok(write_line()?.mean_s(measured.mb))
}

/// a in seconds.
fn checkpoint_line_base(_: &TransientGpus, _: &Selector) -> Result<f64, String> {
    Ok(write_line()?.base_s)
}

/// b in milliseconds per MB.
fn checkpoint_line_slope(_: &TransientGpus, _: &Selector) -> Result<f64, String> {
    Ok(1000.0 * write_line()?.per_mb_s)
}

/// Mean absolute percentage error of the line over drawn writes of all measured models.
fn checkpoint_error(gpus: &TransientGpus, _: &Selector) -> Result<f64, String> {
    let line = write_line()?;
    let draws = gpus.draws.get();
    mean_of_all(Measured::embedded().iter().map(|m| {
        let mut stream = stream(Purpose::ModelDelays(ModelKey::of(&m.model)));
        let off = |_| Ok(percent_off(line.mean_s(m.mb), m.delay.sample(&mut stream)));
        mean_of_all((0..draws).map(off))
    }))
}

/// Steps per second of the cluster whose chief is lost.
fn chief_cluster_speed(gpus: &TransientGpus, _: &Selector) -> Result<f64, String> {
    Ok(gpus.chief_speeds()?.0)
}

/// Seconds of a run of so many `steps` whose chief is replaced while nobody goes back to a checkpoint.
fn chief_reference_time(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let steps: f64 = selector.number("steps")?;
    Ok(steps / gpus.chief_speeds()?.0 + gpus.chief_away_s()?)
}

/// Seconds that a run takes longer than that if its chief is replaced `steps` after a checkpoint and everybody
/// goes back to it: x/v + (n − x)/u less the time lost anyway, x the steps after the checkpoint at which the chief was
/// lost, n the `steps`, v and u the speeds with and without it.
fn chief_overhead(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let steps: f64 = selector.number("steps")?;
    let (all, less) = gpus.chief_speeds()?;
    let lost_after = gpus.chief.lost_after.get();
    let dropped_s = lost_after / all + (steps - lost_after) / less;
    Ok(dropped_s - gpus.chief_away_s()?)
}

/// Seconds in which the whole cluster does `steps` again.
fn chief_repeated_steps(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    let steps: f64 = selector.number("steps")?;
    Ok(steps / gpus.chief_speeds()?.0)
}

/// Of a `loss`, or the mean over all.
fn of_losses(
    gpus: &TransientGpus,
    selector: &Selector,
    off: impl Fn(&Loss) -> Result<f64, String>,
) -> Result<f64, String> {
    match selector.text("loss")? {
        "all" => mean_of_all(gpus.losses.values().map(off)),
        name => off(named(&gpus.losses, "loss", name)?),
    }
}

/// Percent by which the predicted time from the loss of a worker to the end differs from that of
/// our own simulation, every update an event.
fn remaining_error(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    of_losses(gpus, selector, |loss| {
        let (predicted, simulated) = gpus.remaining(loss)?;
        Ok(percent_off(predicted, simulated))
    })
}

/// Percent by which it differs from the steps left over the measured speed of the workers left.
fn remaining_error_measured(gpus: &TransientGpus, selector: &Selector) -> Result<f64, String> {
    of_losses(gpus, selector, |loss| {
        let curve = gpus.curve(&loss.curve)?;
        let cluster = gpus.cluster(curve, &curve.servers)?;
        let left = loss.workers.get().saturating_sub(1);
        let round_s = cluster.asp.law_round_s(left, cluster.own_s);
        let predicted = f64::from(left) / round_s.ok_or("no sharpness")?;
        Ok(percent_off(curve.speed(left)?, predicted))
    })
}
