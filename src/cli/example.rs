//! `scavsim example`: the scenarios that come with the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use include_dir::File;

use super::exit::{Exit, Failure, no_mistakes, refuse_existing, wrong};
use super::listing::{Format, written};
use super::out::stem;
use super::terminal;
use scavsim_base::output::write_file;
use scavsim_base::text::{Column, Sheet};
use scavsim_papers::reproduce::Paper;
use scavsim_read::input::{Diagnostics, closest};
use scavsim_scenario::library::SHIPPED;

/// Arguments of `example`.
#[derive(Debug, Args)]
pub struct ExampleArgs {
    /// The example to write here, with all that it includes, or the folder of a shipped paper; a list of all when absent
    #[arg(value_name = "NAME", value_parser = super::suggest::suggested(names), hide_possible_values = true)]
    name: Option<String>,
    /// Print it instead
    #[arg(long, requires = "name")]
    print: bool,
    /// Write it to this folder
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = ".",
        conflicts_with = "print"
    )]
    out: PathBuf,
    /// Replace files that are already there
    #[arg(long)]
    force: bool,
}

struct ShippedExample {
    name: &'static str,
    file: &'static str,
    text: &'static str,
}

/// The scenarios that need nothing else, and the measurements that documents use.
fn shipped() -> impl Iterator<Item = ShippedExample> {
    SHIPPED.files().filter_map(shipped_example)
}

fn shipped_example(file: &'static File<'static>) -> Option<ShippedExample> {
    Some(ShippedExample {
        name: file.path().file_stem()?.to_str()?,
        file: file.path().to_str()?,
        text: file.contents_utf8()?,
    })
}

pub(super) fn names() -> Vec<&'static str> {
    shipped().map(|shipped| shipped.name).collect()
}

/// The first comment of a scenario, up to the end of its first sentence.
fn about(text: &str) -> String {
    if !text.starts_with('#') {
        return "measurements of a job, for `scavsim advise` and `scavsim import profile`"
            .to_owned();
    }
    let comment = text.lines().map_while(|line| line.strip_prefix('#'));
    let words = comment
        .filter(|line| !line.starts_with(':'))
        .take_while(|line| !line.trim().is_empty());
    let all = words.map(str::trim).collect::<Vec<_>>().join(" ");
    match all.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => all,
    }
}

impl ExampleArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        let Some(name) = &self.name else {
            return list();
        };
        let paper = name.strip_prefix(PAPERS).unwrap_or(name);
        let Some(first) = find(name) else {
            if Paper::names().contains(&paper) {
                return self.write_paper(paper);
            }
            let near = closest(name, names());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let help =
                format!("{near}`scavsim example` lists all, and `{PAPERS}PAPER` names a paper");
            return Err(wrong(format!("there is no example `{name}`"), &help));
        };
        if self.print {
            terminal::print(first.text)?;
            return Ok(Exit::Done);
        }
        let files = with_included(first);
        let here = self.out == Path::new(".");
        let path = |own: &ShippedExample| {
            if here {
                PathBuf::from(own.file)
            } else {
                self.out.join(own.file)
            }
        };
        let paths: Vec<PathBuf> = files.iter().map(path).collect();
        self.refuse_overwriting(&paths)?;
        for (own, path) in files.iter().zip(&paths) {
            write_file(path, without_schema(own.text).as_bytes())?;
        }
        let written: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let next = if files[0].file.ends_with(".toml") {
            format!("scavsim run {}", written[0])
        } else {
            format!("scavsim advise {} --samples-per-epoch 50000", written[0])
        };
        terminal::print(&format!("written: {}\n  {next}\n", written.join(", ")))?;
        Ok(Exit::Done)
    }

    /// Writes the folder of a paper of the library.
    fn write_paper(&self, name: &str) -> Result<Exit, Failure> {
        let files = Paper::files(name);
        let folder = self.out.join(name);
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| folder.join(path)).collect();
        self.refuse_overwriting(&paths)?;
        for ((_, bytes), path) in files.iter().zip(&paths) {
            write_file(path, bytes)?;
        }
        let folder = folder.strip_prefix(".").unwrap_or(&folder).display();
        terminal::print(&format!(
            "written: {folder}/\n  scavsim reproduce {folder}\n"
        ))?;
        Ok(Exit::Done)
    }

    fn refuse_overwriting(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        let mut there = Diagnostics::default();
        for path in paths {
            refuse_existing(path, self.force, &mut there);
        }
        no_mistakes(there)
    }
}

/// Prefix of an example that is a paper.
const PAPERS: &str = "papers/";

fn find(name: &str) -> Option<ShippedExample> {
    shipped().find(|shipped| shipped.name == name || shipped.file == name)
}

/// An example, followed by the ones that it includes and the folders of workloads that they name.
fn with_included(first: ShippedExample) -> Vec<ShippedExample> {
    let mut seen = BTreeSet::from([first.file]);
    let mut all = vec![first];
    let mut at = 0;
    while let Some(own) = all.get(at) {
        let table: toml::Table = own.text.parse().unwrap_or_default();
        let included: Vec<&str> = match table.get("include") {
            Some(toml::Value::String(file)) => vec![file],
            Some(toml::Value::Array(files)) => files.iter().filter_map(|f| f.as_str()).collect(),
            _ => Vec::new(),
        };
        let workloads = table.get("workloads").and_then(toml::Value::as_array);
        let folders = (workloads.into_iter().flatten()).filter_map(toml::Value::as_str);
        let tables = folders.filter_map(|folder| SHIPPED.get_dir(folder));
        let tables = tables.flat_map(|folder| folder.files().filter_map(shipped_example));
        let found: Vec<ShippedExample> = included.into_iter().filter_map(find).collect();
        all.extend((found.into_iter().chain(tables)).filter(|shipped| seen.insert(shipped.file)));
        at += 1;
    }
    all
}

/// Removes the line that locates the schema in the repository for editors.
fn without_schema(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("#:schema")).collect()
}

fn list() -> Result<Exit, Failure> {
    let columns = [
        Column::word("example", |own: &ShippedExample| own.name),
        Column::text("what it is", |own: &ShippedExample| about(own.text)).wrapped(),
    ];
    let list = Sheet::new(shipped(), columns);
    terminal::print(&written(&list, Format::Table, &terminal::page())?)?;
    terminal::note("`scavsim example NAME` writes one here");
    Ok(Exit::Done)
}

pub(super) fn instead_of(path: &Path) -> String {
    match find(&stem(path)).filter(|own| own.file.ends_with(".toml")) {
        Some(own) => format!(
            "`scavsim example {}` writes the shipped scenario of that name here",
            own.name
        ),
        None => {
            "`scavsim new NAME` writes a first scenario, `scavsim example` lists the shipped ones"
                .to_owned()
        }
    }
}
