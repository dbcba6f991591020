//! `scavsim new`: a first scenario, with a comment on every part.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure, no_mistakes, refuse_existing};
use super::out::stem;
use super::{schema, terminal};
use scavsim_base::output::write_file;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_scenario::file::SCHEMA_ID;

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
    pub fn run(self) -> Result<Exit, Failure> {
        let path = match self.name.extension() {
            Some(ending) if ending == "toml" => self.name.clone(),
            _ => PathBuf::from(format!("{}.toml", self.name.display())),
        };
        let name = stem(&path);
        let mut wrong = Diagnostics::default();
        if let Some(why) = not_a_name(&name) {
            wrong.push(Diagnostic::general(format!(
                "`{name}` is no name for a scenario: {why}"
            )));
        }
        refuse_existing(&path, self.force, &mut wrong);
        no_mistakes(wrong)?;
        // Quoted as in TOML: a name may contain quotes.
        let quoted = toml::Value::from(name).to_string();
        let text = STARTER.replace("\"NAME\"", &quoted);
        let for_editors = with_schema(&path)?;
        let first = for_editors.map_or_else(String::new, |()| format!("#:schema {SCHEMA}\n"));
        write_file(&path, (first + &text).as_bytes())?;
        let shown = path.display();
        terminal::print(&format!(
            "{shown} is written. Look at it, change it, and then\n  scavsim check {shown}\n  scavsim run {shown}\n"
        ))?;
        if for_editors.is_some() {
            terminal::note(&format!(
                "editors complete keys and names by {SCHEMA} beside it"
            ));
        }
        Ok(Exit::Done)
    }
}

/// The schema file that scenarios name in their first line, for completion in editors.
const SCHEMA: &str = "scenario.schema.json";

/// Writes the schema of scenarios next to a scenario; `None` if another file of that name exists, which is not replaced.
fn with_schema(path: &Path) -> Result<Option<()>, Failure> {
    let beside = path.with_file_name(SCHEMA);
    let is_free = match fs::read_to_string(&beside) {
        // A schema of an older version is replaced.
        Ok(there) => there.contains(SCHEMA_ID),
        Err(why) => why.kind() == ErrorKind::NotFound,
    };
    if is_free {
        write_file(&beside, schema::text()?.as_bytes())?;
    }
    Ok(is_free.then_some(()))
}
