//! Fine-tuning through the program: measured steps and peaks, advice, and questions that cannot be answered.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Sandbox, repository, stderr, stdout};

const TABLE: &str = "qwen-finetune.csv";

fn shipped(sandbox: &Sandbox) {
    let path = repository().join("data/plans").join(TABLE);
    sandbox.write(TABLE, &fs::read_to_string(path).expect("it is shipped"));
}

/// 27 steps and peaks of Qwen 7B and 72B: a mean error of at most 8 % without fitting, with a model and with a method held
/// out; no peak is above its interval.
#[test]
fn measured_steps_and_peaks_are_foretold() {
    let sandbox = Sandbox::new();
    shipped(&sandbox);
    let judge = ["validate", "plans", TABLE, "--runtime", "transformers"];
    let done = sandbox
        .run(&[&judge[..], &["--format", "json"]].concat())
        .success();
    let value: Value = serde_json::from_str(&stdout(&done)).expect("JSON");
    let splits = value["items"].as_array().expect("a list");
    for left_out in ["nothing fitted", "a tenth", "a model", "a method"] {
        let split = splits.iter().find(|split| split["left_out"] == left_out);
        let error = split.and_then(|split| split["error_%"].as_f64());
        assert!(error.expect(left_out) <= 8.0, "{left_out}: {splits:?}");
    }
    let text = stdout(&sandbox.run(&judge).success());
    let peaks = text.split("Peak memory of 27: ").nth(1).expect("measured");
    let mean: f64 = peaks
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a mean");
    assert!(mean <= 8.0 && peaks.contains("hold 100 %"), "{text}");
}

/// The shipped runtime equals `import runs` of the shipped runs, except for values that one cluster of eight GPUs cannot determine.
#[test]
fn the_shipped_runtime_is_what_its_runs_tell() {
    let sandbox = Sandbox::new();
    shipped(&sandbox);
    let import = [
        "import",
        "runs",
        TABLE,
        "--runtime",
        "transformers-unfitted",
        "--out",
        "own.toml",
    ];
    sandbox.run(&import).success();
    let path = repository().join("data/runtimes/transformers.toml");
    let told = |text: &str| -> Vec<String> {
        let is_told = |line: &&str| !line.starts_with("cluster") && !line.starts_with("doubling");
        text.lines().filter(is_told).map(str::to_owned).collect()
    };
    assert_eq!(
        told(&sandbox.read("own.toml")),
        told(&fs::read_to_string(path).expect("shipped"))
    );
}

fn advice(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let fixed = ["advise", "--format", "json", "--model"];
    let done = sandbox.run(&[&fixed[..], arguments].concat()).success();
    serde_json::from_str(&stdout(&done)).expect("JSON")
}

/// Samples are packed into sequences: packed as many tokens as they have, padded a whole sequence each; twice the epochs are
/// twice the tokens.
#[test]
fn samples_are_packed_or_padded() {
    let sandbox = Sandbox::new();
    let tokens = |more: &[&str]| -> f64 {
        let own = [
            "llama-3.2-1b",
            "--train",
            "lora:16",
            "--samples",
            "1000",
            "--mean-length",
            "300",
            "--gpus",
            "L4",
        ];
        let value = advice(&sandbox, &[&own[..], more].concat());
        assert_eq!(value["train"], "lora:16");
        assert_eq!(
            (value["sequence"].as_u64(), value["batch"].as_u64()),
            (Some(2048), Some(16))
        );
        value["tokens"].as_f64().expect("a number")
    };
    assert_eq!(tokens(&[]), 300_000.0);
    assert_eq!(tokens(&["--epochs", "2"]), 600_000.0);
    assert_eq!(tokens(&["--padding"]), 2_048_000.0);
}

/// The memory of a GPU shrinks with the number of trained parameters; the answer is last and names method, memory, hours and
/// USD; a T4, which has no bf16, computes with fp16.
#[test]
fn advice_names_method_and_memory() {
    let sandbox = Sandbox::new();
    let held = |train: &str| -> f64 {
        let own = [
            "llama-3.2-3b",
            "--tokens",
            "1e7",
            "--gpus",
            "H100",
            "--most-gpus",
            "1",
            "--global-batch",
            "1",
            "--train",
            train,
        ];
        let value = advice(&sandbox, &own);
        value["choices"][0]["memory_gib"]
            .as_f64()
            .expect("a number")
    };
    let [full, lora, qlora] = ["full", "lora:16", "qlora:16"].map(held);
    assert!(qlora < lora && lora < full, "{qlora} {lora} {full}");
    let own = [
        "advise",
        "--model",
        "llama-3.2-1b",
        "--train",
        "qlora:8",
        "--tokens",
        "1e7",
        "--gpus",
        "T4",
    ];
    let text = stdout(&sandbox.run(&own).success());
    let answer = text.split("\nTake\n").nth(1).expect("an answer");
    for part in [
        "1 × T4",
        "`qlora:8`: ",
        " GiB of 16.00 on each GPU",
        " h (",
        "$",
        "tokens per second",
    ] {
        assert!(answer.contains(part), "{part}: {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn questions_without_an_answer_say_what_would_have_one() {
    let sandbox = Sandbox::new();
    let told = |arguments: &[&str]| {
        let head = ["advise", "--model", "llama-3-8b"];
        stderr(&sandbox.run(&[&head[..], arguments].concat()).code(2))
    };
    let data = ["--samples", "1000", "--mean-length", "300"];
    let wrong = |train: &str| told(&[&["--train", train], &data[..]].concat());
    assert!(wrong("lora:0").contains("a rank of 0 makes no adapter"));
    assert!(wrong("lora:5000").contains("from 1 to the 4096 values"));
    assert!(wrong("frozen:33").contains("Llama 3 8B has 32 blocks"));
    let unknown = wrong("dora:16");
    for part in [
        "unknown method of training `dora:16`",
        "full; lora, qlora, lora:RANK and qlora:RANK",
        "frozen:BLOCKS",
    ] {
        assert!(unknown.contains(part), "{part}: {unknown}");
    }
    // The usual rank is not printed.
    let by_rank = |train: &str| {
        let head = ["advise", "--model", "llama-3.2-1b", "--train", train];
        stdout(&sandbox.run(&[&head[..], &data[..]].concat()).success())
    };
    assert_eq!(by_rank("lora"), by_rank("lora:16"));
    let optimizer = told(&[&["--train", "full", "--optimizer", "sgd"], &data[..]].concat());
    assert!(optimizer.contains("adamw, adamw-8bit"), "{optimizer}");
    let none = told(&["--train", "full", "--samples", "0", "--mean-length", "300"]);
    assert!(none.contains("expected a whole number from 1"), "{none}");
    let long = told(&[
        "--train",
        "full",
        "--samples",
        "10",
        "--mean-length",
        "300",
        "--sequence",
        "256",
    ]);
    assert!(
        long.contains("longer than a sequence of 256") && long.contains("--sequence 512"),
        "{long}"
    );
    let epochs = told(&["--train", "full", "--tokens", "1e7", "--epochs", "3"]);
    assert!(
        epochs.contains("`--epochs` without `--samples`"),
        "{epochs}"
    );
    assert!(told(&["--train", "full"]).contains("required"));
    let small = told(
        &[
            &["--train", "full", "--gpus", "RTX-4090", "--most-gpus", "1"],
            &data[..],
        ]
        .concat(),
    );
    for part in [
        "needs",
        "on one GPU, and a RTX-4090 has 24.00",
        "--train lora:16 on these",
        "16 × RTX-4090",
        "or one",
    ] {
        assert!(small.contains(part), "{part}: {small}");
    }
}

/// A scenario sets fine-tuning with a key; an impossible value is reported with its place.
#[test]
fn a_scenario_fine_tunes() {
    let sandbox = Sandbox::new();
    let of = |keys: &str| {
        format!(
            "parallel = {{ model = \"llama-3.2-1b\", sequence = 1024, global_batch = [8], target_tokens = 1e7, most_gpus = 1, nodes = [{{ vm = \"g6.xlarge\" }}], {keys} }}\n\
             pricing = {{ policies = [\"own\"], define.own.usd_per_vm_hour = 1 }}\nsearch.strategies = [\"oracle\"]\n"
        )
    };
    let peak = |keys: &str| -> f64 {
        sandbox.write("own.toml", &of(keys));
        let done = sandbox
            .run(&["rank", "own.toml", "--format", "json"])
            .success();
        let value: Value = serde_json::from_str(&stdout(&done)).expect("JSON");
        value["configurations"][0]["peak_gib"]
            .as_f64()
            .expect("a number")
    };
    let one = "micro_batch = [1], ";
    let [full, eight, lora] = [
        "train = \"full\"",
        "train = \"full\", optimizer = \"adamw-8bit\"",
        "train = \"lora:16\"",
    ]
    .map(|keys| peak(&format!("{one}{keys}")));
    assert!(lora < eight && eight < full, "{lora} {eight} {full}");
    sandbox.write(
        "own.toml",
        &of("train = \"lora:9999\", optimizer = \"sgd\""),
    );
    let wrong = stderr(&sandbox.run(&["check", "own.toml"]).code(2));
    assert!(
        wrong.contains("`parallel.train`: `lora:9999`: a rank of 9999"),
        "{wrong}"
    );
    sandbox.write("own.toml", &of("optimizer = \"sgd\""));
    let wrong = stderr(&sandbox.run(&["check", "own.toml"]).code(2));
    assert!(
        wrong.contains("unknown optimiser `sgd`") && wrong.contains("`adamw-8bit`"),
        "{wrong}"
    );
}
