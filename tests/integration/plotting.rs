//! The command `plot`, and `run --plot`: drawn figures, their files, and impossible ones.

use std::fs;

use crate::figures::paper;
use crate::sandbox::{Sandbox, repository, repository_file, stderr, stdout};

#[test]
fn records_alone_show_what_was_chosen_and_say_what_they_lack() {
    let sandbox = paper();
    let assert = sandbox.run(&["plot", "out", "--form", "svg"]).success();
    let said = stderr(&assert);
    for lacks in [
        "`errors`: records hold no prediction",
        "`policies`: records hold chosen configurations",
    ] {
        assert!(said.contains(lacks), "{said}");
    }
    assert!(stdout(&assert).contains("cost-over-time-paper-fixed-time.svg"));
    let svg = sandbox.read("out/figures/cost-over-time-paper-fixed-time.svg");
    assert!(svg.contains("configurations that somebody chose"), "{svg}");
}

#[test]
fn a_run_draws_itself() {
    let sandbox = Sandbox::with("name = \"one\"\nworkloads = [\"scavenger-resnet18\"]\n");
    let assert = sandbox.run(&["run", "scenario.toml", "--out", "out", "--plot", "--report"]);
    let assert = assert.success();
    assert!(
        stderr(&assert).contains("report.html"),
        "{}",
        stderr(&assert)
    );
    assert!(sandbox.files("out").contains(&"report.html".to_owned()));
    assert!(sandbox.files("out/figures").len() >= 12);
    // It draws nothing without a folder.
    sandbox.run(&["run", "scenario.toml", "--plot"]).code(2);
}

/// Options of the run also apply to the figure.
#[test]
fn keys_of_the_command_line_belong_to_the_scenario_of_a_figure() {
    let sandbox = Sandbox::with(
        "name = \"some\"\nworkloads = [\"scavenger-resnet18\"]\nreplicas = 2\n\
         search = { strategies = [\"oracle\"], objectives = [\"time\"] }\n",
    );
    let set = ["-s", "cluster.workers=[8,12]"];
    let run = ["run", "scenario.toml", "--out", "out"];
    sandbox.run(&[&run[..], &set].concat()).success();
    let plot = ["plot", "out", "--kind", "cost-over-time", "--form", "svg"];
    let scenario = ["--scenario", "scenario.toml"];
    sandbox
        .run(&[&plot[..], &scenario, &set].concat())
        .success();
    sandbox
        .run(&[&["report", "out"], &scenario[..], &set].concat())
        .success();
    let said = stderr(&sandbox.run(&[&plot[..], &scenario].concat()).code(2));
    assert!(
        said.contains("a run with `-s KEY=VALUE` needs the same here"),
        "{said}"
    );
    let said = stderr(&sandbox.run(&[&plot[..], &set].concat()).code(2));
    assert!(said.contains("name it with `--scenario FILE`"), "{said}");
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_is_written() {
    let sandbox = paper();
    let foreign = repository_file("scenarios/scavenger.toml");
    sandbox.write("foreign.toml", &foreign);
    fs::create_dir(sandbox.path("empty")).expect("writable");
    sandbox.write("file", "");
    let unfinished = sandbox.contents("out");
    sandbox.left_by_a_kill("unfinished", &unfinished, &unfinished["records.csv"][..100]);
    fs::create_dir(sandbox.path("damaged")).expect("writable");
    for (name, bytes) in &unfinished {
        fs::write(sandbox.path("damaged").join(name), bytes).expect("writable");
    }
    let rows = sandbox.read("damaged/records.csv");
    sandbox.write("damaged/records.csv", &rows.replacen(",0.", ",1.", 1));
    let cases: [(&[&str], &str); 8] = [
        (&["empty"], "there is no run in empty"),
        (&["missing"], "there is no run in missing"),
        (&["unfinished"], "the run in unfinished is not finished"),
        (&["damaged"], "damaged/records.csv"),
        (
            &["out", "--scenario", "foreign.toml"],
            "is not what the run was made from",
        ),
        (
            &["out", "--pricing", "paper-fixd"],
            "it has no pricing policy `paper-fixd`, but `paper-fixed`",
        ),
        (&["out", "--workload", "mine"], "it has no workload `mine`"),
        (
            &["out", "--out", "file/figures"],
            "cannot write to file/figures",
        ),
    ];
    for (arguments, said) in cases {
        for command in ["plot", "report"] {
            if command == "report"
                && (arguments.contains(&"--pricing") || arguments.contains(&"--workload"))
            {
                continue;
            }
            let kind: &[&str] = if command == "plot" {
                &["--kind", "cost-over-time"]
            } else {
                &[]
            };
            let assert = sandbox.run(&[&[command], arguments, kind].concat()).code(2);
            let text = stderr(&assert);
            let said = if command == "report" {
                said.replace("file/figures", "file")
            } else {
                said.to_owned()
            };
            assert!(text.contains(&said), "{command} {arguments:?}: {text}");
        }
    }
    for folder in ["empty", "unfinished", "damaged", "out"] {
        let files = sandbox.files(folder);
        let drawn = |file: &String| file.contains("figures") || file.ends_with(".html");
        assert!(!files.iter().any(drawn), "{files:?}");
    }
    let assert = sandbox.run(&["plot", "out", "--kind", "policies"]).code(2);
    assert!(stderr(&assert).contains("name the scenario with `--scenario FILE`"));
    assert!(!sandbox.files("out").contains(&"figures".to_owned()));
}

/// Every figure of the documents is drawn by the commands next to it.
#[test]
fn the_figures_of_the_documents_are_drawn_by_their_commands() {
    let page = repository_file("docs/figures.md");
    let sandbox = Sandbox::new();
    let mut commands = 0;
    for command in page
        .lines()
        .filter_map(|line| line.strip_prefix("scavsim "))
    {
        let absolute = |word: &str| {
            if word.starts_with("scenarios/") || word.starts_with("data/") {
                repository().join(word).display().to_string()
            } else {
                word.to_owned()
            }
        };
        let words: Vec<String> = command.split(' ').map(absolute).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = sandbox.run(&words);
        // Some searches of a measured grid find nothing.
        let code = run.get_output().status.code();
        assert!(matches!(code, Some(0 | 3)), "{command}: {}", stderr(&run));
        commands += 1;
    }
    assert!(commands >= 8, "{commands}");
    let shown = repository().join("docs/figures");
    let drawn = sandbox.path("docs/figures");
    let renew = std::env::var_os("SCAVSIM_RENEW").is_some();
    for folder in ["clusters-and-prices", "paper", "scavenger", "scout", "spot"] {
        let (shown, drawn) = (shown.join(folder), drawn.join(folder));
        if renew {
            // Figures that are no longer drawn are removed.
            let _ = fs::remove_dir_all(&shown);
            fs::create_dir_all(&shown).expect("writable");
        }
        let names = |folder: &std::path::Path| -> Vec<String> {
            let files = fs::read_dir(folder).into_iter().flatten();
            let names = files.map(|file| file.expect("readable").file_name());
            let mut names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        for name in names(&drawn) {
            let right = fs::read(drawn.join(&name)).expect("readable");
            if renew {
                fs::write(shown.join(&name), &right).expect("writable");
            }
            let there = fs::read(shown.join(&name)).unwrap_or_default();
            assert!(
                there == right,
                "docs/figures/{folder}/{name} is not what is drawn"
            );
            let others = ["README.md", "docs/gallery.md"].map(repository_file);
            let link = format!("figures/{folder}/{name}");
            assert!(
                page.contains(&link) || others.iter().any(|text| text.contains(&link)),
                "{link} is shown nowhere"
            );
        }
        assert_eq!(names(&shown), names(&drawn));
    }
}
