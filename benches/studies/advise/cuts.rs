//! Rows that users measure: the placements of each kind of cut, drawn from measured applications or from a made one.

use super::Fact;
use scavsim::configuration::{Configuration, Shape};
use scavsim::rng::Stream;
use scavsim::search::Point;
use scavsim::units::SECONDS_PER_HOUR;
use scavsim::workload::Workload;

/// An application without measurements, on machines of eight GPUs: a step grows with the GPUs inside of a machine, and hardly
/// with machines. Its formula differs from all laws.
pub(super) const EIGHT: &str = "eight-gpus";
/// The placements of an application in each kind of cut.
pub(super) const KINDS: [&str; 8] = [
    "ladder",
    "no full VM",
    "no single GPU",
    "several VMs only",
    "one VM only",
    "mixed shapes",
    "slow network",
    "noise",
];
/// Relative increase of a step for each further VM, in a slow network.
pub(super) const SLOWER: f64 = 0.6;
/// Standard deviation of noise on rows, in logarithms.
pub(super) const NOISE: f64 = 0.05;

/// The measurements of [`EIGHT`].
pub(super) fn eight_gpus(workload: &Workload) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (each, vms) in [1, 2, 4, 8]
        .iter()
        .flat_map(|each| [1, 2, 3, 4, 6, 8, 16].map(|n| (*each, n)))
    {
        for local in [4, 8, 16, 32] {
            let compute_s = 0.1 + 0.02 * f64::from(local);
            let inside_s = 0.1 * f64::from(each - 1);
            let between_s = if vms > 1 {
                0.05 + 0.005 * f64::from(vms)
            } else {
                0.0
            };
            let exposed_s = (inside_s + between_s - 0.6 * compute_s).max(0.0);
            // The unpredictable part, within 3 %.
            let own = 1.0 + 0.03 * libm::sin(f64::from(each * 7 + vms * 11 + local * 5));
            let batch = each * vms * local;
            let epochs = 20.0 * (1.0 + f64::from(batch) / 2_000.0);
            let step_s = (compute_s + exposed_s) * own;
            let time_s = workload.steps_to_target(epochs, batch) * step_s;
            facts.push(Fact {
                configuration: Configuration {
                    vm: format!("p3.16xlarge/{each}").into(),
                    workers: each * vms,
                    batch,
                },
                step_s,
                epochs,
                vms: f64::from(vms),
                truth: Point {
                    time_s,
                    cost_usd: super::USD * f64::from(vms) * time_s / SECONDS_PER_HOUR,
                },
            });
        }
    }
    facts
}

/// Facts of a slow network.
pub(super) fn slowed(facts: &[Fact]) -> Vec<Fact> {
    let slower = |fact: &Fact| {
        let by = 1.0 + SLOWER * (fact.vms - 1.0);
        let mut fact = fact.clone();
        fact.step_s *= by;
        fact.truth.time_s *= by;
        fact.truth.cost_usd *= by;
        fact
    };
    facts.iter().map(slower).collect()
}

/// Rows of a ladder, drawn.
pub(super) fn ladder(facts: &[Fact], rows: usize, stream: &mut Stream) -> Vec<usize> {
    cut(facts, KINDS[0], rows, stream)
}

/// Workers on each VM, and VMs, of the rows that a kind keeps for machines with `full` GPUs.
fn rungs(kind: &str, full: u32, stream: &mut Stream) -> Vec<(u32, u32)> {
    let half = full / 2;
    let mut all = match kind {
        "no full VM" => vec![(1, 1), (half, 1), (half, 2), (1, 2), (half, 4), (1, 4)],
        "no single GPU" => vec![(full, 1), (full, 2), (full, 3), (full, 4)],
        "several VMs only" => vec![(full, 2), (full, 4), (full, 3), (full, 8)],
        "one VM only" => vec![(1, 1), (2, 1), (4, 1), (full, 1)],
        "mixed shapes" => (0..6)
            .map(|_| (1 << stream.below(3), [1, 2, 3, 4][stream.below(4)]))
            .collect(),
        _ => {
            // Full VMs most often.
            let each = [1, 2, half + half / 2, full, full, full][stream.below(6)];
            let mut all = vec![(1, 1), (each, 1), (each, 2), (each, 3), (each, 4)];
            all.dedup();
            while all.len() > 2 + stream.below(3) {
                all.remove(stream.below(all.len()));
            }
            return all;
        }
    };
    all.dedup();
    while all.len() > 3 + stream.below(3) {
        all.remove(stream.below(all.len()));
    }
    all
}

/// Rows of a kind, drawn.
pub(super) fn cut(facts: &[Fact], kind: &str, rows: usize, stream: &mut Stream) -> Vec<usize> {
    let at = |each: u32, vms: u32| {
        let on = move |f: &Fact| {
            let shape = Shape::parse(&f.configuration.vm).ok();
            let vms_of = shape.and_then(|s| s.vms(f.configuration.workers));
            vms_of == Some(vms) && f.configuration.workers == each * vms
        };
        (0..facts.len()).filter(move |i| on(&facts[*i]))
    };
    let on_one = facts.iter().filter(|f| f.vms == 1.0);
    let full = on_one.map(|f| f.configuration.workers).max().unwrap_or(1);
    loop {
        let rungs = rungs(kind, full, stream);
        let mode = stream.below(3);
        let of_rung: Vec<Vec<usize>> = rungs.iter().map(|r| at(r.0, r.1).collect()).collect();
        let Some(first) = of_rung.first().filter(|of| !of.is_empty()) else {
            continue;
        };
        let mut kept: Vec<usize> = Vec::new();
        for _ in 0..rows {
            let model = &facts[first[stream.below(first.len())]].configuration;
            for of in &of_rung {
                let apart = |i: &usize| {
                    let c = &facts[*i].configuration;
                    let off = match mode {
                        0 => c.local_batch() / model.local_batch(),
                        _ => f64::from(c.batch) / f64::from(model.batch.max(c.workers)),
                    };
                    off.ln().abs()
                };
                let near = of.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
                let any = (!of.is_empty()).then(|| &of[stream.below(of.len().max(1))]);
                if let Some(&i) = if mode == 2 { any } else { near }
                    && !kept.contains(&i)
                    && kept.len() < rows
                {
                    kept.push(i);
                }
            }
        }
        let counts = kept.iter().map(|i| facts[*i].configuration.workers);
        let several = counts.clone().max() != counts.min();
        if kept.len() == rows && several {
            return kept;
        }
    }
}
