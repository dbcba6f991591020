//! Output of commands on terminals of 80, 100 and 140 columns, with and without colours, and first contact.

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
        &["reproduce", "--format", "summary", "scavenger", "sailor"],
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

pub fn printed(arguments: &[&str]) -> String {
    let output = scavsim(arguments).output().expect("it starts");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

/// Output of a command in colours at a width; each is run once.
pub fn coloured(arguments: &[&str], width: &str) -> Arc<String> {
    type Run = Arc<OnceLock<Arc<String>>>;
    static RUNS: Mutex<BTreeMap<String, Run>> = Mutex::new(BTreeMap::new());
    let all = [arguments, &["--color", "always", "--width", width][..]].concat();
    let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
    let run = Arc::clone(runs.entry(all.join("\0")).or_default());
    drop(runs);
    Arc::clone(run.get_or_init(|| Arc::new(printed(&all))))
}

/// The text without colours.
fn without_colours(coloured: &str) -> String {
    let (mut bare, mut rest) = (String::new(), coloured);
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare += before;
        rest = after.split_once('m').expect("an escape ends").1;
    }
    bare + rest
}

/// Escapes have no width: as many columns are shown with colours as without.
#[test]
fn colours_change_nothing_but_colours() {
    for (name, arguments) in COMMANDS {
        for width in ["80", "100"] {
            let plain = printed(&[arguments, &["--width", width][..]].concat());
            let coloured = without_colours(&coloured(arguments, width));
            assert_eq!(coloured, plain, "{name} at {width}");
        }
    }
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let mut wide = Vec::new();
    for (name, arguments) in COMMANDS {
        for width in ["60", "80", "100", "140"] {
            let text = if width == "60" {
                // Colours were not requested.
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
    // A list of holders has no blanks to break at, and a usage line is never broken.
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
    let failed = [
        &small[..],
        &["-s", "limits.max_time_h=5", "--color", "always"],
    ]
    .concat();
    assert!(printed(&failed).contains("\u{1b}[31m"));
}
