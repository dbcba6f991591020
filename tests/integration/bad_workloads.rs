//! Workload folders that are damaged, refused as in [`bad_input`](crate::bad_input).

use std::fs;

use insta::assert_snapshot;

use crate::bad_input::{refused, refused_workload};

#[test]
fn a_workload_folder_that_does_not_exist() {
    assert_snapshot!(refused("workloads = [\"./nowhere\"]\n"));
}

#[test]
fn a_workload_folder_without_its_epochs() {
    assert_snapshot!(refused_workload(|sandbox| {
        fs::remove_file(sandbox.path("mine/epochs.csv")).expect("it is there");
    }));
}

#[test]
fn a_table_without_a_column() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/epochs.csv",
        "workers,batch,epochs,",
        "workers,batch,passes,",
    )));
}

#[test]
fn text_where_a_number_belongs_in_a_table() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/steps.csv",
        "8,768,2.8142,",
        "8,768,2.8142 s,",
    )));
}

#[test]
fn a_figure_that_is_not_a_number_in_a_table() {
    assert_snapshot!(refused_workload(|sandbox| {
        sandbox.edit("mine/noise.csv", "8,384,0.7868,", "8,384,NaN,");
        sandbox.edit("mine/epochs.csv", "8,384,230.4,", "8,384,inf,");
    }));
}

#[test]
fn the_same_point_twice_in_a_table() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/epochs.csv",
        "8,512,197.29",
        "8,384,197.29",
    )));
}

#[test]
fn a_row_with_a_cell_too_many() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/epochs.csv",
        "8,512,197.29,figure",
        "8,512,197.29,,figure",
    )));
}

#[test]
fn a_table_without_rows() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.write(
        "mine/steps.csv",
        "vm,workers,batch,step_s,communication_s,origin,source\n",
    )));
}

#[test]
fn steps_that_cannot_be_split() {
    assert_snapshot!(refused_workload(|sandbox| {
        for (row, communication) in [
            ("0.8692,", "0.376"),
            ("1.1959,", "0.397"),
            ("1.5434,", "0.493"),
            ("2.0363,", "0.620"),
        ] {
            sandbox.edit("mine/steps.csv", &format!("{row}{communication}"), row);
        }
    }));
}

#[test]
fn a_workload_constant_below_its_least() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/workload.toml",
        "{ value = 20,",
        "{ value = 0,",
    )));
}

#[test]
fn a_workload_table_that_is_not_toml() {
    assert_snapshot!(refused_workload(|sandbox| sandbox.edit(
        "mine/workload.toml",
        "model = \"ResNet18\"",
        "model = ResNet18",
    )));
}
