//! When a plan does what: the policy's answers in constructed worlds.

use super::plan::{ON_DEMAND, Plan, Promise};
use super::when::Deadline;
use scavsim_provision::policy_run::timeline::{Timeline, TimelineEvent};
use scavsim_provision::policy_run::{outcome::Outcome, watch};

/// Shares of the work after which spot machines are lost, to measure how long a policy waits for others.
const SHARES: [f64; 3] = [0.0, 0.5, 0.9];

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rule {
    /// Whether it begins on spot machines if there are any.
    pub(super) begins_on_spot: bool,
    /// Whether it waits at first if there are none.
    pub(super) waits_at_first: bool,
    /// If spot machines are lost after this share of the work and this many hours, and none return: hours until it goes on demand.
    pub(super) until_h: Vec<PolicyWait>,
    /// Whether it returns to spot machines that appear once it is on demand.
    pub(super) goes_back: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PolicyWait {
    pub(super) share: f64,
    /// Hours from now until machines are lost, without a loss before.
    pub(super) lost_h: f64,
    /// Hours from now until it changes to on-demand machines.
    pub(super) until_h: f64,
}

impl Rule {
    pub(super) fn for_plan(plan: &Plan<'_>, promise: &Promise) -> Rule {
        if plan.policy == ON_DEMAND {
            return Rule::default();
        }
        let live = |offered: &dyn Fn(usize) -> bool| live(plan, promise, offered);
        let tick_s = promise.tick_s();
        let job = plan.candidate.job(plan.policy, promise);
        let begins = |timeline: &Timeline| {
            let first = timeline.entries.first();
            first
                .filter(|entry| entry.at_s <= 0.0)
                .map(|entry| entry.what)
        };
        let until_h = SHARES.iter().filter_map(|&share| {
            let lost_s = if share > 0.0 {
                job.changeover_s + share * job.work_s
            } else {
                0.0
            };
            let lost = (lost_s / tick_s).ceil() as usize;
            let (_, timeline) = live(&|tick| tick < lost);
            let (until_s, _) = on_demand(&timeline)?;
            Some(PolicyWait {
                share,
                lost_h: lost as f64 * tick_s / 3600.0,
                until_h: until_s / 3600.0,
            })
        });
        let until_h: Vec<PolicyWait> = until_h.collect();
        let never = live(&|_| false).1;
        let goes_back = on_demand(&never).is_some_and(|(at_s, _)| {
            let from = (at_s / tick_s).round() as usize + 1;
            let (_, timeline) = live(&|tick| tick >= from);
            let mut later = timeline.entries.iter().filter(|entry| entry.at_s > at_s);
            later.any(|entry| entry.what == TimelineEvent::Spot)
        });
        Rule {
            begins_on_spot: begins(&live(&|_| true).1) == Some(TimelineEvent::Spot),
            waits_at_first: begins(&never).is_none(),
            until_h,
            goes_back,
        }
    }

    pub(super) fn sentences(&self, deadline: &Deadline) -> Vec<String> {
        let now = match (self.begins_on_spot, self.waits_at_first) {
            (true, true) => "Now: rent them as spot. Where there are none, wait.",
            (true, false) => "Now: rent them as spot. Where there are none, on demand.",
            (false, _) => "Now: rent them on demand.",
        };
        let mut all = vec![now.to_owned()];
        if !self.begins_on_spot {
            if self.until_h.is_empty() {
                all.push("Keep them to the end.".to_owned());
            }
            return all;
        }
        let done = |share: f64| match share {
            0.0 => "with nothing done".to_owned(),
            share => format!("with {:.0} % done", 100.0 * share),
        };
        let part = |wait: &PolicyWait| {
            let is_at_once = wait.until_h <= wait.lost_h + 1e-9;
            if is_at_once {
                format!("not at all {}", done(wait.share))
            } else {
                format!(
                    "until {} {}",
                    deadline.after(wait.until_h),
                    done(wait.share)
                )
            }
        };
        let parts: Vec<String> = self.until_h.iter().map(part).collect();
        if !parts.is_empty() {
            all.push(format!(
                "When they are lost: wait for others {}; then rent on demand.",
                parts.join(", ")
            ));
        }
        all.push(if self.goes_back {
            "Once on demand: go back to spot when there is some again.".to_owned()
        } else {
            "Once on demand: stay there to the end.".to_owned()
        });
        all
    }
}

/// Runs the policy of a plan in a world whose spot market has machines in the given ticks.
fn live(
    plan: &Plan<'_>,
    promise: &Promise,
    offered: &dyn Fn(usize) -> bool,
) -> (Outcome, Timeline) {
    let (job, tick_s) = (plan.candidate.job(plan.policy, promise), promise.tick_s());
    let ticks = job.ticks(tick_s);
    let offered = (0..ticks).map(|tick| u16::from(offered(tick)));
    let world = plan.candidate.world(tick_s, offered.collect());
    let window = world.window(0, ticks);
    let life = window.map(|window| watch(window, &job, &mut *plan.recipe.policy()));
    life.unwrap_or_default()
}

/// When it first goes on demand, in seconds, and the work done until then.
fn on_demand(timeline: &Timeline) -> Option<(f64, f64)> {
    let entries = timeline.entries.iter();
    let mut started = entries.filter(|entry| entry.what == TimelineEvent::OnDemand);
    started.next().map(|entry| (entry.at_s, entry.done_s))
}
