//! Lives of jobs on plans: failures of fleets, reactions, forecasts; compared with formulas, an exact bound and published figures.

use crate::sandbox::{Row, Rows, Sandbox, repository, repository_file, stdout};

/// Mean of a column of the records of a strategy, by setting.
pub fn by_setting(rows: &Rows, column: &str) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64, f64)> = Vec::new();
    for row in rows.iter() {
        let setting = row.text("setting").to_owned();
        let value = row.number(column);
        match all.iter_mut().find(|known| known.0 == setting) {
            Some(known) => {
                known.1 += value;
                known.2 += 1.0;
            }
            None => all.push((setting, value, 1.0)),
        }
    }
    (all.into_iter())
        .map(|(setting, sum, count)| (setting, sum / count))
        .collect()
}

/// Records of a shipped scenario.
pub fn records(scenario: &str, more: &[&str]) -> Rows {
    let sandbox = Sandbox::new();
    let path = repository().join("scenarios").join(scenario);
    let path = path.to_str().expect("UTF-8");
    let arguments = [&["run", path, "-o", "out"], more].concat();
    sandbox.run(&arguments).success();
    Rows::parse(&sandbox.read("out/records.csv"))
}

/// A ranking as CSV.
pub fn ranked(sandbox: &Sandbox, file: &str, more: &[&str]) -> Rows {
    let arguments = [&["rank", file, "--format", "csv"], more].concat();
    Rows::parse(&stdout(&sandbox.run(&arguments).success()))
}

pub fn first(rows: &Rows) -> Row<'_> {
    rows.iter().next().expect("there is a row")
}

/// The number of GPUs in the shipped trace: (seconds, GPUs).
fn capacity() -> Vec<(f64, u32)> {
    let mut gpus = 0;
    let table = repository_file("data/clouds/lifetimes/trace.csv");
    let rows = table
        .lines()
        .filter_map(|line| line.strip_prefix("gcp-2025-a100,"));
    rows.map(|row| {
        let cells: Vec<u32> = row
            .split(',')
            .map(|cell| cell.parse().expect("a number"))
            .collect();
        gpus = gpus + cells[1] - cells[2];
        (f64::from(cells[0]), gpus)
    })
    .collect()
}

/// Minimum seconds in which `work` is done from a time of the trace on, over all plans (GPUs, rate) and times of change, with
/// full knowledge of the future: VMs train `boot` seconds after their start, and a change of plan needs `pause`.
fn bound(from: f64, work: f64, plans: &[(u32, f64)], (boot, pause): (f64, f64)) -> f64 {
    let trace = capacity();
    let length = trace.last().expect("changes").0;
    let changes: Vec<(f64, u32)> = (0..4)
        .flat_map(|round| {
            trace
                .iter()
                .map(move |(at, gpus)| (at + f64::from(round) * length, *gpus))
        })
        .collect();
    // After the last change the trace begins again.
    let there_are = |at: f64| {
        changes
            .iter()
            .rfind(|(since, _)| *since <= at)
            .map_or(0, |c| c.1)
    };
    let usable = |at: f64| {
        let window = changes
            .iter()
            .filter(|(since, _)| *since > at - boot && *since <= at);
        window
            .map(|c| c.1)
            .fold(there_are((at - boot).max(from)), u32::min)
    };
    let mut points: Vec<f64> = changes
        .iter()
        .flat_map(|(at, _)| [*at, at + boot])
        .collect();
    points.push(from + boot);
    points.retain(|at| *at >= from + boot);
    points.sort_by(f64::total_cmp);
    points.dedup();
    // Work done, by the last plan; none for one that had to stop.
    let mut done: Vec<Option<f64>> = vec![None; plans.len()];
    let mut most = 0.0_f64;
    let mut is_start = true;
    for pair in points.windows(2) {
        let (at, seconds) = (pair[0], pair[1] - pair[0]);
        let gpus = usable(at);
        let mut earliest = f64::INFINITY;
        let next: Vec<Option<f64>> = (plans.iter().zip(&done))
            .map(|((needs, rate), own)| {
                if *needs > gpus {
                    return None;
                }
                let changed = if is_start { 0.0 } else { pause };
                let ways = [(Some(most), changed), (*own, 0.0)];
                let mut best = most;
                for (begun, pause) in ways {
                    let Some(begun) = begun else { continue };
                    earliest = earliest.min(at + pause + (work - begun) / rate);
                    best = best.max(begun + (seconds - pause).max(0.0) * rate);
                }
                Some(best)
            })
            .collect();
        if earliest <= pair[1] {
            return earliest - from;
        }
        is_start &= next.iter().all(Option::is_none);
        done = next;
        most = done.iter().flatten().copied().fold(most, f64::max);
    }
    f64::INFINITY
}

/// Re-planning on the shipped trace: at most 1.05 times the exact bound with full knowledge of the future, 1.25 times with
/// the best forecast; the best fixed plan needs longer.
#[test]
fn re_planning_is_near_the_exact_bound() {
    let sandbox = Sandbox::new();
    let path = repository().join("scenarios/llm-availability.toml");
    let fixed = ranked(
        &sandbox,
        path.to_str().expect("UTF-8"),
        &["--objective", "time"],
    );
    let plans: Vec<(u32, f64)> = (fixed.iter())
        .map(|row| (row.number("vms") as u32, row.number("tokens_per_s")))
        .collect();
    let starts = 200;
    let length = capacity().last().expect("changes").0;
    let sum: f64 = (0..starts)
        .map(|n| {
            bound(
                (f64::from(n) + 0.5) / f64::from(starts) * length,
                1e8,
                &plans,
                (120.0, 60.0),
            )
        })
        .sum();
    let bound_h = sum / f64::from(starts) / 3600.0;
    let found = by_setting(&records("llm-re-plan.toml", &[]), "time_h");
    let of = |forecast: &str| {
        let setting = format!("parallel.reaction.forecast={forecast}");
        found
            .iter()
            .find(|(own, _)| *own == setting)
            .expect("it was run")
            .1
            / bound_h
    };
    // The mean of 100 starts is known to half a per cent.
    assert!(
        (0.99..1.05).contains(&of("clairvoyant")),
        "{found:?} over {bound_h}"
    );
    for forecast in ["none", "last-value", "moving-average", "trained"] {
        assert!(
            (1.0..1.25).contains(&of(forecast)),
            "{found:?} over {bound_h}"
        );
    }
    assert!(of("trained") < of("none"), "{found:?}");
    assert!(first(&fixed).number("time_h") / bound_h > 1.25);
}

/// The number of spot VMs does not concern users on demand: `capacity` changes no figure of such a plan.
#[test]
fn who_rents_on_demand_waits_for_no_capacity() {
    let scenario = r#"
replicas = 4

[parallel]
profile = "gpt-neo-2.7b"
global_batch = 128
target_tokens = 1e8
micro_batch = 1
tensor = 1
pipeline = 4
data = [2, 4]
most_gpus = 16
capacity = true
checkpoint_gb_per_s = 2
nodes = [{ vm = "a2-highgpu-1g", gpu = "A100-40", gpu_memory_gib = 40, markets = ["on-demand"] }]

[parallel.reaction]
policy = "drop-replica"
costs = "parcae"

[cluster]
start_up_s = 120

[failures]
causes = [{ name = "any", loses = "node", per_gpu_h = 0.05 }]
replacement_s = 300
restart_s = 30
checkpoint = { periodic-s = 150 }

[spot]
lifetime = "gcp-2025-a100-trace"
warm_restart_s = 30
checkpoint = { periodic-s = 150 }

[pricing]
policies = ["p"]

[pricing.define.p]
usd_per_hour_of = { a2-highgpu-1g = 4 }
spot_usd_per_hour_of = { a2-highgpu-1g = 2 }

[search]
strategies = ["oracle"]
"#;
    let sandbox = Sandbox::with(scenario);
    let always = scenario.replace("capacity = true", "capacity = false");
    sandbox.write("always.toml", &always);
    let of = |file: &str| {
        let rows = ranked(&sandbox, file, &[]);
        (rows.iter())
            .map(|row| (row.number("time_h"), row.number("cost_usd")))
            .collect::<Vec<_>>()
    };
    let traced = of("scenario.toml");
    assert_eq!(traced.len(), 2);
    assert_eq!(traced, of("always.toml"));
}
