//! Records are equal in every format.

use serde_json::Value;

use crate::sandbox::{Rows, Sandbox, repository_file, stderr};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with(&repository_file("scenarios/scavenger.toml"));
    let limits = "[limits]\nmax_cost_usd = 30\n";
    sandbox.write("scenario.toml", &(sandbox.read("scenario.toml") + limits));
    sandbox
}

fn run(sandbox: &Sandbox, records: &str, more: &[&str]) {
    let arguments = ["run", "scenario.toml", "--out", "out", "--records", records];
    sandbox.run(&[&arguments[..], more].concat()).code(3);
}

/// A cell of the CSV file as JSON would have it.
fn assert_same_cell(value: &Value, cell: &str, column: &str) {
    match value {
        Value::Null => assert_eq!(cell, "", "{column}"),
        Value::String(text) => assert_eq!(cell, text, "{column}"),
        Value::Number(number) => {
            let seen: f64 = cell.parse().unwrap_or(f64::NAN);
            assert_eq!(
                number.as_f64().map(f64::to_bits),
                Some(seen.to_bits()),
                "{column}"
            );
        }
        other => panic!("{column}: {other}"),
    }
}

#[test]
fn json_lines_hold_what_the_table_holds() {
    let sandbox = sandbox();
    run(&sandbox, "csv,jsonl", &["--replicas", "3"]);
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    let text = sandbox.read("out/records.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.into_iter().zip(rows.iter()) {
        let object: serde_json::Map<String, Value> =
            serde_json::from_str(line).expect("every line is an object");
        assert!(rows.header.iter().all(|column| object.contains_key(column)));
        for (column, value) in &object {
            assert_same_cell(value, row.text(column), column);
        }
    }
}

#[test]
fn only_the_forms_asked_for_are_left() {
    let sandbox = sandbox();
    run(&sandbox, "csv", &["--replicas", "1"]);
    run(&sandbox, "jsonl", &["--replicas", "1"]);
    let names = [
        "failures.csv",
        "manifest.json",
        "records.jsonl",
        "summary.csv",
    ];
    assert_eq!(sandbox.files("out"), names);
}

#[test]
fn an_unknown_form_is_refused_and_so_is_one_without_a_folder() {
    let sandbox = sandbox();
    let wrong = ["run", "scenario.toml", "--out", "out", "--records", "xlsx"];
    let assert = sandbox.run(&wrong).code(2);
    assert!(stderr(&assert).contains("[possible values: csv, jsonl"));
    let assert = sandbox
        .run(&["run", "scenario.toml", "--records", "jsonl"])
        .code(2);
    assert!(
        stderr(&assert).contains("--out <DIR>"),
        "{}",
        stderr(&assert)
    );
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::fs::{self, File};

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
    use arrow_array::{Array, ArrayRef};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    fn value(column: &ArrayRef, row: usize) -> Value {
        if column.is_null(row) {
            return Value::Null;
        }
        match column.data_type() {
            DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
            DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
            DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
            _ => column.as_string::<i32>().value(row).into(),
        }
    }

    #[test]
    fn parquet_holds_what_the_table_holds_in_groups_that_end_with_tasks() {
        let sandbox = sandbox();
        run(&sandbox, "csv,parquet", &["--replicas", "300"]);
        let rows = Rows::parse(&sandbox.read("out/records.csv"));
        let file = File::open(sandbox.path("out/records.parquet")).expect("it was written");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("it is Parquet");
        let groups: Vec<i64> = (reader.metadata().row_groups().iter())
            .map(|group| group.num_rows())
            .collect();
        // The first group ends with the task in which it is full.
        let manifest: serde_json::Value =
            serde_json::from_str(&sandbox.read("out/manifest.json")).expect("it is JSON");
        let task = manifest["cases_per_task"].as_i64().expect("a number");
        assert!(
            groups[0] >= 16_384 && groups[0] < 16_384 + task,
            "{groups:?}"
        );
        assert_eq!((groups.iter().sum::<i64>(), groups.len()), (27_000, 2));
        let mut table = rows.iter();
        for batch in reader.build().expect("it is Parquet") {
            let batch = batch.expect("it is whole");
            let names: Vec<String> = batch
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().clone())
                .collect();
            assert!(rows.header.iter().all(|column| names.contains(column)));
            for index in 0..batch.num_rows() {
                let row = table.next().expect("there are as many rows");
                for (name, column) in names.iter().zip(batch.columns()) {
                    // An empty text is empty in the table, too.
                    assert_same_cell(&value(column, index), row.text(name), name);
                }
            }
        }
        assert!(table.next().is_none());
    }

    #[test]
    fn parquet_has_the_same_bytes_for_any_number_of_threads() {
        let sandbox = sandbox();
        let bytes = |jobs: &str| {
            run(&sandbox, "parquet", &["--replicas", "30", "--jobs", jobs]);
            fs::read(sandbox.path("out/records.parquet")).expect("it was written")
        };
        let one = bytes("1");
        assert!(one == bytes("2"));
        assert!(one == bytes("7"));
    }
}
