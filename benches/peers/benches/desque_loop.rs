//! In desque: one boxed event per worker-step.

use desque::serial::{Event, Simulation};
use desque::{Result, SimState};

use crate::{Luck, loops};

struct State {
    luck: Luck,
    workers: u32,
    finished: u32,
    left: u64,
}

impl SimState<u64> for State {
    fn is_complete(&self, _: &u64) -> bool {
        self.left == 0
    }
}

#[derive(Debug)]
struct Arrived;

#[derive(Debug)]
struct StepComplete;

fn begin(simulation: &mut Simulation<State, u64>) -> Result {
    let now = *simulation.current_time();
    for _ in 0..simulation.state().workers {
        let compute = simulation.state_mut().luck.nanoseconds();
        simulation.schedule(Arrived, now + compute)?;
    }
    Ok(())
}

impl Event<State, u64> for Arrived {
    fn execute(&mut self, simulation: &mut Simulation<State, u64>) -> Result {
        let state = simulation.state_mut();
        state.finished += 1;
        if state.finished == state.workers {
            let end = *simulation.current_time() + loops::communication_ns();
            simulation.schedule(StepComplete, end)?;
        }
        Ok(())
    }
}

impl Event<State, u64> for StepComplete {
    fn execute(&mut self, simulation: &mut Simulation<State, u64>) -> Result {
        let state = simulation.state_mut();
        state.finished = 0;
        state.left -= 1;
        match state.left {
            0 => Ok(()),
            _ => begin(simulation),
        }
    }
}

/// Simulated seconds of `steps` steps.
pub fn run(workers: u32, steps: u64) -> f64 {
    let state = State {
        luck: Luck::new(),
        workers,
        finished: 0,
        left: steps,
    };
    let mut simulation = Simulation::new(state, 0);
    begin(&mut simulation).expect("nothing lies in the past");
    simulation.run().expect("nothing lies in the past");
    *simulation.current_time() as f64 / 1e9
}
