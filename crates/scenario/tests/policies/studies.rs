//! Mistakes in scenarios with `[policy]`.

use std::path::Path;

use scavsim_data::cloud::{Catalogue, Market, Price};
use scavsim_provision::study::Setting;
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::{Diagnostics, Source};
use scavsim_scenario::{Overrides, Scenario, load as read};

const RIGHT: &str = r#"
[job]
work_h = 10
deadline_h = 14
changeover_s = 720

[market]
traces = "aws-v100-2023"
zones = ["us-east-1f", "us-east-2a"]

[starts]
spread = 4

[policy]
names = ["greedy", "cost-to-go"]
"#;

fn load(text: &str) -> Result<Scenario, Vec<String>> {
    load_at(text, Path::new("."))
}

fn load_at(text: &str, base: &Path) -> Result<Scenario, Vec<String>> {
    let mut d = Diagnostics::default();
    let source = Source::new("scenario.toml", text);
    let scenario = read(&source, base, Overrides::default(), &mut d);
    let told = d.iter();
    let told = told.map(|one| format!("{}: {}", one.line().unwrap_or(0), one.title));
    scenario.ok_or_else(|| told.collect())
}

fn setting(scenario: &Scenario) -> &Setting {
    &MarketPolicies::study_of(&*scenario.subject)
        .expect("it has policies")
        .settings[0]
}

/// Mistakes of the valid scenario with a change.
fn refused(from: &str, to: &str) -> Vec<String> {
    assert_eq!(RIGHT.matches(from).count(), 1, "{from}");
    load(&RIGHT.replace(from, to)).expect_err("it is wrong")
}

#[test]
fn a_deadline_before_the_fastest_run_ends_is_refused() {
    assert_eq!(
        refused("deadline_h = 14", "deadline_h = 10.1"),
        ["4: the deadline of 10.1 h is before the fastest run ends"]
    );
}

#[test]
fn traces_that_are_shorter_than_a_life_are_refused() {
    assert_eq!(
        refused("deadline_h = 14", "deadline_h = 1100"),
        ["4: the traces of 1091.9 h are shorter than a life of up to 1100.0 h"]
    );
    assert_eq!(
        refused("spread = 4", "at_s = [0, 3900000]"),
        ["12: a life that begins at 3900000 s outlasts the traces"]
    );
}

#[test]
fn more_machines_than_any_zone_ever_offers_are_refused() {
    assert_eq!(
        refused("changeover_s = 720", "changeover_s = 720\nmachines = 8"),
        ["6: no zone ever offers 8 spot machines at once"]
    );
}

/// Mistakes of forms, each written after `job.form =`.
fn of_forms(forms: &str) -> Result<Scenario, Vec<String>> {
    let form = format!("changeover_s = 720\nform = [{forms}]");
    load(&RIGHT.replace("changeover_s = 720", &form))
}

#[test]
fn forms_are_read() {
    let scenario = of_forms(
        r#"
        { name = "one", machines = 1, speed = 1 },
        { name = "two", machines = 2, steps = [{ from = 0, speed = 1.5 }, { from = 0.5, speed = 2 }] },
        "#,
    )
    .expect("they are right");
    let setting = setting(&scenario);
    let forms: Vec<(&str, u16)> = (setting.job.forms.iter())
        .map(|form| (form.name.as_str(), form.machines))
        .collect();
    assert_eq!(forms, [("one", 1), ("two", 2)]);
    let rest_h = setting.job.fastest_rest(Default::default()).hours();
    assert!((rest_h - (5.0 / 1.5 + 5.0 / 2.0)).abs() < 1e-9);
    assert!(setting.description().ends_with(", as one, two"));
}

#[test]
fn forms_that_say_too_little_or_what_cannot_be_are_refused() {
    let refused = |forms: &str| of_forms(forms).expect_err("they are wrong");
    let one = |form: &str| refused(&format!("{{ name = \"a\", {form} }}")).join("; ");
    assert_eq!(one("speed = 1"), "6: `machines` is missing");
    assert_eq!(one("machines = 1"), "6: `speed` is missing");
    assert_eq!(
        one("machines = 70000, speed = 1"),
        "6: `job.form.machines`: 70000 are too many"
    );
    assert!(one("machines = 0, speed = 1").contains("expected a whole number from 1"));
    assert!(one("machines = 1, speed = 0").contains("expected a number from 10^-9"));
    assert!(one("machines = 1, speed = 1, sped = 2").contains("`sped`"));
    assert_eq!(
        one("machines = 1, speed = 1, steps = [{ from = 0, speed = 1 }]"),
        "6: `speed` and `steps` exclude each other"
    );
    let ascend = "6: the shares of `steps` ascend from 0, below 1";
    for steps in [
        "{ from = 0.1, speed = 1 }",
        "{ from = 0, speed = 1 }, { from = 0, speed = 2 }",
        "{ from = 0, speed = 1 }, { from = 1, speed = 2 }",
    ] {
        assert_eq!(one(&format!("machines = 1, steps = [{steps}]")), ascend);
    }
    assert_eq!(one("machines = 1, steps = []"), "6: `steps` is empty");
    assert_eq!(
        one("machines = 1, steps = [{ from = 0 }]"),
        "6: a step has `from` and `speed`"
    );
    assert_eq!(
        one("machines = 1, speed = 1, vm = \"p4\""),
        "6: unknown VM type `p4`"
    );
    assert_eq!(refused(""), ["6: no form is given"]);
    let two = "{ name = \"a\", machines = 1, speed = 1 }";
    assert_eq!(
        refused(&format!("{two}, {two}")),
        ["6: two forms are called `a`"]
    );
    assert_eq!(
        refused("{ machines = 1, speed = 1 }"),
        ["6: `name` is missing"]
    );
    // Two machines are never offered, but then the other form is.
    let large = "{ name = \"b\", machines = 9, speed = 2 }";
    assert_eq!(
        refused(large),
        ["6: no zone ever offers 9 spot machines at once"]
    );
    assert!(of_forms(&format!("{two}, {large}")).is_ok());
    // The fastest form decides which deadlines can be met.
    assert_eq!(
        refused("{ name = \"slow\", machines = 1, speed = 0.5 }"),
        ["4: the deadline of 14 h is before the fastest run ends"]
    );
    let told = load(&RIGHT.replace(
        "changeover_s = 720",
        &format!("changeover_s = 720\nmachines = 1\nform = [{two}]"),
    ))
    .expect_err("both are given");
    assert_eq!(
        told,
        ["6: `job.machines` and `job.form` exclude each other"]
    );
}

fn market_of_types() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("it can be made");
    let market = folder.path().join("own");
    std::fs::create_dir(&market).expect("it can be made");
    let write = |name: &str, text: &str| {
        std::fs::write(market.join(name), text).expect("it can be written");
    };
    write("market.toml", "name = \"own\"\ntick_s = 600\nticks = 300\n");
    write(
        "zones.csv",
        "zone,region,vm,on_demand_usd_per_h\na-small,a,small,3\na-large,a,large,12\nb-any,b,,5\n",
    );
    let rows = |value: &str| {
        let zones = ["a-small", "a-large", "b-any"];
        zones.map(|zone| format!("{zone},0,{value}\n")).concat()
    };
    write(
        "availability.csv",
        &format!("zone,second,machines\n{}", rows("4")),
    );
    write(
        "prices.csv",
        &format!("zone,second,spot_usd_per_h\n{}", rows("1")),
    );
    folder
}

#[test]
fn zones_serve_the_forms_of_their_type() {
    let folder = market_of_types();
    let loaded = |zones: &str, vm: &str| {
        let text = RIGHT
            .replace("traces = \"aws-v100-2023\"", "traces = \"own\"")
            .replace("zones = [\"us-east-1f\", \"us-east-2a\"]", zones)
            .replace(
                "changeover_s = 720",
                &format!("changeover_s = 720\nform = [{{ name = \"one\", machines = 1, speed = 1, vm = \"{vm}\" }}]"),
            );
        load_at(&text, folder.path()).map(|scenario| {
            let zones = setting(&scenario).world.zones.iter();
            zones.map(|zone| zone.name.clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(
        loaded("", "small"),
        Ok(vec!["a-small".to_owned(), "b-any".to_owned()])
    );
    assert_eq!(
        loaded("", "smal"),
        Err(vec!["6: unknown VM type `smal`".to_owned()])
    );
    let told = loaded("zones = [\"a-large\"]", "small").expect_err("none serves it");
    assert_eq!(
        told,
        [
            "10: zone `a-large` serves no form of the job",
            "6: no zone of `market.zones` has `small`"
        ]
    );
    let told = loaded("replicas = 5", "small").expect_err("lives are drawn");
    assert_eq!(told, ["12: `starts` says nothing of lives that are drawn"]);
}

#[test]
fn who_may_be_late_needs_a_price_of_that() {
    let told = refused("\"greedy\"", "\"spot-only\"");
    assert_eq!(
        told,
        ["2: `spot-only` may be late, and being late has no price"]
    );
    let priced = RIGHT
        .replace("\"greedy\"", "\"spot-only\"")
        .replace("work_h = 10", "work_h = 10\nlateness_usd_per_h = 0");
    assert!(load(&priced).is_ok());
}

#[test]
fn all_mistakes_are_told_at_once() {
    let told = load(
        &RIGHT
            .replace("work_h = 10", "work_h = -10")
            .replace("us-east-2a", "us-east-2x")
            .replace("cost-to-go", "cost-to-stay")
            .replace("spread = 4", "spread = 0\nat_h = 3"),
    )
    .expect_err("it is wrong");
    for part in ["`us-east-2x`", "`cost-to-stay`", "work_h", "spread", "at_h"] {
        assert!(
            told.iter().any(|one| one.contains(part)),
            "{part} in {told:#?}"
        );
    }
}

#[test]
fn a_market_is_named_or_given_not_both() {
    let told = refused(
        "traces = \"aws-v100-2023\"",
        "traces = \"aws-v100-2023\"\nrun_h = 3",
    );
    assert_eq!(
        told,
        ["8: `market.run_h` and `market.traces` exclude each other"]
    );
    let told = refused("traces = \"aws-v100-2023\"", "traces = \"aws-v100\"");
    assert_eq!(told, ["8: unknown market `aws-v100`"]);
}

/// A table `[policy]`, or a table of policies only, makes a scenario one with policies.
#[test]
fn a_table_makes_a_scenario_one_with_policies() {
    let has_policies = |text: &str| {
        let told = load(text).expect_err("it says too little");
        told.iter().any(|one| one.contains("`market` is missing"))
    };
    for text in [
        "[policy]",
        "[policy.own]\ncommand = [\"x\"]",
        "policy.names = []",
        " [ policy ]",
        "policy={}",
        "\"policy\" = {}",
        "[job]\npolicy.names = []",
    ] {
        assert!(has_policies(text), "{text}");
    }
    for text in ["# [policy]", "name = \"\"\"\n[policy]\n\"\"\"", "[policys]"] {
        assert!(!has_policies(text), "{text}");
    }
}

#[test]
fn the_shipped_scenarios_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/policies");
    let mut count = 0;
    for entry in std::fs::read_dir(&root).expect("it is there") {
        let path = entry.expect("it is readable").path();
        let text = std::fs::read_to_string(&path).expect("it is readable");
        if !text.contains("[policy]") {
            continue;
        }
        if let Err(told) = load_at(&text, &root) {
            panic!("{}: {told:#?}", path.display());
        }
        count += 1;
    }
    assert!(count >= 3);
}

#[test]
fn zones_of_the_catalogue_have_its_prices_and_runs_its_lifetimes() {
    let market = "traces = \"aws-v100-2023\"\nzones = [\"us-east-1f\", \"us-east-2a\"]\n\n[starts]\nspread = 4";
    let ours = "vm = [\"g4dn.12xlarge\"]\nzones = [\"us-east-2\", \"us-west-2\"]\nlifetimes = \"aws-2020-g4dn-trace\"\npause_h = 0.7\nreplicas = 3";
    let scenario = load(&RIGHT.replace(market, ours)).expect("it is right");
    let zones = &setting(&scenario).world.zones;
    let names: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
    assert_eq!(names, ["us-east-2", "us-west-2"]);
    let prices: Vec<&Price> = (Catalogue::embedded()
        .0
        .prices_of("aws", "g4dn.12xlarge")
        .iter())
    .filter(|price| &*price.region == "us-east-2")
    .collect();
    let on = |market| prices.iter().rfind(|price| price.market == market);
    let usd = |market| on(market).expect("it has a price").usd_per_hour;
    assert_eq!(zones[0].on_demand_usd_per_h, usd(Market::OnDemand));
    assert_eq!(zones[0].spot_usd_per_h, [usd(Market::Spot)]);

    let wrong = ours
        .replace("g4dn.12xlarge", "g4dn.12xlarg")
        .replace("g4dn-trace", "g4dn-trac");
    let mistakes = load(&RIGHT.replace(market, &wrong)).expect_err("it is wrong");
    assert_eq!(
        mistakes,
        [
            "10: unknown lifetimes `aws-2020-g4dn-trac`",
            "8: unknown VM type `g4dn.12xlarg`",
        ]
    );
    let both = format!("{ours}\nrun_h = 3\nspot_usd_per_h = 1.0");
    let mistakes = load(&RIGHT.replace(market, &both)).expect_err("it is wrong");
    assert_eq!(
        mistakes,
        [
            "10: `market.run_h` and `market.lifetimes` exclude each other",
            "8: `market.spot_usd_per_h` and `market.vm` exclude each other",
        ]
    );
}
