//! Kinds of clusters and how they live: names and figures → a setup.

use std::collections::BTreeSet;
use std::sync::Arc;

use toml::Spanned;

use super::check::Check;
use super::file::{ElasticTable, KindTable, RentedOn, Resize, ScenarioFile};
use super::machines::Machine;
use crate::cluster::build::{Builder, MOST_SIZES};
use crate::cluster::setup::Servers;
use crate::cluster::{Elastic, Kind, Losses, Setup, Spot};
use crate::configuration::Configuration;
use crate::input::Diagnostic;
use crate::pricing::spot_series::{SpotSeries, Step};
use crate::shape::Shape;
use crate::training::Variation;
use crate::training::sync::Protocol;
use crate::training::waits::Waits;
use crate::units::SECONDS_PER_HOUR;
use crate::workload::{Reach, StandIn, Workload};

impl Check<'_> {
    /// How the clusters of the scenario live.
    pub(super) fn setup(
        &mut self,
        file: &ScenarioFile,
        workloads: &[Option<Workload>],
        machines: &[Machine],
    ) -> Setup {
        let measured: BTreeSet<&str> = (workloads.iter().flatten())
            .flat_map(|w| w.steps.shapes().map(|s| &**s))
            .collect();
        // Without any workload everything would seem unknown.
        let all_read = workloads.iter().all(Option::is_some);
        let mut setup = Setup {
            protocol: file.sync.as_ref().map_or(Protocol::Bsp, |s| *s.get_ref()),
            spot: self.spot(file),
            elastic: self.elastic(file),
            staleness: file.staleness,
            keeps_batch: file.cluster.resize.map(|r| r == Resize::KeepBatch),
            ..Setup::default()
        };
        for (name, table) in &file.kind {
            let word = name.get_ref();
            let is_taken = measured.contains(word.as_str())
                || machines
                    .iter()
                    .any(|m| *m.stand_in.vm == **word || m.table == *word);
            if word.is_empty() || word.contains(['/', '\n']) || is_taken {
                self.diagnostics.error_at(
                    self.source,
                    name.span(),
                    format!("`{word}` cannot be the name of a kind of cluster"),
                    if is_taken {
                        "a VM type is called so"
                    } else {
                        "a name is not empty and has no `/`"
                    },
                );
            }
            let known = |shape: &str| {
                let parsed = Shape::parse(shape).ok();
                measured.contains(shape)
                    || machines.iter().any(|m| {
                        parsed.is_some_and(|s| {
                            *m.stand_in.vm == *s.vm_type
                                && measured.contains(&*s.on(&m.stand_in.like))
                        })
                    })
            };
            if let Some(mut kind) = self.kind(table, &known, all_read, &measured) {
                self.kind_terms(file, table, &kind);
                kind.spot = self.kind_spot(table.get_ref(), setup.spot.as_deref());
                setup.kinds.insert(word.as_str().into(), Arc::new(kind));
            }
        }
        setup
    }

    /// A kind of cluster on VM types that are `known`.
    fn kind(
        &mut self,
        table: &Spanned<KindTable>,
        known: &dyn Fn(&str) -> bool,
        all_read: bool,
        measured: &BTreeSet<&str>,
    ) -> Option<Kind> {
        let (span, table) = (table.span(), table.get_ref());
        let shapes: Vec<(&Spanned<String>, Option<u32>)> = match (&table.vm, table.mix.len()) {
            (Some(vm), 0) => vec![(vm, None)],
            (None, 1..) => (table.mix.iter())
                .map(|(vm, workers)| (vm, Some(workers.get())))
                .collect(),
            (given, _) => {
                if !self.is_reported(&self.table_from(span.start)) {
                    let (title, label) = match given {
                        None => ("a kind of cluster has no VMs", "give `vm` or `mix`"),
                        Some(_) => ("`vm` and `mix` exclude each other", "give one of them"),
                    };
                    self.diagnostics.error_at(self.source, span, title, label);
                }
                return None;
            }
        };
        let mut sound = true;
        for (vm, workers) in &shapes {
            let word = vm.get_ref();
            let fits = |workers: u32| Shape::parse(word).is_ok_and(|s| s.vms(workers).is_some());
            if all_read && !known(word) {
                sound = false;
                let legal: Vec<&str> = measured.iter().copied().collect();
                self.unknown(
                    format!("`{word}` was not measured on any workload here"),
                    vm.span(),
                    word,
                    &legal,
                    "list vms",
                );
            } else if let Some(workers) = workers.filter(|workers| !fits(*workers)) {
                sound = false;
                self.diagnostics.error_at(
                    self.source,
                    vm.span(),
                    format!("{workers} workers cannot be placed on `{word}`"),
                    "expected a whole number of VMs",
                );
            }
        }
        sound.then(|| Kind {
            workers: (shapes.iter())
                .map(|(vm, workers)| (vm.get_ref().as_str().into(), *workers))
                .collect(),
            on_spot: table.market == RentedOn::Spot,
            spot: None,
            chief_on_demand: table.chief_market == Some(RentedOn::OnDemand),
            servers: table.servers.as_ref().map(|servers| Servers {
                vm: servers.vm.as_str().into(),
                vms: servers.vms.get(),
                on_spot: servers.market == RentedOn::Spot,
            }),
            protocol: table.sync.as_ref().map(|s| *s.get_ref()),
            batching: table.batching,
        })
    }

    /// Spot VMs need terms, and a chief on demand those that are not.
    fn kind_terms(&mut self, file: &ScenarioFile, table: &Spanned<KindTable>, kind: &Kind) {
        if kind.has_spot() && file.spot.is_none() {
            self.diagnostics.error_at(
                self.source,
                table.span(),
                "a kind of cluster has spot VMs, but there is no `[spot]`",
                "say how long they live in `[spot]`",
            );
        }
        if table.get_ref().chief_market == Some(RentedOn::Spot) && !kind.on_spot {
            self.diagnostics.error_at(
                self.source,
                table.span(),
                "a chief on a spot VM among workers on demand",
                "it is the chief that must not be lost; leave `chief_market` out",
            );
        }
    }

    /// The terms of the scenario with the lives of a kind's own, if it has such.
    fn kind_spot(&mut self, table: &KindTable, spot: Option<&Spot>) -> Option<Arc<Spot>> {
        let name = table.lifetime.as_ref()?;
        let (losses, _) = self.model(name)?;
        let of_all = spot?;
        let alone = |losses: &Losses| matches!(losses, Losses::Alone(_));
        if !alone(&losses) || !alone(&of_all.losses) {
            self.diagnostics.error_at(
                self.source,
                name.span(),
                "a kind of cluster has lives of its own among VMs that are lost together",
                "possible only where VMs are lost each by itself, here and in `[spot]`",
            );
            return None;
        }
        Some(Arc::new(Spot {
            losses,
            ..of_all.clone()
        }))
    }

    fn elastic(&mut self, file: &ScenarioFile) -> Option<Arc<Elastic>> {
        let table = file.elastic.as_ref()?;
        let ElasticTable {
            prices,
            grow_at,
            shrink_above,
            most_vms,
            fewest_vms,
        } = table.get_ref();
        if let Err(why) = SpotSeries::new(prices.get_ref()) {
            let why = why.replace("spot_series", "prices");
            self.diagnostics
                .error_at(self.source, prices.span(), why, "not a series of prices");
            return None;
        }
        if grow_at.get() > shrink_above.get() || fewest_vms.get() > most_vms.get() {
            self.diagnostics.error_at(
                self.source,
                table.span(),
                "`elastic` contradicts itself",
                "expected `grow_at` ≤ `shrink_above` and `fewest_vms` ≤ `most_vms`",
            );
            return None;
        }
        let prices = (prices.get_ref().iter())
            .map(|Step(hour, ratio)| (hour.get() * SECONDS_PER_HOUR, ratio.get()))
            .collect();
        Some(Arc::new(Elastic {
            prices,
            grow_at: grow_at.get(),
            shrink_above: shrink_above.get(),
            most_vms: most_vms.get(),
            fewest_vms: fewest_vms.get(),
        }))
    }

    /// Reports configurations that their protocol cannot run on, and clusters that may come to a size that the
    /// workload does not know: one message for each workload.
    pub(super) fn sizes_known(
        &mut self,
        file: &ScenarioFile,
        workloads: &[(Workload, Vec<Configuration>)],
        reach: &Reach,
        setup: &Setup,
        variation: &Variation,
    ) {
        let protocol_of = |c: &Configuration| {
            let kind = setup.kinds.get(&c.vm);
            kind.and_then(|k| k.protocol).unwrap_or(setup.protocol)
        };
        let span_of = |c: &Configuration| {
            let kind = (file.kind.iter()).find(|(name, _)| **name.get_ref() == *c.vm);
            let own = kind.and_then(|(_, t)| t.get_ref().sync.as_ref());
            own.or(file.sync.as_ref()).map(Spanned::span)
        };
        let impossible = (workloads.iter().flat_map(|w| &w.1))
            .find_map(|c| Some((c, protocol_of(c).check(c.workers).err()?)));
        if let Some((at, why)) = impossible {
            let span = span_of(at).unwrap_or_default();
            let title = format!("{} on {at}: {why}", protocol_of(at).name());
            let label = "not possible on all configurations";
            self.diagnostics.error_at(self.source, span, title, label);
            return;
        }
        let changes = setup.elastic.is_some()
            || (setup.spot.as_ref()).is_some_and(|s| s.on_loss != Default::default());
        if !changes {
            return;
        }
        let place = (file.elastic.as_ref().map(Spanned::span))
            .or(file.spot.as_ref().map(Spanned::span))
            .unwrap_or_default();
        let waits = Waits::default();
        for (workload, configurations) in workloads {
            let builder = Builder {
                workload,
                reach,
                variation,
                waits: &waits,
                setup,
            };
            let lacking = (configurations.iter()).find_map(|c| Some((c, builder.missing_size(c)?)));
            if let Some((at, why)) = lacking {
                let title = format!(
                    "`{}` on {at} may come to a size that is not known",
                    workload.name
                );
                let help = match why {
                    Some(outside) => format!(
                        "{outside}; raise `spot.fewest_workers`, or set `cluster.outside = \"extrapolate\"`"
                    ),
                    None => format!("it has more than {MOST_SIZES} sizes"),
                };
                self.diagnostics.push(
                    Diagnostic::at(
                        self.source,
                        place.clone(),
                        title,
                        "changes the cluster's size",
                    )
                    .with_help(help),
                );
            }
        }
    }
}

/// Kinds of clusters stand for the VM type of their first workers, when a workload is asked.
pub(super) fn extend(reach: &mut Reach, setup: &Setup, machines: &[Machine]) {
    for (name, kind) in &setup.kinds {
        let Some((first, _)) = kind.workers.first() else {
            continue;
        };
        let own = Shape::parse(first).ok().and_then(|shape| {
            let machine = machines.iter().find(|m| *m.stand_in.vm == *shape.vm_type)?;
            Some(StandIn {
                vm: Arc::clone(name),
                like: shape.on(&machine.stand_in.like).into(),
                ..machine.stand_in.clone()
            })
        });
        let alias = own.unwrap_or_else(|| StandIn {
            vm: Arc::clone(name),
            like: Arc::clone(first),
            compute_scale: 1.0,
            network_scale: 1.0,
            is_same: true,
        });
        reach.stand_ins.insert(Arc::clone(name), alias);
    }
}
