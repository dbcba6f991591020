//! `scavsim new`: a first scenario, with a word on every part of it.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure};
use super::terminal;
use scavsim_measure::import::folder::write_file;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics};

/// The scenario, `NAME` in place of its name.
pub const STARTER: &str = include_str!("starter.toml");

/// Arguments of `new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// Name of the scenario; it is written to NAME.toml, here or in the folder before the name
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// Replace a file that is already there
    #[arg(long)]
    force: bool,
}

impl NewArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// [`Failure`]; a name that is none, and a file that is there, are wrong usage.
    pub fn run(self) -> Result<Exit, Failure> {
        let path = match self.name.extension() {
            Some(ending) if ending == "toml" => self.name.clone(),
            _ => PathBuf::from(format!("{}.toml", self.name.display())),
        };
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut wrong = Diagnostics::default();
        if let Some(why) = not_a_name(&name) {
            wrong.push(Diagnostic::general(format!(
                "`{name}` is no name for a scenario: {why}"
            )));
        }
        if !self.force && path.symlink_metadata().is_ok() {
            let title = format!("{} is already there", path.display());
            wrong.push(
                Diagnostic::general(title)
                    .with_help("choose another name, or replace it with `--force`"),
            );
        }
        if !wrong.is_empty() {
            return Err(Failure::Wrong(wrong));
        }
        // As TOML writes it: a name may hold quotes.
        let quoted = toml::Value::from(name).to_string();
        write_file(&STARTER.replace("\"NAME\"", &quoted), &path)?;
        let shown = path.display();
        terminal::print(&format!(
            "{shown} is written. Look at it, change it, and then\n  scavsim check {shown}\n  scavsim run {shown}\n"
        ))?;
        Ok(Exit::Done)
    }
}
