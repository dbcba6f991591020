//! The life of a job in outline: whole attempts on VMs that are lost each by itself, without steps, phases or books. On the
//! same lives it takes nearly as long as the simulated run, at a hundredth of the cost: many outlines tell a mean that few
//! runs correct (two-level Monte Carlo, Giles 2008).

use crate::cluster::checkpoint::Policy;
use crate::cluster::random_effects::RandomEffects;
use crate::cluster::{Chief, Cluster, Keeps, OnLoss, Pause};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::lifetimes::Lifetime;

/// Losses after which an outline ends wherever it stands.
const MOST_LOSSES: u32 = 20_000;
/// Pieces of work between checkpoints in an outline; where writing one takes no time there may be no end of them.
pub(super) const MOST_PIECES: u32 = 200_000;

#[derive(Debug, Default)]
pub struct Sketch {
    /// When each VM began to run and when it is lost, in hours.
    from: Vec<f64>,
    end: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SketchResult {
    /// Seconds from the request of VMs to the target.
    pub seconds: f64,
    /// Attempts that came to their end less the odds that they would, summed over all; and the same times the age in hours of
    /// the oldest VM. Both are 0 in the mean, whatever the law of lives: every attempt's odds are those given its past.
    pub surprise: [f64; 2],
}

/// A job in outline, in hours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline<'c> {
    pub(super) policy: &'c Policy,
    pub(super) life: &'c Lifetime,
    /// VMs that can be lost.
    pub(super) vms: u32,
    /// When they first run.
    pub(super) start_h: f64,
    /// All steps, and how much slower they are than without luck, by which checkpoints are planned.
    pub(super) all_h: f64,
    pub(super) slower: f64,
    /// The least work between two checkpoints.
    unit_h: f64,
    /// Until another VM runs, until all go on then, and to write a checkpoint.
    pub(super) replacement_h: f64,
    pub(super) restart_h: f64,
    pub(super) write_h: f64,
}

impl<'c> Outline<'c> {
    /// The outline of a job, where it has one: it waits for every VM that is lost, and goes back to its last checkpoint.
    pub(super) fn new(
        cluster: &'c Cluster,
        luck: &RandomEffects,
        steps: u64,
        start_up: SimTime,
    ) -> Option<Outline<'c>> {
        let spot = cluster.spot.as_deref()?;
        let (life, recovery) = (spot.losses.lifetime()?, &spot.recovery);
        let goes_back = spot.on_loss == OnLoss::Wait
            && recovery.keeps == Keeps::Checkpoint
            && spot.chief != Chief::EndsTheRun;
        let is_plain =
            spot.notice.is_none() && cluster.elastic.is_none() && cluster.levels.is_empty();
        let loses = cluster.groups.iter().any(|group| group.on_spot);
        if !(goes_back && is_plain && loses) {
            return None;
        }
        let hours = |seconds: f64| seconds / SECONDS_PER_HOUR;
        let step_h = hours(luck.stepping.mean_step_s(1.0) / cluster.whole.per_update);
        let restart = (recovery.restart).map_or(cluster.restart_s, |pause| pause.mean_s());
        Some(Outline {
            policy: &cluster.policy,
            life,
            vms: (cluster.groups.iter().filter(|g| g.on_spot))
                .map(|g| g.vms)
                .sum(),
            start_h: hours(spot.start_up.unwrap_or(Pause::Fixed(start_up)).mean_s()),
            all_h: steps as f64 * step_h,
            slower: step_h / hours(cluster.whole.step_s),
            unit_h: step_h * cluster.whole.unit(),
            replacement_h: hours(recovery.replacement.mean_s()),
            restart_h: hours(restart),
            write_h: hours(recovery.write.mean_s()),
        })
    }

    /// Hours of the next piece of work; and whether it is the last, without a checkpoint at its end.
    pub(super) fn piece(&self, saved_h: f64, oldest_h: f64) -> (f64, bool) {
        let left_h = self.all_h - saved_h;
        let due_h = self.policy.next_h(left_h / self.slower, oldest_h);
        let due_h = due_h.map(|due_h| (due_h * self.slower).max(self.unit_h));
        match due_h.filter(|&due_h| due_h < left_h) {
            Some(due_h) => (due_h, false),
            None => (left_h, true),
        }
    }
}

impl Sketch {
    /// An outlined run. The life of each requested VM comes from `next_life_h`, given its law. `None` where it has no
    /// outline.
    pub fn run(
        &mut self,
        cluster: &Cluster,
        luck: &RandomEffects,
        start_up: SimTime,
        mut next_life_h: impl FnMut(&Lifetime) -> f64,
    ) -> Option<SketchResult> {
        let outline = Outline::new(cluster, luck, luck.steps_to_target, start_up)?;
        let Outline {
            life,
            vms,
            start_h: mut now,
            replacement_h,
            restart_h,
            write_h,
            ..
        } = outline;
        self.from.clear();
        self.end.clear();
        for _ in 0..vms {
            self.from.push(now);
            self.end.push(now + next_life_h(life));
        }
        let (mut saved_h, mut losses, mut pieces, mut surprise) = (0.0, 0, 0, [0.0; 2]);
        loop {
            pieces += 1;
            if pieces > MOST_PIECES {
                return None;
            }
            let oldest_h = now - least(&self.from);
            let (length_h, is_last) = outline.piece(saved_h, oldest_h);
            let loss = least(&self.end);
            let lasts = now + length_h <= loss;
            let unforeseen = f64::from(u8::from(lasts)) - self.odds(life, now, length_h);
            surprise[0] += unforeseen;
            surprise[1] += unforeseen * oldest_h;
            if lasts {
                now += length_h;
                if is_last {
                    break;
                }
                if now + write_h <= loss {
                    now += write_h;
                    saved_h += length_h;
                    continue;
                }
            }
            now = loss;
            losses += 1;
            if losses > MOST_LOSSES || loss == f64::INFINITY {
                break;
            }
            now = self.come_back(now, replacement_h, restart_h, || next_life_h(life));
        }
        Some(SketchResult {
            seconds: now * SECONDS_PER_HOUR,
            surprise,
        })
    }

    /// The odds that no VM is lost within `length_h` from `now` on, given that all live.
    fn odds(&self, life: &Lifetime, now: f64, length_h: f64) -> f64 {
        let lives_on = life.all_outlive(&self.from, now + length_h);
        if lives_on <= 0.0 {
            return 0.0;
        }
        let lives = life.all_outlive(&self.from, now);
        if lives > 0.0 { lives_on / lives } else { 0.0 }
    }

    /// Replaces the VMs that are lost at `now`, and those that are lost meanwhile; when all have gone on.
    fn come_back(
        &mut self,
        mut now: f64,
        replacement_h: f64,
        restart_h: f64,
        mut life_h: impl FnMut() -> f64,
    ) -> f64 {
        for _ in 0..MOST_LOSSES {
            let mut ready = now;
            for (from, end) in self.from.iter_mut().zip(&mut self.end) {
                if *end <= now {
                    *from = now + replacement_h;
                    *end = *from + life_h();
                }
                ready = if *from > ready { *from } else { ready };
            }
            let loss = least(&self.end);
            if loss > now && ready > now {
                now = ready.min(loss);
            } else if loss > now {
                if now + restart_h <= loss {
                    return now + restart_h;
                }
                now = loss;
            }
        }
        now
    }
}

fn least(values: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 4];
    let (blocks, rest) = values.as_chunks::<4>();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane = if value < lane { *value } else { *lane };
        }
    }
    (lanes.iter().chain(rest)).fold(f64::INFINITY, |a, b| if *b < a { *b } else { a })
}
