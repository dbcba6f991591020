//! A VM type in a market, the price of a cluster of it, and price caps.

use std::collections::BTreeMap;

use scavsim_base::text::words::rate;
use scavsim_data::cloud::lifetimes::Model;
use scavsim_data::cloud::{Date, Market};
use scavsim_read::input::Diagnostic;

/// A VM type in a market.
#[derive(Debug, Clone)]
pub struct Offer {
    pub vm: String,
    /// The provider, if the catalogue knows it.
    pub provider: Option<String>,
    /// The region; `None` for a price of the user.
    pub region: Option<String>,
    pub market: Market,
    pub usd_per_hour: f64,
    /// The last day on which the source has this price.
    pub date: Option<Date>,
    /// Number of its VMs that are already paid for.
    pub reserved: u32,
    /// Whether that day is long before the newest of the catalogue.
    pub is_old: bool,
    pub lifetime: Option<&'static Model>,
    /// Mean hours until it is lost, as given by the user, instead of a lifetime.
    pub stated_run_h: Option<f64>,
}

/// The lifetimes of spot VMs without published ones.
pub(super) const ASSUMED_LIVES: &str = "aws-2023-v100-zones";

impl Offer {
    /// USD per hour of `vms` VMs, without the reserved ones.
    pub fn cluster_usd_per_hour(&self, vms: u32) -> f64 {
        f64::from(vms.saturating_sub(self.reserved)) * self.usd_per_hour
    }

    /// Share of the price that is paid for `vms` VMs: less than 1 with reserved ones.
    pub fn paid_share(&self, vms: u32) -> f64 {
        f64::from(vms.saturating_sub(self.reserved)) / f64::from(vms.max(1))
    }

    /// Whether its lifetimes are those of another VM, because none are published.
    pub fn are_lives_assumed(&self) -> bool {
        self.lifetime
            .is_some_and(|model| &*model.name == ASSUMED_LIVES)
    }

    /// How it is lost, after a price; empty on demand.
    pub fn lives_in_words(&self) -> String {
        match (self.stated_run_h, self.lifetime) {
            (Some(hours), _) => format!(", lost after {hours} h in the mean"),
            (None, Some(model)) if self.are_lives_assumed() => format!(
                ", ASSUMED to be lost as `{}`, as nobody published their lives (--spot-run-h)",
                model.name
            ),
            (None, Some(model)) => format!(", lost as `{}`", model.name),
            (None, None) => String::new(),
        }
    }

    /// The lines of a scenario's `[spot]` with its lifetimes; `None` on demand.
    pub fn spot_lines(&self) -> Option<String> {
        let lives = match (self.stated_run_h, self.lifetime) {
            (Some(hours), _) => format!("exponential_mean_h = {hours:?}"),
            (None, Some(model)) => format!("lifetime = \"{}\"", model.name),
            (None, None) => return None,
        };
        Some(format!("[spot]\n{lives}\ncheckpoint = \"young-daly\"\n"))
    }

    /// Mean hours until one of `vms` VMs is lost; infinite if none is.
    pub fn mean_h_of_first(&self, vms: u32) -> f64 {
        let stated = self.stated_run_h.map(|hours| hours / f64::from(vms));
        let known = || self.lifetime?.mean_h_of_first(vms);
        stated.or_else(known).unwrap_or(f64::INFINITY)
    }

    /// Provider and region, if both are known.
    pub fn place(&self) -> Option<String> {
        let (provider, region) = self.provider.as_ref().zip(self.region.as_ref())?;
        Some(format!("{provider} {region}"))
    }

    /// Region and day of the price in brackets; the day only if it is old.
    pub fn in_brackets(&self) -> String {
        let old = (self.date.filter(|_| self.is_old)).map(|day| format!("old price of {day}"));
        let all: Vec<String> = self.place().into_iter().chain(old).collect();
        match &all[..] {
            [] => String::new(),
            all => format!(" ({})", all.join(", ")),
        }
    }

    /// Words for the market.
    pub fn terms(&self) -> &'static str {
        match self.market {
            Market::OnDemand => "on demand",
            other => other.name(),
        }
    }
}

/// Price caps of candidates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceCaps {
    /// USD per hour of all VMs of a cluster.
    pub cluster_usd: Option<f64>,
    /// USD per hour of a spot VM.
    pub spot_usd: Option<f64>,
    /// USD per hour of spot VMs of single types, instead of `spot_usd`.
    pub spot_usd_of: BTreeMap<String, f64>,
}

impl PriceCaps {
    /// The highest spot price of a VM type.
    pub fn spot_cap(&self, vm: &str) -> Option<f64> {
        self.spot_usd_of.get(vm).copied().or(self.spot_usd)
    }

    /// Whether the price of a cluster is within the cap.
    pub fn allow(&self, usd_per_hour: f64) -> bool {
        self.cluster_usd.is_none_or(|most| usd_per_hour <= most)
    }

    /// Reports that the cheapest cluster, at `least` USD per hour, is above the cap.
    pub fn without_any(&self, least: f64) -> Diagnostic {
        let most = self.cluster_usd.unwrap_or_default();
        let title = format!("`--max-usd-per-hour {most}`: no configuration is so cheap");
        Diagnostic::general(title).with_help(format!("the cheapest costs {} an hour", rate(least)))
    }
}
