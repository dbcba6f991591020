//! Options of the command line, and a first scenario.

use crate::sandbox::{Sandbox, repository, stderr, stdout};
use crate::widths::printed;

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
    // Editors find the schema next to it, by its first line.
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

#[test]
fn advise_of_a_scenario_names_the_commands_for_it() {
    let sandbox = Sandbox::new();
    sandbox.run(&["new", "mine"]).success();
    for more in [&[][..], &["--samples-per-epoch", "1000"]] {
        let arguments = [&["advise", "mine.toml"], more].concat();
        let text = stderr(&sandbox.run(&arguments).code(2));
        for command in ["`scavsim rank mine.toml`", "`scavsim run mine.toml`"] {
            assert!(text.contains(command), "{text}");
        }
    }
    let of_model = ["advise", "--model", "llama-3-8b", "--runtime", "own.toml"];
    let text = stderr(&sandbox.run(&of_model).code(2));
    assert!(!text.contains("is a scenario"), "{text}");
}
