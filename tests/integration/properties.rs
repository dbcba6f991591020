//! Laws that hold for any scenario, through the library.

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use scavsim::cli::consent::Consent;
use scavsim::cli::resume::Start;
use scavsim::cli::runner::Runner;
use scavsim::experiment::metrics::KeptMetrics;
use scavsim::experiment::{self, Conduct, Plan, Record, Sink, Status, Summary, Tasks};
use scavsim::input::{Diagnostics, Source};
use scavsim::report::{FORMATS, OutputFolder, Results, Shards, shard_file};
use scavsim::scenario::{self, Overrides, Scenario};

use crate::sandbox::{Files, Sandbox, assert_same_files};

/// Rounding of a ratio.
const ROUNDING: f64 = 1e-12;

const WORKLOADS: [&str; 3] = [
    "scavenger-resnet18",
    "scavenger-resnet50",
    "scavenger-transformer",
];
const STRATEGIES: [&str; 9] = [
    "oracle",
    "full",
    "partial",
    "same-job",
    "one-run",
    "no-search",
    "no-search-leave-out",
    "random",
    "default",
];
const POLICIES: [&str; 10] = [
    "paper-fixed",
    "paper-memory",
    "per-second",
    "per-started-hour",
    "paper-four-servers",
    "aws-2017-m4-reserved-3y",
    "gcp-2026-e2-spot",
    "gcp-2026-n1",
    "own-vm",
    "own-memory",
];

/// One to `most` of `all`, as a TOML list.
fn some<T: Clone + std::fmt::Debug + 'static>(
    all: Vec<T>,
    most: usize,
) -> impl Strategy<Value = String> {
    subsequence(all, 1..=most).prop_map(|chosen| format!("{chosen:?}"))
}

/// An axis inside the measurements of every workload. Its least value was measured, because the universal model needs that.
fn axis(least: &[u32], greatest: u32, step: u32) -> impl Strategy<Value = String> {
    let start = select(least.to_vec());
    (
        start,
        subsequence(vec![1, 2, 3], 0..=3),
        1..=2 * step,
        any::<bool>(),
    )
        .prop_map(move |(from, others, by, is_list)| {
            let inside = |value: u32| value.min(greatest);
            if is_list {
                let mut list = vec![from];
                list.extend(others.iter().map(|n| inside(from + n * step)));
                list.dedup();
                format!("{list:?}")
            } else {
                let to = inside(from + 2 * by);
                format!("{{ from = {from}, to = {to}, step = {by} }}")
            }
        })
}

/// A line `key = value`, or none.
fn maybe(key: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::option::of(value)
        .prop_map(move |value| value.map_or(String::new(), |value| format!("{key} = {value}\n")))
}

fn number(range: std::ops::Range<f64>) -> impl Strategy<Value = String> {
    range.prop_map(|v| format!("{v:?}"))
}

fn variation() -> impl Strategy<Value = String> {
    let drift = (0.0..1.0f64, 600.0..7200.0f64)
        .prop_map(|(sigma, period)| format!("{{ sigma = {sigma:?}, period_s = {period:?} }}"));
    let straggler = (0.0001..0.2f64, 1.1..20.0f64)
        .prop_map(|(p, factor)| format!("{{ probability = {p:?}, factor = {factor:?} }}"));
    let lines = (
        maybe("step_cv", number(0.0..0.5)),
        maybe("placement_sigma", number(0.0..0.5)),
        maybe("vm_sigma", number(0.0..0.5)),
        maybe("noise_cv", number(0.0..1.0)),
        maybe("noise_curve", any::<bool>().prop_map(|b| b.to_string())),
        maybe("epoch_cv", number(0.0..0.5)),
        maybe("drift", drift),
        maybe("straggler", straggler),
    );
    lines.prop_map(|(a, b, c, d, e, f, g, h)| [a, b, c, d, e, f, g, h].concat())
}

fn cluster() -> impl Strategy<Value = String> {
    let lines = (
        maybe("workers", axis(&[8, 12, 16], 20, 2)),
        maybe("batch", axis(&[512, 768], 1024, 90)),
        maybe("start_up_s", number(0.0..600.0)),
    );
    lines.prop_map(|(a, b, c)| [a, b, c].concat())
}

/// The text of a valid scenario without limits.
fn a_scenario() -> impl Strategy<Value = String> {
    let names = |all: &[&'static str], most| some(all.to_vec(), most);
    let define = (0.001..10.0f64, 0.0..7200.0f64, 0.0..7200.0f64);
    let parts = (
        (any::<u32>(), 1..=3u32),
        names(&WORKLOADS, 3),
        cluster(),
        variation(),
        names(&POLICIES, 2),
        names(&STRATEGIES, 5),
        names(&["time", "cost", "knee"], 3),
        select(vec!["corners", "three", "diagonal"]),
        define,
    );
    parts.prop_map(
        |(seed, workloads, cluster, variation, policies, strategies, objectives, corners, own)| {
            let (usd, granularity, minimum) = own;
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "seed = {}\nreplicas = {}\nworkloads = {workloads}\n\
                 [cluster]\n{cluster}[variation]\n{variation}\
                 [pricing]\npolicies = {policies}\n\
                 [pricing.define.own-vm]\nusd_per_vm_hour = {usd:?}\n\
                 granularity_s = {granularity:?}\nminimum_s = {minimum:?}\n\
                 egress_gib = 3\nusd_per_egress_gib = 0.12\n\
                 storage_gib = 40\nusd_per_storage_gib_month = 0.1\n\
                 [pricing.define.own-memory]\nusd_per_sample_hour = {usd:?}\n\
                 [search]\nstrategies = {strategies}\nobjectives = {objectives}\n\
                 stored = {WORKLOADS:?}\n\
                 [strategy.partial]\nextremes = {corners:?}\n",
                seed.0, seed.1,
            );
            text
        },
    )
}

fn load(text: &str) -> Scenario {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("scenario.toml", text);
    let loaded = scenario::load(
        &source,
        Path::new("."),
        Overrides::default(),
        &mut diagnostics,
    );
    loaded.unwrap_or_else(|| panic!("{text}\n{}", diagnostics.render(false)))
}

/// Passes on every record.
struct Each<F>(F);

impl<F: FnMut(&Record<'_>)> Sink for Each<F> {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        (self.0)(record);
        Ok(())
    }
}

/// Runs on `jobs` threads, passes on every record, and returns all of them as text.
fn run(plan: &mut Plan, jobs: usize, mut look: impl FnMut(&Record<'_>) + Send) -> String {
    let mut all = csv::Writer::from_writer(Vec::new());
    let mut sink = Each(|record: &Record<'_>| {
        look(record);
        all.serialize(record).expect("a record fits into a row");
    });
    let progress = AtomicU64::new(0);
    let conduct = Conduct::new(jobs, &progress);
    let tasks = Tasks::from_plan(&*plan).behind(0);
    let finished = experiment::run(plan, tasks, conduct, &mut [&mut sink]);
    assert_eq!(finished.expect("nothing can fail").cases, plan.cases());
    String::from_utf8(all.into_inner().expect("it is in memory")).expect("names are UTF-8")
}

/// Properties of every record of a scenario without limits.
fn assert_lawful(record: &Record<'_>) {
    assert_eq!(record.status, Status::Ok, "{record:?}");
    assert!(record.is_finite(), "{record:?}");
    let figure = |value: Option<f64>| value.unwrap_or_else(|| panic!("{record:?}"));
    for value in [
        record.time_h,
        record.cost_usd,
        record.oracle_time_h,
        record.oracle_cost_usd,
        record.expected_time_h,
        record.expected_cost_usd,
    ] {
        assert!(figure(value) > 0.0, "{record:?}");
    }
    for value in [record.search_time_h, record.search_cost_usd] {
        assert!(figure(value) >= 0.0, "{record:?}");
    }
    for (search, total) in [
        (record.search_time_h, record.time_h),
        (record.search_cost_usd, record.cost_usd),
        (record.overhead_net_time, record.overhead_gross_time),
        (record.overhead_net_cost, record.overhead_gross_cost),
    ] {
        assert!(figure(search) <= figure(total) + ROUNDING, "{record:?}");
    }
    let parts = [
        record.bill_useful_usd,
        record.bill_search_usd,
        record.bill_waiting_usd,
        record.bill_lost_usd,
        record.bill_restore_usd,
        record.bill_egress_usd,
        record.bill_storage_usd,
        record.bill_charges_usd,
    ]
    .map(figure);
    assert!(parts.iter().all(|part| *part >= 0.0), "{record:?}");
    let (sum, cost) = (parts.iter().sum::<f64>(), figure(record.cost_usd));
    assert!((sum / cost - 1.0).abs() < ROUNDING, "{record:?}");
    for error in [record.error_mean, record.error_median, record.error_max] {
        assert!(error.is_none_or(|e| e >= 0.0), "{record:?}");
    }
    let (time, cost) = (figure(record.regret_time), figure(record.regret_cost));
    let beats_the_oracle = match record.objective {
        "time" => time < -ROUNDING,
        "cost" => cost < -ROUNDING,
        // No choice is both faster and cheaper than the knee.
        _ => time < -ROUNDING && cost < -ROUNDING,
    };
    assert!(!beats_the_oracle, "{record:?}");
    if record.strategy == "oracle" {
        let lost = [record.overhead_gross_time, record.overhead_gross_cost];
        assert_eq!((time, cost, lost), (0.0, 0.0, [Some(0.0); 2]), "{record:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_sound_scenario_gives_lawful_records_whatever_the_threads(text in a_scenario()) {
        let scenario = load(&text);
        let mut plan = Plan::new(&scenario).expect("it was checked");
        let one = run(&mut plan, 1, assert_lawful);
        let three = run(&mut plan, 3, |_| {});
        prop_assert_eq!(one, three);
    }
}

/// All output of a run, in a folder of its own.
fn left_by(way: impl FnOnce(&OutputFolder)) -> Files {
    let sandbox = Sandbox::new();
    way(&OutputFolder::alone(&sandbox.path("out")).expect("the sandbox is writable"));
    sandbox.contents("out")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_sound_scenario_leaves_the_same_files_in_whatever_pieces_it_is_run(
        text in a_scenario(),
        max_time_h in 1.0..30.0f64,
        cut in 0.0..1.0f64,
    ) {
        // Above the limit cases fail, so that there is a list of failures, too.
        let scenario = load(&format!("{text}[limits]\nmax_time_h = {max_time_h:?}\n"));
        let (never, formats) = (scavsim::Interrupt::default(), Vec::from_iter(FORMATS));
        let runner = |jobs| Runner { jobs, fail_fast: false, interrupt: &never, signals: None, formats: &formats, all_columns: false, by: None, printed: KeptMetrics::all(), consent: Consent { is_given: true, stdin_is_taken: false } };
        let whole = |jobs| left_by(|folder| {
            runner(jobs).run(&scenario, Some(folder), Start::Over).expect("nothing prevents it");
        });
        let right = whole(1);
        for jobs in [2, 7] {
            assert_same_files(&whole(jobs), &right, &format!("{jobs} threads"));
        }
        for count in [1, 3, 10] {
            let seen = left_by(|folder| {
                for index in 1..=count {
                    let shard = format!("{index}/{count}").parse().expect("it is a shard");
                    runner(2).run_shard(&scenario, folder, shard).expect("nothing prevents it");
                }
                let shards = Shards::open(&folder.file(shard_file::FOLDER));
                let mut shards = shards.unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
                let summary = Summary::new(None, false, shards.tasks());
                let results = Results::start(folder, shards.identity.clone(), &formats, summary);
                let mut results = results.expect("nothing prevents it");
                let finished = shards.merge(&mut results, &AtomicU64::new(0));
                results.finish(&finished.expect("they are whole"), None).expect("nothing prevents it");
            });
            assert_same_files(&seen, &right, &format!("{count} shards"));
        }
        let rows = &right["records.csv"];
        let kept = &rows[..(cut * rows.len() as f64) as usize];
        let sandbox = Sandbox::new();
        sandbox.left_by_a_kill("out", &right, kept);
        let folder = OutputFolder::alone(&sandbox.path("out")).expect("the sandbox is writable");
        runner(2).run(&scenario, Some(&folder), Start::Behind).expect("nothing prevents it");
        let seen = sandbox.contents("out");
        assert_same_files(&seen, &right, &format!("cut behind {} bytes", kept.len()));
    }
}
