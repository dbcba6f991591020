//! Sweeps over regions and markets, the newest price, and price packs of the user.

use assert_cmd::assert::{Assert, OutputAssertExt};

use crate::sandbox::{Rows, Sandbox, stderr, stdout};

const HEAD: &str = "provider,vm,region,zone,market,usd_per_hour,valid_from,valid_to,source\n";

/// The program with packs in the folder `data`, and no other.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Assert {
    let mut command = sandbox.scavsim();
    command.env_remove("SCAVSIM_PRICES");
    command.env("SCAVSIM_DATA_DIR", sandbox.path("data"));
    command.args(arguments).assert()
}

/// A job that needs an hour on one g5.xlarge, half an hour on one g6e.xlarge.
fn job() -> Sandbox {
    job_of("g5.xlarge,1,10,0.36\ng6e.xlarge,1,10,0.18\n")
}

/// A job of 10,000 steps with these measured rows.
fn job_of(rows: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("p.csv", &format!("vm,workers,batch,step_s\n{rows}"));
    let import = ["import", "profile", "p.csv", "--out", "w"];
    let length = ["--samples-per-epoch", "10000", "--epochs", "10"];
    sandbox.run(&[&import[..], &length].concat()).success();
    sandbox
}

fn scenario(policy: &str) -> String {
    format!(
        "workloads = [\"./w\"]\n[cluster]\nsearch = \"each-vm\"\n[search]\nobjectives = [\"cost\"]\nstrategies = [\"oracle\"]\n\
         [pricing]\npolicies = [\"asked\"]\n[pricing.define.asked]\n{policy}\n"
    )
}

/// Policy, VM type and bill of all records.
fn bills(sandbox: &Sandbox, policy: &str, more: &[&str]) -> Vec<(String, String, f64)> {
    sandbox.write("s.toml", &scenario(policy));
    let usual = ["run", "s.toml", "--out", "out", "--overwrite"];
    run(sandbox, &[&usual[..], more].concat()).success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    rows.iter()
        .map(|row| {
            let of = |column| row.text(column).to_owned();
            let usd = row.text("oracle_cost_usd").parse().expect("a bill");
            (of("pricing"), of("oracle_vm"), usd)
        })
        .collect()
}

#[track_caller]
fn has(found: &[(String, String, f64)], policy: &str, vm: &str, usd: f64) {
    let own = found.iter().find(|(p, v, _)| p == policy && v == vm);
    let (_, _, bill) = own.unwrap_or_else(|| panic!("{policy} {vm}: {found:?}"));
    assert!(
        (bill - usd).abs() < 1e-9,
        "{policy} {vm}: {bill}, not {usd}"
    );
}

/// A FinOps question in one file, each figure by hand from the price list.
#[test]
fn regions_and_markets_sweep_and_the_newest_price_needs_no_day() {
    let sandbox = job();
    let asked = "region = [\"us-east-1\", \"us-east-2\"]\ncatalogue = [\"on-demand\", \"spot\"]\ndate = \"newest\"";
    let found = bills(&sandbox, asked, &[]);
    assert_eq!(found.len(), 8, "{found:?}");
    for (region, market, g5, g6e) in [
        ("us-east-1", "on-demand", 1.006, 1.861),
        ("us-east-2", "on-demand", 1.006, 1.861),
        // Medians over five, four, three and three zones.
        ("us-east-1", "spot", 0.436, 1.004_55),
        ("us-east-2", "spot", 0.3841, 0.5315),
    ] {
        let name = format!("asked region {region} catalogue {market}");
        has(&found, &name, "g5.xlarge", g5);
        has(&found, &name, "g6e.xlarge", g6e / 2.0);
    }
    let manifest = sandbox.read("out/manifest.json");
    let days = "listed prices: aws us-east-1, us-east-2 of 2026-11-27";
    assert!(manifest.contains(days), "{manifest}");
    assert!(!manifest.contains("price_pack"), "{manifest}");
    let table = run(&sandbox, &["run", "s.toml", "--format", "policies"]).success();
    let table = stdout(&table);
    assert!(table.contains(days), "{table}");
    // These VMs are never lost: the spot prices are marked.
    assert!(table.contains("catalogue spot†"), "{table}");
}

#[test]
fn what_no_list_has_of_a_sweep_is_told_all_at_once() {
    let sandbox = job();
    let told = |policy: &str| {
        sandbox.write("s.toml", &scenario(policy));
        stderr(&run(&sandbox, &["check", "s.toml"]).code(2))
    };
    let terms = "region = [\"us-east-1\", \"us-west-2\"]\ncatalogue = [\"commitment-1y\", \"commitment-3y\"]\ndate = \"newest\"";
    let text = told(terms);
    for region in ["us-east-1", "us-west-2"] {
        for term in ["commitment-1y", "commitment-3y"] {
            let expected = format!("no {term} price of `g5.xlarge` in aws {region}");
            assert!(text.contains(&expected), "{expected}\n{text}");
        }
    }
    let near = "region = \"us-esat-1\"\ncatalogue = \"spot\"\ndate = \"newest\"";
    assert!(told(near).contains("did you mean `us-east-1`?"));
    let word = "region = \"us-east-1\"\ncatalogue = \"spot\"\ndate = \"today\"";
    assert!(told(word).contains("or \"newest\", found \"today\""));
    let twice = "region = [\"us-east-1\", \"us-east-1\"]\ncatalogue = \"spot\"\ndate = \"newest\"";
    assert!(told(twice).contains("found us-east-1 twice"));
}

#[test]
fn a_pack_is_used_where_the_newest_price_is_asked_for_and_changes_nothing_else() {
    let sandbox = job();
    let fixed = "provider = \"aws\"\nregion = \"us-east-1\"\ncatalogue = \"on-demand\"\ndate = \"2026-07-20\"";
    let newest = "region = \"us-east-1\"\ncatalogue = \"on-demand\"\ndate = \"newest\"";
    bills(&sandbox, fixed, &[]);
    let before = (
        sandbox.read("out/records.csv"),
        sandbox.read("out/manifest.json"),
    );
    // Prices of tomorrow, and others of a day that the program has.
    sandbox.write(
        "mine.csv",
        &format!(
            "{HEAD}aws,g5.xlarge,us-east-1,,on-demand,0.9,2026-12-01,2026-12-01,s\n\
             aws,g6e.xlarge,us-east-1,z1,on-demand,1.5,2026-12-01,2026-12-01,s\n\
             aws,g6e.xlarge,us-east-1,z2,on-demand,1.7,2026-12-01,2026-12-01,s\n\
             aws,g5.xlarge,us-east-1,,on-demand,99,2026-07-20,2026-07-20,s\n"
        ),
    );
    let update = ["prices", "update", "mine.csv", "--take-strange"];
    let said = stdout(&run(&sandbox, &update).success());
    for expected in [
        "price pack `2026-12-01`: 2 VM types in 1 region, prices up to 2026-12-01",
        "medians over the zones of a region: 1",
        "left out: 1 price of days of which the program has one",
    ] {
        assert!(
            said.replace("\n  ", " ").contains(expected),
            "{expected}\n{said}"
        );
    }
    bills(&sandbox, fixed, &[]);
    let after = (
        sandbox.read("out/records.csv"),
        sandbox.read("out/manifest.json"),
    );
    assert_eq!(before, after);
    let found = bills(&sandbox, newest, &[]);
    has(&found, "asked", "g5.xlarge", 0.9);
    has(&found, "asked", "g6e.xlarge", 0.8);
    let manifest = sandbox.read("out/manifest.json");
    let bytes = sandbox.read("data/prices/2026-12-01/prices.csv");
    let hash = blake3::hash(bytes.as_bytes()).to_hex().to_string();
    for expected in [
        "\"name\": \"2026-12-01\"",
        "\"day\": \"2026-12-01\"",
        &format!("\"blake3\": \"{hash}\""),
        "aws us-east-1 of 2026-12-01; with the price pack `2026-12-01`",
    ] {
        assert!(manifest.contains(expected), "{expected}\n{manifest}");
    }
    let found = bills(&sandbox, newest, &["--prices", "builtin"]);
    has(&found, "asked", "g5.xlarge", 1.006);
    // Any folder is accepted, and an older pack has priority if it is named.
    sandbox.write(
        "old/prices.csv",
        &bytes.replace(",0.9,2026-12-01,2026-12-01", ",0.8,2026-11-30,2026-11-30"),
    );
    let found = bills(&sandbox, newest, &["--prices", "old"]);
    has(&found, "asked", "g5.xlarge", 0.8);
    // By hand, with five minutes of set-up: 0.5833 h at $1.861 and $1.6, 1.0833 h at $0.8.
    for (pack, expected) in [
        (
            "data/prices/2026-12-01",
            "Without the price pack: the same, at $1.09; the pack changes the cost by -14.0 %.",
        ),
        (
            "old",
            "Without the price pack: 1 × 10 on 1 g6e.xlarge, on demand (aws us-east-1), $1.09.",
        ),
        ("builtin", ""),
    ] {
        let advise = "advise p.csv --samples-per-epoch 10000 --epochs 10 --only-measured --region us-east-1 --prices";
        let words: Vec<&str> = advise.split(' ').chain([pack]).collect();
        let said = stdout(&run(&sandbox, &words).success()).replace("\n  ", " ");
        assert!(said.contains(expected), "{pack}: {said}");
        assert_eq!(said.contains("price pack:"), !expected.is_empty(), "{said}");
    }
    let listed = stdout(&run(&sandbox, &["prices", "--format", "csv"]).success());
    assert!(
        listed.contains("2026-12-01,aws,2026-12-01,2,1,on-demand,3,yes"),
        "{listed}"
    );
    assert!(
        listed.contains("builtin,lambda,2026-11-27,23,17,on-demand,391,yes"),
        "{listed}"
    );
    let again = stderr(&run(&sandbox, &["prices", "update", "mine.csv"]).code(2));
    assert!(again.contains("--force"), "{again}");
}

#[test]
fn damaged_packs_are_refused_at_their_place_and_odd_prices_are_told() {
    let sandbox = Sandbox::new();
    for (row, expected) in [
        ("aws,v,us-east-1,,spot,0,2026-12-01,,s", "mine.csv:3:23"),
        (
            "aws,v,us-east-1,,spto,1,2026-12-01,,s",
            "unknown market `spto`",
        ),
        (
            "aws,v,us-east-1,,spot,1,2026-13-01,,s",
            "`valid_from`: `2026-13-01` is no time",
        ),
        (
            ",v,us-east-1,,spot,1,2026-12-01,,s",
            "`provider`: the price of `v` does not say it",
        ),
        (
            "aws,v,,,spot,1,2026-12-01,,s",
            "`region`: the price of `v` does not say it",
        ),
        (
            "aws,v,us-east-1,,spot,1,2026-12-01,2026-11-01,s",
            "`valid_to` is before `valid_from`",
        ),
    ] {
        let good = "aws,g5.xlarge,us-east-1,,on-demand,1,2026-12-01,,s";
        sandbox.write("mine.csv", &format!("{HEAD}{good}\n{row}\n"));
        let told = stderr(&run(&sandbox, &["prices", "update", "mine.csv"]).code(2));
        assert!(
            told.contains(expected) && told.contains("mine.csv:3:"),
            "{row}\n{told}"
        );
    }
    assert!(sandbox.files("data/prices").is_empty());
    sandbox.write(
        "mine.csv",
        &format!(
            "{HEAD}aws,g5.xlarge,us-esat-1,,on-demand,1,2026-12-01,,s\naws,g5.xlarge,us-esat-1,,spot,1.2,2026-12-01,,s\n"
        ),
    );
    let said = stdout(&run(&sandbox, &["prices", "update", "mine.csv"]).success());
    let said = said.replace("\n  ", " ");
    for expected in [
        "spot prices above on demand: 1, that of g5.xlarge in us-esat-1 among them",
        "aws has no region `us-esat-1` among those that are shipped; did you mean `us-east-1`?",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    // A pack that was damaged afterwards stops commands that would use it.
    sandbox.edit(
        "data/prices/2026-12-01/prices.csv",
        ",spot,1.2,",
        ",spot,-1.2,",
    );
    let told = stderr(&run(&sandbox, &["list", "vms"]).code(2));
    assert!(
        told.contains("prices.csv:3:") && told.contains("`--prices builtin`"),
        "{told}"
    );
    run(&sandbox, &["list", "vms", "--prices", "builtin"]).success();
}

#[test]
fn a_catalogue_of_skypilot_becomes_a_pack_with_its_vm_types() {
    let sandbox = Sandbox::new();
    let head =
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,SpotPrice\n";
    sandbox.write(
        "v8/moon/vms.csv",
        &format!(
            "{head}luna-2,T4,2.0,8.0,64.0,1.5,mare-1,0.5\nluna-2,T4,2.0,8.0,64.0,1.6,mare-2,\npart,L4,0.25,4.0,16.0,0.3,mare-1,\n"
        ),
    );
    let update = [
        "prices",
        "update",
        "v8",
        "--date",
        "2026-12-01",
        "--name",
        "moon",
    ];
    run(&sandbox, &update).success();
    let listed = run(
        &sandbox,
        &["list", "vms", "--region", "mare-1", "--format", "csv"],
    );
    let listed = stdout(&listed.success());
    // A quarter of a GPU is no GPU: its size is unknown, and it is not listed.
    assert_eq!(
        listed.lines().nth(1),
        Some("moon,luna-2,8,64.0,T4,2,,1.5,0.5,,,2026-12-01"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let told = stderr(&run(&sandbox, &["list", "vms", "--region", "mare-3"]).code(2));
    assert!(told.contains("did you mean `mare-"), "{told}");
}

fn written(sandbox: &Sandbox, policies: &str) -> String {
    sandbox.write("s.toml", &scenario(policies));
    let found = run(sandbox, &["run", "s.toml", "--out", "out", "--overwrite"]).success();
    stdout(&found) + &sandbox.read("out/manifest.json")
}

/// Regression: commitments of 2017 compared with on-demand prices of 2026 made three years of commitment look cheap.
#[test]
fn an_old_commitment_is_not_the_newest_and_an_old_price_on_demand_is_marked() {
    let sandbox = job_of("p3.2xlarge,1,10,0.36\n");
    let asked = "region = \"us-east-1\"\ncatalogue = \"commitment-3y\"\n";
    sandbox.write("s.toml", &scenario(&format!("{asked}date = \"newest\"")));
    let text = stderr(&run(&sandbox, &["check", "s.toml"]).code(2));
    assert!(
        text.contains("is of 2017-11-12, over 18 months before the newest price"),
        "{text}"
    );
    assert!(
        text.contains("`date = \"2017-11-12\"` takes it all the same"),
        "{text}"
    );
    let dated = format!("provider = \"aws\"\n{asked}date = \"2017-11-12\"");
    let (_, _, usd) = bills(&sandbox, &dated, &[])[0].clone();
    assert!(usd > 1.0 && usd < 2.0, "{usd}");
    let advise = [
        "advise",
        "p.csv",
        "--samples-per-epoch",
        "10000",
        "--epochs",
        "10",
    ];
    let text = stderr(&run(&sandbox, &[&advise[..], &["--commitment", "1y"]].concat()).code(2));
    assert!(text.contains("2017-11-12"), "{text}");
    // A type that is no longer listed is charged, with its day.
    let sandbox = job_of("m4.2xlarge,1,10,0.36\n");
    let text = written(
        &sandbox,
        "region = \"ap-northeast-1\"\ncatalogue = \"on-demand\"\ndate = \"newest\"",
    );
    let old = "old prices are charged, as no newer ones are known: `m4.2xlarge` of 2017-11-12";
    assert!(text.contains(old), "{text}");
    let there = ["--region", "ap-northeast-1"];
    let text = stdout(&run(&sandbox, &[&advise[..], &there].concat()).success());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("old price of 2017-11-12"), "{text}");
    let listed = ["list", "prices", "--provider", "aws", "--format", "csv"];
    let text = stdout(&run(&sandbox, &[&listed[..], &there].concat()).success());
    assert!(text.contains("2017-11-12,2017-11-12,old"), "{text}");
}

#[test]
fn policies_and_vm_types_without_a_price_are_left_out_of_a_sweep() {
    // g5.2xlarge has no spot price; no VM type has a new commitment.
    let sandbox = job_of("g5.xlarge,1,10,0.36\ng5.2xlarge,1,10,0.36\n");
    let text = written(
        &sandbox,
        "region = \"us-east-1\"\ncatalogue = [\"on-demand\", \"spot\", \"commitment-1y\"]\ndate = \"newest\"",
    );
    for expected in [
        "pricing policies without a price are left out: `asked catalogue commitment-1y`",
        "VM types without a price are left out: `g5.2xlarge` (`asked catalogue spot`: no spot price",
    ] {
        let text = text.replace("\n  ", " ");
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    let found: Vec<(&str, &str)> = (rows.iter())
        .map(|row| (row.text("pricing"), row.text("oracle_vm")))
        .collect();
    let expected = [
        ("asked catalogue on-demand", "g5.xlarge"),
        ("asked catalogue spot", "g5.xlarge"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_stated_price_far_from_the_last_known_one_is_asked_about() {
    let sandbox = job_of("p5.48xlarge,1,10,0.36\n");
    // The price of one of eight GPUs.
    let text = written(&sandbox, "usd_per_hour_of = { \"p5.48xlarge\" = 6.88 }");
    let asked = "p5.48xlarge at $6.88 an hour is 8.0 times below the last known price on demand";
    assert!(text.contains(asked), "{text}");
    for sound in ["55", "0"] {
        let price = format!("usd_per_hour_of = {{ \"p5.48xlarge\" = {sound} }}");
        let text = written(&sandbox, &price);
        assert!(!text.contains("last known price"), "{text}");
        assert_eq!(text.contains("all VMs cost 0"), sound == "0", "{text}");
    }
}

#[test]
fn price_lists_of_others_are_recognised() {
    let sandbox = Sandbox::new();
    let entry = |vm: &str, zone: &str, usd: &str| {
        format!(
            r#"{{"AvailabilityZone":"{zone}","InstanceType":"{vm}","ProductDescription":"Linux/UNIX","SpotPrice":"{usd}","Timestamp":"2026-12-02T09:00:00Z"}}"#
        )
    };
    let all = [
        entry("g5.xlarge", "us-east-1a", "0.40"),
        entry("g5.xlarge", "us-east-1b", "0.50"),
    ];
    sandbox.write(
        "h.json",
        &format!("{{\"SpotPriceHistory\":[{}]}}", all.join(",")),
    );
    let said = stdout(&run(&sandbox, &["prices", "update", "h.json"]).success());
    for expected in [
        "the spot price history of AWS",
        "1 VM type in 1 region, prices up to 2026-12-02",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    let listed = ["list", "vms", "--region", "us-east-1", "--format", "csv"];
    let listed = stdout(&run(&sandbox, &listed).success());
    let row = listed
        .lines()
        .find(|row| row.contains(",g5.xlarge,"))
        .unwrap_or_default();
    assert!(
        row.contains(",0.45,") && row.contains("2026-12-02"),
        "{row}"
    );
    sandbox.write(
        "broken.json",
        "{\"SpotPriceHistory\":[\n{\"InstanceType\":1}]}",
    );
    let told = stderr(&run(&sandbox, &["prices", "update", "broken.json"]).code(2));
    assert!(told.contains("broken.json:2:"), "{told}");
    sandbox.write("other.json", "{\"log_history\":[]}");
    let told = stderr(&run(&sandbox, &["prices", "update", "other.json"]).code(2));
    assert!(told.contains("no price list that is known"), "{told}");
}
