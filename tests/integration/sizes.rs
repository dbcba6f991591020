//! Sizes of a cluster: those that only events can simulate, and unknown ones.

use std::path::Path;

use crate::live::{ASP, load, tiny};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::{self, Overrides};

#[test]
fn protocols_without_a_closed_form_fall_back_to_events_and_say_why() {
    let record_of = |sync: &str| {
        let scenario = tiny(&format!(
            "staleness.per_missed_batch = 0.01\n{sync}cluster.workers = [4]\ncluster.vm = [\"slow\"]\nvariation.step_cv = 0.2\n"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let r = Evaluator::new(&plan).evaluate(plan.case(0));
        (
            r.fidelity.expect("a result").to_owned(),
            r.reason.into_owned(),
            r.staleness.unwrap_or(-1.0),
            r.dropped_gradients.unwrap_or(-1.0),
            r.time_h.expect("a result") / r.expected_time_h.expect("a result"),
        )
    };
    for (sync, fidelity) in [
        ("", "fast"),
        (ASP, "fast"),
        ("sync.backup = { spare = 1 }\n", "fast"),
        ("sync.ssp = { slack = 2 }\n", "fast"),
        ("sync.flexible = { after_s = 1.5 }\n", "fast"),
        ("sync.speculative = { quantile = 0.9 }\n", "fast"),
        ("sync.asp = { service_s = 0.04 }\n", "fast"),
        // Machines that differ randomly have no pace that could be measured beforehand.
        (
            "variation.vm_sigma = 0.003\nsync.ssp = { slack = 2 }\n",
            "event",
        ),
        // Few updates are drawn step by step, machine by machine.
        (
            "variation.vm_sigma = 0.003\nsync.flexible = { after_s = 1.5 }\n",
            "fast",
        ),
        (
            "variation.vm_sigma = 0.003\nsync.speculative = { quantile = 0.9 }\n",
            "event",
        ),
        (
            "variation.vm_sigma = 0.003\nsync.asp = { service_s = 0.04 }\n",
            "event",
        ),
    ] {
        let (found, why, stale, dropped, ratio) = record_of(sync);
        assert_eq!(found, fidelity, "{sync}");
        assert_eq!(why.is_empty(), fidelity == "fast", "{sync}: {why}");
        assert!(
            (ratio - 1.0).abs() < 0.02,
            "{sync}: {ratio} of what is expected"
        );
        if sync.contains("asp") {
            // A gradient of a quarter of the batch from each of the three others.
            assert!((stale - 0.75).abs() < 0.025, "{sync}: {stale}");
        }
        if sync.contains("backup") {
            assert!((dropped - 0.25).abs() < 1e-9, "{sync}: {dropped}");
        }
    }
}

/// Sixteen workers crowd a server that two do not: only the time with sixteen is simulated in events, and the record reports it.
#[test]
fn a_size_that_falls_back_to_events_is_told_of_the_whole_run() {
    let told = |prices: &str, fidelity: &str| {
        let scenario = tiny(&format!(
            "fidelity = \"{fidelity}\"\nsync.asp = {{ service_s = 0.004 }}\ncluster.workers = [2]\ncluster.vm = [\"slow\"]\n\
             elastic = {{ prices = {prices}, grow_at = 0.5, shrink_above = 1.5, most_vms = 16, fewest_vms = 2 }}\n\
             variation.step_cv = 0.2\nvariation.vm_sigma = 0.003\n"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let record = Evaluator::new(&plan).evaluate(plan.case(0));
        let fidelity = record.fidelity.expect("a result").to_owned();
        (fidelity, record.reason.contains("in some size"))
    };
    let is = |fidelity: &str, said: bool| (fidelity.to_owned(), said);
    let once = "[[0, 1], [0.1, 0.4], [0.15, 1]]";
    let twice = "[[0, 1], [0.1, 0.4], [0.15, 1], [0.2, 0.4], [0.25, 1]]";
    assert_eq!(told("[[0, 1]]", "fast"), is("fast", false));
    assert_eq!(told(once, "fast"), is("event", true));
    assert_eq!(told(twice, "fast"), is("event", true));
    assert_eq!(told(once, "event"), is("event", false));
}

#[test]
fn sizes_that_are_not_known_and_contradictions_are_refused() {
    for (text, said) in [
        (
            "cluster.workers = [4]\nsync.backup = { spare = 4 }",
            "leave none to compute",
        ),
        (
            "kind.k = { market = \"spot\" }",
            "a kind of cluster has no VMs",
        ),
        (
            "cluster.workers = [2]\nkind.k = { vm = \"slow\", market = \"spot\" }",
            "there is no `[spot]`",
        ),
        (
            "kind.k = { vm = \"slow\", mix = { quick = 2 } }",
            "`vm` and `mix` exclude each other",
        ),
        (
            "kind.slow = { vm = \"quick\" }",
            "cannot be the name of a kind",
        ),
        ("kind.k = { vm = \"slwo\" }", "did you mean `slow`?"),
        (
            "cluster.workers = [2]\nspot = { exponential_mean_h = 1, start_up = \"gcp-k80-us-eats1\" }",
            "did you mean `gcp-k80-us-east1`?",
        ),
        (
            "cluster.workers = [2]\nspot = { exponential_mean_h = 1, replacement_s = 1, start_up = \"gcp-k80-us-east1\" }",
            "exclude each other",
        ),
        (
            "cluster.workers = [2]\nspot = { lifetime = \"aws-2020-p3-trace\", checkpoint = \"dynamic\" }",
            "needs VMs that are lost each by itself",
        ),
        (
            "cluster.workers = [2]\nelastic = { prices = [[0, 1], [1, 2]], grow_at = 2, shrink_above = 1, most_vms = 4, fewest_vms = 1 }",
            "contradicts itself",
        ),
        (
            "cluster.workers = [2]\nelastic = { prices = [[1, 1]], grow_at = 1, shrink_above = 1, most_vms = 4, fewest_vms = 1 }",
            "the first step is at hour 0",
        ),
    ] {
        let wrong = load(text).expect_err(text);
        assert!(wrong.contains(said), "{text}\n{wrong}");
    }
    // Clusters that may shrink to sizes without measurements.
    let text = "workloads = [\"scavenger-resnet18\"]\n[spot]\nexponential_mean_h = 9\non_loss = \"shrink\"";
    let source = Source::new("test.toml", text);
    let mut wrong = Diagnostics::default();
    let none = scenario::load(&source, Path::new("."), Overrides::default(), &mut wrong);
    assert!(none.is_none());
    let wrong = wrong.render(false);
    assert!(wrong.contains("a size that is not known"), "{wrong}");
    assert!(wrong.contains("spot.fewest_workers"), "{wrong}");
    let text = format!("{text}\nfewest_workers = 8\n");
    let source = Source::new("test.toml", text);
    let mut wrong = Diagnostics::default();
    let found = scenario::load(&source, Path::new("."), Overrides::default(), &mut wrong);
    assert!(found.is_some(), "{}", wrong.render(false));
}

/// Advice if a cluster may reach an unknown size: never a value that is already set, and only keys of this scenario.
#[test]
fn the_remedy_for_an_unknown_size_is_one_that_is_left() {
    let said = |text: String| {
        let source = Source::new("test.toml", text);
        let mut wrong = Diagnostics::default();
        let none = scenario::load(&source, Path::new("."), Overrides::default(), &mut wrong);
        let wrong = wrong.render(false);
        assert!(none.is_none(), "{wrong}");
        assert!(wrong.contains("a size that is not known"), "{wrong}");
        // Line breaks are not tested here.
        wrong.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let measured = "workloads = [\"scavenger-resnet18\"]\n";
    let spot = "[spot]\nexponential_mean_h = 9\non_loss = \"go-on\"\n";

    let unset = said(format!("{measured}{spot}"));
    assert!(
        unset.contains("raise `spot.fewest_workers`, or set `cluster.outside"),
        "{unset}"
    );
    let set = said(format!(
        "workloads = [\"icac19-resnet32\"]\ncluster.vm = [\"k80\"]\npricing.policies = [\"paper-fixed\"]\ncluster.workers = [4]\ncluster.local_batch = [128]\n\
         cluster.outside = \"extrapolate\"\n{spot}"
    ));
    assert!(
        set.contains("no law of the workload speaks for it: raise `spot.fewest_workers`"),
        "{set}"
    );
    assert!(!set.contains("or set"), "{set}");

    let elastic = |most, fewest| {
        let prices = "prices = [[0, 1], [1, 2]]\ngrow_at = 1\nshrink_above = 1\n";
        said(format!(
            "{measured}[elastic]\n{prices}most_vms = {most}\nfewest_vms = {fewest}\n"
        ))
    };
    let grows = elastic(400, 20);
    assert!(grows.contains("lower `elastic.most_vms`"), "{grows}");
    let shrinks = elastic(20, 2);
    assert!(shrinks.contains("raise `elastic.fewest_vms`"), "{shrinks}");
    for wrong in [grows, shrinks] {
        assert!(!wrong.contains("`spot."), "{wrong}");
    }
}
