//! One life of a job under a policy: its place, progress and cost over time.

use super::description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
use super::style::{BLACK, Dash, GREY, Marker, Style};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_provision::job::Job;
use scavsim_provision::policy_run::Market;
use scavsim_provision::policy_run::outcome::Outcome;
use scavsim_provision::policy_run::timeline::{Timeline, TimelineEvent};
use scavsim_provision::world::Window;

/// Half the height of the market's offers, and of the machines that run.
const HALF: [f64; 2] = [0.36, 0.24];
/// The row of a job that has no machines.
const WAITING: &str = "waiting";
/// Kinds of stretches, in the order of the legend.
const KINDS: [&str; 4] = ["on spot machines", "on demand", "starting", WAITING];

#[derive(Debug)]
pub struct PolicyTimeline<'a> {
    pub name: String,
    /// Name of the scenario, and number of the life.
    pub of: String,
    pub policy: &'a str,
    pub window: Window<'a>,
    pub job: &'a Job,
    pub outcome: &'a Outcome,
    pub timeline: &'a Timeline,
}

struct Stretch {
    kind: usize,
    zone: Option<usize>,
    h: [f64; 2],
}

/// The life as a figure: three panels over the same hours.
pub fn figure(life: &PolicyTimeline<'_>) -> Figure {
    let job = life.job;
    let deadline_h = job.deadline_s / SECONDS_PER_HOUR;
    let last_s = life.timeline.entries.last().map_or(0.0, |e| e.at_s);
    let end_h = (last_s / SECONDS_PER_HOUR).max(deadline_h);
    let hours = |label: &str| Axis::new(label, "h", Scale::FromZero);
    let time = "time since the start";
    let (done, spent) = lines(job, life.timeline);
    let most_usd = spent.last().map_or(1.0, |[_, usd]| *usd).max(1e-9);
    let work_h = job.work_s / SECONDS_PER_HOUR;
    let until = |top: f64| {
        let line = Shape::Line(vec![[deadline_h, 0.0], [deadline_h, top]]);
        Series::new("deadline", Style::plain(BLACK).dashed(Dash::Dotted), line)
    };
    let straight = Shape::Line(vec![[0.0, 0.0], [deadline_h, work_h]]);
    let latest = Shape::Line(latest(job));
    let (rows, series) = places(life, end_h);
    let height = 34.0 * (rows.len() as f64).max(3.0);
    Figure {
        name: life.name.clone(),
        title: format!("{}, under {}", life.of, life.policy),
        alt: alt(life),
        note: "Pale: spot machines are offered. Progress beside the straight line to the deadline, and beside the last moment at \
               which machines on demand still keep it. Between starts, losses and ends money is drawn straight."
            .to_owned(),
        columns: 1,
        size: [900.0, height.max(190.0)],
        panels: vec![
            Panel {
                title: "where it runs".to_owned(),
                x: hours(time),
                y: Axis::names("", rows),
                series,
            },
            Panel {
                title: "how far it is".to_owned(),
                x: hours(time),
                y: Axis::new("work done", "h", Scale::FromZero),
                series: vec![
                    Series::new("straight to the deadline", Style::plain(GREY), straight),
                    Series::new("on demand at the latest", Style::plain(GREY).dashed(Dash::Dashed), latest),
                    until(work_h),
                    Series::new("work done", Style::nth(0).dashed(Dash::Solid), Shape::Line(done)),
                ],
            },
            Panel {
                title: "what it cost".to_owned(),
                x: hours(time),
                y: Axis::new("spent", "USD", Scale::FromZero),
                series: vec![
                    until(most_usd),
                    Series::new("spent", Style::nth(1).dashed(Dash::Solid), Shape::Line(spent)),
                ],
            },
        ],
    }
}

/// Rows of the first panel, from below, and their contents.
fn places(life: &PolicyTimeline<'_>, end_h: f64) -> (Vec<String>, Vec<Series>) {
    let zones = &life.window.world().zones;
    let names = zones.iter().rev().map(|zone| zone.name.clone());
    let rows: Vec<String> = [WAITING.to_owned()].into_iter().chain(names).collect();
    // Zones are in order from the top, and below them the row without machines.
    let place = |zone: Option<usize>| zone.map_or(1.0, |zone| (zones.len() - zone) as f64 + 1.0);
    let mut series = vec![Series::new(
        "spot machines are offered",
        Style::behind(0),
        Shape::Blocks(offered(life, &place, end_h)),
    )];
    let all = stretches(life.timeline);
    for (kind, name) in KINDS.iter().enumerate() {
        let own = all
            .iter()
            .filter(|one| one.kind == kind && one.h[1] > one.h[0]);
        let blocks: Vec<Block> = own
            .map(|one| {
                let y = place(one.zone);
                Block {
                    x: one.h,
                    y: [y - HALF[1], y + HALF[1]],
                    shade: None,
                    name: (*name).to_owned(),
                }
            })
            .collect();
        if !blocks.is_empty() {
            let style = Style::nth([0, 1, 5, 3][kind]);
            series.push(Series::new(*name, style, Shape::Blocks(blocks)));
        }
    }
    let lost = life
        .timeline
        .entries
        .iter()
        .filter(|entry| entry.what == TimelineEvent::Lost);
    let lost: Vec<Mark> = lost
        .map(|entry| Mark::new([entry.at_s / SECONDS_PER_HOUR, place(entry.zone)], "lost"))
        .collect();
    if !lost.is_empty() {
        let style = Style::plain(BLACK).marked(Marker::Cross, 6);
        series.push(Series::new("machines are lost", style, Shape::Marks(lost)));
    }
    series.retain(|one| !one.is_empty());
    (rows, series)
}

/// When zones offer enough machines for the smallest form of the job.
fn offered(
    life: &PolicyTimeline<'_>,
    place: &dyn Fn(Option<usize>) -> f64,
    end_h: f64,
) -> Vec<Block> {
    let window = life.window;
    let tick_h = window.world().tick_s / SECONDS_PER_HOUR;
    let ticks = window.ticks().min((end_h / tick_h).ceil() as usize);
    let machines = (life.job.forms.iter().chain(&life.job.searched)).map(|form| form.machines);
    let least = machines.min().unwrap_or(1);
    let mut blocks = Vec::new();
    for zone in 0..window.world().zones.len() {
        let has = |tick: usize| tick < ticks && window.offered(zone, tick) >= least;
        let mut from = None;
        for tick in 0..=ticks {
            match (has(tick), from) {
                (true, None) => from = Some(tick),
                (false, Some(begin)) => {
                    let y = place(Some(zone));
                    blocks.push(Block {
                        x: [begin as f64 * tick_h, (tick as f64 * tick_h).min(end_h)],
                        y: [y - HALF[0], y + HALF[0]],
                        shade: None,
                        name: "offered".to_owned(),
                    });
                    from = None;
                }
                _ => {}
            }
        }
    }
    blocks
}

/// The machines of the job from one entry to the next.
fn stretches(timeline: &Timeline) -> Vec<Stretch> {
    let mut market = Market::Spot;
    let mut has: Option<(usize, bool)> = None;
    let mut all = Vec::new();
    for pair in timeline.entries.windows(2) {
        let [entry, next] = [pair[0], pair[1]];
        match entry.what {
            TimelineEvent::Spot | TimelineEvent::OnDemand => {
                market = if entry.what == TimelineEvent::Spot {
                    Market::Spot
                } else {
                    Market::OnDemand
                };
                has = entry.zone.map(|zone| (zone, false));
            }
            TimelineEvent::Works => has = has.map(|(zone, _)| (zone, true)),
            TimelineEvent::Reconfigured => has = has.map(|(zone, _)| (zone, false)),
            TimelineEvent::Wait
            | TimelineEvent::Lost
            | TimelineEvent::GaveUp
            | TimelineEvent::Failed
            | TimelineEvent::Done
            | TimelineEvent::Unfinished => has = None,
            TimelineEvent::Net => {}
        }
        let kind = match (has, market) {
            (Some((_, true)), Market::Spot) => 0,
            (Some((_, true)), Market::OnDemand) => 1,
            (Some((_, false)), _) => 2,
            (None, _) => 3,
        };
        all.push(Stretch {
            kind,
            zone: has.map(|(zone, _)| zone),
            h: [entry.at_s, next.at_s].map(|s| s / SECONDS_PER_HOUR),
        });
    }
    // A job that waits from the start has no entry for it.
    if let Some(first) = timeline.entries.first().filter(|first| first.at_s > 0.0) {
        all.push(Stretch {
            kind: 3,
            zone: None,
            h: [0.0, first.at_s / SECONDS_PER_HOUR],
        });
    }
    all
}

/// The latest hours at which on-demand machines still meet the deadline, in the fastest form, by the work done until then.
fn latest(job: &Job) -> Vec<[f64; 2]> {
    const POINTS: u32 = 200;
    let at = |point: u32| {
        let done_s = job.work_s * f64::from(point) / f64::from(POINTS);
        let rests_s = (job.forms.iter()).map(|form| form.speed.rest_s(job.work_s, done_s));
        let last_s = job.deadline_s - job.changeover_s - rests_s.fold(f64::INFINITY, f64::min);
        [last_s / SECONDS_PER_HOUR, done_s / SECONDS_PER_HOUR]
    };
    (0..=POINTS)
        .map(at)
        .filter(|[hours, _]| *hours >= 0.0)
        .collect()
}

/// Work done in hours, and USD spent, over hours. Work grows until machines are lost, and then falls back to the saved amount.
fn lines(job: &Job, timeline: &Timeline) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let (mut done, mut spent) = (vec![[0.0, 0.0]], vec![[0.0, 0.0]]);
    let mut works_since: Option<(f64, f64, usize)> = None;
    for entry in &timeline.entries {
        let at_h = entry.at_s / SECONDS_PER_HOUR;
        if let Some((since_s, done_s, form)) =
            works_since.filter(|_| entry.what == TimelineEvent::Lost)
        {
            let speed = &job.form(form).speed;
            let works_s = speed.work_in(job.work_s, done_s, entry.at_s - since_s);
            done.push([at_h, (done_s + works_s) / SECONDS_PER_HOUR]);
        }
        done.push([at_h, entry.done_s / SECONDS_PER_HOUR]);
        spent.push([at_h, entry.spent_usd]);
        works_since = match entry.what {
            TimelineEvent::Works => Some((entry.at_s, entry.done_s, entry.form)),
            TimelineEvent::Net => works_since,
            _ => None,
        };
    }
    (done, spent)
}

fn alt(life: &PolicyTimeline<'_>) -> String {
    let one = life.outcome;
    let end = match one.finished {
        Some(end) if one.kept() => format!("is done in time, after {:.1} h", end.hours()),
        Some(end) => format!("is done late, after {:.1} h", end.hours()),
        None => "is not done".to_owned(),
    };
    format!(
        "Three panels over time: the zones that a job runs in, its work done, and its cost. Under {} it {end}, for ${:.2}: {:.1} h on \
         spot machines, which were lost {} times, and {:.1} h on demand.",
        life.policy,
        one.cost_usd(),
        one.spot.hours(),
        one.losses,
        one.on_demand.hours()
    )
}
