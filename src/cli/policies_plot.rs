//! `scavsim plot` on a scenario with `[policy]`: one life, a figure per policy.

use std::path::PathBuf;

use super::exit::{Failure, wrong};
use super::programs::ProgramsArg;
use super::scenarios;
use scavsim_provision::policy_run::watch;
use scavsim_provision::study::{Setting, Study};
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};
use scavsim_scenario::{Overrides, Scenario};
use scavsim_show::figure::Figure;
use scavsim_show::figure::policy_timeline::{PolicyTimeline, figure};

#[derive(Debug, Default)]
pub(super) struct PolicyPlotRequest<'a> {
    /// Policies by their names; all when empty.
    pub(super) policies: &'a [String],
    pub(super) life: Option<u32>,
    /// Number of the setting as written, counted from 1.
    pub(super) setting: Option<&'a str>,
}

pub(super) fn of_file(
    file: PathBuf,
    asked: &PolicyPlotRequest<'_>,
    programs: ProgramsArg,
) -> Result<Vec<Figure>, Failure> {
    let files = [file];
    let scenarios = scenarios::load(&files, Overrides::default())?;
    programs.ask(&files, &scenarios)?;
    let mut all = Vec::new();
    for scenario in &scenarios {
        let Some(study) = MarketPolicies::study_of(&*scenario.subject) else {
            let title = format!("{}: no `[policy]`", files[0].display());
            let help = "`scavsim plot` draws folders of runs, and lives under policies";
            return Err(wrong(title, help));
        };
        all.extend(figures(scenario, study, asked)?);
    }
    Ok(all)
}

/// One life, a figure per policy.
pub(super) fn figures(
    scenario: &Scenario,
    study: &Study,
    asked: &PolicyPlotRequest<'_>,
) -> Result<Vec<Figure>, Failure> {
    let mut d = Diagnostics::default();
    let names = || study.policies.iter().map(|(name, _)| name.as_str());
    for wrong in asked
        .policies
        .iter()
        .filter(|own| !names().any(|name| name == **own))
    {
        let help = nearest_or_all(wrong, names());
        let title = format!("{}: no policy `{wrong}`", scenario.name);
        d.push(Diagnostic::general(title).with_help(help));
    }
    let at = place(
        "setting",
        asked.setting,
        study.settings.len(),
        scenario,
        &mut d,
    );
    let setting = at.and_then(|at| study.settings.get(at));
    let life = asked.life.map(|life| life.to_string());
    let life = setting.and_then(|setting| {
        place(
            "life",
            life.as_deref(),
            setting.lives.count(),
            scenario,
            &mut d,
        )
    });
    let (Some(setting), Some(life), true) = (setting, life, d.is_empty()) else {
        return Err(Failure::Wrong(d));
    };
    let is_asked =
        |name: &str| asked.policies.is_empty() || asked.policies.iter().any(|own| own == name);
    let suffix = match (at.unwrap_or(0), life) {
        (0, 0) => String::new(),
        (0, life) => format!("-life-{}", life + 1),
        (setting, life) => format!("-setting-{}-life-{}", setting + 1, life + 1),
    };
    let drawn = names().enumerate().filter(|(_, name)| is_asked(name));
    let figures = drawn
        .filter_map(|(policy, _)| drawn_life((scenario, study), setting, life, policy, &suffix));
    Ok(figures.collect())
}

/// Converts a number from 1 to an index from 0; the default is the first.
fn place(
    what: &str,
    asked: Option<&str>,
    count: usize,
    scenario: &Scenario,
    d: &mut Diagnostics,
) -> Option<usize> {
    let Some(text) = asked else {
        return Some(0);
    };
    let number: Option<usize> = text
        .parse()
        .ok()
        .filter(|number| (1..=count).contains(number));
    if number.is_none() {
        let title = format!("{}: no {what} `{text}`", scenario.name);
        d.push(
            Diagnostic::general(title).with_help(format!("expected a number from 1 to {count}")),
        );
    }
    number.map(|number| number - 1)
}

fn drawn_life(
    (scenario, study): (&Scenario, &Study),
    setting: &Setting,
    life: usize,
    policy: usize,
    suffix: &str,
) -> Option<Figure> {
    let name = &study.policies.get(policy)?.0;
    setting.in_life(life, scenario.seed, |window, start| {
        let mut policy = study.policy_in_life(policy, window, start, scenario.seed);
        let (outcome, timeline) = watch(window, &setting.job, &mut *policy);
        figure(&PolicyTimeline {
            name: format!("{}-{name}{suffix}", scenario.name),
            of: format!(
                "{}, life {} of {}",
                scenario.name,
                life + 1,
                setting.lives.count()
            ),
            policy: name,
            window,
            job: &setting.job,
            outcome: &outcome,
            timeline: &timeline,
        })
    })
}
