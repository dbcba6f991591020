use std::collections::HashSet;

use super::complaints::Complaints;
use super::files::Files;
use scavsim_data::configuration::Shape;
use scavsim_data::workload::{Workload, library, load};
use scavsim_read::input::{Folder, Spanned};

/// Reads the workloads in `key`, the program's `own` first; none after a mistake.
pub(super) fn read(
    key: &str,
    asked: &Spanned<Vec<Spanned<String>>>,
    files: &Files,
    own: &[(String, Folder)],
    complaints: &mut Complaints<'_>,
) -> Vec<Option<Workload>> {
    let names: Vec<&str> = (own.iter().map(|(name, _)| name.as_str()))
        .chain(library::names())
        .collect();
    complaints.not_empty(key, asked, &names);
    let asked = asked.get_ref();
    complaints.no_duplicates(key, asked);
    let loaded: Vec<Option<Workload>> = (asked.iter())
        .map(
            |name| match own.iter().find(|(known, _)| known == name.get_ref()) {
                Some((_, folder)) => load::load(folder, complaints.diagnostics),
                None => workload(name, files, &names, complaints),
            },
        )
        .collect();
    no_namesakes(asked, &loaded, complaints);
    loaded
}

/// Workloads with default earlier runs: the scenario's, and those of the library measured on one of their VM types.
pub(super) fn stored(
    loaded: &[Option<Workload>],
    complaints: &mut Complaints<'_>,
) -> Vec<Option<Workload>> {
    let own: HashSet<&str> = loaded.iter().flatten().map(|w| &*w.name).collect();
    let shapes = loaded.iter().flatten().flat_map(|w| w.steps.shapes());
    let types: HashSet<&str> = shapes
        .filter_map(|shape| Some(Shape::parse(shape).ok()?.vm_type))
        .collect();
    let others = library::on(&types).filter(|name| !own.contains(name));
    let others = others.filter_map(library::embedded);
    let others = others.map(|folder| load::load(&folder, complaints.diagnostics));
    let others: Vec<Option<Workload>> = others.collect();
    [loaded, &others].concat()
}

/// A name is an embedded workload; a word with a `/`, or `.`, is a folder.
fn workload(
    name: &Spanned<String>,
    files: &Files,
    names: &[&str],
    complaints: &mut Complaints<'_>,
) -> Option<Workload> {
    let word = name.get_ref();
    let folder = if word.contains('/') || word.starts_with('.') {
        let path = files.folder(name.span().start).join(word);
        if !path.is_dir() {
            let title = format!("there is no workload folder `{word}`");
            let complaint = (complaints.mistake_at(name.span(), title, "not a folder"))
                .with_help("paths are relative to the file that names them");
            complaints.push(complaint);
            return None;
        }
        Folder::Disk(path)
    } else if let Some(folder) = library::embedded(word) {
        folder
    } else {
        let title = format!("unknown workload `{word}`");
        // A folder of that name next to the file was meant.
        let beside = files.folder(name.span().start).join(word);
        if beside.join(load::FILES[0]).is_file() {
            let label = format!("write `./{word}`");
            let complaint = (complaints.mistake_at(name.span(), title, label))
                .with_help("a folder is named by a path, with a `/` in it");
            complaints.push(complaint);
            return None;
        }
        complaints.unknown(title, name, names, "list workloads");
        return None;
    };
    load::load(&folder, complaints.diagnostics)
}

/// Results identify workloads by the name in `workload.toml`: it must be unique.
fn no_namesakes(
    asked: &[Spanned<String>],
    loaded: &[Option<Workload>],
    complaints: &mut Complaints<'_>,
) {
    let all: Vec<(&Spanned<String>, &str)> = (asked.iter().zip(loaded))
        .filter_map(|(asked, w)| Some((asked, w.as_ref()?.name.as_str())))
        .collect();
    for (index, (asked, name)) in all.iter().enumerate() {
        // A duplicate entry is reported as such.
        let namesake = |(other, same): &&(&Spanned<String>, &str)| {
            same == name && other.get_ref() != asked.get_ref()
        };
        if let Some((other, _)) = all[..index].iter().find(namesake) {
            let title = format!("two workloads are called `{name}`");
            let label = format!("has the same `name` as `{}`", other.get_ref());
            let complaint = (complaints.mistake_at(asked.span(), title, label))
                .with_help("give one of them another `name` in its workload.toml");
            complaints.push(complaint);
        }
    }
}
