//! `scavsim prices`: the known prices and their dates, and newer ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::exit::{Exit, Failure, accept, no_mistakes};
use super::listing::{Format, written};
use super::price_pack::{PricesArgs, own_folder, packs};
use super::terminal;
use scavsim_base::text::words::plural_with_commas;
use scavsim_base::text::{Column, Sheet};
use scavsim_data::cloud::pack::{PRICES, VMS};
use scavsim_data::cloud::{Catalogue, Pack, Price, pack_notes};
use scavsim_import::folder::{self, Kind};
use scavsim_import::prices::lists::{self, PriceListOptions};
use scavsim_import::prices::{ImportedPrices, skypilot};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Arguments of `prices`.
#[derive(Debug, Args)]
pub struct PricesCommand {
    #[command(subcommand)]
    what: Option<PricesTask>,
    /// Form of the list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum PricesTask {
    /// Show which packs there are: their days, VM types, regions and markets
    Show,
    /// Take a newer price pack into your own folder, once it is checked
    #[command(
        after_help = "Example: what SkyPilot fetched today\n  scavsim prices update ~/.sky/catalogs/v8 --date 2026-11-27"
    )]
    Update(UpdateArgs),
}

#[derive(Debug, Args)]
struct UpdateArgs {
    /// A pack, a table as `import prices` writes it, SkyPilot's catalogue (a folder with CLOUD/vms.csv), or a price list
    ///
    /// Price lists are recognised: Azure's retail prices (JSON), the price list of AWS (JSON or CSV) and its spot price history,
    /// the CSV of Vantage's ec2instances.info and that of gpuhunt.
    path: PathBuf,
    /// Day on which a list or catalogue was fetched, if it does not say it
    #[arg(long, value_name = "DAY")]
    date: Option<String>,
    /// Only this cloud; of a list that does not say it, its cloud; may be repeated
    #[arg(long)]
    cloud: Vec<String>,
    /// Only this region; of a list that does not say it, its region; may be repeated
    #[arg(long)]
    region: Vec<String>,
    /// Name of the pack [default: its last day]
    #[arg(long)]
    name: Option<String>,
    /// Replace a pack of this name
    #[arg(long)]
    force: bool,
    /// Take prices that are far from the last known ones
    #[arg(long)]
    take_strange: bool,
}

struct PackRow {
    pack: String,
    provider: String,
    newest: String,
    types: usize,
    regions: usize,
    markets: String,
    prices: usize,
    is_used: bool,
}

impl PricesCommand {
    pub fn run(self, asked: &PricesArgs) -> Result<Exit, Failure> {
        match self.what {
            None | Some(PricesTask::Show) => show(self.format, asked),
            Some(PricesTask::Update(args)) => args.run(),
        }
    }
}

fn show(format: Format, asked: &PricesArgs) -> Result<Exit, Failure> {
    let used = asked.folder();
    let mut rows = rows("builtin", &Catalogue::embedded().0.prices, true);
    let mut folders = own_folder().map_or_else(Vec::new, |own| packs(&own));
    folders.extend(
        used.iter()
            .filter(|used| !folders.contains(used))
            .cloned()
            .collect::<Vec<_>>(),
    );
    let (mut wrong, mut notes) = (Diagnostics::default(), Vec::new());
    for folder in &folders {
        let is_used = used.as_ref() == Some(folder);
        let Some(pack) = Pack::read(folder, &mut wrong) else {
            continue;
        };
        rows.extend(self::rows(&pack.name, &pack.prices, is_used));
        let odd = pack_notes::notes(&pack, Catalogue::embedded().0);
        notes.extend(odd.iter().map(|note| format!("{}: {note}", pack.name)));
        if is_used {
            notes.push(format!("{}: BLAKE3 {}", pack.name, pack.hash));
        }
    }
    let columns = vec![
        Column::text("pack", |row: &PackRow| json!(row.pack)),
        Column::text("provider", |row: &PackRow| json!(row.provider)),
        Column::text("newest_day", |row: &PackRow| json!(row.newest)),
        Column::number("vm_types", |row: &PackRow| json!(row.types)),
        Column::number("regions", |row: &PackRow| json!(row.regions)),
        Column::text("markets", |row: &PackRow| json!(row.markets)),
        Column::number("prices", |row: &PackRow| json!(row.prices)),
        Column::text("used", |row: &PackRow| {
            json!(if row.is_used { "yes" } else { "no" })
        }),
    ];
    let page = terminal::page();
    let mut text = written(&Sheet::new(rows, columns), format, &page)?;
    if matches!(format, Format::Table) {
        let own = own_folder().map_or_else(
            || "none: there is no folder of this user".to_owned(),
            |own| own.display().to_string(),
        );
        text += &page.prose(&format!("own packs: {own}"), 2);
        for note in &notes {
            text += &page.prose(note, 2);
        }
    }
    terminal::print(&text)?;
    no_mistakes(wrong)?;
    Ok(Exit::Done)
}

fn rows(pack: &str, prices: &[Price], is_used: bool) -> Vec<PackRow> {
    let row = |own: &[Price]| PackRow {
        pack: pack.to_owned(),
        provider: own[0].provider.to_string(),
        newest: (own.iter().map(|p| p.valid_to).max()).map_or(String::new(), |d| d.to_string()),
        types: own.iter().map(|p| &p.vm).collect::<BTreeSet<_>>().len(),
        regions: own.iter().map(|p| &p.region).collect::<BTreeSet<_>>().len(),
        markets: {
            let all: BTreeSet<_> = own.iter().map(|p| p.market).collect();
            let names: Vec<&str> = all.into_iter().map(|market| market.name()).collect();
            names
                .join(", ")
                .replace("commitment-1y, commitment-3y", "commitment-1y, -3y")
        },
        prices: own.len(),
        is_used,
    };
    (prices.chunk_by(|a, b| a.provider == b.provider))
        .map(row)
        .collect()
}

/// The tables of a pack, and the messages from making them.
struct PackTables {
    prices: String,
    vms: Option<String>,
    said: Option<String>,
}

impl From<ImportedPrices> for PackTables {
    fn from(imported: ImportedPrices) -> Self {
        PackTables {
            prices: imported.text,
            vms: Some(imported.vms).filter(|vms| vms.lines().count() > 1),
            said: Some(imported.report.to_string()),
        }
    }
}

/// Most warnings that are shown; more would be alike.
const DOUBTS: usize = 5;

/// Warns about prices that are probably not per hour.
fn doubt(pack: &Pack, wrong: &mut Diagnostics) {
    let known = Catalogue::embedded().0;
    let doubted = pack.prices.iter().filter_map(|price| {
        let doubt = known.doubt_price(&price.vm, price.market, price.usd_per_hour)?;
        let (vm, usd) = (&price.vm, price.usd_per_hour);
        let title = format!("{vm} {} at ${usd}: {}", price.market, doubt.sentence);
        let help = format!("{}; `--take-strange` takes it as it is", doubt.help);
        Some(Diagnostic::general(title).with_help(help))
    });
    doubted.take(DOUBTS).for_each(|one| wrong.push(one));
}

impl UpdateArgs {
    fn run(self) -> Result<Exit, Failure> {
        let mut wrong = Diagnostics::default();
        let tables = self.tables(&mut wrong)?;
        let tables = accept(tables, std::mem::take(&mut wrong))?;
        let shown = |file: &str| {
            let own = if self.path.is_file() {
                self.path.clone()
            } else {
                self.path.join(file)
            };
            own.display().to_string()
        };
        let prices = Source::new(shown(PRICES), &*tables.prices);
        let vms = tables
            .vms
            .as_ref()
            .map(|text| Source::new(shown(VMS), &**text));
        let Some(pack) = Pack::from_tables("", &prices, vms.as_ref(), &mut wrong) else {
            return Err(Failure::Wrong(wrong));
        };
        if !self.take_strange {
            doubt(&pack, &mut wrong);
        }
        let name = self.name.clone().unwrap_or_else(|| pack.day.to_string());
        let out = self.out(&name, &mut wrong);
        let out = accept(out, wrong)?;
        let files: Vec<(&str, String)> = [(PRICES, Some(tables.prices)), (VMS, tables.vms)]
            .into_iter()
            .filter_map(|(file, text)| Some((file, text?)))
            .collect();
        folder::write(&files, &out, Kind::PRICES)?;
        terminal::print(&self.update_report(&name, &out, &pack, tables.said))?;
        Ok(Exit::Done)
    }

    fn tables(&self, wrong: &mut Diagnostics) -> Result<Option<PackTables>, Failure> {
        let is_pack = self.path.join(PRICES).is_file();
        let is_catalogue = self.path.file_name().is_some_and(|name| name == VMS);
        if self.path.is_file() && !is_catalogue {
            let Some(source) = Source::read(&self.path, wrong) else {
                return Ok(None);
            };
            let options = PriceListOptions {
                date: self.date.clone(),
                clouds: self.cloud.clone(),
                regions: self.region.clone(),
            };
            let imported = lists::read(&source, &options, wrong)?;
            if !wrong.is_empty() {
                return Ok(None);
            }
            if let Some(imported) = imported {
                return Ok(Some(PackTables::from(imported)));
            }
        }
        if !is_pack && (is_catalogue || !self.path.is_file()) {
            let folder = self.path.parent().filter(|_| is_catalogue);
            let options = skypilot::SkypilotOptions {
                folders: vec![folder.unwrap_or(&self.path).to_owned()],
                dates: self.date.iter().cloned().collect(),
                clouds: self.cloud.clone(),
                regions: self.region.clone(),
                attach: Vec::new(),
            };
            let imported = skypilot::read(&options, wrong)?;
            return Ok(imported.map(PackTables::from));
        }
        if self.date.is_some() || !self.cloud.is_empty() || !self.region.is_empty() {
            let title =
                "`--date`, `--cloud` and `--region` go with SkyPilot's catalogue and price lists";
            let help = format!("{} says of each price what it is of", self.path.display());
            wrong.push(Diagnostic::general(title).with_help(help));
        }
        let mut text = |path: &Path| Source::read(path, wrong).map(|own| own.text.to_string());
        if !is_pack {
            let prices = text(&self.path);
            return Ok(prices.map(|prices| PackTables {
                prices,
                vms: None,
                said: None,
            }));
        }
        let prices = text(&self.path.join(PRICES));
        let vms = self.path.join(VMS);
        let vms = vms.is_file().then(|| text(&vms));
        Ok(prices.map(|prices| PackTables {
            prices,
            vms: vms.flatten(),
            said: None,
        }))
    }

    fn out(&self, name: &str, wrong: &mut Diagnostics) -> Option<PathBuf> {
        if let Some(why) =
            not_a_name(name).or(name.contains(['/', '\\']).then_some("it has a slash"))
        {
            wrong.push(Diagnostic::general(format!(
                "--name: `{name}` is no name: {why}"
            )));
            return None;
        }
        let Some(own) = own_folder() else {
            let title = "there is no folder for data of this user";
            wrong.push(Diagnostic::general(title).with_help("set SCAVSIM_DATA_DIR to one"));
            return None;
        };
        let out = own.join(name);
        folder::check(&out, Kind::PRICES, self.force, &[&self.path], wrong);
        Some(out)
    }

    fn update_report(&self, name: &str, out: &Path, pack: &Pack, said: Option<String>) -> String {
        let page = terminal::page();
        let shipped = Catalogue::embedded().0;
        let all = shipped.with(pack.clone());
        let added = all.prices.len() - shipped.prices.len();
        let mut text = said.unwrap_or_default();
        let regions: BTreeSet<(&str, &str)> = (pack.prices.iter())
            .map(|p| (&*p.provider, &*p.region))
            .collect();
        let types: BTreeSet<&str> = pack.prices.iter().map(|p| &*p.vm).collect();
        text += &page.prose(
            &format!(
                "price pack `{name}`: {} in {}, prices up to {}; in {}",
                plural_with_commas(types.len() as u64, "VM type"),
                plural_with_commas(regions.len() as u64, "region"),
                pack.day,
                out.display()
            ),
            2,
        );
        for note in pack_notes::notes(pack, shipped) {
            text += &page.prose(&note, 2);
        }
        let known = pack.prices.len() - added;
        if known > 0 {
            let left = format!(
                "left out: {} of days of which the program has one",
                plural_with_commas(known as u64, "price")
            );
            text += &page.prose(&left, 2);
        }
        let used = "`advise`, `list vms` and policies with `date = \"newest\"` use it; `--prices builtin` leaves it out";
        text + &page.prose(used, 2)
    }
}
