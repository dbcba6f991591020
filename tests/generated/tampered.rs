//! Shows that the laws detect errors: each is violated when its figure is changed.

use std::cell::Cell;
use std::time::Duration;

use crate::laws::neighbours::{NEIGHBOURS, hold, tampered};
use crate::laws::{Trial, broken};
use crate::names::Names;
use crate::program::Program;
use crate::rows::Row;
use crate::schema::Schema;
use crate::{grounds, mend};

/// A law, and a change of rows that must violate it; a row that stays unchanged need not be of its kind.
type Change = (&'static str, fn(&Row) -> Row);

fn scaled(row: &Row, column: &str, by: f64) -> Row {
    row.figure(column)
        .map_or_else(|| row.clone(), |figure| row.with(column, figure * by))
}

const CHANGES: &[Change] = &[
    ("figures exist, are finite and not below nothing", |row| {
        row.with("search_cost_usd", -1.0)
    }),
    ("the parts of a bill are the bill", |row| {
        scaled(row, "bill_useful_usd", 1.001)
    }),
    ("credit for a search only helps", |row| {
        row.with("overhead_gross_time", -0.9)
            .with("overhead_net_time", 0.1)
    }),
    ("nobody is expected to beat the oracle", |row| {
        row.with("regret_time", -0.1)
    }),
    (
        "who knows all luck is not beaten by the oracle",
        |row| match row.text("strategy") {
            "clairvoyant" => scaled(row, "time_h", 2.0),
            _ => row.clone(),
        },
    ),
    (
        "a choice that is worse in both is not right",
        |row| match row.text("strategy") {
            "oracle" => row.clone(),
            _ => scaled(
                &scaled(row, "expected_time_h", 3.0),
                "expected_cost_usd",
                3.0,
            )
            .with("right", 1),
        },
    ),
    ("a choice keeps the limits that it was made within", |row| {
        scaled(row, "expected_time_h", 1e6)
    }),
    ("bills follow their prices", |row| {
        match row.text("pricing") {
            grounds::UNIT => row.clone(),
            _ => scaled(row, "cost_usd", 1.001),
        }
    }),
    ("a bill is VM-hours times the price of one", |row| {
        scaled(row, "cost_usd", 1.001)
    }),
    ("another seed, the same verdict on limits", |row| {
        row.with("status", "failed")
            .with("reason", "no configuration keeps within the limits")
    }),
    ("the same for every number of threads", |row| {
        scaled(row, "time_h", 1.001)
    }),
    ("shards put together are the run", |row| {
        scaled(row, "time_h", 1.001)
    }),
    ("an included file is as if written out", |row| {
        scaled(row, "time_h", 1.001)
    }),
    ("a setting is a scenario", |row| {
        scaled(row, "time_h", 1.001)
    }),
    ("a replica is the same among more", |row| {
        scaled(row, "time_h", 1.001)
    }),
    ("a strategy is the same beside others", |row| {
        scaled(row, "time_h", 1.001)
    }),
];

/// Numbers of scenarios that together show all violations, tried first; if the generator has changed since, others are
/// searched, and the test reports which ones to write here.
const SHOWN_BY: &[u64] = &[0, 1, 2, 3, 4, 10, 35, 114, 158];

#[test]
fn a_law_breaks_when_its_figure_is_changed() {
    let program = Program::new(None, Duration::from_secs(5));
    let schema = Schema::new(program.schema());
    let names = Names::read();
    let mut unseen: Vec<&Change> = CHANGES.iter().collect();
    let mut seen = Vec::new();
    for number in SHOWN_BY.iter().copied().chain(0..300) {
        if unseen.is_empty() {
            break;
        }
        let before = unseen.len();
        let draft = grounds::draft(number, &schema, &names);
        let Ok(Some(draft)) = mend::legal(draft, &program) else {
            continue;
        };
        let Ok(rows) = program.run(&draft, 1) else {
            continue;
        };
        let (comparisons, slow) = (Cell::new(0), Cell::new(0));
        let breaks = |law: &str, rows: &[Row]| {
            let trial = Trial {
                program: &program,
                draft: &draft,
                rows,
                comparisons: &comparisons,
                slow: &slow,
            };
            !broken(&trial, Some(law)).is_empty()
        };
        unseen.retain(|(law, change)| {
            let changed: Vec<Row> = rows.iter().map(change).collect();
            changed == rows || !breaks(law, &changed) || breaks(law, &rows)
        });
        if unseen.len() < before {
            seen.push(number);
        }
    }
    println!("SHOWN_BY: {seen:?}");
    let unseen: Vec<&str> = unseen.into_iter().map(|(law, _)| *law).collect();
    assert!(unseen.is_empty(), "never seen to break: {unseen:?}");
}

/// Numbers of scenarios in which all exchanged pairs of values are violations, tried first.
const EXCHANGED_IN: &[u64] = &[0, 2, 3, 36, 38, 43, 55, 852];

#[test]
fn pairs_of_values_break_their_law_when_they_are_exchanged() {
    let program = Program::new(None, Duration::from_secs(5));
    let schema = Schema::new(program.schema());
    let names = Names::read();
    let mut unseen: Vec<_> = NEIGHBOURS.iter().collect();
    let mut seen = Vec::new();
    for number in EXCHANGED_IN.iter().copied().chain(0..1000) {
        if unseen.is_empty() {
            break;
        }
        let before = unseen.len();
        let draft = grounds::draft(number, &schema, &names);
        let Ok(Some(draft)) = mend::legal(draft, &program) else {
            continue;
        };
        let (comparisons, slow) = (Cell::new(0), Cell::new(0));
        let trial = Trial {
            program: &program,
            draft: &draft,
            rows: &[],
            comparisons: &comparisons,
            slow: &slow,
        };
        unseen.retain(|pair| hold(&trial, &[tampered(pair)]).is_ok());
        if unseen.len() < before {
            seen.push(number);
        }
    }
    println!("EXCHANGED_IN: {seen:?}");
    let unseen: Vec<&str> = unseen.into_iter().map(|pair| pair.0).collect();
    assert!(unseen.is_empty(), "never seen to break: {unseen:?}");
}
