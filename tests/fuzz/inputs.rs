//! Input of users: scenarios, workload folders, price packs, and tables for the importers.

use std::path::Path;
use std::time::{Duration, Instant};

use scavsim::Interrupt;
use scavsim::cloud::{Catalogue, Date, Market, Offer, Pack, PriceTable, RentalPlace, pack_notes};
use scavsim::experiment::{Evaluator, Plan};
use scavsim::input::{Diagnostics, Folder, Source};
use scavsim::parallel::{
    LayerProfile, Links, NodeKind, ParallelPlan, PreparedPlan, Runtime, Schedule,
};
use scavsim::scenario::{Extensions, Overrides, Scenario, load_with};
use scavsim_import::prices::skypilot;
use scavsim_import::{ImportResult, grid, layers, profile};

use super::Target;
use super::seeds::{corpus, each_toml, files_of, folders};

/// Time limit for the cases of an input: a long simulation is no fault.
const PATIENCE: Duration = Duration::from_millis(20);
/// Maximum number of cases of an input that are run.
const MOST_CASES: u64 = 12;

pub fn targets() -> Vec<Target> {
    let of = |name| corpus(name);
    let scenarios = [of("scenario"), each_toml("scenarios", "scenario.toml")].concat();
    vec![
        Target::new("scenario", 20, scenarios, scenario),
        Target::new("workload", 100, folders("data/workloads"), workload),
        Target::new("profile", 200, of("profile"), imported_profile),
        Target::new("grid", 160, of("grid"), imported_grid),
        Target::new("layers", 80, of("layers"), imported_layers),
        Target::new("prices", 200, of("prices"), prices),
        Target::new("packs", 100, of("packs"), pack),
    ]
}

/// The value that was read, if there is no mistake; otherwise there is a reason, which can be printed.
pub fn taken<T>(read: Option<T>, wrong: &Diagnostics) -> Option<T> {
    let read = read.filter(|_| wrong.is_empty());
    // Also in colours.
    let told = [wrong.render(true), wrong.render(false)];
    assert!(
        read.is_some() || told.iter().all(|told| !told.is_empty()),
        "refused without a reason"
    );
    let is_raw = |c: char| c.is_control() && !"\n\t".contains(c);
    assert!(!told[1].contains(is_raw), "raw: {:?}", told[1]);
    read
}

/// Runs work that checks an interrupt for a moment.
pub fn for_a_moment<T>(work: impl FnOnce(&Interrupt) -> T) -> T {
    let interrupt = Interrupt::default();
    let (raised, start) = (interrupt.clone(), Instant::now());
    let alarm = std::thread::spawn(move || {
        std::thread::park_timeout(PATIENCE);
        raised.raise();
    });
    let done = work(&interrupt);
    alarm.thread().unpark();
    assert!(alarm.join().is_ok(), "{:?}", start.elapsed());
    done
}

fn scenario(folder: &Path) -> bool {
    let mut diagnostics = Diagnostics::default();
    let source = Source::read(&folder.join("scenario.toml"), &mut diagnostics);
    let Some(source) = taken(source, &diagnostics) else {
        return false;
    };
    run(&source, folder, &Extensions::default(), diagnostics)
}

/// Runs a valid scenario for a moment; returns whether it was valid.
fn run(
    source: &std::sync::Arc<Source>,
    folder: &Path,
    given: &Extensions,
    mut diagnostics: Diagnostics,
) -> bool {
    let scenario = load_with(
        source,
        folder,
        Overrides::default(),
        given,
        &mut diagnostics,
    );
    let scenario = taken(scenario, &diagnostics);
    scenario.iter().for_each(evaluate);
    scenario.is_some()
}

/// Runs some of its cases for a moment.
pub fn evaluate(scenario: &Scenario) {
    for_a_moment(|interrupt| {
        let plan = Plan::heeding(scenario, interrupt);
        if interrupt.is_raised() {
            return;
        }
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
    });
}

/// A scenario of the workload `own`, with additional lines.
fn scenario_of(files: Vec<(String, String)>, more: &str) -> bool {
    let given = Extensions {
        workloads: vec![(
            "own".to_owned(),
            Folder::Memory {
                name: "own".to_owned(),
                files: files.into_iter().collect(),
            },
        )],
        ..Extensions::default()
    };
    let text = "workloads = [\"own\"]\nreplicas = 2\nvariation = { step_cv = 0.1, noise_cv = 0.05, epoch_cv = 0.02 }\n";
    run(
        &Source::new("scenario", format!("{text}{more}")),
        Path::new("."),
        &given,
        Diagnostics::default(),
    )
}

fn workload(folder: &Path) -> bool {
    let files = files_of(folder).into_iter();
    // Invalid UTF-8 is refused where files are read.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let files = files.map(|(name, bytes)| (name, text(bytes)));
    scenario_of(files.collect(), "")
}

/// A scenario reads or refuses everything that an import accepts.
fn run_imported(imported: Option<ImportResult>, diagnostics: &Diagnostics) -> bool {
    let Some(imported) = taken(imported, diagnostics) else {
        return false;
    };
    let files = imported.draft.files().expect("it is written to memory");
    let files = files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text));
    assert!(!imported.report.to_string().is_empty());
    // Its VMs may have no price.
    scenario_of(files.collect(), "pricing.policies = [\"paper-fixed\"]\n")
}

fn imported_profile(folder: &Path) -> bool {
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
        run: profile::RunDescription::default(),
    };
    run_imported(profile::read(&options, &mut diagnostics), &diagnostics)
}

/// A catalogue of SkyPilot, whose table is read back, and a user's own table.
fn prices(folder: &Path) -> bool {
    let mut diagnostics = Diagnostics::default();
    let options = skypilot::SkypilotOptions {
        folders: vec![folder.to_owned()],
        dates: vec!["2026-11-20".to_owned()],
        attach: vec!["n1-standard-8+T4:1".to_owned()],
        ..skypilot::SkypilotOptions::default()
    };
    let imported = skypilot::read(&options, &mut diagnostics).expect("it is written to memory");
    if let Some(imported) = taken(imported, &diagnostics) {
        let mut wrong = Diagnostics::default();
        let table = PriceTable::read(&Source::new("t", imported.text), &mut wrong);
        assert!(table.is_some(), "{}", wrong.render(false));
    }
    let mut diagnostics = Diagnostics::default();
    let source = Source::read(&folder.join("prices.csv"), &mut diagnostics);
    let Some(source) = taken(source, &diagnostics) else {
        return false;
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
    taken(table, &diagnostics).is_some()
}

/// A price pack in addition to the shipped prices: it adds to them and changes none.
fn pack(folder: &Path) -> bool {
    let mut diagnostics = Diagnostics::default();
    let read = Pack::read(folder, &mut diagnostics);
    let Some(pack) = taken(read, &diagnostics) else {
        return false;
    };
    let shipped = Catalogue::embedded().0;
    assert!(
        pack_notes::notes(&pack, shipped)
            .iter()
            .all(|note| !note.is_empty())
    );
    for price in &pack.prices {
        assert!(
            price.usd_per_hour > 0.0 && price.valid_from <= price.valid_to,
            "{price:?}"
        );
    }
    let own = pack.prices.len();
    let all = shipped.with(pack);
    assert!((shipped.prices.len()..=shipped.prices.len() + own).contains(&all.prices.len()));
    for known in shipped.prices.iter().step_by(97) {
        let offer = Offer {
            provider: known.provider.to_string(),
            region: known.region.to_string(),
            market: known.market,
            date: known.valid_from,
        };
        assert_eq!(
            all.price(&known.vm, &offer),
            shipped.price(&known.vm, &offer)
        );
    }
    true
}

fn imported_grid(folder: &Path) -> bool {
    let mut diagnostics = Diagnostics::default();
    let options = grid::GridOptions {
        file: folder.join("rows.csv"),
        spec: folder.join("grid.toml"),
    };
    let imported = grid::read(&options, &mut diagnostics).expect("it is written to memory");
    let Some(imported) = taken(imported, &diagnostics) else {
        return false;
    };
    let written = folder.join("own");
    std::fs::create_dir(&written).expect("it is writable");
    for (name, text) in &imported.files {
        std::fs::write(written.join(name), text).expect("it is writable");
    }
    assert!(!imported.report.to_string().is_empty());
    let source = Source::new("scenario", "grid = \"./own\"\nreplicas = 2\n");
    run(
        &source,
        folder,
        &Extensions::default(),
        Diagnostics::default(),
    )
}

fn imported_layers(folder: &Path) -> bool {
    let mut diagnostics = Diagnostics::default();
    let links = Source::read(&folder.join("links.csv"), &mut diagnostics)
        .and_then(|source| Links::read(&source, &mut diagnostics));
    let options = layers::LayersOptions {
        times: folder.join("times.csv"),
        memory: folder.join("memory.csv"),
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
    let Some(imported) = taken(imported, &diagnostics) else {
        return false;
    };
    assert!(!imported.report.to_string().is_empty());
    let memory = Folder::Memory {
        name: "own".to_owned(),
        files: imported.files.into_iter().collect(),
    };
    let profile = LayerProfile::load(&memory, &mut diagnostics).expect("it was read before");
    if let Some(links) = links {
        plans(&profile, &links);
    }
    true
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
                for schedule in Schedule::ALL {
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
