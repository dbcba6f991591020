//! Bills of policies under rules of pricing policies, beside a program that goes through rentals and ticks one by one.

use crate::common::{aws, job, policy};
use scavsim_data::pricing::{Policy, PolicyFile};
use scavsim_data::usage::{EndedBy, VmInterval};
use scavsim_provision::job::Job;
use scavsim_provision::policy_run::outcome::Outcome;
use scavsim_provision::policy_run::{Market, live};
use scavsim_provision::world::Window;

/// A minimum, a granularity, a fee and a discount, each with unround numbers, and all at once.
const RULES: [&str; 5] = [
    "minimum_s = 5433",
    "granularity_s = 1777",
    "usd_per_job = 3.7\nusd_per_storage_gib_month = 0.31\nstorage_gib = 93",
    "sustained_use = [1, 0.83, 0.61, 0.4]",
    "minimum_s = 61\ngranularity_s = 97\nsustained_use = [0.9, 0.7]\nusd_per_job = 0.01",
];

fn pricing(rules: &str) -> Policy {
    let file: PolicyFile = toml::from_str(&format!("market_price = true\n{rules}")).unwrap();
    file.policy("own").unwrap()
}

/// USD of a rental for `billed_s`, tick by tick; beyond the window its last price holds.
fn rental_usd(window: Window<'_>, rental: &VmInterval, billed_s: f64) -> f64 {
    let zone = usize::from(rental.vm / 2);
    let vms = f64::from(rental.vms);
    if rental.vm % 2 == 1 {
        return vms * window.world().zones[zone].on_demand_usd_per_h * billed_s / 3600.0;
    }
    let tick_s = window.world().tick_s;
    let (mut at_s, end_s) = (rental.from.seconds(), rental.from.seconds() + billed_s);
    let mut usd = 0.0;
    while at_s < end_s - 1e-7 {
        let tick = ((at_s + 1e-7) / tick_s).floor();
        let until_s = ((tick + 1.0) * tick_s).min(end_s);
        let last = window.ticks() - 1;
        let price = window.usd_per_h(Market::Spot.in_zone(zone), (tick as usize).min(last));
        usd += vms * price * (until_s - at_s) / 3600.0;
        at_s = until_s;
    }
    usd
}

/// The bill of a life by its rentals, whose machines are one at a time.
fn bill_by_hand(window: Window<'_>, life: &Outcome, rules: &toml::Table) -> f64 {
    let number = |key: &str| {
        let value = rules.get(key)?;
        value
            .as_float()
            .or(value.as_integer().map(|own| own as f64))
    };
    let billed = |held_s: f64| {
        let at_least = held_s.max(number("minimum_s").unwrap_or(0.0));
        match number("granularity_s") {
            Some(unit) => ((at_least - 1e-9) / unit).ceil().max(1.0) * unit,
            None => at_least,
        }
    };
    let mut used_h = vec![0.0; window.world().zones.len()];
    let mut usd = 0.0;
    for rental in &life.rentals {
        let billed_s = billed((rental.to - rental.from).seconds());
        let mut own = rental_usd(window, rental, billed_s);
        let bands = rules.get("sustained_use").and_then(|own| own.as_array());
        if let (1, Some(bands)) = (rental.vm % 2, bands) {
            // Hour by hour of use, in a month of 730 h that no life here leaves.
            let zone = usize::from(rental.vm / 2);
            let price = own / billed_s;
            let band_s = 730.0 * 3600.0 / bands.len() as f64;
            own = 0.0;
            let mut left_s = billed_s;
            while left_s > 0.0 {
                let place = ((used_h[zone] / band_s) as usize).min(bands.len() - 1);
                let share = bands[place].as_float().unwrap_or(1.0);
                let step_s = left_s.min((place as f64 + 1.0) * band_s - used_h[zone]);
                own += share * price * step_s;
                used_h[zone] += step_s;
                left_s -= step_s;
            }
        }
        usd += own;
    }
    let first = life.rentals.first().unwrap().from;
    let last = life.rentals.iter().map(|own| own.to).max().unwrap();
    let months = (last - first).hours() / 730.0;
    let storage =
        number("usd_per_storage_gib_month").unwrap_or(0.0) * number("storage_gib").unwrap_or(0.0);
    usd + number("usd_per_job").unwrap_or(0.0) + storage * months
}

fn long_job() -> Job {
    Job {
        checkpoint_every_s: Some(1700.0),
        ..job(211.3, 260.7, 0.0531)
    }
}

#[test]
fn bills_are_those_by_hand() {
    let world = aws().of_zones(&[0, 3, 6]);
    let job = long_job();
    let ticks = job.ticks(world.tick_s);
    let mut cases = 0;
    for name in ["on-demand", "greedy", "uniform-progress", "cost-to-go"] {
        for start in [0, 577] {
            let window = world.window(start, ticks).unwrap();
            let life = live(window, &job, &mut *policy(name, window));
            assert!(life.failed.is_none() && !life.rentals.is_empty());
            for rules in RULES {
                let tariff = window.tariff(&pricing(rules));
                let bill = life.billed_by(Some(&tariff));
                let ours = bill.spot + bill.on_demand + bill.charges;
                let by_hand = bill_by_hand(window, &life, &rules.parse().unwrap());
                assert!(
                    (ours / by_hand - 1.0).abs() < 1e-9,
                    "{name} from {start}, {rules}: {ours}, by hand {by_hand}"
                );
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 40);
}

/// The market's price by a tariff is what is added up tick by tick; rules that only add never make it less.
#[test]
fn a_tariff_without_rules_is_the_market() {
    let world = aws();
    let job = long_job();
    let ticks = job.ticks(world.tick_s);
    for name in ["on-demand", "greedy", "skynomad", "cost-to-go"] {
        let window = world.window(301, ticks).unwrap();
        let life = live(window, &job, &mut *policy(name, window));
        let plain = life.billed_by(None);
        let tariff = window.tariff(&Policy::of_market());
        let same = life.billed_by(Some(&tariff));
        for (one, other) in [
            (plain.spot, same.spot),
            (plain.on_demand, same.on_demand),
            (plain.probes, same.probes),
            (plain.charges, same.charges),
        ] {
            assert!(
                (one - other).abs() <= 1e-9 * one.max(1.0),
                "{plain:?} {same:?}"
            );
        }
        for rules in &RULES[..3] {
            let more = life.billed_by(Some(&window.tariff(&pricing(rules))));
            assert!(more.usd() >= plain.usd() - 1e-9, "{name} {rules}");
        }
    }
}

/// Machines that the provider takes away in their first hour are free where the rule says so; others are not.
#[test]
fn refunds_are_for_machines_that_were_lost() {
    let world = aws();
    let job = long_job();
    let ticks = job.ticks(world.tick_s);
    let window = world.window(0, ticks).unwrap();
    let life = live(window, &job, &mut *policy("greedy", window));
    let lost = life
        .rentals
        .iter()
        .filter(|own| own.ended_by == EndedBy::Provider);
    assert_eq!(lost.count(), life.losses as usize);
    let refund = window.tariff(&pricing("free_first_hour_if_revoked = true"));
    let refunded: f64 = (life.rentals.iter())
        .filter(|own| own.ended_by == EndedBy::Provider && own.seconds() < 3600.0)
        .map(|own| rental_usd(window, own, own.seconds()))
        .sum();
    let plain = life.billed_by(None).usd();
    let less = life.billed_by(Some(&refund)).usd();
    assert!(
        (plain - less - refunded).abs() < 1e-9 * plain,
        "{plain} {less} {refunded}"
    );
}
