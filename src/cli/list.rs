//! `scavsim list`: what scenarios can name.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::list_vms::VmFilter;
use super::listing::{List, sound};
use super::{Exit, Failure, Format, list_delays, list_grids, list_lifetimes, terminal};
use scavsim_base::text::Page;
use scavsim_data::cloud::delays::{CheckpointWrite, Restart, Startup};
use scavsim_data::cloud::lifetimes::Model;
use scavsim_data::cloud::{Catalogue, Fleet};
use scavsim_data::configuration::Shape;
use scavsim_data::pricing::{Base, Policy, Rented, builtin, charges};
use scavsim_data::workload::{Workload, library, load};
use scavsim_lab::experiment::{COLUMNS, Column};
use scavsim_papers::functions::{Function, scenarios};
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_search::search::{ALL_KNOWING, Registry};

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    what: What,
    /// Form of the list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Show all columns of the table with all they have, sources too, however wide
    #[arg(long, visible_alias = "wide")]
    long: bool,
    #[command(flatten, next_help_heading = "For `list vms`")]
    vms: VmFilter,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Embedded workloads
    Workloads,
    /// VM types
    Vms,
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
}

impl ListArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`] when stdout cannot be written.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.what != What::Vms && self.vms.is_given() {
            let mut wrong = Diagnostics::default();
            wrong.push(
                Diagnostic::general("`--provider`, `--gpu` and `--region` choose among VM types")
                    .with_help("they go with `scavsim list vms`"),
            );
            return Err(Failure::Wrong(wrong));
        }
        let list = match self.what {
            What::Workloads => workloads()?,
            What::Vms => vms(&self.vms)?,
            What::Pricing => pricing()?,
            What::Strategies => strategies(),
            What::Lifetimes => lifetimes()?,
            What::Grids => list_grids::list()?,
            What::Delays => delays()?,
            What::Columns => columns(),
            What::Functions => functions(),
        };
        let page = Page {
            is_wide: self.long,
            ..terminal::page()
        };
        terminal::print(&list.written(self.format, &page)?)?;
        if list.rows.is_empty() {
            terminal::note("no VM type is all of that");
        }
        Ok(Exit::Done)
    }
}

fn workloads() -> Result<List, Failure> {
    let mut diagnostics = Diagnostics::default();
    let all: Vec<Workload> = (library::names().into_iter())
        .filter_map(library::embedded)
        .filter_map(|folder| load::load(&folder, &mut diagnostics))
        .collect();
    let all = sound(all, diagnostics)?;
    let span = |mut values: Vec<u32>| {
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [] => String::new(),
            [one] => one.to_string(),
            [first, .., last] => format!("{first}–{last}"),
        }
    };
    let rows = all
        .iter()
        .map(|w| {
            let points = || w.steps.points().map(|p| &p.0);
            let vms = shapes(w.steps.shapes().map(|s| &**s));
            vec![
                json!(w.name),
                json!(w.description.model),
                json!(w.description.data_set),
                json!(w.description.target),
                json!(vms),
                json!(span(points().map(|c| c.workers).collect())),
                json!(span(points().map(|c| c.batch).collect())),
                json!(points().count()),
                json!(w.description.citation),
            ]
        })
        .collect();
    Ok(List {
        header: vec![
            "workload", "model", "data_set", "target", "vm", "workers", "batch", "points", "source",
        ],
        text_columns: &[0, 1, 2, 3, 4, 8],
        rows,
        long: &[3, 8],
        first_to_leave: &[7, 2],
        wrapped: Some(4),
    })
}

/// VM types with their even placements, and how many uneven ones there are:
/// `g4dn.12xlarge /2 /3 /4, 101 uneven placements`.
fn shapes<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut types: BTreeMap<&str, (Vec<&str>, usize)> = BTreeMap::new();
    for shape in all.filter_map(|shape| Shape::parse(shape).ok()) {
        let (even, uneven) = types.entry(shape.vm_type).or_default();
        match shape.is_even() {
            true => even.push(shape.suffix),
            false => *uneven += 1,
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

fn vms(filter: &VmFilter) -> Result<List, Failure> {
    let (catalogue, diagnostics) = Catalogue::embedded();
    let catalogue = sound(catalogue, diagnostics)?;
    filter.list(catalogue).map_err(Failure::Wrong)
}

fn delays() -> Result<List, Failure> {
    let (startups, diagnostics) = Startup::embedded();
    let startups = sound(startups, diagnostics)?;
    let (restarts, diagnostics) = Restart::embedded();
    let restarts = sound(restarts, diagnostics)?;
    let (write, diagnostics) = CheckpointWrite::embedded();
    let write = sound(write, diagnostics)?;
    Ok(list_delays::list(startups, restarts, write))
}

fn lifetimes() -> Result<List, Failure> {
    let (models, diagnostics) = Model::embedded();
    Ok(list_lifetimes::list(sound(models, diagnostics)?))
}

/// The VM type of the measurements; policies that look a price up are listed with its price.
const MEASURED_VM: &str = "e2-standard-4";

fn pricing() -> Result<List, Failure> {
    let (policies, diagnostics) = builtin::policies();
    let policies = sound(policies, diagnostics)?;
    let (_, diagnostics) = Catalogue::embedded();
    let fleet = sound(Fleet::listed(), diagnostics)?;
    let rows = policies
        .into_iter()
        .map(|p| {
            let tariff = p.tariff(&[Rented::as_priced(MEASURED_VM)], &fleet).ok();
            let (unit, usd) = match p.base {
                Base::Vm(_) => ("vm-hour", tariff.and_then(|t| t.usd_per_vm_hour(0))),
                Base::Stated => ("run", None),
                Base::Sample(usd) => ("sample-hour", Some(usd * p.reductions.factor)),
            };
            vec![
                json!(p.name),
                json!(usd.map(|usd| (usd * 1e8).round() / 1e8)),
                json!(unit),
                json!(p.billed_time.granularity_s),
                json!(p.billed_time.minimum_s),
                json!(further(&p)),
                json!(p.description),
            ]
        })
        .collect();
    Ok(List {
        header: vec![
            "policy",
            "usd",
            "per",
            "granularity_s",
            "minimum_s",
            "further",
            "description",
        ],
        text_columns: &[0, 2, 5, 6],
        rows,
        long: &[2, 4],
        first_to_leave: &[3],
        wrapped: Some(6),
    })
}

/// What a policy has beyond price and billed time.
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
    let charges = charges::levied(&policy.charges).map(|charge| charge.name.to_owned());
    let all = named.into_iter().flatten().chain(charges);
    all.collect::<Vec<_>>().join(", ")
}

fn columns() -> List {
    let row = |column: &Column| {
        vec![
            json!(column.name),
            json!(column.unit),
            json!(column.kind.name()),
            json!(column.role.name()),
            json!(column.what),
        ]
    };
    List {
        header: vec!["column", "unit", "type", "summary", "what it is"],
        text_columns: &[0, 1, 2, 3, 4],
        rows: COLUMNS.iter().map(row).collect(),
        wrapped: Some(4),
        ..List::default()
    }
}

fn functions() -> List {
    let row = |(name, parameters, what): (&str, &[&str], &str)| {
        let said = format!("({}) {what}", parameters.join(", "));
        vec![json!(name), json!(said)]
    };
    List {
        header: vec!["function", "parameters and what it gives"],
        text_columns: &[0, 1],
        rows: Function::all()
            .map(|own| (own.name, own.parameters, own.what))
            .chain(scenarios::FUNCTIONS.iter().copied())
            .map(row)
            .collect(),
        wrapped: Some(1),
        ..List::default()
    }
}

fn strategies() -> List {
    let knowing = ALL_KNOWING
        .iter()
        .map(|(name, what)| ((*name).to_owned(), (*what).to_owned()));
    let all = knowing.chain(Registry::default().summaries());
    List {
        header: vec!["strategy", "what it does"],
        text_columns: &[0, 1],
        wrapped: Some(1),
        rows: all
            .map(|(name, summary)| vec![json!(name), json!(summary)])
            .collect(),
        ..List::default()
    }
}
