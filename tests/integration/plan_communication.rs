//! The share of communication in a step of a parallel plan.

use crate::sandbox::{Rows, Sandbox, stdout};

/// Link bandwidth inside a node against the stated share of communication, at tensor degree 4: ten times the link saves nine
/// tenths of it, except for a collective's time in addition to its bytes.
#[test]
fn a_plan_is_as_much_communication_as_a_faster_link_saves() {
    let scenario = |link: f64| {
        format!(
            r#"
[parallel]
model = {{ name = "wide", layers = 5, hidden = 8192, heads = 128, vocabulary = 30522, sequence = 131 }}
precision = "fp16"
runtime = {{ base = "megatron-lm", attention_kernel = "plain", recompute = "none", shard = "none" }}
global_batch = [62]
target_steps = 97
most_gpus = 4
tensor = [4]
micro_batch = [62]
nodes = [{{ vm = "box", gpu = "mine", gpus = 4, network_gbit_per_s = 10 }}]
[parallel.gpus.mine]
tflops = 123.7
memory_gib = 32
memory_gb_per_s = 911
link_gb_per_s = {link}
multiprocessors = 80
generation = "volta"
[pricing]
policies = ["listed"]
[pricing.define.listed]
usd_per_vm_hour = 12.24
[search]
strategies = ["oracle"]
objectives = ["time"]
"#
        )
    };
    let of = |link: f64| {
        let sandbox = Sandbox::with(&scenario(link));
        let ranked = sandbox
            .run(&["rank", "scenario.toml", "--format", "csv"])
            .success();
        let rows = Rows::parse(&stdout(&ranked));
        let row = rows.iter().next().expect("a plan");
        (row.number("time_h"), row.number("communication"))
    };
    let ((slow_h, share), (fast_h, _)) = (of(32.7), of(327.0));
    let saved = 1.0 - fast_h / slow_h;
    assert!(share > 0.4, "{share}");
    assert!(
        (saved / (0.9 * share) - 1.0).abs() < 0.02,
        "{saved} of {share}"
    );
}

/// The communication inside of measured layers is unknown: it has no figure. At degree 1 they contain none.
#[test]
fn communication_inside_of_measured_layers_is_no_zero() {
    let scenario = "replicas = 1\n[parallel]\nprofile = \"gpt-neo-2.7b\"\nglobal_batch = 128\ntarget_tokens = 1e8\nmicro_batch = 1\n\
                    tensor = [1, 2]\npipeline = 4\ndata = 2\nmost_gpus = 16\n\
                    nodes = [{ vm = \"a2-highgpu-4g\", gpu = \"A100-40\", gpu_memory_gib = 40 }]\n\
                    [pricing]\npolicies = [\"p\"]\n[pricing.define.p]\nusd_per_vm_hour = 4\n\
                    [search]\nstrategies = [\"oracle\"]\nobjectives = [\"time\"]\n";
    let sandbox = Sandbox::with(scenario);
    let csv = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--format", "csv"])
            .success(),
    );
    let rows = Rows::parse(&csv);
    let of = |tensor: &str| {
        let row = rows.iter().find(|row| row.text("other").contains(tensor));
        row.expect(tensor).text("communication")
    };
    assert_eq!(of("tensor=2"), "");
    assert!(of("tensor=1").parse::<f64>().expect("a share") > 0.0);
    let wide = stdout(&sandbox.run(&["rank", "scenario.toml", "--wide"]).success());
    assert_eq!(wide.matches("  in the profile").count(), 1, "{wide}");
    let only = [
        "run",
        "scenario.toml",
        "-o",
        "out",
        "-s",
        "parallel.tensor=2",
    ];
    sandbox.run(&only).success();
    let records = Rows::parse(&sandbox.read("out/records.csv"));
    assert_eq!(
        records.iter().next().expect("one").text("communication"),
        ""
    );
}
