//! The provider in one replica: VMs that are asked for, when each runs, and which are taken away when. Each life is drawn
//! under its own key, so that the n-th VM of a type lives equally long whatever else was asked for.

pub mod capacity;
pub mod market;

pub use capacity::Capacity;
pub use market::Market;

use crate::cluster::terms::{Losses, Pause};
use scavsim_base::rng::{Purpose, RequestKey, Stream, Streams, VmTypeKey};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::lifetimes::Lifetime;
use scavsim_data::usage::{EndedBy, VmInterval};

/// Losses without a result in between after which bags and plans are taken not to come to an end.
pub const MOST_LOSSES: u32 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vm {
    /// Number of the VM among all requests of the replica.
    pub number: u32,
    pub vm: u16,
    /// When it was asked for: it is billed from then on.
    pub asked: SimTime,
    pub runs: SimTime,
    /// When it is lost, as far as that is known; else the last moment.
    pub lost: SimTime,
}

impl Vm {
    /// How long it is held, where it is given back at a moment unless it is lost before.
    #[inline]
    pub fn held_until(&self, at: SimTime) -> VmInterval {
        let whole = VmInterval {
            vm: self.vm,
            vms: 1,
            from: self.asked,
            to: self.lost,
            ended_by: EndedBy::Provider,
        };
        whole.until(at)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct VmRequest {
    pub vm: u16,
    pub vm_type: VmTypeKey,
    /// Number of the market: VMs of one type in several markets are counted by themselves.
    pub market: u16,
    pub on_spot: bool,
}

#[derive(Debug, Clone)]
pub struct Provider {
    streams: Streams,
    replica: u64,
    /// VMs that were asked for so far, and of them those of each type and market.
    requested: u32,
    by_market: Vec<(VmTypeKey, u16, u64)>,
    pub market: Option<Market>,
    /// Hours of the lives drawn so far, where somebody wants to know them.
    pub lives_h: Option<Vec<f64>>,
}

impl Provider {
    /// The provider of `replica`, of whom nothing was asked yet.
    pub fn new(streams: Streams, replica: u64, losses: Option<&Losses>) -> Provider {
        Provider {
            streams,
            replica,
            requested: 0,
            by_market: Vec::new(),
            market: losses.and_then(|losses| Market::new(losses, &streams, replica)),
            lives_h: None,
        }
    }

    pub fn restart(&mut self, replica: u64, losses: Option<&Losses>) {
        self.replica = replica;
        if let Some(lives_h) = &mut self.lives_h {
            lives_h.clear();
        }
        self.by_market.clear();
        self.requested = 0;
        self.market = losses.and_then(|losses| Market::new(losses, &self.streams, replica));
    }

    /// Becomes the same as `other`, keeping the memory; lives that were noted stay.
    pub fn copy_from(&mut self, other: &Provider) {
        self.replica = other.replica;
        self.by_market.clone_from(&other.by_market);
        self.requested = other.requested;
        self.market.clone_from(&other.market);
    }

    #[inline]
    pub fn stream(&self, purpose: Purpose) -> Stream {
        self.streams.stream(self.replica, purpose)
    }

    pub fn next_request(&self, wanted: &VmRequest) -> RequestKey {
        RequestKey {
            vm_type: wanted.vm_type,
            on_spot: wanted.on_spot,
            number: self.place(wanted).map_or(0, |at| self.by_market[at].2),
        }
    }

    /// The place of a type and market among those asked for, from the last on: a search that changes types asks for those.
    fn place(&self, wanted: &VmRequest) -> Option<usize> {
        let kind = (wanted.vm_type, wanted.market);
        (self.by_market.iter()).rposition(|(vm_type, market, _)| (*vm_type, *market) == kind)
    }

    /// One more VM, asked for at `now`: it runs after `boot`, and lives by `law` if it is lost by itself.
    pub fn request(
        &mut self,
        wanted: &VmRequest,
        boot: &Pause,
        law: Option<&Lifetime>,
        now: SimTime,
    ) -> Vm {
        let key = self.next_request(wanted);
        match self.place(wanted) {
            Some(at) => self.by_market[at].2 += 1,
            None => (self.by_market).push((wanted.vm_type, wanted.market, 1)),
        }
        let number = self.requested;
        self.requested += 1;
        let runs = now + boot.draw(|| self.stream(Purpose::StartUp(key)));
        let lost = law.map_or(SimTime::LAST, |law| {
            let mut stream = self.stream(Purpose::Life(key.vm_type, key.number));
            let life_h = law.sample(&mut stream);
            if let Some(lives_h) = &mut self.lives_h {
                lives_h.push(life_h);
            }
            runs + SimTime::from_seconds(life_h * SECONDS_PER_HOUR)
        });
        Vm {
            number,
            vm: wanted.vm,
            asked: now,
            runs,
            lost,
        }
    }
}
