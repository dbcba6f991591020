//! Lives of policies: deadlines that are met, policies of a program, and independence of threads.

use super::{DRAWN, cost_usd, records};
use scavsim_provision::face::{Net, Policy, PolicyView, Recipe};
use scavsim_scenario::face::Scenario;

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text).expect("it is right")
}

#[test]
fn a_life_that_ends_at_its_deadline_is_in_time_whatever_the_deadline() {
    for (work_h, deadline_h) in [(4.0, 8.19), (4.0, 8.2), (4.0, 8.21), (4.0, 4.1), (4.1, 4.1)] {
        let text = format!(
            "seed = 1\njob = {{ work_h = {work_h}, deadline_h = {deadline_h} }}\n\
             market = {{ run_h = 1, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, tick_s = 60, replicas = 200 }}\n\
             policy.names = [\"on-demand\", \"greedy\", \"time-sliced\", \"uniform-progress\", \"cost-to-go\"]\n"
        );
        let lives = records(&parsed(&text));
        assert_eq!(lives.len(), 6 * 200);
        for life in lives {
            let ended = (life.kept_net, life.late_h);
            assert_eq!(ended, (Some(1.0), Some(0.0)), "{life:?}, {deadline_h} h");
        }
    }
}

#[test]
fn a_hair_more_until_the_deadline_is_the_same_life() {
    let of = |deadline_h: &str, changeover_s: u32| {
        let text = format!(
            "seed = 1\njob = {{ work_h = 9, deadline_h = {deadline_h}, changeover_s = {changeover_s} }}\n\
             market = {{ run_h = 1, pause_h = 0.5, spot_usd_per_h = 1, on_demand_usd_per_h = 3, tick_s = 600, replicas = 200 }}\n\
             policy.names = [\"greedy\", \"time-sliced\", \"uniform-progress\"]\n"
        );
        records(&parsed(&text))
    };
    for changeover_s in [0, 600, 450] {
        let (one, other) = (of("12", changeover_s), of("12.00001", changeover_s));
        for name in ["greedy", "time-sliced", "uniform-progress", "clairvoyant"] {
            let off = (cost_usd(&one, name) / cost_usd(&other, name) - 1.0).abs();
            assert!(off < 1e-6, "{name}, {changeover_s}: {off}");
        }
    }
}

/// Free lateness has a price, so that late lives compare with the clairvoyant.
#[test]
fn late_lives_compare_where_lateness_costs_nothing() {
    let text = "job = { work_h = 8, deadline_h = 9, lateness_usd_per_h = 0 }\n\
                market = { run_h = 3, pause_h = 0.5, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 20 }\n\
                policy.names = [\"spot-only\"]\n";
    let mut lives = records(&parsed(text));
    lives.retain(|life| life.strategy == "spot-only");
    assert!(lives.iter().any(|life| life.kept_net == Some(0.0)));
    assert!(lives.iter().all(|life| life.time_h.is_some()));
    let over = lives.iter().map(|life| life.overhead_net_cost);
    let over: Option<Vec<f64>> = over.collect();
    let mean = over.expect("all lives compare").iter().sum::<f64>() / 20.0;
    assert!(mean.abs() < 1e-6, "{mean}");
}

#[test]
fn lives_do_not_depend_on_threads() {
    let text = "job = { work_h = 10, deadline_h = 14, changeover_s = 720 }\n\
                market = { traces = \"aws-v100-2023\", zones = [\"us-east-1f\", \"us-east-2a\"], replicas = 12 }\n\
                policy.names = [\"greedy\", \"cost-to-go\"]\n";
    let on = |threads: usize| Scenario::options().jobs(threads).parse(text);
    let [one, three] = [1, 3].map(|threads| records(&on(threads).expect("it is right")));
    assert_eq!((one.len(), &one), (3 * 12, &three));
}

/// Uses spot machines; its net meets the deadline.
#[derive(Debug, Clone)]
struct Own(Net);

impl Policy for Own {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        view.try_spot(0);
    }

    fn net(&self) -> Net {
        self.0
    }
}

impl Recipe for Own {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[test]
fn a_policy_from_outside_stands_where_the_list_has_it() {
    let options = Scenario::options().policy("mine", Own(Net::Patient));
    let listed = format!("{DRAWN}policy.names = [\"mine\", \"greedy\"]");
    let lives = records(&options.parse(&listed).expect("it is right"));
    let names = lives.iter().map(|life| life.strategy.as_str());
    let names: Vec<&str> = names.take(3).collect();
    assert_eq!(names, ["mine", "greedy", "clairvoyant"]);
    let mut own = lives.iter().filter(|life| life.strategy == "mine");
    assert!(own.clone().count() == 10 && own.all(|life| life.kept_net == Some(1.0)));
    assert!(cost_usd(&lives, "mine") >= cost_usd(&lives, "clairvoyant"));
    // Without a list all are run, and it comes after the built-in ones.
    let all = options.parse(&format!("{DRAWN}[policy]")).expect("right");
    assert!(
        all.checked()
            .strategies
            .ends_with(&["mine", "clairvoyant"].map(str::to_owned))
    );
}

#[test]
fn what_cannot_be_put_beside_them_is_refused() {
    let refused = |name: &str, net: Net| {
        let text = format!("{DRAWN}policy.names = [\"greedy\", \"{name}\"]");
        let options = Scenario::options().policy(name, Own(net));
        options.parse(&text).expect_err("it is refused").to_string()
    };
    for name in ["greedy", "clairvoyant", "on-demand"] {
        let told = refused(name, Net::Patient);
        assert!(told.contains("the name is taken"), "{told}");
    }
    assert!(refused("", Net::Patient).contains("cannot bring a policy called ``"));
    assert!(refused("mine", Net::None).contains("no price"));
}

#[test]
fn cost_to_go_gains_by_a_faster_form() {
    let slow = "{ name = \"slow\", machines = 1, speed = 1 }";
    let fast = "{ name = \"fast\", machines = 2, speed = 1.8 }";
    for (run_h, pause_h) in [(1.5, 1.0), (4.0, 1.0), (3.0, 0.5), (2.0, 2.0)] {
        let lives_with = |forms: &str| {
            let text = format!(
                "job = {{ work_h = 10, deadline_h = 13, changeover_s = 300, form = [{forms}] }}\n\
                 market = {{ run_h = {run_h}, pause_h = {pause_h}, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 100 }}\n\
                 policy.names = [\"greedy\", \"cost-to-go\"]\n"
            );
            records(&parsed(&text))
        };
        let both = lives_with(&format!("{slow}, {fast}"));
        let ours = cost_usd(&both, "cost-to-go");
        let alone = cost_usd(&lives_with(slow), "cost-to-go");
        let greedy = cost_usd(&both, "greedy");
        assert!(
            ours < alone.min(greedy),
            "{run_h}: {ours}, {alone} without it, {greedy} greedy"
        );
        assert!(both.iter().all(|life| life.kept_net == Some(1.0)));
    }
}
