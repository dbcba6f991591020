//! Figures of results: they show run and published values, and impossible ones are reported.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Rows, Sandbox, repository, repository_file, stderr, stdout};

/// The paper's scenario, run into `out`.
pub fn paper() -> Sandbox {
    let sandbox = Sandbox::with(&repository_file("data/papers/scavenger/scenario.toml"));
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    sandbox
}

/// Draws one kind of the paper's figures: its specification.
fn spec(sandbox: &Sandbox, kind: &str, more: &[&str]) -> Value {
    let plot = [
        "plot",
        "out",
        "--scenario",
        "scenario.toml",
        "--kind",
        kind,
        "--form",
        "vega",
    ];
    let printed = stdout(&sandbox.run(&[&plot, more].concat()).success());
    let file = printed.trim();
    serde_json::from_str(&sandbox.read(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The values of the layers with this mark, panel by panel.
fn values<'s>(spec: &'s Value, panel: usize, mark: &str) -> Vec<&'s Value> {
    let layers = spec["concat"][panel]["layer"]
        .as_array()
        .expect("panels have layers");
    let own = layers.iter().filter(|layer| layer["mark"]["type"] == mark);
    own.flat_map(|layer| layer["data"]["values"].as_array().expect("data"))
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The published figures of one quantity: workload, workers, batch, value.
fn published(figure: &str, quantity: &str) -> Vec<(String, String, f64)> {
    let rows = Rows::parse(&repository_file("data/papers/scavenger/figures.csv"));
    let own =
        (rows.iter()).filter(|r| r.text("figure") == figure && r.text("quantity") == quantity);
    own.map(|row| {
        let of = |key: &str| {
            let words = row
                .text("of")
                .split(' ')
                .filter_map(|word| word.split_once('='));
            words
                .filter(|(k, _)| *k == key)
                .map(|(_, v)| v)
                .collect::<String>()
        };
        let at = format!("{} × {}", of("workers"), of("batch"));
        (of("workload"), at, row.number("value"))
    })
    .collect()
}

const WORKLOADS: [&str; 3] = [
    "scavenger-resnet18",
    "scavenger-resnet50",
    "scavenger-transformer",
];

#[test]
fn figure_10_of_the_paper_is_rebuilt_point_by_point() {
    let sandbox = paper();
    let spec = spec(&sandbox, "cost-over-time", &[]);
    let mut seen = 0;
    for (axis, quantity) in [("x", "time_to_target"), ("y", "cost_to_target")] {
        for (workload, at, value) in published("figure 10", quantity) {
            let panel = WORKLOADS
                .iter()
                .position(|w| *w == workload)
                .expect("known");
            assert_eq!(spec["concat"][panel]["title"], workload);
            let point = values(&spec, panel, "point")
                .into_iter()
                .find(|p| p["name"] == *at);
            let drawn = number(&point.unwrap_or_else(|| panic!("{workload} {at}"))[axis]);
            assert!(
                (drawn / value - 1.0).abs() < 0.006,
                "{workload} {at}: {drawn} {value}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 96);
}

#[test]
fn figure_12_of_the_paper_has_the_cheapest_of_all_at_many_workers() {
    let sandbox = paper();
    let more = [
        "--pricing",
        "paper-memory",
        "--lines",
        "workers",
        "--objective",
        "cost",
    ];
    let spec = spec(&sandbox, "cost-over-time", &more);
    for (panel, workload) in WORKLOADS.iter().enumerate() {
        let mut all = values(&spec, panel, "point");
        all.retain(|point| {
            point["name"]
                .as_str()
                .is_some_and(|name| name.contains(" × "))
        });
        all.sort_by(|a, b| number(&a["y"]).total_cmp(&number(&b["y"])));
        let least = match *workload {
            "scavenger-transformer" => "20 × 512",
            _ => "20 × 384",
        };
        assert_eq!(all[0]["name"], least, "{workload}");
    }
}

#[test]
fn figures_9_3_and_5_are_what_was_measured() {
    let sandbox = paper();
    let noise = spec(&sandbox, "noise", &[]);
    let steps = spec(&sandbox, "steps", &[]);
    let throughput = spec(&sandbox, "throughput", &[]);
    for (panel, workload) in WORKLOADS.iter().enumerate() {
        let folder = format!("data/workloads/{workload}");
        let rows = |file: &str| -> Vec<Vec<String>> {
            let text = repository_file(&format!("{folder}/{file}"));
            let rows = text.lines().skip(1);
            rows.map(|row| row.split(',').map(str::to_owned).collect())
                .collect()
        };
        let drawn = values(&noise, panel, "point");
        for row in rows("noise.csv") {
            let [batch, value] = [1, 2].map(|at| row[at].parse::<f64>().expect("a number"));
            let name = format!("{} × {}", row[0], row[1]);
            let point = drawn.iter().find(|p| p["name"] == *name).expect("drawn");
            assert_eq!(number(&point["x"]), 1.0 / batch.sqrt());
            assert_eq!(number(&point["y"]), value);
        }
        // The line that the paper draws through the averages.
        for (of, _, _) in published("figure 9", "noise_line_slope") {
            assert!(WORKLOADS.contains(&&*of));
        }
        let (bars, points) = (
            values(&steps, panel, "rect"),
            values(&throughput, panel, "point"),
        );
        for row in rows("steps.csv") {
            let [batch, step] = [2, 3].map(|at| row[at].parse::<f64>().expect("a number"));
            let name = format!("{} × {}", row[1], row[2]);
            let own: Vec<_> = bars.iter().filter(|bar| bar["name"] == *name).collect();
            let top = own.iter().map(|bar| number(&bar["y2"])).fold(0.0, f64::max);
            assert!((top - step).abs() < 1e-9, "{workload} {name}: {top} {step}");
            if let Ok(communication) = row[4].parse::<f64>() {
                let last = own
                    .iter()
                    .max_by(|a, b| number(&a["y2"]).total_cmp(&number(&b["y2"])));
                let part = last
                    .map(|bar| number(&bar["y2"]) - number(&bar["y"]))
                    .expect("drawn");
                assert!((part - communication).abs() < 1e-9, "{workload} {name}");
            }
            let point = points.iter().find(|p| p["name"] == *name).expect("drawn");
            assert!((number(&point["y"]) - batch / step).abs() < 1e-9);
        }
    }
}

#[test]
fn figure_11_has_the_errors_that_reproduce_tells() {
    let sandbox = paper();
    let errors = spec(&sandbox, "errors", &[]);
    sandbox.write("paper.toml", "scenario = 'scenario.toml'");
    let mut figures =
        "figure,of,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n".to_owned();
    for workload in WORKLOADS {
        for strategy in ["full", "partial", "no-search"] {
            for workers in [8, 12, 16] {
                figures += &format!(
                    "figure 11,{workload} {strategy} {workers},100 * mean(abs(predicted_time_h / training_time_h - 1) in \
                     main.predictions where workload={workload} strategy={strategy} workers={workers}),0,%,100,absolute,figure,prediction\n"
                );
            }
        }
    }
    sandbox.write("figures.csv", &figures);
    let reproduced = stdout(&sandbox.run(&["reproduce", ".", "--format", "json"]));
    let papers: Value = serde_json::from_str(&reproduced).expect("JSON");
    let rows = papers[0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 27);
    for row in rows {
        let words: Vec<&str> = row["selector"]
            .as_str()
            .expect("words")
            .split(' ')
            .collect();
        let panel = WORKLOADS
            .iter()
            .position(|w| *w == words[0])
            .expect("known");
        let name = format!("{}, {}", words[1], words[2]);
        let means = values(&errors, panel, "point");
        let drawn = means
            .iter()
            .find(|point| point["name"] == *name)
            .expect("drawn");
        let (drawn, ours) = (number(&drawn["y"]), number(&row["simulated"]));
        assert!((drawn - ours).abs() < 1e-3, "{words:?}: {drawn} {ours}");
    }
}

/// All pairs of these two attributes of an element, in order.
fn pairs(svg: &str, element: &str, names: [&str; 2]) -> Vec<[f64; 2]> {
    let of = |tag: &str, name: &str| -> f64 {
        let rest = tag.split_once(&format!(" {name}=\"")).expect("it has it").1;
        rest.split_once('"')
            .expect("it ends")
            .0
            .parse()
            .expect("a number")
    };
    let begin = format!("<{element} ");
    let tags = svg.split(&begin).skip(1);
    tags.map(|tag| names.map(|name| of(&format!(" {tag}"), name)))
        .collect()
}

#[test]
fn marks_are_drawn_where_the_data_are() {
    let sandbox = paper();
    let noise = spec(&sandbox, "noise", &[]);
    sandbox
        .run(&["plot", "out", "--kind", "noise", "--form", "svg,png"])
        .success();
    let svg = sandbox.read("out/figures/noise.svg");
    let circles = pairs(&svg, "circle", ["cx", "cy"]);
    for panel in 0..3 {
        // The marks of the first worker count are circles.
        let data: Vec<[f64; 2]> = (values(&noise, panel, "point").into_iter())
            .filter(|point| {
                point["name"]
                    .as_str()
                    .is_some_and(|name| name.starts_with("8 ×"))
            })
            .map(|point| [number(&point["x"]), number(&point["y"])])
            .collect();
        assert_eq!(data.len(), 4);
        let drawn = &circles[4 * panel..4 * panel + 4];
        for axis in 0..2 {
            let (first, last) = (0, 3);
            let per =
                (drawn[last][axis] - drawn[first][axis]) / (data[last][axis] - data[first][axis]);
            for (drawn, data) in drawn.iter().zip(&data) {
                let there =
                    circles[4 * panel][axis] + per * (data[axis] - values_at(&noise, panel)[axis]);
                assert!(
                    (drawn[axis] - there).abs() < 0.05,
                    "{panel} {axis}: {drawn:?} {there}"
                );
            }
        }
    }
    // It has text for readers who cannot see it, and no version.
    assert!(
        svg.contains("role=\"img\"") && svg.contains("<desc>Normalised noise over"),
        "{svg}"
    );
    assert!(!svg.contains("<!--"), "{svg}");
    let png = fs::read(sandbox.path("out/figures/noise.png")).expect("it is written");
    assert!(
        png.starts_with(b"\x89PNG") && png.len() > 10_000,
        "{}",
        png.len()
    );
}

fn values_at(spec: &Value, panel: usize) -> [f64; 2] {
    let points = values(spec, panel, "point");
    let first = points
        .iter()
        .find(|p| p["name"].as_str().is_some_and(|n| n.starts_with("8 ×")));
    let first = first.expect("drawn");
    [number(&first["x"]), number(&first["y"])]
}

#[test]
fn the_same_run_gives_the_same_bytes_and_every_kind_names_units_and_words() {
    let sandbox = paper();
    let plot = [
        "plot",
        "out",
        "--scenario",
        "scenario.toml",
        "--kind",
        "all",
        "--out",
    ];
    for out in ["a", "b"] {
        sandbox.run(&[&plot[..], &[out]].concat()).success();
    }
    assert_eq!(sandbox.contents("a"), sandbox.contents("b"));
    // Nor does it matter what else is drawn.
    sandbox
        .run(&[
            "plot", "out", "--kind", "noise", "--form", "svg", "--out", "c",
        ])
        .success();
    assert_eq!(
        sandbox.contents("c")["noise.svg"],
        sandbox.contents("a")["noise.svg"]
    );
    assert_eq!(sandbox.files("a").len(), 3 * 11, "{:?}", sandbox.files("a"));
    for file in sandbox
        .files("a")
        .iter()
        .filter(|file| file.ends_with(".vl.json"))
    {
        let spec: Value = serde_json::from_str(&sandbox.read(&format!("a/{file}"))).expect("JSON");
        assert!(
            spec["description"]
                .as_str()
                .is_some_and(|words| words.len() > 40),
            "{file}"
        );
        // Layers share a scale of colours: each label has the colour that is drawn.
        let mut scales: Vec<&Value> = Vec::new();
        for panel in spec["concat"].as_array().expect("panels") {
            for layer in panel["layer"].as_array().expect("layers") {
                let colour = &layer["encoding"]["color"];
                if let Some(label) = colour["datum"].as_str() {
                    let scale = &colour["scale"];
                    let labels = scale["domain"].as_array().expect("labels");
                    let at = labels.iter().position(|own| own == label).expect(label);
                    if layer["mark"]["type"] != "rect" {
                        assert_eq!(
                            layer["mark"]["color"], scale["range"][at],
                            "{file}: {label}"
                        );
                    }
                    scales.push(scale);
                }
                for axis in ["x", "y"] {
                    let channel = &layer["encoding"][axis];
                    let title = channel["title"].as_str().expect("a title");
                    let is_named = channel["axis"]["labelExpr"].is_string();
                    assert!(is_named || title.ends_with(')'), "{file}: {title}");
                }
            }
        }
        assert!(scales.windows(2).all(|two| two[0] == two[1]), "{file}");
    }
}

#[test]
fn the_life_of_a_job_is_drawn_from_its_trace() {
    let sandbox = Sandbox::new();
    let scenario = repository().join("scenarios/spot.toml");
    let scenario = scenario.to_str().expect("UTF-8");
    let trace = [
        "trace",
        scenario,
        "--case",
        "300",
        "--max-events",
        "0",
        "--out",
        "trace",
    ];
    sandbox.run(&trace).success();
    let events = "trace/spot-case-300.events.jsonl";
    let assert = sandbox.run(&["plot", events, "--form", "vega"]).success();
    assert_eq!(stdout(&assert), "trace/spot-case-300.vl.json\n");
    let spec: Value =
        serde_json::from_str(&sandbox.read("trace/spot-case-300.vl.json")).expect("JSON");
    let text = sandbox.read(events);
    let lost = text
        .lines()
        .filter(|line| line.contains("\"name\":\"revoked\""))
        .count();
    assert_eq!(values(&spec, 0, "point").len(), lost);
    let runs = text
        .lines()
        .filter(|line| line.contains("\"name\":\"running\""))
        .count();
    let spans = values(&spec, 0, "rect");
    assert_eq!(
        spans
            .iter()
            .filter(|span| span["name"] == "running")
            .count(),
        runs
    );
    // An invalid line, a file that is no trace, a kind of figure for runs.
    sandbox.write(
        "wrong.jsonl",
        &text
            .lines()
            .take(3)
            .chain(["{\"at_s\":1}"])
            .collect::<Vec<_>>()
            .join("\n"),
    );
    for (arguments, said) in [
        (
            &["plot", "wrong.jsonl"][..],
            "wrong.jsonl: line 4 is no entry of a trace",
        ),
        (
            &["plot", events, "--kind", "noise"],
            "is one job: `--kind` is for the folder of a run",
        ),
    ] {
        let assert = sandbox.run(arguments).code(2);
        assert!(stderr(&assert).contains(said), "{}", stderr(&assert));
    }
    sandbox.write("empty.jsonl", "");
    let assert = sandbox.run(&["plot", "empty.jsonl"]).code(2);
    assert!(
        stderr(&assert).contains("empty.jsonl holds no job"),
        "{}",
        stderr(&assert)
    );
}
