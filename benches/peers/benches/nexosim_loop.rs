//! In nexosim: one model that schedules its own events, on one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

use crate::{Luck, loops};

#[derive(Serialize, Deserialize)]
struct Cluster {
    #[serde(skip)]
    luck: Option<Luck>,
    #[serde(skip)]
    over: Arc<AtomicBool>,
    workers: u32,
    finished: u32,
    left: u64,
}

#[Model]
impl Cluster {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        self.begin(context);
    }

    fn begin(&mut self, context: &Context<Self>) {
        let Some(luck) = &mut self.luck else { return };
        for _ in 0..self.workers {
            let compute = Duration::from_nanos(luck.nanoseconds());
            context
                .schedule_event(compute, schedulable!(Self::arrived), ())
                .expect("no time is 0");
        }
    }

    #[nexosim(schedulable)]
    fn arrived(&mut self, _: (), context: &Context<Self>) {
        self.finished += 1;
        if self.finished == self.workers {
            let communication = Duration::from_nanos(loops::communication_ns());
            context
                .schedule_event(communication, schedulable!(Self::complete), ())
                .expect("no time is 0");
        }
    }

    #[nexosim(schedulable)]
    fn complete(&mut self, _: (), context: &Context<Self>) {
        self.finished = 0;
        self.left -= 1;
        match self.left {
            0 => self.over.store(true, Ordering::Relaxed),
            _ => self.begin(context),
        }
    }
}

/// Simulated seconds of `steps` steps.
pub fn run(workers: u32, steps: u64) -> f64 {
    let over = Arc::new(AtomicBool::new(false));
    let cluster = Cluster {
        luck: Some(Luck::new()),
        over: Arc::clone(&over),
        workers,
        finished: 0,
        left: steps,
    };
    let start = MonotonicTime::EPOCH;
    let mut simulation = SimInit::with_num_threads(1)
        .add_model(cluster, Mailbox::new(), "cluster")
        .init(start)
        .expect("a legal model");
    while !over.load(Ordering::Relaxed) {
        simulation.step().expect("no model stalls");
    }
    simulation.time().duration_since(start).as_nanos() as f64 / 1e9
}
