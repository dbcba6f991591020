//! No protocol allocates per event: once its memory has grown, a run of any length allocates nothing. Nor does a bill. In a
//! binary of its own, because counting replaces the allocator.

use allocation_counter::measure;
use scavsim::cloud::Fleet;
use scavsim::engine::Queue;
use scavsim::pricing::{PolicyFile, RentedVmType};
use scavsim::rng::{Purpose, Streams};
use scavsim::training::drift::DriftPath;
use scavsim::training::sync::{Goal, Protocol, Scratch};
use scavsim::training::{Floor, Log, Stepping, Variation, slowest};
use scavsim::units::SimTime;
use scavsim::usage::{EndedBy, Usage, VmInterval};

#[test]
fn stretches_do_not_allocate_once_their_memory_has_grown() {
    let variation = Variation {
        step_cv: 0.3,
        straggler: Some(scavsim::training::variation::Straggler {
            probability: 0.02,
            factor: 5.0,
        }),
        ..Variation::default()
    };
    let time = variation.worker_time();
    let stepping = Stepping {
        workers: 16,
        worker_s: 1.0,
        communication_s: 0.25,
        time,
        slowest: slowest::moments(16, time),
        machines: None,
    };
    for text in [
        "sync = 'bsp'",
        "sync.backup = { spare = 2 }",
        "sync.speculative = { quantile = 0.8, spare = 1 }",
        "sync.ssp = { slack = 2 }",
        "sync.asp = { servers = 2, service_s = 0.2, service = 'exponential' }",
        "sync.flexible = { after_s = 1.5 }",
    ] {
        let mut file: std::collections::BTreeMap<String, Protocol> =
            toml::from_str(text).expect("a protocol");
        let protocol = file.remove("sync").expect("it is there");
        let streams = Streams::new(1);
        let (mut queue, mut scratch, mut log) = (Queue::new(), Scratch::default(), Log::default());
        let mut drift = DriftPath::still();
        let mut stream = streams.stream(0, Purpose::Trial(0));
        let mut run = |updates| {
            let goal = Goal::updates(updates);
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut drift,
                stepping: &stepping,
                stream: &mut stream,
                scratch: &mut scratch,
                log: &mut log,
            };
            protocol.advance(&mut floor, goal)
        };
        run(100).expect("no stall");
        let counted = measure(|| {
            run(5_000).expect("no stall");
        });
        assert_eq!(counted.count_total, 0, "{text}: {counted:?}");
    }
}

/// VMs that come and go over several months, so that sustained use has several levels.
#[test]
fn bills_do_not_allocate_once_their_memory_has_grown() {
    let at = |hours: u32| SimTime::from_seconds(f64::from(hours) * 3600.0);
    let intervals = (0..500u32).map(|n| VmInterval {
        vm: 0,
        vms: 1 + n % 3,
        from: at(7 * n),
        to: at(7 * n + 100 + n % 41),
        ended_by: EndedBy::User,
    });
    let usage = Usage {
        intervals: intervals.collect(),
        ..Usage::default()
    };
    for text in [
        "usd_per_vm_hour = 0.19\nsustained_use = [1, 0.8, 0.6, 0.4]\nbilled_parameter_servers = 2",
        "usd_per_vm_hour = 0.19\nspot_series = [[0, 0.3], [6, 0.45]]\ngranularity_s = 3600",
    ] {
        let file: PolicyFile = toml::from_str(text).expect("a policy");
        let policy = file.policy("p").expect("a sound policy");
        let types = [RentedVmType::as_priced("e2-standard-4")];
        let tariff = policy.tariff(&types, &Fleet::listed()).expect("a price");
        let first = tariff.bill_usd(&usage);
        let counted = measure(|| {
            assert_eq!(tariff.parts(&usage).whole.to_bits(), first.to_bits());
        });
        assert_eq!(counted.count_total, 0, "{text}");
    }
}
