//! `scavsim compare` on scenarios with `[policy]`: the extra cost of each policy over a reference on equal lives.

use std::io;

use super::compare_form::CompareFormat;
use super::exit::{Exit, Failure, no_mistakes};
use super::records::judge_failures;
use super::signals::Signals;
use super::{grouped, terminal};
use scavsim_base::text::{Cell, Column, Page, Sheet, Tone};
use scavsim_experiment::{Group, Plan, Record, Sink};
use scavsim_provision::study::paired_difference::{PairedDifference, PairedSums};
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};
use scavsim_scenario::Scenario;
use scavsim_show::report::market_table::{
    cost_usd, is_in_time, over_clairvoyant, priced_by, sample,
};

pub(super) struct PolicyComparisonRequest<'a> {
    pub(super) jobs: usize,
    /// The reference policy.
    pub(super) against: Option<&'a str>,
    pub(super) format: CompareFormat,
    pub(super) page: Page,
    pub(super) useless: Vec<&'static str>,
}

struct Contender {
    scenario: String,
    against: String,
    group: Group,
    paired: PairedDifference,
}

/// Sums over pairs of policies, by setting, world and pricing policy.
struct PairedCosts {
    policies: usize,
    pricings: usize,
    /// The sums of each setting, by pricing policy.
    settings: Vec<PairedSums>,
    /// Costs of the current life: for each contender, under each pricing policy.
    costs: Vec<Option<f64>>,
    lives_per_setting: u64,
    lives: u64,
}

impl Sink for PairedCosts {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.costs.push(record.cost_usd);
        // The clairvoyant comes last, and is excluded.
        if self.costs.len() == (self.policies + 1) * self.pricings {
            let setting = (self.lives / self.lives_per_setting) as usize;
            for pricing in 0..self.pricings {
                let own = self.costs[pricing..].iter().step_by(self.pricings);
                let own: Vec<Option<f64>> = own.take(self.policies).copied().collect();
                self.settings[setting * self.pricings + pricing].add(&own);
            }
            self.lives += 1;
            self.costs.clear();
        }
        Ok(())
    }
}

/// Compares the policies of scenarios with `[policy]`.
pub(super) fn run(
    asked: &PolicyComparisonRequest<'_>,
    scenarios: &[Scenario],
    signals: &Signals,
) -> Result<Exit, Failure> {
    refuse(asked, scenarios)?;
    let interrupt = signals.raise_first()?;
    let mut tables: Vec<Vec<Contender>> = Vec::new();
    for scenario in scenarios {
        let plan = Plan::on_threads(asked.jobs, scenario, interrupt);
        let mut plan = plan.map_err(anyhow::Error::from)?;
        let policies = scenario.strategies.len() - 1;
        let pricings = scenario.policies.len();
        let mut pairs = PairedCosts {
            policies,
            pricings,
            settings: vec![PairedSums::new(policies); plan.arena_count() * pricings],
            costs: Vec::new(),
            lives_per_setting: plan.replicas,
            lives: 0,
        };
        let groups = grouped::run(&mut plan, &scenario.name, asked.jobs, &mut pairs)?;
        // The clairvoyant is the last of each setting.
        for (all, pairs) in groups.chunks(policies + 1).zip(&pairs.settings) {
            tables.push(contenders(scenario, &all[..policies], pairs, asked.against));
        }
    }
    terminal::print(&text(&tables, asked.format, &asked.page))?;
    let all = tables.iter().flatten();
    Ok(judge_failures(
        all.map(|one| one.group.tallied.failed).sum(),
    ))
}

fn refuse(asked: &PolicyComparisonRequest<'_>, scenarios: &[Scenario]) -> Result<(), Failure> {
    let mut d = Diagnostics::default();
    for option in &asked.useless {
        let title = format!("`{option}` says nothing of scenarios with `[policy]`");
        let help = "allowed there: --against, --programs, --replicas, --set, --jobs, --seed, --format, --wide";
        d.push(Diagnostic::general(title).with_help(help));
    }
    if matches!(asked.format, CompareFormat::Units | CompareFormat::Curves) {
        let title = "scenarios with `[policy]` have no comparison of this form";
        d.push(Diagnostic::general(title).with_help("allowed there: `table`, `csv`, `json`"));
    }
    for scenario in scenarios {
        let names = || {
            MarketPolicies::study_of(&*scenario.subject)
                .into_iter()
                .flat_map(|study| &study.policies)
        };
        let names = || names().map(|(name, _)| name.as_str());
        if let Some(wrong) = asked
            .against
            .filter(|own| !names().any(|name| name == *own))
        {
            let help = nearest_or_all(wrong, names());
            let title = format!("{}: no policy `{wrong}` to compare with", scenario.name);
            d.push(Diagnostic::general(title).with_help(help));
        }
    }
    no_mistakes(d)
}

/// The policies of a setting. By default the reference is the cheapest policy that meets the deadline; if none does, the cheapest of all.
fn contenders(
    scenario: &Scenario,
    groups: &[Group],
    pairs: &PairedSums,
    named: Option<&str>,
) -> Vec<Contender> {
    let by_name = named.and_then(|own| groups.iter().position(|group| group.strategy == own));
    let cheapest = (0..groups.len()).min_by(|&a, &b| {
        let [a, b] = [a, b].map(|at| {
            // A policy without a result has no cost.
            let usd = cost_usd(&groups[at]).unwrap_or(f64::INFINITY);
            (!is_in_time(&groups[at]), usd)
        });
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let against = by_name.or(cheapest).unwrap_or(0);
    let independent = groups[against].tallied.independent.unwrap_or(0.0);
    let independence = independent / groups[against].tallied.cases.max(1) as f64;
    let all = groups.iter().zip(pairs.against(against, independence));
    all.map(|(group, paired)| Contender {
        scenario: scenario.name.clone(),
        against: groups[against].strategy.clone(),
        group: group.clone(),
        paired,
    })
    .collect()
}

fn text(tables: &[Vec<Contender>], format: CompareFormat, page: &Page) -> String {
    let all: Vec<&Contender> = tables.iter().flatten().collect();
    match format {
        CompareFormat::Json => {
            let rows = comparison_sheet(&all, true).json();
            format!("{:#}\n", serde_json::Value::Array(rows))
        }
        CompareFormat::Csv => comparison_sheet(&all, true).csv(true),
        _ => {
            let table = |rows: &Vec<Contender>| {
                let all: Vec<&Contender> = rows.iter().collect();
                comparison_sheet(&all, false).fit(page).text(page) + &page.prose(&answer(rows), 0)
            };
            tables.iter().map(table).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Which policies differ from the reference, and in which figures.
fn answer(rows: &[Contender]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let open: Vec<&str> = (rows.iter())
        .filter(|row| row.group.strategy != row.against)
        .filter(|row| (row.paired.interval).is_none_or(|i| i.low <= 0.0 && i.high >= 0.0))
        .map(|row| row.group.strategy.as_str())
        .collect();
    let found = if rows.iter().all(|row| row.paired.interval.is_none()) {
        String::new()
    } else if open.is_empty() {
        ": all others differ from it beyond chance".to_owned()
    } else {
        format!(": no difference beyond chance from {}", open.join(", "))
    };
    let pricing = priced_by(&first.group);
    let place = [
        first.group.setting.as_str(),
        &first.group.workload,
        &pricing,
    ];
    let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
    format!(
        "Beside {} on the same {}{found}. {}.",
        first.against,
        sample(&first.group),
        place.join("; ")
    )
}

fn comparison_sheet<'s>(rows: &[&'s Contender], all: bool) -> Sheet<'s, &'s Contender> {
    let number = |head: &'static str, digits: usize, of: fn(&Contender) -> Option<f64>| {
        Column::number(head, move |row: &&Contender| {
            Cell::number(of(row).filter(|x| x.is_finite()), digits)
        })
    };
    let word = |head: &'static str, of: fn(&Contender) -> &str| {
        Column::word(head, move |row: &&Contender| of(row))
    };
    let mut columns = Vec::new();
    if all {
        columns.extend([
            word("scenario", |row| &row.scenario),
            word("setting", |row| &row.group.setting),
            word("zones", |row| &row.group.workload),
            word("pricing", |row| &row.group.pricing),
            word("against", |row| &row.against),
        ]);
    }
    columns.extend([
        word("policy", |row| &row.group.strategy).rank(0),
        number("cost $", 2, |row| cost_usd(&row.group)).rank(0),
        number("more $", 2, |row| Some(row.paired.more_usd)).rank(0),
        number("from $", 2, |row| row.paired.interval.map(|i| i.low)).rank(0),
        number("to $", 2, |row| row.paired.interval.map(|i| i.high)).rank(0),
        number("cheaper %", 0, |row| Some(100.0 * row.paired.cheaper)).rank(3),
        number("× clairvoyant", 3, |row| {
            over_clairvoyant(&row.group.tallied)
        })
        .rank(1),
        number("in time %", 1, |row| {
            Some(100.0 * row.group.tallied.share("kept_net")?.share()?)
        })
        .rank(1),
        number("late h", 2, |row| Some(row.group.mean("late_h")?.mean)).rank(2),
    ]);
    Sheet::new(rows.to_vec(), columns).toned(|row| {
        if row.group.strategy == row.against {
            Tone::Best
        } else {
            Tone::Plain
        }
    })
}
