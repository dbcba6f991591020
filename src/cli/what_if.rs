//! `--what-if KEY=VALUE`: a run compared with the run under a changed key, replica by replica.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::exit::Failure;
use super::summaries::Form;
use super::{grouped, precision, scenarios, set, terminal};
use scavsim_base::stats::{Interval, Welford};
use scavsim_base::text::words::{NONE, plural};
use scavsim_base::text::{Cell, Column, EXPLAIN, Page, Sheet};
use scavsim_engine::Interrupt;
use scavsim_experiment::{Plan, Record, Sink};
use scavsim_provision::study::paired_difference::{PairedDifference, PairedSums};
use scavsim_read::input::{Diagnostics, Source};
use scavsim_scenario::{Overrides, Scenario};
use scavsim_search::search::Objective;

/// Number of rows that fit one screen with their heads.
const MOST: usize = 9;

/// Keys to change.
#[derive(Debug, Clone, Default, Args)]
pub struct WhatIfArgs {
    /// Show what changes with a key, beside the unchanged run, as in `--what-if job.changeover_s=1800`; of a list each value has
    /// a row; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    what_if: Vec<String>,
}

/// A changed key.
pub(super) struct Change {
    pub(super) name: String,
    pub(super) source: Arc<Source>,
}

impl WhatIfArgs {
    pub(super) fn is_empty(&self) -> bool {
        self.what_if.is_empty()
    }

    /// The changes, one for each value of a list.
    pub(super) fn changes(&self) -> Result<Vec<Change>, Failure> {
        let mut all = Vec::new();
        for (key, value) in set::split("--what-if", &self.what_if)? {
            let parsed = format!("value = {value}").parse::<toml::Table>().ok();
            let listed = parsed.as_ref().and_then(|table| table["value"].as_array());
            let values: Vec<String> = match listed {
                Some(values) if !values.is_empty() => {
                    values.iter().map(toml::Value::to_string).collect()
                }
                _ => vec![value.to_owned()],
            };
            all.extend(values.into_iter().map(|value| Change {
                name: format!("{key} = {value}"),
                source: Source::new("--what-if", set::line(key, &value)),
            }));
        }
        Ok(all)
    }
}

/// The key of a group of replicas: setting, workload, pricing policy, objective and strategy.
type GroupKey = [String; 5];

/// The values of a run's cases, by group and replica: hours if time is the objective, otherwise USD.
#[derive(Default)]
struct CaseValues(BTreeMap<GroupKey, Vec<Option<f64>>>);

impl Sink for CaseValues {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        let key = [
            record.setting,
            record.workload,
            record.pricing,
            record.objective,
            record.strategy,
        ]
        .map(str::to_owned);
        let value = match record.objective {
            "time" => record.time_h,
            _ => record.cost_usd,
        };
        self.0.entry(key).or_default().push(value);
        Ok(())
    }
}

/// A run: its groups in order, the number of independent cases, and the values of each.
struct WhatIfRun {
    groups: Vec<(GroupKey, f64)>,
    values: CaseValues,
}

/// A group under a change, and its base group.
struct ChangedGroup<'c> {
    change: &'c str,
    key: &'c GroupKey,
    base: f64,
    new: f64,
    more: PairedDifference,
    /// Relative difference of each replica to its base.
    relative: Vec<f64>,
}

/// Runs scenarios with and without changes and prints what differs.
pub(super) fn run(
    files: &[PathBuf],
    overrides: &Overrides,
    changes: &[Change],
    (jobs, interrupt): (usize, &Interrupt),
    form: Form,
    page: &Page,
) -> Result<(), Failure> {
    let bases = scenarios::load(files, overrides.clone())?;
    let mut wrong = Diagnostics::default();
    let mut changed: Vec<Vec<Scenario>> = Vec::new();
    for change in changes {
        let mut overrides = overrides.clone();
        overrides.set.push(Arc::clone(&change.source));
        match scenarios::load_silently(files, overrides) {
            Ok(scenarios) => changed.push(scenarios),
            Err(Failure::Wrong(more)) => wrong.extend(more),
            Err(other) => return Err(other),
        }
    }
    super::exit::no_mistakes(wrong)?;
    for (at, base) in bases.iter().enumerate() {
        let unchanged = values(base, jobs, interrupt)?;
        let mut all = Vec::new();
        for (change, scenarios) in changes.iter().zip(&changed) {
            all.push((change, values(&scenarios[at], jobs, interrupt)?));
        }
        let rows: Vec<ChangedGroup<'_>> = (unchanged.groups.iter())
            .flat_map(|group| {
                let unchanged = &unchanged.values;
                all.iter().filter_map(|(change, run)| {
                    compared(&change.name, group, unchanged, &run.values)
                })
            })
            .collect();
        terminal::print(&text(&base.name, &rows, changes, form, page)?)?;
    }
    Ok(())
}

fn values(scenario: &Scenario, jobs: usize, interrupt: &Interrupt) -> Result<WhatIfRun, Failure> {
    let mut scenario = scenario.clone();
    precision::decide(&mut scenario, jobs, interrupt)?;
    let plan = Plan::on_threads(jobs, &scenario, interrupt);
    let mut plan = plan.map_err(anyhow::Error::from)?;
    let mut values = CaseValues::default();
    let groups = grouped::run(&mut plan, &scenario.name, jobs, &mut values)?;
    let groups = groups.into_iter().map(|group| {
        let independent = group.tallied.independent;
        let cases = group.tallied.cases.max(1) as f64;
        let share = independent.map_or(1.0, |independent| independent / cases);
        let key = [
            group.setting,
            group.workload,
            group.pricing,
            group.objective,
            group.strategy,
        ];
        (key, share)
    });
    let groups = groups.collect();
    Ok(WhatIfRun { groups, values })
}

/// A group under a change and its base; `None` if the change has no such group.
fn compared<'c>(
    change: &'c str,
    (key, independence): &'c (GroupKey, f64),
    unchanged: &CaseValues,
    changed: &CaseValues,
) -> Option<ChangedGroup<'c>> {
    let (base, new) = (unchanged.0.get(key)?, changed.0.get(key)?);
    let mut sums = PairedSums::new(2);
    let [mut mean_base, mut mean_new] = [Welford::default(); 2];
    let mut relative = Vec::new();
    for (new, base) in new.iter().zip(base) {
        sums.add(&[*new, *base]);
        if let Some((new, base)) = new.zip(*base) {
            mean_new.add(new);
            mean_base.add(base);
            relative.push(new / base - 1.0);
        }
    }
    let more = sums.against(1, *independence).into_iter().next()?;
    (!relative.is_empty()).then(|| ChangedGroup {
        change,
        key,
        base: mean_base.mean(),
        new: mean_new.mean(),
        more,
        relative,
    })
}

fn text(
    scenario: &str,
    rows: &[ChangedGroup<'_>],
    changes: &[Change],
    form: Form,
    page: &Page,
) -> Result<String, Failure> {
    let is_exact = matches!(form, Form::Csv | Form::Json);
    let sheet = changes_sheet(rows, is_exact);
    Ok(match form {
        Form::Csv => sheet.csv(true),
        Form::Json => format!("{:#}\n", serde_json::Value::Array(sheet.json())),
        _ => {
            let replicas = rows.iter().map(|row| row.relative.len()).max().unwrap_or(0);
            let title = [
                scenario.to_owned(),
                "what if".to_owned(),
                plural(replicas as u64, "paired replica"),
            ];
            let table = sheet.fit(page);
            let mut text = page.parts(title, 2) + &table.text(page) + &table.remark("", page);
            if rows.is_empty() {
                text += "no case is in both runs\n";
            }
            if rows.len() > MOST {
                text += "\nRelative difference over all rows\n";
                text += &totals(rows, changes).fit(page).text(page);
            }
            text + &page.dim(EXPLAIN)
        }
    })
}

/// Number of decimals; small figures have more.
fn digits(value: f64) -> usize {
    match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 1.0 || v == 0.0 => 2,
        _ => 4,
    }
}

fn changes_sheet<'s>(
    rows: &'s [ChangedGroup<'s>],
    is_exact: bool,
) -> Sheet<'s, &'s ChangedGroup<'s>> {
    type ChangedRow<'s> = &'s ChangedGroup<'s>;
    let number = |head, of: fn(&ChangedGroup<'_>) -> Option<f64>| {
        Column::number(head, move |row: &ChangedRow<'_>| {
            if is_exact {
                Cell::from(json!(of(row)))
            } else {
                Cell::number(of(row), digits(row.base))
            }
        })
        .rank(0)
    };
    let names = ["setting", "job", "pricing", "for", "strategy"];
    let named = names.into_iter().enumerate().filter(|(at, _)| {
        let first = rows.first().map(|row| &row.key[*at]);
        rows.iter().any(|row| Some(&row.key[*at]) != first) || *at == 4
    });
    let named =
        named.map(|(at, head)| Column::text(head, move |row: &ChangedRow<'_>| row.key[at].clone()));
    let own = [
        Column::text("what if", |row: &ChangedRow<'_>| row.change.to_owned()).rank(0),
        Column::text("in", |row: &ChangedRow<'_>| unit(row)),
        number("base", |row| Some(row.base)),
        number("new", |row| Some(row.new)),
        number("more", |row| Some(row.more.more_usd)),
        number("from", |row| row.more.interval.map(|i| i.low)),
        number("to", |row| row.more.interval.map(|i| i.high)),
    ];
    Sheet::new(rows, named.chain(own))
}

fn unit(row: &ChangedGroup<'_>) -> &'static str {
    if row.key[3] == Objective::Time.name() {
        "h"
    } else {
        "USD"
    }
}

/// A change over all groups.
struct Total<'c> {
    change: &'c str,
    mean: f64,
    interval: Option<Interval>,
    most: Option<&'c ChangedGroup<'c>>,
}

/// A row per change: the mean of its relative differences, by replica over all groups.
fn totals<'c>(rows: &'c [ChangedGroup<'c>], changes: &'c [Change]) -> Sheet<'c, Total<'c>> {
    let mean =
        |row: &ChangedGroup<'_>| row.relative.iter().sum::<f64>() / row.relative.len() as f64;
    let total = |change: &'c Change| {
        let own = || rows.iter().filter(|row| row.change == change.name);
        let replicas = own().map(|row| row.relative.len()).min().unwrap_or(0);
        let mut over = Welford::default();
        for at in 0..replicas {
            let sum: f64 = own().map(|row| row.relative[at]).sum();
            over.add(sum / own().count() as f64);
        }
        Total {
            change: &change.name,
            mean: over.mean(),
            interval: over.interval(),
            most: own().max_by(|a, b| mean(a).abs().total_cmp(&mean(b).abs())),
        }
    };
    let percent = |head, of: fn(&Total<'_>) -> Option<f64>| {
        Column::number(head, move |row: &Total<'_>| {
            Cell::number(of(row).map(|share| 100.0 * share), 1)
        })
    };
    Sheet::new(
        changes.iter().take(MOST).map(total),
        [
            Column::text("what if", |row: &Total<'_>| row.change.to_owned()).rank(0),
            percent("more %", |row| Some(row.mean)).rank(0),
            percent("from %", |row| row.interval.map(|i| i.low)).rank(0),
            percent("to %", |row| row.interval.map(|i| i.high)).rank(0),
            Column::text("most for", move |row: &Total<'_>| match row.most {
                Some(most) => {
                    let names = most.key[1..].iter().filter(|name| !name.is_empty());
                    let names: Vec<&str> = names.map(String::as_str).collect();
                    format!("{} ({:+.1} %)", names.join(" · "), 100.0 * mean(most))
                }
                None => NONE.to_owned(),
            })
            .rank(1),
        ],
    )
}
