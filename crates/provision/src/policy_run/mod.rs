//! The life of a job under a policy, tick by tick: what is lost, decided, paid and done. `state` has the machines, `net` keeps the
//! deadline.

pub mod events;
mod net;
pub mod outcome;
pub mod policy_view;
mod state;
pub mod timeline;

use crate::job::Job;
use crate::policy::{Net, Policy};
use crate::world::Window;
pub use crate::world::{Market, Place, rental_index};
use outcome::Outcome;
use policy_view::PolicyView;
use state::PolicyRun;
use timeline::Timeline;

/// Runs a job under a policy until it is done or the window ends.
pub fn live(window: Window<'_>, job: &Job, policy: &mut dyn Policy) -> Outcome {
    run(PolicyRun::new(window, job, None), policy).0
}

/// Runs a job as [`live`] does, with a timeline.
pub fn watch(window: Window<'_>, job: &Job, policy: &mut dyn Policy) -> (Outcome, Timeline) {
    let (outcome, timeline) = run(
        PolicyRun::new(window, job, Some(Timeline::default())),
        policy,
    );
    (outcome, timeline.unwrap_or_default())
}

fn run(mut run: PolicyRun<'_>, policy: &mut dyn Policy) -> (Outcome, Option<Timeline>) {
    let (net, rule) = (policy.net(), policy.on_demand_zone());
    while run.tick < run.window.ticks() && run.outcome.finished.is_none() {
        run.lose();
        let is_caught = net != Net::None && run.catch(net == Net::Patient, rule);
        if !is_caught {
            policy.decide(&mut PolicyView::new(&mut run));
        }
        if run.is_over() {
            break;
        }
        run.pass();
    }
    run.outcome.done = run.done();
    policy.over(&mut PolicyView::new(&mut run));
    (run.outcome, run.timeline)
}
