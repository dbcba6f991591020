//! Checks the market of a study: of the library, a folder, VM types of the catalogue, or one zone by its means.

use std::ops::Range;

use super::checking::Check;
use super::form::{JobTable, MarketTable};
use crate::forms::Form;
use crate::job::Job;
use crate::world::transfer_costs::TransferCosts;
use crate::world::written::WrittenMarket;
use crate::world::{World, Zone};
use scavsim_data::cloud::lifetimes::{Lifetime, Model};
use scavsim_data::cloud::{Catalogue, Market, VmType};
use scavsim_read::input::checked::Positive;
use scavsim_read::input::{Diagnostic, Spanned};

/// What else a market may be made of.
const STATED: &str = "or `market.traces` names a market";

#[derive(Debug, Clone)]
pub struct StudyMarket {
    /// A sentence.
    pub about: String,
    pub source: String,
    /// Hash of its tables, if any.
    pub hashes: Vec<String>,
    pub worlds: Vec<World>,
    /// Number of drawn lives, and what their availability is drawn from, if not from a process fitted to the traces.
    pub(super) drawn: Option<(u64, Option<StatedAvailability>)>,
    /// Place of the number of lives.
    pub(super) replicas: Option<Range<usize>>,
}

/// How long zones have machines, and how long they have none.
#[derive(Debug, Clone)]
pub struct StatedAvailability {
    pub(super) runs: StatedRuns,
    /// Mean hours.
    pub(super) pause_h: f64,
}

#[derive(Debug, Clone)]
pub enum StatedRuns {
    /// Exponential, with a mean in hours.
    MeanHours(f64),
    /// Each as long as a machine lives.
    Lives(Lifetime),
}

impl MarketTable {
    fn worlds(&self, all: World) -> Vec<World> {
        if !self.each_alone {
            return vec![all];
        }
        let zones = 0..all.zones.len();
        zones.map(|at| all.of_zones(&[at])).collect()
    }
}

impl Check<'_> {
    pub(super) fn market(
        &mut self,
        table: Option<&Spanned<MarketTable>>,
        (job, forms): (Option<&JobTable>, Option<&[Form]>),
    ) -> Option<StudyMarket> {
        let table = self.needed("market", table, "where it is done")?;
        let (table, at) = (table.get_ref(), table.span());
        let replicas = table
            .replicas
            .as_ref()
            .map(|count| u64::from(count.get_ref().get()));
        let Some(traces) = &table.traces else {
            return self.stated((table, at), replicas, (job, forms.unwrap_or_default()));
        };
        let own = [
            ("run_h", table.run_h.is_some()),
            ("pause_h", table.pause_h.is_some()),
            ("spot_usd_per_h", table.spot_usd_per_h.is_some()),
            ("on_demand_usd_per_h", table.on_demand_usd_per_h.is_some()),
            ("tick_s", table.tick_s.is_some()),
            ("vm", table.vm.is_some()),
            ("lifetimes", table.lifetimes.is_some()),
        ];
        for (key, _) in own.iter().filter(|(_, is_given)| *is_given) {
            let title = format!("`market.{key}` and `market.traces` exclude each other");
            self.wrong(traces.span(), title, "the traces say it", "");
        }
        let name = traces.get_ref();
        let wrong = Diagnostic::at_span(
            self.source,
            traces.span(),
            format!("unknown market `{name}`"),
            "no such market",
        );
        let market = WrittenMarket::open(name, self.base, wrong, self.d)?;
        let forms = forms.unwrap_or_default();
        let places = self.places(table, &market.world.zones, (job, forms));
        self.replicated(table, forms);
        Some(StudyMarket {
            about: market.about,
            source: market.source,
            hashes: vec![market.hash],
            worlds: table.worlds(market.world.of_zones(&places)),
            drawn: replicas.map(|replicas| (replicas, None)),
            replicas: table.replicas.as_ref().map(Spanned::span),
        })
    }

    /// A draw gives whether there are machines, not how many.
    fn replicated(&mut self, table: &MarketTable, forms: &[Form]) {
        let unlike = forms
            .windows(2)
            .any(|two| two[0].machines != two[1].machines);
        if let Some(replicas) = table.replicas.as_ref().filter(|_| unlike) {
            let title = "`market.replicas` of traces needs forms of as many machines".to_owned();
            let label = "draws whether there are machines, not how many";
            let help = "`starts.spread` in place of it takes lives from the traces themselves";
            self.wrong(replicas.span(), title, label, help);
        }
    }

    /// Numbers of named zones, by default of those that serve a form; together they serve all forms.
    fn places(
        &mut self,
        table: &MarketTable,
        zones: &[Zone],
        (job, forms): (Option<&JobTable>, &[Form]),
    ) -> Vec<usize> {
        let serves =
            |zone: &Zone| forms.is_empty() || forms.iter().any(|form| form.is_served(zone));
        let mut places = Vec::new();
        let named = table.zones.as_ref();
        if let Some(zones) = named.filter(|zones| zones.get_ref().is_empty()) {
            let (title, label) = ("no zone is named".to_owned(), "expected at least one");
            let help = "without this key all are taken";
            self.wrong(zones.span(), title, label, help);
        }
        for zone in table.zones.iter().flat_map(Spanned::get_ref) {
            let word = zone.get_ref();
            match zones.iter().position(|known| known.name == *word) {
                Some(at) if places.contains(&at) => {
                    let title = format!("`{word}` is named twice");
                    self.wrong(zone.span(), title, "named before", "");
                }
                Some(at) => {
                    if !serves(&zones[at]) {
                        let has = zones[at].vm.as_deref().unwrap_or_default();
                        let title = format!("zone `{word}` serves no form of the job");
                        self.wrong(zone.span(), title, &format!("it has `{has}`"), "");
                    }
                    places.push(at);
                }
                None => {
                    let legal: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
                    let help = format!("allowed here: {}", legal.join(", "));
                    let title = format!("unknown zone `{word}`");
                    self.wrong(zone.span(), title, "no such zone", &help);
                }
            }
        }
        if table.zones.is_none() {
            places = (0..zones.len()).filter(|&at| serves(&zones[at])).collect();
        }
        if let Some(job) = job {
            let taken: Vec<&Zone> = places.iter().map(|&at| &zones[at]).collect();
            self.served(job, zones, &taken);
        }
        places
    }

    /// A market whose availability is drawn by what the table says of runs and pauses.
    fn stated(
        &mut self,
        (table, at): (&MarketTable, Range<usize>),
        replicas: Option<u64>,
        (job, forms): (Option<&JobTable>, &[Form]),
    ) -> Option<StudyMarket> {
        let runs = self.stated_runs(table, at.clone());
        let pause_h = self.needed_at(at.clone(), "market.pause_h", table.pause_h, STATED);
        let zones = match &table.vm {
            Some(types) => self.catalogue_zones(table, types, (job, forms)),
            None => self.stated_zone(table, at),
        };
        let (zones, runs, pause_h) = (zones?, runs?, pause_h?.get());
        let of_runs = match (&runs, &table.lifetimes) {
            (StatedRuns::MeanHours(run_h), _) => format!("runs of {run_h} h in the mean"),
            (StatedRuns::Lives(_), name) => {
                let name = name.as_ref().map_or("", |name| name.get_ref());
                format!("runs of the lifetimes `{name}`")
            }
        };
        let moving = TransferCosts::free(zones.len());
        let world = World {
            tick_s: table.tick_s.map_or(600.0, Positive::get),
            zones,
            moving,
        };
        Some(StudyMarket {
            about: format!("{of_runs}, pauses of {pause_h} h in the mean, exponential"),
            source: String::new(),
            hashes: Vec::new(),
            worlds: table.worlds(world),
            drawn: Some((
                replicas.unwrap_or(1000),
                Some(StatedAvailability { runs, pause_h }),
            )),
            replicas: table.replicas.as_ref().map(Spanned::span),
        })
    }

    fn stated_runs(&mut self, table: &MarketTable, at: Range<usize>) -> Option<StatedRuns> {
        let Some(name) = &table.lifetimes else {
            let run_h = self.needed_at(at, "market.run_h", table.run_h, STATED)?;
            return Some(StatedRuns::MeanHours(run_h.get()));
        };
        if table.run_h.is_some() {
            let title = "`market.run_h` and `market.lifetimes` exclude each other".to_owned();
            self.wrong(name.span(), title, "both say how long runs are", "");
        }
        let found = Model::named(name.get_ref());
        let found = found.map(|model| (model, model.lifetime_of_one()));
        match found {
            Ok((_, Some(lives))) => return Some(StatedRuns::Lives(lives)),
            Ok((model, None)) => {
                let title = format!("`{}` does not say how long a machine lives", model.name);
                self.wrong(name.span(), title, "too short a trace", "");
            }
            Err(unknown) => {
                let title = format!("unknown lifetimes `{}`", unknown.name);
                let (label, help) = ("not in the catalogue", unknown.to_string());
                self.wrong(name.span(), title, label, &help);
            }
        }
        None
    }

    /// The only zone of a market without a name.
    fn stated_zone(&mut self, table: &MarketTable, at: Range<usize>) -> Option<Vec<Zone>> {
        let spot = self.needed_at(
            at.clone(),
            "market.spot_usd_per_h",
            table.spot_usd_per_h,
            STATED,
        );
        let on_demand = self.needed_at(
            at,
            "market.on_demand_usd_per_h",
            table.on_demand_usd_per_h,
            STATED,
        );
        if let Some(zones) = &table.zones {
            let title = "`market.zones` needs `market.traces` or `market.vm`".to_owned();
            self.wrong(zones.span(), title, "there is one zone", "");
        }
        Some(vec![Zone {
            name: "zone".to_owned(),
            region: "region".to_owned(),
            vm: None,
            on_demand_usd_per_h: on_demand?.get(),
            offered: Vec::new(),
            // One tick; what is drawn is as long as a life may be.
            spot_usd_per_h: vec![spot?.get()],
        }])
    }

    /// A zone for each VM type and region for which the catalogue has prices on spot and on demand, the newest.
    fn catalogue_zones(
        &mut self,
        table: &MarketTable,
        types: &Spanned<Vec<Spanned<String>>>,
        (job, forms): (Option<&JobTable>, &[Form]),
    ) -> Option<Vec<Zone>> {
        for (key, _) in [
            ("spot_usd_per_h", table.spot_usd_per_h),
            ("on_demand_usd_per_h", table.on_demand_usd_per_h),
        ]
        .iter()
        .filter(|(_, value)| value.is_some())
        {
            let title = format!("`market.{key}` and `market.vm` exclude each other");
            self.wrong(types.span(), title, "the catalogue has its prices", "");
        }
        let catalogue = Catalogue::current();
        let (mut zones, mut is_right): (Vec<Zone>, bool) = (Vec::new(), true);
        for (at, name) in types.get_ref().iter().enumerate() {
            let before = zones.len();
            let is_first = types.get_ref()[..at]
                .iter()
                .all(|own| own.get_ref() != name.get_ref());
            let Some(vm) = catalogue.spelled(name.get_ref()) else {
                let title = format!("unknown VM type `{}`", name.get_ref());
                let help = catalogue.unknown_vm(name.get_ref(), None);
                self.wrong(name.span(), title, "not in the catalogue", &help);
                is_right = false;
                continue;
            };
            zones.extend(priced_zones(catalogue, vm).filter(|_| is_first));
            if !is_first {
                let title = format!("`{}` is named twice", name.get_ref());
                self.wrong(name.span(), title, "named before", "");
            } else if zones.len() == before {
                let title = format!(
                    "`{}` has no region with prices on spot and on demand",
                    vm.vm
                );
                let help = "give `market.spot_usd_per_h` and `market.on_demand_usd_per_h` in place of `market.vm`";
                self.wrong(name.span(), title, "none is known", help);
            }
        }
        if types.get_ref().len() > 1 {
            for zone in &mut zones {
                let vm = zone.vm.as_deref().unwrap_or_default();
                zone.name = format!("{} {vm}", zone.region);
            }
        }
        if types.get_ref().is_empty() {
            let title = "no VM type is named".to_owned();
            self.wrong(types.span(), title, "expected at least one", "");
        }
        if !is_right || zones.is_empty() {
            return None; // zones are known once the types are
        }
        let places = self.places(table, &zones, (job, forms));
        let taken: Vec<Zone> = places.iter().map(|&at| zones[at].clone()).collect();
        (!taken.is_empty()).then_some(taken)
    }

    /// Refuses a market that never has as many spot machines as the job takes.
    pub(super) fn offers(&mut self, market: &StudyMarket, job: &Job, at: Range<usize>) {
        let is_given = matches!(market.drawn, Some((_, Some(_))));
        let zones = || market.worlds.iter().flat_map(|world| &world.zones);
        let most = zones().flat_map(|zone| zone.offered.iter().copied()).max();
        let Some(most) = most else {
            return;
        };
        let least = job.forms.iter().map(|form| form.machines).min();
        if let Some(least) = least.filter(|&least| !is_given && most < least) {
            let title = format!("no zone ever offers {least} spot machines at once");
            let help = format!("at most {most} are offered; fewer machines, or other zones");
            self.wrong(at, title, "no policy could take any", &help);
        }
    }
}

/// A zone for each region for which a VM type has prices on spot and on demand.
fn priced_zones<'c>(catalogue: &'c Catalogue, vm: &'c VmType) -> impl Iterator<Item = Zone> + 'c {
    let newest = |region: &str, market| {
        let price = catalogue.newest(&vm.provider, &vm.vm, region, market)?;
        Some(price.usd_per_hour)
    };
    let of_regions = catalogue.prices_of(&vm.provider, &vm.vm);
    let of_regions = of_regions.chunk_by(|a, b| a.region == b.region);
    of_regions.filter_map(move |prices| {
        let region = prices[0].region.to_string();
        Some(Zone {
            name: region.clone(),
            vm: Some(vm.vm.clone()),
            on_demand_usd_per_h: newest(&region, Market::OnDemand)?,
            offered: Vec::new(),
            spot_usd_per_h: vec![newest(&region, Market::Spot)?],
            region,
        })
    })
}
