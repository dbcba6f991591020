//! Kinds of clusters: mixed workers, markets, separate parameter servers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::availability;
use super::complaints::Complaints;
use super::file::{KindTable, RentedOn};
use super::machines::{self, NO_SLASH};
use super::spot;
use scavsim_base::units::SimTime;
use scavsim_clusters::machine::Machine;
use scavsim_data::configuration::Shape;
use scavsim_data::workload::Workload;
use scavsim_read::input::Spanned;
use scavsim_read::input::name::not_a_name;
use scavsim_sim::cluster::batching::Batching;
use scavsim_sim::cluster::groups::MOST_GROUPS;
use scavsim_sim::cluster::setup::Servers;
use scavsim_sim::cluster::{Kind, Losses, Spot};
use scavsim_sim::training::sync::Protocol;

/// Maximum number of VM types of a mix, in addition to the chief and parameter servers.
const MOST_TYPES: usize = MOST_GROUPS - 2;

pub(super) struct Kinds<'a> {
    /// Workloads, without those that could not be read.
    pub(super) workloads: &'a [&'a Workload],
    /// VM shapes with a measured workload.
    pub(super) measured: &'a BTreeSet<&'a str>,
    pub(super) all_read: bool,
    pub(super) machines: &'a [Machine],
    /// Whether the scenario has terms of spot VMs.
    pub(super) spot: bool,
    /// Whether these terms give the provider's notice before a loss.
    pub(super) says_notice: bool,
    /// Lifetime laws, the one of `[spot]` first.
    pub(super) lifetimes: Vec<&'a str>,
    /// Terms of the kinds, if they are valid.
    pub(super) terms: Option<&'a Spot>,
}

pub(super) fn protocols(
    table: &BTreeMap<Spanned<String>, Spanned<Protocol>>,
) -> BTreeMap<Arc<str>, Protocol> {
    (table.iter())
        .map(|(name, sync)| (name.get_ref().as_str().into(), *sync.get_ref()))
        .collect()
}

pub(super) fn sync_of(
    table: &BTreeMap<Spanned<String>, Spanned<Protocol>>,
    workloads: &[&Workload],
    complaints: &mut Complaints<'_>,
) {
    let names: Vec<&str> = workloads.iter().map(|w| w.name.as_str()).collect();
    for name in table.keys() {
        if !names.contains(&name.get_ref().as_str()) {
            let title = format!("`{}` is no workload here", name.get_ref());
            complaints.unknown(title, name, &names, "list workloads");
        }
    }
}

impl Kinds<'_> {
    pub(super) fn read(
        &self,
        name: &Spanned<String>,
        table: &Spanned<KindTable>,
        complaints: &mut Complaints<'_>,
    ) -> Option<Kind> {
        self.check_name(name, complaints);
        let mut kind = self.members(table, complaints)?;
        self.check_markets(table, &kind, complaints);
        kind.spot = self.own_terms(table.get_ref(), complaints);
        Some(kind)
    }

    fn check_name(&self, name: &Spanned<String>, complaints: &mut Complaints<'_>) {
        let word = name.get_ref();
        let is_taken = self.measured.contains(word.as_str())
            || (self.machines.iter()).any(|m| *m.stand_in.vm == **word || m.table == *word);
        let why = (not_a_name(word))
            .or(word.contains('/').then_some(NO_SLASH))
            .or(is_taken.then_some("a VM type is called so"));
        if let Some(why) = why {
            let title = "this cannot be the name of a kind of cluster";
            complaints.error_at(name.span(), title, why);
        }
    }

    /// Whether workers can run on a VM shape: measured, or a scaled substitute.
    fn knows(&self, shape: &str) -> bool {
        let parsed = Shape::parse(shape).ok();
        let stands_in = |m: &Machine| {
            parsed.is_some_and(|s| {
                *m.stand_in.vm == *s.vm_type && self.measured.contains(&*s.on(&m.stand_in.like))
            })
        };
        self.measured.contains(shape) || self.machines.iter().any(stands_in)
    }

    /// The kind, without terms of its own.
    fn members(&self, table: &Spanned<KindTable>, complaints: &mut Complaints<'_>) -> Option<Kind> {
        let (span, table) = (table.span(), table.get_ref());
        let shapes: Vec<(&Spanned<String>, Option<u32>)> = match (&table.vm, table.mix.len()) {
            (Some(vm), 0) => vec![(vm, None)],
            (None, 1..) => (table.mix.iter())
                .map(|(vm, workers)| (vm, Some(workers.get())))
                .collect(),
            (given, _) => {
                if !complaints.is_reported(&complaints.table_from(span.start)) {
                    let (title, label) = match given {
                        None => ("a kind of cluster has no VMs", "give `vm` or `mix`"),
                        Some(_) => ("`vm` and `mix` exclude each other", "give one of them"),
                    };
                    complaints.error_at(span, title, label);
                }
                return None;
            }
        };
        if shapes.len() > MOST_TYPES {
            let title = format!("a mix of {} VM types; at most {MOST_TYPES}", shapes.len());
            complaints.error_at(span, title, "too many types");
            return None;
        }
        let mut sound = true;
        for (vm, workers) in &shapes {
            let word = vm.get_ref();
            let fits = |workers: u32| Shape::parse(word).is_ok_and(|s| s.vms(workers).is_some());
            if self.all_read && !self.knows(word) {
                sound = false;
                let legal: Vec<&str> = self.measured.iter().copied().collect();
                let title = format!("`{word}` was not measured on any workload here");
                complaints.unknown(title, vm, &legal, "list vms");
            } else if let Some(workers) = workers.filter(|workers| !fits(*workers)) {
                sound = false;
                let title = format!("{workers} workers cannot be placed on `{word}`");
                complaints.error_at(vm.span(), title, "expected a whole number of VMs");
            }
        }
        if self.all_read {
            sync_of(&table.sync_of, self.workloads, complaints);
            self.check_sizes(table, &shapes, complaints);
        }
        let names: Vec<&str> = shapes.iter().map(|(vm, _)| vm.get_ref().as_str()).collect();
        let levels = availability::read(&table.availability, &names, complaints);
        sound.then(|| Kind {
            workers: (shapes.iter())
                .map(|(vm, workers)| (vm.get_ref().as_str().into(), *workers))
                .collect(),
            on_spot: table.market == RentedOn::Spot,
            spot: None,
            market: self.market(table),
            chief_on_demand: table.chief_market == Some(RentedOn::OnDemand),
            servers: table.servers.as_ref().map(|servers| Servers {
                vm: servers.vm.as_str().into(),
                vms: servers.vms.get(),
                on_spot: servers.market == RentedOn::Spot,
            }),
            protocol: table.sync.as_ref().map(|s| *s.get_ref()),
            protocol_of: protocols(&table.sync_of),
            batching: table.batching,
            levels,
        })
    }

    /// Batches by size need workers of known size.
    fn check_sizes(
        &self,
        table: &KindTable,
        shapes: &[(&Spanned<String>, Option<u32>)],
        complaints: &mut Complaints<'_>,
    ) {
        if table.batching != Some(Batching::BySize) {
            return;
        }
        let reach = machines::reach(self.machines, false);
        for (vm, _) in shapes {
            let unknown = (self.workloads.iter()).find(|w| w.size(vm.get_ref(), &reach).is_none());
            if let Some(workload) = unknown {
                let title = format!(
                    "`{}` says no size of a worker on `{}`",
                    workload.name,
                    vm.get_ref()
                );
                let help = "give `[laws.steps.TYPE]` with `compute.worker` in its workload.toml; or `batching = \"static\"`";
                complaints.refuse(vm.span(), title, "no batches by size", help);
            }
        }
    }

    /// Number of the lifetime law of its spot VMs, from 1.
    fn market(&self, table: &KindTable) -> u16 {
        let own = table.lifetime.as_ref().map(|name| name.get_ref().as_str());
        let place = own.and_then(|own| self.lifetimes.iter().position(|name| *name == own));
        place.unwrap_or(0) as u16 + 1
    }

    /// Spot VMs need terms, and a chief on demand needs spot workers.
    fn check_markets(
        &self,
        table: &Spanned<KindTable>,
        kind: &Kind,
        complaints: &mut Complaints<'_>,
    ) {
        if kind.has_spot() && !self.spot {
            complaints.error_at(
                table.span(),
                "a kind of cluster has spot VMs, but there is no `[spot]`",
                "say how long they live in `[spot]`",
            );
        }
        if table.get_ref().chief_market == Some(RentedOn::Spot) && !kind.on_spot {
            complaints.error_at(
                table.span(),
                "a chief on a spot VM among workers on demand",
                "it is the chief that must not be lost; leave `chief_market` out",
            );
        }
    }

    /// The scenario's terms with the kind's own lifetimes, if any.
    fn own_terms(&self, table: &KindTable, complaints: &mut Complaints<'_>) -> Option<Arc<Spot>> {
        let name = table.lifetime.as_ref()?;
        let (losses, notice_s) = spot::lifetime(name, complaints)?;
        let of_all = self.terms?;
        let alone = |losses: &Losses| losses.lifetime().is_some();
        if !alone(&losses) || !alone(&of_all.losses) {
            let title = "a kind of cluster has lives of its own among VMs that are lost together";
            let label = "possible only where VMs are lost each by itself, here and in `[spot]`";
            let of_spot = self.lifetimes.first().copied().unwrap_or_default();
            let wrong = if alone(&losses) {
                of_spot
            } else {
                name.get_ref()
            };
            let legal = spot::lost_alone(wrong);
            let help = format!("`{wrong}` takes several VMs at once; each by itself: {legal}");
            complaints.refuse(name.span(), title, label, help);
            return None;
        }
        let of_model = SimTime::from_seconds(notice_s as f64);
        Some(Arc::new(Spot {
            losses,
            notice: if self.says_notice {
                of_all.notice
            } else {
                of_all.notice.map(|_| of_model)
            },
            ..of_all.clone()
        }))
    }
}
