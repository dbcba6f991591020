//! Every mistake is refused before anything is run or written, with exit code 2, and told in full:
//! the snapshots are what a user reads.

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, stderr};

/// The message with which `scavsim run` refuses, after making sure that it wrote nothing.
fn refusal(sandbox: &Sandbox, arguments: &[&str]) -> String {
    refusal_into(sandbox, arguments, "out")
}

/// The same, with results that were to go to `out`.
fn refusal_into(sandbox: &Sandbox, arguments: &[&str], out: &str) -> String {
    let before = sandbox.files(".");
    let all = [&["run"], arguments, &["--out", out]].concat();
    let assert = sandbox.run(&all).code(2).stdout("");
    assert_eq!(sandbox.files("."), before, "something was written");
    stderr(&assert)
}

/// The message about one scenario file.
fn refused(scenario: &str) -> String {
    refusal(&Sandbox::with(scenario), &["scenario.toml"])
}

/// The message about one scenario with a workload `mine` that `damage` has changed.
fn refused_workload(damage: impl Fn(&Sandbox)) -> String {
    let sandbox = Sandbox::with("workloads = [\"./mine\"]\n");
    sandbox.workload("mine");
    damage(&sandbox);
    refusal(&sandbox, &["scenario.toml"])
}

/// A sound scenario with `rest` behind.
fn resnet18(rest: &str) -> String {
    format!("workloads = [\"scavenger-resnet18\"]\n{rest}")
}

/// Without this, a copied workload that is refused for another reason would prove nothing.
#[test]
fn an_undamaged_copy_of_a_workload_is_accepted() {
    let sandbox = Sandbox::with("workloads = [\"./mine\"]\nsearch.strategies = [\"full\"]\n");
    sandbox.workload("mine");
    sandbox.run(&["check", "scenario.toml"]).success();
}

// The file itself.

#[test]
fn a_file_that_is_missing() {
    assert_snapshot!(refusal(&Sandbox::new(), &["nowhere.toml"]));
}

#[test]
fn a_folder_where_a_file_belongs() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("scenario.toml")).expect("the sandbox is writable");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

#[test]
fn a_file_that_is_not_toml_at_all() {
    assert_snapshot!(refused("workers,batch\n8,512\n"));
}

#[test]
fn a_file_that_is_not_text() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("scenario.toml"), b"\x7fELF\x02\x01\xff\n").expect("it is writable");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

#[test]
fn an_empty_file() {
    assert_snapshot!(refused(""));
}

// Keys and names.

#[test]
fn a_misspelt_key() {
    assert_snapshot!(refused(&resnet18("[variation]\nstep_vc = 0.05\n")));
}

#[test]
fn a_misspelt_table() {
    assert_snapshot!(refused(&resnet18("[serach]\nobjectives = [\"time\"]\n")));
}

#[test]
fn the_same_key_twice() {
    assert_snapshot!(refused(&resnet18("seed = 1\nseed = 2\n")));
}

#[test]
fn an_unknown_workload() {
    assert_snapshot!(refused("workloads = [\"scavenger-resnet81\"]\n"));
}

#[test]
fn an_unknown_workload_in_stored() {
    assert_snapshot!(refused(&resnet18(
        "[search]\nstored = [\"scavenger-resnet\"]\n"
    )));
}

#[test]
fn an_unknown_vm_type() {
    assert_snapshot!(refused(&resnet18("[cluster]\nvm = [\"e2-standard-8\"]\n")));
}

#[test]
fn an_unknown_strategy() {
    assert_snapshot!(refused(&resnet18(
        "[search]\nstrategies = [\"oracle\", \"partail\"]\n"
    )));
}

#[test]
fn an_unknown_policy() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"paper-fixd\"]\n"
    )));
}

#[test]
fn an_unknown_objective() {
    assert_snapshot!(refused(&resnet18("[search]\nobjectives = [\"tme\"]\n")));
}

#[test]
fn an_unknown_setting_of_a_strategy() {
    assert_snapshot!(refused(&resnet18(
        "[strategy.partial]\nextremes = \"corner\"\nprobe_step = 5\n"
    )));
}

#[test]
fn two_workloads_of_one_name() {
    let sandbox = Sandbox::with("workloads = [\"./mine\", \"scavenger-resnet18\"]\n");
    sandbox.workload("mine");
    sandbox.edit("mine/workload.toml", "\"mine\"", "\"scavenger-resnet18\"");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

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
        "[search]\nstrategies = [\"universal-leave-out\"]\n"
    )));
}

// Numbers.

#[test]
fn a_negative_price() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_vm_hour = -0.1\n"
    )));
}

#[test]
fn a_spread_that_is_not_a_number() {
    assert_snapshot!(refused(&resnet18("[variation]\nstep_cv = nan\n")));
}

#[test]
fn infinite_numbers() {
    assert_snapshot!(refused(&resnet18(
        "[cluster]\nstart_up_s = inf\n[variation]\nvm_sigma = inf\ndrift = { sigma = 0.1, period_s = inf }\n[limits]\nmax_time_h = -inf\n"
    )));
}

#[test]
fn text_where_a_number_belongs() {
    assert_snapshot!(refused(&resnet18(
        "replicas = \"many\"\n[variation]\nstep_cv = \"5 %\"\n"
    )));
}

#[test]
fn zero_replicas() {
    assert_snapshot!(refused(&resnet18("replicas = 0\n")));
}

#[test]
fn zero_replicas_on_the_command_line() {
    let sandbox = Sandbox::with(&resnet18(""));
    assert_snapshot!(refusal(&sandbox, &["scenario.toml", "--replicas", "0"]));
}

#[test]
fn empty_lists() {
    assert_snapshot!(refused(
        r#"workloads = []
[cluster]
workers = []
batch = []
[pricing]
policies = []
[search]
strategies = []
objectives = []
stored = []
"#
    ));
}

#[test]
fn a_policy_with_two_base_prices() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_vm_hour = 0.1\nusd_per_sample_hour = 0.1\n"
    )));
}

#[test]
fn a_policy_without_a_base_price() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\ngranularity_s = 60\n"
    )));
}

#[test]
fn a_listed_price_on_a_day_without_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"paper-fixed\", \"mine\"]\n[pricing.define.mine]\n\
         catalogue = \"spot\"\nprovider = \"gcp\"\nregion = \"us-central1\"\ndate = \"2022-06-01\"\n"
    )));
}

#[test]
fn a_listed_price_in_a_region_without_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\n\
         catalogue = \"on-demand\"\nprovider = \"gcp\"\nregion = \"us-east1\"\ndate = \"2022-06-01\"\n"
    )));
}

#[test]
fn a_price_per_vcpu_of_a_vm_type_of_unknown_size() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\n\
         usd_per_vcpu_hour = 0.02\nusd_per_gib_hour = 0.003\npriced_as = \"e2-standard-64\"\n"
    )));
}

/// A policy that charges the listed price of another VM type.
fn listed(market: &str, provider: &str, region: &str, date: &str, vm: &str) -> String {
    resnet18(&format!(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\ncatalogue = \"{market}\"\n\
         provider = \"{provider}\"\nregion = \"{region}\"\ndate = \"{date}\"\npriced_as = \"{vm}\"\n"
    ))
}

#[test]
fn a_spot_price_of_a_gpu_that_nobody_lists() {
    assert_snapshot!(refused(&listed(
        "spot",
        "aws",
        "us-east-1",
        "2026-07-20",
        "g4dn.xlarge"
    )));
}

#[test]
fn a_commitment_price_on_a_day_without_one() {
    assert_snapshot!(refused(&listed(
        "commitment-1y",
        "aws",
        "us-east-1",
        "2026-07-20",
        "p3.2xlarge"
    )));
}

#[test]
fn a_listed_price_of_another_providers_vm_type() {
    assert_snapshot!(refused(&listed(
        "on-demand",
        "gcp",
        "us-central1",
        "2026-07-30",
        "g4dn.xlarge"
    )));
}

#[test]
fn a_price_per_gpu_of_a_vm_type_without_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_gpu_hour = 0.35\n"
    )));
}

#[test]
fn spot_series_that_are_none() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"one\", \"two\", \"three\", \"four\"]\n\
         [pricing.define.one]\nusd_per_vm_hour = 1\nspot_series = [[1, 0.3]]\n\
         [pricing.define.two]\nusd_per_vm_hour = 1\nspot_series = [[0, 0.3], [5, 0.4], [5, 0.5]]\n\
         [pricing.define.three]\nusd_per_vm_hour = 1\nspot_series = [[0, 0], [-1, 0.4]]\n\
         [pricing.define.four]\nusd_per_vm_hour = 1\nfree_first_hour_if_revoked = true\n"
    )));
}

#[test]
fn wrong_figures_and_days_of_a_policy() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\n\
         catalogue = \"spots\"\ndate = \"2022-02-30\"\nspot_ratio = 1.2\n\
         commitment_discount = 1\nsustained_use = [1, 0.8, -0.6]\n\
         billed_parameter_servers = -1\nusd_per_vcpu_hour = -0.1\n"
    )));
}

#[test]
fn a_quantity_of_egress_without_a_price_and_a_negative_one_of_storage() {
    assert_snapshot!(refused(&resnet18(
        "[pricing.define.one]\nusd_per_vm_hour = 1\negress_gib = 5\n\
         [pricing.define.two]\nusd_per_vm_hour = 1\nstorage_gib = -5\n"
    )));
}

#[test]
fn discounts_that_exclude_each_other() {
    assert_snapshot!(refused(&resnet18(
        "[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_vm_hour = 0.2\n\
         spot_ratio = 0.3\nsustained_use = [1, 0.8, 0.6, 0.4]\n"
    )));
}

#[test]
fn a_policy_without_a_price_beside_one_with_a_wrong_one() {
    assert_snapshot!(refused(&resnet18(
        "[pricing.define.one]\nusd_per_vm_hour = -1\n[pricing.define.two]\nminimum_s = 60\n"
    )));
}

// Workload folders.

#[test]
fn a_workload_folder_that_does_not_exist() {
    assert_snapshot!(refused("workloads = [\"./nowhere\"]\n"));
}

#[test]
fn a_workload_folder_without_its_epochs() {
    assert_snapshot!(refused_workload(|sandbox| {
        fs::remove_file(sandbox.path("mine/epochs.csv")).expect("it is there");
    }));
}

#[test]
fn a_table_without_a_column() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/epochs.csv",
        "workers,batch,epochs,",
        "workers,batch,passes,",
    )));
}

#[test]
fn text_where_a_number_belongs_in_a_table() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/steps.csv",
        "8,768,2.8142,",
        "8,768,2.8142 s,",
    )));
}

#[test]
fn a_figure_that_is_not_a_number_in_a_table() {
    assert_snapshot!(refused_workload(|sandbox| {
        sandbox.edit("mine/noise.csv", "8,384,0.7868,", "8,384,NaN,");
        sandbox.edit("mine/epochs.csv", "8,384,230.4,", "8,384,inf,");
    }));
}

#[test]
fn the_same_point_twice_in_a_table() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/epochs.csv",
        "8,512,197.29",
        "8,384,197.29",
    )));
}

#[test]
fn a_row_with_a_cell_too_many() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/epochs.csv",
        "8,512,197.29,figure",
        "8,512,197.29,,figure",
    )));
}

#[test]
fn a_table_without_rows() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.write(
        "mine/steps.csv",
        "vm,workers,batch,step_s,communication_s,origin,source\n",
    )));
}

#[test]
fn steps_that_cannot_be_split() {
    assert_snapshot!(refused_workload(|sandbox| {
        for (row, communication) in [
            ("0.8692,", "0.376"),
            ("1.1959,", "0.397"),
            ("1.5434,", "0.493"),
            ("2.0363,", "0.620"),
        ] {
            sandbox.edit("mine/steps.csv", &format!("{row}{communication}"), row);
        }
    }));
}

#[test]
fn a_workload_constant_below_its_least() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/workload.toml",
        "{ value = 20,",
        "{ value = 0,",
    )));
}

#[test]
fn a_workload_table_that_is_not_toml() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/workload.toml",
        "model = \"ResNet18\"",
        "model = ResNet18",
    )));
}

// Where the results go.

#[test]
fn a_file_where_the_output_folder_belongs() {
    let sandbox = Sandbox::with(&resnet18("search.strategies = [\"oracle\"]\n"));
    sandbox.write("out", "mine");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
    assert_eq!(sandbox.read("out"), "mine");
}

#[test]
fn an_output_folder_below_a_file() {
    let sandbox = Sandbox::with(&resnet18("search.strategies = [\"oracle\"]\n"));
    sandbox.write("out", "mine");
    let told = refusal_into(&sandbox, &["scenario.toml"], "out/below");
    assert!(
        told.starts_with("error: cannot write to out/below: "),
        "{told}"
    );
}

#[cfg(unix)]
#[test]
fn an_output_folder_that_is_not_writable() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with(&resnet18("search.strategies = [\"oracle\"]\n"));
    fs::create_dir(sandbox.path("out")).expect("the sandbox is writable");
    let rights = |mode| {
        let rights = fs::Permissions::from_mode(mode);
        fs::set_permissions(sandbox.path("out"), rights).expect("it is ours");
    };
    rights(0o555);
    if fs::write(sandbox.path("out/probe"), "").is_ok() {
        eprintln!("not tested: this user may write anywhere");
        return;
    }
    let told = refusal(&sandbox, &["scenario.toml"]);
    rights(0o755);
    assert!(
        told.starts_with("error: cannot write to out: Permission denied"),
        "{told}"
    );
}

#[test]
fn two_scenarios_that_would_write_to_one_folder() {
    let scenario = resnet18("name = \"same\"\nsearch.strategies = [\"oracle\"]\n");
    let sandbox = Sandbox::with(&scenario);
    sandbox.write("other.toml", &scenario);
    assert_snapshot!(refusal(&sandbox, &["scenario.toml", "other.toml"]));
}

#[test]
fn a_scenario_name_that_leads_out_of_the_output_folder() {
    let sandbox = Sandbox::with(&resnet18(
        "name = \"../elsewhere\"\nsearch.strategies = [\"oracle\"]\n",
    ));
    sandbox.write(
        "other.toml",
        &resnet18("search.strategies = [\"oracle\"]\n"),
    );
    assert_snapshot!(refusal(&sandbox, &["scenario.toml", "other.toml"]));
}

// Files that are included.

/// A scenario that includes `base.toml`, of this text.
fn including(base: &str) -> Sandbox {
    let sandbox = Sandbox::with(&resnet18("include = \"base.toml\"\n"));
    sandbox.write("base.toml", base);
    sandbox
}

#[test]
fn an_included_file_that_is_missing() {
    let sandbox = including("include = [\"./prices.toml\"]\n");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

#[test]
fn an_include_that_is_no_path() {
    assert_snapshot!(refused(&resnet18("include = [\"\", 5]\n")));
}

#[test]
fn files_that_include_each_other() {
    let sandbox = including("seed = 1\ninclude = \"./other.toml\"\n");
    sandbox.write("other.toml", "include = [\"base.toml\", \"other.toml\"]\n");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

#[test]
fn included_files_without_workloads() {
    let sandbox = including("seed = 1\n");
    sandbox.write("scenario.toml", "include = \"base.toml\"\n");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

/// Those of form in values that do not hold are told, too; a path starts at its own file.
#[test]
fn mistakes_of_all_files_of_a_scenario_are_reported_together() {
    let sandbox = Sandbox::with("include = \"parts/base.toml\"\nreplicas = 3\nsed = 4\n");
    fs::create_dir(sandbox.path("parts")).expect("the sandbox is writable");
    sandbox.write(
        "parts/base.toml",
        r#"include = "broken.toml"
replicas = 0
workloads = ["scavenger-resnet18", "./nowhere"]

[cluster]
workers = [8, 24]

[variation]
step_cv = -1

[search]
strategies = ["full", "genie", "full"]
"#,
    );
    sandbox.write(
        "parts/broken.toml",
        "fidelity = fast\n\n[pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nminimum_s = 60\n",
    );
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

// Many at once.

#[test]
fn all_mistakes_of_a_file_are_reported_at_once() {
    let sandbox = Sandbox::with(
        r#"sed = 1
replicas = 0
workloads = ["scavenger-resnet18", "./mine", "resnet50"]

[cluster]
workers = [8, 24]

[variation]
step_cv = nan

[pricing]
policies = ["paper-fixed", "free"]
define.free = { usd_per_vm_hour = 0 }

[search]
strategies = ["full", "genie"]
objectives = ["cost", "fame"]
"#,
    );
    sandbox.workload("mine");
    sandbox.edit("mine/noise.csv", "8,384,0.7868,", "8,384,high,");
    assert_snapshot!(refusal(&sandbox, &["scenario.toml"]));
}

#[test]
fn mistakes_of_several_files_are_reported_together() {
    let sandbox = Sandbox::with("workloads = [\"resnet\"]\n");
    sandbox.write(
        "sound.toml",
        &resnet18("search.strategies = [\"oracle\"]\n"),
    );
    sandbox.write("other.toml", &resnet18("replica = 3\n"));
    assert_snapshot!(refusal(
        &sandbox,
        &["scenario.toml", "sound.toml", "nowhere.toml", "other.toml"]
    ));
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
    assert_snapshot!(refused(&resnet18(
        "vm.small = { like = \"e2-standard-4\", memory_gib = 8 }"
    )));
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

// How much of all there may be, and what is physical.

/// Told before anything of it is made: within a second and a few megabytes.
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
sync.asp = { servers = 2000000, service_s = 1e200, sharpness = 1e9 }
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

#[test]
fn names_that_terminals_obey_or_spreadsheets_compute() {
    let all = r#"
name = "a\u001b[31m"
[vm." v"]
like = "e2-standard-4"
[vm."=1+1"]
like = "e2-standard-4"
[kind."a\nb"]
vm = "e2-standard-4"
[pricing.define.""]
usd_per_vm_hour = 1
[pricing.define."=cmd|' /C calc'!A0"]
usd_per_vm_hour = 1
[pricing.define."a\u202eb"]
usd_per_vm_hour = 1
"#;
    assert_snapshot!(refused(&resnet18(all)));
    assert_snapshot!(
        "names_in_workloads",
        refused_workload(|sandbox| {
            sandbox.edit("mine/workload.toml", "name = \"mine\"", "name = \"@sum(\"");
            let steps = sandbox.read("mine/steps.csv");
            let steps = steps.replacen("e2-standard-4,8,384", "\u{1b}[31me2,8,384", 1);
            let steps = steps.replacen("e2-standard-4,8,512", "=2+5,8,512", 1);
            sandbox.write("mine/steps.csv", &steps);
        })
    );
}

// Files that have no end.

#[cfg(unix)]
#[test]
fn files_that_are_none() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::with(&resnet18("include = \"./zero\"\n"));
    symlink("/dev/zero", sandbox.path("zero")).expect("it can be linked");
    let pipe = std::process::Command::new("mkfifo")
        .arg(sandbox.path("pipe"))
        .status();
    assert!(pipe.is_ok_and(|made| made.success()), "a pipe can be made");
    sandbox.write("other.toml", &resnet18("include = \"./pipe\"\n"));
    sandbox.write("third.toml", "workloads = [\"./mine\"]\n");
    sandbox.workload("mine");
    fs::remove_file(sandbox.path("mine/epochs.csv")).expect("it is there");
    symlink(sandbox.path("pipe"), sandbox.path("mine/epochs.csv")).expect("it can be linked");
    let files = ["scenario.toml", "other.toml", "third.toml", "pipe", "zero"];
    assert_snapshot!(refusal(&sandbox, &files));
}
