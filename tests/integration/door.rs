//! The public API: extensions of programs, and messages about mistakes in them.

use scavsim::{
    Fleet, Forecast, NoPrice, OwnedRecord, Past, Recipe, Registry, RentedVmType, Scenario, Status,
    Stop, Strategy, Stream, Task, Testbed, UnusableStrategy, VmPrice,
};

use crate::sandbox::{Sandbox, repository};

const TEXT: &str = r#"
name = "door"
replicas = 3
workloads = ["scavenger-resnet18"]
variation = { step_cv = 0.05, noise_cv = 0.10 }
search.strategies = ["oracle", "full", "random"]
"#;

#[test]
fn a_scenario_run_from_rust_gives_the_records_of_the_program() {
    let scenario = Scenario::parse(TEXT).expect("it is legal");
    let mut ours: Vec<OwnedRecord> = Vec::new();
    let finished =
        (scenario.run(|record| ours.push(record.clone().into_owned()))).expect("it runs");
    assert_eq!(finished.cases, scenario.cases());

    let sandbox = Sandbox::new();
    sandbox.write("door.toml", TEXT);
    sandbox.run(&["run", "door.toml", "--out", "out"]).success();
    let text = sandbox.read("out/records.csv");
    let theirs: Vec<OwnedRecord> = (csv::Reader::from_reader(text.as_bytes()).deserialize())
        .collect::<Result<_, _>>()
        .expect("rows of records");
    assert_eq!(ours, theirs);
}

#[test]
fn a_file_that_is_not_there_and_a_wrong_text_are_mistakes() {
    let missing = Scenario::open("no/such.toml").expect_err("it is not there");
    assert!(
        missing.to_string().contains("cannot read no/such.toml"),
        "{missing}"
    );
    let wrong = Scenario::parse("workloads = [\"nobody\"]\nseeds = 1").expect_err("two mistakes");
    assert_eq!(wrong.len(), 2);
    let lines: Vec<Option<usize>> = wrong.iter().map(|mistake| mistake.line()).collect();
    assert_eq!(lines, [Some(1), Some(2)]);
    assert_eq!(format!("{wrong:?}"), wrong.to_string());
}

/// The files of a shipped workload, one of them changed.
fn changed(file: &str, from: &str, to: &str) -> Vec<(String, String)> {
    let folder = repository().join("data/workloads/scavenger-resnet18");
    let files = ["workload.toml", "steps.csv", "epochs.csv", "noise.csv"];
    (files.into_iter())
        .map(|name| {
            let text = std::fs::read_to_string(folder.join(name)).expect("it is shipped");
            let text = if name == file {
                text.replacen(from, to, 1)
            } else {
                text
            };
            (name.to_owned(), text)
        })
        .collect()
}

#[test]
fn a_workload_in_memory_is_the_same_as_in_a_folder() {
    let costs = |scenario: Scenario| {
        let mut costs = Vec::new();
        let run = scenario.run(|record| costs.push(record.cost_usd));
        run.expect("it runs");
        costs
    };
    let own = Scenario::options().workload("mine", changed("", "", ""));
    let text = TEXT.replace("scavenger-resnet18", "mine");
    let shipped = Scenario::parse(TEXT).expect("it is legal");
    assert_eq!(
        costs(own.parse(&text).expect("it is legal")),
        costs(shipped)
    );
}

#[test]
fn mistakes_in_a_workload_in_memory_have_their_places() {
    let text = TEXT.replace("scavenger-resnet18", "mine");
    let refused = |files: Vec<(String, String)>| {
        let parsed = Scenario::options().workload("mine", files).parse(&text);
        parsed.expect_err("it is wrong").to_string()
    };
    let cell = refused(changed("steps.csv", "1.4880", "fast"));
    assert!(cell.contains("--> mine/steps.csv:2:21"), "{cell}");
    let mut files = changed("", "", "");
    files.push(("noize.csv".to_owned(), String::new()));
    let stray = refused(files);
    assert!(
        stray.contains("mine/noize.csv: no such file is read"),
        "{stray}"
    );
    let mut files = changed("", "", "");
    files.retain(|(name, _)| name != "epochs.csv");
    assert!(refused(files).contains("there is no mine/epochs.csv"));
    // A name that a program added is among the legal ones.
    let near = Scenario::options().workload("mine", changed("", "", ""));
    let near = near
        .parse("workloads = [\"mina\"]")
        .expect_err("there is no such workload");
    assert!(near.to_string().contains("did you mean `mine`?"), "{near}");
}

#[derive(Debug)]
struct Usd(f64);

impl VmPrice for Usd {
    fn usd_per_hour(&self, _: RentedVmType<'_>, _: &Fleet<'_>) -> Result<f64, NoPrice> {
        Ok(self.0)
    }
}

#[test]
fn a_price_that_is_none_is_refused_before_the_run() {
    let text = format!("{TEXT}\n[pricing]\npolicies = [\"mine\"]");
    let parse = |usd: f64| Scenario::options().price("mine", Usd(usd)).parse(&text);
    assert!(parse(0.1).is_ok() && parse(0.0).is_ok());
    for usd in [1e-300, -1.0, f64::NAN, f64::INFINITY] {
        let why = parse(usd).expect_err("no price").to_string();
        let expected =
            format!("pricing policy `mine`: `e2-standard-4` would cost {usd} USD per hour");
        assert!(why.contains(&expected), "{why}");
    }
}

#[test]
fn names_that_are_taken_are_refused() {
    let stated = Scenario::options()
        .price("as-measured", Usd(1.0))
        .parse(TEXT);
    let why = stated.expect_err("the name is taken").to_string();
    assert!(why.contains("a price called `as-measured`"), "{why}");
    let registry = Registry::default().with("oracle", Stray);
    let oracle = Scenario::options().registry(registry).parse(TEXT);
    let why = oracle.expect_err("the name is taken").to_string();
    assert!(why.contains("a strategy called `oracle`"), "{why}");
    let text = format!("{TEXT}\n[pricing.define.mine]\nusd_per_vm_hour = 1");
    let twice = Scenario::options().price("mine", Usd(1.0)).parse(&text);
    let why = twice.expect_err("there are two").to_string();
    assert!(
        why.contains("there are two pricing policies `mine`"),
        "{why}"
    );
}

/// Predicts a configuration that does not exist.
struct Stray;

impl Recipe for Stray {
    fn summary(&self) -> &str {
        "nonsense"
    }

    fn build(&self, _: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, UnusableStrategy> {
        Ok(Box::new(Stray))
    }
}

impl Strategy for Stray {
    fn search(
        &self,
        task: &Task<'_>,
        _: &mut dyn Testbed,
        _: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        forecast.predict(task.space.len(), 3600.0);
        Ok(())
    }
}

#[test]
fn a_strategy_that_predicts_what_does_not_exist_has_no_result_and_harms_nobody() {
    let registry = Registry::default().with("stray", Stray);
    let text = TEXT.replace("\"random\"", "\"stray\"");
    let scenario = Scenario::options().registry(registry).parse(&text);
    let mut failed = 0;
    let run = scenario.expect("it is legal").run(|record| {
        assert_eq!(record.status == Status::Failed, record.strategy == "stray");
        if record.status == Status::Failed {
            failed += 1;
            assert_eq!(
                record.reason,
                "the strategy predicts configuration 16 of 16"
            );
        }
    });
    assert_eq!(run.expect("it runs").failed, failed);
    assert_eq!(failed, 3 * 3); // objectives × replicas
}

#[test]
fn the_examples_come_in_through_the_front_door() {
    for entry in std::fs::read_dir(repository().join("examples")).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        // Strategies in Python have another API.
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it is text");
        assert!(text.lines().count() <= 140, "{}", path.display());
        for (at, _) in text.match_indices("scavsim::") {
            // Policies that decide during a run have a module of their own.
            let rest = &text[at + "scavsim::".len()..];
            let item = rest
                .strip_prefix("provision::")
                .unwrap_or(rest)
                .chars()
                .next();
            let is_item = item.is_some_and(|c| c == '{' || c.is_ascii_uppercase());
            assert!(is_item, "{}: {}", path.display(), &text[at..at + 30]);
        }
    }
}
