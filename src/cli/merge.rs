//! `scavsim merge`: merges the shards of a run.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::exit::{Exit, Failure, no_mistakes};
use super::progress::Progress;
use super::records::{self, RecordsArg};
use super::summaries::{Form, Summaries, SummaryByArg, TableArgs};
use super::terminal::PrintedForm;
use super::{out, resume};
use scavsim_experiment::Summary;
use scavsim_read::input::Diagnostics;
use scavsim_show::report::{OutputFolder, Places, Results, Shards, manifest, shard_file};

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The folder that `run --shard I/N --out` wrote to; records, summary.csv and manifest.json
    /// are written there, as without shards
    #[arg(id = "out", value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    records: RecordsArg,
    /// Replace another run in DIR that is not finished; one that is finished is replaced without it
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    summary_by: SummaryByArg,
    /// Form of the summary on stdout
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    #[command(flatten)]
    table: TableArgs,
}

impl MergeArgs {
    pub fn run(mut self) -> Result<Exit, Failure> {
        self.format = self.format.settled();
        self.summary_by.check(self.format)?;
        self.table.check(self.format, &self.summary_by)?;
        let shards = self.folder.join(shard_file::FOLDER);
        if !self.folder.is_dir() {
            // Nothing is created if there is nothing to merge.
            Shards::open(&shards).map_err(Failure::Wrong)?;
        }
        let folder = out::writable(OutputFolder::alone(&self.folder))?;
        let mut shards = Shards::open(&shards).map_err(Failure::Wrong)?;
        let mut wrong = Diagnostics::default();
        if !self.overwrite {
            const HELP: &str =
                "continue it with `scavsim run --resume`, or replace it with `--overwrite`";
            resume::keep(folder.path(), Some(&shards.identity), HELP, &mut wrong);
        }
        no_mistakes(wrong)?;
        let formats = self.records.formats();
        let name = match shards.identity.get("scenario") {
            Some(Value::String(name)) => name.clone(),
            _ => String::new(),
        };
        let by = self.summary_by.for_form(self.format);
        let across_vms = manifest::is_across_vms(&shards.identity);
        let summary = Summary::new(by.as_ref(), across_vms, shards.tasks());
        let mut results = Results::start(&folder, shards.identity.clone(), &formats, summary)?;
        let progress = Progress::start(&name, shards.cases());
        // Inside the pool all threads add up sums.
        let finished = rayon::scope(|_| shards.merge(&mut results, &progress.counter))?;
        drop(progress);
        let summary = results.finish(&finished, shards.expectations)?;
        let mut summaries = Summaries::new(self.format, self.table.page(), false);
        let places = Places::from_identity(&shards.identity);
        summaries.add(&name, &summary, &places)?;
        summaries.end()?;
        Ok(records::judge_failures(finished.failed))
    }
}
