//! Availability as a process: runs of a law or with odds of an end per hour of the day, and pauses with odds of theirs, fitted to a
//! trace or given.

use super::World;
use scavsim_base::rng::{ModelKey, Purpose, Stream, Streams};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::lifetimes::Lifetime;

const HOURS: usize = 24;
/// Hours before the first tick from which on lives of a law are drawn, so that the age at the first tick is any.
const WARM_UP_H: f64 = 240.0;

#[derive(Debug, Clone)]
enum RunLengths {
    /// Odds of a loss within a tick, per hour of the day.
    Odds([f64; HOURS]),
    /// Each as long as a machine of this law lives.
    Lives(Lifetime),
}

#[derive(Debug, Clone)]
pub struct Process {
    tick_s: f64,
    runs: RunLengths,
    /// Odds of a return within a tick, per hour of the day.
    returns: [f64; HOURS],
    machines: u16,
}

impl Process {
    /// Mean runs and pauses in hours, for all hours of the day.
    pub fn of_means(tick_s: f64, run_h: f64, pause_h: f64, machines: u16) -> Self {
        Process {
            tick_s,
            runs: RunLengths::Odds([odds(tick_s, run_h); HOURS]),
            returns: [odds(tick_s, pause_h); HOURS],
            machines,
        }
    }

    /// Runs as long as machines of a law live, to the next whole tick, and pauses of a mean in hours.
    pub fn of_lives(tick_s: f64, lives: Lifetime, pause_h: f64, machines: u16) -> Self {
        Process {
            tick_s,
            runs: RunLengths::Lives(lives),
            returns: [odds(tick_s, pause_h); HOURS],
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
            runs: RunLengths::Odds(odds(&changes[1])),
            returns: odds(&changes[0]),
            machines,
        }
    }

    /// Machines per tick, drawn for a zone and a replica, from the long-run share on.
    pub fn draw(&self, streams: &Streams, zone: &str, replica: u64, ticks: usize) -> Vec<u16> {
        let key = ModelKey::from_name(&format!("availability of {zone}"));
        let mut stream = streams.stream(replica, Purpose::ModelLives(key));
        match &self.runs {
            RunLengths::Odds(lost) => self.draw_by_odds(lost, &mut stream, ticks),
            RunLengths::Lives(lives) => self.draw_lives(lives, &mut stream, ticks),
        }
    }

    fn draw_by_odds(&self, lost: &[f64; HOURS], stream: &mut Stream, ticks: usize) -> Vec<u16> {
        let mean = |of: &[f64; HOURS]| of.iter().sum::<f64>() / HOURS as f64;
        // Share of time with machines, if every hour of the day were as the day's mean.
        let share_up = mean(&self.returns) / (mean(&self.returns) + mean(lost));
        let mut is_up = stream.uniform() < share_up;
        let mut drawn = Vec::with_capacity(ticks);
        for tick in 0..ticks {
            drawn.push(if is_up { self.machines } else { 0 });
            let hour = hour(tick + 1, self.tick_s);
            let odds = if is_up {
                lost[hour]
            } else {
                self.returns[hour]
            };
            is_up ^= stream.uniform() < odds;
        }
        drawn
    }

    fn draw_lives(&self, lives: &Lifetime, stream: &mut Stream, ticks: usize) -> Vec<u16> {
        let tick_h = self.tick_s / SECONDS_PER_HOUR;
        let skipped = (WARM_UP_H / tick_h).ceil() as usize;
        let mut drawn = Vec::with_capacity(skipped + ticks);
        let left = |drawn: &Vec<u16>| skipped + ticks - drawn.len();
        while left(&drawn) > 0 {
            let run = (lives.sample(stream) / tick_h).ceil().max(1.0) as usize;
            drawn.resize(drawn.len() + run.min(left(&drawn)), self.machines);
            while left(&drawn) > 0 {
                drawn.push(0);
                if stream.uniform() < self.returns[0] {
                    break;
                }
            }
        }
        drawn.split_off(skipped)
    }
}

/// Odds of a change within a tick: runs and pauses are whole ticks, their means as given.
fn odds(tick_s: f64, mean_h: f64) -> f64 {
    (tick_s / SECONDS_PER_HOUR / mean_h).min(1.0)
}

fn hour(tick: usize, tick_s: f64) -> usize {
    const HOUR_NS: u64 = 3_600_000_000_000;
    let at = SimTime::from_seconds(tick_s)
        .nanoseconds()
        .saturating_mul(tick as u64);
    (at / HOUR_NS) as usize % HOURS
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::cloud::lifetimes::Model;

    /// Shares of time with machines, and mean hours of whole runs, over draws of a process.
    fn share_and_run_h(process: &Process, ticks: usize) -> (f64, f64) {
        let streams = Streams::new(7);
        let (mut up, mut ended, mut in_ended) = (0, 0, 0);
        for replica in 0..200 {
            let drawn = process.draw(&streams, "zone", replica, ticks);
            assert_eq!(drawn.len(), ticks);
            up += drawn.iter().filter(|&&machines| machines > 0).count();
            let runs = drawn.chunk_by(|a, b| a == b);
            // The first and the last run are cut.
            for run in runs.skip(1).filter(|run| run[0] > 0) {
                ended += 1;
                in_ended += run.len();
            }
        }
        let hours = process.tick_s / SECONDS_PER_HOUR;
        (
            up as f64 / (200 * ticks) as f64,
            in_ended as f64 * hours / f64::from(ended),
        )
    }

    #[test]
    fn runs_of_a_law_are_as_long_as_machines_live() {
        let model = Model::named("gcp-k80-us-central1").expect("it is there");
        let lives = model.lifetime_of_one().expect("a law");
        let mean_h = lives.mean_until(1e4);
        let (tick_s, pause_h) = (60.0, 2.0);
        let (share, run_h) = share_and_run_h(&Process::of_lives(tick_s, lives, pause_h, 4), 60_000);
        // Ends are rounded up by half a tick in the mean. Four standard errors of some 8,000 runs.
        assert!((run_h / mean_h - 1.0).abs() < 0.04, "{run_h} {mean_h}");
        let expected = mean_h / (mean_h + pause_h);
        assert!((share - expected).abs() < 0.01, "{share} {expected}");
    }

    #[test]
    fn exponential_lives_are_the_process_of_their_mean() {
        let model = Model::named("aws-2023-v100-zones").expect("it is there");
        let mean_h = model.mean_h_of_first(1).expect("a mean");
        let lives = model.lifetime_of_one().expect("a law");
        let by_law = share_and_run_h(&Process::of_lives(60.0, lives, 1.5, 1), 20_000);
        let by_mean = share_and_run_h(&Process::of_means(60.0, mean_h, 1.5, 1), 20_000);
        assert!(
            (by_law.0 - by_mean.0).abs() < 0.01,
            "{by_law:?} {by_mean:?}"
        );
        assert!(
            (by_law.1 / by_mean.1 - 1.0).abs() < 0.04,
            "{by_law:?} {by_mean:?}"
        );
    }
}
