//! `scavsim list`: what scenarios can name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::exit::{Exit, Failure, wrong};
use super::list_vms::VmFilter;
use super::listing::{Format, sound, written};
use super::{list_delays, list_gpus, list_grids, list_lifetimes, list_prices, list_vms, terminal};
use scavsim_base::Declaration;
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_data::cloud::delays::{CheckpointWrite, Restart, Startup};
use scavsim_data::cloud::lifetimes::Model;
use scavsim_data::cloud::{Catalogue, Fleet, Price};
use scavsim_data::configuration::Shape;
use scavsim_data::pricing::{Base, Policy, RentedVmType, builtin, charges};
use scavsim_data::workload::{Workload, library, load};
use scavsim_experiment::{COLUMNS, Column as RecordColumn};
use scavsim_papers::functions::{Function, scenarios};
use scavsim_plans::failures::{self, Cause};
use scavsim_plans::{Forecast, Reaction};
use scavsim_provision::policy::registry::POLICIES;
use scavsim_provision::world::written::WrittenMarket;
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_search::search::{ALL_KNOWING, Registry};

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    what: ListTopic,
    /// Form of the list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Show all columns of the table with all they have, sources too, however wide
    #[arg(long, visible_alias = "wide")]
    long: bool,
    #[command(flatten, next_help_heading = "For `list vms` and `list prices`")]
    vms: VmFilter,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListTopic {
    /// Embedded workloads
    Workloads,
    /// VM types
    Vms,
    /// Prices of VM types, by region, market and day
    Prices,
    /// Built-in pricing policies
    Pricing,
    /// Strategies
    Strategies,
    /// How long VMs live before the provider takes them away
    Lifetimes,
    /// Embedded grids of real runs
    Grids,
    /// How long VMs take to start, workers to join and checkpoints to be written
    Delays,
    /// Columns of the records
    Columns,
    /// Functions of the model that figures of papers can ask
    Functions,
    /// Embedded models, whose layers the law of layers foretells
    Models,
    /// GPUs by their data sheets
    Gpus,
    /// Runtimes that plans run under
    Runtimes,
    /// Fleets whose failures were counted
    Failures,
    /// What jobs on plans do when VMs go and come
    Reactions,
    /// How they foretell how many GPUs there will be
    Forecasts,
    /// Policies that decide during a run
    Policies,
    /// Embedded markets over time, in which such policies run
    Markets,
}

impl ListArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        if !matches!(self.what, ListTopic::Vms | ListTopic::Prices) && self.vms.is_given() {
            return Err(wrong(
                "`--provider`, `--gpu` and `--region` choose among VM types",
                "they go with `scavsim list vms` and `list prices`",
            ));
        }
        match self.what {
            ListTopic::Workloads => self.print(&workloads()?),
            ListTopic::Vms => self.print(&vms(&self.vms)?),
            ListTopic::Prices => self.print(&prices(&self.vms)?),
            ListTopic::Pricing => self.print(&pricing()?),
            ListTopic::Strategies => self.print(&strategies()),
            ListTopic::Lifetimes => self.print(&lifetimes()?),
            ListTopic::Grids => self.print(&list_grids::list()?),
            ListTopic::Delays => self.print(&delays()?),
            ListTopic::Columns => self.print(&columns()),
            ListTopic::Functions => self.print(&functions()),
            ListTopic::Models => self.print(&list_gpus::models()),
            ListTopic::Gpus => self.print(&list_gpus::gpus()),
            ListTopic::Runtimes => self.print(&list_gpus::runtimes()),
            ListTopic::Failures => self.print(&fleets()),
            ListTopic::Reactions => self.print(&declared(Reaction::DECLARED)),
            ListTopic::Forecasts => self.print(&declared(Forecast::DECLARED)),
            ListTopic::Policies => self.print(&declared(POLICIES)),
            ListTopic::Markets => self.print(&markets()?),
        }
    }

    fn print<R>(&self, list: &Sheet<'_, R>) -> Result<Exit, Failure> {
        let page = terminal::wide_page(self.long);
        terminal::print(&written(list, self.format, &page)?)?;
        if list.rows.is_empty() {
            terminal::note("no VM type is all of that");
        }
        Ok(Exit::Done)
    }
}

fn workloads() -> Result<Sheet<'static, Workload>, Failure> {
    let mut diagnostics = Diagnostics::default();
    let all: Vec<Workload> = (library::names().into_iter())
        .filter_map(library::embedded)
        .filter_map(|folder| load::load(&folder, &mut diagnostics))
        .collect();
    let all = sound((all, diagnostics))?;
    let columns = [
        Column::text("workload", |w: &Workload| json!(w.name)),
        Column::text("model", |w: &Workload| json!(w.description.model)),
        Column::text("data_set", |w: &Workload| json!(w.description.data_set)).rank(u8::MAX - 1),
        Column::text("target", |w: &Workload| json!(w.description.target)).long(),
        Column::text("vm", |w: &Workload| shapes(w.steps.shapes().map(|s| &**s))).wrapped(),
        Column::number("workers", |w: &Workload| {
            span(w.steps.points().map(|p| p.0.workers))
        }),
        Column::number("batch", |w: &Workload| {
            span(w.steps.points().map(|p| p.0.batch))
        }),
        Column::number("points", |w: &Workload| json!(w.steps.points().count())).rank(u8::MAX),
        Column::text("source", |w: &Workload| json!(w.description.citation)).long(),
    ];
    Ok(Sheet::new(all, columns))
}

fn span(values: impl Iterator<Item = u32>) -> String {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    values.dedup();
    match values[..] {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first}–{last}"),
    }
}

/// VM types with their even placements, and how many uneven ones there are: `g4dn.12xlarge /2 /3 /4, 101 uneven placements`.
fn shapes<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut types: BTreeMap<&str, (Vec<&str>, usize)> = BTreeMap::new();
    for shape in all.filter_map(|shape| Shape::parse(shape).ok()) {
        let (even, uneven) = types.entry(shape.vm_type).or_default();
        if shape.is_even() {
            even.push(shape.suffix)
        } else {
            *uneven += 1
        }
    }
    let texts = types.into_iter().map(|(vm_type, (even, uneven))| {
        let mut text = vm_type.to_owned();
        for suffix in even.iter().filter(|s| !s.is_empty()) {
            text.push(' ');
            text.push_str(suffix);
        }
        if uneven > 0 {
            text.push_str(&format!(", {uneven} uneven placements"));
        }
        text
    });
    texts.collect::<Vec<String>>().join("; ")
}

fn vms(filter: &VmFilter) -> Result<Sheet<'static, list_vms::Row<'static>>, Failure> {
    sound(Catalogue::embedded())?;
    let catalogue = Catalogue::current();
    filter.list(catalogue).map_err(Failure::Wrong)
}

fn prices(filter: &VmFilter) -> Result<Sheet<'static, &'static Price>, Failure> {
    sound(Catalogue::embedded())?;
    let catalogue = Catalogue::current();
    list_prices::list(catalogue, filter).map_err(Failure::Wrong)
}

fn delays() -> Result<Sheet<'static, list_delays::DelayRow>, Failure> {
    let startups = sound(Startup::embedded())?;
    let restarts = sound(Restart::embedded())?;
    let write = sound(CheckpointWrite::embedded())?;
    Ok(list_delays::list(startups, restarts, write))
}

fn lifetimes() -> Result<Sheet<'static, &'static Model>, Failure> {
    Ok(list_lifetimes::list(sound(Model::embedded())?))
}

/// The VM type of the measurements; policies with catalogue prices are listed with its price.
const MEASURED_VM: &str = "e2-standard-4";

fn pricing() -> Result<Sheet<'static, Policy>, Failure> {
    let mut policies = sound(builtin::policies())?;
    // Policies without a year first, then the newest.
    policies.sort_by_key(|policy| {
        let mut parts = policy.name.split('-');
        Reverse(parts.find_map(|part| part.parse().ok()).unwrap_or(u32::MAX))
    });
    sound(Catalogue::embedded())?;
    let fleet = Fleet::listed();
    let usd = move |p: &Policy| {
        let usd = match p.base {
            Base::Vm(_) => {
                let tariff = p
                    .tariff(&[RentedVmType::as_priced(MEASURED_VM)], &fleet)
                    .ok();
                tariff.and_then(|t| t.usd_per_vm_hour(0))
            }
            Base::Stated => None,
            Base::Sample(usd) => Some(usd * p.reductions.factor),
        };
        json!(usd.map(|usd| (usd * 1e8).round() / 1e8))
    };
    let columns = [
        Column::text("policy", |p: &Policy| json!(p.name)),
        Column::number("usd", usd),
        Column::word("per", |p: &Policy| match p.base {
            Base::Vm(_) => "vm-hour",
            Base::Stated => "run",
            Base::Sample(_) => "sample-hour",
        })
        .long(),
        Column::number("granularity_s", |p: &Policy| {
            json!(p.billed_time.granularity_s)
        })
        .rank(u8::MAX),
        Column::number("minimum_s", |p: &Policy| json!(p.billed_time.minimum_s)).long(),
        Column::text("further", further),
        Column::text("description", |p: &Policy| json!(p.description)).wrapped(),
    ];
    Ok(Sheet::new(policies, columns))
}

/// Properties of a policy other than price and billed time.
fn further(policy: &Policy) -> String {
    let reductions = &policy.reductions;
    let servers = (policy.parameter_servers.as_ref())
        .map(|servers| format!("parameter servers: {}", servers.count));
    let named = [
        (policy.is_spot_price(None)).then(|| "spot: goes with [spot]".to_owned()),
        reductions
            .sustained_use
            .as_ref()
            .map(|_| "sustained use".to_owned()),
        reductions
            .spot_series
            .as_ref()
            .map(|_| "spot series".to_owned()),
        (reductions.revoked.free_first_hour).then(|| "1st hour free".to_owned()),
        (reductions.revoked.free_started_unit).then(|| "revoked unit free".to_owned()),
        servers,
    ];
    let charges = charges::levied(&policy.charges).map(|charge| charge.declaration.name.to_owned());
    let all = named.into_iter().flatten().chain(charges);
    all.collect::<Vec<_>>().join(", ")
}

fn columns() -> Sheet<'static, &'static RecordColumn> {
    let columns = [
        Column::word("column", |column: &&RecordColumn| column.name),
        Column::word("unit", |column: &&RecordColumn| column.unit),
        Column::word("type", |column: &&RecordColumn| column.kind.name()),
        Column::word("summary", |column: &&RecordColumn| column.role.name()),
        Column::word("what it is", |column: &&RecordColumn| column.what).wrapped(),
    ];
    Sheet::new(COLUMNS, columns)
}

fn functions() -> Sheet<'static, (&'static str, String)> {
    let all = Function::all()
        .map(|own| (own.name, own.parameters, own.what))
        .chain(scenarios::FUNCTIONS.iter().copied());
    let rows =
        all.map(|(name, parameters, what)| (name, format!("({}) {what}", parameters.join(", "))));
    let columns = [
        Column::word("function", |(name, _): &(&str, String)| name),
        Column::word(
            "parameters and what it gives",
            |(_, said): &(&str, String)| said,
        )
        .wrapped(),
    ];
    Sheet::new(rows, columns)
}

/// Causes of failures, with the fleets on which they were counted.
fn fleets() -> Sheet<'static, (String, Cause)> {
    let all = failures::names().into_iter().flat_map(|fleet| {
        let causes = failures::counted(&fleet).into_iter();
        causes.map(move |cause| (fleet.clone(), cause))
    });
    let columns = [
        Column::text("fleet", |(fleet, _): &(String, Cause)| json!(fleet)),
        Column::text("cause", |(_, cause): &(String, Cause)| json!(&*cause.name)),
        Column::text("loses", move |(_, cause): &(String, Cause)| {
            json!(cause.loses.name())
        }),
        Column::number("per_1e6_gpu_h", |(_, cause): &(String, Cause)| {
            json!((cause.per_gpu_h * 1e9).round() / 1e3)
        }),
    ];
    Sheet::new(all, columns)
}

/// The markets of the library: zones, hours of their traces, sources.
fn markets() -> Result<Sheet<'static, (&'static str, WrittenMarket)>, Failure> {
    type MarketRow = (&'static str, WrittenMarket);
    let mut diagnostics = Diagnostics::default();
    let all = WrittenMarket::names().into_iter().filter_map(|name| {
        let wrong = Diagnostic::general(format!("unknown market `{name}`"));
        let market = WrittenMarket::open(name, ".".as_ref(), wrong, &mut diagnostics)?;
        Some((name, market))
    });
    let all: Vec<MarketRow> = all.collect();
    let all = sound((all, diagnostics))?;
    let columns = [
        Column::text("market", |(name, _): &MarketRow| *name),
        Column::text("what it is", |(_, market): &MarketRow| json!(market.about)).wrapped(),
        Column::number("zones", |(_, market): &MarketRow| {
            json!(market.world.zones.len())
        }),
        Column::number("hours", |(_, market): &MarketRow| {
            let hours = market.world.ticks() as f64 * market.world.tick_s / 3600.0;
            Cell::number(Some(hours), 1)
        }),
        Column::text("source", |(_, market): &MarketRow| json!(market.source)).long(),
    ];
    Ok(Sheet::new(all, columns))
}

fn declared(all: &'static [Declaration]) -> Sheet<'static, &'static Declaration> {
    let columns = [
        Column::word("name", |own: &&Declaration| own.name),
        Column::word("what it does", |own: &&Declaration| own.what).wrapped(),
    ];
    Sheet::new(all, columns)
}

fn strategies() -> Sheet<'static, (String, String)> {
    let knowing = ALL_KNOWING
        .iter()
        .map(|known| (known.name.to_owned(), known.what.to_owned()));
    let columns = [
        Column::word("strategy", |(name, _): &(String, String)| name),
        Column::word("what it does", |(_, what): &(String, String)| what).wrapped(),
    ];
    Sheet::new(knowing.chain(Registry::default().summaries()), columns)
}
