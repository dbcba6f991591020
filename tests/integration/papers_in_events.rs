//! Every paper in fidelity `event` and in `fast`: published figures agree.

use std::fs;

use scavsim::input::checked::Count;
use scavsim::reproduce::{Comparison, Paper, Size, Verdict, compare};
use scavsim::training::Fidelity;
use toml::{Table, Value};

use crate::sandbox::{Sandbox, repository, repository_file, stderr};

/// Replicas if every update is an event; also for the paper with figures of runs without losses, which must occur.
const FEW: u32 = 6;
const FEW_THAT_LOSE_NOBODY: (&str, u32) = ("icac19", 30);
/// Relative tolerance between both: twice the tolerance of measured paces, and the randomness of the workers.
const APART: f64 = 0.01;

fn rows(name: &str, fidelity: Fidelity, replicas: Option<u32>) -> Vec<Comparison> {
    let replicas = replicas.and_then(Count::new);
    let size = Size { fidelity, replicas };
    let paper = Paper::open(name, size).unwrap_or_else(|d| panic!("{}", d.render(false)));
    compare(&paper).unwrap_or_else(|d| panic!("{}", d.render(false)))
}

fn passes(row: &Comparison) -> bool {
    matches!(
        row.verdict,
        Verdict::Ok | Verdict::Calibrated | Verdict::Holds
    )
}

/// Verdicts that differ; pairs of close figures with the edge of the tolerance between them are counted separately. Also the
/// number of passes in `event` and in `fast`.
fn differing(name: &str, replicas: Option<u32>) -> (Vec<String>, usize, [usize; 2]) {
    let [events, fast] =
        [Fidelity::Event, Fidelity::Fast].map(|fidelity| rows(name, fidelity, replicas));
    assert_eq!(events.len(), fast.len());
    let (mut differing, mut at_the_edge) = (Vec::new(), 0);
    for (event, fast) in events.iter().zip(&fast) {
        // A reading that its interval leaves open contradicts no verdict.
        let is_open = [event, fast].iter().any(|row| row.verdict == Verdict::Open);
        if event.verdict == fast.verdict || is_open {
            continue;
        }
        let gap = (event.simulated - fast.simulated).abs();
        if gap <= APART * event.simulated.abs().max(fast.simulated.abs()) {
            at_the_edge += 1;
        } else {
            differing.push(format!(
                "{} {}: {:?} with {} in events, {:?} with {}",
                event.quantity,
                event.selector,
                event.verdict,
                event.simulated,
                fast.verdict,
                fast.simulated
            ));
        }
    }
    let passing = [&events, &fast].map(|rows| rows.iter().filter(|row| passes(row)).count());
    (differing, at_the_edge, passing)
}

/// Whether a figure of a paper depends on the fidelity: it has a scenario other than a bag, a grid or a policy, or calls the
/// one function with a fidelity. Included files are not checked: such a paper is compared.
fn has_fidelity(name: &str) -> bool {
    let folder = format!("data/papers/{name}");
    let read = |file: &str| -> Table {
        let text = repository_file(&format!("{folder}/{file}"));
        text.parse()
            .unwrap_or_else(|e| panic!("{name}/{file}: {e}"))
    };
    let paper = read("paper.toml");
    let scenarios = paper.get("scenarios").and_then(Value::as_table);
    let named = scenarios.into_iter().flat_map(Table::values);
    let files = named.filter_map(|scenario| scenario.get("file"));
    let is_simulated = |file: &Value| {
        let scenario = read(file.as_str().expect("a path"));
        !["bag", "grid", "policy"]
            .iter()
            .any(|key| scenario.contains_key(*key))
    };
    let asks = |text: &str| text.contains(&format!("{TOLD}("));
    let mut texts = fs::read_dir(repository().join(&folder)).expect("it is there");
    files.chain(paper.get("scenario")).any(is_simulated)
        || texts.any(|file| {
            let path = file.expect("it is readable").path();
            asks(&fs::read_to_string(path).expect("it is text"))
        })
}

/// The function of papers that has a fidelity.
const TOLD: &str = "asp_speed";

/// Another one would be missing in [`has_fidelity`].
#[test]
fn one_function_of_papers_is_told_the_fidelity() {
    let folder = repository().join("crates/papers/src/functions");
    let mut told = Vec::new();
    for file in fs::read_dir(folder).expect("it is there") {
        let path = file.expect("it is readable").path();
        let text = fs::read_to_string(&path).expect("it is text");
        if text.contains(".fidelity") {
            told.push(text);
        }
    }
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].matches("function!(").count(), 1);
    assert!(told[0].contains(&format!("{TOLD} [")), "{}", told[0]);
}

fn assert_alike(papers: &[&str], replicas: impl Fn(&str) -> Option<u32>) {
    for &name in papers {
        let (differing, at_the_edge, [events, fast]) = differing(name, replicas(name));
        println!("{name}: {events} pass in events, {fast} in fast");
        assert!(differing.is_empty(), "{name}: {}", differing.join("\n"));
        assert!(
            events + at_the_edge >= fast,
            "{name}: {events} pass in events, {fast} in fast"
        );
        // In at most 143 rows, 30 replicas give times to half a percent.
        assert!(at_the_edge <= 4, "{name}: {at_the_edge} at the edge");
    }
}

#[test]
fn papers_come_out_alike_in_events() {
    let mut papers = Paper::names();
    papers.retain(|name| has_fidelity(name));
    assert!(papers.len() >= 5, "{papers:?}");
    let (loses, many) = FEW_THAT_LOSE_NOBODY;
    assert_alike(&papers, |name| Some(if name == loses { many } else { FEW }));
}

/// The comparison in the full size of papers: `cargo test --test integration -- --ignored papers_in_full`.
#[test]
#[ignore = "billions of events"]
fn papers_in_full_come_out_alike_in_events() {
    assert_alike(&Paper::names(), |_| None);
}

/// A paper with a fidelity of its own would decide its verdicts.
#[test]
fn no_paper_sets_a_fidelity() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "own/paper.toml",
        "citation = \"x\"\ntolerances = \"y\"\n[scenarios.main]\nfile = \"runs.toml\"\nset = ['fidelity = \"event\"']\n",
    );
    sandbox.write(
        "own/runs.toml",
        "workloads = [\"scavenger-resnet18\"]\ncluster = { workers = [8], batch = [1024] }\n\
         search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n",
    );
    sandbox.write(
        "own/figures.csv",
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,note\nf,mean(time_h),5,h,0.5,relative,figure,x\n",
    );
    let said = stderr(&sandbox.run(&["reproduce", "own"]).code(2));
    assert!(
        said.contains("a scenario of a paper sets `fidelity = \"event\"`"),
        "{said}"
    );
    assert!(said.contains("--fidelity"), "{said}");
}
