//! The batch that is worth most now, on machines that were chosen once.
//!
//! A large batch wastes samples while the gradient is strong, and pays when noise has risen. So the batch grows with the noise scale:
//! of the forms on the machines that the job has, the one that makes most progress per second now. Where a change takes time, it waits
//! until its present form has lost as much to the fastest one as the change takes, and changes only if the rest is done sooner at the
//! present noise. What noise will be is not looked at.
//! Sources: McCandlish et al., An Empirical Model of Large-Batch Training, 2018; Qiao et al., Pollux, OSDI 2021; Karlin et al.,
//! Competitive Snoopy Caching, Algorithmica 1988, for the wait.

use super::stay::Stay;
use super::{Policy, Recipe};
use crate::policy_run::Market;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;

settings! {
    /// Changes the batch with the noise.
    pub struct FollowNoiseSettings {}

    name: "follow-noise",
    what: "machines as `stay` chooses them; on these always the batch with the most progress per second at the present noise",
    formula: "changes once the sum of tick x (1 - speed / speed of the fastest form on its machines) is reconfigure, if left / speed - left / speed of the fastest > reconfigure",
    source: "McCandlish et al. 2018; Pollux, OSDI 2021; Karlin et al. 1988",
    example: "policy.names = [\"follow-noise\"]",
}

#[derive(Debug, Default)]
struct FollowNoise {
    machines: Stay,
    /// The form that it ran in last.
    form: Option<usize>,
    /// Seconds that it has lost to the fastest form on its machines.
    lost_s: f64,
}

impl Recipe for FollowNoiseSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(FollowNoise::default())
    }
}

/// The form on the machines of another one that makes most progress per second now; that one itself at a tie.
fn fastest_on_same_machines(view: &PolicyView<'_, '_>, form: usize) -> usize {
    let others = (0..view.forms()).filter(|&other| view.has_machines_of(other, form));
    others.fold(form, |best, other| {
        if view.speed(other) > view.speed(best) {
            other
        } else {
            best
        }
    })
}

impl Policy for FollowNoise {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            let last = self.form;
            self.machines.start(view, |form| last.unwrap_or(form));
        }
        let (Some(place), Some(form)) = (view.running(), view.running_form()) else {
            return;
        };
        self.form = Some(form);
        let Some(reconfigure_s) = view.reconfigure_s() else {
            return;
        };
        let best = fastest_on_same_machines(view, form);
        let rest_s = |form| view.left_s() / view.speed(form);
        let is_worth_it = rest_s(best) + reconfigure_s < rest_s(form);
        if self.lost_s < reconfigure_s || !is_worth_it {
            self.lost_s += view.tick_s() * (1.0 - view.speed(form) / view.speed(best));
            return;
        }
        (self.form, self.lost_s) = (Some(best), 0.0);
        match place.market {
            Market::Spot => {
                view.try_spot_as(place.zone, best);
            }
            Market::OnDemand => {
                view.go_on_demand_as(place.zone, best);
            }
        }
    }
}
