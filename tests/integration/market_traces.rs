//! `import market`: traces of availability, with or without prices, become markets for policies.

use crate::sandbox::{Rows, Sandbox, stderr, stdout};

/// Traces with their own prices need no other price, and policies pay them.
#[test]
fn prices_of_traces_are_paid() {
    let sandbox = Sandbox::new();
    let trace = |prices: &str| {
        format!(
            "{{\"metadata\": {{\"gap_seconds\": 1800}}, \"data\": [1, 1, 1, 1, 1, 1, 1, 1], \"prices\": [{prices}]}}"
        )
    };
    sandbox.write("a.json", &trace("1.5, 1.5, 1.5, 1.5, 0.5, 0.5, 0.5, 0.5"));
    sandbox.write("b.json", &trace(&["1.1"; 8].join(", ")));
    let import = |files: &[&str], more: &[&str]| {
        let what = [
            &["import", "market"],
            files,
            &["--on-demand-usd-per-h", "3", "--out", "mine"],
        ];
        sandbox.run(&[&what.concat()[..], more].concat())
    };
    let text = stdout(&import(&["a.json", "b.json"], &[]).success());
    assert!(
        text.contains("spot prices are those of the traces"),
        "{text}"
    );
    sandbox.write(
        "scenario.toml",
        "job = { work_h = 2, deadline_h = 4 }\nmarket.traces = \"mine\"\nstarts.at_s = [0]\npolicy.names = [\"greedy\"]\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let lives = Rows::parse(&sandbox.read("out/records.csv"));
    let usd = |name: &str| {
        let mut own = lives.iter().filter(|row| row.text("strategy") == name);
        own.next().expect("a life").number("cost_usd")
    };
    // Greedy begins at once in zone b; the best waits until zone a is cheaper.
    assert!((usd("greedy") - 2.2).abs() < 1e-9, "{}", usd("greedy"));
    assert!(
        (usd("clairvoyant") - 1.0).abs() < 1e-9,
        "{}",
        usd("clairvoyant")
    );
    sandbox.write("c.json", &trace("1, 1, 1"));
    sandbox.write("d.json", &trace("1, 0, 1, 1, 1, 1, 1, 1"));
    sandbox.write(
        "e.json",
        "{\"metadata\": {\"gap_seconds\": 1800}, \"data\": [1, 1]}",
    );
    for (file, more, expected) in [
        ("c.json", &[][..], "3 prices for 8 looks"),
        ("d.json", &[], "number 2 of `prices` is 0"),
        ("e.json", &[], "it has no `prices`"),
        ("a.json", &["--spot-usd-per-h", "1"], "it has `prices`"),
    ] {
        let text = stderr(&import(&[file], more).code(2));
        assert!(text.contains(expected), "{text}");
    }
}

/// A trace of two zones, where the second one is shorter; the resulting market is reported and can be run.
#[test]
fn a_market_is_made_of_traces() {
    let sandbox = Sandbox::new();
    let trace = |looks: &[u8]| {
        let data: Vec<String> = looks.iter().map(u8::to_string).collect();
        format!(
            "{{\"metadata\": {{\"gap_seconds\": 600}}, \"data\": [{}]}}",
            data.join(", ")
        )
    };
    // Six ticks of spot machines, then none: 1 h of work needs as many.
    let first: Vec<u8> = (0..60).map(|tick| u8::from(tick < 6)).collect();
    sandbox.write("us-east-2b_v100_1.json", &trace(&first));
    sandbox.write("us-west-2a_v100_1.json", &trace(&[0; 50]));
    let import = [
        "import",
        "market",
        "us-east-2b_v100_1.json",
        "us-west-2a_v100_1.json",
        "--on-demand-usd-per-h",
        "3",
        "--spot-usd-per-h",
        "1",
        "--out",
        "mine",
    ];
    let run = sandbox.run(&import).success();
    let told = format!("{}{}", stdout(&run), stderr(&run));
    assert!(told.contains("110 read, 100 kept"), "{told}");
    assert!(told.contains("2 zones in 2 regions over 8.3 h"), "{told}");
    assert!(
        told.contains("moves between 2 regions cost nothing"),
        "{told}"
    );
    sandbox.write(
        "scenario.toml",
        "[job]\nwork_h = 1\ndeadline_h = 4\n[market]\ntraces = \"mine\"\n[starts]\nat_s = [0, 3600]\n\
         [policy]\nnames = [\"greedy\"]\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let lives = Rows::parse(&sandbox.read("out/records.csv"));
    let usd = |start: f64| -> f64 {
        let mut own = lives.iter().filter(|row| row.text("strategy") == "greedy");
        let life = own.find(|row| row.number("start") == start);
        life.expect("a life").number("cost_usd")
    };
    assert!((usd(0.0) - 1.0).abs() < 1e-9, "an hour of spot");
    assert!((usd(3600.0) - 3.0).abs() < 1e-9, "an hour on demand");
    sandbox.write(
        "odd.json",
        "{\"metadata\": {\"gap_seconds\": 60}, \"data\": [1, 0.5]}",
    );
    let mut wrong = import.to_vec();
    wrong.extend(["odd.json", "--egress-usd-per-gb=-1"]);
    let told = stderr(&sandbox.run(&wrong).code(2));
    for what in [
        "mine is already there",
        "--egress-usd-per-gb is invalid",
        "number 2 of `data` is 0.5",
        "a look every 60 s, and every 600 s in us-east-2b_v100_1.json",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
}
