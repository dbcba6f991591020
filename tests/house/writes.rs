//! Calls that open, create, move or remove files.

use syn::visit::{self, Visit};
use syn::{ExprMethodCall, File, ItemMod, Macro, Path, UseTree};

/// Functions of `std::fs`, by any path.
const OF_FS: [&str; 10] = [
    "copy",
    "create_dir",
    "create_dir_all",
    "hard_link",
    "remove_dir",
    "remove_dir_all",
    "remove_file",
    "rename",
    "set_permissions",
    "write",
];
/// Functions of `File`.
const OF_FILE: [&str; 4] = ["create", "create_buffered", "create_new", "options"];
/// Types, crates and methods of others that also write files.
const WORDS: [&str; 7] = [
    "DirBuilder",
    "OpenOptions",
    "generate_to",
    "symlink",
    "tempfile",
    "to_path",
    "from_path",
];
/// Readers of the same name.
const READERS: [&str; 2] = ["Reader", "ReaderBuilder"];

/// Words with which a file writes files, outside of its tests.
pub fn writes(file: &File) -> Vec<String> {
    let mut seen = Writes(Vec::new());
    seen.visit_file(file);
    seen.0
}

struct Writes(Vec<String>);

impl Writes {
    fn path(&mut self, segments: &[String]) {
        let last = segments.last().map_or("", |last| last);
        let before = segments.iter().rev().nth(1).map_or("", |before| before);
        let is_written = match before {
            "fs" => OF_FS.contains(&last) || last == "*",
            "File" => OF_FILE.contains(&last),
            _ => false,
        };
        let is_word = |word: &String| WORDS.contains(&word.as_str());
        let is_reader = READERS.contains(&before);
        if is_written || (segments.iter().any(is_word) && !is_reader) {
            self.0.push(segments.join("::"));
        }
    }

    fn names(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.names(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.path(&with(name.ident.to_string())),
            UseTree::Rename(name) => self.path(&with(name.ident.to_string())),
            UseTree::Glob(_) => self.path(&with("*".to_owned())),
            UseTree::Group(group) => group.items.iter().for_each(|one| self.names(before, one)),
        }
    }
}

impl<'ast> Visit<'ast> for Writes {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !crate::source::is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let segments: Vec<String> = (path.segments.iter())
            .map(|segment| segment.ident.to_string())
            .collect();
        self.path(&segments);
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.names(&[], &item.tree);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.path(&[call.method.to_string()]);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        // Tokens, as they are written with blanks between them.
        let text = call.tokens.to_string().replace(' ', "");
        let calls = OF_FS.map(|name| format!("fs::{name}("));
        let of_file = OF_FILE.map(|name| format!("File::{name}("));
        let words = calls.iter().chain(&of_file).map(String::as_str);
        self.0.extend(
            words
                .chain(WORDS)
                .filter(|word| text.contains(*word))
                .map(str::to_owned),
        );
    }
}

#[test]
fn every_way_to_write_is_seen() {
    for line in [
        "std::fs::write(a, b)",
        "fs::rename(a, b)",
        "File::create(a)",
        "std::fs::File::options()",
        "OpenOptions::new()",
        "tempfile::tempdir()",
        "csv::Writer::from_path(a)",
        "clap_mangen::generate_to(a, b)",
        "vec![fs::write(a, b)]",
    ] {
        let text = format!("fn f() {{ {line}; }}");
        let file = syn::parse_file(&text).expect("it is Rust");
        assert_eq!(writes(&file).len(), 1, "{line}");
    }
    for text in [
        "use std::fs::write;",
        "use std::fs::{File, OpenOptions};",
        "use std::fs::*;",
    ] {
        let file = syn::parse_file(text).expect("it is Rust");
        assert_eq!(writes(&file).len(), 1, "{text}");
    }
    let text = "#[cfg(test)] mod tests { fn f() { fs::write(a, b); } } \
        fn f() { File::open(a); fs::read(a); csv::Reader::from_path(a); out.write(a) }";
    assert!(writes(&syn::parse_file(text).expect("it is Rust")).is_empty());
}
