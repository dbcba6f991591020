//! Regions and markets that sweep, the newest price, and price packs of the user.

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

/// A job that takes an hour on one g5.xlarge, half an hour on one g6e.xlarge.
fn job() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "p.csv",
        "vm,workers,batch,step_s\ng5.xlarge,1,10,0.36\ng6e.xlarge,1,10,0.18\n",
    );
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

/// The FinOps question in one file, each figure by hand from the price list.
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
    // Nobody takes these VMs away: the spot prices say so.
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
    // Any folder will do, and that of an older pack wins where it is named.
    sandbox.write(
        "old/prices.csv",
        &bytes.replace(",0.9,2026-12-01,2026-12-01", ",0.8,2026-11-30,2026-11-30"),
    );
    let found = bills(&sandbox, newest, &["--prices", "old"]);
    has(&found, "asked", "g5.xlarge", 0.8);
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
    // A pack that was damaged afterwards stops what would have used it.
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
    // A quarter of a GPU is no GPU: its size is not known, and it is not listed.
    assert_eq!(
        listed.lines().nth(1),
        Some("moon,luna-2,8,64.0,T4,2,,1.5,0.5,,,2026-12-01"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let told = stderr(&run(&sandbox, &["list", "vms", "--region", "mare-3"]).code(2));
    assert!(told.contains("did you mean `mare-"), "{told}");
}
