//! Availability as a process: it changes from tick to tick by odds per hour of the day, fitted to a trace or given.

use super::World;
use scavsim_base::rng::{ModelKey, Purpose, Streams};
use scavsim_base::units::SimTime;

const HOURS: usize = 24;

#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    tick_s: f64,
    /// Odds of a loss within a tick, per hour of the day.
    lost: [f64; HOURS],
    /// Odds of a return within a tick, per hour of the day.
    returns: [f64; HOURS],
    machines: u16,
}

impl Process {
    /// Mean runs and pauses in hours, for all hours of the day.
    pub fn of_means(tick_s: f64, run_h: f64, pause_h: f64, machines: u16) -> Self {
        // A change per tick with these odds: runs and pauses are whole ticks, their means as given.
        let odds = |mean_h: f64| (tick_s / 3600.0 / mean_h).min(1.0);
        Process {
            tick_s,
            lost: [odds(run_h); HOURS],
            returns: [odds(pause_h); HOURS],
            machines,
        }
    }

    /// Fitted to a zone's trace for `machines`: changes per tick of each hour of the day, mixed with the day's mean, which weighs as much as
    /// an hour.
    pub fn fitted(world: &World, zone: usize, machines: u16) -> Self {
        let up = |tick: usize| world.zones[zone].offered[tick] >= machines;
        let mut changes = [[[0.0_f64; 2]; HOURS]; 2];
        for tick in 1..world.ticks() {
            let hour = hour(tick, world.tick_s);
            let counts = &mut changes[usize::from(up(tick - 1))][hour];
            counts[0] += 1.0;
            counts[1] += f64::from(u8::from(up(tick) != up(tick - 1)));
        }
        let per_hour = 3600.0 / world.tick_s;
        let odds = |of: &[[f64; 2]; HOURS]| {
            let sums = of
                .iter()
                .fold([0.0, 0.0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
            let mean = (sums[1] + 0.5) / (sums[0] + 1.0);
            of.map(|[ticks, changed]| (changed + mean * per_hour) / (ticks + per_hour))
        };
        Process {
            tick_s: world.tick_s,
            lost: odds(&changes[1]),
            returns: odds(&changes[0]),
            machines,
        }
    }

    /// Share of time with machines, if every hour of the day were as the day's mean.
    fn share_up(&self) -> f64 {
        let mean = |of: &[f64; HOURS]| of.iter().sum::<f64>() / HOURS as f64;
        mean(&self.returns) / (mean(&self.returns) + mean(&self.lost))
    }

    /// Machines per tick, drawn for a zone and a replica, from the long-run share on.
    pub fn draw(&self, streams: &Streams, zone: &str, replica: u64, ticks: usize) -> Vec<u16> {
        let key = ModelKey::from_name(&format!("availability of {zone}"));
        let mut stream = streams.stream(replica, Purpose::ModelLives(key));
        let mut is_up = stream.uniform() < self.share_up();
        let mut drawn = Vec::with_capacity(ticks);
        for tick in 0..ticks {
            drawn.push(if is_up { self.machines } else { 0 });
            let hour = hour(tick + 1, self.tick_s);
            let odds = if is_up {
                self.lost[hour]
            } else {
                self.returns[hour]
            };
            is_up ^= stream.uniform() < odds;
        }
        drawn
    }
}

fn hour(tick: usize, tick_s: f64) -> usize {
    const HOUR_NS: u64 = 3_600_000_000_000;
    let at = SimTime::from_seconds(tick_s)
        .nanoseconds()
        .saturating_mul(tick as u64);
    (at / HOUR_NS) as usize % HOURS
}
