//! What commands print on terminals of 80, 100 and 140 columns, in colours and without, and first contact.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::sandbox::{Sandbox, repository, stderr, stdout};

/// Commands whose output is a text for people, with a short name each.
pub const COMMANDS: &[(&str, &[&str])] = &[
    (
        "run",
        &["run", "scenarios/scavenger.toml", "-s", "replicas=5"],
    ),
    (
        "run-catalogue",
        &[
            "run",
            "scenarios/gpu-catalogue.toml",
            "-s",
            "workloads=[\"pollux-bert\"]",
            "-s",
            "replicas=2",
        ],
    ),
    (
        "run-limits",
        &[
            "run",
            "scenarios/scavenger.toml",
            "-s",
            "replicas=5",
            "-s",
            "limits.max_time_h=5",
        ],
    ),
    (
        "run-kinds",
        &["run", "scenarios/markets.toml", "-s", "replicas=2"],
    ),
    (
        "run-grid",
        &[
            "run",
            "scenarios/scout.toml",
            "-s",
            "replicas=2",
            "-s",
            "jobs=[\"kmeans_huge_spark15\"]",
        ],
    ),
    (
        "run-settings",
        &[
            "run",
            "scenarios/spot.toml",
            "-s",
            "replicas=4",
            "-s",
            "workloads=[\"scavenger-resnet18\"]",
            "-s",
            "spot.replacement_s=[60,600]",
            "-s",
            "variation.step_cv=[0.05,0.2]",
            "-s",
            "search.objectives=[\"time\"]",
        ],
    ),
    ("run-dry", &["run", "scenarios/scavenger.toml", "--dry-run"]),
    (
        "clusters",
        &[
            "run",
            "--format",
            "clusters",
            "scenarios/stragglers-rare.toml",
            "-s",
            "replicas=2",
            "-s",
            "cluster.vm=[\"bsp\", \"backup-1\", \"backup-4\", \"speculative-90\", \"no-waiting\"]",
        ],
    ),
    (
        "policies",
        &[
            "run",
            "--format",
            "policies",
            "scenarios/pricing-policies.toml",
            "-s",
            "replicas=2",
        ],
    ),
    (
        "summary-by",
        &[
            "run",
            "scenarios/scavenger.toml",
            "-s",
            "replicas=5",
            "--summary-by",
            "workload,strategy",
        ],
    ),
    (
        "rank",
        &[
            "rank",
            "scenarios/markets.toml",
            "--runs",
            "20",
            "--top",
            "8",
        ],
    ),
    ("rank-plans", &["rank", "scenarios/llm-availability.toml"]),
    (
        "validate-plans",
        &["validate", "plans", "data/plans/published.csv"],
    ),
    (
        "advise-model",
        &["advise", "--model", "llama-3-8b", "--tokens", "2e10"],
    ),
    (
        "advise",
        &[
            "advise",
            "scenarios/example-profile.csv",
            "--samples-per-epoch",
            "50000",
        ],
    ),
    ("list-workloads", &["list", "workloads"]),
    ("list-pricing", &["list", "pricing"]),
    ("list-lifetimes", &["list", "lifetimes"]),
    ("list-strategies", &["list", "strategies"]),
    ("list-grids", &["list", "grids"]),
    ("list-delays", &["list", "delays"]),
    ("list-columns", &["list", "columns"]),
    ("list-functions", &["list", "functions"]),
    (
        "list-vms",
        &["list", "vms", "--gpu", "T4", "--region", "us-east-1"],
    ),
    (
        "list-prices",
        &["list", "prices", "--gpu", "T4", "--region", "us-east-1"],
    ),
    ("prices", &["prices"]),
    ("reproduce", &["reproduce", "scavenger"]),
    (
        "reproduce-summary",
        &["reproduce", "--format", "summary", "scavenger"],
    ),
    (
        "validate",
        &["validate", "scavenger-resnet18", "mlperf-bert"],
    ),
    (
        "compare",
        &[
            "compare",
            "scenarios/compare-steps-scavenger.toml",
            "--replicas",
            "2",
            "--repeats",
            "1,10",
        ],
    ),
    ("example", &["example"]),
    ("licences", &["licences", "--notice"]),
    ("explain", &["explain", "net"]),
    ("explain-key", &["explain", "variation.step_cv"]),
    ("check", &["check", "scenarios/scavenger.toml"]),
    ("help", &["--help"]),
    ("help-run", &["run", "--help"]),
    ("help-list", &["list", "--help"]),
    ("help-import", &["import", "profile", "--help"]),
];

/// The program in the repository, plain.
pub fn scavsim(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scavsim"));
    command
        .current_dir(repository())
        .args(arguments)
        .env_remove("NO_COLOR")
        .env("SCAVSIM_PRICES", "builtin")
        .env("SCAVSIM_DATA_DIR", "packs");
    command
}

fn printed(arguments: &[&str]) -> String {
    let output = scavsim(arguments).output().expect("it starts");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

/// What a command prints in colours at a width; each is run once.
pub fn coloured(arguments: &[&str], width: &str) -> Arc<String> {
    type Run = Arc<OnceLock<Arc<String>>>;
    static RUNS: Mutex<BTreeMap<String, Run>> = Mutex::new(BTreeMap::new());
    let all = [arguments, &["--color", "always", "--width", width][..]].concat();
    let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    let run = Arc::clone(runs.entry(all.join("\0")).or_default());
    drop(runs);
    Arc::clone(run.get_or_init(|| Arc::new(printed(&all))))
}

/// The same text without colours.
fn without_colours(coloured: &str) -> String {
    let (mut bare, mut rest) = (String::new(), coloured);
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare += before;
        rest = after.split_once('m').expect("an escape ends").1;
    }
    bare + rest
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let mut wide = Vec::new();
    for (name, arguments) in COMMANDS {
        for width in ["60", "80", "100", "140"] {
            let text = if width == "60" {
                // Nobody asked for colours.
                let text = printed(&[arguments, &["--width", width][..]].concat());
                assert!(!text.contains('\u{1b}'), "{name}");
                text
            } else {
                without_colours(&coloured(arguments, width))
            };
            assert!(!text.is_empty(), "{name}");
            let most: usize = width.parse().expect("a number");
            let over = text.lines().filter(|line| line.chars().count() > most);
            wide.extend(over.map(|line| format!("{name} at {width}: {line}")));
            if width != "60" {
                insta::assert_snapshot!(format!("{name}-{width}"), text);
            }
        }
    }
    // Some words are wider than a narrow terminal, and advice is written for 80 columns.
    let has_no_room = |line: &String| {
        let names = [
            "run-kinds",
            "run-settings",
            "list-pricing",
            "example",
            "licences",
            "advise",
            "advise-model",
        ];
        names
            .iter()
            .any(|name| line.starts_with(&format!("{name} at 60")))
    };
    wide.retain(|line| !has_no_room(line));
    // A list of holders has no words to break at, and nobody breaks a usage line.
    wide.retain(|line| !line.starts_with("licences at 80") && !line.contains(": Usage: "));
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// Commands that need a result: one of a run, and shards of it.
#[test]
fn what_is_made_of_results_fits_the_terminal_too() {
    let sandbox = Sandbox::with(
        "name = \"some\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 3\n\
         search = { strategies = [\"oracle\", \"partial\", \"default\"], objectives = [\"time\"] }\n",
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    for shard in ["1/2", "2/2"] {
        sandbox
            .run(&["run", "scenario.toml", "--shard", shard, "--out", "shards"])
            .success();
    }
    let mut wide = Vec::new();
    for width in ["80", "100", "140"] {
        for (name, arguments) in [
            ("summary", &["summary", "out"][..]),
            (
                "summary-of",
                &["summary", "out", "--by", "strategy,chosen_workers"],
            ),
            (
                "trace",
                &["trace", "scenario.toml", "--case", "4", "--out", "out"],
            ),
            ("merge", &["merge", "shards"]),
            (
                "verify",
                &[
                    "verify",
                    "out",
                    "--scenario",
                    "scenario.toml",
                    "--draw",
                    "7",
                ],
            ),
        ] {
            let run = sandbox.run(&[arguments, &["--width", width][..]].concat());
            let text = stdout(&run);
            assert!(!text.is_empty(), "{name}: {}", stderr(&run));
            let most: usize = width.parse().expect("a number");
            let over = text.lines().filter(|line| line.chars().count() > most);
            wide.extend(over.map(|line| format!("{name} at {width}: {line}")));
            insta::assert_snapshot!(format!("{name}-{width}"), text);
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn all_columns_or_some_are_shown_when_they_are_asked_for() {
    let small = [
        "run",
        "scenarios/scavenger.toml",
        "-s",
        "replicas=3",
        "-s",
        "search.objectives=[\"time\"]",
    ];
    let wide = printed(&[&small[..], &["--wide"]].concat());
    for head in [
        "right",
        "regret t / $",
        "search",
        "knowledge",
        "gross t / $",
        "net t / $",
        "repaid",
        "error (max)",
    ] {
        assert!(wide.contains(head), "{head}: {wide}");
    }
    assert!(
        wide.contains(" to ") && !wide.contains("not shown"),
        "{wide}"
    );
    let some = printed(&[&small[..], &["--columns", "gross,error"]].concat());
    let header = some
        .lines()
        .find(|line| line.starts_with("strategy"))
        .expect("a table");
    let words: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(
        words,
        [
            "strategy", "choice", "gross", "t", "/", "$", "error", "(max)"
        ]
    );
    let unknown = scavsim(&[&small[..], &["--columns", "grss"]].concat())
        .output()
        .expect("it starts");
    assert_eq!(unknown.status.code(), Some(2));
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("'gross'"), "{said}");
}

#[test]
fn colours_are_there_when_they_are_asked_for_and_only_then() {
    let small = ["run", "scenarios/scavenger.toml", "-s", "replicas=2"];
    let plain = printed(&small);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let coloured = printed(&[&small[..], &["--color", "always"]].concat());
    // Bold heads, the best in green.
    assert!(
        coloured.contains("\u{1b}[1m") && coloured.contains("\u{1b}[32m"),
        "{coloured}"
    );
    // They change nothing else.
    assert_eq!(without_colours(&coloured), plain);
    let failed = [
        &small[..],
        &["-s", "limits.max_time_h=5", "--color", "always"],
    ]
    .concat();
    assert!(printed(&failed).contains("\u{1b}[31m"));
}

#[test]
fn quiet_says_nothing_but_what_is_wrong() {
    let sandbox = Sandbox::new();
    let run = ["run", "-", "-q"];
    let said = |text: &str| {
        let assert = sandbox.run(&["example", "flexible", "--force"]).success();
        drop(assert);
        let mut command = sandbox.scavsim();
        command.args(run).args(["-s", "replicas=2"]);
        let file = format!("include = \"flexible.toml\"\n{text}");
        sandbox.write("own.toml", &file);
        command.stdin(std::fs::File::open(sandbox.path("own.toml")).expect("just written"));
        command.output().expect("it starts")
    };
    let quiet = said("");
    assert!(quiet.status.success());
    assert!(
        quiet.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&quiet.stderr)
    );
    let wrong = said("replica = 3");
    let text = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text.contains("stdin:2:1") && text.contains("did you mean `replicas`?"),
        "{text}"
    );
}

#[test]
fn a_first_scenario_is_written_once_and_runs() {
    let sandbox = Sandbox::new();
    sandbox.run(&["new", "mine"]).success();
    let text = sandbox.read("mine.toml");
    assert!(text.contains("name = \"mine\""), "{text}");
    // Editors find the schema beside it, by its first line.
    assert!(
        text.starts_with("#:schema scenario.schema.json\n"),
        "{text}"
    );
    let schema: serde_json::Value =
        serde_json::from_str(&sandbox.read("scenario.schema.json")).expect("it is JSON");
    assert_eq!(schema["$id"], "urn:scavsim:scenario");
    sandbox
        .run(&["check", "mine.toml"])
        .success()
        .stdout("mine.toml: ok, 1000 cases\n");
    sandbox
        .run(&["run", "mine.toml", "--replicas", "1"])
        .success();
    let again = sandbox.run(&["new", "mine"]).code(2);
    assert!(stderr(&again).contains("mine.toml is already there"));
    sandbox.run(&["new", "=sum"]).code(2);
    assert_eq!(sandbox.files("."), ["mine.toml", "scenario.schema.json"]);
    // A file of that name that is no schema of scenarios stays, and is not named.
    sandbox.write("other/scenario.schema.json", "{}");
    sandbox.run(&["new", "other/mine"]).success();
    assert_eq!(sandbox.read("other/scenario.schema.json"), "{}");
    assert!(!sandbox.read("other/mine.toml").contains("#:schema"));
}

#[test]
fn shipped_scenarios_come_out_of_the_program_and_are_legal() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = std::fs::read_dir(repository().join("scenarios"))
        .expect("it is there")
        .map(|entry| {
            entry
                .expect("it is readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".toml"))
        .collect();
    assert!(names.len() > 15);
    for name in &names {
        let stem = name.trim_end_matches(".toml");
        sandbox.run(&["example", stem, "--out", stem]).success();
        sandbox.run(&["check", &format!("{stem}/{name}")]).success();
    }
    let listed = stdout(&sandbox.run(&["example"]).success());
    for name in names {
        assert!(
            listed.contains(name.trim_end_matches(".toml")),
            "{name}: {listed}"
        );
    }
    let unknown = stderr(&sandbox.run(&["example", "scavanger"]).code(2));
    assert!(unknown.contains("did you mean `scavenger`?"), "{unknown}");
    sandbox.run(&["example", "spot"]).success();
    let again = stderr(&sandbox.run(&["example", "spot"]).code(2));
    assert!(again.contains("spot.toml is already there"), "{again}");
    let absent = stderr(&sandbox.run(&["run", "scavenger.toml"]).code(2));
    assert!(
        absent.contains("`scavsim example scavenger` writes"),
        "{absent}"
    );
    let absent = stderr(&sandbox.run(&["run", "nothing.toml"]).code(2));
    assert!(absent.contains("`scavsim new NAME` writes"), "{absent}");
}

#[test]
fn keys_from_the_command_line_win_and_their_mistakes_name_the_option() {
    let sandbox = Sandbox::new();
    sandbox.run(&["example", "spot"]).success();
    let fewer = [
        "check",
        "spot.toml",
        "-s",
        "replicas=2",
        "-s",
        "workloads=[\"scavenger-resnet18\"]",
    ];
    sandbox
        .run(&fewer)
        .success()
        .stdout("spot.toml: ok, 30 cases\n");
    // A word needs no quotes.
    sandbox
        .run(&[
            "check",
            "spot.toml",
            "-s",
            "spot.lifetime=gcp-2019-highcpu-2",
        ])
        .success();
    insta::assert_snapshot!(stderr(
        &sandbox
            .run(&[
                "check",
                "spot.toml",
                "-s",
                "cluster.workers=[8,99]",
                "-s",
                "spot.lifetim=gcp-2019",
                "-s",
                "workloads=[\"scavenger-resnet18\"]",
            ])
            .code(2)
    ));
    let none = stderr(
        &sandbox
            .run(&["check", "spot.toml", "-s", "replicas"])
            .code(2),
    );
    assert!(none.contains("`-s replicas` sets nothing"), "{none}");
    let included = stderr(
        &sandbox
            .run(&["check", "spot.toml", "-s", "include=x.toml"])
            .code(2),
    );
    assert!(
        included.contains("`include` stands in a file"),
        "{included}"
    );
}

#[test]
fn one_way_of_saying_something_is_replaced_by_another() {
    let sandbox = Sandbox::new();
    sandbox.run(&["example", "spot"]).success();
    let own = "include = \"spot.toml\"\n[spot]\nexponential_mean_h = 5\n";
    sandbox.write("own.toml", own);
    sandbox.run(&["check", "own.toml"]).code(2);
    sandbox.write("own.toml", &format!("unset = [\"spot.lifetime\"]\n{own}"));
    sandbox.run(&["check", "own.toml"]).success();
    sandbox.write(
        "own.toml",
        &format!("unset = [\"spot.lifetime\", \"spot.life\"]\n{own}"),
    );
    let vain = stderr(&sandbox.run(&["check", "own.toml"]).code(2));
    assert!(
        vain.contains("no included file sets `spot.life`") && vain.contains("own.toml:1:27"),
        "{vain}"
    );
    sandbox.write(
        "alone.toml",
        "unset = [\"spot\"]\nworkloads = [\"scavenger-resnet18\"]\n",
    );
    let alone = stderr(&sandbox.run(&["check", "alone.toml"]).code(2));
    assert!(alone.contains("nothing is included"), "{alone}");
}

#[test]
fn every_word_of_a_table_is_explained() {
    let sandbox = Sandbox::new();
    for word in [
        "right",
        "Regret",
        "knee_depth",
        "step_cv",
        "spot.lifetime",
        "same-job",
        "paper-fixed",
        "K × B",
        "plan",
        "$/10⁹",
        "(?)",
        "MFU",
        "(i)",
    ] {
        let assert = sandbox.run(&["explain", word]);
        if word == "(i)" {
            // A mark is explained below the table; the word for it here.
            assert.code(2);
        } else {
            assert!(stdout(&assert.success()).lines().count() >= 2, "{word}");
        }
    }
    let error = "no configuration keeps within the limits; the nearest, 20 × e2-standard-4, takes 4 h against 1 h";
    assert!(stdout(&sandbox.run(&["explain", error]).success()).contains("`max_miss`"));
    let unknown = stderr(&sandbox.run(&["explain", "regert"]).code(2));
    assert!(unknown.contains("did you mean `regret`?"), "{unknown}");
}

#[test]
fn the_version_says_of_when_the_prices_are_and_help_is_a_command() {
    let text = printed(&["--version"]);
    assert!(printed(&["help", "run"]).contains("--dry-run"));
    let prices = text.split_once("prices up to ").expect("a day").1;
    assert!(
        prices.starts_with("20") && text.starts_with("scavsim "),
        "{text}"
    );
}

#[cfg(feature = "manual")]
#[test]
fn every_command_has_a_page() {
    let sandbox = Sandbox::new();
    sandbox.run(&["manual", "man"]).success();
    let pages = sandbox.files("man");
    for page in ["scavsim.1", "scavsim-run.1", "scavsim-import-profile.1"] {
        assert!(pages.iter().any(|own| own == page), "{page}: {pages:?}");
    }
}
