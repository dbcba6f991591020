use std::collections::HashSet;

use include_dir::{Dir, include_dir};

use crate::configuration::Shape;
use scavsim_read::input::{Folder, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/workloads");

pub fn embedded(name: &str) -> Option<Folder> {
    let dir = EMBEDDED.get_dir(name)?;
    let root = "data/workloads";
    Some(Folder::Embedded { root, dir })
}

pub fn names() -> Vec<&'static str> {
    folder::names(&EMBEDDED)
}

/// The names of those whose steps were measured on one of these VM types.
pub fn on(vm_types: &HashSet<&str>) -> impl Iterator<Item = &'static str> {
    // Read without loading: most are of other types. The VM stands in the first column.
    let measured = |line: &str| {
        let shape = line.split(',').next().and_then(|vm| Shape::parse(vm).ok());
        shape.is_some_and(|shape| vm_types.contains(shape.vm_type))
    };
    names().into_iter().filter(move |name| {
        let file = EMBEDDED.get_file(format!("{name}/steps.csv"));
        let text = file.and_then(|file| file.contents_utf8());
        text.is_some_and(|text| text.lines().any(measured))
    })
}
