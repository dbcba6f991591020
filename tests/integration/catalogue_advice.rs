//! Advice outside the measurements: machines of the catalogue, in the program.

use serde_json::Value;

use crate::sandbox::{Sandbox, stderr, stdout};

/// One T4, two and four of them, on a machine with four.
const FOUR: &str = include_str!("../../scenarios/example-profile-t4.csv");
const SAMPLES: f64 = 1_281_167.0;

fn run(table: &str, more: &[&str]) -> (String, String, Option<i32>) {
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", table);
    let usual = ["advise", "rows.csv", "--samples-per-epoch", "1281167"];
    let run = sandbox.run(&[&usual[..], more].concat());
    let code = run.get_output().status.code();
    (stdout(&run), stderr(&run), code)
}

fn advised(table: &str, more: &[&str]) -> Value {
    let (out, wrong, _) = run(table, &[more, &["--format", "json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{wrong}"))
}

fn choices(advice: &Value) -> &Vec<Value> {
    advice["choices"].as_array().expect("a list")
}

fn figure(value: &Value, key: &str) -> f64 {
    value[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {value}"))
}

fn of<'a>(advice: &'a Value, vm: &str, workers: u64, batch: u64) -> &'a Value {
    let is_it = |c: &&Value| c["vm"] == vm && c["workers"] == workers && c["batch"] == batch;
    let found = choices(advice).iter().find(is_it);
    found.unwrap_or_else(|| panic!("no {workers} × {batch} on {vm}"))
}

#[test]
fn one_gpu_is_rented_as_one_gpu_for_half_the_money() {
    let advice = advised(FOUR, &[]);
    let best = &choices(&advice)[0];
    assert_eq!(
        (&best["vm"], &best["batch"]),
        (&"g4dn.xlarge".into(), &256.into())
    );
    assert_eq!(best["vm_measured"], false);
    assert_eq!(best["stands_for"]["like"], "g4dn.12xlarge");
    assert_eq!(best["stands_for"]["basis"], "same-gpu");
    // Manual: the measured step, five minutes until the VM trains, $0.526 an hour; errors increase the mean a little.
    let hours = 90.0 * SAMPLES / 256.0 * 1.175 / 3600.0 + 5.0 / 60.0;
    let more = figure(best, "cost_usd") / (0.526 * hours);
    assert!((1.0..1.03).contains(&more), "{more}");
    let measured = &advice["best_measured"];
    assert_eq!(measured["vm"], "g4dn.12xlarge/4");
    assert_eq!(measured["vm_measured"], true);
    let share = figure(best, "cost_usd") / figure(measured, "cost_usd");
    assert!((0.35..0.6).contains(&share), "{share}");
    // Measured configurations are more certain than others.
    let wide = |c: &Value| figure(c, "time_p95_h") / figure(c, "time_p5_h");
    let all = choices(&advice);
    let known = all.iter().find(|c| c["provenance"] == "measured");
    assert!(wide(best) > 1.1 * wide(known.expect("a measured one")));
    let (text, ..) = run(FOUR, &[]);
    for words in [
        "; not measured",
        "Best measured: 4 × 1024 on 1 g4dn.12xlarge/4",
        "which was measured.",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn a_machine_that_nobody_touched_is_what_to_measure_next() {
    let advice = advised(FOUR, &[]);
    let next = &advice["measurements"][0];
    assert_eq!(
        (&next["vm_measured"], &next["what"]),
        (&false.into(), &"step".into())
    );
    assert!(
        figure(next, "net") > 0.0 && figure(next, "price_usd") < 1.0,
        "{next}"
    );
    // A measured one is certain, and its GPU predicts others of its kind.
    let vm = next["vm"].as_str().expect("a name");
    let before = of(&advice, vm, 1, next["batch"].as_u64().expect("a batch"));
    let step = figure(before, "time_h") * 3600.0 / (90.0 * SAMPLES / figure(next, "batch"));
    let row = format!("{vm},1,{},{step:.4},\n", next["batch"]);
    let after = advised(&(FOUR.to_owned() + &row), &[]);
    let known = of(&after, vm, 1, next["batch"].as_u64().expect("a batch"));
    assert_eq!(known["vm_measured"], true);
    let wide = |c: &Value| figure(c, "time_p95_h") / figure(c, "time_p5_h");
    assert!(
        wide(known) < 0.6 * wide(before),
        "{} {}",
        wide(known),
        wide(before)
    );
}

#[test]
fn another_gpu_is_taken_first_only_where_it_is_surely_better() {
    let advice = advised(FOUR, &[]);
    let basis = |c: &Value| c["stands_for"]["basis"].as_str().map(str::to_owned);
    assert!(
        choices(&advice)
            .iter()
            .any(|c| basis(c).as_deref() == Some("other-gpu"))
    );
    for (at, choice) in choices(&advice).iter().enumerate() {
        if figure(choice, "over_best") < 0.0 {
            assert_eq!(basis(choice).as_deref(), Some("other-gpu"), "{at}");
            assert!(figure(choice, "chance_better") < 0.9, "{choice}");
        }
    }
    // An H100 is certainly faster than a T4.
    let fast = advised(FOUR, &["--objective", "time"]);
    assert_eq!(basis(&choices(&fast)[0]).as_deref(), Some("other-gpu"));
    assert!(choices(&fast).iter().all(|c| figure(c, "over_best") >= 0.0));
}

/// No worker gets more samples than were measured, unless its GPU has more memory.
#[test]
fn memory_bounds_what_a_worker_gets() {
    let gib = [("g4dn", 16.0), ("g5", 24.0), ("g6e", 48.0), ("g6", 24.0)];
    for choice in choices(&advised(FOUR, &[])) {
        let vm = choice["vm"].as_str().expect("a name");
        let series = vm.split('.').next().expect("a series");
        let Some((_, gib)) = gib.iter().find(|(name, _)| *name == series) else {
            continue;
        };
        let each = figure(choice, "batch") / figure(choice, "workers");
        let most = 256.0 * (gib / 16.0_f64).min(2.0);
        assert!(each <= most, "{each} on {vm}");
    }
}

#[test]
fn only_what_was_measured_is_asked_about_if_so_wanted() {
    let advice = advised(FOUR, &["--only-measured"]);
    assert!(choices(&advice).iter().all(|c| c["vm_measured"] == true));
    assert_eq!(advice["catalogue"]["wanted"], false);
    assert!(advice["best_measured"].is_null());
    assert_eq!(choices(&advice)[0]["vm"], "g4dn.12xlarge/4");
    let (text, ..) = run(FOUR, &["--only-measured"]);
    assert!(
        text.contains("VM types that were not measured (--only-measured)"),
        "{text}"
    );
    // The measured ones have an equal value among all others.
    let all = advised(FOUR, &[]);
    for choice in choices(&advice) {
        let at = |key: &str| choice[key].as_u64().expect("a number");
        let vm = choice["vm"].as_str().expect("a name");
        let same = of(&all, vm, at("workers"), at("batch"));
        assert_eq!(figure(same, "cost_usd"), figure(choice, "cost_usd"));
    }
}

#[test]
fn providers_and_prices_of_ones_own_reach_the_catalogue() {
    let azure = advised(FOUR, &["--provider", "azure"]);
    assert!(
        choices(&azure)
            .iter()
            .all(|c| c["provider"] == "azure" && c["vm_measured"] == false)
    );
    assert!(!choices(&azure).is_empty());
    let any = advised(FOUR, &["--provider", "any"]);
    for provider in ["aws", "azure", "lambda", "nebius", "runpod"] {
        assert!(
            choices(&any).iter().any(|c| c["provider"] == provider),
            "{provider}"
        );
    }
    let free = advised(FOUR, &["--usd-per-hour", "g4dn.xlarge=0.0526"]);
    let (own, usual) = (advised(FOUR, &[]), &free);
    let cost = |advice: &Value| figure(of(advice, "g4dn.xlarge", 1, 256), "cost_usd");
    assert!((cost(&own) / cost(usual) - 10.0).abs() < 1e-6);
    for (option, word, near) in [
        ("--provider", "azur", "azure"),
        ("--usd-per-hour", "g4dn.xlrage=1", "g4dn.xlarge"),
        ("--region", "us-east-11", "us-east-1"),
    ] {
        let (out, wrong, code) = run(FOUR, &[option, word]);
        assert_eq!((code, &*out), (Some(2), ""));
        assert!(
            wrong.contains(&format!("did you mean `{near}`?")),
            "{wrong}"
        );
    }
}

/// Half the machine of a family is slower, and is labelled as such.
#[test]
fn machines_without_gpus_are_told_by_their_family() {
    let table = "vm,workers,batch,step_s,epochs
m5.2xlarge,1,64,2.0,10
m5.2xlarge,2,128,2.2,10
m5.2xlarge,4,256,2.4,11
";
    let advice = advised(table, &[]);
    let others: Vec<&Value> = choices(&advice)
        .iter()
        .filter(|c| c["vm_measured"] == false)
        .collect();
    assert!(!others.is_empty());
    for choice in &others {
        assert_eq!(choice["stands_for"]["basis"], "same-family", "{choice}");
        assert!(
            choice["vm"]
                .as_str()
                .is_some_and(|vm| vm.starts_with("m5.")),
            "{choice}"
        );
    }
}

/// A GPU of nearly twice the speed shortens compute; a network of twice the rate does not shorten communication as much.
#[test]
fn another_gpu_shortens_compute_and_leaves_communication() {
    let table = "vm,workers,batch,step_s,epochs
g5.xlarge,1,64,1.000,20
g5.xlarge,2,128,1.400,20
g5.xlarge,4,256,1.500,20
";
    let advice = advised(table, &["--setup-min", "0"]);
    let step = |vm: &str, workers, batch| {
        let c = of(&advice, vm, workers, batch);
        (figure(c, "time_p5_h") * figure(c, "time_p95_h")).sqrt() * figure(c, "batch")
    };
    let (alone, two) = (step("g6e.xlarge", 1, 128), step("g6e.xlarge", 2, 256));
    // If communication were shortened, too, two workers with twice the samples would need about 1.15 times as long as one.
    assert!(two / alone > 1.3, "{}", two / alone);
    let (other, faster) = (step("g6e.2xlarge", 1, 128), step("g6e.2xlarge", 2, 256));
    assert!(
        (other / alone - 1.0).abs() < 0.01 && faster < 0.9 * two,
        "{other} {faster}"
    );
}
