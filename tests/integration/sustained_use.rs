//! Discounts on VMs that are used for long, by hand.

use std::path::Path;

use scavsim::experiment::{Evaluator, Plan};
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::{self, Overrides};
use scavsim::usage::VmInterval;

use crate::bills::{E2, MINUTE, N1, as_priced, bills, other, taken, vms};

/// A quarter of the month is 182.5 h.
#[test]
fn sustained_use_by_level_of_concurrency() {
    let days: Vec<VmInterval> = (0..30)
        .map(|day| vms(1, 24.0 * f64::from(day), 24.0 * f64::from(day + 1)))
        .collect();
    bills(
        N1,
        E2,
        &[
            (
                &[vms(1, 0.0, 182.5)],
                34.675,
                "a quarter of a month at the whole price: 182.5 h × $0.19",
            ),
            (
                &[vms(1, 0.0, 365.0)],
                62.415,
                "half a month: 182.5 × (1 + 0.8) = 328.5 h × $0.19, 90 %",
            ),
            (
                &[vms(1, 0.0, 730.0)],
                97.09,
                "a month: 182.5 × (1 + 0.8 + 0.6 + 0.4) = 511 h × $0.19, 70 %",
            ),
            (
                &[vms(1, 0.0, 720.0)],
                96.33,
                "30 days: 182.5 + 146 + 109.5 + 172.5 × 0.4 = 507 h × $0.19",
            ),
            (
                &days,
                96.33,
                "30 VMs for a day each, one after the other: level 1 is in use for the same 720 h",
            ),
            (
                &[vms(30, 0.0, 24.0)],
                136.8,
                "30 VMs side by side for a day: 30 levels of 24 h, 720 h × $0.19",
            ),
            (
                &[vms(8, 0.0, 92.0)],
                139.84,
                "8 levels of 92 h, less than 182.5: 736 h × $0.19",
            ),
            (
                &[vms(8, 0.0, 730.0)],
                776.72,
                "8 levels of a month: 8 × 511 h × $0.19",
            ),
            (
                &[vms(2, 0.0, 365.0), vms(1, 0.0, 200.0)],
                162.165,
                "levels 1 and 2: 328.5 h each; level 3: 182.5 + 17.5 × 0.8 = 196.5 h; 853.5 h × $0.19",
            ),
            (
                &[vms(1, 0.0, 200.0), vms(1, 100.0, 300.0)],
                71.535,
                "level 1 for 300 h: 182.5 + 117.5 × 0.8 = 276.5 h; level 2 for 100 h; 376.5 h × $0.19",
            ),
            (
                &[vms(4, 0.0, 200.0), vms(12, 10.0, 200.0)],
                579.12,
                "a search on 4 VMs, then 16: 4 levels of 182.5 + 17.5 × 0.8 = 196.5 h, 12 of 182.5 + 7.5 × 0.8 = 188.5 h; 3,048 h × $0.19",
            ),
            (
                &[
                    vms(2, 0.0, 100.0),
                    taken(1, 100.0, 150.0),
                    vms(1, 150.0, 300.0),
                    vms(1, 200.0, 300.0),
                ],
                89.87,
                "a VM is taken away and another one comes: level 1 for 300 h, 276.5 h; level 2 from 0 to 100 and from 200 to 300, 196.5 h; 473 h × $0.19",
            ),
        ],
    );
    // A month begins with the job and ends 730 h later.
    bills(
        N1,
        E2,
        &[
            (
                &[vms(1, 0.0, 1095.0)],
                159.505,
                "a month and half of one: 511 + 328.5 = 839.5 h × $0.19",
            ),
            (
                &[vms(1, 365.0, 1095.0)],
                124.83,
                "half of each of two months: 2 × 328.5 h × $0.19",
            ),
        ],
    );
    bills(
        "usd_per_vm_hour = 0.2\nsustained_use = [1, 0.8678, 0.733, 0.6]",
        E2,
        &[(
            &[vms(1, 0.0, 730.0)],
            116.8292,
            "182.5 × (1 + 0.8678 + 0.733 + 0.6) = 584.146 h × $0.20",
        )],
    );
    // Rounded-up time is in use, too: until 183 h the first, from 182.4 to 365.4 h the second.
    bills(
        "usd_per_vm_hour = 1\nsustained_use = [1, 0.8, 0.6, 0.4]\ngranularity_s = 3600",
        E2,
        &[(
            &[vms(1, 0.0, 182.4), vms(1, 182.4, 365.0)],
            329.34,
            "level 1 for 365.4 h: 182.5 + 146 + 0.4 × 0.6 = 328.74 h; level 2 for 0.6 h",
        )],
    );
    // Two VM types have levels of their own: $0.19 and $0.38.
    let n1 = [as_priced("n1-standard-4"), as_priced("n1-standard-8")];
    bills(
        "usd_per_hour_of = { \"n1-standard-4\" = 0.19, \"n1-standard-8\" = 0.38 }\nsustained_use = [1, 0.8, 0.6, 0.4]",
        &n1,
        &[(
            &[vms(1, 0.0, 365.0), other(1, 365.0, 730.0)],
            187.245,
            "328.5 h × $0.19 = $62.415, and half of the month of the other: 328.5 h × $0.38 = $124.83",
        )],
    );
}

#[test]
fn a_cluster_that_grows_and_shrinks() {
    let held: &[VmInterval] = &[vms(8, 0.0, 190.0 * MINUTE), vms(4, 1.0, 2.5)];
    bills(
        "usd_per_vm_hour = 0.9\ngranularity_s = 3600",
        E2,
        &[(held, 36.0, "8 × 4 and 4 × 2 started hours = 40 h × $0.90")],
    );
    bills(
        "usd_per_vm_hour = 0.9\ngranularity_s = 1\nminimum_s = 60",
        E2,
        &[(held, 28.2, "8 × 190 min + 4 × 90 min = 1,880 min × $0.015")],
    );
}

/// Whole jobs on GCP's n1-standard-4 of 2020: $0.189999, and no VM runs for a quarter of a month.
#[test]
fn jobs_of_less_than_a_quarter_of_a_month_earn_no_sustained_use() {
    let text = "workloads = [\"scavenger-resnet50\", \"scavenger-transformer\"]\n\
                search.strategies = [\"oracle\"]\nsearch.objectives = [\"cost\", \"knee\"]\n\
                pricing.policies = [\"gcp-2020-n1\"]\n";
    let mut wrong = Diagnostics::default();
    let source = Source::new("n1.toml", text);
    let scenario = scenario::load(&source, Path::new("."), Overrides::default(), &mut wrong)
        .unwrap_or_else(|| panic!("{}", wrong.render(false)));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let mut evaluator = Evaluator::new(&plan);
    let by_hand = [
        (8, 44.633, 67.84),
        (16, 26.401, 80.26),
        (8, 92.139, 140.05),
        (16, 58.520, 177.90),
    ];
    assert_eq!(plan.cases(), by_hand.len() as u64);
    for (number, (vms, hours, usd)) in by_hand.into_iter().enumerate() {
        let record = evaluator.evaluate(plan.case(number as u64));
        assert_eq!(record.chosen_workers, Some(vms));
        let found = (
            record.time_h.expect("a run"),
            record.cost_usd.expect("a run"),
        );
        assert!((found.0 - hours).abs() < 0.05, "{found:?}");
        assert!((found.1 - usd).abs() < 0.005, "{found:?} {usd}");
        // By hand: VMs × hours × price, except for the started second.
        assert!((found.1 / (f64::from(vms) * found.0 * 0.189999) - 1.0).abs() < 2e-5);
    }
}
