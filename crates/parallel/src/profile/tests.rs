use std::collections::BTreeMap;

use super::*;
use crate::{Links, Misfit, NodeKind, ParallelPlan, PreparedPlan};
use crate::{Runtime, Schedule, Scope, library};
use scavsim_base::tests::{close, near};
use scavsim_read::input::{Diagnostics, Folder};

const HEAD: &str = "name = \"tiny\"\nmodel = \"Tiny\"\nlayers = 4\nsequence = 100\nhidden = 10\nbytes_per_value = 4\n\
    optimizer_bytes = 8\nsource = \"made up\"\nlicence = \"none\"\n";
const LAYERS: &str = "tensor,first_layer,last_layer,parameters,stored_bytes,output_bytes,all_reduces\n\
    1,0,0,100,400,4000,1\n1,1,2,1000,9000,4000,2\n1,3,3,100,800,40,1\n";
const TIMES: &str = "gpu,tensor,micro_batch,first_layer,last_layer,forward_s,backward_s,update_s\n\
    G,1,1,0,0,0.1,0.1,0.01\nG,1,1,1,2,1,2,0.01\nG,1,1,3,3,0.5,0.5,0.01\n\
    G,1,4,0,0,0.2,0.2,0.01\nG,1,4,1,2,3,8,0.01\nG,1,4,3,3,2,2,0.01\n";

fn folder(head: &str, layers: &str, times: &str) -> Folder {
    let files = [
        ("layers.toml", head),
        ("layers.csv", layers),
        ("times.csv", times),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Folder::Memory {
        name: "tiny".to_owned(),
        files: BTreeMap::from(files),
    }
}

fn read(head: &str, layers: &str, times: &str) -> Result<LayerProfile, String> {
    let mut d = Diagnostics::default();
    let profile = LayerProfile::load(&folder(head, layers, times), &mut d);
    assert_eq!(profile.is_some(), d.is_empty());
    profile.ok_or_else(|| d.render(false))
}

fn tiny() -> LayerProfile {
    read(HEAD, LAYERS, TIMES).expect("it is good")
}

#[test]
fn micro_batches_between_profiled_ones_lie_on_their_line() {
    let mut profile = tiny();
    profile.interpolate(&[1, 2, 4, 5]);
    assert_eq!(profile.micro_batches("G", 1), [1, 2, 4]);
    let two = profile.times(0, 1, 2).expect("interpolated");
    assert!(two.is_interpolated && !profile.times(0, 1, 1).expect("profiled").is_interpolated);
    let (two, expected) = (two.seconds_between(1, 3), 2.5 + (8.0 - 2.5) / 3.0);
    assert!((two.forward - expected).abs() < 1e-12, "{two:?}");
}

/// Every micro-batch of the shipped profiles except the smallest and the largest, held out and interpolated: seconds of all layers.
#[test]
fn micro_batches_left_out_are_told_by_their_neighbours() {
    let mut errors = Vec::new();
    for name in library::names() {
        let whole = library::profile(name, &mut Diagnostics::default()).expect("it is embedded");
        for gpu in 0..whole.gpus.len() {
            for at in 1..whole.gpus[gpu].times.len().saturating_sub(1) {
                let times = &whole.gpus[gpu].times;
                let [below, own, above] = [&times[at - 1], &times[at], &times[at + 1]];
                if below.tensor != own.tensor || above.tensor != own.tensor {
                    continue;
                }
                let size = own.micro_batch;
                let mut rest = whole.clone();
                rest.gpus[gpu].times.remove(at);
                rest.interpolate(&[size]);
                let pass = |profile: &LayerProfile| {
                    let times = profile.times(gpu, own.tensor, size).expect("it is there");
                    let all = times.seconds_between(0, profile.layers - 1);
                    all.forward + all.backward
                };
                errors.push((pass(&rest) / pass(&whole) - 1.0).abs());
            }
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(errors.len() > 20 && mean < 0.05, "{errors:?}");
}

#[test]
fn layers_are_summed_and_launch_bound_passes_are_told() {
    let profile = tiny();
    assert_eq!((profile.layers, profile.parameters), (4, 2200));
    assert_eq!(profile.gpus().collect::<Vec<_>>(), ["G"]);
    assert_eq!(profile.tensor_degrees("G"), [1]);
    assert_eq!(profile.micro_batches("G", 1), [1, 4]);
    let gpu = profile.gpu("G").expect("it is there");
    let seconds = |micro_batch, first, last| {
        let times = profile.times(gpu, 1, micro_batch).expect("profiled");
        times.seconds_between(first, last)
    };
    let four = seconds(4, 1, 3);
    near(four.forward, 8.0, 1e-12);
    near(four.backward, 18.0, 1e-12);
    assert_eq!(four.forward, four.busy_forward);
    // A quarter of micro-batch 4 is 0.75 and 2: forward at 1 is 1.33 times as long, backward no longer.
    let one = seconds(1, 1, 2);
    near(one.forward, 2.0, 1e-12);
    near(one.busy_forward, 1.5, 1e-12);
    near(one.backward, 4.0, 1e-12);
    near(one.busy_backward, 4.0, 1e-12);
    let weights = profile.weights(1).expect("known");
    assert_eq!(weights.parameters(0, 1), 1100);
    assert_eq!(weights.stored_bytes(1, 3), 18_800);
    assert_eq!(weights.largest_bytes(1, 3), 9000);
    assert_eq!(weights.output_bytes(3), 40);
    assert_eq!(weights.all_reduces(0, 3), 6);
}

#[test]
fn cuts_are_as_even_as_can_be() {
    let profile = tiny();
    // Seconds of micro-batch 1: 0.2, 3, 3, 1.
    assert_eq!(profile.even_cuts(&[("G", 1); 2], 1), Some(vec![1, 3]));
    assert_eq!(profile.even_cuts(&[("G", 1); 4], 1), Some(vec![0, 1, 2, 3]));
    assert_eq!(profile.even_cuts(&[("G", 1); 5], 1), None);
    assert_eq!(profile.even_cuts(&[("G", 2)], 1), None);
    // Exhaustive search: the slowest of three stages cannot be shorter.
    let mut d = Diagnostics::default();
    let opt = library::profile("opt-350m", &mut d).expect("it is embedded");
    let slots = [("GH-96", 4), ("A100-40", 4), ("V100-16", 4)];
    let seconds = |(gpu, tensor): (&str, u32), first, last| {
        let gpu = opt.gpu(gpu).expect("there");
        let times = opt.times(gpu, tensor, 8).expect("profiled");
        let s = times.seconds_between(first, last);
        s.forward + s.backward
    };
    let slowest = |a: u32, b: u32| {
        let ends = [(0, a), (a + 1, b), (b + 1, 25)];
        let all = slots.iter().zip(ends);
        all.map(|(slot, (first, last))| seconds(*slot, first, last))
            .fold(0.0, f64::max)
    };
    let all = (0..24).flat_map(|a| (a + 1..25).map(move |b| (a, b)));
    let all = all.map(|(a, b)| slowest(a, b));
    let best = all.fold(f64::INFINITY, f64::min);
    let cuts = opt.even_cuts(&slots, 8).expect("profiled");
    assert!((slowest(cuts[0], cuts[1]) - best).abs() < 1e-12);
}

#[test]
fn what_is_missing_is_named_with_its_place() {
    let on = "on G at tensor degree 1 and micro-batch 4\n --> tiny/times.csv:6";
    let wrong = |head: &str, layers: &str, times: &str, expected: &[&str]| {
        let said = read(head, layers, times).expect_err("it is wrong");
        for part in expected {
            assert!(said.contains(part), "{part}\nnot in\n{said}");
        }
    };
    for (from, to, expected) in [
        (
            "G,1,4,1,2",
            "G,1,4,2,2",
            &*format!("layer 1 is missing {on}"),
        ),
        (
            "G,1,4,3,3,2,2,0.01\n",
            "",
            &format!("layer 3 is missing {on}"),
        ),
        (
            "G,1,4,1,2",
            "G,1,4,0,2",
            &format!("layer 0 appears twice {on}"),
        ),
        (
            "G,1,4,1,2",
            "G,1,4,2,1",
            "the last layer, 1, is before the first, 2\n --> tiny/times.csv:6",
        ),
        (
            "G,1,4,1,2",
            "G,1,4,1,4",
            "`last_layer`: expected a whole number between 0 and 3, found `4`\n --> tiny/times.csv:6",
        ),
        (
            "3,8,0.01",
            "3,-8,0.01",
            "`backward_s`: expected a number between 0 and 1000000, found `-8`\n --> tiny/times.csv:6",
        ),
    ] {
        wrong(HEAD, LAYERS, &TIMES.replace(from, to), &[expected]);
    }
    let twice = LAYERS.replace("1,1,2,", "1,1,1,");
    let missing = "layer 2 is missing at tensor degree 1\n --> tiny/layers.csv:4";
    wrong(HEAD, &twice, TIMES, &[missing]);
    let much = LAYERS.replace("9000", "much");
    let number = "`stored_bytes`: expected a whole number between 0 and 70368744177664, found `much`\n --> tiny/layers.csv:3";
    wrong(HEAD, &much, TIMES, &[number]);
    let none = HEAD.replace("= 4\nsequence", "= 0\nsequence");
    let impossible = "`layers`: 0 is out of range\n --> tiny/layers.toml:3";
    wrong(&none, LAYERS, TIMES, &[impossible]);
    // All at once.
    let times = TIMES.replace("3,8,0.01", "x,8,0.01");
    wrong(HEAD, &much, &times, &["layers.csv:3", "times.csv:6"]);
}

fn links(text: &str) -> Result<Links, String> {
    let mut d = Diagnostics::default();
    let links = Links::read(&scavsim_read::input::Source::new("links.csv", text), &mut d);
    links.ok_or_else(|| d.render(false))
}

#[test]
fn links_need_coefficients_of_one_kind() {
    let head = "scope,gpu,gpus,a,b,c,cap_gb_per_s,gb_per_s,latency_s\n";
    let at = "\n --> links.csv:2";
    for (row, expected) in [
        ("in-node,G,1,,,,,,", "a link without coefficients"),
        ("in-node,G,1,0,1,2,9,5,", "a link with `gb_per_s` and `a`"),
        ("on-node,G,1,,,,,5,", "unknown scope `on-node`"),
    ] {
        let said = links(&format!("{head}{row}\n")).expect_err("it is wrong");
        assert!(said.contains(&format!("{expected}{at}")), "{said}");
    }
    for (row, expected) in [
        ("in-node,G,1,0,1,,9,,", "`c`: expected a number between"),
        ("in-node,G,1,0,-1,2,9,,", "is not above 0 and rising"),
        ("in-node,G,0,,,,,5,", "between 1 and 1000000, found `0`"),
        (
            "in-node,G,2,,,,,5,\nin-node,G,2,,,,,6,",
            "this link appears twice in the table\n --> links.csv:3",
        ),
    ] {
        let said = links(&format!("{head}{row}\n")).expect_err("it is wrong");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn bandwidth_never_falls_with_size_and_the_slower_end_decides() {
    let gpus = "A100-40 GH-96 RTX-2080 RTX-3090 Titan-RTX V100-16";
    let embedded = library::links(&mut Diagnostics::default()).expect("they are embedded");
    for gpu in gpus.split(' ') {
        let gpu = embedded.gpu(gpu).expect("there");
        for gpus in [1, 2, 3, 4, 8] {
            for scope in [Scope::InNode, Scope::BetweenNodes] {
                let mut before = 0.0;
                for exponent in 0..60 {
                    let bytes = 1e3 * 1.5_f64.powi(exponent);
                    let seconds = embedded.seconds(scope, (gpu, gpu), (gpus, gpus), bytes);
                    let bandwidth = bytes / seconds.expect("known");
                    assert!(bandwidth > 0.0 && bandwidth >= before * (1.0 - 1e-12));
                    before = bandwidth;
                }
            }
        }
    }
    let own = links("scope,gpu,to,gpus,gb_per_s,latency_s\nbetween-nodes,A,,1,10,0.5\nbetween-nodes,B,,1,1,\nbetween-nodes,A,C,1,2,\n").expect("good");
    let [a, b, c] = ["A", "B", "C"].map(|gpu| own.gpu(gpu).expect("there"));
    let seconds = |from, to| own.seconds(Scope::BetweenNodes, (from, to), (1, 1), 1e10);
    assert_eq!(seconds(a, a), Some(1.5));
    assert_eq!((seconds(a, b), seconds(b, a)), (Some(10.0), Some(10.0)));
    assert_eq!((seconds(a, c), seconds(c, a)), (Some(5.0), Some(5.0)));
    assert_eq!(seconds(b, c), None);
}

fn node_kind(name: &str, gpu: &str, gpus_per_node: u32, memory_gib: f64) -> NodeKind {
    NodeKind {
        name: name.into(),
        gpu: gpu.into(),
        gpus_per_node,
        memory_gib: Some(memory_gib),
        zone: "z".into(),
    }
}

/// A plan of two stages on nodes of two GPUs, and its mistake after `change`.
fn misfit(change: impl FnOnce(&mut ParallelPlan, &mut NodeKind)) -> Result<f64, Misfit> {
    let profile = tiny();
    let links = links("scope,gpu,gpus,gb_per_s\nbetween-nodes,G,1,1\n").expect("good");
    let mut kind = node_kind("vm", "G", 1, 10.0);
    let kinds = [kind.clone()];
    let mut plan = ParallelPlan::even(&kinds, &[0, 0], &[1, 3], 2, 1, 1, 8, Schedule::GPipe)?;
    change(&mut plan, &mut kind);
    PreparedPlan::new(&profile, &links, &[kind], &Runtime::default(), &plan).map(|p| p.step_s())
}

#[test]
fn plans_that_cannot_be_say_why() {
    assert!(misfit(|_, _| ()).expect("it is good") > 4.0 * 4.0);
    type Change = fn(&mut ParallelPlan, &mut NodeKind);
    let cases: [(&str, Change); 12] = [
        ("stage 1 needs 4.3 GiB per G, which has 4.0", |_, k| {
            k.memory_gib = Some(4.0)
        }),
        (
            "the memory of a GPU of vm is not known: give it in GiB",
            |_, k| k.memory_gib = None,
        ),
        (
            "no profile of tiny on G at micro-batch 2 and tensor degree 1; profiled: micro-batches 1, 4",
            |p, _| p.micro_batch = 2,
        ),
        (
            "no profile of tiny on H at micro-batch 1 and tensor degree 1; profiled: GPUs G",
            |_, k| k.gpu = "H".into(),
        ),
        (
            "the memory of tiny is not known at tensor degree 2",
            |p, k| {
                k.gpus_per_node = 2;
                p.stages[0].replicas[0].tensor = 2;
            },
        ),
        ("no link inside a node from G to G", |p, k| {
            k.gpus_per_node = 2;
            p.stages[1].replicas.iter_mut().for_each(|r| r.node -= 2);
        }),
        (
            "stages must cover layers 0 to 3 in order: stage 2 has layers 2 to 2, expected it to end with 3",
            |p, _| p.stages[1].last_layer = 2,
        ),
        (
            "stage 2 has layers 3 to 3, expected it to begin with 2",
            |p, _| p.stages[1].first_layer = 3,
        ),
        (
            "a global batch of 9 is not a multiple of 2 replicas × micro-batch 1",
            |p, _| p.global_batch = 9,
        ),
        ("must be at least 1", |p, _| p.data = 0),
        ("2 GPUs on node 1, a vm with 1", |p, _| {
            p.stages[0].replicas[0].node = 1
        }),
        ("no kind of node 7 among 1", |p, _| {
            p.stages[0].replicas[0].kind = 7
        }),
    ];
    for (expected, change) in cases {
        let said = misfit(change).expect_err(expected).to_string();
        assert!(said.contains(expected), "expected {expected}\nfound {said}");
    }
}

/// A degree without a profile, derived from degree 1: close to the profile of a measured one.
#[test]
fn a_derived_tensor_degree_is_near_the_profiled_one() {
    let mut d = Diagnostics::default();
    let profile = library::profile("gpt-neo-2.7b", &mut d).expect("it is embedded");
    let links = library::links(&mut d).expect("they are embedded");
    let without = |degree: u32| {
        let mut less = profile.clone();
        for gpu in &mut less.gpus {
            gpu.times.retain(|t| t.tensor != degree);
        }
        less
    };
    let runtime = Runtime {
        derive_tensor: true,
        ..Runtime::default()
    };
    for (gpu, memory, degree, within) in [
        ("A100-40", 400.0, 2, 0.15),
        ("A100-40", 400.0, 4, 0.25),
        ("GH-96", 96.0, 2, 0.3),
    ] {
        let kinds = [node_kind(gpu, gpu, 4, memory)];
        let schedule = Schedule::OneForwardOneBackward;
        let plan = ParallelPlan::even(&kinds, &[0], &[33], 1, degree, 4, 64, schedule);
        let plan = plan.expect("good");
        let step = |profile: &LayerProfile, runtime: &Runtime| {
            PreparedPlan::new(profile, &links, &kinds, runtime, &plan).map(|p| p.step_s())
        };
        let profiled = step(&profile, &runtime).expect("profiled");
        let derived = step(&without(degree), &runtime).expect("derived");
        close(derived, profiled, within);
        assert!(step(&without(degree), &Runtime::default()).is_err());
    }
}
