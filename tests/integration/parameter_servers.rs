//! Parameter servers in scenarios: steps that include their own service, and refused values.

use crate::sandbox::{Sandbox, stderr};

/// Workers on V100 with a step of 0.0693 s alone, with one server.
fn servers(workers: u32, sync: &str, rest: &str) -> String {
    format!(
        "workloads = [\"icac19-resnet32\"]\nseed = 1\nreplicas = 20\n{rest}\n\
         sync.asp = {{ {sync} }}\n\
         [cluster]\nvm = [\"v100\"]\nworkers = [{workers}]\nlocal_batch = [128]\noutside = \"extrapolate\"\nstart_up_s = 0\n\
         [pricing]\npolicies = [\"free\"]\n[pricing.define.free]\ndescription = \"none\"\nusd_per_vm_hour = 1\n\
         [search]\nstrategies = [\"oracle\"]\nobjectives = [\"time\"]\n"
    )
}

/// Mean hours of a scenario's runs.
fn mean_h(scenario: &str) -> f64 {
    let sandbox = Sandbox::with(scenario);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let rows = crate::sandbox::Rows::parse(&sandbox.read("out/records.csv"));
    let hours: Vec<f64> = rows.iter().map(|row| row.number("time_h")).collect();
    hours.iter().sum::<f64>() / hours.len() as f64
}

const MEASURED: &str = "service_s = 0.0222, service = { cv = 1.1 }, step_includes_service = true";

/// 4,436 s of 64,000 steps were measured with a single worker.
#[test]
fn a_worker_alone_takes_its_measured_step_if_that_holds_the_service() {
    for fidelity in ["event", "fast"] {
        let fidelity = format!("fidelity = \"{fidelity}\"");
        let alone_s = 3600.0 * mean_h(&servers(1, MEASURED, &fidelity));
        assert!(
            (alone_s / 4436.2 - 1.0).abs() < 0.002,
            "{fidelity}: {alone_s}"
        );
        let on_top = "service_s = 0.0222, service = { cv = 1.1 }";
        let on_top_s = 3600.0 * mean_h(&servers(1, on_top, &fidelity));
        let expected_s = 4436.2 + 64_000.0 * 0.0222;
        assert!(
            (on_top_s / expected_s - 1.0).abs() < 0.002,
            "{fidelity}: {on_top_s}"
        );
    }
}

/// One model in both: with 2, 4 and 8 workers, where the server is half busy and full.
#[test]
fn waiting_for_servers_is_the_same_in_all_fidelities() {
    for workers in [2, 4, 8] {
        let of = |fidelity: &str| {
            mean_h(&servers(
                workers,
                MEASURED,
                &format!("fidelity = \"{fidelity}\""),
            ))
        };
        let (event, fast) = (of("event"), of("fast"));
        assert!(
            (fast / event - 1.0).abs() < 0.004,
            "{workers}: {event} {fast}"
        );
    }
}

#[test]
fn a_step_that_is_shorter_than_its_service_is_refused() {
    let sync = "service_s = 0.07, step_includes_service = true";
    let sandbox = Sandbox::with(&servers(4, sync, ""));
    let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(said.contains("has no time to compute"), "{said}");
    assert!(said.contains("a step of 0.069 s holds 0.070 s"), "{said}");
    let fewer = "service_s = 0.13, servers = 2, step_includes_service = true";
    let sandbox = Sandbox::with(&servers(4, fewer, ""));
    sandbox.run(&["check", "scenario.toml"]).success();
}

#[test]
fn a_scenario_from_before_says_what_to_write_instead() {
    let sandbox = Sandbox::with(&servers(4, "service_s = 0.02, sharpness = 3.5", ""));
    let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(said.contains("unknown key `sharpness`"), "{said}");
    assert!(said.contains("`sharpness` is `service` now"), "{said}");
    assert!(said.contains("step_includes_service = true"), "{said}");
}
