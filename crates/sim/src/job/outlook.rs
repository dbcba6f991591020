//! How long a job takes in the mean, through losses that do not depend on the age of a VM: a closed form.
//!
//! K VMs are each lost λ times an hour, and a piece of work of L hours, its checkpoint included, is done when none was lost
//! in it. It takes n = e^(KλL) tries in the mean, of which all but the last are lost after min(X, L), X exponential, and
//! followed by C hours until all go on:
//!
//! E = (n − 1)·(1/(Kλ) + C)
//!
//! C is the time until all K are there at once, B = ((1 + λR)^K − 1)/(Kλ) with replacements of R hours (the busy period of K
//! places that are each empty for R after a loss: Takács 1962), and the restart of r hours, which is begun again after each
//! loss in it: C = e^(Kλr)·(B + (1 − e^(−Kλr))/(Kλ)).

use super::sketch::{MOST_PIECES, Outline};
use crate::cluster::Cluster;
use crate::cluster::random_effects::RandomEffects;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};

/// Tries of a piece of work, in the mean, beyond which a job is taken not to come to its end.
const MOST_TRIES: f64 = 1000.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Seconds from the request of VMs to the last step.
    pub seconds: f64,
    /// Tries of its first piece of work.
    pub tries: f64,
}

impl Outlook {
    /// `None` where no closed form tells it.
    pub fn new(
        cluster: &Cluster,
        luck: &RandomEffects,
        steps: u64,
        start_up: SimTime,
    ) -> Option<Outlook> {
        let job = Ageless::new(cluster, luck, steps, start_up)?;
        let mut outlook = Outlook {
            seconds: job.outline.start_h * SECONDS_PER_HOUR,
            tries: 1.0,
        };
        let (rate, back_h) = (job.rate(), job.back_h());
        let mut saved_h = 0.0;
        for piece in 0..MOST_PIECES {
            let (length_h, is_last) = job.outline.piece(saved_h, 0.0);
            let write_h = if is_last { 0.0 } else { job.outline.write_h };
            // e^x − 1 without cancellation where it is small.
            let lost = libm::expm1(rate * (length_h + write_h));
            let hours = if lost > 0.0 {
                lost * (1.0 / rate + back_h)
            } else {
                length_h + write_h
            };
            outlook.seconds += hours * SECONDS_PER_HOUR;
            if piece == 0 {
                outlook.tries = lost + 1.0;
            }
            saved_h += length_h;
            if is_last || !outlook.seconds.is_finite() {
                return Some(outlook);
            }
        }
        // An hour of the work that is left takes as long as one before.
        let start_s = job.outline.start_h * SECONDS_PER_HOUR;
        outlook.seconds = start_s + (outlook.seconds - start_s) * job.outline.all_h / saved_h;
        Some(outlook)
    }

    /// Seconds that so many steps take in the mean, where they take so many tries that there is no use in simulating them.
    pub fn hopeless(
        cluster: &Cluster,
        luck: &RandomEffects,
        steps: u64,
        start_up: SimTime,
    ) -> Option<f64> {
        let job = Ageless::new(cluster, luck, steps, start_up)?;
        let (length_h, is_last) = job.outline.piece(0.0, 0.0);
        let write_h = if is_last { 0.0 } else { job.outline.write_h };
        let most_h = libm::log(MOST_TRIES) / job.rate();
        if length_h + write_h <= most_h {
            return None;
        }
        Some(Outlook::new(cluster, luck, steps, start_up)?.seconds)
    }
}

struct Ageless<'c> {
    outline: Outline<'c>,
    /// Losses per hour of a VM.
    rate_of_one: f64,
}

impl<'c> Ageless<'c> {
    fn new(
        cluster: &'c Cluster,
        luck: &RandomEffects,
        steps: u64,
        start_up: SimTime,
    ) -> Option<Ageless<'c>> {
        let outline = Outline::new(cluster, luck, steps, start_up)?;
        let rate_of_one = outline.life.ageless_rate()?;
        (!outline.policy.heeds_age()).then_some(Ageless {
            outline,
            rate_of_one,
        })
    }

    fn rate(&self) -> f64 {
        f64::from(self.outline.vms) * self.rate_of_one
    }

    /// Hours from a loss until all go on.
    fn back_h(&self) -> f64 {
        let (rate, vms) = (self.rate(), f64::from(self.outline.vms));
        let gathered =
            libm::expm1(vms * libm::log1p(self.rate_of_one * self.outline.replacement_h));
        let restart = libm::expm1(rate * self.outline.restart_h);
        ((restart + 1.0) * gathered + restart) / rate
    }
}
