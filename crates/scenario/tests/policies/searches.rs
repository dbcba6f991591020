//! `[search]` with `[policy]`: strategies that search the configurations of `job.work` while the job runs.

use std::fs;
use std::path::Path;

use super::{cost_usd, records};
use scavsim_provision::policy_run::timeline::Entry;
use scavsim_provision::policy_run::watch;
use scavsim_provision::subject::MarketPolicies;
use scavsim_provision::world::World;
use scavsim_scenario::face::{Mistakes, OwnedRecord, Scenario};

const CLUSTERS: &str = "
workloads = [\"scavenger-resnet18\"]
cluster.workers = [8, 12, 16, 20]
search.strategies = [\"oracle\"]
pricing.policies = [\"per-second\"]
";

const POLICIES: &str = "
policy.names = [\"on-demand\", \"stay\"]
search = { strategies = [\"online\", \"no-search\"], reconsider = { every_h = 2 } }
";

const CALM: &str = "
market = { run_h = 5000, pause_h = 0.2, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 6, tick_s = 60 }
";

const MEASURED: &str = "
market = { traces = \"aws-p3-parcae\" }
starts.spread = 4
";

fn opened(folder: &Path, text: &str) -> Result<Scenario, Mistakes> {
    fs::write(folder.join("work.toml"), CLUSTERS).expect("a new folder");
    let file = folder.join("scenario.toml");
    fs::write(&file, text).expect("a new folder");
    Scenario::open(&file)
}

fn text(deadline_h: f64, market: &str) -> String {
    format!(
        "job = {{ work = \"work.toml\", deadline_h = {deadline_h}, changeover_s = 180 }}\n{market}{POLICIES}"
    )
}

#[test]
fn a_search_costs_its_probes_and_then_what_its_choice_costs() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = records(&opened(folder.path(), &text(30.0, CALM)).expect("it is right"));
    let [stay, online, known] = ["stay", "online", "no-search"].map(|name| cost_usd(&all, name));
    // No search knows the averages of such jobs, and chooses like a policy that knows all speeds.
    assert!((known / stay - 1.0).abs() < 1e-6, "{known} {stay}");
    assert!(online > stay && online < 1.6 * stay, "{online} {stay}");
    // Nothing changes, so the choice stays.
    let again = cost_usd(&all, "no-search-again");
    assert!((again / known - 1.0).abs() < 1e-6, "{again} {known}");
    let in_time = |own: &OwnedRecord| own.kept_net == Some(1.0);
    assert!(all.iter().all(in_time));
}

#[test]
fn deciding_again_pays_where_machines_are_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = records(&opened(folder.path(), &text(6.0, MEASURED)).expect("it is right"));
    for name in ["online", "no-search"] {
        let (once, again) = (
            cost_usd(&all, name),
            cost_usd(&all, &format!("{name}-again")),
        );
        assert!(again < once, "{name}: {again} after {once}");
    }
    let best = cost_usd(&all, "clairvoyant");
    assert!(
        all.iter()
            .all(|own| own.strategy == "clairvoyant" || own.kept_net == Some(1.0))
    );
    assert!(cost_usd(&all, "no-search-again") > 0.999 * best);
}

#[test]
fn threads_change_no_search() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("work.toml"), CLUSTERS).expect("a new folder");
    let file = folder.path().join("scenario.toml");
    fs::write(&file, text(6.0, MEASURED)).expect("a new folder");
    let on = |threads: usize| {
        let scenario = Scenario::options().jobs(threads).open(&file);
        records(&scenario.expect("it is right"))
    };
    assert_eq!(on(1), on(3));
}

/// Decisions of a strategy before a tick, with two different futures after it.
#[test]
fn a_search_knows_nothing_of_what_comes() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = opened(folder.path(), &text(6.0, MEASURED)).expect("it is right");
    let study =
        MarketPolicies::study_of(&*scenario.checked().subject).expect("it is one of policies");
    let setting = &study.settings[0];
    let decided = |world: &World, policy: usize, until: usize| -> Vec<Entry> {
        let window = world
            .window(0, setting.ticks)
            .expect("the traces are longer");
        let mut policy = study.policy_in_life(policy, window, 0.0, 1);
        let (_, timeline) = watch(window, &setting.job, &mut *policy);
        let is_before = |entry: &Entry| entry.at_s < until as f64 * world.tick_s;
        timeline.entries.into_iter().filter(is_before).collect()
    };
    let searching = (0..study.policies.len()).filter(|&at| study.policies[at].0.contains("-again"));
    for policy in searching {
        for until in (1..30).map(|part| part * setting.ticks / 30) {
            let mut other = setting.world.clone();
            for zone in &mut other.zones {
                for tick in until..setting.ticks {
                    zone.offered[tick] = if zone.offered[tick] > 8 { 0 } else { 32 };
                    zone.spot_usd_per_h[tick] *= 1.7;
                }
            }
            let before = decided(&setting.world, policy, until);
            assert_eq!(before, decided(&other, policy, until), "{policy}, {until}");
        }
    }
}

#[test]
fn what_cannot_search_is_refused_at_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = [
        (
            "search.strategies = [\"onlin\"]",
            "unknown strategy `onlin`",
        ),
        (
            "search.strategies = [\"oracle\"]",
            "`oracle` cannot search beside these policies",
        ),
        (
            "search.reconsider.every_h = 1",
            "`search.reconsider` is of no use without `search.strategies`",
        ),
        (
            "search = { strategies = [\"online\"], reconsider.on = [\"prices\"] }",
            "`price`",
        ),
        (
            "search = { strategies = [\"online\"], reconsider.on = [] }",
            "`search.reconsider` names no occasion",
        ),
        (
            "search = { strategies = [\"online\"], reconsider.every_h = 0 }",
            "every_h",
        ),
        (
            "search = { strategies = [\"online\"], objectives = [\"time\"] }",
            "`search.objectives` and `policy` exclude each other",
        ),
    ];
    for (keys, expected) in cases {
        let job = "job = { work = \"work.toml\", deadline_h = 30 }";
        let text = format!("{job}\n{CALM}policy.names = [\"stay\"]\n{keys}\n");
        let why = opened(folder.path(), &text).expect_err(keys).to_string();
        assert!(why.contains(expected), "{keys}: {why}");
    }
    let alone = format!("job = {{ work_h = 3, deadline_h = 5 }}\n{CALM}{POLICIES}");
    let why = opened(folder.path(), &alone)
        .expect_err("no work")
        .to_string();
    assert!(
        why.contains("search the configurations of `job.work`"),
        "{why}"
    );
    let clusters = format!("{CLUSTERS}search.reconsider.every_h = 3\n");
    let why = opened(folder.path(), &clusters)
        .expect_err("no policy")
        .to_string();
    assert!(why.contains("`search.reconsider`"), "{why}");
}
