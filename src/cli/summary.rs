//! `scavsim summary`: aggregates the records of a finished run again.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure};
use super::finished::FinishedRun;
use super::summaries::{Form, Summaries, SummaryByArg, TableArgs};
use super::terminal::PrintedForm;
use scavsim_experiment::Summary;
use scavsim_show::report::{Places, manifest};

/// Arguments of `summary`.
#[derive(Debug, Args)]
pub struct SummaryArgs {
    /// The folder of a finished run; nothing in it is changed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Columns to group by, with commas; those of `run` when absent
    #[arg(long, value_name = "COLUMNS")]
    by: Option<scavsim_experiment::KeyColumns>,
    /// Form of the summary on stdout
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    #[command(flatten)]
    table: TableArgs,
}

impl SummaryArgs {
    pub fn run(mut self) -> Result<Exit, Failure> {
        self.format = self.format.settled();
        let by = SummaryByArg { columns: self.by };
        by.check(self.format)?;
        self.table.check(self.format, &by)?;
        let run = FinishedRun::open(&self.folder)?;
        let by = by.for_form(self.format);
        let across_vms = manifest::is_across_vms(&run.identity);
        let mut summary = Summary::new(by.as_ref(), across_vms, run.tasks());
        run.hand_out(&mut summary)?;
        let mut summaries = Summaries::new(self.format, self.table.page(), false);
        let places = Places::from_identity(&run.identity);
        summaries.add(run.name(), &summary.finish()?, &places)?;
        summaries.end()?;
        Ok(Exit::Done)
    }
}
