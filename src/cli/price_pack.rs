//! Price packs of the user, in addition to the program's prices. They only add prices: every dated result stays.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::Failure;
use scavsim_data::cloud::pack::PRICES;
use scavsim_data::cloud::{Catalogue, Pack};
use scavsim_read::input::{Diagnostic, Diagnostics};

/// Variable that names the price pack if the command line does not.
const VARIABLE: &str = "SCAVSIM_PRICES";
/// Variable with the folder of a user's packs, in place of the default.
const FOLDER: &str = "SCAVSIM_DATA_DIR";
const BUILTIN: &str = "builtin";

/// Options of all commands about prices.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Prices")]
pub struct PricesArgs {
    /// Prices beside those that come along: `builtin` for none, or a pack [default: the newest of `scavsim prices`]
    #[arg(
        id = "price_pack",
        long = "prices",
        value_name = "builtin|FOLDER",
        global = true
    )]
    prices: Option<OsString>,
}

impl PricesArgs {
    /// Adds the prices of the pack for the rest of the process.
    pub fn apply(&self) -> Result<(), Failure> {
        let Some(folder) = self.folder() else {
            return Ok(());
        };
        let mut wrong = Diagnostics::default();
        let Some(pack) = Pack::read(&folder, &mut wrong) else {
            let title = format!("{} is no price pack that can be used", folder.display());
            let help = "without it: `--prices builtin`; a newer one: `scavsim prices update`";
            wrong.push(Diagnostic::general(title).with_help(help));
            return Err(Failure::Wrong(wrong));
        };
        let hash = pack.hash.clone();
        let known = Catalogue::install_pack(pack)
            .err()
            .and(Catalogue::current().pack.as_ref());
        if known.is_some_and(|known| known.hash != hash) {
            let title = "other prices were used before in this process";
            wrong.push(Diagnostic::general(title).with_help("begin another for these"));
            return Err(Failure::Wrong(wrong));
        }
        Ok(())
    }

    pub fn folder(&self) -> Option<PathBuf> {
        let asked = self.prices.clone().or_else(|| env::var_os(VARIABLE));
        match asked {
            Some(word) if word == BUILTIN => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => newest(&packs(&own_folder()?)),
        }
    }
}

/// The folder of the user's packs: `$SCAVSIM_DATA_DIR/prices`, or the default data folder.
pub fn own_folder() -> Option<PathBuf> {
    let usual = || {
        let base = env::var_os("XDG_DATA_HOME")
            .filter(|own| Path::new(own).is_absolute())
            .or_else(|| env::var_os("LOCALAPPDATA"))
            .map(PathBuf::from);
        let base = base.or_else(|| Some(env::home_dir()?.join(".local/share")));
        Some(base?.join("scavsim"))
    };
    let folder = env::var_os(FOLDER).map(PathBuf::from).or_else(usual)?;
    Some(folder.join("prices"))
}

pub fn packs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join(PRICES).is_file())
        .collect();
    found.sort();
    found
}

/// The pack with the newest price; if there are several, the last by name.
pub fn newest(packs: &[PathBuf]) -> Option<PathBuf> {
    let [one] = packs else {
        let day = |path: &PathBuf| Pack::read(path, &mut Diagnostics::default()).map(|p| p.day);
        return packs.iter().max_by_key(|path| (day(path), *path)).cloned();
    };
    Some(one.clone())
}
