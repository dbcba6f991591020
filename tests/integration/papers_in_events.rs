//! Every paper in fidelity `event` and in `fast`: what is published comes out alike.

use scavsim::input::checked::Count;
use scavsim::reproduce::{Comparison, Paper, Size, Verdict, compare};
use scavsim::training::Fidelity;

use crate::sandbox::{Sandbox, stderr};

/// Replicas where every update is an event, and of the paper with figures of runs that lost nobody, of which there have to be some.
const FEW: u32 = 6;
const FEW_THAT_LOSE_NOBODY: (&str, u32) = ("icac19", 30);
/// How far the same figure may be apart, relatively: twice what measured paces are held to, and the luck of the workers.
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

/// Verdicts that differ; those of figures that lie side by side with the edge of the tolerance between them are counted apart.
/// And how many pass in `event` and in `fast`.
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

fn assert_alike(replicas: impl Fn(&str) -> Option<u32>) {
    for name in Paper::names() {
        let (differing, at_the_edge, [events, fast]) = differing(name, replicas(name));
        println!("{name}: {events} pass in events, {fast} in fast");
        assert!(differing.is_empty(), "{name}: {}", differing.join("\n"));
        assert!(
            events + at_the_edge >= fast,
            "{name}: {events} pass in events, {fast} in fast"
        );
        // Of 143 rows at most, 30 replicas know times to half a percent.
        assert!(at_the_edge <= 4, "{name}: {at_the_edge} at the edge");
    }
}

#[test]
fn papers_come_out_alike_in_events() {
    let (loses, many) = FEW_THAT_LOSE_NOBODY;
    assert_alike(|name| Some(if name == loses { many } else { FEW }));
}

/// The same in the size in which papers are reproduced: `cargo test --test integration -- --ignored papers_in_full`.
#[test]
#[ignore = "billions of events"]
fn papers_in_full_come_out_alike_in_events() {
    assert_alike(|_| None);
}

/// What a paper says of fidelity would decide its verdicts.
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
