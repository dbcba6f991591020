use std::sync::Arc;

use super::builder::{Builder, MOST_SIZES};
use crate::cluster::groups::{Group, MOST_GROUPS};
use crate::cluster::setup::Kind;
use crate::cluster::terms::Spot;
use crate::training::barrier_waits::Layout;
use crate::training::sync::Protocol;
use scavsim_base::rng::VmTypeKey;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::usage::RentedVms;

/// Workers of a group, for the step process.
pub(super) struct Part {
    pub(super) shape: Arc<str>,
    /// Workers per VM; all of the configuration on all VMs where they cannot be told apart.
    pub(super) each: u32,
    /// Where they cannot: workers on how many VMs.
    pub(super) layout: Layout,
    /// Number of the shape among those of its kind.
    pub(super) index: usize,
}

impl Part {
    pub(super) fn workers(&self, vms: u32) -> u32 {
        match self.each {
            0 => self.layout.iter().map(|(each, vms)| each * vms).sum(),
            each => each * vms,
        }
    }
}

pub(super) type Vms = [u32; MOST_GROUPS];

pub(super) struct Frame {
    pub(super) groups: Vec<Group>,
    pub(super) parts: Vec<Part>,
    pub(super) protocol: Protocol,
    pub(super) spot: Option<Arc<Spot>>,
    pub(super) kind: Option<Arc<Kind>>,
}

impl Frame {
    pub(super) fn all_vms(&self) -> Vms {
        let mut vms = [0; MOST_GROUPS];
        for (vms, group) in vms.iter_mut().zip(&self.groups) {
            *vms = group.vms;
        }
        vms
    }

    /// Levels of what is available of its workers; one where that stays.
    pub(super) fn levels(&self) -> usize {
        (self.kind.as_ref()).map_or(1, |kind| kind.levels.len().max(1))
    }

    pub(super) fn share(&self, part: &Part, level: usize) -> f64 {
        let level = self.kind.as_ref().and_then(|kind| kind.levels.get(level));
        (level.and_then(|level| level.shares.get(part.index))).map_or(1.0, |share| *share)
    }

    /// Numbers of VMs that the groups of workers may have together; `None` where there are too many for all levels.
    pub(super) fn count_of_sizes(&self) -> Option<usize> {
        (self.groups.iter())
            .filter(|g| !g.is_server)
            .try_fold(1usize, |n, g| n.checked_mul(g.most as usize + 1))
            .filter(|n| n.saturating_mul(self.levels()) <= MOST_SIZES)
    }
}

impl Builder<'_> {
    pub(super) fn frame(&self, configuration: &Configuration, vms: &mut RentedVms) -> Frame {
        let of = self.setup.kinds.get(&configuration.vm);
        let kind = of.map(|k| &**k);
        let (groups, parts) = self.groups(configuration, kind, vms);
        let spot = kind
            .and_then(|k| k.spot.clone())
            .or_else(|| self.setup.spot.clone());
        Frame {
            groups,
            parts,
            protocol: (self.setup).protocol_on(&self.workload.name, &configuration.vm),
            spot: spot.filter(|_| kind.is_none_or(Kind::has_spot)),
            kind: of.cloned(),
        }
    }

    fn groups(
        &self,
        configuration: &Configuration,
        kind: Option<&Kind>,
        vms: &mut RentedVms,
    ) -> (Vec<Group>, Vec<Part>) {
        let (mut groups, mut parts) = (Vec::new(), Vec::new());
        let single = [(Arc::clone(&configuration.vm), None)];
        let workers_of = kind.map_or(&single[..], |k| &k.workers);
        let on_spot = match kind {
            Some(kind) => kind.on_spot,
            None => self.setup.spot.is_some(),
        };
        // Without kinds all VMs are alike, and the price says on which terms.
        let said = kind.map(|_| on_spot);
        let grown = (self.setup.elastic.as_ref()).map_or(0, |e| e.most_vms);
        let market = |on_spot: bool| {
            if on_spot {
                kind.map_or(1, |k| k.market)
            } else {
                0
            }
        };
        for (index, (shape, fixed)) in workers_of.iter().take(MOST_GROUPS - 2).enumerate() {
            let parsed = Shape::parse(shape).ok();
            let vm_type = parsed.map_or(&**shape, |s| s.vm_type);
            let workers = fixed.unwrap_or(configuration.workers);
            let count = (parsed.and_then(|s| s.vms(workers))).unwrap_or(workers);
            // A last VM that is not full makes VMs unlike, which matters only where some may be missing.
            let fills = count > 0 && (self.changes_size() || workers % count == 0);
            let each = if parsed.is_some_and(|s| s.is_even()) && fills {
                workers / count
            } else {
                0
            };
            let layout = match each {
                0 => parsed.map_or_else(|| vec![(1, workers)], |s| s.layout(workers)),
                _ => Layout::new(),
            };
            let mut add =
                |count: u32, on_spot: bool, said: Option<bool>, grown: u32, layout: Layout| {
                    groups.push(Group {
                        vm: vms.number(vm_type, said),
                        vm_type: VmTypeKey::from_name(vm_type),
                        market: market(on_spot),
                        vms: count,
                        most: count.max(grown),
                        workers: each,
                        layout: layout.clone(),
                        on_spot,
                        is_server: false,
                    });
                    parts.push(Part {
                        shape: Arc::clone(shape),
                        each,
                        layout,
                        index,
                    });
                };
            let grown = if index == 0 { grown } else { 0 };
            match kind {
                Some(kind) if index == 0 && kind.chief_on_demand && on_spot => {
                    let (chief, others) = without_first(layout);
                    if count > 1 {
                        add(count - 1, true, said, grown.saturating_sub(1), others);
                    }
                    add(1, false, Some(false), 1, chief);
                }
                _ => add(count, on_spot, said, grown, layout),
            }
        }
        if let Some(servers) = kind.and_then(|k| k.servers.as_ref()) {
            groups.push(Group {
                vm: vms.number(&servers.vm, Some(servers.on_spot)),
                vm_type: VmTypeKey::from_name(&servers.vm),
                market: market(servers.on_spot),
                vms: servers.vms,
                most: servers.vms,
                workers: 0,
                layout: Layout::new(),
                on_spot: servers.on_spot,
                is_server: true,
            });
        }
        (groups, parts)
    }
}

fn without_first(mut layout: Layout) -> (Layout, Layout) {
    let Some((each, vms)) = layout.first_mut() else {
        return (Layout::new(), Layout::new());
    };
    let first = vec![(*each, 1)];
    *vms -= 1;
    layout.retain(|(_, vms)| *vms > 0);
    (first, layout)
}
