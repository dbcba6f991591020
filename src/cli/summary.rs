//! `scavsim summary`: aggregate the records of a finished run anew.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::summaries::{Form, Summaries, SummaryByArg, TableArgs};
use super::{Exit, Failure};
use crate::experiment::Aggregation;
use crate::input::{Diagnostic, Diagnostics};
use crate::report::{Folder, Places, manifest, stored_records};

/// Arguments of `summary`.
#[derive(Debug, Args)]
pub struct SummaryArgs {
    /// The folder of a finished run; nothing in it is changed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Columns to group by, with commas; those of `run` when absent
    #[arg(long, value_name = "COLUMNS")]
    by: Option<crate::experiment::KeyColumns>,
    /// Form of the summary on stdout
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    #[command(flatten)]
    table: TableArgs,
}

impl SummaryArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`]; a folder without a finished run is wrong usage.
    pub fn run(self) -> Result<Exit, Failure> {
        let by = SummaryByArg { columns: self.by };
        by.check(self.format)?;
        self.table.check(self.format, &by)?;
        let folder = Folder::existing(&self.folder);
        let wrong = |what: String, help: &str| {
            let mut wrong = Diagnostics::default();
            wrong.push(Diagnostic::general(what).with_help(help.to_owned()));
            Failure::Wrong(wrong)
        };
        const DAMAGED: &str =
            "what a run left was changed; `scavsim run FILE --out DIR --overwrite` makes it anew";
        let damaged = |error: std::io::Error| match error.kind() {
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::NotFound => {
                wrong(error.to_string(), DAMAGED)
            }
            _ => Failure::from(error),
        };
        let Some(read) = manifest::read(&folder.file(manifest::FILE)).map_err(damaged)? else {
            return Err(wrong(
                format!("there is no run in {}", self.folder.display()),
                "`scavsim run FILE --out DIR` makes one",
            ));
        };
        if read.get("complete") != Some(&Value::Bool(true)) {
            return Err(wrong(
                format!("the run in {} is not finished", self.folder.display()),
                "`scavsim run FILE --out DIR --resume` finishes it",
            ));
        }
        let by = by.for_form(self.format);
        let mut summary = Aggregation::of(by.as_ref(), manifest::is_across_vms(&read));
        stored_records::hand_out(&folder, &read, &mut summary).map_err(damaged)?;
        let name = read.get("scenario").and_then(Value::as_str);
        let mut summaries = Summaries::new(self.format, self.table.page(), false);
        let places = Places::from_identity(&read);
        summaries.add(name.unwrap_or_default(), &summary.finish(), &places)?;
        summaries.end()?;
        Ok(Exit::Done)
    }
}
