//! Lives as rows: what each policy came to from each start, by column.

use super::run::StartOutcomes;
use super::{Setting, Study};
use crate::policy::registry::CLAIRVOYANT;
use crate::policy_run::outcome::Outcome;
use scavsim_base::units::SimTime;

/// A life of a policy, and what it is beside.
#[derive(Debug)]
pub struct PolicyRunRow<'m> {
    /// Names of the setting's zones.
    pub zones: &'m str,
    /// What was to be done, and where.
    pub setting: &'m Setting,
    /// Second of the start in the traces, or the number of the draw.
    pub start: f64,
    /// Name of the policy.
    pub policy: &'m str,
    /// What it came to.
    pub life: &'m Outcome,
    /// USD that no policy undercuts; `None` where there is no way to be done in time.
    pub clairvoyant_usd: Option<f64>,
}

/// A cell of such a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LifeCell<'m> {
    /// Nothing is known.
    Empty,
    /// A number.
    Number(f64),
    /// Yes or no.
    Truth(bool),
    /// A name.
    Text(&'m str),
}

/// A column: its name, and what it says of a life.
pub type LifeColumn = (&'static str, for<'m> fn(&PolicyRunRow<'m>) -> LifeCell<'m>);

/// Columns of `lives.csv`.
pub const COLUMNS: &[LifeColumn] = &[
    ("zones", |row| LifeCell::Text(row.zones)),
    ("deadline_h", |row| time(row.setting.job.deadline())),
    ("changeover_s", |row| {
        LifeCell::Number(row.setting.job.changeover_s)
    }),
    ("start", |row| LifeCell::Number(row.start)),
    ("policy", |row| LifeCell::Text(row.policy)),
    ("cost_usd", |row| LifeCell::Number(row.life.cost_usd())),
    ("spot_usd", |row| LifeCell::Number(row.life.spot_usd)),
    ("on_demand_usd", |row| {
        LifeCell::Number(row.life.on_demand_usd)
    }),
    ("egress_usd", |row| LifeCell::Number(row.life.egress_usd)),
    ("probes_usd", |row| LifeCell::Number(row.life.probes_usd)),
    ("lateness_usd", |row| {
        LifeCell::Number(row.life.lateness_usd.unwrap_or(0.0))
    }),
    ("clairvoyant_usd", |row| {
        row.clairvoyant_usd
            .map_or(LifeCell::Empty, LifeCell::Number)
    }),
    ("finished_h", |row| {
        row.life.finished.map_or(LifeCell::Empty, time)
    }),
    ("late_h", |row| time(row.life.late)),
    ("kept", |row| LifeCell::Truth(row.life.kept())),
    ("spot_h", |row| time(row.life.spot)),
    ("on_demand_h", |row| time(row.life.on_demand)),
    ("start_up_h", |row| time(row.life.start_up)),
    ("launches", |row| count(row.life.launches)),
    ("losses", |row| count(row.life.losses)),
    ("moves", |row| count(row.life.moves)),
    ("refused", |row| count(row.life.refused)),
    ("caught", |row| LifeCell::Truth(row.life.caught)),
    ("lost_work_h", |row| time(row.life.lost_work)),
    ("gave_up", |row| LifeCell::Truth(row.life.gave_up)),
    ("reason", |row| {
        (row.life.failed.as_deref()).map_or(LifeCell::Empty, LifeCell::Text)
    }),
];

fn time(time: SimTime) -> LifeCell<'static> {
    LifeCell::Number(time.hours())
}

fn count(count: u32) -> LifeCell<'static> {
    LifeCell::Number(f64::from(count))
}

/// Hands each life of a setting to `take`: those of the policies, then that of whoever knows what comes, start by start.
///
/// # Errors
/// The first that `take` gives.
pub fn each<E>(
    study: &Study,
    setting: &Setting,
    met: &[StartOutcomes],
    mut take: impl FnMut(&PolicyRunRow<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let zones = setting.zone_names();
    for one in met {
        let known = one
            .optimum
            .iter()
            .map(|optimum| (CLAIRVOYANT, &optimum.outcome));
        let names = study.policies.iter().map(|(name, _)| name.as_str());
        for (policy, life) in names.zip(&one.outcomes).chain(known) {
            take(&PolicyRunRow {
                zones: &zones,
                setting,
                start: one.start,
                policy,
                life,
                clairvoyant_usd: one.optimum.as_ref().map(|optimum| optimum.bound_usd),
            })?;
        }
    }
    Ok(())
}
