//! A suite with all its data, as a folder for an archive: equal bytes every time.

use super::card;
use super::suite::{Suite, hash};
use scavsim_grids::{ROWS, SPEC};
use scavsim_read::input::{Diagnostics, Folder};

/// Name of the file of hashes, as `b3sum --check` reads it.
pub const HASHES: &str = "B3SUMS";
const LICENCE: &str = "LICENSE";

/// Files of a suite with their texts, in alphabetical order; mistakes of a grid go to `diagnostics`.
pub fn files(suite: &Suite, diagnostics: &mut Diagnostics) -> Option<Vec<(String, String)>> {
    let mut all = vec![("suite.toml".to_owned(), suite.source.text.clone())];
    for grid in &suite.grids {
        let folder = suite.grid_folder(grid)?;
        let place = |file: &str| format!("grids/{}/{file}", grid.name);
        for file in [SPEC, ROWS, LICENCE] {
            if has(&folder, file) {
                let text = folder.read(file, diagnostics)?;
                all.push((place(file), text.text.clone()));
            }
        }
        all.push((place(card::FILE), card::card(&folder, diagnostics)?));
    }
    all.sort();
    let lines = all
        .iter()
        .map(|(name, text)| format!("{}  {name}\n", hash(text)));
    let hashes: String = lines.collect();
    all.push((HASHES.to_owned(), hashes));
    Some(all)
}

/// Grids of this project have no licence file of their own.
fn has(folder: &Folder, file: &str) -> bool {
    file != LICENCE || folder.has(file)
}
