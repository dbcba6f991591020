//! `--records`: the forms in which records are written.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::exit::Exit;
use super::terminal;
use scavsim_show::report::{FORMATS, RecordsFormat};

/// The forms asked for.
#[derive(Debug, Args)]
pub struct RecordsArg {
    /// Form of the records; several with commas. CSV when absent
    #[arg(
        id = "records",
        long,
        value_name = "FORM",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)),
        requires = "out"
    )]
    names: Vec<String>,
    /// Write columns that this scenario never fills, too; rows that `--resume` goes on with keep theirs
    #[arg(long, requires = "out")]
    pub all_columns: bool,
}

impl RecordsArg {
    /// The formats without repetitions; the default is the first of all.
    pub fn formats(&self) -> Vec<&'static RecordsFormat> {
        let named = FORMATS
            .iter()
            .filter(|format| self.names.iter().any(|name| name == format.name));
        if self.names.is_empty() {
            FORMATS.iter().take(1).collect()
        } else {
            named.collect()
        }
    }
}

/// Reports how many cases have no result.
pub fn judge_failures(failed: u64) -> Exit {
    match failed {
        0 => Exit::Done,
        _ => {
            terminal::error(&format!(
                "{failed} cases have no result; see their `reason`"
            ));
            Exit::SomeCasesFailed
        }
    }
}
