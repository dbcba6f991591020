//! What people write: scenarios, workload folders, and tables for the importers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use scavsim::Interrupt;
use scavsim::cloud::{Date, Market, PriceTable, RentalPlace};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::import::prices::skypilot;
use scavsim::import::{Imported, grid, layers, mlperf, pollux, profile};
use scavsim::input::{Diagnostics, Folder, Source};
use scavsim::parallel::{
    LayerProfile, Links, NodeKind, ParallelPlan, PreparedPlan, Runtime, Schedule,
};
use scavsim::scenario::{Given, Overrides, Scenario, load_with};

use super::{Files, Target, corpus, files_of};

/// How long the cases of an input are run: a long simulation is no fault.
const PATIENCE: Duration = Duration::from_millis(20);
/// Cases of an input that are run, at most.
const MOST_CASES: u64 = 12;

pub fn targets() -> Vec<Target> {
    let target = |name, share, read: fn(&Path)| Target {
        name,
        share,
        read: Box::new(read),
        seeds: corpus(name),
    };
    let mut scenarios = target("scenario", 20, scenario);
    scenarios.seeds.extend(shipped_scenarios());
    vec![
        scenarios,
        Target {
            name: "workload",
            share: 100,
            read: Box::new(workload),
            seeds: shipped("data/workloads")
                .iter()
                .map(|folder| files_of(folder))
                .collect(),
        },
        target("profile", 200, imported_profile),
        target("pollux", 120, imported_pollux),
        target("mlperf", 120, imported_mlperf),
        target("grid", 160, imported_grid),
        target("layers", 80, imported_layers),
        target("prices", 200, prices),
    ]
}

/// What is in a folder of this repository.
pub fn shipped(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("it is checked in");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    paths.sort();
    paths.retain(|path| path.is_dir() || path.extension().is_some_and(|ending| ending == "toml"));
    paths
}

fn shipped_scenarios() -> Vec<Files> {
    let files = shipped("scenarios")
        .into_iter()
        .filter(|path| path.is_file());
    files
        .map(|path| {
            vec![(
                "scenario.toml".to_owned(),
                fs::read(path).expect("it is readable"),
            )]
        })
        .collect()
}

fn scenario(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let Some(source) = Source::read(&folder.join("scenario.toml"), &mut diagnostics) else {
        return;
    };
    run(&source, folder, &Given::default(), diagnostics);
}

/// A scenario that is read is run for a moment; whether it was read without a mistake.
fn run(
    source: &std::sync::Arc<Source>,
    folder: &Path,
    given: &Given,
    mut diagnostics: Diagnostics,
) -> bool {
    let scenario = load_with(
        source,
        folder,
        Overrides::default(),
        given,
        &mut diagnostics,
    );
    // Every mistake can be shown.
    let told = diagnostics.render(true);
    match scenario {
        Some(scenario) if diagnostics.is_empty() => {
            evaluate(&scenario);
            true
        }
        _ => {
            assert!(!told.is_empty(), "refused without a reason");
            false
        }
    }
}

/// Runs some of its cases for a moment.
pub fn evaluate(scenario: &Scenario) {
    let interrupt = Interrupt::default();
    let (raised, start) = (interrupt.clone(), Instant::now());
    let alarm = std::thread::spawn(move || {
        std::thread::park_timeout(PATIENCE);
        raised.raise();
    });
    let plan = Plan::heeding(scenario, &interrupt);
    if !interrupt.is_raised() {
        let plan = plan.unwrap_or_else(|why| panic!("checked, but it cannot be planned: {why}"));
        let mut evaluator = Evaluator::new(&plan);
        let every = plan.cases().div_ceil(MOST_CASES).max(1);
        for number in (0..plan.cases()).step_by(every as usize) {
            let record = evaluator.evaluate(plan.case(number));
            if interrupt.is_raised() {
                break;
            }
            assert!(record.is_finite(), "a figure is not finite: {record:?}");
            for figure in [record.time_h, record.cost_usd, record.search_time_h] {
                assert!(figure.is_none_or(|figure| figure >= 0.0), "{record:?}");
            }
        }
    }
    alarm.thread().unpark();
    assert!(alarm.join().is_ok(), "{:?}", start.elapsed());
}

/// A scenario of the workload `own`.
fn scenario_of(files: Vec<(String, String)>) -> bool {
    let given = Given {
        workloads: vec![(
            "own".to_owned(),
            Folder::Memory {
                name: "own".to_owned(),
                files: files.into_iter().collect(),
            },
        )],
        ..Given::default()
    };
    let text = "workloads = [\"own\"]\nreplicas = 2\nvariation = { step_cv = 0.1, noise_cv = 0.05, epoch_cv = 0.02 }\n";
    run(
        &Source::new("scenario", text),
        Path::new("."),
        &given,
        Diagnostics::default(),
    )
}

fn workload(folder: &Path) {
    let files = files_of(folder).into_iter();
    // What is not UTF-8 is refused where files are read.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    scenario_of(files.map(|(name, bytes)| (name, text(bytes))).collect());
}

/// What an import accepts, a run accepts.
fn accepted(imported: Option<Imported>, diagnostics: &Diagnostics) {
    let told = diagnostics.render(true);
    let Some(imported) = imported.filter(|_| diagnostics.is_empty()) else {
        assert!(!told.is_empty(), "refused without a reason");
        return;
    };
    let files = imported.draft.files().expect("it is written to memory");
    let files = files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text));
    assert!(!imported.report.to_string().is_empty());
    scenario_of(files.collect());
}

fn imported_profile(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let options = profile::ProfileOptions {
        file: folder.join("profile.csv"),
        name: "own".to_owned(),
        samples_per_epoch: 50_000,
        epochs: None,
        unit: None,
        batch: None,
        cold_start_steps: None,
        probe_steps: None,
        restore_s: None,
        parameters: None,
        prior: Default::default(),
    };
    accepted(profile::read(&options, &mut diagnostics), &diagnostics);
}

fn imported_pollux(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let options = pollux::PolluxOptions {
        folder: folder.to_owned(),
        application: None,
        vm: pollux::VM.to_owned(),
        name: "own".to_owned(),
        ..pollux::PolluxOptions::default()
    };
    accepted(pollux::read(&options, &mut diagnostics), &diagnostics);
}

/// A catalogue of SkyPilot, whose table is read back, and a table of one's own.
fn prices(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let options = skypilot::SkypilotOptions {
        folders: vec![folder.to_owned()],
        dates: vec!["2026-11-20".to_owned()],
        attach: vec!["n1-standard-8+T4:1".to_owned()],
        ..skypilot::SkypilotOptions::default()
    };
    let imported = skypilot::read(&options, &mut diagnostics).expect("it is written to memory");
    let told = diagnostics.render(true);
    match imported {
        None => assert!(!told.is_empty(), "refused without a reason"),
        Some(imported) => {
            let mut wrong = Diagnostics::default();
            let table = PriceTable::read(&Source::new("t", imported.text), &mut wrong);
            assert!(table.is_some(), "{}", wrong.render(false));
        }
    }
    let mut diagnostics = Diagnostics::default();
    let Some(source) = Source::read(&folder.join("prices.csv"), &mut diagnostics) else {
        return;
    };
    let table = PriceTable::read(&source, &mut diagnostics);
    assert_eq!(table.is_some(), diagnostics.is_empty());
    let day = Date::parse("2026-11-20").expect("a day");
    for market in table.iter().flat_map(|_| Market::ALL) {
        let place = RentalPlace::default();
        let _ = (table.as_ref()).map(|t| t.usd_per_hour("v", market, &place, day));
        let series = (table.as_ref()).map(|t| t.series("v", market, &place, day));
        let rises = |steps: Vec<(f64, f64)>| steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(series.is_none_or(|series| series.is_err() || series.is_ok_and(rises)));
    }
}

fn imported_mlperf(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let options = mlperf::MlperfOptions {
        rcps: vec![folder.join("rcp.json")],
        runs: Some(folder.join("runs.csv")),
        choice: mlperf::runs::RunFilter {
            submitter: None,
            accelerator: None,
            round: None,
        },
        vm: None,
        name: "own".to_owned(),
    };
    accepted(mlperf::read(&options, &mut diagnostics), &diagnostics);
}

fn imported_grid(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let options = grid::GridOptions {
        file: folder.join("rows.csv"),
        spec: folder.join("grid.toml"),
    };
    let imported = grid::read(&options, &mut diagnostics).expect("it is written to memory");
    let told = diagnostics.render(true);
    let Some(imported) = imported.filter(|_| diagnostics.is_empty()) else {
        assert!(!told.is_empty(), "refused without a reason");
        return;
    };
    let written = folder.join("own");
    std::fs::create_dir(&written).expect("it is writable");
    for (name, text) in &imported.files {
        std::fs::write(written.join(name), text).expect("it is writable");
    }
    assert!(!imported.report.to_string().is_empty());
    let source = Source::new("scenario", "grid = \"./own\"\nreplicas = 2\n");
    run(&source, folder, &Given::default(), Diagnostics::default());
}

fn imported_layers(folder: &Path) {
    let mut diagnostics = Diagnostics::default();
    let links = Source::read(&folder.join("links.csv"), &mut diagnostics)
        .and_then(|source| Links::read(&source, &mut diagnostics));
    for (times, memory, own_links) in [
        ("times.csv", "memory.csv", None),
        ("profiles.json", "info.json", Some("coefficients.json")),
    ] {
        let options = layers::LayersOptions {
            times: folder.join(times),
            memory: folder.join(memory),
            links: own_links.map(|name| folder.join(name)),
            model: None,
            name: "own".to_owned(),
            sequence: 2048,
            hidden: 1024,
            bytes_per_value: 4.0,
            optimizer_bytes: 8.0,
            source: None,
            licence: None,
        };
        let mut diagnostics = Diagnostics::default();
        let imported = layers::read(&options, &mut diagnostics);
        assert_eq!(imported.is_some(), diagnostics.is_empty());
        let Some(imported) = imported else { continue };
        assert!(!imported.report.to_string().is_empty());
        let (links_text, files) = match imported.files.split_at_checked(3) {
            Some((files, links)) => (links.first(), files),
            None => continue,
        };
        let memory = Folder::Memory {
            name: "own".to_owned(),
            files: files.iter().cloned().collect(),
        };
        let profile = LayerProfile::load(&memory, &mut diagnostics).expect("it was read before");
        let own = links_text
            .and_then(|(_, text)| Links::read(&Source::new("own", text.clone()), &mut diagnostics));
        if let Some(links) = own.as_ref().or(links.as_ref()) {
            plans(&profile, links);
        }
    }
}

/// All plans of up to three stages and two replicas: computed, or refused with a reason.
pub fn plans(profile: &LayerProfile, links: &Links) {
    let gpus: Vec<&str> = profile.gpus().take(2).collect();
    for (gpu, stages) in gpus
        .iter()
        .flat_map(|gpu| (1..=3).map(move |stages| (*gpu, stages)))
    {
        let nodes = [NodeKind {
            name: gpu.into(),
            gpu: gpu.into(),
            gpus_per_node: 2,
            memory_gib: Some(1e6),
            zone: "zone".into(),
        }];
        for tensor in profile.tensor_degrees(gpu).into_iter().take(2) {
            for micro_batch in profile.micro_batches(gpu, tensor).into_iter().take(2) {
                let slots = vec![(gpu, tensor); stages];
                let Some(cuts) = profile.even_cuts(&slots, micro_batch) else {
                    continue;
                };
                let kinds = vec![0; stages];
                let batch = micro_batch.saturating_mul(8);
                for &schedule in Schedule::ALL {
                    let plan = ParallelPlan::even(
                        &nodes,
                        &kinds,
                        &cuts,
                        2,
                        tensor,
                        micro_batch,
                        batch,
                        schedule,
                    );
                    let runtime = Runtime::default();
                    let prepared =
                        plan.and_then(|p| PreparedPlan::new(profile, links, &nodes, &runtime, &p));
                    match prepared {
                        Ok(prepared) => assert!(prepared.step_s() >= 0.0),
                        Err(misfit) => assert!(!misfit.to_string().is_empty()),
                    }
                }
            }
        }
    }
}
