//! Prices of VM types that a scenario defines: the scenario has priority, then the catalogue.

use std::path::Path;
use std::time::Instant;

use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::{self, Overrides, Scenario};

const LISTED: &str = "catalogue = \"MARKET\"\nprovider = \"gcp\"\nregion = \"us-central1\"\n\
                      date = \"2026-07-30\"";

fn load(vms: &str, policy: &str) -> Result<Scenario, Diagnostics> {
    let text = format!(
        "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"oracle\"]\n\
         cluster.pairs = [[8, 384]]\n{vms}\n[pricing]\npolicies = [\"mine\"]\n\
         [pricing.define.mine]\n{policy}\n"
    );
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("test.toml", text);
    let folder = Path::new(".");
    scenario::load(&source, folder, Overrides::default(), &mut diagnostics).ok_or(diagnostics)
}

/// USD per hour of the VM types of the scenario by name, including the measured one.
fn prices(vms: &str, policy: &str) -> Result<Vec<(String, f64)>, String> {
    let scenario = load(vms, policy).map_err(|wrong| wrong.render(false))?;
    let plan = Plan::new(&scenario).map_err(|wrong| wrong.to_string())?;
    let arena = plan.arena(0).expect("an arena");
    let usd = |vm: usize| arena.tariffs[0].usd_per_vm_hour(vm);
    let all = arena.world().expect("simulated").vms.iter().enumerate();
    Ok(all
        .map(|(index, vm)| (vm.name.to_string(), usd(index).expect("a price per VM")))
        .collect())
}

fn price(vm: &str, vms: &str, policy: &str) -> f64 {
    let all = prices(vms, policy).unwrap_or_else(|wrong| panic!("{wrong}"));
    let found = all.iter().find(|(name, _)| name == vm);
    found.unwrap_or_else(|| panic!("{all:?}")).1
}

fn listed(market: &str) -> String {
    LISTED.replace("MARKET", market)
}

#[test]
fn a_stated_price_is_charged_on_demand_and_before_the_listed_one() {
    let on_demand = listed("on-demand");
    let mine = "vm.mine = { like = \"e2-standard-4\", usd_per_hour = 0.5 }";
    assert_eq!(price("mine", mine, &on_demand), 0.5);
    assert_eq!(price("e2-standard-4", mine, &on_demand), 0.13402284);
    let known = "vm.e2-standard-8 = { like = \"e2-standard-4\", usd_per_hour = 0.5 }";
    assert_eq!(price("e2-standard-8", known, &on_demand), 0.5);
    let halved = format!("{on_demand}\nspot_ratio = 0.5");
    assert_eq!(price("mine", mine, &halved), 0.25);
}

#[test]
fn a_name_of_the_catalogue_costs_its_listed_price() {
    let known = "vm.e2-standard-8 = { like = \"e2-standard-4\" }";
    assert_eq!(
        price("e2-standard-8", known, &listed("on-demand")),
        0.26804568
    );
    // A given price is one on demand: on other terms the listed one applies.
    let stated = "vm.e2-standard-8 = { like = \"e2-standard-4\", usd_per_hour = 0.5 }";
    let spot = price("e2-standard-8", stated, &listed("spot"));
    assert!(spot == 0.160848, "{spot}");
    // Several types of one table are all that VM type.
    let several = "vm.e2-standard-8 = { like = \"e2-standard-4\", network_scale = [1, 2] }";
    let second = price("e2-standard-8 network 2", several, &listed("on-demand"));
    assert_eq!(second, 0.26804568);
}

#[test]
fn resources_are_those_that_are_stated_or_else_those_of_the_catalogue() {
    let resources = "usd_per_vcpu_hour = 0.02\nusd_per_gib_hour = 0.003";
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    // The catalogue: 8 vCPU, 32 GiB.
    let known = "vm.e2-standard-8 = { like = \"e2-standard-4\" }";
    near(price("e2-standard-8", known, resources), 0.16 + 0.096);
    let fewer = "vm.e2-standard-8 = { like = \"e2-standard-4\", vcpu = 6 }";
    near(price("e2-standard-8", fewer, resources), 0.12 + 0.096);
    let gpus = "[vm.mine]\nlike = \"e2-standard-4\"\nvcpu = 2\ngpus = 3";
    let by_gpu = "usd_per_gpu_hour = 0.4\npriced_as = \"mine\"";
    near(price("e2-standard-4", gpus, by_gpu), 1.2);
}

#[test]
fn every_vm_type_is_rented_from_its_own_provider() {
    let vms = "vm.\"g4dn.xlarge\" = { like = \"e2-standard-4\" }\n\
               vm.Standard_NC8as_T4_v3 = { like = \"e2-standard-4\" }\n\
               vm.mine = { like = \"e2-standard-4\", usd_per_hour = 2 }";
    let policy = |regions: &str| {
        format!("catalogue = \"on-demand\"\ndate = \"2026-06-18\"\nregions = {{ {regions} }}")
    };
    let all = policy("aws = \"us-east-1\", azure = \"westeurope\", gcp = \"us-central1\"");
    assert_eq!(price("g4dn.xlarge", vms, &all), 0.526);
    assert_eq!(price("Standard_NC8as_T4_v3", vms, &all), 0.94);
    assert_eq!(price("e2-standard-4", vms, &all), 0.13402284);
    assert_eq!(price("mine", vms, &all), 2.0);
    for (vms, regions, expected) in [
        (
            vms,
            "aws = \"us-east-1\", gcp = \"us-central1\"",
            "`regions` has none of azure, the provider of `Standard_NC8as_T4_v3`",
        ),
        (
            vms,
            "aws = \"us-east-1\", azure = \"mars\", gcp = \"us-central1\"",
            "no on-demand price of `Standard_NC8as_T4_v3` in azure mars",
        ),
        (
            "vm.mine = { like = \"e2-standard-4\" }",
            "aws = \"us-east-1\"",
            "give `usd_per_hour`",
        ),
    ] {
        let why = prices(vms, &policy(regions)).expect_err("there is no price");
        assert!(why.contains(expected), "{why}");
    }
}

/// On any terms, and with any form of price; the figures are those of the measured type in the price list of the day.
#[test]
fn what_nobody_lists_costs_what_it_is_like() {
    let mine = "vm.mine = { like = \"e2-standard-4\", compute_scale = [0.5, 2] }";
    assert_eq!(
        price("mine compute 2", mine, &listed("on-demand")),
        0.13402284
    );
    assert_eq!(price("mine compute 0.5", mine, &listed("spot")), 0.080424);
    let of_each = "usd_per_hour_of = { e2-standard-4 = 0.2 }";
    assert_eq!(price("mine compute 2", mine, of_each), 0.2);
    // Its own name comes first, and the size of the measured type if it gives none.
    let own = "usd_per_hour_of = { e2-standard-4 = 0.2, mine = 0.3 }";
    assert_eq!(price("mine compute 2", mine, own), 0.3);
    let resources = "usd_per_vcpu_hour = 0.02\nusd_per_gib_hour = 0.003";
    let by_size = price("mine compute 2", mine, resources);
    assert!(
        (by_size - (4.0 * 0.02 + 16.0 * 0.003)).abs() < 1e-12,
        "{by_size}"
    );
}

#[test]
fn that_a_price_is_lent_is_told_once_per_table() {
    let told = |vms: &str, policy: &str| {
        let scenario = load(vms, policy).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
        scenario.remarks.unasked.join("\n")
    };
    let mine = "vm.mine = { like = \"e2-standard-4\", compute_scale = [0.5, 2] }";
    let listed = listed("on-demand");
    let said = told(mine, &listed);
    assert!(
        said.contains("`mine` (2 VM types) as `e2-standard-4`"),
        "{said}"
    );
    assert!(
        said.contains("`usd_per_hour` in their table of `[vm]`"),
        "{said}"
    );
    for (vms, policy) in [
        (
            "vm.mine = { like = \"e2-standard-4\", usd_per_hour = 1 }",
            &listed[..],
        ),
        ("vm.e2-standard-8 = { like = \"e2-standard-4\" }", &listed),
        (
            mine,
            "usd_per_hour_of = { e2-standard-4 = 0.2, mine = 0.3 }",
        ),
    ] {
        assert_eq!(told(vms, policy), "", "{vms} {policy}");
    }
}

#[test]
fn what_is_not_known_is_said_with_what_to_give() {
    let unpriced = "vm.mine = { like = \"e2-standard-4\" }";
    let elsewhere = listed("on-demand").replace("us-central1", "mars");
    for (vms, policy, expected) in [
        (
            unpriced,
            elsewhere,
            ["no on-demand price of `mine`", "give `usd_per_hour`"],
        ),
        (
            "vm.mine = { like = \"e2-standard-4\", usd_per_hour = 1 }",
            listed("spot"),
            ["no spot price of `mine`", "scavsim list vms"],
        ),
        (
            "vm.mine = { like = \"e2-standard-4\", vcpu = 1 }",
            "usd_per_vcpu_hour = 0.02\nusd_per_gib_hour = 0.003".to_owned(),
            ["the `memory_gib` of VM type `mine`", "give `memory_gib`"],
        ),
        (
            "vm.\"g4dn.xlarge\" = { like = \"e2-standard-4\" }",
            listed("on-demand"),
            ["no on-demand price of `g4dn.xlarge`", "a VM type of aws"],
        ),
    ] {
        let why = prices(vms, &policy).expect_err("there is no price");
        assert!(expected.iter().all(|e| why.contains(e)), "{why}");
        let both = if policy.contains("mars") { 2 } else { 1 };
        assert_eq!(why.matches("error:").count(), both, "{why}");
    }
}

/// A table of ten thousand types without a price is one mistake, and reported at once.
#[test]
fn thousands_of_types_without_a_price_are_one_mistake_per_table() {
    let grid = |name: &str| {
        format!(
            "[vm.{name}]\nlike = \"e2-standard-4\"\n\
             compute_scale = {{ from = 1, to = 2, step = 0.01 }}\n\
             network_scale = {{ from = 1, to = 2, step = 0.01 }}\n"
        )
    };
    let started = Instant::now();
    let vms = grid("one") + &grid("two");
    let elsewhere = listed("on-demand").replace("us-central1", "mars");
    let wrong = load(&vms, &elsewhere).expect_err("there is no price");
    // Those of both tables, and the measured type.
    assert_eq!(wrong.len(), 3);
    let shown = wrong.render(false);
    assert!(shown.contains("nor of 10200 more of its table"), "{shown}");
    // Searching each type among all others would need minutes.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
