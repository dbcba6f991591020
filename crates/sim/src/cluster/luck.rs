//! What one replica deals to one configuration.

use std::borrow::Cow;

use super::groups::MOST_GROUPS;
use super::world::Truth;
use super::{Cluster, Size};
use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::variation::Variation;
use scavsim_base::rng::{Purpose, Streams, UnitLogNormal, VmTypeKey};
use scavsim_base::stats::normal;

/// A configuration as it turns out in one replica.
#[derive(Debug, Clone)]
pub struct Luck {
    /// Steps to the target in this replica, at least 1.
    pub steps_to_target: u64,
    /// Its steps.
    pub stepping: Stepping,
    /// Seconds until the batches of its own size suit its machines.
    settle_s: f64,
    /// Factor on the whole step, by placement.
    whole_step: f64,
    /// How its machines are, where they differ.
    machines: Option<Machines>,
}

/// How fast machines are in one replica: the n-th of a type the same in every shape and kind of cluster.
#[derive(Debug, Clone)]
struct Machines(Vec<(VmTypeKey, Vec<f64>)>);

impl Machines {
    /// As many of each type as `cluster` may have.
    fn draw(cluster: &Cluster, sigma: f64, streams: &Streams, replica: u64) -> Machines {
        let factor = UnitLogNormal::from_sigma(sigma);
        let mut most = [0; MOST_GROUPS];
        for (most, group) in most.iter_mut().zip(&cluster.groups) {
            *most = group.most;
        }
        let mut counts: Vec<(VmTypeKey, u32)> = Vec::new();
        for (vm_type, number) in cluster.machines(&most) {
            match counts.iter_mut().find(|(known, _)| *known == vm_type) {
                Some((_, count)) => *count = (*count).max(number + 1),
                None => counts.push((vm_type, number + 1)),
            }
        }
        let draw = |(vm_type, count): (VmTypeKey, u32)| {
            let mut stream = streams.stream(replica, Purpose::Machines(vm_type));
            let factors = (0..count).map(|_| factor.sample(&mut stream));
            (vm_type, factors.collect())
        };
        Machines(counts.into_iter().map(draw).collect())
    }

    fn factor(&self, (vm_type, number): (VmTypeKey, u32)) -> f64 {
        let of_type = self.0.iter().find(|(known, _)| *known == vm_type);
        let factor = of_type.and_then(|(_, factors)| factors.get(number as usize));
        factor.copied().unwrap_or(1.0)
    }
}

/// Most that a figure of nine digits, as tables have it, is off by, with some room.
const NINE_DIGITS: f64 = 1e-8;

/// One step at least, and rounded up: the target is reached during the last step. The relief keeps a whole number that came
/// out too high by the rounding of its epochs.
fn whole(steps: f64) -> u64 {
    ((steps * (1.0 - NINE_DIGITS)).ceil() as u64).max(1)
}

/// Deviations of a normal variable beyond which nothing is left.
const FAR: f64 = 9.0;
/// Standard deviation of a number from which on rounding it up adds a half, if it is small beside the number.
const SMOOTH: f64 = 4.0;
/// Terms of the sum; what is beyond is smooth enough to be integrated.
const TERMS: f64 = 400.0;

/// Mean number of steps to the target where n steps vary by L, log-normal with mean 1 and coefficient of variation `epoch_cv`, and
/// come in updates of p: p·E⌈⌈n·L⌉/p⌉, of at least one step. Where p is neither whole nor a whole part of a step, half an update
/// stands for what is rounded up.
pub fn expected_steps(steps: f64, epoch_cv: f64, of_update: f64) -> f64 {
    let is_whole = |number: f64| (number - number.round()).abs() < NINE_DIGITS;
    if epoch_cv == 0.0 {
        return of_update * (whole(steps) as f64 / of_update - NINE_DIGITS).ceil();
    }
    match of_update {
        p if p >= 1.0 && is_whole(p) => p * rounded_up(steps / p, epoch_cv),
        p if p < 1.0 && is_whole(1.0 / p) => rounded_up(steps, epoch_cv),
        p => rounded_up(steps, epoch_cv) + 0.5 * p,
    }
}

/// E⌈n·L⌉, of at least 1: n rounded up without variation, n + ½ with much of it, Σ P(n·L > k) between.
fn rounded_up(steps: f64, epoch_cv: f64) -> f64 {
    let sigma = UnitLogNormal::from_cv(epoch_cv).sigma();
    if sigma == 0.0 {
        return whole(steps) as f64;
    }
    if steps * sigma > SMOOTH && sigma < 0.5 {
        return steps + 0.5;
    }
    // (ln k − E ln X)/σ of X = n·L.
    let deviations = |k: f64| libm::log(k / steps) / sigma + 0.5 * sigma;
    let certain = (steps * libm::exp(-FAR * sigma)).floor();
    // P(X > k) is 1 up to here.
    let mut mean = certain + 1.0;
    let mut k = certain + 1.0;
    while k <= certain + TERMS {
        mean += normal::cdf(-deviations(k));
        k += 1.0;
    }
    // The rest, by the rule of the middle: E[X; X > a] − a·P(X > a).
    let a = k - 0.5;
    let beyond = steps * normal::cdf(sigma - deviations(a)) - a * normal::cdf(-deviations(a));
    mean + beyond.max(0.0)
}

impl Luck {
    /// Draws placement, machines and length of the run for `truth` in `replica`. The same for
    /// every strategy, and for the oracle.
    pub fn draw(truth: &Truth, variation: &Variation, streams: &Streams, replica: u64) -> Luck {
        let cluster = &truth.cluster;
        let mut steps = truth.steps_to_target;
        let (placement, luck) = (
            UnitLogNormal::from_sigma(variation.placement_sigma),
            UnitLogNormal::from_cv(variation.epoch_cv),
        );
        let mut whole_step = 1.0;
        if placement.sigma() > 0.0 || luck.sigma() > 0.0 {
            let mut stream = streams.stream(replica, Purpose::Luck(truth.key));
            whole_step = placement.sample(&mut stream);
            steps *= luck.sample(&mut stream);
        }
        let sigma = variation.vm_sigma;
        let mut luck = Luck {
            steps_to_target: whole(steps),
            stepping: cluster.whole.stepping.clone(),
            settle_s: cluster.whole.settle_s,
            whole_step,
            machines: (sigma > 0.0).then(|| Machines::draw(cluster, sigma, streams, replica)),
        };
        (luck.stepping, luck.settle_s) = luck.dealt(cluster, cluster.usual, &cluster.whole);
        luck
    }

    /// The steps of the same configuration in the size at a place, as they turn out in this replica.
    pub fn at(&self, cluster: &Cluster, place: usize, size: &Size) -> Cow<'_, Stepping> {
        match place == cluster.usual {
            true => Cow::Borrowed(&self.stepping),
            false => Cow::Owned(self.dealt(cluster, place, size).0),
        }
    }

    /// Seconds until batches suit the workers in the size at a place.
    pub fn settle_s(&self, cluster: &Cluster, place: usize, size: &Size) -> f64 {
        match place == cluster.usual {
            true => self.settle_s,
            false if size.levelling.is_some() => self.dealt(cluster, place, size).1,
            false => size.settle_s,
        }
    }

    fn dealt(&self, cluster: &Cluster, place: usize, size: &Size) -> (Stepping, f64) {
        let mut stepping = size.stepping.clone();
        stepping.worker_s *= self.whole_step;
        stepping.communication_s *= self.whole_step;
        let Some(machines) = &self.machines else {
            return (stepping, size.settle_s);
        };
        let on = cluster.machines(&cluster.vms_at(place));
        let mut factors: Box<[f64]> = on
            .into_iter()
            .map(|machine| machines.factor(machine))
            .collect();
        let mut settle_s = size.settle_s;
        if let Some(levelling) = &size.levelling {
            let (times, seconds) = levelling.settled(&factors);
            for (factor, time_s) in factors.iter_mut().zip(times) {
                *factor = time_s / size.stepping.worker_s;
            }
            settle_s = seconds;
        } else if let Some(types) = &stepping.machines {
            for (factor, by_type) in factors.iter_mut().zip(types) {
                *factor *= by_type;
            }
        }
        stepping.slowest = slowest::moments_unequal(&factors, stepping.time);
        stepping.machines = Some(factors);
        (stepping, settle_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::rng::Stream;
    use scavsim_base::stats::Welford;

    /// Of 200,000 draws each, within four standard errors; and to the digit where nothing varies.
    #[test]
    fn expected_steps_are_the_mean_of_those_that_are_drawn() {
        for (steps, epoch_cv) in [
            (36.2, 0.02),
            (36.2, 0.001),
            (5.3, 0.1),
            (1.2, 0.3),
            (0.4, 0.5),
            (0.01, 0.5),
            (700.0, 2.0),
            (3.0, 3.0),
            (20_000.4, 0.05),
        ] {
            let luck = UnitLogNormal::from_cv(epoch_cv);
            let (mut stream, mut seen) = (Stream::seeded(31), Welford::default());
            // Rounding up is a part of each draw, so its mean is compared by itself: that of the draws is known.
            for _ in 0..200_000 {
                let drawn = steps * luck.sample(&mut stream);
                seen.add(whole(drawn) as f64 - drawn);
            }
            let error = seen.standard_deviation() / (seen.count() as f64).sqrt();
            let rounded = expected_steps(steps, epoch_cv, 1.0) - steps;
            assert!(
                (rounded - seen.mean()).abs() <= 4.0 * error + 1e-9,
                "{steps} {epoch_cv}: {rounded} for {} ±{error}",
                seen.mean()
            );
        }
        for (steps, of_update, expected) in [
            (36.0, 1.0, 36.0),
            (36.2, 1.0, 37.0),
            (0.1, 1.0, 1.0),
            (36.2, 11.0, 44.0),
            (36.2, 0.125, 37.0),
            (3.2, 0.75, 4.5),
        ] {
            assert_eq!(expected_steps(steps, 0.0, of_update), expected);
        }
        // Rounds of 11 steps, of which there are few.
        assert!((expected_steps(36.2, 0.5, 11.0) - 36.2 - 5.5).abs() < 0.2);
    }
}
