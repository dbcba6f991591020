//! Forms of parallel plans, and replicas on mixed machines.

use crate::plan_lives::{first, ranked};
use crate::sandbox::{Rows, Sandbox};

/// Every schedule and form has equal times by formula, by its critical path and event by event; sharing and offloading change
/// memory and time as they should.
#[test]
fn forms_take_as_long_in_every_fidelity() {
    let scenario = r#"
replicas = 1

[parallel]
model = "gpt3-2.7b"
runtime = { base = "megatron-lm", attention_kernel = "flash", offload_gb_per_s = 20, coding_gb_per_s = 3000 }
global_batch = 64
target_steps = 50
micro_batch = 1
tensor = 2
pipeline = 4
data = 2
most_gpus = 64
nodes = [{ vm = "a3-highgpu-8g", network_gbit_per_s = 3200 }]

[pricing]
policies = ["p"]

[pricing.define.p]
usd_per_hour_of = { a3-highgpu-8g = 60 }

[search]
strategies = ["oracle"]
objectives = ["time"]
"#;
    let mut times = Vec::new();
    for form in [
        "parallel.schedule=\"1f1b\"",
        "parallel.schedule=\"zb-h1\"",
        "parallel.schedule=\"interleaved-1f1b\"",
        "parallel.recompute=\"full\"",
        "parallel.shard=\"optimizer\"",
        "parallel.offload=true",
        "parallel.context=2",
        "parallel.compress=10",
    ] {
        let of = |fidelity: &str| {
            let sandbox = Sandbox::with(scenario);
            let fidelity = format!("fidelity=\"{fidelity}\"");
            let run = [
                "run",
                "scenario.toml",
                "-o",
                "out",
                "-s",
                form,
                "-s",
                &fidelity,
            ];
            sandbox.run(&run).success();
            let rows = Rows::parse(&sandbox.read("out/records.csv"));
            (
                first(&rows).number("time_h"),
                first(&rows).number("peak_gib"),
            )
        };
        let [fast, event] = ["fast", "event"].map(of);
        assert!(
            (event.0 / fast.0 - 1.0).abs() < 1e-6,
            "{form}: {fast:?} {event:?}"
        );
        times.push(fast);
    }
    let [
        flat,
        zero_bubble,
        interleaved,
        recomputed,
        sharded,
        offloaded,
        shared,
        compressed,
    ] = times[..]
    else {
        panic!("a form is missing");
    };
    assert!(
        zero_bubble.0 < flat.0 && interleaved.0 < flat.0,
        "{times:?}"
    );
    // Virtual stages hold more of the work that runs ahead.
    assert!(interleaved.1 > flat.1);
    assert!(recomputed.0 > flat.0 && recomputed.1 < flat.1, "{times:?}");
    assert!(sharded.0 <= flat.0 && sharded.1 < flat.1, "{times:?}");
    assert!(offloaded.0 >= flat.0 && offloaded.1 < flat.1, "{times:?}");
    // Twice the GPUs share each sequence.
    assert!(shared.0 < flat.0 && shared.1 < flat.1, "{times:?}");
    // Links need more time than coding, and nothing else changes.
    assert!(compressed.0 < flat.0 && compressed.1 == flat.1, "{times:?}");
}

/// Mixed replicas by a key: half of them on each VM type, as fast as the slower, on as many VMs of each.
#[test]
fn unlike_replicas_are_as_fast_as_the_slower() {
    let scenario = r#"
replicas = 1

[parallel]
model = "gpt3-2.7b"
runtime = "megatron-lm"
global_batch = 64
target_steps = 50
micro_batch = 1
tensor = 1
pipeline = 4
data = 4
most_gpus = 64
replicas = [["a2-ultragpu-8g"], ["a3-highgpu-8g"]]
nodes = [{ vm = "a2-ultragpu-8g", zone = "x" }, { vm = "a3-highgpu-8g", zone = "y" }]

[pricing]
policies = ["p"]

[pricing.define.p]
usd_per_hour_of = { a2-ultragpu-8g = 40, a3-highgpu-8g = 80 }

[search]
strategies = ["oracle"]
objectives = ["time"]
"#;
    let sandbox = Sandbox::with(scenario);
    let rows = ranked(&sandbox, "scenario.toml", &[]);
    let of = |vm: &str| {
        let row = rows.iter().find(|row| row.text("vm") == vm).expect(vm);
        (
            row.number("time_h"),
            row.number("cost_usd"),
            row.text("held").to_owned(),
        )
    };
    let (slow, fast) = (of("a2-ultragpu-8g"), of("a3-highgpu-8g"));
    let both = of("a2-ultragpu-8g|a3-highgpu-8g");
    assert!(
        fast.0 < slow.0 && slow.0 <= both.0 && both.0 < 1.15 * slow.0,
        "{slow:?} {both:?}"
    );
    assert_eq!(both.2, "1 a2-ultragpu-8g + 1 a3-highgpu-8g");
    assert!((both.1 / (both.0 * 120.0) - 1.0).abs() < 1e-6, "{both:?}");
}
