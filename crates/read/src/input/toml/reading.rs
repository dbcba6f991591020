//! One reading of a document, which continues after mistakes, while serde stops at the first one. A mistake is reported and
//! left out, and the table or list around it is read again without it; a missing key is reported and made up, for the rest of
//! its table. A document in which anything was made up is never returned.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use super::complaint::Complaint;
use super::tree::TomlNode;
use crate::input::{Diagnostic, Source};
use ::toml::de::DeValue;

/// A file with more mistakes is of another kind.
const MOST_MISTAKES: usize = 200;

/// Maximum number of values that are read, repetitions included: a large document gets fewer messages.
const MOST_READ: usize = 20_000_000;

/// Number of mistakes that are reported for documents of any size.
const FEWEST_MISTAKES: usize = 10;

/// A table in which keys can be made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KeyedTable {
    Written(Address),
    MadeUp(usize),
}

impl KeyedTable {
    pub(super) fn written(node: &TomlNode<'_>) -> KeyedTable {
        KeyedTable::Written(address(node))
    }
}

/// The address of a value in memory: two values may have one place in the text.
type Address = *const ();

fn address(node: &TomlNode<'_>) -> Address {
    ptr::from_ref(node).cast()
}

/// State of reading a document.
pub(super) struct Reading<'a> {
    pub(super) source: &'a Arc<Source>,
    /// Lines with syntax errors, which were reported already.
    pub(super) broken: &'a [Range<usize>],
    pub(super) mistakes: RefCell<Vec<Diagnostic>>,
    /// The values that are not read again.
    pub(super) left_out: RefCell<HashSet<Address>>,
    pub(super) made_up: RefCell<HashMap<KeyedTable, Vec<&'static str>>>,
    pub(super) made_up_tables: Cell<usize>,
    pub(super) read: Cell<usize>,
}

impl Reading<'_> {
    pub(super) fn count(&self) {
        self.read.set(self.read.get() + 1);
    }

    /// Whether it is no longer useful to continue.
    pub(super) fn is_enough(&self) -> bool {
        let told = self.mistakes.borrow().len();
        told >= MOST_MISTAKES || told >= FEWEST_MISTAKES && self.read.get() > MOST_READ
    }

    pub(super) fn is_left_out(&self, node: &TomlNode<'_>) -> bool {
        self.left_out.borrow().contains(&address(node))
    }

    /// Reports a mistake in a value of the document, and leaves it out from now on.
    pub(super) fn leave_out(&self, node: &TomlNode<'_>, complaint: &Complaint, key: Option<&str>) {
        if !self.holds_made_up(node) {
            self.tell(node.span(), complaint, key);
        }
        self.left_out.borrow_mut().insert(address(node));
    }

    /// Reports a mistake at a place, unless the place cannot be trusted.
    pub(super) fn tell(&self, span: Range<usize>, complaint: &Complaint, key: Option<&str>) {
        let on_broken_line =
            |line: &Range<usize>| line.start <= span.start && span.start <= line.end;
        if matches!(complaint, Complaint::Consequence) || self.broken.iter().any(on_broken_line) {
            return;
        }
        let (title, label, help) = complaint.message_parts(key);
        let mut diagnostic = Diagnostic::at_span(self.source, span, title, label);
        diagnostic.help = help;
        self.mistakes.borrow_mut().push(diagnostic);
    }

    pub(super) fn made_up_table(&self) -> KeyedTable {
        self.made_up_tables.set(self.made_up_tables.get() + 1);
        KeyedTable::MadeUp(self.made_up_tables.get())
    }

    /// Makes up a key of a table, unless that was done before. A table of the document is reported to lack it, unless the key
    /// was left out or the parser may have skipped it.
    pub(super) fn make_up(
        &self,
        table: KeyedTable,
        key: &'static str,
        node: Option<&TomlNode<'_>>,
    ) -> bool {
        if self.made_up(table).contains(&key) {
            return false;
        }
        let lacks =
            |node: &&TomlNode<'_>| self.broken.is_empty() && node.get_ref().get(key).is_none();
        if let Some(node) = node.filter(lacks) {
            self.tell(node.span(), &Complaint::Missing { key }, None);
        }
        (self.made_up.borrow_mut().entry(table).or_default()).push(key);
        true
    }

    pub(super) fn made_up(&self, table: KeyedTable) -> Vec<&'static str> {
        self.made_up
            .borrow()
            .get(&table)
            .cloned()
            .unwrap_or_default()
    }

    /// Whether anything was made up in a value: it may be refused only because of that.
    fn holds_made_up(&self, node: &TomlNode<'_>) -> bool {
        if self.made_up.borrow().is_empty() {
            return false;
        }
        self.made_up
            .borrow()
            .contains_key(&KeyedTable::written(node))
            || match node.get_ref() {
                DeValue::Table(table) => table.values().any(|own| self.holds_made_up(own)),
                DeValue::Array(list) => list.iter().any(|own| self.holds_made_up(own)),
                _ => false,
            }
    }
}
