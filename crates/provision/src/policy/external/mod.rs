//! A policy that is another program, in any language: JSON lines on its standard input and output (`talk`).
//!
//! A process that repeats the numbers of lines decides in one life after the other, with a process per thread; others decide in one
//! life. A failure of a process fails its life, never the run, and the next life begins with a new process.

mod talk;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::talk::{Answer, Reply};
use super::{Net, Policy, Recipe};
use crate::policy_run::events::LastLook;
use crate::policy_run::policy_view::PolicyView;
use scavsim_read::input::checked::Count;
use scavsim_talk::numbered_conversation::{Breach, NumberedConversation};
use scavsim_talk::process::start;

scavsim_talk::program_settings! {
    /// Settings of a policy that is another program.
    #[derive(Debug, Clone, Deserialize, JsonSchema)]
    pub struct ExternalPolicySettings worded talk::TERMS;

    /// Answers within a tick beyond which a life fails.
    #[serde(default = "max_asks")]
    pub max_asks: Count,
    /// What keeps the deadline.
    #[serde(default)]
    pub net: Net,
    /// What the program gets unchanged.
    #[serde(default)]
    pub settings: Map<String, Value>,
    #[serde(skip)]
    stop: Option<Arc<AtomicBool>>,
}

fn max_asks() -> Count {
    Count::new(100).expect("it is above 0")
}

impl ExternalPolicySettings {
    fn talk(&self) -> Result<NumberedConversation, Breach> {
        if let Some(why) = self.hopeless() {
            return Err(Breach::Fails(why));
        }
        if (self.stop.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Breach::Interrupted);
        }
        let open = || start(&self.program(), self.stop.clone());
        self.waiting.take_or_open(talk::TERMS, open)
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
        })
    }

    fn program(&self) -> Option<String> {
        Some(self.program().to_string())
    }

    fn hopeless(&self) -> Option<String> {
        self.waiting.hopeless()
    }

    fn stopped_by(&self, flag: Option<Arc<AtomicBool>>) -> Option<Arc<dyn Recipe>> {
        let mut own = self.clone();
        own.stop = flag;
        Some(Arc::new(own))
    }
}

#[derive(Debug)]
struct ExternalPolicy {
    of: ExternalPolicySettings,
    seed: usize,
    /// From the first decision until a failure.
    talk: Option<NumberedConversation>,
    look: LastLook,
    /// Tick from which it is asked whatever happens.
    asked_again: usize,
}

impl ExternalPolicy {
    fn ask(&mut self, view: &mut PolicyView<'_, '_>) -> Result<(), Breach> {
        let has_happened = !view.events(&mut self.look).is_empty();
        if view.tick() < self.asked_again && !has_happened {
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
            let told = match begun.take() {
                Some(life) => json!({ "life": life, "desk": shown }),
                None => json!({ "desk": shown }),
            };
            let Some(talk) = &mut self.talk else { break };
            let (answer, until) =
                talk.ask(&told.to_string(), |said| talk::understood(said, view))?;
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
            }
            self.asked_again = view.tick().saturating_add(until.0);
            return Ok(());
        }
        let most = self.of.max_asks.get();
        let why = format!("the program asked more than {most} times within a tick (`max_asks`)");
        Err(Breach::Wrong(why))
    }

    /// Returns the conversation to the pool after a life.
    fn end(
        &self,
        talk: Option<NumberedConversation>,
        view: &PolicyView<'_, '_>,
    ) -> Result<(), Breach> {
        let understood = |said| talk::understood(said, view);
        talk.map_or(Ok(()), |talk| self.of.waiting.put_back(talk, understood))
    }

    fn fail(&self, view: &mut PolicyView<'_, '_>, breach: &Breach) {
        let why = breach.to_string();
        if !matches!(breach, Breach::Interrupted) {
            self.of.waiting.count(&why);
        }
        view.fail(&why);
    }
}

impl Policy for ExternalPolicy {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if let Err(breach) = self.ask(view) {
            let talk = self.talk.take();
            if let Breach::Fails(_) = breach {
                // What failed tells more than how it ended.
                let _ = self.end(talk, view);
            }
            self.fail(view, &breach);
        }
    }

    fn net(&self) -> Net {
        self.of.net
    }

    fn over(&mut self, view: &mut PolicyView<'_, '_>) {
        let talk = self.talk.take();
        if let Err(breach) = self.end(talk, view) {
            self.fail(view, &breach);
        }
    }
}
