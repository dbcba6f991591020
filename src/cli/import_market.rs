//! `scavsim import market`: turns traces of spot availability into a market.

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure, accept, no_mistakes};
use super::out::last;
use super::terminal;
use scavsim_import::folder::{self, Kind};
use scavsim_import::{market, trial};
use scavsim_provision::world::written::WrittenMarket;
use scavsim_read::input::Diagnostics;

/// Arguments of `import market`.
#[derive(Debug, Args)]
pub struct MarketArgs {
    /// A trace per zone: {"metadata": {"gap_seconds": 600}, "data": [1, 0, …]}, machines that were there at each look
    #[arg(required = true, value_name = "ZONE.json")]
    files: Vec<PathBuf>,
    /// USD per machine and hour on demand
    #[arg(long, value_name = "USD")]
    on_demand_usd_per_h: f64,
    /// USD per machine and hour in the spot market, all the time [default: the traces' own `prices`, one per look]
    #[arg(long, value_name = "USD")]
    spot_usd_per_h: Option<f64>,
    /// USD per GB of a checkpoint that moves between regions [default: nothing]
    #[arg(long, value_name = "USD")]
    egress_usd_per_gb: Option<f64>,
    /// Where the traces are from, for people [default: not said]
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Terms of use [default: not said]
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,
    /// Folder of the market
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the market is called [default: as the folder]
    #[arg(long)]
    name: Option<String>,
    /// Replace a market that is already there
    #[arg(long)]
    force: bool,
}

impl MarketArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        folder::check(
            &self.out,
            Kind::MARKET,
            self.force,
            &inputs,
            &mut diagnostics,
        );
        let options = market::MarketOptions {
            name: self.name.clone().unwrap_or_else(|| last(&self.out)),
            files: self.files.clone(),
            on_demand_usd_per_h: self.on_demand_usd_per_h,
            spot_usd_per_h: self.spot_usd_per_h,
            egress_usd_per_gb: self.egress_usd_per_gb,
            source: self.source.clone(),
            licence: self.licence.clone(),
        };
        let imported = market::read(&options, &mut diagnostics);
        let imported = accept(imported, std::mem::take(&mut diagnostics))?;
        // The reader of markets checks it before anything is written.
        WrittenMarket::read(&trial::folder(&imported.files, &self.out), &mut diagnostics);
        no_mistakes(diagnostics)?;
        folder::write(&imported.files, &self.out, Kind::MARKET)?;
        terminal::warn(imported.report.warnings());
        terminal::print(&imported.report.to_string())?;
        Ok(Exit::Done)
    }
}
