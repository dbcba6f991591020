//! `job.work`: the configurations of another scenario as the forms of a job.

use std::fs;
use std::path::Path;

use super::{cost_usd, records};
use scavsim_scenario::face::{Mistakes, Scenario};

const CLUSTERS: &str = "
workloads = [\"scavenger-resnet18\"]
cluster.workers = [8, 12, 16, 20]
search = { strategies = [\"oracle\"], objectives = [\"time\"] }
pricing.policies = [\"per-second\"]
";

const BAG: &str = "
bag = { jobs = 40, job_times = [{ vm = \"n1-standard-4\", vms_per_job = 2, mean_s = 600 }], parallel_jobs = [1, 2, 4] }
search.strategies = [\"oracle\"]
";

/// A training whose noise scale was measured.
const NOISE: &str = "
workloads = [\"pollux-cifar10\"]
cluster = { vm = [\"g4dn.12xlarge/4\"], workers = [4, 8], batch = [256, 1024, 4096], outside = \"leave-out\" }
pricing = { policies = [\"own\"], define.own.usd_per_vm_hour = 4 }
search.strategies = [\"oracle\"]
";

/// Plans of a model on one, two and four VMs of eight GPUs.
const PLANS: &str = "
parallel = { model = \"gpt3-2.7b\", global_batch = [512], target_tokens = 1e9, most_gpus = 32, nodes = [{ vm = \"p4d.24xlarge\" }] }
pricing = { policies = [\"own\"], define.own.usd_per_vm_hour = 30 }
search.strategies = [\"oracle\"]
";

/// Spot machines that are seldom lost, at a third of the price.
const POLICIES: &str = "
market = { run_h = 5000, pause_h = 0.2, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 6, tick_s = 60 }
policy.names = [\"on-demand\", \"greedy\", \"keep-pace\"]
";

fn with_work(folder: &Path, work: &str, job: &str) -> Result<Scenario, Mistakes> {
    fs::write(folder.join("work.toml"), work).expect("a new folder");
    let file = folder.join("scenario.toml");
    let text = format!("job = {{ work = \"work.toml\", {job} }}\n{POLICIES}");
    fs::write(&file, text).expect("a new folder");
    Scenario::open(&file)
}

/// Hours that the oracle for time expects for its choice.
fn best_h(work: &str) -> f64 {
    let text = format!("{work}\nsearch.objectives = [\"time\"]");
    let text = if work.contains("objectives") {
        work.to_owned()
    } else {
        text
    };
    let scenario = Scenario::parse(&text).expect("it is right");
    records(&scenario)[0].expected_time_h.expect("it ends")
}

#[test]
fn a_job_takes_what_its_scenario_expects() {
    for work in [CLUSTERS, NOISE, BAG, PLANS] {
        let folder = tempfile::tempdir().expect("a folder");
        let best_h = best_h(work);
        // Only the fastest form is in time.
        let job = format!("deadline_h = {}, changeover_s = 0", 1.0001 * best_h);
        let scenario = with_work(folder.path(), work, &job).expect("it is right");
        let all = records(&scenario);
        let own = all
            .iter()
            .find(|own| own.strategy == "on-demand")
            .expect("it is there");
        let hours = own.time_h.expect("it ends");
        assert!(
            (hours / best_h - 1.0).abs() < 1e-4,
            "{hours} {best_h}: {work}"
        );
        // With spare time the form with the fewest machine-hours comes first, and nothing costs more.
        let job = format!("deadline_h = {}, changeover_s = 0", 20.0 * best_h);
        let scenario = with_work(folder.path(), work, &job).expect("it is right");
        let spared = records(&scenario);
        for policy in ["on-demand", "greedy", "keep-pace"] {
            let (cost, tight) = (cost_usd(&spared, policy), cost_usd(&all, policy));
            assert!(
                cost <= 1.001 * tight,
                "{policy}: {cost} after {tight}: {work}"
            );
        }
    }
}

#[test]
fn a_batch_that_grows_with_the_noise_is_worth_something() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("work.toml"), NOISE).expect("a new folder");
    let file = folder.path().join("scenario.toml");
    let cost = |reconfigure: &str| {
        let text = format!(
            "job = {{ work = \"work.toml\", deadline_h = 1, changeover_s = 60{reconfigure} }}\n\
             market = {{ run_h = 5000, pause_h = 0.2, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 2, tick_s = 30 }}\n\
             policy.names = [\"stay\", \"follow-noise\"]\n"
        );
        fs::write(&file, text).expect("a new folder");
        let all = records(&Scenario::open(&file).expect("it is right"));
        ["stay", "follow-noise", "clairvoyant"].map(|name| cost_usd(&all, name))
    };
    // A change of the batch needs no time by default.
    let [stay, follow, known] = cost("");
    assert!(
        known <= follow && follow < 0.98 * stay,
        "{stay} {follow} {known}"
    );
    assert_eq!(cost(", reconfigure_s = 0"), [stay, follow, known]);
    let [slow_stay, slow_follow, _] = cost(", reconfigure_s = 45");
    assert!(
        slow_stay == stay && slow_follow > follow,
        "{stay} {follow}, {slow_stay} {slow_follow}"
    );
}

#[test]
fn what_can_be_no_work_is_refused_at_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |work: &str, job: &str| match with_work(folder.path(), work, job) {
        Ok(_) => panic!("accepted: {job} with {work}"),
        Err(mistakes) => mistakes.to_string(),
    };
    let cases = [
        (
            CLUSTERS,
            "deadline_h = 9, work_h = 3",
            "`job.work` and `job.work_h` exclude each other",
        ),
        (
            CLUSTERS,
            "deadline_h = 9, machines = 3",
            "`job.work` and `job.machines` exclude each other",
        ),
        (CLUSTERS, "deadline_h = 1e-3", "deadline"),
        (
            "workloads = [\"scavenger-resnet18\"]\nspot.exponential_mean_h = 3",
            "deadline_h = 9",
            "it has `[spot]`",
        ),
        (
            "workloads = [\"scavenger-resnet18\"]\nvariation.step_cv = [0.1, 0.2]",
            "deadline_h = 9",
            "it has several settings",
        ),
        (
            "workloads = [\"scavenger-resnet18\", \"scavenger-resnet50\"]",
            "deadline_h = 9",
            "it has several jobs",
        ),
        (
            "workload = [\"scavenger-resnet18\"]",
            "deadline_h = 9",
            "did you mean `workloads`?",
        ),
        (
            &format!("job = {{ work_h = 1, deadline_h = 2 }}\n{POLICIES}"),
            "deadline_h = 9",
            "it has policies of its own",
        ),
    ];
    for (work, job, expected) in cases {
        let why = refused(work, job);
        assert!(why.contains(expected), "{job} with {work}: {why}");
    }
    let own = "job = { work = \"scenario.toml\", deadline_h = 3 }\n".to_owned() + POLICIES;
    fs::write(folder.path().join("scenario.toml"), &own).expect("a new folder");
    let why = Scenario::open(folder.path().join("scenario.toml")).expect_err("it names itself");
    assert!(
        why.to_string().contains("cannot be the work of a job"),
        "{why}"
    );
    let missing = "job = { work = \"nowhere.toml\", deadline_h = 3 }\n".to_owned() + POLICIES;
    let why = Scenario::parse(&missing)
        .expect_err("there is no such file")
        .to_string();
    assert!(why.contains("there is no scenario `nowhere.toml`"), "{why}");
}
