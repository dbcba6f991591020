//! `advise`: from a table to a recommendation and to the next measurement.

use serde_json::Value;

use scavsim::search::Objective;

use crate::reproduction::assert_current;
use crate::sandbox::{Sandbox, repository_file, stderr, stdout};
use study::found::Found;

#[path = "../../benches/studies/advise/mod.rs"]
mod study;

fn with_example() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in [
        "example-profile",
        "example-profile-spot",
        "example-profile-poor",
    ] {
        let file = format!("{name}.csv");
        sandbox.write(&file, &repository_file(&format!("scenarios/{file}")));
    }
    sandbox
}

const EXAMPLE: [&str; 4] = [
    "advise",
    "example-profile.csv",
    "--samples-per-epoch",
    "50000",
];

fn json(sandbox: &Sandbox, more: &[&str]) -> Value {
    let arguments = [&EXAMPLE[..], &["--format", "json"], more].concat();
    serde_json::from_str(&stdout(&sandbox.run(&arguments).success())).expect("it is JSON")
}

#[test]
fn nothing_is_left_behind_unless_it_is_asked_for() {
    let sandbox = with_example();
    let before = sandbox.files(".");
    sandbox.run(&EXAMPLE).success();
    assert_eq!(sandbox.files("."), before);
    let asked = [
        &EXAMPLE[..],
        &["--sky", "task.yaml", "--keep", "kept", "--commands"],
    ]
    .concat();
    let text = stdout(&sandbox.run(&asked).success());
    insta::assert_snapshot!("sky_task_of_the_example", sandbox.read("task.yaml"));
    let (_, commands) = text
        .split_once("\n\n# ")
        .expect("commands after the advice");
    insta::assert_snapshot!("commands_of_the_example", commands);
    // The kept folder is what an import writes.
    let import = [
        "import",
        "profile",
        "example-profile.csv",
        "--samples-per-epoch",
        "50000",
        "--out",
        "imported",
    ];
    sandbox.run(&import).success();
    assert_eq!(sandbox.contents("kept"), sandbox.contents("imported"));
    let programs = json(&sandbox, &["--commands"]);
    let commands = programs["commands"].as_str().expect("a text");
    assert!(commands.contains("aws ec2 run-instances"), "{commands}");
    // Nothing is replaced unless requested.
    let again = stderr(&sandbox.run(&asked).code(2).stdout(""));
    assert!(
        again.contains("task.yaml is already there") && again.contains("kept is already there"),
        "{again}"
    );
    sandbox.run(&[&asked[..], &["--force"]].concat()).success();
}

#[test]
fn every_mistake_is_told_at_once() {
    let sandbox = with_example();
    let wrong = [
        "advise",
        "example-profile.csv",
        "--samples-per-epoch",
        "0",
        "--max-time",
        "0",
        "--max-miss",
        "2",
        "--setup-min",
        "1e9",
        "--sky",
        "example-profile.csv",
    ];
    insta::assert_snapshot!(stderr(&sandbox.run(&wrong).code(2).stdout("")));
    let unknown = [
        &EXAMPLE[..],
        &["--provider", "asw", "--usd-per-hour", "g5.xlrage=1"],
    ]
    .concat();
    insta::assert_snapshot!(stderr(&sandbox.run(&unknown).code(2).stdout("")));
    let wrong = [
        ("--usd-per-hour", "g5.xlarge=-1"),
        ("--max-spot-usd", "g5.xlarge=dear"),
        ("--reserved", "g5.xlarge=0"),
        ("--max-usd-per-hour", "nan"),
    ];
    for (option, value) in wrong {
        let asked = [&EXAMPLE[..], &[option, value]].concat();
        assert!(
            stderr(&sandbox.run(&asked).code(2)).contains(option),
            "{option}"
        );
    }
    let unmeant = [
        &EXAMPLE[..],
        &["--max-spot-usd", "1", "--reserved", "g5.xlrage=1"],
    ]
    .concat();
    let text = stderr(&sandbox.run(&unmeant).code(2));
    assert!(text.contains("--max-spot-usd is invalid"), "{text}");
    assert!(text.contains("VM type in --reserved `g5.xlrage`"), "{text}");
}

/// Reserved machines and price caps.
#[test]
fn caps_and_what_is_paid_for_decide_what_is_taken() {
    let sandbox = with_example();
    let best = |more: &[&str]| {
        let usual = ["--only-measured", "--format", "json"];
        let asked = [&EXAMPLE[..], &usual, more].concat();
        let text = stdout(&sandbox.run(&asked).success());
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        value["choices"][0].clone()
    };
    let usual = best(&[]);
    let vm = usual["vm"].as_str().expect("a VM type").to_owned();
    // Reserved machines are chosen, and the fastest of them.
    let other = if vm.starts_with("g5.") {
        "g6e.xlarge"
    } else {
        "g5.xlarge"
    };
    let free = best(&["--usd-per-hour", &format!("{other}=0")]);
    assert_eq!(
        (&free["vm"], &free["cost_usd"]),
        (&other.into(), &0.0.into())
    );
    assert!(free["vms"].as_u64() > Some(1), "{free}");
    let reserved = best(&["--reserved", &format!("{other}=1")]);
    assert_eq!(
        (&reserved["vm"], &reserved["vms"]),
        (&other.into(), &1.into())
    );
    assert_eq!(reserved["cost_usd"], 0.0);
    // A price cap per hour applies to the whole cluster.
    let fast = best(&["--objective", "time"]);
    let capped = best(&["--objective", "time", "--max-usd-per-hour", "2.1"]);
    assert!(
        capped["time_h"].as_f64() > fast["time_h"].as_f64(),
        "{capped}"
    );
    let most = if capped["vm"] == "g5.xlarge" {
        2.0
    } else {
        1.0
    };
    assert!(capped["vms"].as_f64() <= Some(most), "{capped}");
    let same = best(&["--objective", "time", "--max-usd-per-hour", "1000000"]);
    assert_eq!(same, fast);
    let asked = [&EXAMPLE[..], &["--max-usd-per-hour", "0.1"]].concat();
    let text = stderr(&sandbox.run(&asked).code(2));
    assert!(text.contains("no configuration is so cheap"), "{text}");
    let spot = [
        "--market",
        "spot",
        "--max-spot-usd",
        "g5.xlarge=0.38",
        "--only-measured",
    ];
    let text = stdout(&sandbox.run(&[&EXAMPLE[..], &spot].concat()).success());
    let text = text.replace("\n  ", " ");
    assert!(
        text.contains("g5.xlarge as spot: $0.384 is above --max-spot-usd 0.38"),
        "{text}"
    );
}

#[test]
fn a_poor_profile_is_answered_with_what_it_does_not_tell() {
    let sandbox = with_example();
    let poor = [
        "advise",
        "example-profile-poor.csv",
        "--samples-per-epoch",
        "50000",
    ];
    insta::assert_snapshot!(stdout(&sandbox.run(&poor).success()));
    let none = [&poor[..], &["--max-time", "0.01"]].concat();
    let text = stdout(&sandbox.run(&none).code(3));
    assert!(
        text.contains("No configuration keeps to the limits. Closest"),
        "{text}"
    );
}

#[test]
fn markets_limits_and_prices_change_the_answer_as_they_should() {
    let sandbox = with_example();
    let best = |value: &Value| value["choices"][0].clone();
    let free = best(&json(&sandbox, &[]));
    let fast = best(&json(&sandbox, &["--objective", "time"]));
    assert!(
        fast["time_h"].as_f64() < free["time_h"].as_f64()
            && fast["cost_usd"].as_f64() > free["cost_usd"].as_f64()
    );
    // A limit that must be met more often requires a faster one.
    let limit = format!("{}", 1.09 * free["time_h"].as_f64().expect("hours"));
    let mean = json(&sandbox, &["--max-time", &limit]);
    let sure = json(&sandbox, &["--max-time", &limit, "--max-miss", "0.01"]);
    assert_eq!(best(&mean)["batch"], free["batch"]);
    assert!(
        best(&sure)["miss"].as_f64() <= Some(0.01) && best(&mean)["miss"].as_f64() > Some(0.01)
    );
    assert!(best(&sure)["time_h"].as_f64() < best(&mean)["time_h"].as_f64());
    // Half the price is half the bill.
    let prices = |usd: &str| {
        best(&json(
            &sandbox,
            &[
                "--usd-per-hour",
                &format!("g5.xlarge={usd}"),
                "--usd-per-hour",
                "g6e.xlarge=9",
                "--only-measured",
            ],
        ))
    };
    let (one, two) = (prices("1"), prices("2"));
    let ratio = two["cost_usd"].as_f64().expect("USD") / one["cost_usd"].as_f64().expect("USD");
    assert!(
        (ratio - 2.0).abs() < 1e-6 && one["vm"] == "g5.xlarge",
        "{ratio}"
    );
}

#[test]
fn spot_and_on_demand_are_weighed_where_prices_and_lives_are_known() {
    let sandbox = with_example();
    let spot = [
        "advise",
        "example-profile-spot.csv",
        "--samples-per-epoch",
        "50000",
        "--region",
        "us-central1",
    ];
    let any = [&spot[..], &["--market", "any"]].concat();
    insta::assert_snapshot!(stdout(&sandbox.run(&any).success()));
    // A measurement saves its value in every run.
    let best = |times: &str| {
        let asked = [&any[..], &["--format", "json", "--times", times]].concat();
        let value: Value =
            serde_json::from_str(&stdout(&sandbox.run(&asked).success())).expect("it is JSON");
        let first = value["measurements"][0].clone();
        let of = |key: &str| first[key].as_f64().expect("USD");
        (of("net"), of("value_per_run"), of("price_usd"))
    };
    let (net, value, price) = best("50");
    assert!((net - (50.0 * value - price)).abs() < 1e-9 && net > best("1").0);
    let jobs = |n: &str| {
        stdout(
            &sandbox
                .run(&[&any[..], &["--format", "json", "--jobs", n]].concat())
                .success(),
        )
    };
    assert_eq!(jobs("1"), jobs("4"));
    let none = [&EXAMPLE[..], &["--market", "spot", "--only-measured"]].concat();
    // No lifetimes of such VMs are published.
    let text = stdout(&sandbox.run(&none).success());
    let is_assumed = text
        .replace("\n ", "")
        .contains("ASSUMED to be lost as `aws-2023-v100-zones`");
    assert!(is_assumed, "{text}");
    let said = [&none[..], &["--spot-run-h", "30"]].concat();
    let text = stdout(&sandbox.run(&said).success());
    assert!(
        text.contains("lost after 30 h") && !text.contains("ASSUMED"),
        "{text}"
    );
    let impossible = [&none[..], &["--spot-run-h", "0"]].concat();
    let text = stderr(&sandbox.run(&impossible).code(2).stdout(""));
    assert!(text.contains("--spot-run-h is invalid"), "{text}");
}

#[test]
fn logs_and_tables_in_usual_words_are_advised_on() {
    let sandbox = Sandbox::new();
    let log = "iteration 71 | elapsed time per iteration (ms): 400.0 | global batch size: 128 |\n";
    sandbox.write("train.log", &log.repeat(3));
    let text = stderr(
        &sandbox
            .run(&["advise", "train.log", "--samples-per-epoch", "900000"])
            .code(2),
    );
    assert!(
        text.contains("a log of Megatron-LM") && text.contains("give --vm, --workers"),
        "{text}"
    );
    let machine = [
        "--vm",
        "p5.48xlarge",
        "--workers",
        "16",
        "--epochs",
        "2",
        "--only-measured",
    ];
    let asked = [
        &["advise", "train.log", "--samples-per-epoch", "900000"],
        &machine[..],
    ]
    .concat();
    let text = stdout(&sandbox.run(&asked).success());
    assert!(text.contains("16 × 128 on 2 p5.48xlarge/8"), "{text}");
    let table = "Instance type,GPUs,Micro batch,Grad accum,Samples/s\nml.p3.16xlarge,8,64,2,2600\n\
                 ml.p3.16xlarge,8,128,2,2800\nSTANDARD_NC24s_v3,4,64,1,1200\n";
    sandbox.write("own.csv", table);
    let asked = [
        "advise",
        "own.csv",
        "--samples-per-epoch",
        "900000",
        "--epochs",
        "2",
        "--only-measured",
    ];
    let run = sandbox.run(&asked).success();
    let text = stdout(&run);
    assert!(text.contains("8 × 2048  1 p3.16xlarge/8"), "{text}");
    assert!(text.contains("4 × 256 on 1 Standard_NC24s_v3/4"), "{text}");
    let said = stderr(&run);
    assert!(
        said.contains("Samples/s (samples per second of all workers)"),
        "{said}"
    );
}

#[test]
fn a_price_far_from_the_known_ones_is_doubted() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "own.csv",
        "vm,workers,batch,step_s\np5.48xlarge/8,8,64,0.5\np5.48xlarge/8,8,128,0.9\n",
    );
    let of = |price: &str| {
        let priced = ["--only-measured", "--usd-per-hour", price];
        let asked = [
            &[
                "advise",
                "own.csv",
                "--samples-per-epoch",
                "900000",
                "--epochs",
                "2",
            ],
            &priced[..],
        ]
        .concat();
        stderr(&sandbox.run(&asked).success())
    };
    let text = of("p5.48xlarge=3.93");
    assert!(
        text.contains("14 times below") && text.contains("all cost 31.44"),
        "{text}"
    );
    assert!(!of("p5.48xlarge=20").contains("times below"));
    let prices = "provider,vm,region,market,usd_per_hour,valid_from,source\n";
    sandbox.write(
        "floor.csv",
        &format!("{prices}aws,p5.48xlarge,us-east-1,on-demand,0.08,2026-11-28,bid\n"),
    );
    sandbox.write(
        "total.csv",
        &format!("{prices}aws,g5.xlarge,us-east-1,commitment-1y,5549,2026-11-28,term\n"),
    );
    for (file, expected) in [("floor.csv", "times below"), ("total.csv", "times above")] {
        let text = stderr(&sandbox.run(&["prices", "update", file]).code(2));
        assert!(
            text.contains(expected) && text.contains("--take-strange"),
            "{text}"
        );
    }
}

#[test]
fn the_results_of_ladders_are_current() {
    assert_current("ladders-sample.md", &study::ladders::document(4));
}

#[test]
fn the_results_over_the_catalogue_are_current() {
    assert_current("catalogue-sample.md", &study::catalogue::document(2));
}

#[test]
fn the_results_of_the_study_are_current() {
    const CUTS: usize = 3;
    let found = study::study(&study::WORKLOADS, CUTS);
    assert_current("advise-sample.md", &study::text::render(&found, CUTS));
    let all = Found::all(&found);
    assert!(
        all.cuts > 10 && all.coverage()[0] > Some(0.7),
        "{:?}",
        all.coverage()
    );
    let [median, ..] = all
        .regrets(Objective::Cost, false)
        .expect("some are answered");
    assert!(median < 0.05, "{median}");
}

#[test]
fn subsets_are_all_of_their_size_in_order() {
    assert_eq!(study::subsets(&[1, 2, 3], 2), [[1, 2], [1, 3], [2, 3]]);
    assert_eq!(study::subsets(&[1, 2, 3, 4, 5], 3).len(), 10);
    assert_eq!(study::subsets(&[1], 2), Vec::<Vec<u64>>::new());
}

#[test]
fn a_paired_difference_has_the_interval_of_the_textbook() {
    // Student's t at 97.5 % with two degrees of freedom is 4.3027.
    let seen = study::found::paired([1.0, 2.0, 3.0].into_iter());
    assert_eq!((seen.mean, seen.count, seen.signs), (2.0, 3, (3, 0)));
    assert!(
        (seen.half - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-3,
        "{}",
        seen.half
    );
}
