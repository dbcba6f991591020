use super::*;
use crate::cloud::Fleet;
use crate::pricing::charges::CHARGES;
use crate::pricing::{PolicyFile, RentedVmType};
use crate::usage::VmInterval;
use proptest::prelude::*;

fn tariff_of(text: &str, vms: &[&str]) -> Tariff {
    let file: PolicyFile = toml::from_str(text).expect("legal keys and values");
    let policy = file.policy("test").expect("a sound policy");
    let vms: Vec<RentedVmType<'_>> = vms.iter().map(|vm| RentedVmType::as_priced(vm)).collect();
    policy
        .tariff(&vms, &Fleet::listed())
        .expect("every VM has a price")
}

fn tariff(text: &str) -> Tariff {
    tariff_of(text, &["e2-standard-4"])
}

fn run(tariff: &Tariff, workers: u32, batch: u32, hours: f64) -> f64 {
    let held = std::iter::once((0, workers));
    tariff.run_usd(held, batch, hours * 3600.0)
}

fn held(vm: u16, vms: u32, from_h: f64, to_h: f64) -> VmInterval {
    VmInterval {
        vm,
        vms,
        from: SimTime::from_seconds(from_h * 3600.0),
        to: SimTime::from_seconds(to_h * 3600.0),
        ended_by: EndedBy::User,
    }
}

fn bill(tariff: &Tariff, intervals: Vec<VmInterval>) -> f64 {
    tariff.bill_usd(&Usage {
        intervals,
        ..Usage::default()
    })
}

fn assert_usd(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
        "{found} {expected}"
    );
}

const N1: &str = "usd_per_vm_hour = 0.19\nsustained_use = [1, 0.8, 0.6, 0.4]";

#[test]
fn the_papers_fixed_price() {
    let usd = run(&tariff("usd_per_vm_hour = 0.13402"), 8, 384, 12.40);
    assert!((usd - 13.29).abs() < 0.01, "{usd}");
}

#[test]
fn the_memory_price_ignores_the_workers() {
    let memory = tariff("usd_per_sample_hour = 0.001");
    assert_eq!(run(&memory, 8, 512, 2.0), run(&memory, 20, 512, 2.0));
    assert_usd(run(&memory, 8, 512, 2.0), 1.024);
}

#[test]
fn every_vm_is_rounded_up_by_itself() {
    let hourly = tariff("usd_per_vm_hour = 1\ngranularity_s = 3600");
    assert_eq!(run(&hourly, 3, 1, 3601.0 / 3600.0), 6.0);
}

#[test]
fn ten_seconds_of_a_vm_are_billed_as_a_minute_or_as_the_ten_minutes_of_old() {
    let now = tariff("usd_per_vm_hour = 1\ngranularity_s = 1\nminimum_s = 60");
    assert_usd(run(&now, 2, 1, 10.0 / 3600.0), 2.0 / 60.0);
    let before = tariff("usd_per_vm_hour = 1\ngranularity_s = 60\nminimum_s = 600");
    assert_usd(run(&before, 2, 1, 10.0 / 3600.0), 2.0 / 6.0);
    assert_usd(run(&before, 1, 1, 601.0 / 3600.0), 11.0 / 60.0);
}

#[test]
fn a_vm_costs_its_vcpus_and_its_memory() {
    let vms = ["n1-standard-4", "e2-highmem-4"];
    let tariff = tariff_of("usd_per_vcpu_hour = 0.02\nusd_per_gib_hour = 0.003", &vms);
    let usd = bill(&tariff, vec![held(0, 3, 0.0, 2.0), held(1, 1, 2.0, 3.0)]);
    let (n1, e2) = (4.0 * 0.02 + 15.0 * 0.003, 4.0 * 0.02 + 32.0 * 0.003);
    assert_usd(usd, 6.0 * n1 + e2);
}

#[test]
fn a_listed_price_is_that_of_its_vm_region_market_and_day() {
    let as_n1 = "priced_as = \"n1-standard-4\"";
    for (market, region, day, more, usd) in [
        ("on-demand", "us-central1", "2021-06-01", "", 0.13402284),
        ("on-demand", "europe-west4", "2021-06-01", "", 0.14754408),
        ("spot", "us-central1", "2020-05-29", "", 0.04021),
        ("spot", "us-central1", "2026-07-30", "", 0.080424),
        ("on-demand", "us-central1", "2021-06-01", as_n1, 0.189999),
    ] {
        let text = format!(
            "catalogue = \"{market}\"\nprovider = \"gcp\"\nregion = \"{region}\"\ndate = \"{day}\"\n{more}"
        );
        assert_usd(run(&tariff(&text), 1, 1, 1.0), usd);
    }
}

#[test]
fn spot_and_commitments_take_a_fraction_of_the_base_price() {
    let spot = tariff("usd_per_vm_hour = 0.2\nspot_ratio = 0.3");
    assert_usd(run(&spot, 2, 1, 5.0), 0.6);
    let committed = tariff("usd_per_vm_hour = 0.2\ncommitment_discount = 0.37");
    assert_usd(run(&committed, 2, 1, 5.0), 1.26);
    let memory = tariff("usd_per_sample_hour = 0.001\nspot_ratio = 0.5");
    assert_usd(run(&memory, 1, 512, 2.0), 0.512);
}

#[test]
fn aws_spot_lost_in_its_first_hour_is_free_and_later_every_minute_is_paid() {
    let aws = tariff(
        "usd_per_vm_hour = 1\nspot_ratio = 0.3\nfree_first_hour_if_revoked = true\n\
         granularity_s = 1\nminimum_s = 60",
    );
    let minutes = |tariff: &Tariff, minutes: f64, ended_by| {
        let mut interval = held(0, 2, 5.0, 5.0 + minutes / 60.0);
        interval.ended_by = ended_by;
        bill(tariff, vec![interval])
    };
    let paid = |minutes: f64| 2.0 * 0.3 * minutes / 60.0;
    assert_eq!(minutes(&aws, 59.0, EndedBy::Provider), 0.0);
    assert_usd(minutes(&aws, 60.0, EndedBy::Provider), paid(60.0));
    assert_usd(minutes(&aws, 61.0, EndedBy::Provider), paid(61.0));
    assert_usd(minutes(&aws, 59.0, EndedBy::User), paid(59.0));
    // Without the rule, as on GCP, who ends it does not matter.
    let gcp = tariff("usd_per_vm_hour = 1\nspot_ratio = 0.3");
    assert_usd(minutes(&gcp, 59.0, EndedBy::Provider), paid(59.0));
}

#[test]
fn a_spot_price_that_changes_is_charged_as_it_was_at_the_time() {
    let series = tariff("usd_per_vm_hour = 2\nspot_series = [[0, 0.3], [6, 0.45]]");
    assert_usd(run(&series, 1, 1, 4.0), 2.0 * 4.0 * 0.3);
    let each = 6.0 * 0.3 + 2.0 * 0.45;
    assert_usd(run(&series, 3, 1, 8.0), 3.0 * 2.0 * each);
    let late = vec![held(0, 1, 5.0, 7.0), held(0, 1, 7.0, 8.0)];
    assert_usd(bill(&series, late), 2.0 * (0.3 + 0.45 + 0.45));
    assert_eq!(series.usd_per_vm_hour(0), Some(0.6));
    // What is rounded up is charged at the price of the time that is paid for.
    let hourly = tariff(
        "usd_per_vm_hour = 2\nspot_series = [[0, 0.3], [6, 0.45]]\ngranularity_s = 3600\n\
         billed_parameter_servers = 1",
    );
    assert_usd(run(&hourly, 1, 1, 5.5), 2.0 * 2.0 * 6.0 * 0.3);
    assert_usd(run(&hourly, 1, 1, 6.5), 2.0 * 2.0 * (6.0 * 0.3 + 0.45));
}

#[test]
fn a_vm_costs_its_gpus() {
    let t4 = "usd_per_vcpu_hour = 0.03\nusd_per_gib_hour = 0.004\nusd_per_gpu_hour = 0.35";
    let both = tariff_of(t4, &["g4dn.12xlarge", "n1-standard-4"]);
    let usd = bill(&both, vec![held(0, 1, 0.0, 1.0), held(1, 1, 0.0, 1.0)]);
    assert_usd(usd, 48.0 * 0.03 + 192.0 * 0.004 + 4.0 * 0.35 + 0.18);
    let alone = tariff_of("usd_per_gpu_hour = 0.5", &["a2-highgpu-8g"]);
    assert_usd(run(&alone, 1, 1, 2.0), 8.0);
    let file: PolicyFile = toml::from_str("usd_per_gpu_hour = 0.5").expect("legal keys");
    let policy = file.policy("test").expect("a sound policy");
    let n1 = RentedVmType::as_priced("n1-standard-4");
    let free = policy.tariff(&[n1], &Fleet::listed());
    assert!(free.is_err_and(|e| e.what.contains("`n1-standard-4` has no GPU")));
}

#[test]
fn thirty_days_of_a_vm_earn_a_discount_and_thirty_vms_for_a_day_none() {
    let n1 = tariff(N1);
    let month = run(&n1, 1, 1, 720.0);
    assert!(month < 0.71 * 720.0 * 0.19);
    let day = |day: u32| held(0, 1, 24.0 * f64::from(day), 24.0 * f64::from(day + 1));
    assert_usd(bill(&n1, (0..30).map(day).collect()), month);
    assert_usd(run(&n1, 30, 1, 24.0), 720.0 * 0.19);
}

#[test]
fn only_vms_of_one_type_take_turns_on_a_level() {
    let rule =
        "usd_per_vcpu_hour = 0.03\nusd_per_gib_hour = 0.004\nsustained_use = [1, 0.8, 0.6, 0.4]\n";
    let use_of_both = || vec![held(0, 1, 0.0, 365.0), held(1, 1, 365.0, 730.0)];
    let vms = ["n1-standard-4", "n1-standard-8"];
    let usd = bill(&tariff_of(rule, &vms), use_of_both());
    assert_usd(usd, 3.0 * 0.9 * 365.0 * 0.18);
    // Charged as one type, they are one VM for a month.
    let as_one = format!("{rule}priced_as = \"n1-standard-4\"");
    let usd = bill(&tariff_of(&as_one, &vms), use_of_both());
    assert_usd(usd, 0.7 * 730.0 * 0.18);
}

#[test]
fn parameter_servers_are_held_from_the_first_vm_to_the_last() {
    let two = tariff("usd_per_vm_hour = 1\nbilled_parameter_servers = 2");
    let intervals = vec![held(0, 4, 1.0, 3.0), held(0, 8, 2.0, 6.0)];
    assert_usd(bill(&two, intervals.clone()), 8.0 + 32.0 + 2.0 * 5.0);
    let bigger = tariff(
        "usd_per_vcpu_hour = 0.25\nusd_per_gib_hour = 0\nbilled_parameter_servers = 2\nparameter_server_vm = \"n1-standard-8\"",
    );
    assert_usd(bill(&bigger, intervals), 8.0 + 32.0 + 2.0 * 5.0 * 2.0);
    // They are levels of their own of sustained use, and every one is rounded up.
    let n1 = tariff(&format!("{N1}\nbilled_parameter_servers = 1"));
    assert_usd(run(&n1, 1, 1, 365.0), 2.0 * 0.90 * 365.0 * 0.19);
    let hourly = tariff("usd_per_vm_hour = 1\nbilled_parameter_servers = 1\ngranularity_s = 3600");
    assert_usd(run(&hourly, 1, 1, 1.5), 4.0);
}

#[test]
fn egress_is_charged_once_and_storage_by_the_hour() {
    let charged = tariff(
        "usd_per_vm_hour = 1\negress_gib = 50\nusd_per_egress_gib = 0.12\n\
         storage_gib = 100\nusd_per_storage_gib_month = 0.0365",
    );
    let intervals = vec![held(0, 4, 1.0, 3.0), held(0, 8, 2.0, 6.0)];
    // 5 hours from the first VM to the last, at 100 × 0.0365 / 730.
    assert_usd(bill(&charged, intervals.clone()), 40.0 + 6.0 + 5.0 * 0.005);
    let usage = Usage {
        intervals,
        ..Usage::default()
    };
    assert_usd(charged.so_far_usd(&usage), 40.0 + 5.0 * 0.005);
    let memory =
        tariff("usd_per_sample_hour = 0.001\nstorage_gib = 1\nusd_per_storage_gib_month = 730");
    assert_usd(run(&memory, 8, 512, 2.0), 1.024 + 2.0);
}

#[test]
fn the_bill_is_divided_by_the_time_of_each_phase_and_the_price_of_its_vms() {
    let mut phases = Phases::default();
    phases.add_vms(Phase::Waiting, 0, 2, 1800.0);
    phases.add_samples(Phase::Waiting, 10, 1800.0);
    phases.add_vms(Phase::Searching, 0, 2, 3600.0);
    phases.add_samples(Phase::Searching, 10, 3600.0);
    phases.add_vms(Phase::Training, 1, 1, 3600.0);
    phases.add_samples(Phase::Training, 30, 3600.0);
    let usage = Usage {
        intervals: vec![held(0, 2, 0.0, 1.5), held(1, 1, 1.5, 2.5)],
        sample_seconds: 10.0 * 5400.0 + 30.0 * 3600.0,
        phases,
    };
    let hourly = tariff_of(
        "usd_per_vcpu_hour = 0.25\nusd_per_gib_hour = 0\ngranularity_s = 3600",
        &["n1-standard-4", "n1-standard-8"],
    );
    // Four started hours at $1 and one at $2, shared as 1 : 2 : 2.
    let parts = hourly.parts(&usage);
    assert_usd(parts.waiting, 6.0 / 5.0);
    assert_usd(parts.search, 12.0 / 5.0);
    assert_usd(parts.useful, 12.0 / 5.0);
    assert_eq!(parts.restore, 0.0);
    let memory = tariff("usd_per_sample_hour = 1").parts(&usage);
    assert_usd(memory.waiting, 5.0);
    assert_usd(memory.useful, 30.0);
}

proptest! {
    #[test]
    fn the_parts_add_up_to_the_bill(
        held_for in proptest::collection::vec((0u16..2, 1u32..40, 0.0f64..50.0), 1..6),
        phases in proptest::collection::vec((0usize..4, 0u16..2, 1u32..40, 0.0f64..9e4), 0..12),
        rule in proptest::sample::select(vec![
            "usd_per_vm_hour = 0.3\ngranularity_s = 3600\nminimum_s = 60",
            "usd_per_vcpu_hour = 0.03\nusd_per_gib_hour = 0.004\nsustained_use = [1, 0.5]",
            "usd_per_vm_hour = 1\nbilled_parameter_servers = 3",
            "usd_per_sample_hour = 0.001",
        ]),
    ) {
        let keys = CHARGES.iter().flat_map(|charge| charge.keys);
        let charges: String = keys.map(|(key, _)| format!("\n{key} = 0.7")).collect();
        let tariff = tariff_of(&format!("{rule}{charges}"), &["n1-standard-4", "n1-standard-8"]);
        let mut usage = Usage::default();
        for (vm, vms, hours) in held_for {
            usage.intervals.push(held(vm, vms, 0.0, hours));
            usage.sample_seconds += hours * 3600.0;
        }
        let all = [Phase::Waiting, Phase::Restoring, Phase::Searching, Phase::Training];
        for (phase, vm, vms, seconds) in phases {
            usage.phases.add_vms(all[phase], vm, vms, seconds);
            usage.phases.add_samples(all[phase], 8, seconds);
        }
        let p = tariff.parts(&usage);
        let parts = [p.useful, p.search, p.waiting, p.restore];
        let parts = parts.into_iter().chain(p.charges);
        prop_assert!(parts.clone().all(|usd| usd >= 0.0));
        prop_assert!(p.charges.iter().all(|usd| *usd > 0.0));
        assert_usd(parts.sum(), p.whole);
        prop_assert_eq!(p.whole, tariff.bill_usd(&usage));
    }
}

#[test]
fn parameter_servers_of_no_one_type_are_refused() {
    let text = "usd_per_vcpu_hour = 1\nusd_per_gib_hour = 0\nbilled_parameter_servers = 1";
    let file: PolicyFile = toml::from_str(text).expect("legal keys and values");
    let policy = file.policy("test").expect("a sound policy");
    let vms = ["n1-standard-4", "e2-highmem-4"].map(RentedVmType::as_priced);
    let error = policy.tariff(&vms, &Fleet::listed());
    assert!(error.is_err_and(|e| e.help.contains("parameter_server_vm")));
}
