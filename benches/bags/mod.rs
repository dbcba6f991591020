//! Bags of jobs on VMs that are preempted.

use std::hint::black_box;

use scavsim::experiment::Plan;
use scavsim::usage::Usage;

use crate::reference;
use crate::table::{Goal, Path};

/// `scenarios/bags.toml`.
pub fn plan() -> Plan {
    let mut bags = reference::shipped("bags.toml");
    bags.strategies = vec!["oracle".to_owned()];
    Plan::new(&bags).expect("the bags can be planned")
}

/// A bag of 100 jobs, from its first request to its last job.
pub fn path(plan: &Plan, runs: u64) -> Path<'_> {
    let arena = plan.arena(0).expect("the bag can be planned");
    let mut site = arena.ground.open(&plan.terms);
    let mut usage = Usage::default();
    Path::new(
        "bag of 100 jobs",
        (runs, "run"),
        Goal::Microseconds(100.0),
        move || {
            for replica in 0..runs {
                site.restart(replica);
                let line = site.run_to_target(2).expect("it ends");
                site.usage_until_target(&line, &mut usage);
                black_box(&usage);
            }
        },
    )
}
