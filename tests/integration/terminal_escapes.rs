//! Texts from files, programs and names of files have no effect on a terminal.

use assert_cmd::assert::OutputAssertExt;

use crate::sandbox::Sandbox;

/// Hides all later text.
const CONCEAL: &str = "\u{1b}[8m";

/// The escape in a string of TOML or JSON.
const WRITTEN: &str = "\\u001b[8m";

/// The exit of a command in a sandbox whose user has packs in `data`; its output conceals nothing.
#[track_caller]
fn ends(sandbox: &Sandbox, arguments: &[&str], code: i32) -> String {
    let mut command = sandbox.scavsim();
    command.env_remove("SCAVSIM_PRICES");
    command.env("SCAVSIM_DATA_DIR", sandbox.path("data"));
    let assert = command.args(arguments).args(["--color", "always"]).assert();
    let output = assert.get_output();
    let all = [&output.stdout[..], &output.stderr].concat();
    let all = String::from_utf8(all).expect("output is UTF-8");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
    assert!(!all.contains(CONCEAL), "{arguments:?}: {all:?}");
    all
}

#[test]
fn no_price_pack_commands_the_terminal() {
    let head = "provider,vm,region,market,usd_per_hour,valid_from,source\n";
    let row = [
        "aws",
        "g5.xlarge",
        "us-east-1",
        "on-demand",
        "1.5",
        "2026-07-01",
        "mine",
    ];
    for wrong in [0, 1, 2, 6] {
        let sandbox = Sandbox::new();
        let mut row = row.map(str::to_owned);
        row[wrong] += CONCEAL;
        sandbox.write("p.csv", &format!("{head}{}\n", row.join(",")));
        let update = ["prices", "update", "p.csv", "--name", "p"];
        let told = ends(&sandbox, &update, 2);
        assert!(
            told.contains("expected a text without control characters"),
            "{told}"
        );
        assert!(told.contains("p.csv:2:"), "{told}");
    }
}

#[test]
fn no_market_commands_the_terminal() {
    let sandbox = Sandbox::new();
    let market = |name: &str, zone: &str| {
        sandbox.write(
            "m/market.toml",
            &format!("name = \"{name}\"\ntick_s = 600\nticks = 60\n"),
        );
        let zones = format!("zone,region,on_demand_usd_per_h\n{zone},r,3\n");
        sandbox.write("m/zones.csv", &zones);
        sandbox.write(
            "m/availability.csv",
            &format!("zone,second,machines\n{zone},0,1\n"),
        );
        sandbox.write(
            "m/prices.csv",
            &format!("zone,second,spot_usd_per_h\n{zone},0,1\n"),
        );
    };
    let scenario = "job = { work_h = 1, deadline_h = 4 }\nmarket.traces = \"m\"\n\
        starts.at_s = [0]\npolicy.names = [\"greedy\"]\n";
    sandbox.write("p.toml", scenario);
    market("two zones", "z");
    assert!(ends(&sandbox, &["run", "p.toml", "--dry-run"], 0).contains("two zones"));
    market(WRITTEN, "z");
    let told = ends(&sandbox, &["run", "p.toml"], 2);
    assert!(told.contains("m/market.toml:1:8"), "{told}");
    market("m", CONCEAL);
    ends(&sandbox, &["run", "p.toml"], 2);
    market("m", "z");
    sandbox.write("p.toml", &format!("name = \"{WRITTEN}\"\n{scenario}"));
    ends(&sandbox, &["run", "p.toml", "--dry-run"], 2);
    sandbox.write("p.toml", &format!("name = \"../p\"\n{scenario}"));
    assert!(ends(&sandbox, &["check", "p.toml"], 2).contains("has no `/`"));
}

#[test]
fn no_configuration_of_a_model_commands_the_terminal() {
    let sandbox = Sandbox::new();
    for config in [
        format!("{{\"model_type\": \"{WRITTEN}\"}}"),
        format!("{{\"{WRITTEN}\": 1}}"),
        format!("{{\"a\": [{{\"b\": \"{WRITTEN}\"}}]}}"),
    ] {
        sandbox.write("config.json", &config);
        let import = ["import", "model", "config.json", "--out", "m.toml"];
        let told = ends(&sandbox, &import, 2);
        assert!(told.contains("characters that are not seen"), "{told}");
    }
}

/// The shell's form of a name is printed, too.
#[cfg(unix)]
#[test]
fn no_name_of_a_file_commands_the_terminal() {
    let sandbox = Sandbox::new();
    let told = ends(&sandbox, &["bench", "export", CONCEAL], 0);
    assert!(told.contains("\\u{1b}[8m: "), "{told}");
    ends(&sandbox, &["new", CONCEAL], 2);
    let paper = format!("{CONCEAL}/paper.toml");
    sandbox.write(&paper, "citation = 'x'\n");
    sandbox.write(
        &format!("{CONCEAL}/figures.csv"),
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n\
         a,1,1,h,0.1,relative,figure,data\n",
    );
    ends(&sandbox, &["reproduce", CONCEAL], 0);
}
