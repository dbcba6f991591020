//! Strategies that are programs.
//!
//! They are written in Python; without Python nothing is tested, and a sentence reports that.

use std::collections::BTreeMap;
use std::process::Command;

use crate::sandbox::{Rows, Sandbox, assert_same_files, repository_file, stderr};

pub fn without_python() -> bool {
    let missing = Command::new("python3").arg("--version").output().is_err();
    if missing {
        eprintln!("python3 is not installed: strategies that are programs were not tested");
    }
    missing
}

/// The first block of a language on the page.
fn block(language: &str) -> String {
    let page = repository_file("docs/own-strategy.md");
    let after = page.split(&format!("```{language}\n")).nth(1);
    let block = after.and_then(|rest| rest.split("```").next());
    block.expect("the page shows one").to_owned()
}

fn of_the_page() -> Sandbox {
    let sandbox = Sandbox::with(&block("toml"));
    sandbox.write("mine.py", &block("python"));
    sandbox
}

#[test]
fn the_one_of_the_page_is_the_same_on_any_number_of_threads() {
    if without_python() {
        return;
    }
    let sandbox = of_the_page();
    let run = |jobs: &str, out: &str| {
        sandbox
            .run(&["run", "scenario.toml", "--jobs", jobs, "--out", out])
            .success();
    };
    run("1", "one");
    run("3", "three");
    let one = sandbox.contents("one");
    assert_same_files(&sandbox.contents("three"), &one, "on three threads");
    let rows = Rows::parse(&sandbox.read("one/records.csv"));
    let mut regret: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for row in rows.iter() {
        if row.text("objective") == "time" {
            let of = (row.text("strategy"), "time");
            *regret.entry(of).or_default() += row.number("regret_time") / 10.0;
        }
    }
    // The best of five is not the best of sixteen in every replica, but close.
    let mine = regret[&("mine", "time")];
    assert!(0.0 < mine && mine < 0.3, "{regret:?}");
    // Each replica has a seed of its own.
    let chosen = |row: &crate::sandbox::Row<'_>| {
        format!(
            "{} {}",
            row.text("chosen_workers"),
            row.text("chosen_batch")
        )
    };
    let mut choices: Vec<String> = (rows.iter())
        .filter(|row| row.text("strategy") == "mine" && row.text("objective") == "time")
        .map(|row| chosen(&row))
        .collect();
    choices.sort();
    choices.dedup();
    assert!(choices.len() > 2, "{choices:?}");
}

/// Programs that fail, each in its own way, when a draw of the seed says so; otherwise they choose 0.
const BAD: &str = r#"
import json, os, subprocess, sys, time

def choose(at=0):
    print(json.dumps({"choose": at}), flush=True)

how, count = sys.argv[1], 0
while line := sys.stdin.readline():
    told = json.loads(line)
    if told["search"]["seed"] % 2:
        choose()
        continue
    if how == "raises": raise ValueError("no such luck")
    elif how == "ends": sys.exit(0)
    elif how == "exits": sys.exit(7)
    elif how == "garbage": print("best is 3", flush=True); sys.stdin.readline()
    elif how == "hole": choose(99)
    elif how == "negative": choose(-1)
    elif how == "probes-a-hole": print('{"probe": {"configuration": 99}}', flush=True); sys.stdin.readline()
    elif how == "nan": print('{"predict": [NaN]}', flush=True); sys.stdin.readline()
    elif how == "few": print('{"predict": [1.0]}', flush=True); sys.stdin.readline()
    elif how == "two-lengths": print('{"probe": {"configuration": 0, "steps": 1, "usd": 1}}', flush=True); sys.stdin.readline()
    elif how == "sleeps": time.sleep(1000)
    elif how == "forks":
        subprocess.Popen(["sleep", "1000.123"])
        raise ValueError("left a child")
    elif how == "floods":
        while True: sys.stdout.write("x" * 65536)
    elif how == "eats":
        eaten = []
        while True: eaten.append(bytearray(1 << 28))
    elif how == "deaf":
        os.close(0); time.sleep(1000)
    elif how == "gives-up": print('{"fail": "no idea"}', flush=True)
"#;

/// Few, but enough for odd and even seeds.
const REPLICAS: usize = 12;

#[test]
fn whatever_goes_wrong_fails_a_case_and_never_the_run() {
    if without_python() {
        return;
    }
    let ways = [
        "raises",
        "ends",
        "exits",
        "garbage",
        "hole",
        "negative",
        "probes-a-hole",
        "nan",
        "few",
        "two-lengths",
        "sleeps",
        "forks",
        "floods",
        "eats",
        "deaf",
        "gives-up",
    ];
    let mut scenario = format!(
        "name = \"bad\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = {REPLICAS}\nsearch.objectives = [\"time\"]\n\
         search.strategies = {ways:?}\n"
    );
    for way in ways {
        scenario += &format!(
            "[strategy.{way}]\ncommand = [\"python3\", \"bad.py\", \"{way}\"]\ntimeout_s = 2\nstart_s = 4\nmemory_mib = 600\n"
        );
    }
    let sandbox = Sandbox::with(&scenario);
    sandbox.write("bad.py", BAD);
    sandbox
        .run(&[
            "run",
            "scenario.toml",
            "--keep-going",
            "--jobs",
            "6",
            "--out",
            "out",
        ])
        .code(3);
    let records = Rows::parse(&sandbox.read("out/records.csv"));
    let failures = Rows::parse(&sandbox.read("out/failures.csv"));
    let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
    for row in failures.iter() {
        let reason = row.text("reason");
        let known = reasons.entry(row.text("strategy")).or_insert(reason);
        assert_eq!(*known, reason, "of {}", row.text("strategy"));
    }
    for way in ways {
        let rows: Vec<_> = (records.iter())
            .filter(|row| row.text("strategy") == way)
            .collect();
        let failed = rows
            .iter()
            .filter(|row| row.text("status") == "failed")
            .count();
        assert_eq!(rows.len(), REPLICAS, "{way}");
        assert!((1..REPLICAS).contains(&failed), "{way}: {failed}");
    }
    let listed: Vec<String> = (reasons.iter())
        .map(|(way, reason)| format!("{way}: {reason}"))
        .collect();
    insta::assert_snapshot!(listed.join("\n"));
    if cfg!(target_os = "linux") {
        let left = Command::new("pgrep")
            .args(["-f", "sleep 1000.123"])
            .output();
        if let Ok(left) = left {
            assert!(
                left.stdout.is_empty(),
                "a child of a program outlives the run"
            );
        }
    }
}

#[test]
fn a_run_goes_on_with_the_same_program_only() {
    if without_python() {
        return;
    }
    let sandbox = of_the_page();
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--resume"])
        .success();
    sandbox.edit("mine.py", "min(5, count)", "min(4, count)");
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--resume"])
        .code(2);
}

#[test]
fn mistakes_in_its_table_are_told_with_their_places() {
    let complaint = |table: &str, named: &str| {
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"{named}\"]\n{table}\n"
        ));
        stderr(&sandbox.run(&["check", "scenario.toml"]).code(2))
    };
    let told = [
        complaint("[strategy.mine]\ncommand = [\"no-such-program\"]", "mine"),
        complaint("[strategy.mine]\ncommand = [\"./mine\"]", "mine"),
        complaint("[strategy.mine]\ncommand = []", "mine"),
        complaint("[strategy.mine]\ntimeout_s = 0", "mine"),
        complaint("[strategy.mine]\ncommand = \"mine\"\nseed = 1", "mine"),
        complaint("[strategy.randon]\nprobes = 3", "random"),
        complaint("[strategy.oracle]\ncommand = [\"a\"]", "oracle"),
        complaint("[strategy.\"mine@3\"]\ncommand = [\"a\"]", "random"),
        complaint("[strategy.mine]\ncommand = [\"a\"]", "mime"),
    ];
    insta::assert_snapshot!(told.join("\n---\n"));
}

/// Programs that print an additional line: with a number or without, a search or an answer.
const CHATTY: &str = r#"
import json, sys

how = sys.argv[1]
for line in sys.stdin:
    told = json.loads(line)
    number = {"number": told["number"]} if "numbered" in how else {}
    def say(answer): print(json.dumps({**number, **answer}), flush=True)
    if "over" in told:
        say({"ready": True})
    elif "observation" in told:
        say({"choose": told["observation"]["steps"] % 16})
    elif "probes" in how:
        say({"probe": {"configuration": 0, "steps": 21}})
        if "twice" in how: say({"choose": 0})
    else:
        say({"choose": 5})
        if "twice" in how: say({"choose": 1})
"#;

#[test]
fn a_line_too_much_is_heard_in_its_own_search() {
    if without_python() {
        return;
    }
    let ways = [
        "plain",
        "numbered",
        "probes",
        "numbered-probes",
        "twice",
        "numbered-twice",
        "numbered-probes-twice",
    ];
    let mut scenario = format!(
        "workloads = [\"scavenger-resnet18\"]\nreplicas = 8\nsearch.objectives = [\"time\"]\nsearch.strategies = {ways:?}\n"
    );
    for way in ways {
        scenario +=
            &format!("[strategy.{way}]\ncommand = [\"python3\", \"chatty.py\", \"{way}\"]\n");
    }
    let sandbox = Sandbox::with(&scenario);
    sandbox.write("chatty.py", CHATTY);
    for (jobs, out) in [("1", "one"), ("4", "four")] {
        let arguments = ["run", "scenario.toml", "--jobs", jobs, "--out", out];
        sandbox.run(&arguments).code(3);
    }
    assert_same_files(
        &sandbox.contents("four"),
        &sandbox.contents("one"),
        "on four threads",
    );
    let rows = Rows::parse(&sandbox.read("one/records.csv"));
    let of = |way: &str| -> Vec<String> {
        let rows = rows.iter().filter(|row| row.text("strategy") == way);
        rows.map(|row| {
            format!(
                "{} {} {}",
                row.text("chosen_workers"),
                row.text("chosen_batch"),
                row.text("reason")
            )
        })
        .collect()
    };
    // A number has no effect on programs that only answer questions.
    assert_eq!(of("plain"), of("numbered"));
    assert_eq!(of("probes"), of("numbered-probes"));
    assert!(
        of("plain").iter().all(|row| row.ends_with(' ')),
        "{:?}",
        of("plain")
    );
    for way in ["twice", "numbered-twice", "numbered-probes-twice"] {
        let all = of(way);
        assert_eq!(all.len(), 8);
        let told = "the program said more than it was asked";
        assert!(all.iter().all(|row| row.contains(told)), "{way}: {all:?}");
    }
}

/// The link of a virtual environment is not followed: the interpreter finds its packages by the path that it is started under.
#[cfg(unix)]
#[test]
fn a_python_of_a_virtual_environment_has_its_packages() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\nsearch = { strategies = [\"mine\"], objectives = [\"time\"] }\n\
         [strategy.mine]\ncommand = [\"./venv/bin/python\", \"mine.py\"]\n",
    );
    let venv = sandbox.path("venv");
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&venv)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("python3 cannot make virtual environments: programs in one were not tested");
        return;
    }
    let lib = std::fs::read_dir(venv.join("lib")).expect("it has one");
    let version = lib.flatten().next().expect("of some Python").file_name();
    let package = format!("venv/lib/{}/site-packages/only_here.py", version.display());
    sandbox.write(&package, "FOUND = 4\n");
    sandbox.write(
        "mine.py",
        "import json, sys, only_here\nsys.stdin.readline()\nprint(json.dumps({'choose': only_here.FOUND}), flush=True)\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
}

/// The start of a program is not part of the time for an answer, nor of that for the search.
#[test]
fn a_start_is_not_counted_as_thinking() {
    if without_python() {
        return;
    }
    let scenario = |start_s: f64| {
        format!(
            "workloads = [\"scavenger-resnet18\"]\nsearch = {{ strategies = [\"mine\"], objectives = [\"time\"] }}\n\
             [strategy.mine]\ncommand = [\"python3\", \"slow.py\"]\ntimeout_s = 1\nmax_search_s = 2\nstart_s = {start_s}\n"
        )
    };
    let sandbox = Sandbox::with(&scenario(60.0));
    sandbox.write(
        "slow.py",
        "import json, sys, time\ntime.sleep(3)\nsys.stdin.readline()\nprint(json.dumps({'choose': 0}), flush=True)\n",
    );
    let run = ["run", "scenario.toml", "--out", "out"];
    sandbox.run(&run).success();
    sandbox.write("scenario.toml", &scenario(0.5));
    let run = ["run", "scenario.toml", "--out", "late"];
    sandbox.run(&run).code(3);
    let failures = Rows::parse(&sandbox.read("late/failures.csv"));
    let reasons: Vec<&str> = failures.iter().map(|row| row.text("reason")).collect();
    assert_eq!(reasons, ["the program gave no answer within 1.5 s"]);
}

/// Data about machines that a program gets, for those of a catalogue and for others.
#[test]
fn a_program_is_told_what_machines_have() {
    if without_python() {
        return;
    }
    let sandbox = Sandbox::with(
        "grid = \"scout\"\njobs = [\"kmeans_huge_spark15\"]\nsearch = { strategies = [\"mine\"], objectives = [\"cost\"] }\n\
         [strategy.mine]\ncommand = [\"python3\", \"mine.py\"]\n",
    );
    sandbox.write(
        "mine.py",
        "import json, sys\n\
         task = json.loads(sys.stdin.readline())['task']\n\
         told = sorted({(c['vm'], json.dumps(m)) for c, m in zip(task['configurations'], task['machines'])})\n\
         open('told', 'w').write('\\n'.join(f'{vm} {m}' for vm, m in told))\n\
         print(json.dumps({'choose': 3}), flush=True)\n",
    );
    let run = ["run", "scenario.toml", "--out", "out"];
    sandbox.run(&run).success();
    let told = sandbox.read("told");
    assert_eq!(told.lines().count(), 9, "{told}");
    assert!(
        told.contains("r4.large {\"gpus\": 0, \"memory_gib\": 15.25, \"vcpu\": 2}"),
        "{told}"
    );
}

#[test]
fn a_search_without_end_ends() {
    if without_python() {
        return;
    }
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\nsearch = { strategies = [\"probes\", \"starts\", \"slow\"], objectives = [\"time\"] }\n\
         [strategy.probes]\ncommand = [\"python3\", \"endless.py\", \"probe\"]\n\
         [strategy.starts]\ncommand = [\"python3\", \"endless.py\", \"cold_start\"]\nmax_probes = 30\n\
         [strategy.slow]\ncommand = [\"python3\", \"endless.py\", \"probe\", \"0.1\"]\nmax_search_s = 0.5\n",
    );
    sandbox.write(
        "endless.py",
        "import json, sys, time\n\
         sys.stdin.readline()\n\
         while True:\n\
         \x20   time.sleep(float((sys.argv[2:] or [0])[0]))\n\
         \x20   print(json.dumps({sys.argv[1]: {'configuration': 0, 'steps': 1}}), flush=True)\n\
         \x20   sys.stdin.readline()\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let failures = Rows::parse(&sandbox.read("out/failures.csv"));
    let reasons: Vec<&str> = failures.iter().map(|row| row.text("reason")).collect();
    assert_eq!(
        reasons,
        [
            "the search asked for more than 10000 probes (`max_probes`)",
            "the search asked for more than 30 probes (`max_probes`)",
            "the search took more than 0.5 s (`max_search_s`)",
        ]
    );
}

/// A program that computes for an hour does not outlive the scavsim that started it, however that ends.
#[cfg(unix)]
#[test]
fn a_program_ends_with_scavsim_however_that_ends() {
    use std::time::{Duration, Instant};
    if without_python() {
        return;
    }
    let waits = |what: &str, until: &mut dyn FnMut() -> bool| {
        let begun = Instant::now();
        while !until() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    for signal in ["-INT", "-TERM", "-HUP", "-KILL"] {
        let sandbox = Sandbox::with(
            "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"mine\"]\n\
             [strategy.mine]\ncommand = [\"python3\", \"never.py\"]\ntimeout_s = 1000\n",
        );
        sandbox.write(
            "never.py",
            "import os, signal, subprocess, time\n\
             [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]\n\
             child = subprocess.Popen(['sleep', '1000.456'])\n\
             open('pids.part', 'w').write(f'{os.getpid()} {child.pid}')\n\
             os.rename('pids.part', 'pids')\n\
             time.sleep(3600)\n",
        );
        let mut command = sandbox.scavsim();
        command.args(["run", "scenario.toml", "--jobs", "1", "--quiet"]);
        let mut scavsim = command.spawn().expect("it can be started");
        waits("the program begins", &mut || sandbox.path("pids").exists());
        let process = scavsim.id().to_string();
        Command::new("kill")
            .args([signal, &process])
            .status()
            .expect("`kill` is there");
        scavsim.wait().expect("it is ours");
        for process in sandbox.read("pids").split(' ') {
            // A zombie, which was not waited for yet, is still listed.
            let is_gone = || match std::fs::read_to_string(format!("/proc/{process}/stat")) {
                Ok(status) => status
                    .rsplit(')')
                    .next()
                    .is_some_and(|rest| rest.trim().starts_with('Z')),
                Err(_) => {
                    !std::path::Path::new("/proc/self").exists()
                        || !std::path::Path::new(&format!("/proc/{process}")).exists()
                }
            };
            waits(&format!("{signal}: {process} lives on"), &mut || is_gone());
        }
    }
}

#[test]
fn words_of_a_program_command_neither_terminal_nor_spreadsheet() {
    if without_python() {
        return;
    }
    let said = [
        "=cmd|' /C calc'!A0",
        "@SUM(1)",
        "+1",
        "-1",
        "red \u{1b}[31m and \u{9b}31m",
        "back \u{202e}wards\u{2028} again",
    ];
    let listed: Vec<String> = said
        .iter()
        .map(|text| serde_json::json!(text).to_string())
        .collect();
    let sandbox = Sandbox::with(&format!(
        "workloads = [\"scavenger-resnet18\"]\nreplicas = {}\nsearch = {{ strategies = [\"mine\"], objectives = [\"time\"] }}\n\
         [strategy.mine]\ncommand = [\"python3\", \"says.py\"]\n",
        said.len()
    ));
    sandbox.write(
        "says.py",
        &format!(
            "import json, os, sys\nall = [{}]\nsys.stdin.readline()\n\
             n = len(os.listdir('said')) if os.path.isdir('said') else 0\nos.makedirs(f'said/{{n}}')\n\
             print(json.dumps({{'fail': all[n]}}), flush=True)\n",
            listed.join(", ")
        ),
    );
    let assert = sandbox
        .run(&["run", "scenario.toml", "--jobs", "1", "--out", "out"])
        .code(3);
    for file in ["records.csv", "failures.csv"] {
        let rows = Rows::parse(&sandbox.read(&format!("out/{file}")));
        let reasons: Vec<&str> = rows.iter().map(|row| row.text("reason")).collect();
        assert_eq!(
            reasons,
            [
                "'=cmd|' /C calc'!A0",
                "'@SUM(1)",
                "'+1",
                "'-1",
                "red \\u{1b}[31m and \\u{9b}31m",
                "back \\u{202e}wards\\u{2028} again",
            ],
            "{file}"
        );
    }
    for text in [crate::sandbox::stdout(&assert), stderr(&assert)] {
        assert!(
            !text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{2028}']),
            "{text:?}"
        );
    }
}
