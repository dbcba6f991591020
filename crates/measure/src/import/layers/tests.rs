//! Tables and JSON, and what is refused.

use super::*;

const TIMES: &str = "gpu,tensor,micro_batch,layer,forward_s,backward_s,update_s\n\
    A,1,1,0,0.1,0.2,0.01\nA,1,1,1,0.3,0.6,0.01\nA,1,1,2,0.3,0.6,0.01\nA,1,1,2,0.5,0.6,0.01\n";
const MEMORY: &str = "tensor,layer,parameters,stored_bytes,output_bytes,all_reduces\n\
    1,0,10,100,40,1\n1,1,20,200,40,2\n1,2,20,200,40,2\n";

const PROFILES: &str = r#"{"M": {"A": {"1": {"1": {"0": [0.1, 0.2, 0.01], "1": [0.3, 0.6, 0.01], "2": [0.3, 0.6, 0.01]},
  "2": {"0": [0.1, 0.2, 0.01], "1": [0.2, 0.4, 0.01], "2": [0.2, 0.4, 0.01]}}}}, "N": {}}"#;
const INFO: &str = r#"{"M": {
  "1": {"0": {"params_floats": 10, "act_mem_bytes": 100, "act_output_bytes": 40, "act_input_bytes": 1},
        "1": {"params_floats": 20, "act_mem_bytes": 200, "act_output_bytes": 40},
        "2": {"params_floats": 3, "act_mem_bytes": 7, "act_output_bytes": 8}},
  "2": {"0": {"params_floats": 6, "act_mem_bytes": 90, "act_output_bytes": 40},
        "1": {"params_floats": 10, "act_mem_bytes": 100, "act_output_bytes": 40},
        "2": {"params_floats": 3, "act_mem_bytes": 7, "act_output_bytes": 8}}}}"#;
const COEFFICIENTS: &str = r#"{"inter": {"A": {"8": [[-0.1, 1.25, 3], 9500000000.0], "1": [[-0.1, 1, 2], 5e9]}}, "intra": {"A": {"2": [[0, 1, 40], 1e11]}}}"#;

/// Imports these texts from files of these endings.
fn import(
    times: (&str, &str),
    memory: (&str, &str),
    links: Option<&str>,
    model: Option<&str>,
) -> Result<ImportedLayers, String> {
    let folder = tempfile::tempdir().expect("the temporary directory is writable");
    let write = |name: String, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path
    };
    let options = LayersOptions {
        times: write(format!("times.{}", times.0), times.1),
        memory: write(format!("memory.{}", memory.0), memory.1),
        links: links.map(|text| write("links.json".to_owned(), text)),
        model: model.map(str::to_owned),
        name: "mine".to_owned(),
        sequence: 128,
        hidden: 16,
        bytes_per_value: 4.0,
        optimizer_bytes: 8.0,
        source: None,
        licence: None,
    };
    let mut d = Diagnostics::default();
    let imported = read(&options, &mut d);
    assert_eq!(imported.is_some(), d.is_empty(), "{}", d.render(false));
    let root = format!("{}/", folder.path().display());
    imported.ok_or_else(|| d.render(false).replace(&root, ""))
}

fn text<'a>(imported: &'a ImportedLayers, name: &str) -> &'a str {
    let mut files = imported.files.iter().filter(|(n, _)| n == name);
    &files.next().expect("it is written").1
}

#[test]
fn a_table_becomes_a_profile_with_repeats_averaged_and_equal_layers_in_one_row() {
    let imported = import(("csv", TIMES), ("csv", MEMORY), None, None).expect("it is good");
    let expected = "gpu,tensor,micro_batch,first_layer,last_layer,forward_s,backward_s,update_s\n\
        A,1,1,0,0,0.1,0.2,0.01\nA,1,1,1,1,0.3,0.6,0.01\nA,1,1,2,2,0.4,0.6,0.01\n";
    assert_eq!(text(&imported, "times.csv"), expected);
    let expected = "tensor,first_layer,last_layer,parameters,stored_bytes,output_bytes,all_reduces\n\
        1,0,0,10,100,40,1\n1,1,2,20,200,40,2\n";
    assert_eq!(text(&imported, "layers.csv"), expected);
    let report = imported.report.to_string();
    assert!(
        report.contains("mine: 3 layers")
            && report.contains("A, tensor degree 1: micro-batches 1\n"),
        "{report}"
    );
}

#[test]
fn the_json_of_sailor_becomes_the_same() {
    let imported = import(
        ("json", PROFILES),
        ("json", INFO),
        Some(COEFFICIENTS),
        Some("M"),
    )
    .expect("it is good");
    assert!(text(&imported, "times.csv").ends_with("A,1,1,0,0,0.1,0.2,0.01\nA,1,1,1,2,0.3,0.6,0.01\nA,2,1,0,0,0.1,0.2,0.01\nA,2,1,1,2,0.2,0.4,0.01\n"));
    // An embedding that is cut adds up once, a layer twice, a head that each GPU holds never.
    assert!(
        text(&imported, "layers.csv")
            .contains("1,0,0,10,100,40,1\n1,1,1,20,200,40,2\n1,2,2,3,7,8,0\n")
    );
    let expected = "scope,gpu,gpus,a,b,c,cap_gb_per_s\nin-node,A,2,0,1,40,100\nbetween-nodes,A,1,-0.1,1,2,5\nbetween-nodes,A,8,-0.1,1.25,3,9.5\n";
    assert_eq!(text(&imported, "links.csv"), expected);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let csv = |times: &str, memory: &str| import(("csv", times), ("csv", memory), None, None);
    let json =
        |times: &str, memory: &str, model| import(("json", times), ("json", memory), None, model);
    for (said, expected) in [
        (
            csv(&TIMES.replace("A,1,1,1,", "A,1,1,3,"), MEMORY),
            "layer 1 is missing on A at tensor degree 1 and micro-batch 1\n --> times.csv:5",
        ),
        (
            csv(&TIMES.replace("0.3,0.6", "x,0.6"), MEMORY),
            "`forward_s`: expected a number between 0 and 1000000, found `x`\n --> times.csv:3",
        ),
        (
            csv(TIMES, &MEMORY.replace("1,2,20", "1,1,20")),
            "layer 1 stands twice at tensor degree 1\n --> memory.csv:4",
        ),
        (
            csv(TIMES, &MEMORY.replace("1,2,20,200,40,2\n", "")),
            "times.csv: 3 layers on A at tensor degree 1 and micro-batch 1, 2 elsewhere",
        ),
        (
            csv(&TIMES.replace("update_s", "step_s"), MEMORY),
            "missing column `update_s`",
        ),
        (
            json(PROFILES, INFO, None),
            "times.json: there are several models",
        ),
        (json(PROFILES, INFO, Some("m")), "times.json: no model `m`"),
        (json(PROFILES, INFO, Some("N")), "memory.json: no model `N`"),
        (
            json(
                &PROFILES.replace("\"1\": [0.3", "\"7\": [0.3"),
                INFO,
                Some("M"),
            ),
            "times.json: layer 1, 3, 4, 5, 6 is missing on A at tensor degree 1 and micro-batch 1",
        ),
        (
            json(
                &PROFILES.replace("\"1\": [0.3", "\"one\": [0.3"),
                INFO,
                Some("M"),
            ),
            "times.json: layer `one`",
        ),
        (
            json(
                &PROFILES.replace("[0.3, 0.6, 0.01], \"2\"", "[0.3, -0.6, 0.01], \"2\""),
                INFO,
                Some("M"),
            ),
            "times.json: -0.6 s on A",
        ),
        (
            json(
                PROFILES,
                &INFO.replace("\"params_floats\": 20", "\"params_floats\": -20"),
                Some("M"),
            ),
            "this is not the JSON of Sailor\n --> memory.json:3",
        ),
        (
            json("{", INFO, Some("M")),
            "this is not the JSON of Sailor\n --> times.json:1",
        ),
        (
            json("{\"M\": {}}", INFO, Some("M")),
            "times.json: there are no layers in it",
        ),
    ] {
        let said = said.err().unwrap_or_else(|| panic!("taken: {expected}"));
        assert!(said.contains(expected), "expected {expected}\nin {said}");
    }
}
