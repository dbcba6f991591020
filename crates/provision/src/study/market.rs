//! Checks the market of a study: of the library, a folder, or one zone by its means.

use std::ops::Range;

use super::checking::Check;
use super::form::{JobTable, MarketTable};
use crate::forms::Form;
use crate::job::Job;
use crate::world::transfer_costs::TransferCosts;
use crate::world::written::WrittenMarket;
use crate::world::{World, Zone};
use scavsim_read::input::checked::Positive;
use scavsim_read::input::{Diagnostic, Spanned};

#[derive(Debug, Clone)]
pub struct StudyMarket {
    /// A sentence.
    pub about: String,
    pub source: String,
    /// Hash of its tables, if any.
    pub hashes: Vec<String>,
    pub worlds: Vec<World>,
    /// Drawn lives, and the given means of runs and pauses.
    pub(super) drawn: Option<(u64, Option<(f64, f64)>)>,
    /// Place of the number of lives.
    pub(super) replicas: Option<Range<usize>>,
}

impl Check<'_> {
    pub(super) fn market(
        &mut self,
        table: Option<&MarketTable>,
        (job, forms): (Option<&JobTable>, Option<&[Form]>),
    ) -> Option<StudyMarket> {
        let table = self.needed("market", table, "where it is done")?;
        let replicas = table
            .replicas
            .as_ref()
            .map(|count| u64::from(count.get_ref().get()));
        let Some(traces) = &table.traces else {
            return self.given(table, replicas);
        };
        let own = [
            ("run_h", table.run_h),
            ("pause_h", table.pause_h),
            ("spot_usd_per_h", table.spot_usd_per_h),
            ("on_demand_usd_per_h", table.on_demand_usd_per_h),
            ("tick_s", table.tick_s),
        ];
        for (key, _) in own.iter().filter(|(_, value)| value.is_some()) {
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
        let places = self.places(table, &market.world.zones, forms.unwrap_or_default());
        if let Some(job) = job {
            let zones = &market.world.zones;
            let taken: Vec<&Zone> = places.iter().map(|&at| &zones[at]).collect();
            self.served(job, zones, &taken);
        }
        self.replicated(table, forms.unwrap_or_default());
        let worlds = if table.each_alone {
            places
                .iter()
                .map(|&at| market.world.of_zones(&[at]))
                .collect()
        } else {
            vec![market.world.of_zones(&places)]
        };
        Some(StudyMarket {
            about: market.about,
            source: market.source,
            hashes: vec![market.hash],
            worlds,
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

    /// Numbers of named zones; by default those that serve a form.
    fn places(&mut self, table: &MarketTable, zones: &[Zone], forms: &[Form]) -> Vec<usize> {
        let serves =
            |zone: &Zone| forms.is_empty() || forms.iter().any(|form| form.is_served(zone));
        let mut places = Vec::new();
        if let Some(zones) = table
            .zones
            .as_ref()
            .filter(|zones| zones.get_ref().is_empty())
        {
            let title = "no zone is named".to_owned();
            self.wrong(
                zones.span(),
                title,
                "expected at least one",
                "without this key all are taken",
            );
        }
        for zone in table.zones.iter().flat_map(Spanned::get_ref) {
            let word = zone.get_ref();
            match zones.iter().position(|known| known.name == *word) {
                Some(at) if places.contains(&at) => {
                    self.wrong(
                        zone.span(),
                        format!("`{word}` is named twice"),
                        "named before",
                        "",
                    );
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
                    let help = format!("legal here: {}", legal.join(", "));
                    self.wrong(
                        zone.span(),
                        format!("unknown zone `{word}`"),
                        "no such zone",
                        &help,
                    );
                }
            }
        }
        if table.zones.is_none() {
            places = (0..zones.len()).filter(|&at| serves(&zones[at])).collect();
        }
        places
    }

    fn given(&mut self, table: &MarketTable, replicas: Option<u64>) -> Option<StudyMarket> {
        let why = "or `market.traces` names a market";
        let run_h = self.needed("market.run_h", table.run_h, why);
        let pause_h = self.needed("market.pause_h", table.pause_h, why);
        let spot = self.needed("market.spot_usd_per_h", table.spot_usd_per_h, why);
        let on_demand = self.needed("market.on_demand_usd_per_h", table.on_demand_usd_per_h, why);
        if let Some(zones) = &table.zones {
            let title = "`market.zones` needs `market.traces`".to_owned();
            self.wrong(zones.span(), title, "there is one zone", "");
        }
        let tick_s = table.tick_s.map_or(600.0, Positive::get);
        let zone = Zone {
            name: "zone".to_owned(),
            region: "region".to_owned(),
            vm: None,
            on_demand_usd_per_h: on_demand?.get(),
            offered: Vec::new(),
            // One tick; what is drawn is as long as a life may be.
            spot_usd_per_h: vec![spot?.get()],
        };
        let (run_h, pause_h) = (run_h?.get(), pause_h?.get());
        Some(StudyMarket {
            about: format!("runs of {run_h} h and pauses of {pause_h} h in the mean, exponential"),
            source: String::new(),
            hashes: Vec::new(),
            worlds: vec![World {
                tick_s,
                zones: vec![zone],
                moving: TransferCosts::free(1),
            }],
            drawn: Some((replicas.unwrap_or(1000), Some((run_h, pause_h)))),
            replicas: table.replicas.as_ref().map(Spanned::span),
        })
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
