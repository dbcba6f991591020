//! Scenarios that name a measured grid: legal and illegal ones.

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, stderr, stdout};

fn refused(scenario: &str) -> String {
    let sandbox = Sandbox::with(scenario);
    stderr(&sandbox.run(&["check", "scenario.toml"]).failure().code(2))
}

#[test]
fn names_of_grids_and_jobs_that_are_none() {
    assert_snapshot!(
        refused("grid = \"scuot\"\n")
            + &refused("grid = \"trimtuner-cnn\"\njobs = [\"60000\", \"700\"]\n")
            + &refused("grid = \"./nowhere\"\n")
            + &refused("workloads = [\"scavenger-resnet18\"]\njobs = [\"a\"]\n")
    );
}

#[test]
fn keys_of_simulated_clusters_and_a_grid_exclude_each_other() {
    assert_snapshot!(refused(
        "grid = \"scout\"\nworkloads = [\"scavenger-resnet18\"]\nsync = \"bsp\"\n\
         [cluster]\nworkers = [8]\nstart_up_s = 40\n[variation]\nstep_cv = 0.1\n\
         [spot]\nexponential_mean_h = 3\n[search]\nstored = [\"scavenger-resnet18\"]\n"
    ));
}

#[test]
fn exclusions_by_an_axis_that_is_none_and_of_everything() {
    assert_snapshot!(refused(
        "grid = \"trimtuner-cnn\"\ncluster.exclude = [{ axis = { rate = 0.1 } }, { workers = { min = 1 } }]\n"
    ));
}

#[test]
fn a_policy_without_a_price_for_the_vm_types_of_a_grid() {
    assert_snapshot!(refused(
        "grid = \"scout\"\njobs = [\"kmeans_bigdata_spark15\"]\n[pricing]\n\
         policies = [\"as-measured\", \"gcp-2026-e2-spot\"]\n"
    ));
}

#[test]
fn exclusions_by_any_axis_leave_the_others() {
    let sandbox = Sandbox::with(
        "grid = \"trimtuner-cnn\"\nsearch.strategies = [\"oracle\"]\nsearch.objectives = [\"cost\"]\n\
         [cluster]\nexclude = [{ axis = { synchronism = \"async\" } }, { axis = { learning_rate = 0.001 } }]\n",
    );
    let dry = sandbox
        .run(&["run", "--dry-run", "scenario.toml"])
        .success();
    // 288 configurations, half of them asynchronous, a third of the rest at that rate.
    assert!(
        stdout(&dry).contains("96 configurations"),
        "{}",
        stdout(&dry)
    );
    sandbox
        .run(&["run", "scenario.toml", "--records", "csv", "--out", "o"])
        .success();
    let records = sandbox.read("o/records.csv");
    assert!(records.contains("synchronism=sync") && !records.contains("learning_rate=0.001;"));
}

/// A bill that depends on the run itself is no part of a choice from predicted times.
#[test]
fn prices_that_are_known_only_after_a_run_choose_nothing() {
    let sandbox = Sandbox::with(
        "grid = \"./g\"\nsearch.strategies = [\"oracle\", \"random\"]\n\
         search.objectives = [\"time\", \"cost\"]\n",
    );
    std::fs::create_dir(sandbox.path("g")).expect("the sandbox is writable");
    let texts = "title = \"t\"\nsource = \"s\"\nurl = \"u\"\nlicence = \"l\"\nnote = \"n\"\n";
    let spec = "cost_usd = \"usd\"\n[axis.workers]\nkind = \"numeric\"\nunit = \"workers\"\n\
                [figures]\ntime_s = \"time_s\"\n[probe]\ncharge = \"whole\"\n";
    sandbox.write("g/grid.toml", &format!("name = \"g\"\n{texts}{spec}"));
    sandbox.write(
        "g/rows.csv",
        "workers,time_s,usd\n1,100,3\n2,60,2\n4,50,5\n",
    );
    sandbox.run(&["run", "scenario.toml", "--records", "csv", "--out", "o"]);
    let records = sandbox.read("o/records.csv");
    let of = |objective: &str| {
        let name = format!("as-measured,{objective},random");
        let row = records.lines().find(|row| row.contains(&name));
        row.unwrap_or_else(|| panic!("{name}: {records}"))
            .to_owned()
    };
    assert!(
        of("cost").contains("failed,prices are known only after a run"),
        "{records}"
    );
    assert!(of("time").contains(",ok,"), "{records}");
}
