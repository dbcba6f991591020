//! Policies that decide during a run, in the program.

use crate::reproduction::assert_current;
use crate::sandbox::{Rows, Sandbox, assert_same_files, repository, stderr, stdout};

/// Output of `scavsim run` for a shipped scenario.
fn printed(name: &str) -> String {
    let scenario = format!("scenarios/policies/{name}.toml");
    let mut command = Sandbox::new().scavsim();
    command.current_dir(repository());
    let output = command
        .args(["run", &scenario])
        .output()
        .expect("it starts");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    format!("$ scavsim run {scenario}\n{text}")
}

#[test]
fn the_policies_in_results_are_current() {
    let texts = [
        "skynomad",
        "deadline",
        "exponential",
        "sizes",
        "changing",
        "changing-clusters",
        "re-plan",
        "growing-batch",
    ];
    let texts = texts.map(printed);
    assert_current("policies.txt", &texts.join("\n"));
}

const SCENARIO: &str = r#"
[job]
work_h = 5
deadline_h = 7
changeover_s = 600

[market]
run_h = 2
pause_h = 1
spot_usd_per_h = 1
on_demand_usd_per_h = 3
replicas = 30

[policy]
names = ["greedy", "cost-to-go"]
"#;

/// A fee and started hours in addition to the market's price.
const PRICING: &str = "
[pricing]
policies = [\"market\", \"hourly\"]

[pricing.define.hourly]
market_price = true
granularity_s = 3600
usd_per_job = 1
";

#[test]
fn pricing_policies_bill_the_same_lives() {
    let sandbox = Sandbox::with(&format!("{SCENARIO}{PRICING}"));
    let run = |arguments: &[&str]| sandbox.run(arguments).success();
    let printed = stdout(&run(&["run", "scenario.toml", "--out", "whole"]));
    assert!(printed.contains("priced by hourly · 30 lives"), "{printed}");
    let rows = Rows::parse(&sandbox.read("whole/records.csv"));
    let costs = |pricing: &str| -> Vec<f64> {
        let own = rows.iter().filter(|row| row.text("pricing") == pricing);
        own.map(|row| row.number("cost_usd")).collect()
    };
    let (market, hourly) = (costs("market"), costs("hourly"));
    assert_eq!((market.len(), hourly.len()), (3 * 30, 3 * 30));
    let mut pairs = market.iter().zip(&hourly);
    assert!(pairs.all(|(market, hourly)| *hourly >= market + 1.0 - 1e-9));
    for shard in ["1/3", "2/3", "3/3"] {
        run(&["run", "scenario.toml", "--shard", shard, "--out", "parts"]);
    }
    run(&["merge", "parts"]);
    assert_eq!(
        sandbox.read("whole/records.csv"),
        sandbox.read("parts/records.csv")
    );
    // Each pricing policy has its own comparison: two policies, the cheapest of them without a difference to itself.
    let compared = stdout(&run(&["compare", "scenario.toml", "--format", "csv"]));
    let compared = Rows::parse(&compared);
    let pricings: Vec<&str> = compared.iter().map(|row| row.text("pricing")).collect();
    assert_eq!(pricings, ["market", "market", "hourly", "hourly"]);
    for (at, row) in compared.iter().enumerate() {
        let policy = row.text("policy");
        let own = rows
            .iter()
            .filter(|own| own.text("strategy") == policy && own.text("pricing") == pricings[at]);
        let mean = own.map(|own| own.number("cost_usd")).sum::<f64>() / 30.0;
        assert!((row.number("cost $") - mean).abs() < 0.006, "{policy}");
    }
}

#[test]
fn threads_change_no_byte() {
    let sandbox = Sandbox::with(SCENARIO);
    let with = |jobs: &str, out: &str| {
        let run = sandbox
            .run(&["run", "scenario.toml", "--jobs", jobs, "--out", out])
            .success();
        let rows = sandbox.read(&format!("{out}/records.csv"));
        assert_eq!(rows.lines().count(), 1 + 30 * 3);
        (
            stdout(&run),
            rows,
            sandbox.read(&format!("{out}/summary.csv")),
        )
    };
    assert_eq!(with("1", "one"), with("3", "three"));
}

#[test]
fn what_says_nothing_of_them_is_refused() {
    let sandbox = Sandbox::with(SCENARIO);
    let run = sandbox.run(&["run", "scenario.toml", "--fidelity", "event"]);
    let told = stderr(&run.code(2));
    assert!(told.contains("`--fidelity` says nothing"), "{told}");
    sandbox.edit("scenario.toml", "deadline_h = 7", "deadline_h = 5");
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(told.contains("before the fastest run ends"), "{told}");
    sandbox.edit("scenario.toml", "deadline_h = 5", "deadline_h = 7");
    let told = stderr(&sandbox.run(&["rank", "scenario.toml"]).code(1));
    assert!(told.contains("there is nothing to search"), "{told}");
}

/// Standard input is read once, also if several parts check it.
#[test]
fn a_scenario_from_standard_input_runs_as_one_of_a_file() {
    let sandbox = Sandbox::with(&format!("name = \"own\"\n{SCENARIO}"));
    let file = std::fs::File::open(sandbox.path("scenario.toml")).expect("it was written");
    let mut command = sandbox.scavsim();
    let piped = command.args(["run", "-"]).stdin(file);
    let piped = piped.output().expect("it starts");
    let named = sandbox.run(&["run", "scenario.toml"]).success();
    assert_eq!(String::from_utf8_lossy(&piped.stdout), stdout(&named));
    assert!(piped.status.success());
}

#[test]
fn a_comparison_is_of_the_same_lives() {
    let sandbox = Sandbox::with(SCENARIO);
    let compared = stdout(
        &sandbox
            .run(&[
                "compare",
                "scenario.toml",
                "--format",
                "csv",
                "--against",
                "greedy",
            ])
            .success(),
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let lives = Rows::parse(&sandbox.read("out/records.csv"));
    let usd = |policy: &str| -> Vec<f64> {
        let own = lives.iter().filter(|row| row.text("strategy") == policy);
        own.map(|row| row.number("cost_usd")).collect()
    };
    let (ours, theirs) = (usd("cost-to-go"), usd("greedy"));
    let more: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a - b).collect();
    let mean = more.iter().sum::<f64>() / 30.0;
    let cheaper = more.iter().filter(|usd| **usd < -1e-9).count() as f64 / 0.3;
    let row: Vec<f64> = (compared.lines().find(|line| line.contains(",cost-to-go,")))
        .expect("it is there")
        .rsplit(',')
        .take(8)
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    // From the end: late, in time, over the clairvoyant, cheaper, to, from, more, cost.
    assert!((row[6] - mean).abs() < 0.006, "{compared} {mean}");
    assert!((row[3] - cheaper).abs() < 0.6, "{compared} {cheaper}");
    assert!(row[5] < row[6] && row[6] < row[4], "{compared}");
    let wrong = sandbox.run(&[
        "compare",
        "scenario.toml",
        "--against",
        "gredy",
        "--halves",
        "2",
    ]);
    let told = stderr(&wrong.code(2));
    assert!(
        told.contains("did you mean `greedy`?") && told.contains("--halves"),
        "{told}"
    );
}

#[test]
fn keys_are_replaced_and_places_of_mistakes_in_them_are_theirs() {
    let sandbox = Sandbox::with(SCENARIO);
    let of = |more: &[&str]| {
        let arguments = [&["run", "scenario.toml", "--format", "csv"], more].concat();
        stdout(&sandbox.run(&arguments).success())
    };
    let rows = of(&[
        "-s",
        "job.deadline_h=[8,9]",
        "-s",
        "policy.names=[\"greedy\"]",
        "--set",
        "job.deadline_h=9",
    ]);
    sandbox.edit("scenario.toml", "deadline_h = 7", "deadline_h = 9");
    sandbox.edit(
        "scenario.toml",
        "[\"greedy\", \"cost-to-go\"]",
        "[\"greedy\"]",
    );
    assert_eq!(rows, of(&[]));
    let told = stderr(
        &sandbox
            .run(&["check", "scenario.toml", "-s", "job.works_h=3"])
            .code(2),
    );
    assert!(
        told.contains("job.works_h=3") || told.contains("works_h"),
        "{told}"
    );
    sandbox
        .run(&[
            "compare",
            "scenario.toml",
            "-s",
            "policy.names=[\"greedy\",\"on-demand\"]",
        ])
        .success();
}

/// Killed, resumed, in shards: the results have equal bytes.
#[test]
fn they_are_resumed_sharded_and_verified_as_all_runs() {
    let sandbox = Sandbox::with(SCENARIO);
    let run = |more: &[&str]| {
        let arguments = [&["run", "scenario.toml"], more].concat();
        sandbox.run(&arguments).success();
    };
    run(&["--out", "whole", "--records", "csv,jsonl"]);
    run(&["--out", "killed", "--records", "csv,jsonl"]);
    sandbox.kill(
        "killed",
        sandbox.contents("killed")["records.csv"].len() / 3,
    );
    run(&["--out", "killed", "--records", "csv,jsonl", "--resume"]);
    let whole = sandbox.contents("whole");
    assert_same_files(&sandbox.contents("killed"), &whole, "resumed");
    for shard in ["1/3", "2/3", "3/3"] {
        run(&["--out", "parts", "--shard", shard]);
    }
    sandbox
        .run(&["merge", "parts", "--records", "csv,jsonl"])
        .success();
    let mut merged = sandbox.contents("parts");
    merged.retain(|name, _| !name.starts_with("shards"));
    assert_same_files(&merged, &whole, "merged");
    sandbox
        .run(&["verify", "whole", "--scenario", "scenario.toml"])
        .success();
    let printed = stdout(&sandbox.run(&["summary", "whole"]).success());
    assert_eq!(
        printed,
        stdout(&sandbox.run(&["run", "scenario.toml"]).success())
    );
    sandbox
        .run(&["trace", "scenario.toml", "--case", "2"])
        .success();
    let trace = sandbox.read("scenario-case-2.events.jsonl");
    assert!(
        trace.contains("\"strategy\":\"clairvoyant\"") && trace.contains("\"done\""),
        "{trace}"
    );
}

#[test]
fn a_life_is_drawn_per_policy() {
    let sandbox = Sandbox::with(SCENARIO);
    let files = stdout(
        &sandbox
            .run(&[
                "plot",
                "scenario.toml",
                "--out",
                "figures",
                "--life",
                "3",
                "--form",
                "svg,vega",
            ])
            .success(),
    );
    assert_eq!(files.lines().count(), 4, "{files}");
    let svg = sandbox.read("figures/scenario-greedy-life-3.svg");
    assert!(
        svg.contains("Three panels over time") && svg.contains("waiting"),
        "{svg}"
    );
    for (more, word) in [
        (["--policy", "greddy"], "did you mean `greedy`?"),
        (["--life", "31"], "expected a number from 1 to 30"),
        (["--setting", "2"], "expected a number from 1 to 1"),
        (["--kind", "regret"], "`--kind` says nothing"),
    ] {
        let told = stderr(
            &sandbox
                .run(&[&["plot", "scenario.toml"], &more[..]].concat())
                .code(2),
        );
        assert!(told.contains(word), "{told}");
    }
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--plot"])
        .success();
    assert_eq!(sandbox.files("out/figures").len(), 6);
    let listed = stdout(&sandbox.run(&["list", "policies"]).success());
    assert!(listed.contains("cost-to-go"), "{listed}");
    let listed = stdout(&sandbox.run(&["list", "markets"]).success());
    assert!(listed.contains("aws-v100-2023"), "{listed}");
}

#[test]
fn a_value_out_of_range_is_told_once_and_not_as_missing() {
    let once = |text: &str, wrong: &str| {
        let sandbox = Sandbox::with(text);
        let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
        assert!(!told.contains("missing"), "{told}");
        assert!(told.contains(wrong), "{told}");
        assert!(told.ends_with("1 mistake; nothing was run\n"), "{told}");
    };
    for (key, wrong) in [
        ("work_h = 5", "work_h = -5"),
        ("deadline_h = 7", "deadline_h = 0"),
        ("deadline_h = 7", "deadline_h = [7.5, -7.5]"),
        ("run_h = 2", "run_h = 0"),
        ("pause_h = 1", "pause_h = -0.1"),
        ("spot_usd_per_h = 1", "spot_usd_per_h = -1"),
        ("on_demand_usd_per_h = 3", "on_demand_usd_per_h = nan"),
        ("replicas = 30", "replicas = -30"),
    ] {
        assert!(SCENARIO.contains(key), "{key}");
        once(&SCENARIO.replace(key, wrong), wrong);
    }
    let form = "[[job.form]]\nname = \"a\"\nmachines = 2\nspeed = 1\n";
    let forms = SCENARIO.replace("[market]", &format!("{form}[market]"));
    for wrong in ["machines = 0", "speed = -1"] {
        let key = &wrong[..wrong.find('=').expect("a key")];
        let own = forms
            .lines()
            .find(|line| line.starts_with(key))
            .expect("it is there");
        once(&forms.replace(own, wrong), wrong);
    }
}

#[test]
fn files_that_are_sound_are_told_beside_one_that_is_not() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.write("wrong.toml", &SCENARIO.replace("work_h = 5", "work_h = -5"));
    sandbox.write("search.toml", "workloads = [\"scavenger-resnet18\"]\n");
    sandbox.write("typo.toml", "workloads = [\"scavenger-resnet81\"]\n");
    let files = ["scenario.toml", "wrong.toml", "search.toml", "typo.toml"];
    let checked = sandbox.run(&[&["check"], &files[..]].concat()).code(2);
    let sound: Vec<String> = stdout(&checked).lines().map(str::to_owned).collect();
    assert_eq!(sound.len(), 2, "{sound:?}");
    assert!(
        sound[0].starts_with("scenario.toml: ok, 90 cases"),
        "{sound:?}"
    );
    assert!(sound[1].starts_with("search.toml: ok, "), "{sound:?}");
    let told = stderr(&checked);
    assert!(
        told.contains("wrong.toml") && told.contains("typo.toml"),
        "{told}"
    );
    assert!(told.ends_with("2 mistakes; nothing was run\n"), "{told}");
}

/// Each is a key of the scenario, and the number in the message.
#[test]
fn impossible_amounts_are_refused_at_once_with_the_number() {
    let sandbox = Sandbox::with(SCENARIO);
    let begin = std::time::Instant::now();
    for (keys, number) in [
        (&["market.tick_s=1e-6"][..], "25,200,000,000 ticks"),
        (&["job.deadline_h=1e9"], "1,000,000,000 h"),
        (
            &["market.tick_s=1e-3", "job.deadline_h=1e6"],
            "3,600,000,000,000 ticks",
        ),
        (
            &["market.tick_s=20", "market.replicas=4294967295"],
            "4,294,967,295 lives",
        ),
        (
            &["market.tick_s=0.2", "job.work_h=50", "job.deadline_h=55"],
            "of memory",
        ),
    ] {
        let set: Vec<&str> = keys.iter().flat_map(|key| ["-s", key]).collect();
        for command in [
            &["check"][..],
            &["run"],
            &["run", "--dry-run"],
            &["run", "--yes"],
            &["compare"],
        ] {
            let arguments = [command, &["scenario.toml"], &set].concat();
            let told = stderr(&sandbox.run(&arguments).code(2));
            assert!(told.contains(number), "{arguments:?}: {told}");
        }
    }
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    // A market of a folder has the length that it states.
    sandbox.write("vast/market.toml", "tick_s = 60\nticks = 4000000000\n");
    sandbox.write("vast/zones.csv", "zone,region,on_demand_usd_per_h\na,a,3\n");
    sandbox.write("own.toml", "job = { work_h = 1, deadline_h = 2 }\nmarket.traces = \"vast\"\npolicy.names = [\"greedy\"]\n");
    let told = stderr(&sandbox.run(&["check", "own.toml"]).code(2));
    assert!(
        told.contains("4000000000 ticks of 1 zones are too many"),
        "{told}"
    );
}

#[test]
fn lives_of_hours_begin_only_by_yes_and_what_they_take_is_said() {
    let sandbox = Sandbox::with(SCENARIO);
    let many = ["-s", "market.replicas=4000000000"];
    let told = stderr(
        &sandbox
            .run(&[&["run", "scenario.toml"], &many[..]].concat())
            .code(2),
    );
    assert!(told.contains("scenario: it would take about "), "{told}");
    assert!(
        told.contains("; it was not started. `--yes` starts it"),
        "{told}"
    );
    for command in [
        &["check", "scenario.toml"][..],
        &["run", "scenario.toml", "--dry-run"],
    ] {
        let run = sandbox.run(command).success();
        assert!(stdout(&run).contains("90 cases"), "{}", stdout(&run));
        let told = stderr(&run);
        assert!(
            told.contains("scenario: about ") && told.contains("of memory"),
            "{told}"
        );
    }
}

#[test]
fn values_twice_and_lists_of_nothing_are_mistakes_at_their_place() {
    let sandbox = Sandbox::new();
    let traces = "job = { work_h = 5, deadline_h = [7, 7], changeover_s = [60, 60] }\n\
                  market = { traces = \"aws-v100-2023\", zones = [] }\nstarts.at_s = [0, 10]\npolicy.names = [\"greedy\"]\n";
    sandbox.write("scenario.toml", traces);
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    for (what, place) in [
        (
            "`deadline_h`: expected different values, found 7 twice",
            "scenario.toml:1:38",
        ),
        (
            "`changeover_s`: expected different values, found 60 twice",
            "scenario.toml:1:62",
        ),
        ("no zone is named", "scenario.toml:2:46"),
    ] {
        let told = told.split("error: ").find(|one| one.starts_with(what));
        assert!(
            told.is_some_and(|told| told.contains(place)),
            "{what}: {told:?}"
        );
    }
    sandbox.edit("scenario.toml", "zones = []", "zones = [\"us-east-1f\"]");
    sandbox.edit("scenario.toml", "[7, 7], changeover_s = [60, 60]", "7");
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(told.contains("two lives begin in the same tick"), "{told}");
    sandbox.edit("scenario.toml", "[0, 10]", "[]");
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(told.contains("`starts.at_s` is empty"), "{told}");
    sandbox.edit("scenario.toml", "at_s = []", "spread = 3");
    sandbox.run(&["check", "scenario.toml"]).success();
}

#[test]
fn too_few_lives_side_by_side_have_no_interval() {
    let sandbox = Sandbox::new();
    let scenario = repository().join("scenarios/policies/skynomad.toml");
    let scenario = scenario.to_str().expect("UTF-8");
    let names = "policy.names=[\"greedy\",\"on-demand\"]";
    let told = "5 lives, too few that do not overlap for an interval";
    for command in ["run", "compare"] {
        let run = sandbox
            .run(&[command, scenario, "-s", names, "--wide"])
            .success();
        let text = stdout(&run).replace('\n', " ");
        assert!(
            text.contains(told) && text.contains('–'),
            "{command}: {text}"
        );
    }
    // A table shows how many are independent, if some overlap.
    sandbox.write(
        "own.toml",
        "job = { work_h = 40, deadline_h = 60.5 }\n\
         market = { traces = \"aws-v100-2023\", zones = [\"us-east-1f\"] }\nstarts.spread = 100\n\
         policy.names = [\"greedy\", \"on-demand\"]\n",
    );
    let text = stdout(&sandbox.run(&["run", "own.toml"]).success()).replace('\n', " ");
    let told = "100 lives that overlap, as 17.5 independent ones";
    assert!(text.contains(told) && !text.contains('–'), "{text}");
}
