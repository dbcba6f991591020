//! Kinds of clusters: their own lifetimes, and workers on scaled VM types.

use crate::sandbox::{Sandbox, stderr};

/// A scenario of one kind of cluster, two workers, where the loss of the first ends the run.
fn of_kind(spot: &str, kind: &str, rest: &str) -> String {
    format!(
        "workloads = [\"icac19-resnet32\"]\nseed = 1\nreplicas = 200\n{rest}\n\
         [cluster]\nworkers = [2]\nlocal_batch = [128]\noutside = \"extrapolate\"\n\
         [search]\nstrategies = [\"oracle\"]\nobjectives = [\"time\"]\n[pricing]\npolicies = [\"paper-fixed\"]\n\
         [spot]\n{spot}\non_loss = \"shrink\"\nkeeps = \"steps\"\nchief = \"ends-the-run\"\n\
         [kind.pair]\nmarket = \"spot\"\nsync.asp = {{ service_s = 0.02, service = {{ cv = 0.5 }} }}\n{kind}\n"
    )
}

const ROBUST: &str = "exponential_mean_h = 1e9";

#[test]
fn the_own_life_of_a_kind_takes_the_place_of_the_scenarios() {
    let stays = Sandbox::with(&of_kind(ROBUST, "vm = \"v100\"", ""));
    stays.run(&["run", "scenario.toml"]).success();
    let own = "vm = \"v100\"\nlifetime = \"icac19-v100\"";
    let fails = Sandbox::with(&of_kind(ROBUST, own, ""));
    let said = stderr(&fails.run(&["run", "scenario.toml"]).failure());
    // 2 V100 train for 40 min, in which one of three is lost.
    let lost: u32 = (said.split(" cases have no result").next())
        .and_then(|head| head.split_whitespace().last()?.parse().ok())
        .expect("a number of cases");
    assert!((40..=90).contains(&lost), "{said}");
}

#[test]
fn lives_of_a_kind_do_not_mix_with_losses_of_several_vms_at_once() {
    for (spot, own) in [
        ("lifetime = \"aws-2020-p3-batch\"", "icac19-v100"),
        (ROBUST, "aws-2020-p3-batch"),
    ] {
        let kind = format!("vm = \"v100\"\nlifetime = \"{own}\"");
        let sandbox = Sandbox::with(&of_kind(spot, &kind, ""));
        let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
        assert!(
            said.contains("lives of its own among VMs that are lost together"),
            "{said}"
        );
        // The possible ones, the most similar first.
        let help =
            "`aws-2020-p3-batch` takes several VMs at once; each by itself: `aws-2020-k80-probes`,";
        assert!(said.contains(help), "{said}");
    }
    let sandbox = Sandbox::with(&of_kind(ROBUST, "vm = \"v100\"\nlifetime = \"icac\"", ""));
    let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(said.contains("unknown lifetime `icac`"), "{said}");
}

#[test]
fn spot_says_nothing_of_lives_where_every_spot_kind_does() {
    let robust = "vm = \"v100\"\nlifetime = \"icac19-v100\"";
    let rows = |spot: &str, kinds: &str| {
        let sandbox = Sandbox::with(&of_kind(spot, kinds, ""));
        let run = sandbox.run(&["run", "scenario.toml", "--out", "out"]);
        assert!(
            run.get_output()
                .status
                .code()
                .is_some_and(|code| code == 0 || code == 3)
        );
        sandbox.read("out/records.csv")
    };
    // A kind whose `[spot]` is equal for all.
    let with = rows("lifetime = \"icac19-v100\"", robust);
    assert_eq!(rows("", robust), with);
    // On demand no VM is lost.
    let mixed = format!("{robust}\n[kind.stays]\nvm = \"v100\"");
    rows("", &mixed);
    let other = format!("{robust}\n[kind.other]\nmarket = \"spot\"\nvm = \"v100\"");
    let named =
        of_kind("", robust, "").replace("[cluster]\n", "[cluster]\nvm = [\"pair\", \"k80\"]\n");
    for text in [
        of_kind("", "vm = \"v100\"", ""),
        of_kind("", &other, ""),
        named,
    ] {
        let sandbox = Sandbox::with(&text);
        let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
        assert!(
            said.contains("`spot` does not say how long VMs live"),
            "{said}"
        );
    }
}

#[test]
fn workers_of_a_kind_may_be_on_vm_types_that_stand_in() {
    let slow = "[vm.slow]\nlike = \"v100\"\ncompute_scale = 2";
    for kind in ["vm = \"slow\"", "mix = { v100 = 1, slow = 1 }"] {
        let sandbox = Sandbox::with(&of_kind(ROBUST, kind, slow));
        sandbox.run(&["run", "scenario.toml"]).success();
    }
}

#[test]
fn stale_gradients_without_a_price_are_pointed_out_once() {
    let said = |rest: &str| {
        let sandbox = Sandbox::with(&of_kind(ROBUST, "vm = \"v100\"", rest));
        stderr(&sandbox.run(&["run", "scenario.toml"]).success())
    };
    let note =
        "stale gradients under `asp` cost nothing, as no `staleness.per_missed_batch` is set";
    assert_eq!(said("").matches(note).count(), 1, "{}", said(""));
    for price in ["0", "0.1"] {
        let priced = said(&format!("staleness.per_missed_batch = {price}"));
        assert!(!priced.contains("stale gradients"), "{priced}");
    }
    // The former name of the price per update.
    let old = Sandbox::with(&of_kind(
        ROBUST,
        "vm = \"v100\"",
        "staleness.per_missed_update = 0.1",
    ));
    let said = stderr(&old.run(&["check", "scenario.toml"]).code(2));
    assert!(
        said.contains("`per_missed_update` is `per_missed_batch` now"),
        "{said}"
    );
}
