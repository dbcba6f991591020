//! One reading of a document, which goes on after mistakes; serde gives up at the first. What is wrong is reported and left
//! out, and the table or list around it is read again without it; a missing key is reported and made up, for the rest of its
//! table. A document in which anything was made up is never handed out.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use super::complaint::Complaint;
use super::tree::TomlNode;
use crate::input::{Diagnostic, Source};
use ::toml::de::DeValue;

/// A file with more mistakes than this is of another kind altogether.
const MOST_MISTAKES: usize = 200;

/// Values that are read at most, all that are read again included: a large document is told fewer mistakes.
const MOST_READ: usize = 20_000_000;

/// Mistakes of a document that are told, however large it is.
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

/// Where a value of the document is in memory: two of them may be at one place of the text.
type Address = *const ();

fn address(node: &TomlNode<'_>) -> Address {
    ptr::from_ref(node).cast()
}

/// What became known about a document while it was read.
pub(super) struct Reading<'a> {
    pub(super) source: &'a Arc<Source>,
    /// Lines with syntax errors: what is wrong there was reported already.
    pub(super) broken: &'a [Range<usize>],
    pub(super) mistakes: RefCell<Vec<Diagnostic>>,
    /// The values that are read no more.
    pub(super) left_out: RefCell<HashSet<Address>>,
    pub(super) made_up: RefCell<HashMap<KeyedTable, Vec<&'static str>>>,
    pub(super) made_up_tables: Cell<usize>,
    pub(super) read: Cell<usize>,
}

impl Reading<'_> {
    pub(super) fn count(&self) {
        self.read.set(self.read.get() + 1);
    }

    /// Whether it is not worth while to go on.
    pub(super) fn is_enough(&self) -> bool {
        let told = self.mistakes.borrow().len();
        told >= MOST_MISTAKES || told >= FEWEST_MISTAKES && self.read.get() > MOST_READ
    }

    pub(super) fn is_left_out(&self, node: &TomlNode<'_>) -> bool {
        self.left_out.borrow().contains(&address(node))
    }

    /// Tells what is wrong with a value of the document, and has it left out from now on.
    pub(super) fn leave_out(&self, node: &TomlNode<'_>, complaint: &Complaint, key: Option<&str>) {
        if !self.holds_made_up(node) {
            self.tell(node.span(), complaint, key);
        }
        self.left_out.borrow_mut().insert(address(node));
    }

    /// Tells what is wrong at a place, unless nothing can be trusted there.
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

    /// Makes up a key of a table, unless that was done before. One of the document is told to lack it, unless it was left
    /// out or the parser may have skipped it.
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
