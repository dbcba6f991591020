use std::collections::HashMap;
use std::sync::Arc;

use super::trace::{self, Trace};
use scavsim_base::rng::Stream;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::{Diagnostics, Source};

/// Losses that arrive as a Poisson process, each of as many VMs as one drawn from those counted. A VM's own life is
/// exponential:
/// P(lost by t) = 1 − exp(−λ s̄ t/n), λ losses per hour of s̄ VMs on average, among n held.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub losses_per_h: f64,
    /// VMs held in the mean where the losses were counted; [`share`](super::share()) brings a loss to another cluster.
    pub held_vms: f64,
    pub mean_vms: f64,
    /// VMs of a loss, and the share of losses that take no more.
    sizes: Vec<(u32, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// Hours since the loss before, or since the beginning.
    pub after_h: f64,
    /// VMs that it takes, of the [`Batch::held_vms`] that it was counted among.
    pub lost: u32,
}

impl Declared for Batch {
    const DECLARATION: Declaration = Declaration {
        name: "batch",
        what: "Several VMs are lost at once, at random times: each loss takes as many VMs as one that was counted.",
        formula: "losses by a Poisson process; of one VM P(lost by t) = 1 − exp(−λ s̄ t/n)",
        source: "AWS 2020",
        example: "spot.lifetime = \"aws-2020-p3-batch\"",
    };
}

impl Batch {
    /// From (VMs of a loss, number of such losses) counted in `observed_h` hours among `held_vms` VMs; `None` unless all are
    /// above 0.
    pub fn new(counted: &[(u32, u32)], observed_h: f64, held_vms: f64) -> Option<Self> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let losses: f64 = counted.iter().map(|(_, losses)| f64::from(*losses)).sum();
        let vms: f64 = (counted.iter())
            .map(|(vms, losses)| f64::from(*vms) * f64::from(*losses))
            .sum();
        if ![losses, vms, observed_h, held_vms]
            .into_iter()
            .all(positive)
        {
            return None;
        }
        let mut counted = counted.to_vec();
        counted.sort_unstable();
        let mut before = 0.0;
        let sizes = counted.into_iter().map(|(vms, count)| {
            before += f64::from(count);
            (vms, before / losses)
        });
        Some(Batch {
            sizes: sizes.collect(),
            losses_per_h: losses / observed_h,
            mean_vms: vms / losses,
            held_vms,
        })
    }

    pub fn counted_in(trace: &Trace) -> Option<Self> {
        let mut counted: Vec<(u32, u32)> = Vec::new();
        for change in trace.changes().iter().filter(|change| change.removed > 0) {
            match counted.iter_mut().find(|(vms, _)| *vms == change.removed) {
                Some((_, losses)) => *losses += 1,
                None => counted.push((change.removed, 1)),
            }
        }
        Batch::new(&counted, trace.length_h(), trace.mean_held)
    }

    /// The next loss. Two draws, whatever the cluster: all clusters of a replica meet the same losses.
    pub fn next(&self, stream: &mut Stream) -> Event {
        let after_h = -libm::log1p(-stream.uniform()) / self.losses_per_h;
        let u = stream.uniform();
        let drawn = self.sizes.partition_point(|(_, share)| *share < u);
        let size = self.sizes.get(drawn).or(self.sizes.last());
        Event {
            after_h,
            lost: size.map_or(0, |(vms, _)| *vms),
        }
    }

    /// P(a VM is lost within `hours`).
    pub fn lost_by(&self, hours: f64) -> f64 {
        -libm::expm1(-hours * self.losses_per_h * self.mean_vms / self.held_vms)
    }
}

pub(super) fn read(source: &Arc<Source>, d: &mut Diagnostics) -> HashMap<String, Batch> {
    (trace::read(source, d).into_iter())
        .filter_map(|(name, trace)| Some((name, Batch::counted_in(&trace)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::rng::{Purpose, Streams};
    use scavsim_base::stats::kolmogorov_smirnov_against;

    fn batch() -> Batch {
        Batch::new(&[(3, 15), (1, 39), (2, 13), (4, 7)], 10.0, 24.0).expect("it is legal")
    }

    #[test]
    fn times_and_sizes_of_losses_are_those_counted() {
        let batch = batch();
        assert_eq!(batch.losses_per_h, 7.4);
        let mut stream = Streams::new(3).stream(0, Purpose::Trial(0));
        let events: Vec<Event> = (0..20_000).map(|_| batch.next(&mut stream)).collect();
        let after: Vec<f64> = events.iter().map(|e| e.after_h).collect();
        let cdf = |t: f64| -libm::expm1(-7.4 * t);
        // One false alarm in a hundred seeds; this one is fixed.
        assert!(kolmogorov_smirnov_against(&after, cdf, cdf).p_value > 0.01);
        let lost: Vec<f64> = events.iter().map(|e| f64::from(e.lost)).collect();
        let counted = |x: f64| [0.0, 39.0, 52.0, 67.0, 74.0][(x.max(0.0) as usize).min(4)] / 74.0;
        let test = kolmogorov_smirnov_against(&lost, counted, |x| counted(x - 1.0));
        assert!(test.p_value > 0.01, "{test:?}");
    }

    /// One false alarm in a hundred for each of the three; the seed is fixed.
    #[test]
    fn the_life_of_one_vm_is_exponential_in_clusters_up_to_the_counted_one() {
        let batch = batch();
        for vms in [1, 8, 24] {
            let lives: Vec<f64> = (0..40_000)
                .map(|replica| {
                    let mut losses = Streams::new(4).stream(replica, Purpose::Trial(0));
                    let mut hits = Streams::new(4).stream(replica, Purpose::Trial(1));
                    let mut life = 0.0;
                    loop {
                        let event = batch.next(&mut losses);
                        life += event.after_h;
                        let hit = super::super::share(event.lost, 24.0, vms, &mut hits);
                        // The VM that is followed is one of `vms`, and lost ones are replaced.
                        if hits.uniform() * f64::from(vms) < f64::from(hit) {
                            return life;
                        }
                    }
                })
                .collect();
            let cdf = |t: f64| batch.lost_by(t);
            let test = kolmogorov_smirnov_against(&lives, cdf, cdf);
            assert!(test.p_value > 0.01, "{vms}: {test:?}");
        }
    }

    #[test]
    fn counts_without_a_loss_are_refused() {
        assert_eq!(Batch::new(&[], 1.0, 1.0), None);
        assert_eq!(Batch::new(&[(1, 0)], 1.0, 1.0), None);
        assert_eq!(Batch::new(&[(1, 1)], 0.0, 1.0), None);
        assert_eq!(Batch::new(&[(1, 1)], 1.0, f64::NAN), None);
    }
}
