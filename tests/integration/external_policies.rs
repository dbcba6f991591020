//! Policies that are programs, in the program.
//!
//! They are written in Python; without Python nothing is tested, and a sentence reports that.

use std::collections::BTreeMap;

use crate::external::without_python;
use crate::sandbox::{
    Rows, Sandbox, assert_same_files, repository, repository_file, stderr, stdout,
};

/// A block of the page, by the text after its fence.
fn block(fence: &str) -> String {
    let page = repository_file("docs/own-policy.md");
    let after = page.split(&format!("```{fence}\n")).nth(1);
    let block = after.and_then(|rest| rest.split("```").next());
    block.expect("the page shows one").to_owned()
}

/// The scenario of the page on three zones of AWS, with the two programs of the page.
fn of_the_page() -> Sandbox {
    let scenario = r#"
        job = { work_h = 30, deadline_h = 44, changeover_s = 720, checkpoint_gb = 20 }
        starts.spread = 12

        [market]
        traces = "aws-v100-2023"
        zones = ["us-east-1f", "us-east-2a", "us-west-2c"]

        [policy]
        names = ["greedy", "mine", "class"]
        mine.command = ["python3", "mine.py"]
        class.command = ["python3", "class.py"]
    "#;
    let sandbox = Sandbox::with(scenario);
    sandbox.write("mine.py", &block("python name=mine.py"));
    let package = repository().join("python");
    let path = format!("import sys\nsys.path.insert(0, {package:?})\n");
    sandbox.write("class.py", &(path + &block("python")));
    sandbox
}

#[test]
fn those_of_the_page_live_as_the_built_in_policy_on_any_number_of_threads() {
    if without_python() {
        return;
    }
    let sandbox = of_the_page();
    for (jobs, out) in [("1", "one"), ("3", "three")] {
        sandbox
            .run(&["run", "scenario.toml", "--jobs", jobs, "--out", out])
            .success();
    }
    let one = sandbox.contents("one");
    assert_same_files(&sandbox.contents("three"), &one, "on three threads");
    let text = sandbox.read("one/records.csv");
    let of = |policy: &str| -> Vec<String> {
        let name = format!(",{policy},");
        let lines = text.lines().filter(|line| line.contains(&name));
        // Without the number of the case.
        let own = lines.map(|line| line.replace(&name, ","));
        own.map(|line| {
            line.split_once(',')
                .map_or_else(String::new, |(_, rest)| rest.to_owned())
        })
        .collect()
    };
    let built_in = of("greedy");
    assert_eq!(built_in.len(), 12);
    assert_eq!(of("mine"), built_in);
    assert_eq!(of("class"), built_in);
}

/// Programs that fail, each in its own way, when a draw of the seed says so; otherwise they stay.
const BAD: &str = r#"
import json, os, subprocess, sys, time

def say(answer):
    print(json.dumps(answer), flush=True)

how = sys.argv[1]
bad, asked = False, 0
while line := sys.stdin.readline():
    told = json.loads(line)
    if "life" in told: bad = told["life"]["seed"] % 2
    asked += 1
    if not bad: say({"stay": True})
    elif how == "raises": raise ValueError("no such luck")
    elif how == "ends": sys.exit(0)
    elif how == "exits": sys.exit(7)
    elif how == "exits-later":
        if asked == 3: sys.exit(7)
        say({"stay": True})
    elif how == "garbage": print("best is 3", flush=True)
    elif how == "nothing": say({})
    elif how == "two": say({"stay": True, "wait": True})
    elif how == "no-zone": say({"spot": "zones"})
    elif how == "no-zones": say({"spot": []})
    elif how == "number-of-a-zone": say({"on_demand": 0})
    elif how == "no-key": say({"buy": "zone"})
    elif how == "no-until": say({"stay": True, "until": 0})
    elif how == "probes": say({"probe": "zone"})
    elif how == "ready": say({"ready": True})
    elif how == "sleeps":
        if asked == 2: time.sleep(1000)
        say({"stay": True})
    elif how == "floods":
        while True: sys.stdout.write("x" * 65536)
    elif how == "deaf":
        os.close(0); time.sleep(1000)
    elif how == "lingers": say({"give_up": True}); time.sleep(1000)
    elif how == "twice": say({"stay": True}); say({"stay": True})
    elif how == "formula": say({"fail": "=1+1"})
"#;

/// Few, but enough for odd and even seeds.
const REPLICAS: usize = 6;

#[test]
fn whatever_goes_wrong_fails_a_life_and_never_the_run() {
    if without_python() {
        return;
    }
    let ways = [
        "raises",
        "ends",
        "exits",
        "exits-later",
        "garbage",
        "nothing",
        "two",
        "no-zone",
        "no-zones",
        "number-of-a-zone",
        "no-key",
        "no-until",
        "probes",
        "ready",
        "sleeps",
        "floods",
        "deaf",
        "lingers",
        "twice",
        "formula",
    ];
    let mut scenario = format!(
        "job = {{ work_h = 5, deadline_h = 7, changeover_s = 600, lateness_usd_per_h = 1 }}\n\
         market = {{ run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = {REPLICAS} }}\n\
         policy.names = [\"greedy\", {}]\n",
        ways.map(|way| format!("{way:?}")).join(", ")
    );
    for way in ways {
        scenario += &format!("[policy.{way}]\ncommand = [\"python3\", \"bad.py\", \"{way}\"]\n");
        // The test waits for these; a busy machine may start them slowly.
        if ["sleeps", "deaf", "lingers"].contains(&way) {
            scenario += "timeout_s = 3\nstart_s = 6\n";
        }
    }
    let sandbox = Sandbox::with(&scenario);
    sandbox.write("bad.py", BAD);
    let run = sandbox.run(&["run", "scenario.toml", "--jobs", "6", "--out", "out"]);
    let run = run.code(3);
    assert!(stderr(&run).contains("have no result; see their `reason`"));
    assert!(
        stdout(&run).contains("no result: raises ("),
        "{}",
        stdout(&run)
    );
    let lives = Rows::parse(&sandbox.read("out/records.csv"));
    let summary = Rows::parse(&sandbox.read("out/summary.csv"));
    let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
    let mut failed: BTreeMap<&str, usize> = BTreeMap::new();
    for way in ways {
        let rows: Vec<_> = (lives.iter())
            .filter(|row| row.text("strategy") == way)
            .collect();
        let told: Vec<&str> = (rows.iter().map(|row| row.text("reason")))
            .filter(|reason| !reason.is_empty())
            .collect();
        assert_eq!(rows.len(), REPLICAS, "{way}");
        assert!((1..REPLICAS).contains(&told.len()), "{way}: {}", told.len());
        assert!(
            told.iter().all(|reason| reason == &told[0]),
            "{way}: {told:?}"
        );
        reasons.insert(way, told[0]);
        failed.insert(way, told.len());
        let row = summary.iter().find(|row| row.text("strategy") == way);
        let row = row.expect("it has a row");
        assert_eq!(row.number("failed") as usize, told.len(), "{way}");
    }
    let greedy = lives.iter().filter(|row| row.text("strategy") == "greedy");
    assert!(greedy.into_iter().all(|row| row.text("reason").is_empty()));
    let listed: Vec<String> = (reasons.iter())
        .map(|(way, reason)| format!("{way}: {reason}"))
        .collect();
    insta::assert_snapshot!(listed.join("\n"));
    // A comparison is of the lives that have a result.
    let compared = sandbox.run(&[
        "compare",
        "scenario.toml",
        "-s",
        "policy.names=[\"greedy\", \"exits-later\", \"garbage\", \"floods\"]",
        "--jobs",
        "6",
        "--against",
        "greedy",
        "--format",
        "csv",
    ]);
    let compared = compared.code(3);
    let without: usize = ["exits-later", "garbage", "floods"]
        .map(|way| failed[way])
        .iter()
        .sum();
    let told = format!("{without} cases have no result");
    assert!(stderr(&compared).contains(&told), "{}", stderr(&compared));
    let compared = Rows::parse(&stdout(&compared));
    assert_eq!(compared.iter().count(), 4);
    assert!(compared.iter().all(|row| row.number("cost $").is_finite()));
}

#[test]
fn mistakes_in_its_table_are_told_with_their_places() {
    let complaint = |table: &str, named: &str| {
        let sandbox = Sandbox::with(&format!(
            "job = {{ work_h = 5, deadline_h = 7 }}\n\
             market = {{ run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3 }}\n\
             policy.names = [\"{named}\"]\n{table}\n"
        ));
        stderr(&sandbox.run(&["check", "scenario.toml"]).code(2))
    };
    let told = [
        complaint("[policy.mine]\ncommand = [\"no-such-program\"]", "mine"),
        complaint("[policy.mine]\ncommand = [\"./mine\"]", "mine"),
        complaint("[policy.mine]\ncommand = []", "mine"),
        complaint("[policy.mine]\ntimeout_s = 0", "mine"),
        complaint("[policy.mine]\ncommand = \"mine\"\nseed = 1", "mine"),
        complaint("[policy.mine]\ncommand = [\"sh\"]\nnet = \"safe\"", "mine"),
        complaint("[policy.mine]\ncommand = [\"sh\"]\nnet = \"none\"", "mine"),
        complaint("[policy.greddy]\ncommand = [\"sh\"]", "greedy"),
        complaint("[policy.clairvoyant]\ncommand = [\"sh\"]", "greedy"),
        complaint("[policy.\" mine\"]\ncommand = [\"sh\"]", "greedy"),
        complaint("[policy.mine]\ncommand = [\"sh\"]", "mime"),
    ];
    insta::assert_snapshot!(told.join("\n---\n"));
}

#[test]
fn a_program_that_fails_the_same_way_ten_times_ends_the_run() {
    let sandbox = Sandbox::with(
        "job = { work_h = 5, deadline_h = 7, changeover_s = 600 }\n\
         market = { run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 2000 }\n\
         policy = { names = [\"greedy\", \"mine\"], mine = { command = [\"sh\", \"fails.sh\"] } }\n",
    );
    sandbox.write(
        "fails.sh",
        "echo once >> started\nread line\necho no JSON\n",
    );
    for command in ["run", "compare"] {
        sandbox.write("started", "");
        let told = stderr(
            &sandbox
                .run(&[command, "scenario.toml", "--jobs", "2"])
                .code(1),
        );
        let why = "scenario: policy `mine`: ten lives failed in the same way: ";
        assert!(told.contains(why) && told.contains("no JSON"), "{told}");
        // Each thread may have begun one more.
        let started = sandbox.read("started").lines().count();
        assert!((10..=11).contains(&started), "{started}");
    }
}
