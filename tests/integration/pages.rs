//! The page of a result: complete, without network access, with all its promised parts.

use serde_json::Value;

use crate::sandbox::{Sandbox, repository, repository_file, stderr, stdout};

/// A run with failed cases and names that need escaping.
const SCENARIO: &str = r#"
name = "some"
workloads = ["scavenger-resnet18", "scavenger-resnet50"]
replicas = 30
variation = { step_cv = 0.05, noise_cv = 0.10, epoch_cv = 0.02 }
search = { strategies = ["oracle", "partial", "same-job", "default"], objectives = ["time", "knee"] }
limits = { max_time_h = 5.0 }
"#;

/// The block of data that a page is drawn from.
struct Data(Value);

impl Data {
    fn of(page: &str) -> Data {
        let json = page.split("id=\"data\">").nth(1).expect("it is there");
        let json = json.split("</script>").next().expect("it ends");
        Data(serde_json::from_str(json).expect("JSON"))
    }

    /// The sentences of a list.
    fn texts(&self, list: &str) -> Vec<&str> {
        let all = self.0[list].as_array().expect("a list").iter();
        all.filter_map(Value::as_str).collect()
    }

    fn table(&self, id: &str) -> Rows<'_> {
        let all = self.0["tables"].as_array().expect("tables");
        Rows(all.iter().find(|table| table["id"] == id).expect("a table"))
    }

    fn answer(&self, of: &[(&str, &str)]) -> &Value {
        let is_it = |answer: &&Value| of.iter().all(|(key, value)| answer["of"][key] == *value);
        let all = self.0["answers"].as_array().expect("answers");
        all.iter().find(is_it).expect("an answer")
    }
}

/// A table of a page, as read by its script.
struct Rows<'d>(&'d Value);

impl Rows<'_> {
    fn len(&self) -> usize {
        self.0["rows"].as_array().expect("rows").len()
    }

    /// The value in a column of a row; words are those of the column.
    fn at(&self, row: usize, head: &str) -> Value {
        let columns = self.0["columns"].as_array().expect("columns");
        let place = columns.iter().position(|column| column["name"] == head);
        let place = place.unwrap_or_else(|| panic!("no column {head}"));
        let value = &self.0["rows"][row][place];
        match columns[place]["words"]
            .as_array()
            .filter(|words| !words.is_empty())
        {
            Some(words) if !value.is_null() => {
                words[value.as_u64().expect("a number") as usize].clone()
            }
            _ => value.clone(),
        }
    }
}

/// Rows of a CSV by their heads.
fn csv_rows(text: &str) -> Vec<std::collections::HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("CSV")).collect()
}

/// Whether a value of a page equals a cell of a file, in six digits.
fn is_close(value: &Value, cell: &str, times: f64) -> bool {
    match value.as_f64() {
        None => cell.is_empty() && value.is_null(),
        Some(value) => {
            let own = times * cell.parse::<f64>().expect("a number");
            (value - own).abs() <= 1e-5 * own.abs() + 1e-12
        }
    }
}

fn page(sandbox: &Sandbox, more: &[&str]) -> String {
    let assert = sandbox.run(&[&["report", "out"], more].concat()).success();
    assert_eq!(stdout(&assert), "out/report.html\n");
    sandbox.read("out/report.html")
}

fn is_told(all: &[&str], part: &str) -> bool {
    all.iter().any(|sentence| sentence.contains(part))
}

#[test]
fn a_page_has_what_to_rent_what_to_mind_and_what_was_run() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &["--scenario", "scenario.toml"]);
    let data = Data::of(&page);
    let caveats = data.texts("caveats");
    for there in [
        "cases have no result.",
        "the knowledge is in-sample",
        "is an assumption of the scenario",
    ] {
        assert!(is_told(&caveats, there), "{there}: {caveats:?}");
    }
    assert!(page.contains("<h1>some</h1>"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
    // A reader without scripts sees the first card, and the script draws that one.
    let card = data.answer(&[("workload", "scavenger-resnet18"), ("objective", "time")]);
    assert_eq!(card["what"], "20 e2-standard-4");
    assert_eq!(card["detail"], "20 workers, batch 1024");
    assert!(page.contains("<noscript><p>Rent 20 e2-standard-4, 20 workers, batch 1024;"));
    let pickers = data.0["pickers"].as_array().expect("pickers");
    let keys: Vec<&str> = pickers
        .iter()
        .filter_map(|own| own["key"].as_str())
        .collect();
    assert_eq!(keys, ["workload", "objective", "strategy"]);
    // A job without a configuration within the limit has a card that says so.
    let none = data.answer(&[("workload", "scavenger-resnet50"), ("objective", "time")]);
    assert_eq!(none["what"], "Nothing");
    assert_eq!(none["lines"][0]["head"], "Why");
}

/// The figure of a page is drawn from its tables, which equal those in files and on the terminal.
#[test]
fn figures_of_a_page_are_those_of_the_files() {
    let sandbox = Sandbox::with(&repository_file("data/papers/scavenger/scenario.toml"));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let data = Data::of(&page(&sandbox, &["--scenario", "scenario.toml"]));
    let summary = csv_rows(&sandbox.read("out/summary.csv"));
    let strategies = data.table("strategies");
    assert_eq!(strategies.len(), summary.len());
    for (at, row) in summary.iter().enumerate() {
        for key in ["workload", "pricing", "objective", "strategy"] {
            assert_eq!(strategies.at(at, key), row[key].as_str());
        }
        for (head, metric, times) in [
            ("time, h", "time_h_mean", 1.0),
            ("cost, USD", "cost_usd_mean", 1.0),
            ("net time, %", "overhead_net_time_mean", 100.0),
            ("net cost, %", "overhead_net_cost_mean", 100.0),
            ("regret cost, %", "regret_cost_mean", 100.0),
            ("search, USD", "search_cost_usd_mean", 1.0),
        ] {
            let value = strategies.at(at, head);
            assert!(
                is_close(&value, &row[metric], times),
                "{head} of {row:?}: {value}"
            );
        }
    }

    let records = csv_rows(&sandbox.read("out/records.csv"));
    let cases = data.table("cases");
    assert_eq!(cases.len(), records.len());
    for (at, row) in records.iter().enumerate() {
        for head in [
            "time_h",
            "cost_usd",
            "overhead_net_time",
            "expected_cost_usd",
            "replica",
        ] {
            assert!(
                is_close(&cases.at(at, head), &row[head], 1.0),
                "{head} of case {at}"
            );
        }
        assert_eq!(cases.at(at, "strategy"), row["strategy"].as_str());
    }

    let ranked = sandbox
        .run(&["rank", "scenario.toml", "--format", "csv", "--runs", "1"])
        .success();
    let ranked = csv_rows(&stdout(&ranked));
    let configurations = data.table("configurations");
    assert_eq!(configurations.len(), ranked.len());
    for row in &ranked {
        let is_it = |at: &usize| {
            ["workload", "pricing"]
                .iter()
                .all(|key| configurations.at(*at, key) == row[*key].as_str())
                && ["workers", "batch"]
                    .iter()
                    .all(|key| is_close(&configurations.at(*at, key), &row[*key], 1.0))
        };
        let at = (0..configurations.len())
            .find(is_it)
            .expect("the configuration");
        assert!(
            is_close(&configurations.at(at, "time, h"), &row["time_h"], 1.0),
            "{row:?}"
        );
        assert!(
            is_close(&configurations.at(at, "cost, USD"), &row["cost_usd"], 1.0),
            "{row:?}"
        );
    }

    // A card is the oracle's choice, at the mark of its configuration.
    for row in summary.iter().filter(|row| row["strategy"] == "oracle") {
        let of = ["workload", "pricing", "objective"].map(|key| (key, row[key].as_str()));
        let answer = data.answer(&of);
        let batch = format!("batch {}", row["choice_batch"]);
        assert!(
            answer["detail"].as_str().expect("a text").ends_with(&batch),
            "{answer}"
        );
        let is_mark = |at: usize| {
            configurations.at(at, "workload") == row["workload"].as_str()
                && configurations.at(at, "pricing") == row["pricing"].as_str()
                && is_close(
                    &configurations.at(at, "time, h"),
                    &answer["point"][0].to_string(),
                    1.0,
                )
                && is_close(
                    &configurations.at(at, "cost, USD"),
                    &answer["point"][1].to_string(),
                    1.0,
                )
                && is_close(&configurations.at(at, "batch"), &row["choice_batch"], 1.0)
        };
        assert!((0..configurations.len()).any(is_mark), "{answer}");
    }
}

/// Every job on a measured grid reaches its target in a search of whole runs, none in a search of some steps.
#[test]
fn a_page_warns_of_what_happened_alone() {
    let warning = "Some jobs reached their target during the search: ";
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    assert!(!page(&sandbox, &[]).contains(warning));
    let on_a_grid = "grid = \"scout\"\nreplicas = 3\n\
                     search = { strategies = [\"oracle\", \"random\"], objectives = [\"cost\"] }";
    let sandbox = Sandbox::with(on_a_grid);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let page = page(&sandbox, &[]);
    assert!(page.contains(&format!("{warning}random on join_bigdata_spark, ")));
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &[]);
    // Except for the names of drawing formats, which are not fetched.
    let rest = [
        "2000/svg",
        "1999/xhtml",
        "1999/xlink",
        "2000/xmlns/",
        "XML/1998/namespace",
    ];
    let rest = rest.iter().fold(page.clone(), |rest, name| {
        rest.replace(&format!("http://www.w3.org/{name}"), "")
    });
    for far in [
        "http:",
        "https:",
        "src=",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "<link",
        "eval(",
        "new Function",
    ] {
        assert!(!rest.contains(far), "{far}");
    }
    assert!(page.contains("default-src 'none'"));
}

/// Cards and rows of all choices that a page keeps, for any number of choices.
#[test]
fn a_page_of_many_choices_stays_below_two_megabytes_and_says_what_it_leaves_out() {
    let steps: Vec<String> = (1..=120)
        .map(|at| format!("{:.3}", f64::from(at) / 1000.0))
        .collect();
    let sandbox = Sandbox::with(&format!(
        "replicas = 2\nvariation.step_cv = [{}]\nworkloads = [\"scavenger-resnet18\", \"scavenger-resnet50\"]\n\
         search = {{ strategies = [\"oracle\", \"partial\", \"default\"], objectives = [\"time\", \"cost\", \"knee\"] }}",
        steps.join(", ")
    ));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let page = page(&sandbox, &["--scenario", "scenario.toml"]);
    assert!(page.len() < 2_000_000, "{}", page.len());
    let data = Data::of(&page);
    let strategies = data.table("strategies");
    assert_eq!(strategies.len(), 2_000);
    let note = strategies.0["note"].as_str().expect("a note");
    assert!(
        note.ends_with("The first 2000 of 2160; all are in summary.csv."),
        "{note}"
    );
    let note = data.table("configurations").0["note"].clone();
    assert!(
        note.as_str().expect("a note").contains("2400 of 3840"),
        "{note}"
    );
}

#[test]
fn words_of_others_stay_words() {
    let sandbox = Sandbox::with(&format!(
        "{SCENARIO}\n[pricing]\npolicies = [\"own\"]\n[pricing.define.own]\nusd_per_vm_hour = 0.1\n\
         description = \"</script><script>alert(1)</script> <!-- & \\\" {{{{title}}}} more\"\n"
    ));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &["--scenario", "scenario.toml"]);
    assert!(
        !page.contains("<script>alert") && !page.contains("<!-- &"),
        "an open door"
    );
    let sources = Data::of(&page).0["sources"].clone();
    let words = "</script><script>alert(1)</script> <!-- & \" {{title}} more";
    let from = sources.as_array().expect("sources").iter();
    assert!(
        from.clone().any(|source| source["from"] == words),
        "{sources}"
    );
}

#[test]
fn reproductions_have_pages() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["reproduce", "scavenger", "--report", "paper.html"])
        .success();
    let page = sandbox.read("paper.html");
    let data = Data::of(&page);
    let answer = data.answer(&[]);
    assert_eq!(answer["lead"], "Reproduced");
    let sentence = answer["lines"][0]["text"].as_str().expect("a sentence");
    // The terminal shows equal counts.
    let assert = sandbox
        .run(&["reproduce", "scavenger", "--format", "summary"])
        .success();
    let terminal = stdout(&assert)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        terminal.contains(sentence.split(" Other classes").next().expect("its begin")),
        "{sentence}"
    );
    let comparisons = data.table("comparisons");
    let within = (0..comparisons.len()).filter(|at| {
        comparisons.at(*at, "evidence") == "prediction" && comparisons.at(*at, "verdict") == "ok"
    });
    assert!(
        answer["what"]
            .as_str()
            .expect("a text")
            .starts_with(&format!("{} of ", within.count()))
    );
    assert!(is_told(&data.texts("caveats"), "Off for a stated reason:"));
    assert!(data.table("constants").len() > 0 && data.table("claims").len() > 0);
    let assert = sandbox.run(&["reproduce", "--report", "all.html"]).code(2);
    assert!(
        stderr(&assert).contains("`--report` is about one paper"),
        "{}",
        stderr(&assert)
    );
}

/// The page of a recommendation is made from its JSON.
#[test]
fn recommendations_have_pages() {
    let sandbox = Sandbox::new();
    let profile = repository().join("scenarios/example-profile.csv");
    let profile = profile.to_str().expect("UTF-8");
    let advise = [
        "advise",
        profile,
        "--samples-per-epoch",
        "50000",
        "--runs",
        "20",
        "--format",
        "json",
        "--report",
    ];
    let assert = sandbox
        .run(&[&advise[..], &["advice.html"]].concat())
        .success();
    let json: Value = serde_json::from_str(&stdout(&assert)).expect("JSON");
    let data = Data::of(&sandbox.read("advice.html"));
    let choices = json["choices"].as_array().expect("choices");
    let configurations = data.table("configurations");
    assert_eq!(configurations.len(), choices.len());
    for (at, choice) in choices.iter().enumerate() {
        for (head, key) in [
            ("time, h", "time_h"),
            ("time 95 %, h", "time_p95_h"),
            ("cost, USD", "cost_usd"),
            ("cost 5 %, USD", "cost_p5_usd"),
            ("workers", "workers"),
            ("batch", "batch"),
        ] {
            let (value, own) = (configurations.at(at, head), choice[key].to_string());
            assert!(is_close(&value, &own, 1.0), "{head}: {value}, {own}");
        }
        for (head, key) in [("VM type", "vm"), ("from", "provenance")] {
            assert_eq!(configurations.at(at, head), choice[key], "{head}");
        }
    }
    let answer = data.answer(&[]);
    let best = &choices[0];
    let vms = format!("{} {}", best["vms"], best["vm"].as_str().expect("a VM"));
    assert_eq!(answer["what"], vms.as_str());
    assert_eq!(answer["point"][0], best["time_h"]);
    assert_eq!(answer["marks"][0], best["provenance"]);
    let heads = answer["lines"].as_array().expect("lines").iter();
    let heads: Vec<&str> = heads.filter_map(|line| line["head"].as_str()).collect();
    assert_eq!(heads, ["Runner-up", "Risk", "Would change it"]);
    let measurements = json["measurements"].as_array().expect("measurements");
    assert_eq!(data.table("measurements").len(), measurements.len());
    assert!(is_told(
        &data.texts("caveats"),
        "Extrapolated configurations follow laws"
    ));
    // An unwritable place is reported, and the answer is still on stdout.
    let assert = sandbox
        .run(&[&advise[..], &["advice.html/page.html"]].concat())
        .code(2);
    assert!(
        stderr(&assert).contains("cannot write to advice.html"),
        "{}",
        stderr(&assert)
    );
    // If no configuration meets the limits, the page says so, and shows the closest one.
    let none = [&advise[..], &["none.html", "--max-time", "0.001"]].concat();
    sandbox.run(&none).code(3);
    let data = Data::of(&sandbox.read("none.html"));
    let answer = data.answer(&[]);
    assert!(
        answer["what"]
            .as_str()
            .expect("a text")
            .starts_with("Nothing: "),
        "{answer}"
    );
    assert_eq!(answer["lines"][0]["head"], "Closest");
    assert!(data.0["picture"].is_null());
}

#[test]
fn rankings_and_comparisons_have_pages() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\nreplicas = 3\n\
         search = { strategies = [\"oracle\", \"partial\", \"random\", \"default\"], objectives = [\"cost\", \"time\"] }",
    );
    let ranked = [
        "rank",
        "scenario.toml",
        "--runs",
        "40",
        "--format",
        "csv",
        "--report",
        "rank.html",
    ];
    let assert = sandbox.run(&ranked).success();
    let data = Data::of(&sandbox.read("rank.html"));
    let rows = csv_rows(&stdout(&assert));
    let best = rows
        .iter()
        .find(|row| row["best_for"].contains("cost"))
        .expect("the cheapest");
    let answer = data.answer(&[("objective", "cost")]);
    assert!(
        is_close(&answer["point"][1], &best["cost_usd"], 1.0),
        "{answer}"
    );
    assert_eq!(data.table("configurations").len(), rows.len());
    sandbox.write("other.toml", "workloads = [\"scavenger-resnet50\"]");
    let two = [
        "rank",
        "scenario.toml",
        "other.toml",
        "--report",
        "two.html",
    ];
    assert!(stderr(&sandbox.run(&two).code(2)).contains("`--report` is about one scenario"));

    let compared = [
        "compare",
        "scenario.toml",
        "--format",
        "csv",
        "--report",
        "compare.html",
    ];
    let assert = sandbox.run(&compared).success();
    let data = Data::of(&sandbox.read("compare.html"));
    let rows = csv_rows(&stdout(&assert));
    let strategies = data.table("strategies");
    assert_eq!(strategies.len(), rows.len());
    for at in 0..strategies.len() {
        let is_it = |row: &&std::collections::HashMap<String, String>| {
            strategies.at(at, "strategy") == row["strategy"].as_str()
                && strategies.at(at, "objective") == row["objective"].as_str()
        };
        let row = rows.iter().find(is_it).expect("the strategy");
        assert!(
            is_close(&strategies.at(at, "net, %"), &row["net_mean"], 100.0),
            "{row:?}"
        );
    }
    let leader = data.answer(&[("objective", "cost")])["what"].clone();
    assert_eq!(leader, strategies.at(0, "strategy"));
}
