//! Dependency cycles of files: each needs the next, and the last needs the first.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{ItemUse, UseTree, Visibility};

use crate::source::CrateSource;

type Module = Vec<String>;
/// A module and the last name of a path in it.
type Named = (Module, Option<String>);

/// The cycles of a crate, each as the sorted paths of its files.
pub fn circles(source: &CrateSource) -> Vec<Vec<String>> {
    let mut paths: BTreeMap<&Module, Paths> = BTreeMap::new();
    for (module, (_, file)) in &source.files {
        let mut found = Paths::default();
        found.visit_file(file);
        paths.insert(module, found);
    }
    let mut handed_on: BTreeMap<Named, Named> = BTreeMap::new();
    for (module, found) in &paths {
        for path in &found.handed_on {
            if let (Some(to), Some(name)) = (resolved(source, module, path), path.last()) {
                handed_on.insert(((*module).clone(), Some(name.clone())), to);
            }
        }
    }
    let declared_in = |mut named: Named| {
        for _ in 0..8 {
            match handed_on.get(&named) {
                Some(next) => named = next.clone(),
                None => break,
            }
        }
        named.0
    };
    let mut needs: BTreeMap<&Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, found) in &paths {
        let targets = found
            .used
            .iter()
            .filter_map(|path| resolved(source, module, path));
        let mut targets: BTreeSet<Module> = targets.map(declared_in).collect();
        targets.retain(|target| !target.is_empty() && target != *module);
        needs.insert(module, targets);
    }
    strongly_connected(&needs)
}

/// The target of a path from a module, if it is in the crate.
fn resolved(source: &CrateSource, module: &Module, path: &[String]) -> Option<Named> {
    let mut rest = path.iter().peekable();
    let mut at: Module = match path.first()?.as_str() {
        "crate" => {
            rest.next();
            Module::new()
        }
        "self" => {
            rest.next();
            module.clone()
        }
        "super" => {
            let mut at = module.clone();
            while rest.next_if(|word| *word == "super").is_some() {
                at.pop();
            }
            at
        }
        first => {
            let child = [&module[..], &[first.to_owned()]].concat();
            source.files.contains_key(&child).then(|| module.clone())?
        }
    };
    while let Some(word) = rest.peek() {
        at.push((*word).clone());
        if !source.files.contains_key(&at) {
            at.pop();
            break;
        }
        rest.next();
    }
    Some((at, rest.next().cloned()))
}

#[derive(Default)]
struct Paths {
    used: Vec<Vec<String>>,
    handed_on: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut leaves = Vec::new();
        spread(&item.tree, &mut Vec::new(), &mut leaves);
        if matches!(item.vis, Visibility::Inherited) {
            self.used.extend(leaves);
        } else {
            self.handed_on.extend(leaves);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let words = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string());
            self.used.push(words.collect());
        }
        visit::visit_path(self, path);
    }
}

/// The paths of a `use` tree.
fn spread(tree: &UseTree, before: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            spread(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                spread(tree, before, leaves);
            }
        }
        UseTree::Name(name) => leaves.push([&before[..], &[name.ident.to_string()]].concat()),
        UseTree::Rename(name) => leaves.push([&before[..], &[name.ident.to_string()]].concat()),
        UseTree::Glob(_) => leaves.push(before.clone()),
    }
}

/// Strongly connected components.
fn strongly_connected(needs: &BTreeMap<&Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    let reached = |from: &Module| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for next in needs.get(module).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&Module, BTreeSet<&Module>> = needs
        .keys()
        .map(|module| (*module, reached(module)))
        .collect();
    let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, others) in &reach {
        if others.contains(module) {
            let both = others
                .iter()
                .filter(|other| reach.get(*other).is_some_and(|back| back.contains(module)));
            groups.insert(both.map(|other| other.join("/")).collect());
        }
    }
    groups.into_iter().collect()
}
