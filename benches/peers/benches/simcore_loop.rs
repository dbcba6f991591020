//! In simcore: one component that sends events to itself, by callbacks.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event, EventHandler, Simulation, SimulationContext, cast};

use crate::{Luck, loops};

#[derive(Clone, Serialize)]
struct Arrived {}

#[derive(Clone, Serialize)]
struct StepComplete {}

struct Cluster {
    context: SimulationContext,
    luck: Luck,
    workers: u32,
    finished: u32,
    left: u64,
}

impl Cluster {
    fn begin(&mut self) {
        for _ in 0..self.workers {
            let compute_s = self.luck.nanoseconds() as f64 / 1e9;
            self.context.emit_self(Arrived {}, compute_s);
        }
    }
}

impl EventHandler for Cluster {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Arrived {} => {
                self.finished += 1;
                if self.finished == self.workers {
                    self.context
                        .emit_self(StepComplete {}, loops::COMMUNICATION_S);
                }
            }
            StepComplete {} => {
                self.finished = 0;
                self.left -= 1;
                if self.left > 0 {
                    self.begin();
                }
            }
        })
    }
}

/// Simulated seconds of `steps` steps.
pub fn run(workers: u32, steps: u64) -> f64 {
    let mut simulation = Simulation::new(1);
    let context = simulation.create_context("cluster");
    let cluster = Rc::new(RefCell::new(Cluster {
        context,
        luck: Luck::new(),
        workers,
        finished: 0,
        left: steps,
    }));
    simulation.add_handler("cluster", cluster.clone());
    cluster.borrow_mut().begin();
    simulation.step_until_no_events();
    simulation.time()
}
