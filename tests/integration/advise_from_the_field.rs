//! Published reports of users who choose clusters, in round numbers of our own: each with the right answer.

use serde_json::Value;

use crate::sandbox::{Sandbox, stderr, stdout};

/// Two machines are slower than one, with as many samples on each worker.
const SLOWER: &str = "vm,workers,batch,step_s
srv/8,8,64,0.3
srv/8,16,128,1.2
";
/// On n machines a step is n times as long.
const FLAT: &str = "vm,workers,batch,step_s
srv/8,8,64,2.0
srv/8,16,128,4.0
srv/8,24,192,6.0
srv/8,32,256,8.0
";
/// Throughput falls.
const FALLING: &str = "vm,workers,batch,step_s
srv/8,8,240,1.0
srv/8,16,480,3.0
srv/8,24,720,6.0
";
/// Two servers of different sizes are slower than one.
const MIXED: &str = "vm,workers,batch,step_s
srv/1,1,8,0.40
srv/2,2,16,0.42
srv/3,3,24,0.44
srv/4,4,32,0.46
srv/2,4,32,1.60
srv/2-4,6,48,2.40
";
/// Two and more machines only.
const SEVERAL: &str = "vm,workers,batch,step_s
srv,1,16,0.2
srv/4,8,128,0.3
srv/4,16,256,0.32
";
/// One machine only, whose workers hardly wait for each other.
const ONE_MACHINE: &str = "vm,workers,batch,step_s
srv,1,32,0.50
srv/2,2,64,0.51
srv/4,4,128,0.53
";

fn advised(table: &str, more: &[&str], code: i32) -> (Value, String) {
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", table);
    let usual = [
        "advise",
        "rows.csv",
        "--samples-per-epoch",
        "1000000",
        "--epochs",
        "1",
        "--usd-per-hour",
        "srv=4",
        "--only-measured",
        "--setup-min",
        "0",
    ];
    let text = stdout(&sandbox.run(&[&usual[..], more].concat()).code(code));
    let programs = [&usual[..], &["--format", "json"], more].concat();
    let json = stdout(&sandbox.run(&programs).code(code));
    // Sentences are wrapped.
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = serde_json::from_str(&json).expect("it is JSON");
    (found, words.join(" "))
}

fn choices(answer: &Value) -> impl Iterator<Item = (&str, u64, u64, u64)> {
    let all = answer["choices"].as_array().expect("choices").iter();
    all.map(|choice| {
        let whole = |key: &str| choice[key].as_u64().expect("a number");
        let vm = choice["vm"].as_str().expect("a shape");
        (vm, whole("vms"), whole("workers"), whole("batch"))
    })
}

/// The prediction for `workers` with `batch` on a shape.
fn said<'a>(answer: &'a Value, vm: &str, workers: u64, batch: u64) -> &'a Value {
    let all = answer["choices"].as_array().expect("choices").iter();
    let mut own = all.filter(|c| c["vm"] == vm && c["workers"] == workers && c["batch"] == batch);
    own.next().expect("a choice")
}

const TIME: [&str; 2] = ["--objective", "time"];

#[test]
fn two_machines_slower_than_one_are_no_way_out_and_that_is_said() {
    let (answer, text) = advised(SLOWER, &TIME, 0);
    assert_eq!(choices(&answer).next(), Some(("srv/8", 1, 8, 64)));
    assert!(
        text.contains("more VMs did not help here: 0.30 s on 1 VM, 1.20 s on 2"),
        "{text}"
    );
    assert!(text.contains("the law of steps on srv is poor"), "{text}");
    // No step of 8 samples each gets faster with more machines.
    let step = |vms: u64| {
        let of = said(&answer, "srv/8", 8 * vms, 64 * vms);
        of["time_h"].as_f64().expect("hours") * vms as f64
    };
    assert!((2..4).all(|vms| step(vms + 1) >= step(vms)), "{text}");
}

#[test]
fn flat_throughput_is_no_gain_beyond_what_was_measured() {
    let (answer, text) = advised(FLAT, &TIME, 0);
    let hours = 2.0 * 1e6 / 64.0 / 3600.0;
    assert_eq!(choices(&answer).next(), Some(("srv/8", 1, 8, 64)));
    // Eight machines need as long, and the interval contains it.
    let eight = said(&answer, "srv/8", 64, 512);
    let end = |key: &str| eight[key].as_f64().expect("hours");
    assert!(
        (end("time_p5_h")..end("time_p95_h")).contains(&hours),
        "{eight}"
    );
    assert!((end("time_h") / hours - 1.0).abs() < 0.2, "{eight}");
    assert!(!text.contains("expected to be better"), "{text}");
}

#[test]
fn falling_throughput_keeps_to_one_machine_by_time_and_by_cost() {
    for objective in ["time", "cost"] {
        let (answer, _) = advised(FALLING, &["--objective", objective], 0);
        assert_eq!(choices(&answer).next(), Some(("srv/8", 1, 8, 240)));
    }
}

#[test]
fn one_server_is_better_than_two_that_are_unlike() {
    let (answer, text) = advised(MIXED, &[], 0);
    assert_eq!(choices(&answer).next(), Some(("srv/4", 1, 4, 32)));
    let uneven = said(&answer, "srv/2-4", 6, 48);
    assert_eq!(uneven["provenance"], "measured", "{text}");
}

#[test]
fn every_count_within_bounds_is_a_candidate() {
    let (answer, _) = advised(SEVERAL, &[], 0);
    let mut of_four: Vec<u64> = (choices(&answer).filter(|c| c.0 == "srv/4"))
        .map(|c| c.2)
        .collect();
    of_four.sort_unstable();
    of_four.dedup();
    assert_eq!(of_four, [1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32]);
    // The limit of a VM type applies to all its shapes.
    let most = choices(&answer).filter(|c| c.0 == "srv").map(|c| c.2).max();
    assert_eq!(most, Some(32));
}

#[test]
fn what_was_measured_on_one_machine_says_little_of_several_and_that_is_said() {
    let (answer, text) = advised(ONE_MACHINE, &TIME, 0);
    let first = &answer["choices"][0];
    assert!(
        text.contains("several VMs of srv: measured on one VM only"),
        "{text}"
    );
    assert_eq!(first["provenance"], "extrapolated");
    assert!(text.contains("It lies beyond the measurements"), "{text}");
    let wide = first["time_p95_h"].as_f64() > first["time_p5_h"].as_f64().map(|h| 1.5 * h);
    assert!(wide, "{first}");
}

#[test]
fn deadlines_are_kept_surely_or_likely_or_not() {
    // Sixteen workers need 0.35 h, and 32 of them about 0.21 h, within a third or so.
    for (hours, word, code) in [
        ("0.5", "surely", 0),
        ("0.24", "likely", 0),
        ("0.02", "no", 3),
    ] {
        let (answer, text) = advised(SEVERAL, &["--max-time", hours], code);
        assert!(
            text.contains(&format!("keeps to the limits: {word} (")),
            "{text}"
        );
        assert_eq!(
            answer["choices"].as_array().map(Vec::is_empty),
            Some(code == 3)
        );
    }
}

/// Runs of llama-3-8b on eight H100s: different last columns.
const RUN: &str = "model,gpu,gpus,micro_batch,sequence,precision,global_batch";

#[test]
fn plans_of_other_units_are_asked_about_and_slow_set_ups_are_read_again() {
    let sandbox = Sandbox::new();
    let of = |column: &str, values: &[(u32, f64)]| {
        let rows = values
            .iter()
            .map(|(batch, value)| format!("llama-3-8b,H100,8,1,8192,bf16,{batch},{value}\n"));
        format!("{RUN},{column}\n{}", rows.collect::<String>())
    };
    let import = ["import", "runs", "runs.csv", "--out", "own.toml", "--force"];
    for (table, says) in [
        (
            of("step_s", &[(16, 2520.0), (32, 5040.0)]),
            "divide milliseconds by 1000",
        ),
        (
            of("tokens_per_s_per_gpu", &[(16, 52_000.0)]),
            "divide that of all by `gpus`",
        ),
        (
            of("tokens_per_s_per_gpu", &[(131_072, 6500.0)]),
            "divide tokens by `sequence`",
        ),
    ] {
        sandbox.write("runs.csv", &table);
        let said = stderr(&sandbox.run(&import).code(2));
        let words: Vec<&str> = said.split_whitespace().collect();
        assert!(words.join(" ").contains(says), "{said}");
    }
    // A setup three times slower than published.
    sandbox.write(
        "runs.csv",
        &of("step_s", &[(16, 8.058), (32, 16.115), (64, 32.2)]),
    );
    sandbox.run(&import).success();
    let advise = [
        "advise",
        "--model",
        "llama-3-8b",
        "--tokens",
        "1e9",
        "--provider",
        "aws",
        "--gpus",
        "H100",
        "--runtime",
        "./own.toml",
    ];
    sandbox.run(&advise).success();
}
