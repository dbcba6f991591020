//! Runtimes, models and profiles of layers as a file names them: by a word, a path or a table.

use std::path::PathBuf;
use std::sync::Arc;

use crate::complaints::Complaints;
use crate::files::Files;
use crate::forms::NameOrTable;
use crate::parallel_table::ParallelTable;
use scavsim_parallel::architecture::library as models;
use scavsim_parallel::runtime::{RuntimePreset, preset};
use scavsim_parallel::{Architecture, LayerProfile, library};
use scavsim_read::input::{Folder, Source, Spanned, did_you_mean, listed};

/// Runtime of a model without a profile or named runtime: that of most runs behind the law.
const USUAL_OF_MODELS: &str = "fsdp";
/// Runtime of a model that is fine-tuned without a named runtime: that of the runs with adapters behind the law.
const USUAL_OF_TUNING: &str = "transformers";

pub(super) fn runtime(
    table: &ParallelTable,
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> Option<RuntimePreset> {
    let usual = match (&table.model, &table.train) {
        (Some(_), Some(_)) => USUAL_OF_TUNING,
        (Some(_), None) => USUAL_OF_MODELS,
        (None, _) => preset::USUAL,
    };
    let Some(chosen) = &table.runtime else {
        return preset::embedded(usual, complaints.diagnostics);
    };
    match chosen.get_ref() {
        NameOrTable::Named(word) if is_path(word) => {
            let path = files.folder(chosen.span().start).join(word);
            let source = Source::read(&path, complaints.diagnostics)?;
            RuntimePreset::read(word, &source, complaints.diagnostics)
        }
        NameOrTable::Named(word) => {
            let found = preset::embedded(word, complaints.diagnostics);
            if found.is_none() {
                let known = preset::names();
                let title = format!("unknown runtime `{word}`");
                not_known(
                    chosen,
                    word,
                    title,
                    &known,
                    "or the path of one, with a `/`",
                    complaints,
                );
            }
            found
        }
        NameOrTable::Table(own) => {
            let mut own = (**own).clone();
            own.base
                .get_or_insert_with(|| Spanned::new(chosen.span(), usual.to_owned()));
            let mut told = Vec::new();
            let found = RuntimePreset::from_table("own", &own, |span, title, label, help| {
                told.push((span.unwrap_or(chosen.span()), title, label, help));
            });
            for (span, title, label, help) in told {
                complaints.refuse(span, title, label, help);
            }
            found
        }
    }
}

pub(super) fn not_known(
    place: &Spanned<impl Sized>,
    word: &str,
    title: String,
    known: &[&str],
    beside: &str,
    complaints: &mut Complaints<'_>,
) {
    let label = did_you_mean(word, known.iter().copied(), "not known");
    let help = format!("allowed here: {}, {beside}", listed(known.iter().copied()));
    complaints.refuse(place.span(), title, label, help);
}

fn path_of<T>(files: &Files, given: &Spanned<T>, word: &str) -> PathBuf {
    files.folder(given.span().start).join(word)
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.starts_with('.')
}

pub(super) fn model(
    given: &Spanned<NameOrTable<scavsim_parallel::ModelTable>>,
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> Option<Arc<Architecture>> {
    let (own, name) = match given.get_ref() {
        NameOrTable::Named(word)
            if is_path(word)
                && (models::embedded(word).is_none() || path_of(files, given, word).exists()) =>
        {
            let path = path_of(files, given, word);
            let source = Source::read(&path, complaints.diagnostics)?;
            let before = complaints.count();
            let own = scavsim_read::input::toml::read(&source, complaints.diagnostics)?;
            if complaints.count() > before {
                return None;
            }
            let stem = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            (own, stem.unwrap_or_else(|| "model".to_owned()))
        }
        NameOrTable::Named(word) => {
            let found = models::embedded(word);
            if found.is_none() {
                let title = format!("unknown model `{word}`");
                let beside = "the path of an architecture, with a `/`, or `{ layers, hidden, heads, vocabulary }`";
                not_known(given, word, title, &models::names(), beside, complaints);
            }
            return found;
        }
        NameOrTable::Table(own) => ((**own).clone(), "model".to_owned()),
    };
    match own.architecture(&name) {
        Ok(model) => Some(Arc::new(model)),
        Err(wrong) => {
            for impossible in wrong {
                let title = format!("`{}` makes no model", impossible.key);
                complaints.error_at(given.span(), title, impossible.why);
            }
            None
        }
    }
}

pub(super) fn profile(
    table: &ParallelTable,
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> Option<LayerProfile> {
    let name = table.profile.as_ref()?;
    let word = name.get_ref();
    if is_path(word) {
        let path = files.folder(name.span().start).join(word);
        if !path.is_dir() {
            let title = format!("there is no folder `{word}` of a layer profile");
            let complaint = complaints.mistake_at(name.span(), title, "not a folder");
            complaints.push(complaint.with_help("paths are relative to the file that names them"));
            return None;
        }
        return LayerProfile::load(&Folder::Disk(path), complaints.diagnostics);
    }
    if library::embedded(word).is_none() {
        let title = format!("unknown layer profile `{word}`");
        let beside = "or the path of a folder, with a `/`";
        not_known(name, word, title, &library::names(), beside, complaints);
        return None;
    }
    library::profile(word, complaints.diagnostics)
}
