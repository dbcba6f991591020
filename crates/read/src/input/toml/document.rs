//! Documents in which some keys may hold several values: each combination is a separate reading.

use std::borrow::{Borrow, Cow};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeArray, DeTable, DeValue};
use serde::de::DeserializeOwned;

use super::deserializer;
use super::multi_value_key::{self, MultiValueKey, Path};
use super::tree::{self, Key, Step, TomlNode};
use crate::input::{Diagnostic, Diagnostics, Source};

/// The keys of a form that may hold several values, as a list or a range.
#[derive(Debug)]
pub struct Lists {
    /// The name of the combinations, in the plural.
    pub what: &'static str,
    /// Keys whose combinations of values make readings.
    pub readings: Vec<Path>,
    /// Tables whose combinations of values make tables.
    pub tables: Tables,
}

/// Named tables that may mean several tables.
#[derive(Debug)]
pub struct Tables {
    /// The name of such a table, in the singular.
    pub what: &'static str,
    pub place: Path,
    /// Keys of the tables that may hold several values.
    pub keys: Vec<Path>,
    /// The list whose entries name these tables.
    pub named_in: Path,
}

impl Lists {
    /// All keys that may hold several values, from the top of the document.
    pub fn paths(&self) -> Vec<Path> {
        [&self.readings[..], &self.tables.paths()].concat()
    }

    pub(super) fn are_at(&self, path: &[Step]) -> bool {
        multi_value_key::is_any(&self.paths(), path)
    }
}

/// Maximum number of values of a key, readings of a document, and tables made of one.
pub const MOST: usize = 1000;

/// Keys that hold several values, each with its current value if that is a number.
pub type Swept = Vec<(String, Option<f64>)>;

/// A document, not yet read.
#[derive(Debug)]
pub struct Document<'s> {
    source: &'s Arc<Source>,
    root: TomlNode<'s>,
    broken: Vec<Range<usize>>,
    lists: &'s Lists,
    axes: Vec<MultiValueKey<'s>>,
    fans: Vec<MultiValueKey<'s>>,
}

impl<'s> Document<'s> {
    /// A document of `root` with its keys of several values; mistakes in these are reported and removed.
    pub(super) fn new(
        source: &'s Arc<Source>,
        mut root: TomlNode<'s>,
        broken: Vec<Range<usize>>,
        lists: &'s Lists,
        diagnostics: &mut Diagnostics,
    ) -> Document<'s> {
        let mut reader = multi_value_key::Reader {
            source,
            broken: &broken,
            diagnostics,
            root: &mut root,
            most: MOST,
        };
        let mut axes = reader.all(&lists.readings);
        let mut fans = reader.all(&lists.tables.paths());
        let factors = axes.iter().map(|axis| axis.values.len());
        if let Some(last) = axes.last()
            && product(factors).is_none()
        {
            let each = axes
                .iter()
                .map(|axis| format!("{} {}", axis.key_below(0), axis.values.len()));
            let each = each.collect::<Vec<_>>().join(" × ");
            let what = lists.what;
            let title = format!("the lists make too many {what}: {each}; at most {MOST}");
            let complaint = Diagnostic::at_span(source, last.span.clone(), title, "too many");
            diagnostics.push(complaint.with_help("give fewer values"));
            axes.iter_mut().for_each(|axis| axis.values.truncate(1));
        }
        lists.tables.limit(&mut fans, source, diagnostics);
        Document {
            source,
            root,
            broken,
            lists,
            axes,
            fans,
        }
    }

    pub fn readings(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    pub fn has_lists(&self) -> bool {
        !self.axes.is_empty()
    }

    /// All keys of its tables; those of a table come after the table itself.
    pub fn keys(&self) -> Vec<Key> {
        tree::keys(&self.root)
    }

    /// A reading's keys and values, as `a.b=1;c=2`: only the keys that hold several values.
    pub fn name(&self, reading: usize) -> String {
        let named = (self.axes.iter().zip(digits_of(reading, &self.axes)))
            .filter_map(|(axis, at)| axis.named(0, at));
        let each: Vec<String> = named.map(|(key, word)| format!("{key}={word}")).collect();
        each.join(";")
    }

    /// A reading's keys that hold several values, each with the current value if it is a number.
    pub fn swept(&self, reading: usize) -> Swept {
        swept(&self.axes, &digits_of(reading, &self.axes), 0)
    }

    /// Tables made of one that holds several values: their names, and the keys and values that distinguish them.
    pub fn swept_tables(&self) -> Vec<(String, Swept)> {
        let depth = self.lists.tables.place.len() + 1;
        let mut all = Vec::new();
        for (name, own) in self.lists.tables.by_name(&self.fans) {
            let own: Vec<MultiValueKey<'_>> = own.into_iter().cloned().collect();
            for number in 0..own.iter().map(|fan| fan.values.len()).product() {
                let places = digits_of(number, &own);
                all.push((
                    named(name, &own, &places, depth),
                    swept(&own, &places, depth),
                ));
            }
        }
        all
    }

    /// Reads one combination as a `T`, like [`read`](super::read()); the last list changes the fastest.
    pub fn read<T: DeserializeOwned>(
        &self,
        reading: usize,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        self.read_at(&digits_of(reading, &self.axes), diagnostics)
    }

    /// The first reading, after all values of every list were read with the first values of all others.
    pub fn read_all_values<T: DeserializeOwned>(&self, diagnostics: &mut Diagnostics) -> Option<T> {
        let mut places = vec![0; self.axes.len()];
        let first = self.read_at(&places, diagnostics);
        for (place, axis) in self.axes.iter().enumerate() {
            for at in 1..axis.values.len() {
                places[place] = at;
                let _: Option<T> = self.read_at(&places, diagnostics);
            }
            places[place] = 0;
        }
        first
    }

    fn read_at<T: DeserializeOwned>(
        &self,
        places: &[usize],
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        let mut root: TomlNode<'_> = self.root.clone();
        for (axis, at) in self.axes.iter().zip(places) {
            axis.put(*at, 0, &mut root);
        }
        (self.lists.tables).fan_out(&self.fans, &mut root, self.source, diagnostics);
        deserializer::read(self.source, &root, &self.broken, diagnostics)
    }
}

/// The product, if it is within the maximum.
fn product(factors: impl Iterator<Item = usize>) -> Option<usize> {
    let mut factors = factors;
    let all = factors.try_fold(1usize, usize::checked_mul);
    all.filter(|all| *all <= MOST)
}

impl Tables {
    fn paths(&self) -> Vec<Path> {
        let below = |key: &Path| [&self.place[..], &[multi_value_key::ANY], &key[..]].concat();
        self.keys.iter().map(below).collect()
    }

    fn name_of<'f>(&self, fan: &'f MultiValueKey<'_>) -> &'f str {
        match fan.path.get(self.place.len()) {
            Some(Step::Key(name)) => name,
            _ => "",
        }
    }

    /// The names of tables that hold several values, with their keys.
    fn by_name<'f, 's>(
        &self,
        fans: &'f [MultiValueKey<'s>],
    ) -> Vec<(&'f str, Vec<&'f MultiValueKey<'s>>)> {
        let mut all: Vec<(&str, Vec<&MultiValueKey<'s>>)> = Vec::new();
        for fan in fans {
            let name = self.name_of(fan);
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, own)) => own.push(fan),
                None => all.push((name, vec![fan])),
            }
        }
        all
    }

    /// Reports tables that make too many tables, and keeps one value of each of their keys.
    fn limit(
        &self,
        fans: &mut [MultiValueKey<'_>],
        source: &Arc<Source>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut too_many = Vec::new();
        for (name, own) in self.by_name(fans) {
            if product(own.iter().map(|fan| fan.values.len())).is_none() {
                too_many.push((name.to_owned(), own[0].span.clone()));
            }
        }
        for (name, span) in too_many {
            let title = format!("`{name}` makes more than {MOST} of itself");
            diagnostics.error_at(source, span, title, "too many combinations");
            for fan in fans.iter_mut().filter(|fan| self.name_of(fan) == name) {
                fan.values.truncate(1);
            }
        }
    }

    /// Replaces each table that holds several values by a table for every combination, and its name by their names.
    fn fan_out<'t>(
        &self,
        fans: &'t [MultiValueKey<'_>],
        root: &mut TomlNode<'t>,
        source: &Arc<Source>,
        diagnostics: &mut Diagnostics,
    ) {
        let place: Vec<Step> = (self.place.iter())
            .map(|key| Step::Key((*key).to_owned()))
            .collect();
        for (name, own) in self.by_name(fans) {
            let Some((key, table)) = table_mut(root, &place).and_then(|all| all.remove_entry(name))
            else {
                continue;
            };
            let mut names = Vec::new();
            for number in 0..own.iter().map(|fan| fan.values.len()).product() {
                let mut table = table.clone();
                let (places, depth) = (digits_of(number, &own), place.len() + 1);
                for (fan, at) in own.iter().zip(&places) {
                    fan.put(*at, depth, &mut table);
                }
                let word = named(name, &own, &places, depth);
                let own_key = Spanned::new(key.span(), Cow::Owned(word.clone()));
                if let Some(all) = table_mut(root, &place)
                    && all.insert(own_key, table).is_some()
                {
                    let title = format!("there are two of the name `{word}`");
                    let label = format!("the lists make a {} of this name", self.what);
                    diagnostics.error_at(source, key.span(), title, label);
                }
                names.push(word);
            }
            self.rename(name, &names, root);
        }
    }

    /// Replaces one name by several, in the list that names tables.
    fn rename(&self, name: &str, names: &[String], root: &mut TomlNode<'_>) {
        let path: Vec<Step> = (self.named_in.iter())
            .map(|key| Step::Key((*key).to_owned()))
            .collect();
        let Some(DeValue::Array(list)) = tree::get_mut(root, &path).map(Spanned::get_mut) else {
            return;
        };
        let mut renamed = DeArray::new();
        for entry in mem::replace(list, DeArray::new()) {
            if entry.get_ref().as_str() == Some(name) {
                let span = entry.span();
                let word = |word: &String| DeValue::String(Cow::Owned(word.clone()));
                for own in names {
                    renamed.push(Spanned::new(span.clone(), word(own)));
                }
            } else {
                renamed.push(entry);
            }
        }
        *list = renamed;
    }
}

fn table_mut<'r, 't>(root: &'r mut TomlNode<'t>, path: &[Step]) -> Option<&'r mut DeTable<'t>> {
    match tree::get_mut(root, path).map(Spanned::get_mut) {
        Some(DeValue::Table(table)) => Some(table),
        _ => None,
    }
}

/// The name of a table that is made of the table `name`.
fn named<'s>(
    name: &str,
    all: &[impl Borrow<MultiValueKey<'s>>],
    places: &[usize],
    depth: usize,
) -> String {
    let mut word = name.to_owned();
    for (fan, at) in all.iter().zip(places) {
        if let Some((key, value)) = fan.borrow().named(depth, *at) {
            word.push_str(&format!(" {key} {value}"));
        }
    }
    word
}

/// Keys below `depth` steps that hold several values, each with the number at its index, if it is one.
fn swept(all: &[MultiValueKey<'_>], places: &[usize], depth: usize) -> Swept {
    let several = all
        .iter()
        .zip(places)
        .filter(|(key, _)| key.values.len() > 1);
    several
        .map(|(key, at)| (key.key_below(depth), key.number(*at)))
        .collect()
}

/// The index of each key's value in a combination; the last changes the fastest.
fn digits_of<'s>(mut number: usize, all: &[impl Borrow<MultiValueKey<'s>>]) -> Vec<usize> {
    let mut digits = vec![0; all.len()];
    for (digit, several) in digits.iter_mut().zip(all).rev() {
        let base = several.borrow().values.len();
        *digit = number % base;
        number /= base;
    }
    digits
}
