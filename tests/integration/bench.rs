//! Submissions to a suite: refused ones, and their ranking.
//!
//! A suite of two jobs replaces the shipped one, which is slower.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::external::without_python;
use crate::sandbox::{Rows, Sandbox, assert_same_files, repository_file, stderr, stdout};

pub const JOBS: &str = "jobs = [\"kmeans_huge_spark15\", \"lr_huge_spark\"]";

/// A suite on Scout with the hashes of the shipped one.
pub fn with_hashes(suite: &str) -> String {
    let shipped: toml::Table = repository_file("data/bench/v1.toml").parse().expect("TOML");
    let scout = &shipped["grid"][0];
    assert_eq!(scout["name"].as_str(), Some("scout"));
    let hash = |key: &str| scout[key].as_str().expect("a hash");
    suite
        .replace("SPEC", hash("spec"))
        .replace("ROWS", hash("rows"))
}

/// A suite of two jobs of Scout.
pub fn tiny() -> String {
    with_hashes(&format!(
        "name = \"tiny\"\nversion = 1\nseed = 7\nrepeats = [1, 10]\nobjectives = [\"cost\", \"time\"]\n\
         [[grid]]\nname = \"scout\"\nspec = \"SPEC\"\nrows = \"ROWS\"\n{JOBS}\nstarts = 2\nhalves = 1\n"
    ))
}

pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("tiny.toml", &tiny());
    sandbox
}

pub fn run(
    sandbox: &Sandbox,
    strategy: &str,
    out: &str,
    more: &[&str],
) -> assert_cmd::assert::Assert {
    let usual = [
        "bench",
        "run",
        "--suite",
        "tiny.toml",
        "--strategy",
        strategy,
        "--out",
        out,
    ];
    sandbox.run(&[&usual[..], more].concat())
}

pub fn verify(sandbox: &Sandbox, folder: &str) -> assert_cmd::assert::Assert {
    sandbox.run(&["bench", "verify", folder, "--suite", "tiny.toml"])
}

/// Writes transcripts back, and their hash into the submission, like a forger.
fn put(sandbox: &Sandbox, folder: &str, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write(&format!("{folder}/transcripts.jsonl"), &text);
    let file = format!("{folder}/submission.json");
    let mut submission: Value = serde_json::from_str(&sandbox.read(&file)).expect("JSON");
    submission["transcripts"] = json!(blake3::hash(text.as_bytes()).to_hex().to_string());
    let text = serde_json::to_string_pretty(&submission).expect("JSON");
    sandbox.write(&file, &text);
}

fn lines(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let text = sandbox.read(&format!("{folder}/transcripts.jsonl"));
    text.lines().map(str::to_owned).collect()
}

/// Replaces the first of a text in a line, which must be there.
fn change(line: &mut String, from: &str, to: &str) {
    assert!(line.contains(from), "{from} in {line}");
    *line = line.replacen(from, to, 1);
}

/// The text below the name of the folder, on one line of any length.
pub fn reasons(text: &str) -> String {
    let words: Vec<&str> = text
        .lines()
        .skip(1)
        .flat_map(str::split_whitespace)
        .collect();
    words.join(" ")
}

#[test]
fn a_submission_is_the_same_on_any_number_of_threads_and_comes_out_again() {
    let sandbox = sandbox();
    run(&sandbox, "cherrypick@6", "one", &["--jobs", "1"]).success();
    run(&sandbox, "cherrypick@6", "three", &["--jobs", "3"]).success();
    let one = sandbox.contents("one");
    assert_same_files(&sandbox.contents("three"), &one, "on three threads");
    // Two jobs, two starts, two objectives, two numbers of runs.
    assert_eq!(lines(&sandbox, "one").len(), 16);
    let told = stdout(&verify(&sandbox, "one").success());
    assert!(
        told.contains("every figure of 16 searches came out again"),
        "{told}"
    );
}

#[test]
fn a_forged_transcript_is_refused_with_its_line() {
    let sandbox = sandbox();
    run(&sandbox, "random@6", "mine", &[]).success();
    let honest = lines(&sandbox, "mine");
    let first: Value = serde_json::from_str(&honest[0]).expect("JSON");
    let step = &first["asked"][1];
    let (chosen, net) = (first["chose"][0].to_string(), first["net"].to_string());
    let (spent_s, spent_usd) = (step["spent_s"].to_string(), step["spent_usd"].to_string());
    let seen = step["target"].to_string();
    let less = |figure: &str| (figure.parse::<f64>().expect("a figure") * 0.5).to_string();
    let other = |name: &str| {
        let all = first["asked"].as_array().expect("a list");
        let other = all
            .iter()
            .find(|step| step["configuration"].as_str() != Some(name.trim_matches('"')));
        other.expect("it looked at several")["configuration"].to_string()
    };
    let without_step = || {
        let mut forged = first.clone();
        forged["asked"].as_array_mut().expect("a list").remove(0);
        forged.to_string()
    };
    let mut told = String::new();
    let mut refused = |what: &str, forge: &dyn Fn(&mut Vec<String>)| {
        let mut forged = honest.clone();
        forge(&mut forged);
        assert_ne!(forged, honest, "{what}");
        put(&sandbox, "mine", &forged);
        let text = stdout(&verify(&sandbox, "mine").code(1));
        assert!(text.starts_with("mine: refused\n"), "{what}: {text}");
        told += &format!("{what}\n{}\n", reasons(&text));
    };
    refused("cheaper", &|all| {
        change(
            &mut all[0],
            &format!("\"spent_usd\":{spent_usd}"),
            &format!("\"spent_usd\":{}", less(&spent_usd)),
        );
    });
    refused("faster", &|all| {
        change(
            &mut all[0],
            &format!("\"spent_s\":{spent_s}"),
            &format!("\"spent_s\":{}", less(&spent_s)),
        );
    });
    refused("seen otherwise", &|all| {
        change(&mut all[0], &seen, "{\"reached_s\":1.0}")
    });
    refused("a probe left out", &|all| all[0] = without_step());
    refused("another choice", &|all| {
        change(
            &mut all[0],
            &format!("\"chose\":[{chosen}]"),
            &format!("\"chose\":[{}]", other(&chosen)),
        );
    });
    refused("a choice that is a hole", &|all| {
        change(
            &mut all[0],
            &format!("\"chose\":[{chosen}]"),
            "\"chose\":[\"99 × c4.large\"]",
        );
    });
    refused("two choices", &|all| {
        change(
            &mut all[0],
            &format!("\"chose\":[{chosen}]"),
            &format!("\"chose\":[{chosen},{}]", other(&chosen)),
        );
    });
    refused("a better net", &|all| {
        change(&mut all[0], &format!("\"net\":{net}"), "\"net\":0.0")
    });
    refused("a failure in place of a choice", &|all| {
        change(
            &mut all[0],
            &format!("\"chose\":[{chosen}]"),
            "\"failed\":\"no luck\",\"chose\":[]",
        );
    });
    refused("a missing case", &|all| drop(all.remove(3)));
    refused("the last case missing", &|all| drop(all.pop()));
    refused("a case too many", &|all| all.push(all[0].clone()));
    refused("two cases exchanged", &|all| all.swap(2, 3));
    refused("an unknown key", &|all| {
        change(&mut all[5], "{\"search\"", "{\"luck\":1,\"search\"")
    });
    refused("no JSON", &|all| all[5].truncate(20));
    refused("other digits", &|all| {
        change(
            &mut all[0],
            &format!("\"net\":{net}"),
            &format!("\"net\":{net}0"),
        )
    });
    assert_snapshot!(told);
}

#[test]
fn what_a_submission_says_of_itself_is_held_against_the_replay() {
    let sandbox = sandbox();
    run(&sandbox, "random@6", "mine", &[]).success();
    let honest = sandbox.read("mine/submission.json");
    let mut told = String::new();
    let mut refused = |what: &str, forge: &dyn Fn(&mut Value)| {
        let mut forged: Value = serde_json::from_str(&honest).expect("JSON");
        forge(&mut forged);
        sandbox.write("mine/submission.json", &forged.to_string());
        let text = stdout(&verify(&sandbox, "mine").code(1));
        told += &format!("{what}\n{}\n", reasons(&text));
    };
    refused("a better total", &|all| {
        all["totals"][0]["net"] = json!(0.0)
    });
    refused("a total left out", &|all| {
        drop(all["totals"].as_array_mut().expect("a list").pop())
    });
    refused("more cases", &|all| all["cases"] = json!(17));
    refused("another hash", &|all| all["transcripts"] = json!("0"));
    refused("another seed", &|all| all["suite"]["seed"] = json!(8));
    refused("another suite", &|all| all["suite"]["name"] = json!("v1"));
    refused("an unknown key", &|all| all["prize"] = json!(1));
    refused("a formula for a name", &|all| all["name"] = json!("=1+1"));
    refused("a name that is a page", &|all| {
        all["name"] = json!("<script>alert(1)</script>")
    });
    refused("a name of another version", &|all| {
        all["scavsim"] = json!("9.9.9")
    });
    refused("a program that is not there", &|all| {
        all["program"] = json!({ "mine.py": "0" })
    });
    refused("tuned on nothing", &|all| {
        all["tuned_on"] = json!("nothing")
    });
    assert_snapshot!(told);
    sandbox.write("mine/submission.json", &honest);
    verify(&sandbox, "mine").success();
    std::fs::remove_file(sandbox.path("mine/transcripts.jsonl")).expect("it was there");
    let text = stdout(&verify(&sandbox, "mine").code(1));
    assert!(text.contains("there is no transcripts.jsonl"), "{text}");
    let text = stdout(&verify(&sandbox, "none").code(1));
    assert!(text.contains("none: refused"), "{text}");
}

const PROGRAM: &str = r#"
import json, random, sys

def ask(question):
    print(json.dumps(question), flush=True)
    return json.loads(sys.stdin.readline())

while line := sys.stdin.readline():
    told = json.loads(line)
    draw = random.Random(told["search"]["seed"])
    assert told["task"]["earlier_runs"] is None
    names = {job["workload"] for job in told["task"]["other_jobs"]}
    assert len(names) > 10 and not any(told["task"]["workload"].split("_")[0] in name for name in names)
    if told["search"]["objective"] == "time":
        ask({"probe": {"configuration": 0, "seconds": 60}})
        print(json.dumps({"fail": "=no luck"}), flush=True)
        continue
    at = draw.randrange(len(told["task"]["configurations"]))
    ask({"probe": {"configuration": at, "to_target": True}})
    ask({"probe": {"configuration": (at + 1) % len(told["task"]["configurations"]), "usd": 0.05}})
    print(json.dumps({"choose": at}), flush=True)
"#;

/// A program is needed only for the run, whether it fails or not.
#[test]
fn a_program_is_verified_without_it() {
    if without_python() {
        return;
    }
    let sandbox = sandbox();
    sandbox.write("my/lucky.py", PROGRAM);
    run(&sandbox, "my/lucky.py", "mine", &[]).success();
    let submission: Value =
        serde_json::from_str(&sandbox.read("mine/submission.json")).expect("JSON");
    assert_eq!(
        (&submission["name"], &submission["strategy"]),
        (&json!("lucky"), &json!("python3 lucky.py"))
    );
    let hash = blake3::hash(PROGRAM.as_bytes()).to_hex().to_string();
    assert_eq!(submission["program"], json!({ "lucky.py": hash }));
    let all = lines(&sandbox, "mine");
    assert!(
        all.iter()
            .any(|line| line.contains("\"failed\":\"'=no luck\"")),
        "{all:?}"
    );
    assert!(
        all.iter().any(|line| line.contains("\"usd\":0.05")),
        "{all:?}"
    );
    std::fs::remove_dir_all(sandbox.path("my")).expect("it was there");
    let told = stdout(&verify(&sandbox, "mine").success());
    assert!(told.contains("its program was not run"), "{told}");
    // Undoing a failure has no advantage.
    let at = all
        .iter()
        .position(|line| line.contains("\"failed\""))
        .expect("one failed");
    let mut forged = all;
    change(&mut forged[at], "\"failed\":\"'=no luck\",", "");
    put(&sandbox, "mine", &forged);
    let text = stdout(&verify(&sandbox, "mine").code(1));
    assert!(text.contains(&format!("line {}: ", at + 1)), "{text}");
}

/// Draws a configuration with its seed, and knows one of them by its name.
const COPIED: &str = r#"
import json, random, sys
while line := sys.stdin.readline():
    told = json.loads(line)
    seed, all = told["search"]["seed"], told["task"]["configurations"]
    known = [at for at, own in enumerate(all) if own["vm"] == sys.argv[1]]
    print(json.dumps({"choose": random.Random(seed).choice(known)} if known else {"fail": "unknown"}), flush=True)
"#;

/// Results that the program of a folder does not produce are refused once it is run: the best start under every start, another program.
#[test]
fn a_program_is_run_again_and_judged_by_what_it_cannot_know() {
    if without_python() {
        return;
    }
    let sandbox = sandbox();
    sandbox.write("my/known.py", COPIED);
    let entered = [
        "--suite",
        "tiny.toml",
        "--out",
        "mine",
        "--tuned-on",
        "scout",
    ];
    let command = ["--", "python3", "my/known.py", "c4.xlarge"];
    let run_it = [&["bench", "run"][..], &entered, &command].concat();
    sandbox.run(&run_it).success();
    let again = |folder: &str| {
        let command = [
            "bench",
            "verify",
            folder,
            "--suite",
            "tiny.toml",
            "--programs",
        ];
        sandbox.run(&command)
    };
    let told = stdout(&again("mine").success());
    assert!(told.contains("came out again\n"), "{told}");
    let honest = sandbox.read("mine/submission.json");
    assert!(
        honest.contains("\"python3 known.py c4.xlarge\""),
        "{honest}"
    );
    // The choice of the first start under the second one, like a lucky draw; the figures match the choice.
    sandbox.write(
        "my/lucky.py",
        &COPIED.replace(
            "random.Random(seed)",
            "random.Random(told[\"search\"][\"repeats\"])",
        ),
    );
    let lucky = [
        "--suite",
        "tiny.toml",
        "--out",
        "lucky",
        "--",
        "python3",
        "my/lucky.py",
        "c4.xlarge",
    ];
    sandbox
        .run(&[&["bench", "run"][..], &lucky].concat())
        .success();
    let mut forged: Value = serde_json::from_str(&honest).expect("JSON");
    let other: Value = serde_json::from_str(&sandbox.read("lucky/submission.json")).expect("JSON");
    forged["totals"] = other["totals"].clone();
    sandbox.write("mine/submission.json", &forged.to_string());
    put(&sandbox, "mine", &lines(&sandbox, "lucky"));
    verify(&sandbox, "mine").success();
    let told = reasons(&stdout(&again("mine").code(1)));
    assert!(told.contains("makes other searches than these"), "{told}");
    // A program with another hash.
    sandbox.write("lucky/program/lucky.py", COPIED);
    let told = reasons(&stdout(&verify(&sandbox, "lucky").code(1)));
    assert!(told.contains("`program.lucky.py` is"), "{told}");
    // A program that knows configurations by their names fails without them.
    sandbox.run(&run_it).success();
    run(&sandbox, "random@6", "random", &[]).success();
    let board = |more: &[&str]| {
        let usual = [
            "bench",
            "board",
            "mine",
            "random",
            "--suite",
            "tiny.toml",
            "--out",
            "b.csv",
        ];
        sandbox.run(&[&usual[..], more].concat()).success();
        let rows = Rows::parse(&sandbox.read("b.csv"));
        let of = |name: &str| {
            let row = rows.iter().find(|row| row.text("name") == name);
            let row = row.expect("it has a row");
            (
                row.text("checked").to_owned(),
                row.text("tuned_on").to_owned(),
                row.number("failed_share"),
            )
        };
        (of("known"), of("random@6"))
    };
    let (known, random) = board(&[]);
    assert_eq!(known, ("figures only".into(), "scout".into(), 0.0));
    assert_eq!(random, ("run again".into(), "nothing here".into(), 0.0));
    let (known, random) = board(&["--programs", "--seed", "8"]);
    assert_eq!((known.2, random.2), (1.0, 0.0));
    sandbox
        .run(&[
            "bench",
            "board",
            "mine",
            "--suite",
            "tiny.toml",
            "--seed",
            "8",
        ])
        .code(2);
}

/// The first commands of docs/bench.md with the program of docs/own-strategy.md.
#[test]
fn the_documented_way_to_enter_is_open() {
    if without_python() {
        return;
    }
    let block = |page: &str, language: &str| {
        let text = repository_file(page);
        let begin = text.find(&format!("```{language}\n")).expect("a block") + language.len() + 4;
        let length = text[begin..].find("```").expect("its end");
        text[begin..begin + length].to_owned()
    };
    let sandbox = sandbox();
    sandbox.write("mine.py", &block("docs/own-strategy.md", "python"));
    let commands = block("docs/bench.md", "sh");
    assert!(commands.lines().count() > 4, "{commands}");
    for line in commands.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let behind = words.iter().position(|word| *word == "--");
        let at = behind.unwrap_or(words.len());
        words.splice(at..at, ["--suite", "tiny.toml"]);
        sandbox.run(&words).success();
    }
    assert!(
        sandbox
            .read("leaderboard.csv")
            .contains("python3 mine.py 10")
    );
}

#[test]
fn a_leaderboard_is_made_of_verified_folders_alone() {
    let sandbox = sandbox();
    run(&sandbox, "random@6", "random", &[]).success();
    run(&sandbox, "dearest", "dearest", &["--name", "dear one"]).success();
    run(&sandbox, "random@6", "again", &[]).success();
    run(&sandbox, "cheapest", "forged", &[]).success();
    let mut forged = lines(&sandbox, "forged");
    forged.remove(0);
    put(&sandbox, "forged", &forged);
    let board = [
        "bench",
        "board",
        "random",
        "dearest",
        "again",
        "forged",
        "--suite",
        "tiny.toml",
    ];
    let assert = sandbox
        .run(&[&board[..], &["--out", "leaderboard.csv"]].concat())
        .code(1);
    assert_snapshot!(stdout(&assert));
    let told = stderr(&assert);
    assert!(
        told.contains("forged: refused") && told.contains("again: refused"),
        "{told}"
    );
    let rows = Rows::parse(&sandbox.read("leaderboard.csv"));
    // Over all, and in four blocks.
    assert_eq!(rows.len(), 10);
    let names: Vec<&str> = rows.iter().map(|row| row.text("name")).collect();
    assert!(
        names
            .iter()
            .all(|name| ["random@6", "dear one"].contains(name)),
        "{names:?}"
    );
    let page = sandbox.read("leaderboard.html");
    assert!(
        page.contains("dear one") && page.contains("Refused: forged: "),
        "{page}"
    );
    assert!(!page.contains(&*sandbox.path("").to_string_lossy()));
    let none = ["bench", "board", "forged", "--suite", "tiny.toml"];
    let told = stderr(&sandbox.run(&none).code(1));
    assert!(told.contains("no folder was verified"), "{told}");
}
