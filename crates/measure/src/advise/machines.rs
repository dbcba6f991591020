//! Unmeasured machines: which of the catalogue may replace measured ones, with which error. With an equal GPU, a machine
//! differs in its host and its network. Another GPU is predicted by the law of [`speeds`](super::speeds). If no measured
//! machine has a GPU, machines of one family replace each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::offers::{OfferFilter, OfferList};
use super::speeds::Speeds;
use scavsim_data::cloud::{Catalogue, Market, VmType};
use scavsim_data::configuration::{Configuration, vm_type};
use scavsim_data::workload::law::ComputeLaw;
use scavsim_data::workload::{Reach, SubstituteVm, Workload};
use scavsim_parallel::gpu::{self, GpuSheet};

/// Standard deviation of ln(seconds) of a training between machines of several makers with one GPU: 116 pairs on H100s of `lambda-2024`
/// (`data/gpus/README.md`).
const OF_MACHINES: f64 = 0.075;
/// Added deviation per factor of e fewer processors per GPU than were measured. No measurement.
const OF_HOSTS: f64 = 0.1;
/// Exponent of the network's rate in the time between VMs: small types burst, and few jobs fill a large one. No measurement:
/// the middle between 0 and 1.
const OF_RATE: f64 = 0.5;
/// Standard deviation of that exponent: 0 and 1 are within 90 %.
const OF_RATE_SD: f64 = 0.3;
/// Further standard deviation of ln(communication) between two machines; and the one for an unknown rate.
const OF_NETWORKS: [f64; 2] = [0.15, 0.5];
/// Standard deviation of ln(seconds) by a law for a measured GPU.
const OF_LAW: f64 = 0.05;
/// Exponent of the number of processors in the speed of a machine without a GPU, and its standard deviation. No measurement:
/// between full and half of that speedup.
const OF_CORES: (f64, f64) = (0.8, 0.2);
/// Maximum ratio of sizes at which machines of a family predict each other.
const MOST_CORES: f64 = 4.0;
/// A more expensive machine with equal GPUs is a candidate with this multiple of the network's rate; if only the cost counts,
/// up to this multiple of the price.
const FASTER_NETWORK: (f64, f64) = (2.0, 1.5);

/// Why a machine can be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    SameGpu,
    /// A machine whose GPU is predicted from a measured one.
    OtherGpu,
    /// A machine of the family of a measured one, without a GPU.
    SameFamily,
}

scavsim_base::named! {
    Basis:
    SameGpu = "same-gpu", OtherGpu = "other-gpu", SameFamily = "same-family",
}

impl Basis {
    pub fn label(self) -> &'static str {
        match self {
            Basis::SameGpu => "same GPU",
            Basis::OtherGpu => "other GPU",
            Basis::SameFamily => "same family",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Machine {
    pub vm: String,
    /// The measured type that predicts it.
    pub like: String,
    pub basis: Basis,
    pub processor: String,
    pub per_vm: u32,
    /// Memory of its workers, relative to the measured ones.
    pub memory: f64,
    /// Seconds of compute relative to the measured type: the exponential of the expected logarithm, and its standard deviation.
    pub compute: (f64, f64),
    network_gbit_per_s: Option<f64>,
    stand_in: SubstituteVm,
    /// Standard deviation of the machine's own error.
    own_sd: f64,
    /// Standard deviation of ln(communication).
    network_sd: f64,
    /// Index of its GPU among the candidates.
    gpu: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Machines {
    /// By VM type.
    pub all: Vec<Machine>,
    pub dearer: usize,
    pub without_price: usize,
    /// Covariances of ln(compute) between other GPUs, by rows.
    covariance: Vec<f64>,
    gpus: usize,
}

struct MeasuredType<'w> {
    vm: &'w str,
    listed: &'static VmType,
    points: usize,
    /// Whether its shape of one worker on each VM bears a `/1`.
    is_written_as_one: bool,
}

/// The machines of the catalogue that can be predicted, except the measured ones.
pub fn machines(
    workload: &Workload,
    wanted: &OfferFilter,
    catalogue: &'static Catalogue,
) -> Machines {
    let types: BTreeSet<&str> = workload.steps.shapes().map(|s| vm_type(s)).collect();
    let measured: Vec<MeasuredType<'_>> = (types.iter())
        .filter_map(|vm| {
            let of_type = |c: &Configuration| vm_type(&c.vm) == *vm;
            let is_written = |shape: &str| workload.steps.shapes().any(|own| **own == *shape);
            Some(MeasuredType {
                is_written_as_one: !is_written(vm) && is_written(&format!("{vm}/1")),
                vm,
                listed: catalogue.vm_type(vm)?,
                points: workload.steps.points().filter(|(c, _)| of_type(c)).count(),
            })
        })
        .collect();
    let providers: BTreeSet<&str> = measured.iter().map(|m| &*m.listed.provider).collect();
    let takes = |provider: &str| match wanted.provider.as_deref() {
        None => providers.contains(provider),
        Some(only) => only == super::offers::ANY || only == provider,
    };
    if wanted.only_measured {
        return Machines::default();
    }
    let others: Vec<&'static VmType> = (catalogue.types.iter())
        .filter(|listed| !types.contains(&*listed.vm) && takes(&listed.provider))
        .collect();
    if measured.iter().any(|m| m.listed.gpus.is_some()) {
        with_gpus(workload, &measured, &others)
    } else {
        let all = others.into_iter();
        Machines {
            all: all.filter_map(|own| of_family(&measured, own)).collect(),
            ..Machines::default()
        }
    }
}

fn with_gpus(workload: &Workload, measured: &[MeasuredType<'_>], others: &[&VmType]) -> Machines {
    let known: Vec<(&MeasuredType<'_>, &GpuSheet)> = (measured.iter())
        .filter_map(|m| Some((m, gpu::of_vm(m.vm)?.gpu?)))
        .collect();
    let seconds = seconds(workload, &known);
    let mut asked: Vec<&'static GpuSheet> = Vec::new();
    for sheet in others.iter().filter_map(|own| gpu::of_vm(&own.vm)?.gpu) {
        let is_measured = known.iter().any(|(_, own)| own.name == sheet.name);
        if !is_measured && !asked.iter().any(|known| known.name == sheet.name) {
            asked.push(sheet);
        }
    }
    let told = Speeds::shipped().predict(&seconds, &asked);
    let all = others.iter().filter_map(|own| {
        let gpus = own.gpus.as_ref()?;
        let sheet = gpu::of_vm(&own.vm)?.gpu;
        let same = (measured.iter())
            .filter(|m| {
                let other = m.listed.gpus.as_ref();
                other.is_some_and(|other| is_same(&other.model, &gpus.model))
            })
            .max_by_key(|m| m.points);
        if let Some(like) = same {
            return machine(like, own, Basis::SameGpu, (0.0, 0.0), None);
        }
        let at = asked
            .iter()
            .position(|known| Some(&known.name) == sheet.map(|s| &s.name))?;
        let (like, (_, level, _)) = (known.iter().map(|(m, _)| *m))
            .zip(&seconds)
            .max_by_key(|(m, _)| m.points)?;
        let sd = told.covariance[at * asked.len() + at].sqrt();
        let compute = (told.log_s[at] - level, sd);
        machine(like, own, Basis::OtherGpu, compute, Some(at))
    });
    Machines {
        all: all.collect(),
        gpus: asked.len(),
        covariance: told.covariance,
        ..Machines::default()
    }
}

fn is_same(a: &str, b: &str) -> bool {
    match (gpu::named(a), gpu::named(b)) {
        (Some(a), Some(b)) => a.name == b.name,
        _ => a == b,
    }
}

/// ln(seconds) of compute of the measured GPUs, at samples that all of them were measured with; only of the one with most
/// points if there are none.
fn seconds<'g>(
    workload: &Workload,
    known: &[(&MeasuredType<'_>, &'g GpuSheet)],
) -> Vec<(&'g GpuSheet, f64, f64)> {
    let largest = |vm: &str| {
        let own = workload
            .steps
            .points()
            .filter(|(c, _)| vm_type(&c.vm) == vm);
        own.map(|(c, _)| c.local_batch()).fold(0.0, f64::max)
    };
    let common = (known.iter().map(|(m, _)| largest(m.vm))).fold(f64::INFINITY, f64::min);
    let compute = |vm: &str| match workload.laws.pooled.get(vm)?.compute {
        ComputeLaw::Affine {
            base_s,
            per_sample_s,
        } => Some(base_s + per_sample_s * common),
        _ => None,
    };
    let own = |(m, gpu): &(&MeasuredType<'_>, &'g GpuSheet)| {
        let log_s = libm::log(compute(m.vm)?);
        Some((*gpu, log_s, OF_LAW * OF_LAW))
    };
    let all: Option<Vec<_>> = known.iter().map(own).collect();
    all.unwrap_or_else(|| {
        known
            .iter()
            .map(|(_, gpu)| (*gpu, 0.0, OF_LAW * OF_LAW))
            .take(1)
            .collect()
    })
}

fn machine(
    like: &MeasuredType<'_>,
    own: &VmType,
    basis: Basis,
    compute: (f64, f64),
    gpu: Option<usize>,
) -> Option<Machine> {
    let (of_like, of_own) = (gpu::of_vm(like.vm)?, gpu::of_vm(&own.vm)?);
    let per = |listed: &VmType, count: u32| listed.vcpu as f64 / f64::from(count.max(1));
    let hosts = libm::log(per(like.listed, of_like.count) / per(own, of_own.count)).max(0.0);
    let link = match (of_like.gpu, of_own.gpu) {
        (Some(a), Some(b)) => (a.link_gb_per_s / b.link_gb_per_s).sqrt(),
        _ => 1.0,
    };
    let memory = match (of_like.gpu, of_own.gpu) {
        (Some(a), Some(b)) => b.memory_gib / a.memory_gib,
        _ => 1.0,
    };
    let (network_scale, network_sd) =
        network(of_like.network_gbit_per_s, of_own.network_gbit_per_s);
    let two = 2.0 * OF_MACHINES * OF_MACHINES;
    // If one worker per VM is written as `/1` in the measurements, this shape is, too.
    let written = match of_own.count {
        1 if like.is_written_as_one => format!("{}/1", like.vm),
        _ => like.vm.to_owned(),
    };
    Some(Machine {
        vm: own.vm.clone(),
        like: like.vm.to_owned(),
        basis,
        processor: own.gpus.as_ref()?.model.clone(),
        per_vm: of_own.count,
        memory,
        compute,
        network_gbit_per_s: of_own.network_gbit_per_s,
        own_sd: (two + OF_HOSTS * OF_HOSTS * hosts * hosts).sqrt(),
        network_sd,
        gpu,
        stand_in: SubstituteVm {
            link_scale: Some(if gpu.is_some() { link } else { 1.0 }),
            ..stand_in(&own.vm, &written, libm::exp(compute.0), network_scale)
        },
    })
}

/// A machine without a GPU that is predicted from the measured one of its family with the nearest size.
fn of_family(measured: &[MeasuredType<'_>], own: &VmType) -> Option<Machine> {
    if own.gpus.is_some() {
        return None;
    }
    let apart = |m: &MeasuredType<'_>| libm::log(m.listed.vcpu as f64 / own.vcpu as f64);
    let like = (measured.iter())
        .filter(|m| m.listed.provider == own.provider && family(&m.listed.vm) == family(&own.vm))
        .min_by(|a, b| apart(a).abs().total_cmp(&apart(b).abs()))?;
    let (network_scale, network_sd) = network(like.listed.network_gbps, own.network_gbps);
    let cores = apart(like);
    if cores.abs() > libm::log(MOST_CORES) + 1e-9 {
        return None;
    }
    Some(Machine {
        vm: own.vm.clone(),
        like: like.vm.to_owned(),
        basis: Basis::SameFamily,
        processor: family(&own.vm)?.to_owned(),
        per_vm: 1,
        memory: own.memory_gib / like.listed.memory_gib,
        compute: (OF_CORES.0 * cores, 0.0),
        network_gbit_per_s: own.network_gbps,
        own_sd: libm::hypot(OF_MACHINES * std::f64::consts::SQRT_2, OF_CORES.1 * cores),
        network_sd,
        gpu: None,
        stand_in: stand_in(
            &own.vm,
            like.vm,
            libm::exp(OF_CORES.0 * cores),
            network_scale,
        ),
    })
}

/// The family of a machine: `m5` of `m5.xlarge`, `e2` of `e2-standard-4`; `None` if the name does not show it.
fn family(vm: &str) -> Option<&str> {
    let end = vm.find(['.', '-'])?;
    vm.get(..end).filter(|name| !name.is_empty())
}

fn stand_in(vm: &str, like: &str, compute_scale: f64, network_scale: f64) -> SubstituteVm {
    SubstituteVm {
        vm: vm.into(),
        like: like.into(),
        compute_scale,
        network_scale,
        link_scale: None,
        size: None,
        knee: None,
        is_same: false,
    }
}

/// Communication relative to the measured type, and the standard deviation of its logarithm.
fn network(like: Option<f64>, own: Option<f64>) -> (f64, f64) {
    match (like, own) {
        (Some(like), Some(own)) => {
            let apart = libm::log(like / own);
            let sd = libm::hypot(OF_NETWORKS[0], OF_RATE_SD * apart);
            (libm::exp(OF_RATE * apart), sd)
        }
        _ => (1.0, OF_NETWORKS[1]),
    }
}

impl Machines {
    pub fn machine_of_shape(&self, shape: &str) -> Option<&Machine> {
        let own = vm_type(shape);
        self.all.iter().find(|machine| machine.vm == own)
    }

    pub fn names(&self) -> BTreeSet<String> {
        self.all.iter().map(|machine| machine.vm.clone()).collect()
    }

    pub fn reach(&self) -> Reach {
        Reach {
            extrapolate: true,
            stand_ins: (self.all.iter())
                .map(|machine| (Arc::from(&*machine.vm), machine.stand_in.clone()))
                .collect(),
        }
    }

    /// Drops machines, and their offers, without a price, or with the GPUs of a cheaper one and no network that justifies the price.
    pub fn keep_priced(&mut self, offers: &mut OfferList, by_time: bool) {
        let price = |machine: &Machine, market: Market| {
            let own = offers.all.iter().filter(|o| o.vm == machine.vm);
            own.filter(|o| o.market == market)
                .map(|o| o.cluster_usd_per_hour(1))
                .next()
        };
        type MachineKey<'m> = (&'m str, u32, Option<String>);
        let mut kept: BTreeSet<String> = BTreeSet::new();
        let mut priced: BTreeSet<&str> = BTreeSet::new();
        for market in Market::ALL {
            let mut alike: BTreeMap<MachineKey<'_>, Vec<(f64, &Machine)>> = BTreeMap::new();
            for machine in &self.all {
                let Some(usd) = price(machine, market) else {
                    continue;
                };
                priced.insert(&machine.vm);
                let provider = offers.all.iter().find(|o| o.vm == machine.vm);
                let key = (
                    &*machine.processor,
                    machine.size(),
                    provider.and_then(|o| o.provider.clone()),
                );
                alike.entry(key).or_default().push((usd, machine));
            }
            for mut all in alike.into_values() {
                all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.vm.cmp(&b.1.vm)));
                let mut fastest: Option<f64> = None;
                for (index, (usd, machine)) in all.iter().enumerate() {
                    let faster = match (fastest, machine.network_gbit_per_s) {
                        (Some(best), Some(own)) => own >= FASTER_NETWORK.0 * best,
                        _ => false,
                    };
                    if index == 0 || (faster && (by_time || *usd <= FASTER_NETWORK.1 * all[0].0)) {
                        kept.insert(machine.vm.clone());
                        fastest = machine.network_gbit_per_s.or(fastest);
                    }
                }
            }
        }
        self.without_price = self.all.len() - priced.len();
        self.dearer = priced.len() - kept.len();
        let dropped: BTreeSet<String> = self.names().difference(&kept).cloned().collect();
        offers.all.retain(|offer| !dropped.contains(&offer.vm));
        self.all.retain(|machine| kept.contains(&machine.vm));
    }

    /// Covariance of the errors of ln(step) of two unmeasured machines; `shares` are those of communication in their steps.
    pub(super) fn covariance(&self, [a, b]: [&Machine; 2], shares: [f64; 2]) -> f64 {
        let compute = (1.0 - shares[0]) * (1.0 - shares[1]);
        let mut sum = match (a.gpu, b.gpu) {
            (Some(i), Some(j)) => compute * self.covariance[i * self.gpus + j],
            _ => 0.0,
        };
        if a.vm == b.vm {
            sum += a.own_sd * a.own_sd + a.network_sd * a.network_sd * shares[0] * shares[1];
        }
        sum
    }
}

impl Machine {
    /// The size that distinguishes machines of one processor: GPUs, or amount of compute.
    fn size(&self) -> u32 {
        match self.basis {
            Basis::SameFamily => (1e3 * self.stand_in.compute_scale) as u32,
            _ => self.per_vm,
        }
    }

    pub fn compute_over_like(&self) -> [f64; 3] {
        let (log, sd) = self.compute;
        let wide = scavsim_base::stats::normal::AT_95 * libm::hypot(sd, self.own_sd);
        [log, log - wide, log + wide].map(libm::exp)
    }
}
