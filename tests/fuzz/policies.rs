//! Policies that decide during a run: scenarios with `[policy]`, markets over time, and imported traces.

use std::path::Path;

use scavsim::experiment::{Evaluator, Plan, Status};
use scavsim::input::{Diagnostics, Folder, Source};
use scavsim::scenario::{Overrides, load};
use scavsim_import::{market, trial};
use scavsim_provision::subject::MarketPolicies;
use scavsim_provision::world::written::WrittenMarket;

use super::Target;
use super::inputs::taken;
use super::seeds::{Files, corpus, each_toml, folders, text_of};

pub fn targets() -> Vec<Target> {
    vec![
        Target::new("policies", 60, studies(), study),
        Target::new("markets", 40, markets(), own_market),
        Target::new(
            "market-traces",
            80,
            corpus("market-traces"),
            imported_market,
        ),
    ]
}

/// Maximum ticks of a life, and the number of settings and lives that are run. An estimate of memory is never below 1e8 bytes.
const MOST_TICKS: usize = 2_000;
const MOST_BYTES: f64 = 8e8;
const MOST_SETTINGS: usize = 3;
const MOST_LIVES: u64 = 2;

/// Two zones of each shipped market: reading all of them would be slow.
fn markets() -> Vec<Files> {
    const KEPT: [&str; 5] = [
        "p3,",
        "us-east-1a,",
        "us-west-2c,",
        "us-east-1,us-west-2,",
        "us-west-2,us-east-1,",
    ];
    let small = |(name, contents): (String, Vec<u8>)| {
        let text = String::from_utf8(contents).expect("it is text");
        let lines = text.split_inclusive('\n').enumerate();
        let is_kept = |line: &str| KEPT.iter().any(|start| line.starts_with(start));
        let kept = lines.filter(|(at, line)| *at == 0 || !name.ends_with(".csv") || is_kept(line));
        let kept: String = kept.map(|(_, line)| line).collect();
        (name, kept.into_bytes())
    };
    let all = folders("data/markets").into_iter();
    all.map(|files| files.into_iter().map(small).collect())
        .collect()
}

/// Each shipped study, with the scenario that is its work.
fn studies() -> Vec<Files> {
    let works = [
        "gpt2-plans.toml",
        "cifar10-batches.toml",
        "imagenet-t4.toml",
    ];
    let works = works.map(|name| (name, text_of(&format!("scenarios/policies/{name}"))));
    let mut all = each_toml("scenarios/policies", "scenario.toml");
    all.retain(|files| works.iter().all(|(_, work)| files[0].1 != work.as_bytes()));
    for files in &mut all {
        let text = String::from_utf8_lossy(&files[0].1).into_owned();
        let taken = works.iter().filter(|(name, _)| text.contains(name));
        files.extend(taken.map(|(name, work)| ((*name).to_owned(), work.clone().into_bytes())));
    }
    all
}

fn study(folder: &Path) -> bool {
    let mut wrong = Diagnostics::default();
    let source = Source::read(&folder.join("scenario.toml"), &mut wrong);
    source.is_some_and(|source| run_lives(&source, folder, wrong).is_some())
}

/// Runs a few lives of a study if they are short; returns their number over all policies. `None` if the study is refused.
fn run_lives(
    source: &std::sync::Arc<Source>,
    folder: &Path,
    mut wrong: Diagnostics,
) -> Option<usize> {
    let scenario = load(source, folder, Overrides::default(), &mut wrong);
    let scenario = taken(scenario, &wrong)?;
    let Some(study) = MarketPolicies::study_of(&*scenario.subject) else {
        return Some(0);
    };
    let size = study.size();
    if size.ticks > MOST_TICKS || size.bytes > MOST_BYTES || !study.programs().is_empty() {
        return Some(0);
    }
    let plan = Plan::new(&scenario).expect("it is checked");
    let mut evaluator = Evaluator::new(&plan);
    let (settings, lives) = (plan.arena_count().min(MOST_SETTINGS) as u64, plan.replicas);
    let few = lives.min(MOST_LIVES) * plan.cases_per_simulation();
    let all = lives * plan.cases_per_simulation();
    let mut done = 0;
    for number in (0..settings).flat_map(|setting| setting * all..setting * all + few) {
        let record = evaluator.evaluate(plan.case(number));
        let all = [
            record.cost_usd,
            record.late_h,
            record.spot_h,
            record.on_demand_h,
            record.lost_vms,
            record.launches,
        ];
        let is_sound = all
            .iter()
            .all(|figure| figure.is_some_and(|figure| figure >= 0.0));
        assert!(
            record.is_finite() && (is_sound || record.status != Status::Ok),
            "{record:?}"
        );
        done += usize::from(record.status == Status::Ok);
    }
    Some(done)
}

/// A user's market, under some policies.
fn own_market(folder: &Path) -> bool {
    lives_on_market(folder).is_some()
}

/// Runs a few lives on a user's market; `None` if it is refused, or too short for a life.
fn lives_on_market(folder: &Path) -> Option<usize> {
    let mut wrong = Diagnostics::default();
    let market = WrittenMarket::read(&Folder::Disk(folder.to_owned()), &mut wrong);
    let market = taken(market, &wrong)?;
    let ticks = market.world.ticks();
    for zone in &market.world.zones {
        assert_eq!(
            (zone.offered.len(), zone.spot_usd_per_h.len()),
            (ticks, ticks)
        );
        assert!(
            zone.spot_usd_per_h.iter().all(|usd| *usd > 0.0),
            "{}",
            zone.name
        );
    }
    // As long as some of its ticks.
    let tick_h = market.world.tick_s / 3600.0;
    let text = format!(
        "job = {{ work_h = {:?}, deadline_h = {:?}, changeover_s = {:?}, checkpoint_gb = 1 }}\n\
         market.traces = \".\"\nstarts.spread = 2\n\
         policy.names = [\"on-demand\", \"greedy\", \"uniform-progress\", \"skynomad\", \"cost-to-go\"]\n",
        4.3 * tick_h,
        7.9 * tick_h,
        900.0 * tick_h,
    );
    let source = Source::new("scenario", text);
    run_lives(&source, folder, Diagnostics::default())
}

/// Imported traces are a valid market.
fn imported_market(folder: &Path) -> bool {
    let files = super::seeds::files_of(folder).into_iter();
    let options = market::MarketOptions {
        files: files.map(|(name, _)| folder.join(name)).collect(),
        name: "own".to_owned(),
        on_demand_usd_per_h: 3.0,
        spot_usd_per_h: Some(1.0),
        egress_usd_per_gb: Some(0.02),
        source: Some("a test".to_owned()),
        licence: None,
    };
    let mut wrong = Diagnostics::default();
    let imported = taken(market::read(&options, &mut wrong), &wrong);
    let Some(imported) = imported else {
        return false;
    };
    assert!(!imported.report.to_string().is_empty());
    let made = trial::folder(&imported.files, folder);
    taken(WrittenMarket::read(&made, &mut wrong), &wrong).is_some()
}

/// Each seed is accepted, and lives of some are run: otherwise the target would find nothing.
#[test]
fn lives_of_shipped_studies_and_markets_are_run() {
    let in_folder = |files: Files, lives: fn(&Path) -> Option<usize>| {
        let folder = tempfile::TempDir::new().expect("the temporary directory is writable");
        for (name, contents) in files {
            std::fs::write(folder.path().join(name), contents).expect("it is writable");
        }
        lives(folder.path()).expect("it is shipped")
    };
    let in_study = |folder: &Path| {
        let mut wrong = Diagnostics::default();
        let source = Source::read(&folder.join("scenario.toml"), &mut wrong)?;
        run_lives(&source, folder, wrong)
    };
    let of_studies: Vec<usize> = studies()
        .into_iter()
        .map(|files| in_folder(files, in_study))
        .collect();
    let of_markets = markets()
        .into_iter()
        .map(|files| in_folder(files, lives_on_market));
    let of_markets: Vec<usize> = of_markets.collect();
    let has_lives = |lives: &[usize]| lives.iter().all(|&lives| lives > 0);
    assert!(
        has_lives(&of_studies) && has_lives(&of_markets),
        "{of_studies:?}, {of_markets:?}"
    );
}
