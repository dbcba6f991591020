//! Mistakes in the tables of a parallel plan and in the files that it names.

use crate::plan_failures::failing;
use crate::plans::PLANS;
use crate::sandbox::{Sandbox, repository, stderr, stdout};

fn refused(changes: &[(&str, &str)]) -> String {
    let mut scenario = PLANS.to_owned();
    for (from, to) in changes {
        assert!(scenario.contains(from), "{from}");
        scenario = scenario.replacen(from, to, 1);
    }
    let sandbox = Sandbox::with(&scenario);
    stderr(&sandbox.run(&["check", "scenario.toml"]).failure().code(2))
}

#[test]
fn all_mistakes_of_plans_are_told_at_once() {
    let told = refused(&[
        ("most_gpus = 16", "most_gpus = 0"),
        (
            "target_tokens = 5e7",
            "target_tokens = 5e7\nschedul = \"gpipe\"",
        ),
    ]);
    for part in ["from 1 to 10^6", "unknown key `schedul`", "scenario.toml:"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = refused(&[
        (
            "target_tokens = 5e7",
            "target_tokens = 5e7\ntensor = [3]\nlayers_per_stage = [[10, 10]]\nschedule = \"2f1b\"",
        ),
        ("gpu = \"V100-16\"", "gpu = \"V100-61\""),
        (
            "gpu = \"A100-40\", gpu_memory_gib = 40",
            "gpu = \"A100-40\"",
        ),
        ("micro_batch = [1, 2]", "micro_batch = [1, 3]"),
        ("[search]", "[limits]\nmax_workers = 3\n[search]"),
        (
            "warm_restart_s = 30",
            "warm_restart_s = 30\non_loss = \"go-on\"",
        ),
    ]);
    for part in [
        "was not profiled on the GPU `V100-61`",
        "did you mean `V100-16`?",
        "memory unknown",
        "must cover all layers",
        "unknown schedule `2f1b`",
        "allowed here: `gpipe`, `1f1b`",
        "`limits.max_workers` and `parallel` exclude each other",
        "`spot.on_loss` and `parallel` exclude each other",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = refused(&[
        ("target_tokens = 5e7", "target_tokens = 5e7\ntensor = [3]"),
        ("micro_batch = [1, 2]", "micro_batch = [1, 3]"),
    ]);
    for part in [
        "no profile at tensor degree 3",
        "a degree without a profile",
        "no profile at micro-batch 3",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = refused(&[
        ("global_batch = [64]", "global_batch = [63]"),
        ("data = [1, 2, 4, 8]", "data = [2]"),
    ]);
    assert!(told.contains("makes no legal plan"), "{told}");
    let told = refused(&[
        ("gpu_memory_gib = 16", "gpu_memory_gib = 2"),
        ("gpu_memory_gib = 40", "gpu_memory_gib = 2"),
    ]);
    assert!(
        told.contains("legal plans fits") && told.contains("GiB"),
        "{told}"
    );
    let told = refused(&[("profile = \"opt-350m\"", "profile = \"opt-350\"")]);
    assert!(
        told.contains("unknown layer profile `opt-350`")
            && told.contains("did you mean `opt-350m`?"),
        "{told}"
    );
    let told = refused(&[("profile = \"opt-350m\"\n", "")]);
    assert!(
        told.contains("the key `parallel.profile` is missing"),
        "{told}"
    );
    let told = refused(&[(
        "checkpoint_gb_per_s = 1",
        "checkpoint_gb_per_s = 1\ncapacity = true",
    )]);
    assert!(
        told.contains("needs a trace of how many GPUs there are"),
        "{told}"
    );
    let told = refused(&[("[cluster]", "[bag]\njobs = 3\n[cluster]")]);
    assert!(
        told.contains("`bag` and `parallel` exclude each other"),
        "{told}"
    );
}

/// User files that lack something.
#[test]
fn a_profile_that_lacks_a_layer_and_links_without_bandwidths_are_refused() {
    let profile = repository().join("data/layers/opt-350m");
    let with = |file: &str, change: &dyn Fn(String) -> String| {
        let scenario = PLANS.replace("\"opt-350m\"", "\"./mine\"");
        let sandbox = Sandbox::with(&scenario);
        for name in ["layers.toml", "layers.csv", "times.csv"] {
            let text = std::fs::read_to_string(profile.join(name)).expect("it is there");
            let text = if name == file { change(text) } else { text };
            sandbox.write(&format!("mine/{name}"), &text);
        }
        sandbox.run(&["check", "scenario.toml"])
    };
    with("", &|text| text).success();
    let without_last = |text: String| {
        let last = text.lines().filter(|line| !line.contains(",25,25,"));
        last.map(|line| format!("{line}\n")).collect()
    };
    let told = stderr(&with("times.csv", &without_last).failure().code(2));
    assert!(
        told.contains("layer") && told.contains("times.csv"),
        "{told}"
    );
    // Without links between nodes, only plans inside one VM are left.
    let scenario = PLANS.replace("[parallel]", "[parallel]\nlinks = \"links.csv\"");
    let links =
        std::fs::read_to_string(repository().join("data/layers/links.csv")).expect("it is there");
    let none: String = (links.lines())
        .filter(|line| {
            !line.contains("between-nodes,A100-40") && !line.contains("between-nodes,V100-16")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let sandbox = Sandbox::with(&scenario);
    sandbox.write("links.csv", &none);
    let told = stdout(
        &sandbox
            .run(&["run", "--dry-run", "scenario.toml"])
            .success(),
    );
    assert!(told.contains("use links of unknown bandwidth"), "{told}");
}

/// A reaction that needs state without copies, virtual stages that do not divide, more experts than fit, sharding with a
/// runtime that lacks it: reported with the place.
#[test]
fn what_cannot_be_is_told() {
    let cases = [
        (
            failing("checkpoint = \"none\"\n[parallel.reaction]\npolicy = \"re-plan\"\n")
                .replace("data = 64", "data = 1")
                .replace("tensor = 1", "tensor = 8"),
            "`re-plan` goes on from state that nobody keeps",
        ),
        (
            failing("\n[parallel.reaction]\npolicy = \"redundant\"\n"),
            "`redundant` needs a stage beside each",
        ),
        (
            failing("\n[parallel.reaction]\npolicy = \"pray\"\n"),
            "unknown policy `pray`",
        ),
        (
            failing("\n[parallel.reaction]\npolicy = \"wait\"\nforecast = \"trained\"\n"),
            "needs a trace of how many GPUs there are",
        ),
        (
            failing("").replace("micro_batch = 4", "micro_batch = 4\nvirtual_stages = 2"),
            "`parallel.virtual_stages` needs a schedule that has any",
        ),
        (
            failing("").replace("micro_batch = 4", "micro_batch = 4\nschedule = \"interleaved-1f1b\""),
            "both ends of a message wait",
        ),
        (
            failing("")
                .replace("\"megatron-deepspeed\"", "\"megatron-lm\"")
                .replace("pipeline = 1", "pipeline = 8\nschedule = \"interleaved-1f1b\"\nvirtual_stages = 5"),
            "`parallel` makes no legal plan",
        ),
        (
            failing("").replace("micro_batch = 4", "micro_batch = 4\nexpert = 2"),
            "2 replicas cannot share the experts of `gpt3-2.7b`",
        ),
        (
            failing("").replace("micro_batch = 4", "micro_batch = 4\ncompress = [1, 8]"),
            "`parallel.compress`: nothing says how fast a GPU encodes messages",
        ),
        (
            failing("").replace("micro_batch = 4", "micro_batch = 4\noffload = true"),
            "`parallel.offload`: nothing says how fast a GPU reaches its host's memory",
        ),
        (
            failing("")
                .replace("runtime = { base = \"megatron-deepspeed\", attention_kernel = \"flash\", shard = \"optimizer\" }", "runtime = \"megatron-lm\"\nshard = \"full\""),
            "the runtime `megatron-lm` does not shard `full`",
        ),
        (
            failing("")
                .replace("model = \"gpt3-2.7b\"", "profile = \"gpt-neo-2.7b\"\ncontext = 2")
                .replace("precision = \"bf16\"\n", "")
                .replace("vm = \"a3-highgpu-8g\"", "vm = \"a3-highgpu-8g\", gpu = \"A100-40\", gpu_memory_gib = 40"),
            "`parallel.context` needs `model`",
        ),
        (
            failing("fleet = \"llama-3-405b\""),
            "exclude each other",
        ),
        (
            failing("lemon_share = 0.1"),
            "`failures.lemon_share` needs `failures.lemon_factor`",
        ),
    ];
    for (scenario, expected) in cases {
        let sandbox = Sandbox::with(&scenario);
        let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
        let flat: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(expected), "expected {expected}\n{said}");
    }
}
