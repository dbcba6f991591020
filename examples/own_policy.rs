//! A policy of one's own beside `greedy`: it waits for spot machines, but not into the last hours.
//!
//! `cargo run --example own_policy`
//!
//! *Reserved* takes the cheapest zone that has spot machines. Without any it waits, until less slack is left than it holds in
//! reserve; from then on it fills pauses by machines on demand.

use scavsim::provision::{Market, Policy, PolicyView, Recipe};
use scavsim::{OwnedRecord, Scenario};

/// What a user of the policy may set; every life has a policy of its own.
#[derive(Debug, Clone)]
struct Reserved {
    /// Hours of slack that are never waited away.
    reserve_h: f64,
}

impl Recipe for Reserved {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

impl Policy for Reserved {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if (view.running()).is_some_and(|place| place.market == Market::Spot) {
            return; // it stays
        }
        let mut zones: Vec<usize> = (0..view.zones()).collect();
        zones.sort_by(|&a, &b| view.spot_usd_per_h(a).total_cmp(&view.spot_usd_per_h(b)));
        // Whether a market has machines is learnt by asking, which costs nothing where there are none.
        if zones.iter().any(|&zone| view.try_spot(zone)) {
            return;
        }
        let slack_s = view.deadline_s() - view.elapsed_s() - view.left_s() - view.changeover_s();
        if slack_s < 3600.0 * self.reserve_h && view.running().is_none() {
            view.go_on_demand(view.checkpoint().unwrap_or(zones[0]));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let own = Reserved { reserve_h: 4.0 };
    let scenario = Scenario::options().policy("reserved", own).parse(
        r#"
        [job]
        work_h = 48
        deadline_h = 60
        changeover_s = 180
        checkpoint_gb = 10

        [market]
        traces = "aws-v100-2023"
        zones = ["us-east-1f", "us-east-2a", "us-west-2c"]

        [starts]
        spread = 40

        [policy]
        names = ["greedy", "on-demand", "reserved"]
        "#,
    )?;
    let mut lives: Vec<OwnedRecord> = Vec::new();
    scenario.run(|life| lives.push(life.clone().into_owned()))?;
    let mean = |policy: &str, figure: fn(&OwnedRecord) -> Option<f64>| {
        let own = lives.iter().filter(|life| life.strategy == policy);
        let figures: Vec<f64> = own.filter_map(figure).collect();
        figures.iter().sum::<f64>() / figures.len() as f64
    };
    let cost_usd = |policy| mean(policy, |life| life.cost_usd);
    let over = |policy| 1.0 + mean(policy, |life| life.overhead_net_cost);
    let kept = |policy| mean(policy, |life| life.kept_net);
    println!("policy           cost  × clairvoyant  in time");
    for policy in ["greedy", "on-demand", "reserved", "clairvoyant"] {
        let (usd, over, kept) = (cost_usd(policy), over(policy), 100.0 * kept(policy));
        println!("{policy:<12} {usd:>7.2} $  {over:>12.3}  {kept:>5.0} %");
    }
    assert_eq!(kept("reserved"), 1.0, "the net keeps all deadlines");
    assert!(cost_usd("reserved") < cost_usd("on-demand") && over("reserved") >= 1.0);
    Ok(())
}
