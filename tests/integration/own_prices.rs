//! The user's own prices: tables in scenarios, and those made from SkyPilot's catalogue.

use std::fs;

use assert_cmd::assert::Assert;

use crate::sandbox::{Rows, Sandbox, stderr, stdout};

const HEAD: &str = "vm,region,zone,market,usd_per_hour,valid_from,valid_to,source\n";

/// A sandbox with a workload of two VM types that needs an hour on one VM of `a`, half an hour on one of `b`.
fn job() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "p.csv",
        "vm,workers,batch,step_s\na,1,10,0.36\nb,1,10,0.18\n",
    );
    sandbox
        .run(&[
            "import",
            "profile",
            "p.csv",
            "--samples-per-epoch",
            "10000",
            "--epochs",
            "10",
            "--out",
            "w",
        ])
        .success();
    sandbox
}

/// The bill of the oracle on every VM type.
fn bills(sandbox: &Sandbox, policy: &str) -> Vec<(String, f64)> {
    sandbox.write("s.toml", &scenario(policy));
    sandbox
        .run(&["run", "s.toml", "--out", "out", "--overwrite"])
        .success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    rows.iter()
        .map(|row| {
            let usd = row.text("oracle_cost_usd").parse().expect("a bill");
            (row.text("oracle_vm").to_owned(), usd)
        })
        .collect()
}

fn scenario(policy: &str) -> String {
    format!(
        "workloads = [\"./w\"]\n[cluster]\nsearch = \"each-vm\"\n[search]\nobjectives = [\"cost\"]\nstrategies = [\"oracle\"]\n\
         [pricing]\npolicies = [\"today\"]\n[pricing.define.today]\n{policy}\n"
    )
}

#[track_caller]
fn is(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((vm, usd), (own, want)) in found.iter().zip(expected) {
        assert!(
            vm == own && (usd - want).abs() < 1e-9,
            "{found:?} {expected:?}"
        );
    }
}

#[test]
fn a_table_of_ones_own_prices_a_scenario() {
    let sandbox = job();
    sandbox.write(
        "prices.csv",
        &format!(
            "{HEAD}a,r,,on-demand,2,2026-11-01,2026-11-30,our bill\na,r,z1,spot,0.5,2026-11-01,,our bill\n\
             a,r,z2,spot,0.8,2026-11-01,,our bill\nb,r,,on-demand,3,2026-11-01,,our bill\nb,r,z1,spot,1,2026-11-01,,our bill\n"
        ),
    );
    let named = "price_table = \"prices.csv\"\ndate = \"2026-11-20\"\n";
    let usual = format!("{named}catalogue = \"on-demand\"");
    is(&bills(&sandbox, &usual), &[("a", 2.0), ("b", 1.5)]);
    let spot = format!("{named}catalogue = \"spot\"\nzone = \"z1\"");
    is(&bills(&sandbox, &spot), &[("a", 0.5), ("b", 0.5)]);
    // The prices of a run are part of its identity.
    let before = sandbox.read("out/manifest.json");
    let text = sandbox.read("prices.csv");
    sandbox.write(
        "prices.csv",
        &text.replace("b,r,z1,spot,1,", "b,r,z1,spot,4,"),
    );
    is(&bills(&sandbox, &spot), &[("a", 0.5), ("b", 2.0)]);
    let hash = |text: &str| {
        let line = text.lines().find(|l| l.contains("scenario_hash"));
        line.expect("a hash").to_owned()
    };
    assert_ne!(hash(&before), hash(&sandbox.read("out/manifest.json")));
}

#[test]
fn prices_that_a_table_does_not_tell_are_refused() {
    let sandbox = job();
    let table = format!(
        "{HEAD}a,r,z1,spot,0.5,2026-11-01,,s\na,r,z2,spot,0.8,2026-11-01,,s\na,r,,on-demand,2,2026-11-01,2026-11-02,s\n\
         b,r,z1,spot,1,2026-11-01,,s\nb,r,,on-demand,0,2026-11-01,,s\n"
    );
    sandbox.write("wrong.csv", &table);
    sandbox.write("prices.csv", &table.replace("on-demand,0,", "on-demand,3,"));
    let told = |policy: &str| {
        sandbox.write("s.toml", &scenario(policy));
        stderr(&sandbox.run(&["check", "s.toml"]).code(2))
    };
    for (policy, expected) in [
        (
            "price_table = \"gone.csv\"\ncatalogue = \"spot\"\ndate = \"2026-11-20\"",
            "cannot read",
        ),
        (
            "price_table = \"wrong.csv\"\ncatalogue = \"spot\"\ndate = \"2026-11-20\"",
            "wrong.csv:6:16",
        ),
        (
            "price_table = \"prices.csv\"\ncatalogue = \"spot\"",
            "goes with `catalogue`, the market, and `date`",
        ),
        (
            "price_table = \"prices.csv\"\ncatalogue = \"spot\"\ndate = \"2026-11-20\"",
            "the spot price of `a` depends on the zone",
        ),
        (
            "price_table = \"prices.csv\"\ncatalogue = \"on-demand\"\ndate = \"2026-11-20\"",
            "no on-demand price of `a` on 2026-11-20",
        ),
        (
            "price_table = \"prices.csv\"\ncatalogue = \"spot\"\ndate = \"2026-11-20\"\nzone = \"z9\"",
            "there are prices in r z1, r z2",
        ),
        (
            "usd_per_vm_hour = 1\nzone = \"z1\"",
            "`zone` goes with prices of one's own",
        ),
        (
            "usd_per_vm_hour = 1\nspot_series = \"prices.csv\"",
            "needs `date`",
        ),
    ] {
        let told = told(policy);
        assert!(told.contains(expected), "{policy}\n{told}");
    }
}

#[test]
fn a_dated_table_is_a_series_of_each_vm_type() {
    let sandbox = job();
    sandbox.write(
        "spot.csv",
        "vm,zone,market,usd_per_hour,valid_from,source\na,z,spot,0.4,2026-11-19,s\na,z,spot,1.2,2026-11-20T00:45,s\n\
         b,z,spot,0.6,2026-11-20T00:00Z,s\nb,z,spot,2,2026-11-21,s\na,y,spot,9,2026-11-19,s\nb,y,spot,9,2026-11-19,s\n",
    );
    let policy = "usd_per_hour_of = { a = 2, b = 3 }\nspot_series = \"spot.csv\"\nzone = \"z\"\ndate = \"2026-11-20\"";
    // Three quarters of an hour at 0.4 and one at 1.2; half an hour at 0.6.
    is(&bills(&sandbox, policy), &[("a", 0.6), ("b", 0.3)]);
    // One price for all as a base also gives each its own.
    let flat = policy.replace("usd_per_hour_of = { a = 2, b = 3 }", "usd_per_vm_hour = 5");
    is(&bills(&sandbox, &flat), &[("a", 0.6), ("b", 0.3)]);
    sandbox.write("s.toml", &scenario(&policy.replace("11-20", "11-18")));
    let told = stderr(&sandbox.run(&["check", "s.toml"]).code(2));
    assert!(
        told.contains("the spot prices of `a` in spot.csv begin later"),
        "{told}"
    );
}

const VMS: &str = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n";

fn catalogue(folder: &str, cloud: &str, rows: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    add(&sandbox, folder, cloud, rows);
    sandbox
}

fn add(sandbox: &Sandbox, folder: &str, cloud: &str, rows: &str) {
    let path = format!("{folder}/{cloud}");
    fs::create_dir_all(sandbox.path(&path)).expect("the sandbox is writable");
    sandbox.write(&format!("{path}/vms.csv"), rows);
}

/// Imports catalogues into `prices.csv`.
fn import(sandbox: &Sandbox, catalogues: &[&str], more: &[&str]) -> Assert {
    let import = ["import", "prices", "skypilot"];
    sandbox.run(&[&import[..], catalogues, &["--out", "prices.csv"], more].concat())
}

const DAY: [&str; 2] = ["--date", "2026-11-20"];

const GPU: &str = "\"{'Gpus': [{'Name': 'T4', 'MemoryInfo': {'SizeInMiB': 16384}}], 'TotalGpuMemoryInMiB': 16384}\"";

fn aws(price: &str, spot: &str) -> String {
    format!(
        "{VMS}g4dn.xlarge,T4,1.0,4.0,16.0,{GPU},{price},{spot},us-east-1,use1-az1\n\
         g4dn.xlarge,T4,1.0,4.0,16.0,{GPU},{price},0.3,us-east-1,use1-az2\n\
         t3.nano,,,2.0,0.5,,0.0,,us-east-1,use1-az1\nm5.large,,,2.0,8.0,,,0.03,us-east-1,use1-az1\n\
         c5.large,,,2.0,4.0,,0.085,,eu-west-1,euw1-az1\n"
    )
}

#[test]
fn a_catalogue_of_skypilot_becomes_a_dated_table() {
    let sandbox = catalogue("v8", "aws", &aws("0.526", "0.16"));
    let report = stdout(&import(&sandbox, &["v8"], &DAY).success());
    assert!(
        report.contains("5 read, 3 kept, 1 dropped (no price), 1 dropped (a price of 0)"),
        "{report}"
    );
    let table = sandbox.read("prices.csv");
    let source = "SkyPilot catalogue (Apache-2.0)";
    assert_eq!(
        table,
        format!(
            "provider,vm,region,zone,market,usd_per_hour,valid_from,valid_to,source\n\
             aws,c5.large,eu-west-1,euw1-az1,on-demand,0.085,2026-11-20,2026-11-20,{source}\n\
             aws,g4dn.xlarge,us-east-1,use1-az1,on-demand,0.526,2026-11-20,2026-11-20,{source}\n\
             aws,g4dn.xlarge,us-east-1,use1-az1,spot,0.16,2026-11-20,2026-11-20,{source}\n\
             aws,g4dn.xlarge,us-east-1,use1-az2,on-demand,0.526,2026-11-20,2026-11-20,{source}\n\
             aws,g4dn.xlarge,us-east-1,use1-az2,spot,0.3,2026-11-20,2026-11-20,{source}\n"
        )
    );
    let told = stderr(&import(&sandbox, &["v8"], &DAY).code(2));
    assert!(told.contains("prices.csv is already there"), "{told}");
    // Only a part, from the folder of one cloud.
    let part = [&DAY[..], &["--region", "eu-west-1", "--force"]].concat();
    let report = stdout(&import(&sandbox, &["v8/aws"], &part).success());
    assert!(report.contains("4 dropped (other regions)"), "{report}");
    assert_eq!(sandbox.read("prices.csv").lines().count(), 2);
}

#[test]
fn copies_of_several_days_make_a_series() {
    let sandbox = catalogue("2026-11-18", "aws", &aws("0.526", "0.16"));
    add(&sandbox, "2026-11-19", "aws", &aws("0.526", "0.2"));
    add(&sandbox, "2026-11-20", "aws", &aws("0.526", "0.16"));
    let days = ["2026-11-20", "2026-11-18", "2026-11-19"];
    import(&sandbox, &days, &[]).success();
    let table = sandbox.read("prices.csv");
    for expected in [
        "use1-az1,on-demand,0.526,2026-11-18,2026-11-20,",
        "use1-az1,spot,0.16,2026-11-18,2026-11-18,",
        "use1-az1,spot,0.2,2026-11-19,2026-11-19,",
        "use1-az1,spot,0.16,2026-11-20,2026-11-20,",
    ] {
        assert!(table.contains(expected), "{expected}\n{table}");
    }
    // A duplicate price that differs is dropped, only for its day.
    let twice = format!(
        "{}c5.large,,,2.0,4.0,,0.09,,eu-west-1,euw1-az1\n",
        aws("0.526", "0.16")
    );
    add(&sandbox, "2026-11-19", "aws", &twice);
    let told = stdout(&import(&sandbox, &days, &["--force"]).success());
    let expected = "aws, 2026-11-19: 1 price is listed twice and differs, of c5.large: dropped";
    assert!(told.contains(expected), "{told}");
    let c5: Vec<String> = (sandbox.read("prices.csv").lines())
        .filter(|line| line.starts_with("aws,c5.large,"))
        .map(str::to_owned)
        .collect();
    assert_eq!(c5.len(), 2, "{c5:?}");
    assert!(c5[0].contains(",0.085,2026-11-18,2026-11-18,"), "{c5:?}");
    add(&sandbox, "2026-11-19", "aws", &aws("0.526", "0.2"));
    import(&sandbox, &days, &["--force"]).success();
    // A scenario uses them: a job of two days begins on the first.
    sandbox.write("p.csv", "vm,workers,batch,step_s\ng4dn.xlarge,1,10,0.36\n");
    sandbox
        .run(&[
            "import",
            "profile",
            "p.csv",
            "--samples-per-epoch",
            "480000",
            "--epochs",
            "10",
            "--out",
            "w",
        ])
        .success();
    let policy = "price_table = \"prices.csv\"\ncatalogue = \"on-demand\"\nspot_series = \"prices.csv\"\nregion = \"us-east-1\"\n\
                  zone = \"use1-az1\"\ndate = \"2026-11-18\"";
    is(
        &bills(&sandbox, policy),
        &[("g4dn.xlarge", 24.0 * 0.16 + 24.0 * 0.2)],
    );
}

#[test]
fn hosts_and_accelerators_that_are_billed_together_are_joined() {
    // In another order of columns, as in some versions.
    let rows = "Region,AvailabilityZone,InstanceType,vCPUs,AcceleratorName,AcceleratorCount,Price,SpotPrice\n\
        r,r-a,n1-standard-8,8,,,0.38,0.08\nr,r-b,n1-standard-8,8,,,0.38,0.08\n\
        r,r-a,,,T4,2.0,0.70,0.22\nr,r-b,,,T4,1.0,0.35,\n\
        r,r-a,a2-highgpu-1g,12,,,0.8,0.2\nr,r-a,,,A100,1.0,2.9,0.9\nr,r-a,a9-unheard-1g,12,,,0.8,0.2\n";
    let sandbox = catalogue("v8", "gcp", rows);
    let joined =
        |more: &[&str]| import(&sandbox, &["v8"], &[&DAY[..], &["--force"], more].concat());
    let report = stdout(&joined(&[]).success());
    assert!(
        report.contains("3 rows are accelerators without a host"),
        "{report}"
    );
    assert!(
        report.contains("a9-unheard-1g among them: join them with --attach"),
        "{report}"
    );
    let attach = ["n1-standard-8+T4:2", "one=n1-standard-8+T4:1"].map(|host| ["--attach", host]);
    joined(attach.as_flattened()).success();
    let table = sandbox.read("prices.csv");
    for expected in [
        "gcp,n1-standard-8,r,r-a,on-demand,0.38,",
        "gcp,n1-standard-8+T4:2,r,r-a,on-demand,1.08,",
        "gcp,n1-standard-8+T4:2,r,r-a,spot,0.3,",
        "gcp,one,r,r-b,on-demand,0.73,",
    ] {
        assert!(table.contains(expected), "{expected}\n{table}");
    }
    // If one of the two has no spot market, both together have none.
    assert!(!table.contains("gcp,one,r,r-b,spot"), "{table}");
    assert!(!table.contains("a9-unheard"), "{table}");
    // Accelerators in the list of VM types are joined automatically.
    assert!(
        table.contains("gcp,a2-highgpu-1g,r,r-a,on-demand,3.7"),
        "{table}"
    );
    let told = stderr(&joined(&["--attach", "n1-standard-8+T4:4"]).code(2));
    assert!(
        told.contains("no zone has both `n1-standard-8` and 4 × `T4`"),
        "{told}"
    );
}

#[test]
fn mistakes_in_catalogues_are_all_told() {
    let sandbox = catalogue(
        "v8",
        "aws",
        &format!("{VMS}x,,,1,1,,abc,,r,z\ny,,,1,1,,1,-2,r,z\n"),
    );
    let told = |more: &[&str]| {
        let told = stderr(&import(&sandbox, &["v8"], more).code(2));
        assert!(!sandbox.path("prices.csv").exists());
        told
    };
    let others = ["--cloud", "aws", "--cloud", "gpc", "--attach", "n1"];
    let all = told(&[&DAY[..], &others].concat());
    for expected in [
        "v8/aws/vms.csv:2:10",
        "v8/aws/vms.csv:3:12",
        "there is no catalogue of `gpc`",
        "`n1` is no host",
    ] {
        assert!(all.contains(expected), "{expected}\n{all}");
    }
    assert!(told(&[]).contains("no day is given for v8"));
    assert!(told(&["--date", "yesterday"]).contains("`yesterday` is no day"));
    add(&sandbox, "v8", "aws", &format!("{VMS}x,,,1,1,,0,,r,z\n"));
    assert!(told(&DAY).contains("no price is left"));
    add(&sandbox, "v8", "aws", "a,b\n1,2\n");
    assert!(told(&DAY).contains("has no column InstanceType, Price, Region"));
}
