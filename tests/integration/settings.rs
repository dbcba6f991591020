//! Lists and ranges in place of a number: settings of a scenario, and policies.

use std::fs;

use crate::sandbox::{Rows, Sandbox, assert_same_files, stderr, stdout};

/// A small scenario on spot VMs; the additional lines decide the settings.
fn on_spot(rest: &str) -> String {
    format!(
        "name = \"some\"\nworkloads = [\"scavenger-resnet18\"]\nseed = 3\nreplicas = 12\n\
         cluster = {{ pairs = [[8, 512], [12, 1024], [16, 1024]] }}\n\
         search = {{ strategies = [\"oracle\", \"random\"], objectives = [\"time\", \"cost\"] }}\n\
         spot.lifetime = \"gcp-2019\"\nspot.checkpoint_write_s = 5\nspot.checkpoint = \"young-daly\"\n{rest}\n"
    )
}

const BOTH: &str = "spot.replacement_s = [60, 600]\nvariation.step_cv = [0.05, 0.2]";

/// Cells of the rows of a run except for the case number, the setting and its axes, by setting.
fn rows(scenario: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let sandbox = Sandbox::with(scenario);
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    let mut all: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    for row in rows.iter() {
        let setting = row.text("setting");
        let named = rows.header.iter().map(String::as_str);
        let is_of_setting =
            |name: &str| ["case", "setting"].contains(&name) || name.starts_with("axis.");
        let cells = named.filter(|name| !is_of_setting(name));
        let cells = cells.map(|name| row.text(name).to_owned()).collect();
        match all.last_mut() {
            Some((last, own)) if last == setting => own.push(cells),
            _ => all.push((setting.to_owned(), vec![cells])),
        }
    }
    all
}

fn complaint(scenario: &str) -> String {
    let sandbox = Sandbox::with(scenario);
    stderr(&sandbox.run(&["check", "scenario.toml"]).code(2))
}

#[test]
fn every_setting_is_what_a_scenario_of_its_own_is() {
    let all = rows(&on_spot(BOTH));
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "spot.replacement_s=60;variation.step_cv=0.05",
            "spot.replacement_s=60;variation.step_cv=0.2",
            "spot.replacement_s=600;variation.step_cv=0.05",
            "spot.replacement_s=600;variation.step_cv=0.2"
        ]
    );
    let mut at = 0;
    for replacement in [60, 600] {
        for cv in [0.05, 0.2] {
            let own = rows(&on_spot(&format!(
                "spot.replacement_s = {replacement}\nvariation.step_cv = {cv}"
            )));
            assert_eq!(own.len(), 1);
            assert_eq!(
                (own[0].0.as_str(), &own[0].1),
                ("", &all[at].1),
                "{}",
                names[at]
            );
            at += 1;
        }
    }
    // They are not all the same.
    assert!(all.windows(2).all(|two| two[0].1 != two[1].1));
}

#[test]
fn ranges_single_lists_and_nested_keys() {
    let periods = "spot.checkpoint = { periodic-s = { from = 300, to = 1200, factor = 2 } }";
    let text = on_spot(periods).replace("spot.checkpoint = \"young-daly\"\n", "");
    let names: Vec<String> = rows(&text).into_iter().map(|(name, _)| name).collect();
    let periods = [300, 600, 1200].map(|s| format!("spot.checkpoint.periodic-s={s}"));
    assert_eq!(names, periods);
    let varied = "workloads = [\"scavenger-resnet18\"]\n\
         search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n\
         variation.drift = { sigma = [0, 0.1], period_s = [600] }\n\
         variation.straggler = { probability = { from = 0.001, to = 0.002, step = 0.001 }, factor = 3 }\n";
    let names: Vec<String> = rows(varied).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 2 * 2);
    assert_eq!(
        names[1],
        "variation.drift.sigma=0;variation.straggler.probability=0.002"
    );
    // An integer in steps.
    let fewest = on_spot("spot.fewest_workers = { from = 2, to = 6, step = 4 }");
    let names: Vec<String> = rows(&fewest).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["spot.fewest_workers=2", "spot.fewest_workers=6"]);
}

#[test]
fn every_wrong_value_is_told_at_its_place() {
    let said = complaint(&on_spot(
        "spot.replacement_s = [60, -1, 2e6, \"x\"]\nvariation.step_cv = { from = 0, to = 4, step = 2 }\n\
         variation.noise_cv = [0.1, 0.1]\nvariation.epoch_cv = []\nvariation.vm_sigma = { from = 2, to = 1, step = 0.5 }\n\
         variation.placement_sigma = { form = 0, to = 1, step = 0.5 }\nspot.notice_s = [[1, 2], 3]\n\
         [pricing]\npolicies = [\"mine\"]\n[pricing.define.mine]\nusd_per_vm_hour = [0.1, -1]\nspot_ratio = [0.5, 1.5, 2]",
    ));
    insta::assert_snapshot!(said);
}

#[test]
fn too_many_settings_are_counted_before_any_is_made() {
    let said = complaint(&on_spot(
        "spot.replacement_s = { from = 1, to = 40, step = 1 }\nvariation.step_cv = { from = 0.01, to = 0.5, step = 0.01 }",
    ));
    assert!(
        said.contains(
            "the lists make too many settings: spot.replacement_s 40 × variation.step_cv 50; at most 1000"
        ),
        "{said}"
    );
    assert!(said.contains("1 mistake"), "{said}");
    let said = complaint(&on_spot(
        "spot.replacement_s = { from = 1, to = 2000, step = 1 }",
    ));
    assert!(
        said.contains("`replacement_s`: expected at most 1000 values, found 2000"),
        "{said}"
    );
}

/// Mistakes that appear only in combination are reported for every wrong setting.
#[test]
fn settings_are_checked_each_as_if_it_were_the_only_one() {
    let text = on_spot("spot.on_loss = \"shrink\"\nspot.fewest_workers = [8, 2]");
    let said = complaint(&text);
    assert!(
        said.contains("may come to a size that is not known"),
        "{said}"
    );
    assert!(said.contains("1 mistake"), "{said}");
    let sandbox = Sandbox::with(&text.replace("[8, 2]", "[8]"));
    sandbox.run(&["check", "scenario.toml"]).success();
}

#[test]
fn shards_and_resumed_runs_of_settings_are_the_run() {
    let sandbox = Sandbox::with(&on_spot(BOTH));
    let printed = stdout(
        &sandbox
            .run(&["run", "scenario.toml", "--out", "whole"])
            .success(),
    );
    let right = sandbox.contents("whole");
    for shard in ["3/3", "1/3", "2/3"] {
        let arguments = ["run", "scenario.toml", "--out", "parts", "--shard", shard];
        sandbox.run(&arguments).success();
    }
    let merged = sandbox.run(&["merge", "parts"]).success();
    assert_eq!(stdout(&merged), printed);
    assert_same_files(&sandbox.contents("parts"), &right, "shards");
    for share in [3, 2] {
        let rows = &right["records.csv"];
        sandbox.left_by_a_kill("killed", &right, &rows[..rows.len() * (share - 1) / share]);
        let arguments = ["run", "scenario.toml", "--out", "killed", "--resume"];
        sandbox.run(&arguments).success();
        assert_same_files(&sandbox.contents("killed"), &right, "resumed");
    }
    // Other values are another run.
    sandbox.edit("scenario.toml", "[60, 600]", "[60, 700]");
    let rows = &right["records.csv"];
    sandbox.left_by_a_kill("killed", &right, &rows[..rows.len() / 2]);
    let arguments = ["run", "scenario.toml", "--out", "killed", "--resume"];
    sandbox.run(&arguments).code(2);
}

#[test]
fn everything_that_groups_tells_settings_apart() {
    let sandbox = Sandbox::with(&on_spot("spot.replacement_s = [60, 600]"));
    let of = |arguments: &[&str]| {
        let run = [&["run", "scenario.toml", "--width", "100"], arguments].concat();
        stdout(&sandbox.run(&run).success())
    };
    for form in ["table", "policies", "clusters", "configurations"] {
        let text = of(&["--format", form]);
        for setting in ["spot.replacement_s=60 ", "spot.replacement_s=600 "] {
            let count = text
                .lines()
                .filter(|line| format!("{line} ").contains(setting))
                .count();
            assert!(count >= 1, "{form}: {text}");
        }
    }
    let by = of(&["--summary-by", "setting,strategy"]);
    assert_eq!(by.matches("spot.replacement_s=60").count(), 4, "{by}");
    let dry = of(&["--dry-run"]);
    assert!(
        dry.contains("96 cases = settings 2 × workloads 1 ×"),
        "{dry}"
    );
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let summary = Rows::parse(&sandbox.read("out/summary.csv"));
    assert_eq!(summary.len(), 2 * 2 * 2);
    assert_eq!(
        summary
            .iter()
            .filter(|row| row.text("setting") == "spot.replacement_s=600")
            .count(),
        4
    );
    assert!(
        sandbox
            .read("out/manifest.json")
            .contains("\"spot.replacement_s=600\"")
    );
    let ranked = stdout(
        &sandbox
            .run(&["rank", "scenario.toml", "--format", "csv", "--runs", "20"])
            .success(),
    );
    assert_eq!(Rows::parse(&ranked).len(), 2 * 3);
    let trace = ["trace", "scenario.toml", "--case", "95", "--out", "out"];
    let told = stdout(&sandbox.run(&trace).success());
    assert!(
        told.contains("case 95: spot.replacement_s=600, scavenger-resnet18"),
        "{told}"
    );
}

#[cfg(feature = "figures")]
#[test]
fn figures_show_one_setting_and_pages_all() {
    let sandbox = Sandbox::with(&on_spot("spot.replacement_s = [60, 600]"));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--report"])
        .success();
    let page = sandbox.read("out/report.html");
    for setting in ["\"spot.replacement_s=60\"", "\"spot.replacement_s=600\""] {
        assert!(page.contains(setting), "{setting}");
    }
    let drawn = |more: &[&str]| {
        let plot = [
            "plot",
            "out",
            "--kind",
            "overhead,cost-over-time",
            "--form",
            "svg",
            "--scenario",
            "scenario.toml",
        ];
        stdout(&sandbox.run(&[&plot[..], more].concat()).success())
    };
    assert!(drawn(&[]).contains("spot.replacement_s-60"));
    assert!(drawn(&["--setting", "spot.replacement_s=600"]).contains("spot.replacement_s-600"));
    let names = sandbox.files("out/figures");
    assert_eq!(names.len(), 4, "{names:?}");
    let own = |name: &str| fs::read(sandbox.path("out/figures").join(name)).expect("it is there");
    assert_ne!(own(&names[0]), own(&names[1]));
    let wrong = [
        "plot",
        "out",
        "--kind",
        "overhead",
        "--setting",
        "spot.replacement_s=6",
    ];
    let said = stderr(&sandbox.run(&wrong).code(2));
    assert!(
        said.contains("it has no setting `spot.replacement_s=6`"),
        "{said}"
    );
}

#[test]
fn lists_come_from_included_files_and_the_command_line_too() {
    let sandbox = Sandbox::with("include = \"base.toml\"\nspot.notice_s = [0, 30]\n");
    sandbox.write("base.toml", &on_spot(BOTH));
    let dry = |more: &[&str]| {
        let run = ["run", "scenario.toml", "--dry-run", "--width", "140"];
        stdout(&sandbox.run(&[&run[..], more].concat()).success())
    };
    assert!(dry(&[]).contains("settings 8 ×"), "{}", dry(&[]));
    let one = dry(&[
        "-s",
        "spot.replacement_s=60",
        "-s",
        "variation.step_cv={from=0.1,to=0.3,step=0.1}",
    ]);
    assert!(one.contains("settings 6 ×"), "{one}");
    let none = dry(&[
        "-s",
        "spot.replacement_s=60",
        "-s",
        "variation.step_cv=0",
        "-s",
        "spot.notice_s=0",
    ]);
    assert!(!none.contains("settings"), "{none}");
    // A mistake of the included file is reported there.
    sandbox.edit("base.toml", "[60, 600]", "[60, -600]");
    let said = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(
        said.contains("base.toml:10:27") && said.contains("1 mistake"),
        "{said}"
    );
}

#[test]
fn values_of_a_policy_make_policies_that_stand_in_its_place() {
    let text = |policies: &str, define: &str| {
        format!(
            "name = \"some\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 3\n\
             search = {{ strategies = [\"oracle\", \"random\"], objectives = [\"cost\"] }}\n\
             [pricing]\npolicies = {policies}\n{define}"
        )
    };
    let several = text(
        "[\"paper-memory\", \"mine\", \"paper-fixed\"]",
        "[pricing.define.mine]\nspot_ratio = { from = 0.3, to = 0.4, step = 0.1 }\nusd_per_vm_hour = [0.2, 1]\nusd_per_job = [5]\n",
    );
    let rows_of = |text: &str| {
        let sandbox = Sandbox::with(text);
        sandbox
            .run(&["run", "scenario.toml", "--out", "out"])
            .success();
        let rows = Rows::parse(&sandbox.read("out/records.csv"));
        let pairs = rows.iter().map(|row| {
            (
                row.text("pricing").to_owned(),
                row.text("cost_usd").to_owned(),
            )
        });
        pairs.collect::<Vec<_>>()
    };
    let all = rows_of(&several);
    let mut names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names.truncate(6);
    let made = [
        "mine usd_per_vm_hour 0.2 spot_ratio 0.3",
        "mine usd_per_vm_hour 0.2 spot_ratio 0.4",
        "mine usd_per_vm_hour 1 spot_ratio 0.3",
        "mine usd_per_vm_hour 1 spot_ratio 0.4",
    ];
    assert_eq!(
        names,
        [&["paper-memory"][..], &made, &["paper-fixed"]].concat()
    );
    let own = rows_of(&text(
        "[\"own\"]",
        "[pricing.define.own]\nspot_ratio = 0.4\nusd_per_vm_hour = 0.2\nusd_per_job = 5\n",
    ));
    let same = all
        .iter()
        .filter(|(name, _)| name == made[1])
        .map(|(_, usd)| usd);
    assert!(same.eq(own.iter().map(|(_, usd)| usd)), "{own:?}");
    // One of them by its own name; and a duplicate generated name.
    let one = several.replace("\"mine\"", "\"mine usd_per_vm_hour 1 spot_ratio 0.3\"");
    assert_eq!(rows_of(&one).len(), 3 * 3 * 2);
    let twice = several.clone()
        + "[pricing.define.\"mine usd_per_vm_hour 1 spot_ratio 0.3\"]\nusd_per_vm_hour = 1\n";
    let said = complaint(&twice);
    assert!(
        said.contains("there are two of the name `mine usd_per_vm_hour 1 spot_ratio 0.3`"),
        "{said}"
    );
    let nested = text(
        "[\"mine\"]",
        "[pricing.define.mine]\nusd_per_hour_of = { e2-standard-4 = [0.1, 0.2] }\n",
    );
    assert_eq!(
        rows_of(&nested)[0].0,
        "mine usd_per_hour_of.e2-standard-4 0.1"
    );
    let unusable = text(
        "[\"mine\"]",
        "[pricing.define.mine]\nspot_ratio = [0.1, 0.2, 0.3]\n",
    );
    let said = complaint(&unusable);
    assert_eq!(said.matches("cannot be used").count(), 1, "{said}");
}
