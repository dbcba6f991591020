//! Every search of a suite in its order, made by a strategy or replayed from its transcript.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::replay::Replay;
use super::suite::{Passage, Suite, SuiteScenario};
use super::transcript::{SearchPlace, Transcript, difference, no_json};
use crate::compare::blocks::Places;
use crate::compare::run::judged;
use crate::compare::{Block, CaseMetrics, ComparisonOptions, Entry};
use scavsim_experiment::{Case, Evaluator, Plan, PlanError, Status};
use scavsim_search::testbed::transcript::TranscriptStep;

/// Number of searches that are made before they are written.
const AT_ONCE: u64 = 256;
/// Maximum bytes of a line: more than any valid search needs.
const LONGEST_LINE: u64 = 8 << 20;
/// Maximum number of lines with reported mistakes.
const MOST_TOLD: usize = 20;

#[derive(Debug, thiserror::Error)]
pub enum NoBench {
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    NoPlan(#[from] PlanError),
    /// A file cannot be read or written, or threads cannot be started.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The source of the searches.
pub(super) enum RunMode<'w, 'r> {
    /// The strategy of the scenarios; transcripts are written.
    Search(&'w mut dyn Write),
    /// Transcripts; their mistakes are collected.
    Replay(&'w mut Lines<'r>),
}

/// Transcripts that are read, and their mistakes.
pub(super) struct Lines<'r> {
    from: &'r mut dyn BufRead,
    number: u64,
    /// Sentences, each with its line.
    pub(super) wrong: Vec<String>,
}

struct CompletedSearch {
    line: String,
    seen: CaseMetrics,
}

/// A search, and its transcript.
type CaseLine = (Case, Option<(u64, String)>);

impl<'r> Lines<'r> {
    pub(super) fn new(from: &'r mut dyn BufRead) -> Lines<'r> {
        Lines {
            from,
            number: 0,
            wrong: Vec::new(),
        }
    }

    /// The next line with its number; `None` at the end.
    fn next(&mut self) -> io::Result<Option<(u64, String)>> {
        let mut line = Vec::new();
        let mut within = (&mut *self.from).take(LONGEST_LINE);
        if within.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        // Invalid text is not JSON either.
        let line = String::from_utf8_lossy(&line).into_owned();
        Ok(Some((self.number, line)))
    }

    fn is_hopeless(&self) -> bool {
        self.wrong.len() >= MOST_TOLD
    }
}

/// Evaluates a suite; the results of its searches go to blocks by objective and runs, as one strategy with this name.
pub(super) fn walk(
    suite: &Suite,
    scenarios: &[SuiteScenario],
    name: &str,
    effort: ComparisonOptions<'_>,
    mut way: RunMode<'_, '_>,
) -> Result<Vec<Block>, NoBench> {
    let pool = effort.interrupt.pool(effort.jobs)?;
    let mut blocks = blocks(suite, name);
    for passage in suite.passages() {
        let scenario = suite.of_passage(scenarios, &passage);
        let mut plan = pool.install(|| Plan::heeding(&scenario, effort.interrupt))?;
        plan.notes_probes = true;
        let places = Places::open(&mut blocks, &plan, passage.half, passage.repeats);
        let (all, mut from) = (plan.cases(), 0);
        while from < all {
            let to = (from + AT_ONCE).min(all);
            let mut next: Vec<CaseLine> = (from..to).map(|at| (plan.case(at), None)).collect();
            if let RunMode::Replay(lines) = &mut way {
                for (case, line) in &mut next {
                    *line = lines.next()?;
                    if line.is_none() {
                        let place = place(suite, &passage, &plan, *case);
                        let what = format!("the file ends before {}", place.description());
                        lines.wrong.push(what);
                        return Ok(blocks);
                    }
                }
            }
            let step = WalkStep {
                suite,
                passage: &passage,
                plan: &plan,
                unusable: scenarios[passage.grid].unusable.as_deref(),
            };
            let walked: Option<Vec<Result<CompletedSearch, NoSearch>>> = pool.install(|| {
                (next.into_par_iter())
                    .with_min_len(plan.cases_per_simulation() as usize)
                    .map_init(
                        || Evaluator::new(&plan),
                        |evaluator, (case, line)| {
                            let walked = step.case(evaluator, case, line);
                            (!effort.interrupt.is_raised()).then_some(walked)
                        },
                    )
                    .collect()
            });
            for (at, walked) in (from..to).zip(walked.ok_or(NoBench::Interrupted)?) {
                let case = plan.case(at);
                match (walked, &mut way) {
                    (Ok(walked), way) => {
                        if let Some((block, unit)) = places.block_and_unit(&blocks, &plan, case) {
                            blocks[block].entries[0].add(unit, &walked.seen);
                        }
                        if let RunMode::Search(into) = way {
                            into.write_all(walked.line.as_bytes())?;
                            into.write_all(b"\n")?;
                        }
                    }
                    (Err(NoSearch::Wrong(what)), RunMode::Replay(lines)) => lines.wrong.push(what),
                    // All later lines would belong to another search, too.
                    (Err(NoSearch::Misplaced(what)), RunMode::Replay(lines)) => {
                        lines.wrong.push(what);
                        return Ok(blocks);
                    }
                    (Err(NoSearch::Wrong(what) | NoSearch::Misplaced(what)), _) => {
                        return Err(io::Error::other(what).into());
                    }
                }
            }
            if let RunMode::Replay(lines) = &way
                && lines.is_hopeless()
            {
                return Ok(blocks);
            }
            effort.progress.fetch_add(to - from, Ordering::Relaxed);
            let arena = plan.case(from).arena;
            plan.forget_before(arena);
            from = to;
        }
    }
    if let RunMode::Replay(lines) = &mut way
        && let Some((number, _)) = lines.next()?
    {
        let what = format!("line {number}: the suite has no more searches");
        lines.wrong.push(what);
    }
    Ok(blocks)
}

enum NoSearch {
    Wrong(String),
    Misplaced(String),
}

#[derive(Clone, Copy)]
struct WalkStep<'a> {
    suite: &'a Suite,
    passage: &'a Passage,
    plan: &'a Plan,
    /// Why all searches made here fail.
    unusable: Option<&'a str>,
}

impl WalkStep<'_> {
    fn case(
        &self,
        evaluator: &mut Evaluator<'_>,
        case: Case,
        line: Option<(u64, String)>,
    ) -> Result<CompletedSearch, NoSearch> {
        match line {
            None => self.search(evaluator, case),
            Some((number, line)) => (self.replay(evaluator, case, &line)).map_err(|no| match no {
                NoSearch::Wrong(what) => NoSearch::Wrong(format!("line {number}: {what}")),
                NoSearch::Misplaced(what) => NoSearch::Misplaced(format!("line {number}: {what}")),
            }),
        }
    }

    fn search(
        &self,
        evaluator: &mut Evaluator<'_>,
        case: Case,
    ) -> Result<CompletedSearch, NoSearch> {
        let record = match self.unusable {
            None => evaluator.evaluate(case),
            Some(why) => {
                let nothing = Transcript {
                    asked: Vec::new(),
                    chose: Vec::new(),
                    ..self.transcript(evaluator, case, Some(why.to_owned()))
                };
                evaluator.evaluate_as(case, Arc::new(Replay::new(nothing)))
            }
        };
        let failed = (record.status != Status::Ok).then(|| record.reason.to_string());
        let seen = judged(self.plan, evaluator, case, &record);
        let transcript = self.transcript(evaluator, case, failed).judged(&seen);
        let line = transcript.line();
        let line = line.map_err(|why| NoSearch::Wrong(why.to_string()))?;
        Ok(CompletedSearch { line, seen })
    }

    fn replay(
        &self,
        evaluator: &mut Evaluator<'_>,
        case: Case,
        line: &str,
    ) -> Result<CompletedSearch, NoSearch> {
        let written: Transcript = serde_json::from_str(line).map_err(|why| {
            let place = format!("column {}", why.column());
            NoSearch::Wrong(format!("no transcript: {}", no_json(&why, &place)))
        })?;
        let place = place(self.suite, self.passage, self.plan, case);
        if written.place != place {
            return Err(NoSearch::Misplaced(format!(
                "it is of {}, where {} belongs",
                written.place.description(),
                place.description()
            )));
        }
        let replay = Arc::new(Replay::new(written));
        let strategy: Arc<Replay> = Arc::clone(&replay);
        let record = evaluator.evaluate_as(case, strategy);
        if let Some(why) = replay.wrong() {
            return Err(NoSearch::Wrong(why));
        }
        let written = &replay.written;
        // Only the program knows why it failed; the failure itself is charged.
        let failed = (record.status != Status::Ok)
            .then(|| (written.failed.clone()).unwrap_or_else(|| record.reason.to_string()));
        let seen = judged(self.plan, evaluator, case, &record);
        let truth = self.transcript(evaluator, case, failed).judged(&seen);
        if let Some(what) = difference(written, &truth) {
            return Err(NoSearch::Wrong(what));
        }
        let again = truth.line();
        let again = again.map_err(|why| NoSearch::Wrong(why.to_string()))?;
        if again != line {
            return Err(NoSearch::Wrong(
                "the figures are right, but not written as scavsim writes them".to_owned(),
            ));
        }
        Ok(CompletedSearch { line: again, seen })
    }

    /// The search that was evaluated last.
    fn transcript(
        &self,
        evaluator: &Evaluator<'_>,
        case: Case,
        failed: Option<String>,
    ) -> Transcript {
        let arena = self.plan.arena(case.arena).ok();
        // If nothing can be chosen, nothing was searched.
        let searched = arena.filter(|own| own.oracle[case.policy][case.objective].is_some());
        Transcript {
            place: place(self.suite, self.passage, self.plan, case),
            asked: searched.map_or(Vec::new(), |arena| {
                let asked = evaluator.questions().iter();
                asked
                    .map(|noted| TranscriptStep::from_exchange(noted, &arena.space))
                    .collect()
            }),
            failed,
            chose: arena.map_or(Vec::new(), |arena| {
                let ran = evaluator.ran().iter();
                ran.map(|&at| arena.space.name(at)).collect()
            }),
            net: None,
            gross: None,
            regret: None,
        }
    }
}

fn place(suite: &Suite, passage: &Passage, plan: &Plan, case: Case) -> SearchPlace {
    SearchPlace {
        grid: suite.grids[passage.grid].name.clone(),
        half: passage.half,
        job: plan.workload(case.arena).to_owned(),
        objective: plan.objectives[case.objective],
        repeats: passage.repeats,
        seed: suite.seed,
        start: case.replica,
    }
}

fn blocks(suite: &Suite, name: &str) -> Vec<Block> {
    let each = suite.objectives.iter();
    each.flat_map(|&objective| {
        suite.repeats.iter().map(move |&repeats| Block {
            objective,
            repeats,
            units: Vec::new(),
            entries: vec![Entry::new(name, 0)],
            against: None,
        })
    })
    .collect()
}
