//! Advice for models without measurements: what to rent, within which limits, on spot VMs, and what is worth measuring.

use serde_json::Value;

use crate::sandbox::{Sandbox, stderr, stdout};

/// Eight H100 train Llama 3 8B with the published tokens per second, 5,762 and 6,667 per GPU without and with a compiler, and
/// a plan for 70 B on 64 fits.
#[test]
fn advice_for_a_model_names_what_to_rent() {
    let sandbox = Sandbox::new();
    let advice = |arguments: &[&str], code: i32| -> Value {
        let fixed = ["advise", "--tokens", "1e9", "--format", "json"];
        let all: Vec<&str> = fixed.iter().chain(arguments).copied().collect();
        let done = sandbox.run(&all).code(code);
        serde_json::from_str(&stdout(&done)).expect("JSON")
    };
    let small = advice(
        &[
            "--model",
            "llama-3-8b",
            "--gpus",
            "H100",
            "--most-gpus",
            "8",
            "--runtime",
            "fsdp",
            "--precision",
            "bf16",
        ],
        0,
    );
    let best = &small["choices"][0];
    let each = best["tokens_per_s"].as_f64().expect("a rate") / 8.0;
    assert!((0.9 * 5762.0..1.1 * 6667.0).contains(&each), "{each}");
    assert!(
        best["cost_p5_usd"].as_f64() < best["cost_usd"].as_f64(),
        "{small}"
    );
    let large = advice(
        &[
            "--model",
            "llama-3-70b",
            "--gpus",
            "H100,A100-80",
            "--objective",
            "time",
        ],
        0,
    );
    assert_eq!(large["choices"][0]["gpus"], 64, "{large}");
    let within = advice(
        &["--model", "llama-3-8b", "--gpus", "H100", "--max-cost", "1"],
        3,
    );
    assert_eq!(within["is_within"], false);
    let wrong = sandbox
        .run(&[
            "advise", "--model", "lama", "--tokens", "1e9", "--gpus", "H100,T40",
        ])
        .code(2);
    let wrong = stderr(&wrong);
    assert!(
        wrong.contains("unknown model `lama`") && wrong.contains("unknown GPU `T40`"),
        "{wrong}"
    );
    let nothing = stderr(&sandbox.run(&["advise"]).code(2));
    assert!(nothing.contains("required"), "{nothing}");
}

/// Measurements on GPUs that are too slow are worth nothing, at any price.
#[test]
fn only_plans_that_keep_the_limits_are_proposed_to_be_measured() {
    let sandbox = Sandbox::new();
    let measured = |limits: &[&str]| {
        let head = [
            "advise",
            "--model",
            "llama-3.2-1b",
            "--tokens",
            "5e9",
            "--format",
            "json",
        ];
        let gpus = ["--gpus", "B200,H100,L4", "--most-gpus", "16"];
        let done = sandbox.run(&[&head[..], &gpus, limits].concat()).success();
        let advice: Value = serde_json::from_str(&stdout(&done)).expect("JSON");
        let all = advice["measurements"].as_array().expect("a list").clone();
        let gpu = |one: &Value| one["gpu"].as_str().expect("a name").to_owned();
        all.iter().map(gpu).collect::<Vec<_>>()
    };
    assert!(measured(&[]).contains(&"L4".to_owned()));
    assert!(!measured(&["--max-time", "3"]).contains(&"L4".to_owned()));
}

/// Twice as many tokens cost twice as much.
#[test]
fn the_text_of_advice_says_what_it_rests_on() {
    let sandbox = Sandbox::new();
    let done = sandbox
        .run(&[
            "advise",
            "--model",
            "llama-3.2-1b",
            "--tokens",
            "2e9",
            "--gpus",
            "A100-80,H100",
        ])
        .success();
    let text = stdout(&done);
    for part in [
        "Take\n",
        "Measure first",
        "nothing was measured",
        "per 10⁹ tokens",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

/// Machines that another provider rents more cheaply are left out: no single provider has a better answer.
#[test]
fn no_provider_alone_is_better_than_all() {
    let sandbox = Sandbox::new();
    let best = |provider: &[&str]| {
        let head = [
            "advise",
            "--model",
            "llama-3.2-1b",
            "--tokens",
            "3.7e9",
            "--format",
            "json",
        ];
        let run = sandbox.run(&[&head[..], &["--most-gpus", "16"], provider].concat());
        let advice: Value = serde_json::from_str(&stdout(&run.success())).expect("JSON");
        advice["choices"][0]["cost_usd"].as_f64().expect("a number")
    };
    let alone = ["aws", "gcp", "azure", "lambda", "nebius", "runpod"];
    let least = alone
        .map(|name| best(&["--provider", name]))
        .into_iter()
        .fold(f64::MAX, f64::min);
    assert_eq!(best(&[]), least);
}

/// With set-ups of 6 minutes, VMs of which one is lost in less than 18 minutes are no plan: exactly at the limit they are,
/// just below not, and the minimum number of VMs always stays.
#[test]
fn spot_vms_live_three_set_ups() {
    let sandbox = Sandbox::new();
    let plans = |run_h: &str, setup_min: &str| {
        let head = [
            "advise", "--model", "gpt2", "--tokens", "1e8", "--market", "spot", "--gpus", "A10G",
        ];
        let lives = [
            "--spot-run-h",
            run_h,
            "--setup-min",
            setup_min,
            "--most-gpus",
            "16",
        ];
        let run = sandbox.run(
            &[
                &head[..],
                &lives,
                &["--format", "json", "--provider", "aws"],
            ]
            .concat(),
        );
        let advice: Value = serde_json::from_str(&stdout(&run.success())).expect("JSON");
        advice["plans"].as_u64().expect("a number")
    };
    let (at, below, short) = (plans("1.2", "6"), plans("1.1999", "6"), plans("0.3", "6"));
    assert!(
        at > below && below >= short && short >= 1,
        "{at} {below} {short}"
    );
    assert_eq!(plans("0.3", "0"), plans("1.2", "0"));
}
