//! Every mistake is refused before anything is run or written, with exit code 2, and reported in full: the snapshots are what
//! a user reads.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::{Sandbox, stderr, stdout};

/// The message with which `scavsim run` refuses, after a check that it wrote nothing.
pub fn refusal(sandbox: &Sandbox, arguments: &[&str]) -> String {
    refusal_into(sandbox, arguments, "out")
}

/// The refusal of a run with results in `out`.
fn refusal_into(sandbox: &Sandbox, arguments: &[&str], out: &str) -> String {
    let before = sandbox.files(".");
    let all = [&["run"], arguments, &["--out", out]].concat();
    let assert = sandbox.run(&all).code(2).stdout("");
    assert_eq!(sandbox.files("."), before, "something was written");
    stderr(&assert)
}

/// The message about one scenario file.
pub fn refused(scenario: &str) -> String {
    refusal(&Sandbox::with(scenario), &["scenario.toml"])
}

/// The message about one scenario with a workload `mine` changed by `damage`.
pub fn refused_workload(damage: impl Fn(&Sandbox)) -> String {
    let sandbox = Sandbox::with("workloads = [\"./mine\"]\n");
    sandbox.workload("mine");
    damage(&sandbox);
    refusal(&sandbox, &["scenario.toml"])
}

/// A valid scenario followed by `rest`.
pub fn resnet18(rest: &str) -> String {
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

// Kinds: one word, or a table of its settings.

/// A kind with settings where a scenario may name it.
struct Kind {
    /// The key, with dots.
    place: String,
    name: String,
    settings: Value,
}

/// All kinds with settings that a scenario may name, from the schema.
fn kinds() -> Vec<Kind> {
    let schema = stdout(&Sandbox::new().run(&["schema"]).success());
    let schema = serde_json::from_str(&schema).expect("it is JSON");
    let mut kinds = Vec::new();
    kinds_below(&schema, &schema, "", &mut kinds);
    assert!(kinds.len() > 10, "{} kinds", kinds.len());
    kinds
}

fn kinds_below(root: &Value, schema: &Value, place: &str, kinds: &mut Vec<Kind>) {
    let own = resolved(root, schema);
    let below = |key: &str| match place {
        "" => key.to_owned(),
        place => format!("{place}.{key}"),
    };
    for (key, value) in own["properties"].as_object().into_iter().flatten() {
        kinds_below(root, value, &below(key), kinds);
    }
    if own["additionalProperties"].is_object() {
        kinds_below(root, &own["additionalProperties"], &below("x"), kinds);
    }
    let choices = ["anyOf", "oneOf"].map(|word| own[word].as_array());
    for choice in choices.into_iter().flatten().flatten() {
        let keys = choice["properties"].as_object();
        let only = keys.filter(|keys| keys.len() == 1 && choice["required"].is_array());
        if let Some((name, settings)) = only.and_then(|keys| keys.iter().next()) {
            kinds.push(Kind {
                place: place.to_owned(),
                name: name.clone(),
                settings: resolved(root, settings).clone(),
            });
        }
        kinds_below(root, choice, place, kinds);
    }
}

/// The referenced schema.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let name = schema["$ref"].as_str();
    let meant = name.and_then(|name| root.pointer(name.trim_start_matches('#')));
    meant.unwrap_or(schema)
}

/// The names of kinds in Rust.
const IN_RUST: [&str; 4] = ["variant", "newtype", "sequence", "struct "];

#[test]
fn every_kind_that_is_named_without_its_settings_says_what_it_needs() {
    for Kind {
        place,
        name,
        settings,
    } in kinds()
    {
        let told = refused(&resnet18(&format!("{place} = \"{name}\"\n")));
        assert!(told.contains(&format!("`{name}` needs ")), "{told}");
        for required in settings["required"].as_array().into_iter().flatten() {
            let key = required.as_str().expect("a key");
            assert!(told.contains(&format!("{key} = ...")), "{key}: {told}");
        }
        for word in IN_RUST {
            assert!(!told.contains(word), "{word}: {told}");
        }
    }
}

#[test]
fn no_kind_takes_a_list_for_its_settings() {
    let tables = kinds()
        .into_iter()
        .filter(|kind| kind.settings["type"] == "object");
    for Kind { place, name, .. } in tables {
        let told = refused(&resnet18(&format!("{place} = {{ {name} = [3, 0.1] }}\n")));
        let expected = format!("error: `{name}`: expected a table, found a list\n");
        assert!(told.contains(&expected), "{told}");
    }
}

#[test]
fn kinds_of_which_too_little_or_too_much_is_said() {
    assert_snapshot!(refused(&resnet18(
        r#"sync = "ssp"
[sync_of]
a = { bsp = { slack = 3 } }
b = { bps = { slack = 3 } }
c = { ssp = {}, bsp = {} }
[spot]
checkpoint = "periodic-s"
[cluster]
exclude = [{ workers.min = 20, axis.cores = [1] }]
"#
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

/// Mistakes of form in overridden values are reported, too; a path is relative to its own file.
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
define.free = { usd_per_vm_hour = -1 }

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

// Files without an end.

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
