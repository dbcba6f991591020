//! `advise --deadline`: a configuration and a policy that finish a job in time.

use serde_json::Value;

use crate::sandbox::{Sandbox, repository_file, stderr, stdout};

const FILE: &str = "example-profile-t4.csv";
const USUAL: [&str; 6] = [
    "advise",
    FILE,
    "--samples-per-epoch",
    "1281167",
    "--runs",
    "40",
];

fn with_example() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, &repository_file(&format!("scenarios/{FILE}")));
    sandbox
}

fn answer(sandbox: &Sandbox, more: &[&str]) -> Value {
    let arguments = [&USUAL[..], &["--format", "json"], more].concat();
    let told = stdout(&sandbox.run(&arguments).success());
    let value: Value = serde_json::from_str(&told).expect("it is JSON");
    value["deadline"].clone()
}

fn refusal(more: &[&str]) -> String {
    let arguments = [&USUAL[..], more].concat();
    stderr(&with_example().run(&arguments).code(2).stdout(""))
}

fn number(value: &Value, key: &str) -> f64 {
    value[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {value}"))
}

fn plans(answer: &Value) -> &Vec<Value> {
    answer["plans"].as_array().expect("plans")
}

#[test]
fn plans_keep_the_promise_and_the_cheapest_is_first() {
    let sandbox = with_example();
    let told = answer(&sandbox, &["--deadline", "7d"]);
    let all = plans(&told);
    assert_eq!(told["hours"], 168.0);
    assert!(all.len() > 20, "{}", all.len());
    for plan in all {
        assert!(number(plan, "in_time") >= 0.95 - 1e-9, "{plan}");
        let [low, mean, high] =
            ["cost_p5_usd", "cost_usd", "cost_p95_usd"].map(|key| number(plan, key));
        assert!(low <= mean && mean <= high, "{plan}");
    }
    // The first plan may cost more than one on an unmeasured GPU; the others are sorted.
    let costs: Vec<f64> = all[1..]
        .iter()
        .map(|plan| number(plan, "cost_usd"))
        .collect();
    assert!(costs.is_sorted(), "{costs:?}");
    let only = all
        .iter()
        .find(|plan| plan["policy"] == "on-demand")
        .expect("it is among them");
    assert!(number(&all[0], "cost_usd") < number(only, "cost_usd"));
    assert_eq!(told["rule"]["begins"], "spot");
    // The less is done, the earlier it goes on demand.
    let waits = told["rule"]["waits"].as_array().expect("waits");
    let until: Vec<f64> = waits.iter().map(|wait| number(wait, "until_h")).collect();
    assert!(
        until.len() == 3 && until.is_sorted() && until[2] < 168.0,
        "{until:?}"
    );
}

/// On demand only the hours of the job are random: a sum over strata of equal probability.
#[test]
fn on_demand_costs_its_hours_by_its_price() {
    let sandbox = with_example();
    let arguments = [
        &USUAL[..],
        &[
            "--format",
            "json",
            "--deadline",
            "7d",
            "--policy",
            "on-demand",
        ],
    ]
    .concat();
    let told = stdout(&sandbox.run(&arguments).success());
    let value: Value = serde_json::from_str(&told).expect("it is JSON");
    let plan = &plans(&value["deadline"])[0];
    let is_it = |choice: &&Value| {
        ["vm", "workers", "batch"]
            .iter()
            .all(|key| choice[key] == plan[key])
    };
    let choice = value["choices"]
        .as_array()
        .and_then(|all| all.iter().find(is_it))
        .expect("a choice");
    let [low, high] = ["time_p5_h", "time_p95_h"].map(|key| number(choice, key) - 5.0 / 60.0);
    let (median, sd) = (
        (low * high).sqrt(),
        (high / low).ln() / (2.0 * 1.644_853_626_951_472),
    );
    // The mean of a log-normal.
    let hours = median * (0.5 * sd * sd).exp() + 5.0 / 60.0;
    let expected = hours * number(plan, "on_demand_usd_per_hour") * number(plan, "vms");
    let off = number(plan, "cost_usd") / expected - 1.0;
    assert!(off.abs() < 1e-6, "{off}: {plan}");
    assert_eq!(plans(&value["deadline"]).len(), 8);
}

#[test]
fn a_market_that_always_has_machines_costs_its_price_and_one_without_is_not_used() {
    let sandbox = with_example();
    let of = |more: &[&str]| {
        answer(
            &sandbox,
            &[&["--deadline", "7d", "--policy", "greedy"], more].concat(),
        )
    };
    let always = of(&["--spot-run-h", "1e6", "--spot-pause-h", "0.001"]);
    let is_on_spot = |plan: &&Value| {
        // A job that may need nearly the whole time until the deadline has no time to wait for spot machines.
        let has_time = number(plan, "planned_spot_h") > number(plan, "planned_on_demand_h");
        plan["policy"] == "greedy" && has_time
    };
    for plan in plans(&always).iter().filter(is_on_spot) {
        let usd = number(plan, "spot_usd_per_hour") * number(plan, "vms");
        // The net saves longer jobs: on machines that are never lost, the interval of checkpoints exceeds the whole run.
        let usd_of_h = number(plan, "cost_p5_usd") / number(plan, "time_p5_h");
        assert!((usd_of_h / usd - 1.0).abs() < 1e-6, "{plan}");
    }
    assert!(plans(&always).iter().filter(is_on_spot).count() > 1);
    let never = of(&["--spot-run-h", "2", "--spot-pause-h", "1e6"]);
    for plan in plans(&never)
        .iter()
        .filter(|plan| plan["policy"] == "greedy")
    {
        assert!(
            number(plan, "planned_spot_h") < 0.02 * number(plan, "planned_on_demand_h"),
            "{plan}"
        );
        assert!(number(plan, "in_time") >= 0.95 - 1e-9, "{plan}");
    }
}

#[test]
fn a_day_of_the_week_is_so_many_hours_away_and_threads_change_nothing() {
    let sandbox = with_example();
    let now = ["--now", "2026-11-28 09:30"];
    let by_clock = answer(
        &sandbox,
        &[&["--deadline", "Sat 09:30+01:00", "--jobs", "1"][..], &now].concat(),
    );
    let by_length = answer(&sandbox, &["--deadline", "167h", "--jobs", "3"]);
    assert_eq!(by_clock["plans"], by_length["plans"]);
    let words = by_clock["rule"]["words"].to_string();
    assert!(
        words.contains("2026-12-0") && words.contains("+01:00"),
        "{words}"
    );
    let words = by_length["rule"]["words"].to_string();
    assert!(words.contains("h from now"), "{words}");
}

#[test]
fn what_is_rented_first_is_handed_over() {
    let sandbox = with_example();
    let more = [
        "--deadline",
        "7d",
        "--policy",
        "greedy",
        "--sky",
        "task.yaml",
        "--commands",
    ];
    let text = stdout(&sandbox.run(&[&USUAL[..], &more].concat()).success());
    assert!(sandbox.read("task.yaml").contains("use_spot: true"));
    assert!(text.contains("MarketType=spot"), "{text}");
    assert!(
        text.contains("When they are lost: wait for others"),
        "{text}"
    );
    assert!(text.contains("ASSUMED"), "{text}");
}

#[test]
fn what_is_wrong_with_a_deadline_is_told() {
    let told = refusal(&[
        "--deadline",
        "soon",
        "--policy",
        "greddy,spot-only",
        "--now",
        "today",
        "--spot-run-h",
        "0",
    ]);
    for word in [
        "`soon` is no deadline",
        "`Fri 18:00`",
        "unknown policy `greddy`",
        "did you mean `greedy`?",
        "`spot-only` keeps no deadline of its own",
        "`--now`: `today` is no date",
        "--spot-run-h is invalid",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    let past = refusal(&[
        "--deadline",
        "2026-11-20 18:00",
        "--now",
        "2026-11-21 00:00",
    ]);
    assert!(past.contains("is past: it was 6.0 h before"), "{past}");
    let far = refusal(&[
        "--deadline",
        "9999-12-01 23:59",
        "--now",
        "2026-12-01 09:00",
    ]);
    assert!(far.contains("69,889,886 h from now is too far"), "{far}");
    let many = [&USUAL[..4], &["--deadline", "9000h", "--runs", "100000"]].concat();
    let many = stderr(&with_example().run(&many).code(2).stdout(""));
    assert!(
        many.contains("100000 lives of 54000 ticks in each of"),
        "{many}"
    );
    let early = refusal(&["--deadline", "90min"]);
    assert!(
        early.contains("no configuration is done in 95 % of runs"),
        "{early}"
    );
    let words: Vec<&str> = early.split_whitespace().collect();
    assert!(words.join(" ").contains(" h more"), "{early}");
    for alone in [&["--policy", "greedy"][..], &["--now", "2026-11-28 09:30"]] {
        assert!(refusal(alone).contains("--deadline"), "{alone:?}");
    }
    let not_with = refusal(&["--deadline", "7d", "--objective", "time"]);
    assert!(not_with.contains("`cost` with --deadline"), "{not_with}");
    for other in [
        &["--market", "spot"][..],
        &["--max-time", "3"],
        &["--max-cost", "3"],
        &["--commitment", "1y"],
    ] {
        let told = refusal(&[&["--deadline", "7d"], other].concat());
        assert!(told.contains(other[0]), "{told}");
    }
}

#[test]
fn a_model_that_nobody_measured_has_a_deadline_too() {
    let sandbox = Sandbox::new();
    let of_model = [
        "advise",
        "--model",
        "llama-3-8b",
        "--tokens",
        "2e10",
        "--gpus",
        "H100",
        "--runs",
        "40",
        "--format",
        "json",
    ];
    let advice = |more: &[&str]| -> Value {
        let done = sandbox.run(&[&of_model[..], more].concat()).success();
        serde_json::from_str(&stdout(&done)).expect("it is JSON")
    };
    let told = advice(&["--deadline", "14d"]);
    let all = plans(&told["deadline"]);
    let first = &all[0];
    for plan in all {
        assert!(number(plan, "in_time") >= 0.95 - 1e-9, "{plan}");
        assert!(number(first, "cost_usd") <= number(plan, "cost_usd"));
    }
    assert_eq!(first["gpu"], "H100");
    assert!(
        first["plan"]
            .as_str()
            .is_some_and(|plan| plan.contains("data="))
    );
    // On demand only, the cost equals that of the advice without a deadline for this plan.
    let on_demand = all.iter().find(|plan| plan["policy"] == "on-demand");
    let on_demand = on_demand.expect("it is always possible");
    let usual = &advice(&[])["choices"][0];
    assert_eq!(on_demand["plan"], usual["plan"]);
    let ratio = number(on_demand, "cost_usd") / number(usual, "cost_usd");
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    // A later deadline never costs more; one that no plan meets is refused.
    let later = advice(&["--deadline", "21d"]);
    let least = |told: &Value| number(&plans(&told["deadline"])[0], "cost_usd");
    assert!(least(&later) <= least(&told) * 1.01);
    let early = sandbox.run(&[&of_model[..], &["--deadline", "90min"]].concat());
    let early = stderr(&early.code(2).stdout(""));
    assert!(
        early.contains("no configuration is done in 95 %"),
        "{early}"
    );
}
