//! A policy of one's own that is another program, in whatever language: JSON lines on its standard input and output.
//!
//! `talk`: what the lines say. Here: its settings, and a life under it.
//!
//! A process that repeats the numbers of lines decides in one life after the other, as many processes as there are threads;
//! another one decides in one. Whatever goes wrong with one fails its life, never the run, and the next life begins with a
//! new process.

mod talk;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toml::Spanned;

use self::talk::{Answer, Breach, NextDecision, Reply};
use super::{Net, Policy, Recipe};
use crate::policy_run::events::LastLook;
use crate::policy_run::policy_view::PolicyView;
use scavsim_read::input::checked::{Count, Positive};
use scavsim_talk::lines::shortened;
use scavsim_talk::numbered_conversation::{ConversationPool, NumberedConversation};
use scavsim_talk::process::start;
use scavsim_talk::program::{MessageTerms, NoProgram, Program, memory_mib, start_s, timeout_s};

/// Settings of a policy that is another program.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalPolicySettings {
    /// The program and its arguments. It is started in the folder of the scenario, and paths start there.
    #[schemars(with = "Vec<String>")]
    pub command: Spanned<Vec<String>>,
    /// Seconds within which each answer comes.
    #[serde(default = "timeout_s")]
    pub timeout_s: Positive,
    /// Seconds that a process may take to start, besides, before its first answer.
    #[serde(default = "start_s")]
    pub start_s: Positive,
    /// MiB of address space of each process, on Linux.
    #[serde(default = "memory_mib")]
    pub memory_mib: Count,
    /// Answers within a tick beyond which a life fails.
    #[serde(default = "max_asks")]
    pub max_asks: Count,
    /// What keeps the deadline.
    #[serde(default)]
    pub net: Net,
    /// What the program is told as it stands.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Where the scenario is.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Ends the wait for it.
    #[serde(skip)]
    stop: Option<Arc<AtomicBool>>,
    #[serde(skip)]
    waiting: ConversationPool,
    /// Why its lives failed, and how often.
    #[serde(skip)]
    failures: Arc<Mutex<BTreeMap<String, u32>>>,
}

/// After so many failures of the same kind nothing else is expected of a program.
const HOPELESS: u32 = 10;
/// Different failures that are counted.
const COUNTED: usize = 100;

fn max_asks() -> Count {
    Count::new(100).expect("it is above 0")
}

impl ExternalPolicySettings {
    fn program(&self) -> Program<'_> {
        Program {
            command: self.command.get_ref(),
            folder: &self.folder,
            timeout_s: self.timeout_s,
            start_s: self.start_s,
            memory_mib: self.memory_mib,
            wording: MessageTerms {
                task: "life",
                done: "decided",
            },
        }
    }

    /// Whether the program is there.
    ///
    /// # Errors
    /// It is not.
    pub fn find(&self) -> Result<(), NoProgram> {
        self.program().found().map(|_| ())
    }

    fn count(&self, failure: &str) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < COUNTED || failures.contains_key(failure) {
            *failures.entry(failure.to_owned()).or_default() += 1;
        }
    }

    /// A process that waits, or a new one.
    fn talk(&self) -> Result<NumberedConversation, Breach> {
        if let Some(why) = self.hopeless() {
            return Err(Breach::Fails(why));
        }
        if (self.stop.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Breach::Interrupted);
        }
        if let Some(waiting) = self.waiting.pop() {
            return Ok(waiting);
        }
        let process = start(&self.program(), self.stop.clone());
        Ok(NumberedConversation::new(
            process.map_err(|why| Breach::Silence(why.into()))?,
        ))
    }
}

impl Recipe for ExternalPolicySettings {
    fn policy(&self) -> Box<dyn Policy> {
        self.seeded(0)
    }

    fn seeded(&self, seed: usize) -> Box<dyn Policy> {
        Box::new(ExternalPolicy {
            of: self.clone(),
            seed,
            talk: None,
            look: LastLook::default(),
            asked_again: 0,
            until: NextDecision::Tick,
        })
    }

    fn program(&self) -> Option<String> {
        Some(self.program().to_string())
    }

    fn hopeless(&self) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let often = failures.iter().find(|(_, count)| **count >= HOPELESS);
        often.map(|(why, _)| why.clone())
    }

    fn stopped_by(&self, flag: Option<Arc<AtomicBool>>) -> Option<Arc<dyn Recipe>> {
        let mut own = self.clone();
        own.stop = flag;
        Some(Arc::new(own))
    }
}

/// A life under a program.
#[derive(Debug)]
struct ExternalPolicy {
    of: ExternalPolicySettings,
    seed: usize,
    /// From the first decision on, until something goes wrong.
    talk: Option<NumberedConversation>,
    look: LastLook,
    /// Tick from which on it is asked whatever happens.
    asked_again: usize,
    until: NextDecision,
}

impl ExternalPolicy {
    /// Asks until the tick is decided.
    fn ask(&mut self, view: &mut PolicyView<'_, '_>) -> Result<(), Breach> {
        let has_happened = !view.events(&mut self.look).is_empty();
        let is_time = match self.until {
            NextDecision::Tick => true,
            NextDecision::Event => false,
            NextDecision::Ticks(_) => view.tick() >= self.asked_again,
        };
        if !is_time && !has_happened {
            return Ok(());
        }
        let mut begun = None;
        if self.talk.is_none() {
            self.talk = Some(self.of.talk()?);
            begun = Some(talk::life(view, self.seed, &self.of.settings));
        }
        let mut reply = None;
        for _ in 0..self.of.max_asks.get() {
            let shown = talk::shown(view, self.look.events(), reply.as_ref());
            let line = match begun.take() {
                Some(life) => format!("{}\n", json!({ "life": life, "desk": shown })),
                None => format!("{}\n", json!({ "desk": shown })),
            };
            let Some(talk) = &mut self.talk else { break };
            let (answer, until) = talk.ask(&line, |answer| talk::understood(answer, view))?;
            match answer {
                Answer::Stay => {}
                Answer::Wait => view.stop(),
                Answer::OnDemand(zone, None) => view.go_on_demand(zone),
                Answer::OnDemand(zone, Some(form)) => {
                    view.go_on_demand_as(zone, form);
                }
                Answer::GiveUp => view.give_up(),
                Answer::Spot(zones, form) => {
                    let mut takes = |zone: usize| match form {
                        Some(form) => view.try_spot_as(zone, form),
                        None => view.try_spot(zone),
                    };
                    if !zones.iter().any(|&zone| takes(zone)) {
                        reply = Some(Reply::Refused(zones));
                        continue;
                    }
                }
                Answer::Probe(zone) => {
                    reply = Some(Reply::Offered(zone, view.probe(zone)));
                    continue;
                }
                Answer::Fail(why) => return Err(Breach::Fails(shortened(&why))),
                Answer::Ready => return Err(Breach::ReadyTooSoon),
            }
            self.until = until;
            if let NextDecision::Ticks(ticks) = until {
                self.asked_again = view.tick().saturating_add(ticks);
            }
            return Ok(());
        }
        Err(Breach::TooManyAsks(self.of.max_asks.get()))
    }
}

/// After a life: the same conversation, if there can be another one.
fn over(
    talk: NumberedConversation,
    view: &PolicyView<'_, '_>,
) -> Result<Option<NumberedConversation>, Breach> {
    talk.over(|line| talk::understood(line, view), talk::ready)
}

impl ExternalPolicy {
    fn fail(&self, view: &mut PolicyView<'_, '_>, breach: &Breach) {
        let why = breach.to_string();
        if !matches!(breach, Breach::Interrupted) {
            self.of.count(&why);
        }
        view.fail(&why);
    }
}

impl Policy for ExternalPolicy {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if let Err(breach) = self.ask(view) {
            if let (Breach::Fails(_), Some(talk)) = (&breach, self.talk.take())
                && let Ok(Some(talk)) = over(talk, view)
            {
                // What failed tells more than how it ended.
                self.of.waiting.push(talk);
            }
            self.fail(view, &breach);
        }
    }

    fn net(&self) -> Net {
        self.of.net
    }

    fn over(&mut self, view: &mut PolicyView<'_, '_>) {
        let Some(talk) = self.talk.take() else { return };
        match over(talk, view) {
            Ok(Some(talk)) => self.of.waiting.push(talk),
            Ok(None) => {}
            Err(breach) => self.fail(view, &breach),
        }
    }
}
