//! The study of advice as a document.

use super::found::Found;
use scavsim::search::Objective;
use scavsim::text::Sheet;

/// The targets of the figures.
const MOST_REGRET: f64 = 0.05;
const COVERAGE: [f64; 2] = [0.80, 0.97];

/// Tables in Markdown, and missed targets.
pub fn render(found: &[Found], most: usize) -> String {
    let all = Found::all(found);
    let mut rows: Vec<&Found> = found.iter().collect();
    rows.push(&all);
    let name = if most < 60 { "advise-sample" } else { "advise" };
    let mut text = format!(
        "# Advice on what was cut from measured workloads\n\n\
         `cargo bench --bench studies -- {name}`, {most} cuts of each workload: {} cuts, evenly spread over all {}. A cut keeps three worker counts and two batches of a VM\n\
         shape and forgets the rest, {:.0} % of the points here; {} cuts cannot be answered. Regret: the true value of the choice over that\n\
         of the best within the bounds of advice (twice the measured workers, measured samples per worker), and of all that was ever\n\
         measured. Coverage: share of the 90 % intervals of time of forgotten configurations that hold the truth, in all, between the\n\
         measurements and beyond them.\n\n",
        all.cuts,
        all.of,
        100.0 * all.forgotten as f64 / (all.kept + all.forgotten).max(1) as f64,
        all.refused,
    );
    let header = [
        "workload",
        "objective",
        "cuts",
        "median regret",
        "mean",
        "90 % of cuts",
        "median, of all",
        "coverage",
        "between",
        "beyond",
    ];
    text += &Sheet::of_texts(&header, regrets(&rows)).markdown();
    text += "\nThe measurement that is advised next, beside a random one (mean of three): mean regret of all before and after, and what\n\
             the advised one saves over the random in pairs, with its 95 % interval.\n\n";
    let header = [
        "workload",
        "objective",
        "pairs",
        "before",
        "after advised",
        "after random",
        "saved",
        "better",
        "worse",
    ];
    text += &Sheet::of_texts(&header, nexts(&rows)).markdown();
    text += "\n";
    text + &verdicts(&rows)
}

fn share(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

/// A line per workload and objective: regrets of choices, and coverage of intervals.
fn regrets(rows: &[&Found]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for one in rows {
        for objective in [Objective::Time, Objective::Cost] {
            let (Some(own), Some(of_all)) =
                (one.regrets(objective, false), one.regrets(objective, true))
            else {
                continue;
            };
            lines.push(vec![
                one.workload.clone(),
                objective.name().to_owned(),
                (one.cuts - one.refused).to_string(),
                share(own[0]),
                share(own[1]),
                share(own[2]),
                share(of_all[0]),
            ]);
            if let Some(line) = lines.last_mut() {
                let shares = one.coverage().into_iter();
                line.extend(shares.map(|c| c.map_or_else(|| "–".to_owned(), share)));
            }
        }
    }
    lines
}

/// A line per workload and objective: regrets after an advised measurement and after a random one.
fn nexts(rows: &[&Found]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for one in rows {
        for objective in [Objective::Time, Objective::Cost] {
            let Some(([before, next, random], paired)) = one.next(objective) else {
                continue;
            };
            lines.push(vec![
                one.workload.clone(),
                objective.name().to_owned(),
                paired.count.to_string(),
                share(before),
                share(next),
                share(random),
                format!("{:+.2} ± {:.2} %", 100.0 * paired.mean, 100.0 * paired.half),
                paired.signs.0.to_string(),
                paired.signs.1.to_string(),
            ]);
        }
    }
    lines
}

/// The missed targets, each with its figure.
fn verdicts(rows: &[&Found]) -> String {
    let mut short = Vec::new();
    for one in rows {
        for objective in [Objective::Time, Objective::Cost] {
            let name = format!("{} by {}", one.workload, objective.name());
            if let Some([median, ..]) = one.regrets(objective, false)
                && median > MOST_REGRET
            {
                short.push(format!(
                    "{name}: median regret {:.1} %, above 5 %",
                    100.0 * median
                ));
            }
            if let Some((_, paired)) = one.next(objective)
                && paired.mean - paired.half <= 0.0
            {
                short.push(format!(
                    "{name}: the advised measurement saves {:+.2} ± {:.2} % over a random one, which may be nothing",
                    100.0 * paired.mean,
                    100.0 * paired.half
                ));
            }
        }
        if let [Some(coverage), ..] = one.coverage()
            && !(COVERAGE[0]..=COVERAGE[1]).contains(&coverage)
        {
            short.push(format!(
                "{}: coverage {:.1} %, not within 80 to 97 %",
                one.workload,
                100.0 * coverage
            ));
        }
    }
    if short.is_empty() {
        "Nothing falls short: median regret at most 5 %, coverage within 80 to 97 %, and the advised measurement saves more than a \
                 random one.\n"
            .to_owned()
    } else {
        format!("What falls short:\n\n- {}\n", short.join("\n- "))
    }
}

#[cfg(test)]
mod tests {
    // The bench itself runs no test.
    #![allow(dead_code)]

    use super::super::found::Outcome;
    use super::*;

    /// On three cuts with these regrets by time, where a random measurement leaves a regret of 20 % and the advised one
    /// `after`, and `covered` of 100 intervals contain the truth.
    fn verdict(regrets: [f64; 3], after: f64, covered: usize) -> String {
        let outcome = |regret: f64| Outcome {
            regret,
            regret_of_all: regret,
            after: Some((after, 0.2)),
        };
        let found = Found {
            workload: "some".to_owned(),
            asked: [100, 0],
            covered: [covered, 0],
            outcomes: regrets.map(|r| (Objective::Time, outcome(r))).to_vec(),
            ..Found::default()
        };
        verdicts(&[&found])
    }

    #[test]
    fn what_falls_short_is_named_with_its_figure_and_nothing_else() {
        for covered in [80, 90, 97] {
            let well = verdict([0.0, 0.05, 0.9], 0.1, covered);
            assert!(well.starts_with("Nothing falls short: "), "{well}");
        }
        for (regrets, after, covered, told) in [
            (
                [0.0, 0.051, 0.06],
                0.1,
                90,
                "some by time: median regret 5.1 %, above 5 %",
            ),
            (
                [0.0, 0.0, 0.9],
                0.2,
                90,
                "some by time: the advised measurement saves +0.00 ± 0.00 % over a random one, which may be nothing",
            ),
            (
                [0.0; 3],
                0.1,
                79,
                "some: coverage 79.0 %, not within 80 to 97 %",
            ),
            (
                [0.0; 3],
                0.1,
                98,
                "some: coverage 98.0 %, not within 80 to 97 %",
            ),
        ] {
            let expected = format!("What falls short:\n\n- {told}\n");
            assert_eq!(verdict(regrets, after, covered), expected);
        }
    }
}
