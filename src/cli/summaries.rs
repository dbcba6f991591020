//! Summaries on stdout, in the requested format.

use std::io;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::exit::{Failure, wrong};
use super::terminal;
use scavsim_base::text::Page;
use scavsim_experiment::metrics::KeptMetrics;
use scavsim_experiment::{Aggregated, KeyColumns};
use scavsim_show::report::{
    Places, axis_map, clusters_table, market_table, policies_table, summary_by, summary_csv,
    summary_json, summary_table, table_figures,
};

/// Form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Form {
    /// For people: a line per strategy
    #[default]
    Table,
    /// For people: a line per pricing policy
    Policies,
    /// For people: a line per kind of cluster, VM type or choice; `summary.csv` has the same groups
    Clusters,
    /// For people: a line per configuration, as `scavsim rank` prints it
    Configurations,
    /// For people: a map of two axes for each strategy, with columns like `strategy,axis.A,axis.B`
    Map,
    /// For spreadsheets and data frames
    Csv,
    /// For programs; the stable interface
    Json,
    /// The tables for people, as Markdown
    Markdown,
    /// The tables for people, as LaTeX
    Latex,
}

terminal::printed_form!(Form);

impl Form {
    /// The metrics of a summary that are printed in this format.
    pub fn printed(self, by_columns: bool) -> &'static KeptMetrics {
        match self {
            Form::Table | Form::Policies if !by_columns => table_figures::kept(),
            _ => KeptMetrics::all(),
        }
    }
}

/// `--summary-by`: the columns that the summary groups by.
#[derive(Debug, Clone, Args)]
pub struct SummaryByArg {
    /// Columns of the records that the summary groups by, with commas, like `workload,chosen_vm`, and axes of choices,
    /// like `chosen.learning_rate`;
    /// workload, pricing, objective and strategy when absent, with medians and choices
    #[arg(id = "summary_by", long = "summary-by", value_name = "COLUMNS")]
    pub columns: Option<KeyColumns>,
}

impl SummaryByArg {
    /// Whether the summary can be printed in this format.
    pub fn check(&self, format: Form) -> Result<(), Failure> {
        let name = match format {
            Form::Policies => "policies",
            Form::Clusters => "clusters",
            Form::Configurations => "configurations",
            Form::Map if self.columns.is_none() => {
                return Err(wrong(
                    "`--format map` is of two axes, and none is named",
                    "name them: `--by strategy,axis.compute_scale,axis.network_scale`; with `run` it is `--summary-by`",
                ));
            }
            _ => return Ok(()),
        };
        if self.columns.is_none() {
            return Ok(());
        }
        let title = format!("`--format {name}` shows no summary by other columns");
        Err(wrong(
            title,
            "allowed with columns: `table`, `map`, `csv`, `json`",
        ))
    }

    pub fn for_form(self, format: Form) -> Option<KeyColumns> {
        match format {
            Form::Clusters => Some(KeyColumns::of_clusters()),
            _ => self.columns,
        }
    }
}

/// How much of a table is shown.
#[derive(Debug, Clone, Default, Args)]
pub struct TableArgs {
    /// Show all columns of tables with all they have, however wide
    #[arg(long)]
    pub wide: bool,
    /// Columns of the table beside strategy and choice, with commas; those that fit when absent
    #[arg(id = "table_columns", long = "columns", value_name = "NAMES", value_delimiter = ',', conflicts_with = "wide",
          value_parser = PossibleValuesParser::new(summary_table::column_words()))]
    pub columns: Vec<String>,
}

impl TableArgs {
    pub fn page(&self) -> Page {
        Page {
            is_wide: self.wide,
            columns: self.columns.clone(),
            ..terminal::page()
        }
    }

    /// Whether a summary in this format has the requested columns.
    pub fn check(&self, format: Form, by: &SummaryByArg) -> Result<(), Failure> {
        if self.columns.is_empty() || (format == Form::Table && by.columns.is_none()) {
            return Ok(());
        }
        Err(wrong(
            "`--columns` chooses among those of the table of strategies",
            "`--wide` shows all columns of any table",
        ))
    }
}

pub struct Summaries {
    format: Form,
    page: Page,
    several: bool,
    /// Whether a table of clusters has been started.
    begun: bool,
    /// CSV and JSON are printed in one piece.
    table: String,
    values: Vec<Value>,
}

impl Summaries {
    pub fn new(format: Form, page: Page, several: bool) -> Self {
        Summaries {
            format,
            page,
            several,
            begun: false,
            table: String::new(),
            values: Vec::new(),
        }
    }

    pub fn add(&mut self, scenario: &str, summary: &Aggregated, places: &Places) -> io::Result<()> {
        if let Aggregated::By(table) = summary {
            for name in &table.empty_axes {
                let axis = name.split_once('.').map_or(name.as_str(), |(_, axis)| axis);
                terminal::note(&format!(
                    "no configuration has an axis `{axis}`: `{name}` is empty; the axes there are stand in \
                     `chosen_other` and `oracle_other`"
                ));
            }
        }
        match (self.format, summary) {
            (Form::Table | Form::Policies, Aggregated::Usual(groups))
                if market_table::is_of(groups.iter().map(|group| &group.tallied)) =>
            {
                terminal::print(&market_table::render(groups, &self.page))
            }
            (Form::Table | Form::Markdown | Form::Latex, Aggregated::Usual(groups)) => {
                terminal::print(&summary_table::render(groups, places, &self.page))
            }
            (Form::Policies, Aggregated::Usual(groups)) => {
                terminal::print(&policies_table::render(groups, places, &self.page))
            }
            (Form::Clusters, Aggregated::By(table)) => {
                self.begun = true;
                terminal::print(&clusters_table::render(scenario, table, places, &self.page))
            }
            // With clusters as the format, a run is grouped by them; configurations have a table of their own.
            (Form::Clusters | Form::Configurations | Form::Map, Aggregated::Usual(groups)) => {
                terminal::print(&summary_table::render(groups, places, &self.page))
            }
            (
                Form::Table | Form::Markdown | Form::Latex | Form::Policies | Form::Configurations,
                Aggregated::By(table),
            ) => {
                let below = places.below(&self.page);
                terminal::print(&(summary_by::table(table, &self.page) + &below))
            }
            (Form::Map, Aggregated::By(table)) => {
                let Some(map) = axis_map::render(table, &self.page) else {
                    terminal::note(
                        "there is no map: it needs two axes with numbers, as `--by strategy,axis.compute_scale,axis.network_scale`",
                    );
                    return terminal::print(&summary_by::table(table, &self.page));
                };
                terminal::print(&map)
            }
            (Form::Csv, _) => {
                // One header for all scenarios.
                self.table += &summary_csv::text(summary, self.table.is_empty());
                Ok(())
            }
            (Form::Json, _) => {
                self.values.push(match summary {
                    Aggregated::Usual(groups) => summary_json::value(scenario, groups),
                    Aggregated::By(table) => summary_by::json(scenario, table),
                });
                Ok(())
            }
        }
    }

    pub fn end(self) -> io::Result<()> {
        if self.format == Form::Clusters && self.begun {
            terminal::print(&clusters_table::legend(&self.page))?;
        }
        if !self.table.is_empty() {
            terminal::print(&summary_csv::without_empty_columns(&self.table))?;
        }
        let mut values = self.values;
        let all = match values.pop() {
            None => return Ok(()),
            Some(only) if !self.several => only,
            Some(last) => {
                values.push(last);
                Value::from(values)
            }
        };
        terminal::print(&(serde_json::to_string_pretty(&all)? + "\n"))
    }
}
