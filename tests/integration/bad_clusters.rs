//! Impossible clusters, refused as in [`bad_input`](crate::bad_input).

use insta::assert_snapshot;

use crate::bad_input::{refusal, refused, refused_workload, resnet18};
use crate::sandbox::{Sandbox, stderr};

// Configurations.

#[test]
fn more_workers_than_were_measured() {
    assert_snapshot!(refused(&resnet18("[cluster]\nworkers = [8, 24]\n")));
}

#[test]
fn a_range_of_workers_beyond_what_was_measured() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nworkers = { from = 16, to = 24, step = 4 }\n"
    )));
}

#[test]
fn a_larger_batch_than_was_measured() {
    assert_snapshot!(refused(&resnet18("[cluster]\nbatch = [512, 2048]\n")));
}

#[test]
fn workers_and_batch_beyond_what_was_measured() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nworkers = [4, 24]\nbatch = [2048]\n"
    )));
}

#[test]
fn the_same_worker_count_twice() {
    assert_snapshot!(refused(&resnet18("[cluster]\nworkers = [8, 12, 8]\n")));
}

#[test]
fn the_same_batch_twice() {
    assert_snapshot!(refused(&resnet18("[cluster]\nbatch = [512, 512]\n")));
}

#[test]
fn the_same_name_twice_in_any_list() {
    assert_snapshot!(refused(
        r#"workloads = ["scavenger-resnet18", "scavenger-resnet18"]
[cluster]
vm = ["e2-standard-4", "e2-standard-4"]
[pricing]
policies = ["paper-fixed", "paper-fixed"]
[search]
strategies = ["oracle", "oracle"]
objectives = ["time", "time"]
stored = ["scavenger-resnet18", "scavenger-resnet18"]
"#
    ));
}

#[test]
fn a_range_that_runs_backwards() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nworkers = { from = 20, to = 8 }\n"
    )));
}

#[test]
fn a_range_with_a_step_and_a_factor() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nworkers = { from = 8, to = 20, step = 4, factor = 2 }\n"
    )));
}

#[test]
fn pairs_beside_an_axis_and_an_exclusion_without_a_condition() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nworkers = [8, 12]\npairs = [[8, 384], [8, 384], [24, 512]]\nexclude = [{}]\n"
    )));
}

#[test]
fn pairs_that_are_none() {
    let told = |pairs: &str| refused(&resnet18(&format!("[cluster]\npairs = {pairs}\n")));
    let wrong = [
        "[]",
        "[[]]",
        "[[8]]",
        "[[8, 0]]",
        "[[8, 512, 3]]",
        "[[\"8\", 512], 5, {}, [8.5, 512], [[8], 512], true]",
        "[[8, 512], [8]]",
    ];
    assert_snapshot!(wrong.map(told).join("\n"));
}

#[test]
fn workers_that_no_placement_has() {
    assert_snapshot!(refused(
        "workloads = [\"pollux-bert\"]\n[cluster]\nvm = [\"g4dn.12xlarge/3-4-4\"]\nworkers = [7]\n"
    ));
}

#[test]
fn exclusions_that_leave_nothing() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nexclude = [{ workers = { max = 12 } }, { workers = { min = 13 } }]\n"
    )));
}

#[test]
fn a_range_of_billions() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nbatch = { from = 1, to = 4000000000 }\n"
    )));
}

#[test]
fn a_worker_limit_that_leaves_nothing() {
    assert_snapshot!(refused(&resnet18("[limits]\nmax_workers = 4\n")));
}

#[test]
fn a_default_outside_the_configurations() {
    assert_snapshot!(refused(&resnet18("[strategy.default]\nworkers = 9\n")));
}

#[test]
fn a_worker_count_between_rows_of_a_ragged_table() {
    let rest = "[cluster]\nworkers = [8, 14]\nbatch = [384, 768]\n";
    let sandbox = Sandbox::with(&format!("workloads = [\"./mine\"]\n{rest}"));
    sandbox.workload("mine");
    for file in ["steps", "epochs", "noise"] {
        let file = format!("mine/{file}.csv");
        let text = sandbox.read(&file);
        let kept = |line: &&str| !line.contains("16,384,") && !line.contains("20,384,");
        let lines: Vec<&str> = text.lines().filter(kept).collect();
        sandbox.write(&file, &(lines.join("\n") + "\n"));
    }
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

#[test]
fn leaving_out_the_only_workload() {
    assert_snapshot!(refused(&resnet18(
        "[search]\nstrategies = [\"universal-leave-out\"]\nstored = [\"scavenger-resnet18\"]\n"
    )));
}

// VM types that were not measured.

#[test]
fn a_stand_in_for_a_vm_type_that_was_not_measured() {
    assert_snapshot!(refused(&resnet18("vm.fast = { like = \"e2-standard-8\" }")));
}

#[test]
fn a_stand_in_with_the_name_of_a_measured_vm_type() {
    assert_snapshot!(refused(&resnet18(
        "vm.e2-standard-4 = { like = \"e2-standard-4\" }"
    )));
}

#[test]
fn scales_that_are_not_possible() {
    assert_snapshot!(refused(&resnet18(
        "[vm.a]\nlike = \"e2-standard-4\"\ncompute_scale = 0\nnetwork_scale = { from = 2, to = 1, step = 1 }\nmemory_gib = []\n"
    )));
}

#[test]
fn memory_of_a_workload_that_says_nothing_about_it() {
    assert_snapshot!(refused(
        "workloads = [\"icac19-resnet32\"]\nvm.small = { like = \"k80\", memory_gib = 8 }\n\
         pricing.policies = [\"paper-fixed\"]"
    ));
}

#[test]
fn a_local_batch_beside_a_global_one() {
    assert_snapshot!(refused(&resnet18(
        "cluster.batch = [384]\ncluster.local_batch = [48]"
    )));
}

#[test]
fn extrapolation_without_a_law() {
    assert_snapshot!(refused(&resnet18(
        "cluster.outside = \"extrapolate\"\ncluster.workers = [32]"
    )));
}

#[test]
fn laws_with_parameters_that_are_not_possible() {
    assert_snapshot!(refused_workload(|sandbox| {
        let head = sandbox.read("mine/workload.toml");
        let laws = "\n[laws.steps.\"a/b\"]\ncompute.affine = { base_s = 0.1, per_sample_s = -1 }\n\
                    communication.linear = { base_s = inf, per_worker_s = 0 }\n\
                    [laws.epochs]\nnoise-scale = { base_epochs = 0, noise_scale_samples = 5 }\n";
        sandbox.write("mine/workload.toml", &format!("{head}{laws}"));
    }));
}

#[test]
fn a_placement_that_is_none() {
    assert_snapshot!(refused_workload(|sandbox| {
        let steps = sandbox.read("mine/steps.csv");
        let damaged = steps.replacen("e2-standard-4,8", "e2-standard-4/1-2,8", 1);
        sandbox.write("mine/steps.csv", &damaged);
    }));
}

#[test]
fn more_vm_types_than_one_search_can_tell_apart() {
    assert_snapshot!(refused(&resnet18(
        "[vm.many]\nlike = \"e2-standard-4\"\ncompute_scale = { from = 1, to = 300, step = 1 }\n\
         network_scale = { from = 1, to = 300, step = 1 }\n"
    )));
}

#[test]
fn spot_vms_without_a_life_with_two_and_with_a_misspelt_one() {
    let told = |spot: &str| refused(&resnet18(&format!("[spot]\n{spot}\n")));
    assert_snapshot!(
        [
            told("keeps = \"steps\""),
            told("lifetime = \"gcp-2019\"\nexponential_mean_h = 3"),
            told("lifetme = \"gcp-2019\""),
            told("lifetime = \"gcp-2018\"\ncheckpoint = { periodic-s = 0 }"),
        ]
        .join("\n")
    );
}

// Limits on sizes, and physical limits.

/// Reported before anything is created: within a second and a few megabytes.
#[test]
fn more_of_all_than_there_may_be() {
    let told = |rest: &str| refused(&resnet18(rest));
    let many = "[cluster]\noutside = \"extrapolate\"\nworkers = { from = 1, to = 1000 }\n\
                batch = { from = 1000, to = 1999 }\n";
    let list = |count: u32| {
        let numbers: Vec<String> = (1..=count).map(|n| n.to_string()).collect();
        format!("cluster.workers = [{}]\n", numbers.join(", "))
    };
    let shown = [
        told(&format!(
            "{many}vm = [\"v\"]\n[vm.v]\nlike = \"e2-standard-4\"\n\
             compute_scale = {{ from = 1, to = 100, step = 0.01 }}\n"
        )),
        told(many),
        told(
            "replicas = 4294967295\nsearch.strategies = [\"oracle\", \"full\", \"random\"]\n\
              pricing.define = { a = { usd_per_vm_hour = 1 }, b = { usd_per_vm_hour = 2 } }\n\
              workloads2 = 1\n",
        ),
        told(
            "cluster = { outside = \"extrapolate\", workers = [2000000], batch = [2000000000] }\n",
        ),
        told("cluster.pairs = [[2000000, 512], [8, 4294967295]]\n"),
    ];
    assert_snapshot!(shown.join("\n"));
    for count in [10_001, 500_000] {
        let told = told(&list(count));
        assert!(
            told.contains("expected a list of at most 10"),
            "{}",
            &told[told.len() - 300..]
        );
    }
}

#[test]
fn values_that_no_cluster_has() {
    assert_snapshot!(refused(&resnet18(
        r#"
staleness.per_missed_batch = 1e15
cluster.start_up_s = 1e300
limits.max_time_h = 1e300
variation.drift = { sigma = 0.1, period_s = 1e-9 }
sync.asp = { servers = 2000000, service_s = 1e200, service = { cv = 1e9 } }
kind.a = { vm = "e2-standard-4", sync.flexible = { after_s = 1e9 } }
kind.b = { vm = "e2-standard-4", servers = { vm = "e2-standard-4", vms = 4000000000 } }
spot = { exponential_mean_h = 1e-9, cold_join_s = 1e15, notice_s = 1e300, checkpoint_write_s = -1, checkpoint = { periodic-s = 1e-300 } }
elastic = { prices = [[0, 1]], grow_at = 1, shrink_above = 1, most_vms = 4000000000, fewest_vms = 1 }
[vm.v]
like = "e2-standard-4"
compute_scale = 1e6
usd_per_hour = 1e8
[vm.w]
like = "e2-standard-4"
memory_gib = 1e300
[pricing.define.dear]
usd_per_vm_hour = 1e300
egress_gib = 1e300
usd_per_egress_gib = 1
[pricing.define.free]
usd_per_vm_hour = 1e-300
"#
    )));
}

#[test]
fn a_share_that_may_miss_without_a_limit_or_beyond_what_runs_tell() {
    assert_snapshot!(refused(&resnet18(
        "[limits]\nmax_miss = 0.05\nmax_workers = 12\n"
    )));
    for wrong in ["0", "1", "0.001", "0.6", "-0.05"] {
        let told = refused(&resnet18(&format!(
            "limits = {{ max_time_h = 5, max_miss = {wrong} }}\n"
        )));
        let title = "error: `max_miss`: expected a share from 0.005 to 0.5, found ";
        assert!(told.starts_with(title), "{told}");
    }
}

#[test]
fn workers_of_a_pair_that_no_mix_has() {
    let told = refused(&resnet18(
        "cluster.pairs = [[8, 512], [12, 512]]\n\
         kind.k = { mix = { e2-standard-4 = 8 } }\n",
    ));
    assert_snapshot!(told);
}

/// Sizes of a mix are in no list, so only this check reports them.
#[test]
fn a_mix_beyond_what_was_measured_has_its_reason() {
    for kinds in [
        "[kind.a]\nmix = { e2-standard-4 = 21 }\n",
        "[kind.a]\nmix = { e2-standard-4 = 65536 }\n",
        "[kind.a]\nmix = { e2-standard-4 = 21 }\n[kind.b]\nmix = { e2-standard-4 = 8 }\n",
    ] {
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"scavenger-transformer\"]\n{kinds}[cluster]\nworkers = [8]\nbatch = [1024]\n"
        ));
        let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
        assert!(told.contains("error: "), "{kinds}: {told}");
        assert!(!told.contains("a fault of scavsim"), "{kinds}: {told}");
    }
}
