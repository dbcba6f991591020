//! Where the figures of the catalogue come from, from `data/clouds/sources.csv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source, did_you_mean};

pub const FILE: &str = "data/clouds/sources.csv";
pub const TABLE: &str = include_str!("../../../../data/clouds/sources.csv");

/// An embedded table, read once per process, with what is wrong with it; tests keep that empty.
pub(super) type Embedded<T> = LazyLock<(T, Diagnostics)>;

/// Reads an embedded table of which every row names its sources.
pub(super) fn embedded<T>(
    table: &str,
    read: fn(&str, &Sources, &mut Diagnostics) -> T,
) -> (T, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let sources = Sources::embedded(&mut diagnostics);
    (read(table, &sources, &mut diagnostics), diagnostics)
}

#[derive(Debug, Clone, Default)]
pub(super) struct Sources(HashMap<String, String>);

impl Sources {
    pub(super) fn embedded(diagnostics: &mut Diagnostics) -> Sources {
        Sources::read(TABLE, diagnostics)
    }

    pub(super) fn read(text: &str, diagnostics: &mut Diagnostics) -> Sources {
        let source = Source::new(FILE, text);
        let table = Table::read(&source, &["key", "licence", "source"], &[], diagnostics);
        let mut sources = Sources::default();
        for row in table.iter().flat_map(Table::rows) {
            let d = &mut *diagnostics;
            let cells = (row.text("key", d), row.text("licence", d));
            let ((Some(key), Some(licence)), Some(what)) = (cells, row.text("source", d)) else {
                continue;
            };
            let text = format!("{what} ({licence})");
            if sources.0.insert(key.to_owned(), text).is_some() {
                let title = format!("two sources have the key `{key}`");
                row.report("key", title, "named before", d);
            }
        }
        sources
    }

    /// Whether the cell `source` of `row` names sources that are known, as `a` or `a+b`.
    pub(super) fn check(&self, row: &Row<'_>, d: &mut Diagnostics) -> bool {
        let Some(keys) = row.text("source", d) else {
            return false;
        };
        let Some(unknown) = keys.split('+').find(|key| !self.0.contains_key(*key)) else {
            return true;
        };
        let label = did_you_mean(
            unknown,
            self.0.keys().map(String::as_str),
            format!("not in {FILE}"),
        );
        let title = format!("unknown source `{unknown}`");
        let mut known: Vec<&str> = self.0.keys().map(String::as_str).collect();
        known.sort_unstable();
        let help = format!("keys of {FILE}: {}", known.join(", "));
        row.refuse("source", title, label, help, d);
        false
    }

    pub(super) fn knows(&self, keys: &str) -> bool {
        keys.split('+').all(|key| self.0.contains_key(key))
    }

    pub(super) fn text(&self, keys: &str) -> String {
        let texts: Vec<&str> = (keys.split('+'))
            .filter_map(|key| self.0.get(key).map(String::as_str))
            .collect();
        texts.join("; ")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The source `s` alone.
    pub(in crate::cloud) fn sources() -> Sources {
        Sources::read("key,licence,source\ns,MIT,x\n", &mut Diagnostics::default())
    }

    #[test]
    fn every_source_is_used_and_has_a_licence_that_permits_it() {
        let mut diagnostics = Diagnostics::default();
        let sources = Sources::embedded(&mut diagnostics);
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        let mut tables = vec![super::super::vm_types::TABLE];
        tables.extend(super::super::prices::TABLES.iter().map(|t| t.2));
        tables.push(super::super::lifetimes::registry::TABLE);
        tables.push(super::super::delays::startup::TABLE);
        tables.push(super::super::delays::restart::TABLE);
        tables.push(super::super::delays::checkpoint_write::TABLE);
        let lines = tables.iter().flat_map(|table| table.lines());
        let cells = lines.filter_map(|line| line.rsplit(',').next());
        let cells: Vec<&str> = cells.flat_map(|keys| keys.split('+')).collect();
        for (key, text) in &sources.0 {
            assert!(cells.contains(&key.as_str()), "{key} is not used");
            let permitted = ["(MIT)", "(Apache-2.0)", "(paper)", "(rule)"];
            assert!(permitted.iter().any(|p| text.ends_with(p)), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        let mut diagnostics = Diagnostics::default();
        Sources::read("key,licence,source\na,MIT,x\na,MIT,y\n", &mut diagnostics);
        let shown = diagnostics.render(false);
        assert!(shown.contains("two sources have the key `a`"), "{shown}");
    }
}
