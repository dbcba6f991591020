//! Valid and refused tables.

use super::*;

const TIMES: &str = "gpu,tensor,micro_batch,layer,forward_s,backward_s,update_s\n\
    A,1,1,0,0.1,0.2,0.01\nA,1,1,1,0.3,0.6,0.01\nA,1,1,2,0.3,0.6,0.01\nA,1,1,2,0.5,0.6,0.01\n";
const MEMORY: &str = "tensor,layer,parameters,stored_bytes,output_bytes,all_reduces\n\
    1,0,10,100,40,1\n1,1,20,200,40,2\n1,2,20,200,40,2\n";

fn import(times: &str, memory: &str) -> Result<ImportedLayers, String> {
    let folder = tempfile::tempdir().expect("the temporary directory is writable");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path
    };
    let options = LayersOptions {
        times: write("times.csv", times),
        memory: write("memory.csv", memory),
        model: None,
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
    let imported = import(TIMES, MEMORY).expect("it is good");
    let expected = "gpu,tensor,micro_batch,first_layer,last_layer,forward_s,backward_s,update_s\n\
        A,1,1,0,0,0.1,0.2,0.01\nA,1,1,1,1,0.3,0.6,0.01\nA,1,1,2,2,0.4,0.6,0.01\n";
    assert_eq!(text(&imported, "times.csv"), expected);
    let expected = "tensor,first_layer,last_layer,parameters,stored_bytes,output_bytes,all_reduces\n\
        1,0,0,10,100,40,1\n1,1,2,20,200,40,2\n";
    assert_eq!(text(&imported, "layers.csv"), expected);
    let report = imported.report.to_string();
    for part in ["mine: 3 layers", "A, tensor degree 1: micro-batches 1\n"] {
        assert!(report.contains(part), "{report}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let times = |from, to| import(&TIMES.replace(from, to), MEMORY);
    let memory = |from, to| import(TIMES, &MEMORY.replace(from, to));
    for (expected, said) in [
        (
            "layer 1 is missing on A at tensor degree 1 and micro-batch 1\n --> times.csv:5",
            times("A,1,1,1,", "A,1,1,3,"),
        ),
        (
            "`forward_s`: expected a number between 0 and 1000000, found `x`\n --> times.csv:3",
            times("0.3,0.6", "x,0.6"),
        ),
        (
            "layer 1 appears twice at tensor degree 1\n --> memory.csv:4",
            memory("1,2,20", "1,1,20"),
        ),
        (
            "times.csv: 3 layers on A at tensor degree 1 and micro-batch 1, 2 elsewhere",
            memory("1,2,20,200,40,2\n", ""),
        ),
        ("missing column `update_s`", times("update_s", "step_s")),
    ] {
        let said = said.err().unwrap_or_else(|| panic!("taken: {expected}"));
        assert!(said.contains(expected), "expected {expected}\nin {said}");
    }
}
