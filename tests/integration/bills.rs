//! Manual bills: for each policy some lengths of use, each with an explanation of the bill. No figure here comes from the
//! program.

use scavsim::cloud::Fleet;
use scavsim::pricing::{PolicyFile, RentedVmType, Tariff};
use scavsim::units::SimTime;
use scavsim::usage::{EndedBy, Phase, Usage, VmInterval};

use crate::sandbox::{Sandbox, stderr};

/// VMs of the first type, from one hour to another, returned by the job.
pub fn vms(vms: u32, from_h: f64, to_h: f64) -> VmInterval {
    VmInterval {
        vm: 0,
        vms,
        from: SimTime::from_seconds(from_h * 3600.0),
        to: SimTime::from_seconds(to_h * 3600.0),
        ended_by: EndedBy::User,
    }
}

/// VMs of the first type, lost at the end.
pub fn taken(count: u32, from_h: f64, to_h: f64) -> VmInterval {
    VmInterval {
        ended_by: EndedBy::Provider,
        ..vms(count, from_h, to_h)
    }
}

/// VMs of the second type, returned by the job.
pub fn other(count: u32, from_h: f64, to_h: f64) -> VmInterval {
    VmInterval {
        vm: 1,
        ..vms(count, from_h, to_h)
    }
}

pub const MINUTE: f64 = 1.0 / 60.0;
const SECOND: f64 = 1.0 / 3600.0;
pub const E2: &[RentedVmType<'_>] = &[as_priced("e2-standard-4")];

pub const N1: &str = "usd_per_vm_hour = 0.19\nsustained_use = [1, 0.8, 0.6, 0.4]";

pub const fn as_priced(vm: &str) -> RentedVmType<'_> {
    RentedVmType { vm, on_spot: None }
}

/// A VM type as a kind of cluster rents it.
const fn rented(vm: &str, on_spot: bool) -> RentedVmType<'_> {
    let on_spot = Some(on_spot);
    RentedVmType { vm, on_spot }
}

fn tariff(policy: &str, types: &[RentedVmType<'_>]) -> Tariff {
    let file: PolicyFile = toml::from_str(policy).unwrap_or_else(|why| panic!("{policy}: {why}"));
    let policy = file.policy("by-hand").unwrap_or_else(|why| panic!("{why}"));
    let tariff = policy.tariff(types, &Fleet::listed());
    tariff.unwrap_or_else(|why| panic!("{why}"))
}

fn assert_usd(found: f64, expected: f64, of: &str) {
    assert!(
        (found - expected).abs() < 2e-6,
        "{of}: {found}, by hand {expected}"
    );
}

/// Checks a policy against bills: usage, cost, and its explanation.
pub fn bills(policy: &str, types: &[RentedVmType<'_>], by_hand: &[(&[VmInterval], f64, &str)]) {
    let tariff = tariff(policy, types);
    for (held, usd, words) in by_hand {
        let mut usage = Usage {
            intervals: held.to_vec(),
            ..Usage::default()
        };
        assert_usd(tariff.bill_usd(&usage), *usd, words);
        // In any order of use.
        usage.intervals.reverse();
        assert_usd(tariff.bill_usd(&usage), *usd, words);
        // The bill is unchanged if the usage is divided into two phases.
        for i in *held {
            let seconds = (i.to - i.from).seconds();
            (usage.phases).add_vms(Phase::Searching, i.vm, i.vms, 0.25 * seconds);
            (usage.phases).add_vms(Phase::Training, i.vm, i.vms, 0.75 * seconds);
        }
        let parts = tariff.parts(&usage);
        let of_vms = usd - parts.charges.iter().sum::<f64>();
        assert_usd(parts.whole, *usd, words);
        assert_usd(parts.search, 0.25 * of_vms, words);
        assert_usd(parts.useful, 0.75 * of_vms, words);
    }
}

#[test]
fn base_prices() {
    bills(
        "usd_per_vm_hour = 0.13402",
        E2,
        &[
            (
                &[vms(8, 0.0, 12.4)],
                13.294784,
                "8 VMs × 12.4 h = 99.2 h, at $0.13402",
            ),
            (
                &[vms(1, 0.0, 30.0 * SECOND)],
                0.001116833,
                "30 s = 1/120 h at $0.13402",
            ),
        ],
    );
    let types = [as_priced("e2-standard-4"), as_priced("p2.xlarge")];
    bills(
        "usd_per_hour_of = { \"e2-standard-4\" = 0.25, \"p2.xlarge\" = 0.9 }",
        &types,
        &[
            (
                &[vms(4, 0.0, 2.0), other(1, 2.0, 5.0)],
                4.7,
                "4 × 2 h × $0.25 = $2, and 3 h × $0.90 = $2.70",
            ),
            (&[other(2, 0.0, 10.0)], 18.0, "20 h × $0.90"),
        ],
    );
    // n1-standard-4: 4 × 0.031611 + 15 × 0.004237 = 0.126444 + 0.063555 = $0.189999; n1-standard-8 twice that.
    let n1 = [as_priced("n1-standard-4"), as_priced("n1-standard-8")];
    bills(
        "usd_per_vcpu_hour = 0.031611\nusd_per_gib_hour = 0.004237",
        &n1,
        &[
            (&[vms(8, 0.0, 10.0)], 15.19992, "80 h × $0.189999"),
            (
                &[vms(1, 0.0, 1.0), other(1, 0.0, 1.0)],
                0.569997,
                "$0.189999 + $0.379998",
            ),
        ],
    );
    bills(
        "usd_per_vcpu_hour = 0.03\nusd_per_gib_hour = 0.004\nusd_per_gpu_hour = 0.45",
        &[as_priced("g4dn.12xlarge")],
        &[(
            &[vms(2, 0.0, 0.25)],
            2.004,
            "48 × 0.03 + 192 × 0.004 + 4 × 0.45 = 1.44 + 0.768 + 1.80 = $4.008 an hour, half an hour",
        )],
    );
    let listed = |market: &str, date: &str, more: &str| {
        format!(
            "catalogue = \"{market}\"\nprovider = \"gcp\"\nregion = \"us-central1\"\ndate = \"{date}\"\n{more}"
        )
    };
    bills(
        &listed("on-demand", "2021-06-01", ""),
        E2,
        &[
            (&[vms(8, 0.0, 1.0)], 1.07218272, "8 h × $0.13402284"),
            (&[vms(20, 0.0, 100.0)], 268.04568, "2,000 h × $0.13402284"),
        ],
    );
    bills(
        &listed("spot", "2026-07-30", ""),
        E2,
        &[(&[vms(16, 0.0, 3.0)], 3.860352, "48 h × $0.080424")],
    );
    bills(
        &listed("commitment-3y", "2026-07-30", ""),
        E2,
        &[(
            &[vms(8, 0.0, 50.0)],
            24.1241072,
            "400 h × $0.060310268; the hours that nobody uses are not the job's",
        )],
    );
    bills(
        &listed("on-demand", "2021-06-01", "priced_as = \"n1-standard-4\""),
        E2,
        &[(
            &[vms(8, 0.0, 92.1)],
            139.9912632,
            "736.8 h × $0.189999, that of n1-standard-4",
        )],
    );
}

#[test]
fn memory_costs_what_the_batch_holds() {
    let memory = tariff("usd_per_sample_hour = 0.001", E2);
    let bill = |sample_hours: f64| {
        memory.bill_usd(&Usage {
            intervals: vec![vms(8, 0.0, 2.0)],
            sample_seconds: sample_hours * 3600.0,
            ..Usage::default()
        })
    };
    assert_usd(
        bill(512.0 * 2.0),
        1.024,
        "512 samples × 2 h × $0.001, however many VMs",
    );
    assert_usd(
        bill(384.0 * 0.5 + 768.0 * 1.5),
        1.344,
        "192 + 1,152 sample-hours at $0.001",
    );
}

#[test]
fn billed_time() {
    bills(
        "usd_per_vm_hour = 1\ngranularity_s = 3600",
        E2,
        &[
            (&[vms(1, 0.0, 1.0)], 1.0, "one whole hour"),
            (
                &[vms(3, 0.0, 1.0 + SECOND)],
                6.0,
                "every VM has begun its second hour",
            ),
            (
                &[vms(3, 0.0, 1.0 * SECOND)],
                3.0,
                "every VM has begun its first",
            ),
        ],
    );
    bills(
        "usd_per_vm_hour = 1\ngranularity_s = 60\nminimum_s = 600",
        E2,
        &[
            (
                &[vms(2, 0.0, 10.0 * SECOND)],
                0.333333333,
                "2 VMs × at least 10 min = 1/3 h",
            ),
            (
                &[vms(1, 0.0, 601.0 * SECOND)],
                0.183333333,
                "11 started minutes",
            ),
        ],
    );
    bills(
        "usd_per_vm_hour = 3.6\ngranularity_s = 1\nminimum_s = 60",
        E2,
        &[
            (
                &[vms(1, 0.0, 10.0 * SECOND)],
                0.06,
                "at least 60 s at a tenth of a cent",
            ),
            (&[vms(1, 0.0, 60.2 * SECOND)], 0.061, "61 started seconds"),
            (&[vms(20, 0.0, 10.0)], 720.0, "200 h × $3.60"),
        ],
    );
}

#[test]
fn spot_prices_and_commitments() {
    bills(
        "usd_per_vm_hour = 0.2\nspot_ratio = 0.3",
        &[
            rented("e2-standard-4", true),
            rented("e2-standard-4", false),
        ],
        &[
            (&[vms(2, 0.0, 5.0)], 0.6, "10 h × $0.06"),
            (
                &[vms(2, 0.0, 5.0), other(1, 0.0, 5.0)],
                1.6,
                "and 5 h at the whole $0.20, rented on demand",
            ),
        ],
    );
    bills(
        "usd_per_vm_hour = 0.2\ncommitment_discount = 0.37",
        E2,
        &[(&[vms(2, 0.0, 5.0)], 1.26, "10 h × $0.126")],
    );
    let series = "usd_per_vm_hour = 2\nspot_series = [[0, 0.3], [6, 0.45], [10, 1.2]]";
    bills(
        series,
        &[
            rented("e2-standard-4", true),
            rented("e2-standard-4", false),
        ],
        &[
            (
                &[vms(3, 0.0, 8.0)],
                16.2,
                "each 6 h × 0.3 + 2 h × 0.45 = 2.7 h; 3 × 2.7 h × $2",
            ),
            (
                &[vms(1, 5.0, 12.0)],
                9.0,
                "1 h × 0.3 + 4 h × 0.45 + 2 h × 1.2 = 4.5 h × $2",
            ),
            (
                &[vms(1, 0.0, 2.0), other(1, 0.0, 2.0)],
                5.2,
                "2 h × 0.3 × $2 = $1.20, and on demand 2 h × $2",
            ),
        ],
    );
    bills(
        &format!("{series}\ngranularity_s = 3600"),
        E2,
        &[
            (&[vms(1, 0.0, 5.5)], 3.6, "6 started hours × 0.3 × $2"),
            (
                &[vms(1, 0.0, 6.5)],
                4.5,
                "6 h × 0.3 and the started hour at 0.45: 2.25 h × $2",
            ),
        ],
    );
    let k80 = [rented("k80", true), rented("k80", false)];
    let prices = "usd_per_hour_of = { k80 = 0.723 }\nspot_usd_per_hour_of = { k80 = 0.256 }\n";
    bills(
        prices,
        &k80,
        &[(
            &[vms(7, 0.0, 2.0), other(1, 0.0, 2.0)],
            5.03,
            "14 h × $0.256 = $3.584, and 2 h × $0.723 = $1.446",
        )],
    );
    // Neither a commitment nor sustained use reduces a spot price.
    bills(
        &format!("{prices}commitment_discount = 0.5"),
        &k80,
        &[(
            &[vms(7, 0.0, 2.0), other(1, 0.0, 2.0)],
            4.307,
            "14 h × $0.256 = $3.584, and 2 h × half of $0.723",
        )],
    );
    bills(
        &format!("{prices}sustained_use = [1, 0.8, 0.6, 0.4]"),
        &k80,
        &[(
            &[vms(2, 0.0, 730.0), other(1, 0.0, 730.0)],
            743.213,
            "1,460 h × $0.256 = $373.76, and 730 h × 0.70 × $0.723 = $369.453",
        )],
    );
    // The price of a VM in its first hour, by its terms.
    let first = tariff(series, &k80);
    assert_eq!(
        (first.usd_per_vm_hour(0), first.usd_per_vm_hour(1)),
        (Some(0.6), Some(2.0))
    );
}

#[test]
fn parameter_servers_and_charges() {
    bills(
        "usd_per_vm_hour = 1\nbilled_parameter_servers = 2",
        E2,
        &[(
            &[vms(4, 1.0, 3.0), vms(8, 2.0, 6.0)],
            50.0,
            "8 h + 32 h, and 2 servers from hour 1 to 6: 10 h",
        )],
    );
    bills(
        "usd_per_vcpu_hour = 0.25\nusd_per_gib_hour = 0\nbilled_parameter_servers = 1\nparameter_server_vm = \"n1-standard-8\"",
        E2,
        &[(
            &[vms(4, 0.0, 1.5)],
            9.0,
            "4 VMs of 4 vCPU × 1.5 h = $6, and a server of 8 vCPU for 1.5 h = $3",
        )],
    );
    bills(
        &format!("{N1}\nbilled_parameter_servers = 1"),
        E2,
        &[(
            &[vms(1, 0.0, 365.0)],
            124.83,
            "the server is a level of its own: 2 × 328.5 h × $0.19",
        )],
    );
    bills(
        "usd_per_vm_hour = 0.5\negress_gib = 50\nusd_per_egress_gib = 0.12",
        E2,
        &[(
            &[vms(8, 0.0, 2.0)],
            14.0,
            "16 h × $0.50, and 50 GiB × $0.12 = $6, however long",
        )],
    );
    bills(
        "usd_per_vm_hour = 1\nstorage_gib = 100\nusd_per_storage_gib_month = 0.0365",
        E2,
        &[(
            &[vms(1, 0.0, 4.0), vms(1, 6.0, 10.0)],
            8.05,
            "8 h, and 100 × 0.0365 / 730 = $0.005 an hour from hour 0 to 10",
        )],
    );
    bills(
        "usd_per_vm_hour = 1\nusd_per_job = 2.5",
        E2,
        &[(&[vms(1, 0.0, 1.0)], 3.5, "one hour and the fee")],
    );
    let all = "usd_per_vm_hour = 1\ngranularity_s = 3600\nbilled_parameter_servers = 1\negress_gib = 10\n\
               usd_per_egress_gib = 0.1\nstorage_gib = 730\nusd_per_storage_gib_month = 0.2\nusd_per_job = 3";
    bills(
        all,
        E2,
        &[(
            &[vms(2, 0.0, 1.5), vms(1, 1.5, 4.5)],
            16.9,
            "2 × 2 h + 3 h + a server for 5 started hours = $12; $1 of egress; 4.5 h × $0.20 = $0.90; $3",
        )],
    );
    // Before its end a job owes neither egress nor the fee.
    let so_far = Usage {
        intervals: vec![vms(2, 0.0, 1.5)],
        ..Usage::default()
    };
    let words = "2 × 2 h, a server for 2 h, and 1.5 h × $0.20";
    assert_usd(tariff(all, E2).so_far_usd(&so_far), 6.3, words);
}

#[test]
fn vms_that_are_taken_away() {
    bills(
        "usd_per_vm_hour = 1\nspot_ratio = 0.3\nfree_first_hour_if_revoked = true\ngranularity_s = 1\nminimum_s = 60",
        E2,
        &[
            (
                &[taken(2, 0.0, 59.0 * MINUTE)],
                0.0,
                "taken away in its first hour",
            ),
            (&[taken(1, 0.0, 61.0 * MINUTE)], 0.305, "61 min × $0.30"),
            (
                &[vms(1, 0.0, 59.0 * MINUTE)],
                0.295,
                "given back: 59 min × $0.30",
            ),
            (
                &[taken(1, 0.0, 40.0 * MINUTE), vms(1, 40.0 * MINUTE, 3.0)],
                0.7,
                "nothing for the first, 140 min × $0.30 for its replacement",
            ),
        ],
    );
    bills(
        "usd_per_vm_hour = 1\nspot_ratio = 0.4\nfree_started_unit_if_revoked = true\ngranularity_s = 3600",
        E2,
        &[
            (
                &[taken(2, 0.0, 59.0 * MINUTE)],
                0.0,
                "the hour in which it is taken away is free",
            ),
            (
                &[taken(1, 0.0, 61.0 * MINUTE)],
                0.4,
                "and so is the second: 1 h × $0.40",
            ),
            (
                &[taken(3, 1.0, 3.5)],
                2.4,
                "2 whole hours each: 6 h × $0.40",
            ),
            (&[taken(1, 0.0, 2.0)], 0.8, "2 hours were complete"),
            (
                &[vms(1, 0.0, 61.0 * MINUTE)],
                0.8,
                "given back: 2 started hours × $0.40",
            ),
        ],
    );
}

#[test]
fn servers_without_end_are_refused() {
    let sandbox = Sandbox::with(
        "workloads = [\"scavenger-resnet18\"]\npricing.policies = [\"mine\"]\n\
         [pricing.define.mine]\nusd_per_vm_hour = 1\nbilled_parameter_servers = 1000001\n",
    );
    let told = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    assert!(
        told.contains("1000001 billed parameter servers; at most 1000000"),
        "{told}"
    );
}
