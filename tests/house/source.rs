//! The product source of a crate: without tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, File, GenericArgument, Item, PathArguments, Type, Visibility};

/// The files of a crate, by the path of their module.
pub struct CrateSource {
    /// Without tests: module path, its place, its parsed file.
    pub files: BTreeMap<Vec<String>, (String, File)>,
    /// Lines of all files, with tests, comments and empty ones.
    pub lines: usize,
    /// Places and first lines of doc comments that cannot be understood without another.
    pub leaning_comments: Vec<String>,
}

/// First words of doc comments that depend on the comment above.
const LEANING: [&str; 16] = [
    "The same",
    "Of ",
    "As ",
    "That ",
    "Those ",
    "These ",
    "It ",
    "Its ",
    "They ",
    "Their ",
    "Them ",
    "Such ",
    "Also ",
    "So is ",
    "This one",
    "The other ",
];

/// First lines of doc comments that depend on another, up to the tests of a file.
fn leaning_comments(text: &str) -> impl Iterator<Item = &str> {
    let comment = |line: &'_ str| -> bool { line.starts_with("///") || line.starts_with("//!") };
    let mut is_within = false;
    let lines = text.lines().map(str::trim_start);
    lines
        .take_while(|line| !line.starts_with("mod tests {"))
        .filter(move |line| {
            let is_first = comment(line) && !is_within;
            is_within = comment(line);
            is_first
                && LEANING
                    .iter()
                    .any(|word| line[3..].trim_start().starts_with(word))
        })
}

impl CrateSource {
    /// Reads all files below a folder.
    pub fn read(folder: &Path) -> CrateSource {
        let mut source = CrateSource {
            files: BTreeMap::new(),
            lines: 0,
            leaning_comments: Vec::new(),
        };
        source.read_below(folder, folder);
        source
    }

    fn read_below(&mut self, folder: &Path, root: &Path) {
        for entry in fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("it is there").path();
            if path.is_dir() {
                self.read_below(&path, root);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).expect("it is text");
                self.lines += text.lines().count();
                let place = path.strip_prefix(root).expect("it is below").display();
                let place = place.to_string();
                let mut module: Vec<String> = place
                    .trim_end_matches(".rs")
                    .split('/')
                    .map(str::to_owned)
                    .collect();
                if matches!(&*module[module.len() - 1], "mod" | "lib" | "main") {
                    module.pop();
                }
                if module.last().is_some_and(|last| last == "tests") {
                    continue;
                }
                let leaning = leaning_comments(&text).map(|line| format!("{place}: {line}"));
                self.leaning_comments.extend(leaning);
                let mut file = syn::parse_file(&text)
                    .unwrap_or_else(|why| panic!("{}: {why}", path.display()));
                file.items.retain(|item| !is_test(attributes(item)));
                self.files.insert(module, (place, file));
            }
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        _ => &[],
    }
}

pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// Counts over all crates.
#[derive(Default)]
pub struct Facts {
    /// Places of `Result<_, String>`.
    pub string_errors: Vec<String>,
    /// Type names that occur several times in a crate.
    pub types_twice: BTreeSet<String>,
    /// Public functions, types, constants with their place.
    pub public_names: BTreeSet<(String, String)>,
}

impl Facts {
    /// Counts one more crate.
    pub fn add(&mut self, name: &str, source: &CrateSource) {
        let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (place, file) in source.files.values() {
            let mut counter = Counter {
                place: format!("{name}/{place}"),
                facts: self,
                types: &mut types,
            };
            counter.visit_file(file);
        }
        for (word, places) in types {
            if places.len() > 1 {
                self.types_twice
                    .insert(format!("{word}: {}", places.join(" ")));
            }
        }
    }
}

struct Counter<'a> {
    place: String,
    facts: &'a mut Facts,
    types: &'a mut BTreeMap<String, Vec<String>>,
}

impl Counter<'_> {
    fn declared(&mut self, visibility: &Visibility, name: &syn::Ident, is_type: bool) {
        if matches!(visibility, Visibility::Public(_)) {
            let place = (name.to_string(), self.place.clone());
            self.facts.public_names.insert(place);
        }
        if is_type {
            let places = self.types.entry(name.to_string()).or_default();
            places.push(self.place.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.declared(&item.vis, &item.ident, true);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.declared(&item.vis, &item.ident, true);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.declared(&item.vis, &item.ident, true);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.declared(&item.vis, &item.ident, true);
        visit::visit_item_type(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.declared(&item.vis, &item.sig.ident, false);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.declared(&item.vis, &item.ident, false);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.declared(&item.vis, &item.sig.ident, false);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Result"
            && let PathArguments::AngleBracketed(arguments) = &segment.arguments
            && let Some(GenericArgument::Type(Type::Path(error))) = arguments.args.iter().nth(1)
            && error.path.is_ident("String")
        {
            self.facts.string_errors.push(self.place.clone());
        }
        visit::visit_path_segment(self, segment);
    }
}

/// Number of occurrences of each word in the code below a folder, without comments.
pub fn count_words(folder: &Path, words: &mut BTreeMap<String, usize>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            count_words(&path, words);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("it is text");
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for word in code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
            {
                *words.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
}
