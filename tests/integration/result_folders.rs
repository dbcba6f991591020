//! Folders of results: their owner, and no remains of another run.

use crate::sandbox::{Sandbox, assert_same_files, stderr};

/// A scenario with `[policy]` of 50 lives.
pub const POLICIES: &str = "job = { work_h = 5, deadline_h = 7, changeover_s = 600 }\n\
    market = { run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 50 }\n\
    policy.names = [\"greedy\", \"cost-to-go\"]\n";

const SEARCH: &str = "workloads = [\"scavenger-resnet18\"]\nreplicas = 2\n\
    search = { strategies = [\"oracle\", \"random\"], objectives = [\"time\"] }\n";

const RUN_LIVES: [&str; 4] = ["run", "lives.toml", "--out", "out"];
const RUN_SEARCH: [&str; 4] = ["run", "search.toml", "--out", "out"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("lives.toml", POLICIES);
    sandbox.write("search.toml", SEARCH);
    sandbox
}

fn overwriting<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--overwrite"]].concat()
}

#[test]
fn runs_and_comparisons_do_not_write_into_the_results_of_each_other() {
    let sandbox = sandbox();
    let refused = |arguments: &[&str], holds: &str| {
        let before = sandbox.contents("out");
        let told = stderr(&sandbox.run(arguments).code(2));
        assert!(told.contains(&format!("out holds {holds}")), "{told}");
        assert_same_files(&sandbox.contents("out"), &before, "refused");
    };
    let compare = ["compare", "search.toml", "--out", "out"];
    sandbox.run(&RUN_SEARCH).success();
    refused(&compare, "a finished run of `search`");
    // A finished run is replaced by another.
    sandbox.run(&RUN_LIVES).success();
    let files = ["manifest.json", "records.csv", "summary.csv"];
    assert_eq!(sandbox.files("out"), files);
    refused(&compare, "a finished run of `lives`");
    // An unfinished one is resumed, or discarded.
    let rows = sandbox.contents("out")["records.csv"].len();
    sandbox.kill("out", rows);
    refused(&RUN_SEARCH, "a run of `lives` that is not finished");
    sandbox.run(&overwriting(&RUN_SEARCH)).success();
    assert_eq!(sandbox.files("out"), files);
    sandbox
        .run(&["compare", "search.toml", "--out", "compared"])
        .success();
    let run = ["run", "search.toml", "--out", "compared"];
    let told = stderr(&sandbox.run(&run).code(2));
    assert!(
        told.contains("finished results (kind: comparison)"),
        "{told}"
    );
}
