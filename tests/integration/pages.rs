//! The page of a result: whole, without network, with everything that it promises.

use crate::sandbox::{Sandbox, repository, repository_file, stderr, stdout};

/// A run with failed cases and names that have to be written with care.
const SCENARIO: &str = r#"
name = "some"
workloads = ["scavenger-resnet18", "scavenger-resnet50"]
replicas = 30
variation = { step_cv = 0.05, noise_cv = 0.10, epoch_cv = 0.02 }
search = { strategies = ["oracle", "partial", "same-job", "default"], objectives = ["time", "knee"] }
limits = { max_time_h = 5.0 }
"#;

fn page(sandbox: &Sandbox, more: &[&str]) -> String {
    let assert = sandbox.run(&[&["report", "out"], more].concat()).success();
    assert_eq!(stdout(&assert), "out/report.html\n");
    sandbox.read("out/report.html")
}

#[test]
fn a_page_has_what_was_run_what_came_out_and_what_to_mind() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &["--scenario", "scenario.toml"]);
    for there in [
        "<h1>some</h1>",
        "<dt>seed</dt>",
        "Scavenger, CCGrid 2023",
        ", time: at best ",
        "cases have no result.",
        "the knowledge is in-sample",
        "is an assumption of the scenario",
        "role=\"img\"",
        "<table id=\"strategies-rows\">",
        "data-opens=\"place-0\"",
        "data-opens=\"case-0\"",
        "all cases",
        "prefers-color-scheme: dark",
        "@media print",
    ] {
        assert!(page.contains(there), "{there}");
    }
    // Every heading of a table that sorts can be reached, and every figure has words.
    assert_eq!(page.matches("aria-sort=\"none\"").count(), 17 + 9 + 12);
    assert_eq!(
        page.matches("<figure ").count(),
        page.matches("The figure in words").count()
    );
    assert!(page.matches("<figure ").count() >= 8);
}

/// Every job on a measured grid reaches its target in a search of whole runs, none of a search of some steps.
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
fn an_interval_stands_where_its_half_is_not_rounded_to_nothing() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &[]);
    let cells = page.split("<td").skip(1);
    let halves: Vec<&str> =
        (cells.filter_map(|cell| cell.split('<').next()?.split(" ±").nth(1))).collect();
    assert!(halves.len() > 5, "{halves:?}");
    assert!(halves.iter().all(|half| *half != "0.0"), "{halves:?}");
}

#[test]
fn a_page_says_how_many_sentences_it_leaves_out() {
    let headlines = |settings: usize| {
        let steps: Vec<String> = (1..=settings).map(|at| format!("0.{at:02}")).collect();
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"scavenger-resnet18\"]\nreplicas = 2\nvariation.step_cv = [{}]\n\
             search = {{ strategies = [\"oracle\", \"default\"], objectives = [\"cost\"] }}",
            steps.join(", ")
        ));
        sandbox
            .run(&["run", "scenario.toml", "--out", "out"])
            .success();
        let page = page(&sandbox, &[]);
        let left_out = " more of these stand in the table of strategies.";
        let more = page
            .split(left_out)
            .next()
            .filter(|_| page.contains(left_out));
        let more = more.and_then(|text| text.rsplit('>').next()?.parse().ok());
        (page.matches("cost: at best ").count(), more)
    };
    assert_eq!(headlines(12), (12, None));
    assert_eq!(headlines(15), (12, Some(3_usize)));
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &[]);
    // But for the name of the form of drawings, which nobody fetches.
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    // Of what a drawing refers to, all is in it.
    assert_eq!(rest.matches("url(").count(), rest.matches("url(#").count());
    let ids = rest.split(" id=\"").skip(1);
    let mut names: Vec<&str> = ids.filter_map(|rest| rest.split('"').next()).collect();
    names.sort_unstable();
    assert!(
        names.len() > 20 && names.windows(2).all(|two| two[0] != two[1]),
        "{names:?}"
    );
    for far in [
        "http:",
        "https:",
        "src=",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "<link",
    ] {
        assert!(!rest.contains(far), "{far}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn words_of_others_stay_words() {
    let sandbox = Sandbox::with(&format!(
        "{SCENARIO}\n[pricing]\npolicies = [\"own\"]\n[pricing.define.own]\nusd_per_vm_hour = 0.1\n\
         description = \"<script>alert(1)</script> & more\"\n"
    ));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .code(3);
    let page = page(&sandbox, &["--scenario", "scenario.toml"]);
    assert!(!page.contains("<script>alert"), "an open door");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt; &amp; more"));
}

#[test]
fn details_behind_rows_are_those_of_the_records() {
    let sandbox = Sandbox::with(&repository_file("data/papers/scavenger/scenario.toml"));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let page = page(&sandbox, &[]);
    let json = page.split("id=\"details\">").nth(1).expect("it is there");
    let json = json.split("</script>").next().expect("it ends");
    let details: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let names: Vec<&str> = (details["columns"].as_array().expect("columns").iter())
        .map(|column| column[0].as_str().expect("a name"))
        .collect();
    let records = sandbox.read("out/records.csv");
    assert_eq!(names.join(","), records.lines().next().expect("a header"));
    let cases = details["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), records.lines().count() - 1);
    let time = names
        .iter()
        .position(|name| *name == "time_h")
        .expect("a column");
    for (case, row) in cases.iter().zip(records.lines().skip(1)) {
        let cell = row.split(',').nth(time).expect("a cell");
        match case[time].as_f64() {
            Some(hours) => assert!((hours - cell.parse::<f64>().expect("a number")).abs() < 1e-6),
            None => assert!(cell.is_empty(), "{row}"),
        }
    }
}

#[test]
fn reproductions_and_recommendations_have_pages() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["reproduce", "scavenger", "--report", "paper.html"])
        .success();
    let page = sandbox.read("paper.html");
    for there in [
        "figures that could fail are within tolerance (",
        " No evidence: 96 replay, ",
        "id=\"constants-rows\"",
        "samples per epoch of WMT14",
        "Off for a stated reason:",
        "<svg ",
        "figure 10",
        "id=\"comparisons-rows\"",
    ] {
        assert!(page.contains(there), "{there}");
    }
    let assert = sandbox.run(&["reproduce", "--report", "all.html"]).code(2);
    assert!(
        stderr(&assert).contains("`--report` is about one paper"),
        "{}",
        stderr(&assert)
    );

    let profile = repository().join("scenarios/example-profile.csv");
    let profile = profile.to_str().expect("UTF-8");
    let advise = [
        "advise",
        profile,
        "--samples-per-epoch",
        "50000",
        "--runs",
        "20",
        "--report",
    ];
    sandbox
        .run(&[&advise[..], &["advice.html"]].concat())
        .success();
    let page = sandbox.read("advice.html");
    for there in [
        "what to take, and what to measure next",
        "Take ",
        "<svg ",
        "id=\"measurements-rows\"",
        "the catalogue, until 20",
    ] {
        assert!(page.contains(there), "{there}");
    }
    // A place that cannot be written is told, and what was asked stands on stdout all the same.
    let assert = sandbox
        .run(&[&advise[..], &["advice.html/page.html"]].concat())
        .code(2);
    assert!(
        stderr(&assert).contains("cannot write to advice.html"),
        "{}",
        stderr(&assert)
    );
}
