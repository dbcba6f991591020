//! The files in `results/` with the output of the shipped scenarios.

use scavsim::pricing::RentedVmType;
use scavsim::scenario::ClusterScenario as _;

use crate::reproduction::assert_current;
use crate::sandbox::repository_file;

/// Output of `scavsim run` for a scenario, in a format.
fn printed(scenario: &str, form: &str) -> String {
    printed_for(&[scenario], form)
}

/// Output for several scenarios.
fn printed_for(scenarios: &[&str], form: &str) -> String {
    said(&[&["run"], scenarios, &["--format", form]].concat())
}

/// Output of a command.
fn said(arguments: &[&str]) -> String {
    let output = assert_cmd::Command::cargo_bin("scavsim")
        .expect("the binary is built")
        .env("SCAVSIM_PRICES", "builtin")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .expect("it starts");
    // Some strategies may have no result; the table shows which.
    assert!(matches!(output.status.code(), Some(0 | 3)));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The price of 10⁹ tokens on each kind of VM, with each reaction.
const REACTIONS: [&str; 2] = [
    "scenarios/llm-reactions.toml",
    "scenarios/llm-reactions-70b.toml",
];
const REACTIONS_OPTIONS: [&str; 4] = ["--best-of-each-vm", "--runs", "20", "--wide"];

#[test]
#[ignore = "takes minutes; .ci/run runs it where plans changed"]
fn all_reactions_in_results_are_current() {
    let text = said(&[&["rank"], &REACTIONS[..], &REACTIONS_OPTIONS].concat());
    assert_current("llm-reactions.txt", &text);
}

/// Two of the reactions on both models, the larger one on its minimum number of VMs: their tables equal those among all.
#[test]
fn some_reactions_in_results_are_current() {
    let stored = repository_file("results/llm-reactions.txt");
    let some = "parallel.reaction.policy=[\"wait\", \"drop-replica\"]";
    let fewer: [&[&str]; 2] = [
        &[],
        &["-s", "parallel.vms=16", "-s", "parallel.pipeline=[2,4]"],
    ];
    for (scenario, fewer) in REACTIONS.into_iter().zip(fewer) {
        let command = [&["rank", scenario], &REACTIONS_OPTIONS[..], &["-s", some]];
        let text = said(&[command.concat(), fewer.to_vec()].concat());
        let tables = text
            .split("\n\n")
            .filter(|part| part.starts_with("llm-reactions"));
        assert_eq!(tables.clone().count(), 2, "{text}");
        for table in tables {
            // The fastest among all may use more VMs.
            let rows = table.split("Best for ").next().expect("there is one");
            assert!(
                stored.contains(rows),
                "results/llm-reactions.txt lacks\n{rows}"
            );
        }
    }
}

#[test]
fn the_failures_of_fleets_in_results_are_current() {
    let fleet = ["rank", "scenarios/llm-fleet.toml", "--runs", "40", "--wide"];
    let restarts = ["rank", "scenarios/llm-restarts.toml", "--runs", "40"];
    let plans = [
        "rank",
        "scenarios/llm-re-plan.toml",
        "--runs",
        "40",
        "--top",
        "1",
    ];
    let all = [&fleet[..], &restarts, &plans];
    let texts = all.map(|command| format!("$ scavsim {}\n{}", command.join(" "), said(command)));
    assert_current("llm-fleet.txt", &texts.join("\n"));
}

#[test]
fn the_main_scenario_in_results_is_current() {
    assert_current(
        "scavenger.txt",
        &printed("scenarios/scavenger.toml", "table"),
    );
}

/// Effects of the error of noise readings, which is an assumption.
#[test]
fn the_errors_of_noise_readings_in_results_are_current() {
    let tables = [0, 2, 5, 10].map(|percent| {
        let scenario = format!("scenarios/noise-{percent}.toml");
        format!("$ scavsim run {scenario}\n{}", printed(&scenario, "table"))
    });
    assert_current("noise.txt", &tables.join("\n"));
}

#[test]
fn the_choice_among_gpu_machines_in_results_is_current() {
    assert_current(
        "gpu-catalogue.txt",
        &printed("scenarios/gpu-catalogue.toml", "table"),
    );
}

#[test]
fn the_thousands_of_clusters_in_results_are_current() {
    assert_current(
        "thousands.txt",
        &printed("scenarios/thousands.toml", "table"),
    );
}

#[test]
fn the_clusters_and_prices_in_results_are_current() {
    assert_current(
        "clusters-and-prices.txt",
        &printed("scenarios/clusters-and-prices.toml", "table"),
    );
}

#[test]
fn the_spot_vms_in_results_are_current() {
    assert_current("spot.txt", &printed("scenarios/spot.toml", "table"));
}

#[test]
fn the_search_of_markets_in_results_is_current() {
    assert_current("markets.txt", &printed("scenarios/markets.toml", "table"));
}

#[test]
fn the_parallel_plans_in_results_are_current() {
    for name in ["llm-plans", "llm-availability"] {
        let path = format!("scenarios/{name}.toml");
        assert_current(&format!("{name}.txt"), &printed(&path, "table"));
    }
}

#[test]
fn the_bags_of_jobs_in_results_are_current() {
    assert_current("bags.txt", &printed("scenarios/bags.toml", "table"));
}

#[test]
fn the_peers_on_a_measured_grid_in_results_are_current() {
    assert_current("peers.txt", &printed("scenarios/peers.toml", "table"));
}

#[test]
fn the_set_ups_within_limits_in_results_are_current() {
    assert_current("set-ups.txt", &printed("scenarios/set-ups.toml", "table"));
}

#[test]
fn the_costs_of_spot_clusters_in_results_are_current() {
    let scenarios = [
        "scenarios/spot-can-cost-more.toml",
        "scenarios/spot-without-checkpoints.toml",
    ];
    assert_current(
        "spot-can-cost-more.txt",
        &printed_for(&scenarios, "clusters"),
    );
}

#[test]
fn the_stragglers_in_results_are_current() {
    let scenarios = [
        "scenarios/stragglers-rare.toml",
        "scenarios/stragglers-frequent.toml",
    ];
    assert_current("stragglers.txt", &printed_for(&scenarios, "clusters"));
}

#[test]
fn the_parameter_servers_in_results_are_current() {
    let scenarios = [
        "scenarios/server-bottleneck.toml",
        "scenarios/server-bottleneck-chief.toml",
    ];
    assert_current(
        "server-bottleneck.txt",
        &printed_for(&scenarios, "clusters"),
    );
}

#[test]
fn the_flexible_barriers_in_results_are_current() {
    let scenarios = ["scenarios/flexible.toml", "scenarios/flexible-outside.toml"];
    assert_current("flexible.txt", &printed_for(&scenarios, "clusters"));
}

#[test]
fn the_synchronisation_on_spot_vms_in_results_is_current() {
    let scenarios = [
        "scenarios/spot-synchronisation.toml",
        "scenarios/spot-synchronisation-free.toml",
    ];
    assert_current(
        "spot-synchronisation.txt",
        &printed_for(&scenarios, "clusters"),
    );
}

#[test]
fn the_unequal_workers_in_results_are_current() {
    let scenarios = [
        "scenarios/unequal-workers.toml",
        "scenarios/shared-workers.toml",
    ];
    assert_current("unequal-workers.txt", &printed_for(&scenarios, "clusters"));
}

#[test]
fn the_state_on_disks_in_results_is_current() {
    assert_current(
        "out-of-core.txt",
        &printed("scenarios/out-of-core.toml", "clusters"),
    );
}

/// Savings by changes of size, and the clusters without them.
#[test]
fn the_elastic_clusters_in_results_are_current() {
    let tables = ["elastic", "elastic-fixed"].map(|name| {
        let command = [
            "rank",
            &format!("scenarios/{name}.toml"),
            "--objective",
            "cost",
        ];
        format!("$ scavsim {}\n{}", command.join(" "), said(&command))
    });
    assert_current("elastic.txt", &tables.join("\n"));
}

/// It claims a thousand configurations of each workload.
#[test]
fn the_scenario_of_gpu_machines_chooses_among_thousands() {
    let text = include_str!("../../scenarios/gpu-catalogue.toml");
    for (workload, configurations) in super::replay::scenario(text).workloads() {
        let count = configurations.len();
        assert!(count >= 1000, "{}: {count}", workload.name);
    }
}

#[test]
fn the_pricing_policies_in_results_are_current() {
    let scenario = "scenarios/pricing-policies.toml";
    assert_current("pricing-policies.txt", &printed(scenario, "policies"));
}

/// A new policy must be added there, too, if the measured VM type has a price under it.
#[test]
fn the_scenario_of_pricing_policies_names_all_of_them() {
    let text = include_str!("../../scenarios/pricing-policies.toml");
    let mut named: Vec<String> = (super::replay::scenario(text).policies.into_iter())
        .map(|policy| policy.name)
        .collect();
    named.sort();
    let builtin = scavsim::pricing::builtin::policies().0;
    let fleet = scavsim::cloud::Fleet::listed();
    let builtin: Vec<String> = (builtin.into_iter())
        .filter(|policy| {
            policy
                .tariff(&[RentedVmType::as_priced("e2-standard-4")], &fleet)
                .is_ok()
        })
        .map(|policy| policy.name)
        .collect();
    assert_eq!(named, builtin);
}
