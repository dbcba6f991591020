//! In which order a stage computes its micro-batches.
//!
//! A schedule is a file with the order of one stage's operations, by number, and a line in `schedules!`. Stages of one
//! pipeline meet pairwise: the n-th exchange of a stage with the next is the n-th of that with the previous.

use scavsim_base::Declaration;

mod gpipe;
mod one_forward_one_backward;

/// What a stage does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A micro-batch goes forward.
    Forward(u32),
    /// A micro-batch goes backward.
    Backward(u32),
    /// With the stage before: activations of one micro-batch come, gradients of one leave.
    Previous(Exchange),
    /// With the stage behind: activations leave, gradients come.
    Next(Exchange),
}

/// Which micro-batches are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Whose activations.
    pub activations: Option<u32>,
    /// Whose gradients.
    pub gradients: Option<u32>,
}

impl Exchange {
    fn activations(micro_batch: u32) -> Exchange {
        Exchange {
            activations: Some(micro_batch),
            gradients: None,
        }
    }

    fn gradients(micro_batch: u32) -> Exchange {
        Exchange {
            activations: None,
            gradients: Some(micro_batch),
        }
    }

    /// Messages.
    pub fn messages(self) -> u32 {
        u32::from(self.activations.is_some()) + u32::from(self.gradients.is_some())
    }
}

/// A stage of a pipeline, and the micro-batches of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which stage, from 0.
    pub stage: u32,
    /// How many stages there are.
    pub stages: u32,
    /// Micro-batches.
    pub micro_batches: u32,
}

impl Place {
    fn is_first(self) -> bool {
        self.stage == 0
    }

    fn is_last(self) -> bool {
        self.stage + 1 == self.stages
    }
}

/// Rounds in which all stages repeat themselves: after round `n` a stage has done `first + n × every` operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// How many.
    pub count: u32,
    /// Operations of this stage before them.
    pub first: u32,
    /// Operations of this stage in each.
    pub every: u32,
}

macro_rules! schedules {
    ($($variant:ident, $module:ident, $order:ident;)*) => {
        /// The order of forward and backward passes of a stage.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Schedule {
            $(
                #[doc = concat!("The schedule `", stringify!($module), "`.")]
                $variant,
            )*
        }

        /// The operations of one stage by number, with what they follow from.
        #[derive(Debug, Clone, Copy)]
        pub struct StageOrder(Order);

        #[derive(Debug, Clone, Copy)]
        enum Order {
            $($variant($module::$order),)*
        }

        impl StageOrder {
            /// How many operations the stage has.
            pub fn operations(&self) -> u32 {
                match &self.0 { $(Order::$variant(order) => order.operations(),)* }
            }

            /// The `number`-th operation.
            #[inline]
            pub fn operation(&self, number: u32) -> Operation {
                match &self.0 { $(Order::$variant(order) => order.operation(number),)* }
            }
        }

        impl Schedule {
            /// All of them.
            pub const ALL: &'static [Schedule] = &[$(Schedule::$variant),*];

            /// What all of them say of themselves.
            pub const DECLARED: &'static [Declaration] = &[$($module::DECLARATION),*];

            /// Name of the schedule in scenarios.
            pub fn name(self) -> &'static str {
                match self { $(Schedule::$variant => $module::DECLARATION.name,)* }
            }

            /// The order of a stage's operations.
            pub fn order(self, place: Place) -> StageOrder {
                match self { $(Schedule::$variant => StageOrder(Order::$variant($module::order(place))),)* }
            }

            /// Rounds of a stage, in their order; as many, of as many each, for every stage.
            pub fn rounds(self, place: Place) -> [Rounds; 2] {
                match self { $(Schedule::$variant => $module::rounds(place),)* }
            }

            /// Most micro-batches whose activations a stage holds at once.
            pub fn in_flight(self, place: Place) -> u32 {
                match self { $(Schedule::$variant => $module::in_flight(place),)* }
            }
        }
    };
}

schedules! {
    GPipe, gpipe, GPipeOrder;
    OneForwardOneBackward, one_forward_one_backward, OneByOneOrder;
}

impl Schedule {
    /// The schedule called `name`.
    pub fn named(name: &str) -> Option<Schedule> {
        Schedule::ALL.iter().copied().find(|s| s.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Both ends of every exchange name the same micro-batches, each micro-batch goes forward and backward once on every
    /// stage, backward after forward, and no more are held than `in_flight` says, which some stage reaches.
    #[test]
    fn stages_agree_on_what_they_exchange() {
        for &schedule in Schedule::ALL {
            for (stages, micro_batches) in [(1, 1), (1, 5), (2, 1), (2, 7), (4, 2), (4, 4), (5, 13)]
            {
                let place = |stage| Place {
                    stage,
                    stages,
                    micro_batches,
                };
                let list = |stage| -> Vec<Operation> {
                    let order = schedule.order(place(stage));
                    (0..order.operations())
                        .map(|n| order.operation(n))
                        .collect()
                };
                let mut behind: VecDeque<Exchange> = VecDeque::new();
                for stage in 0..stages {
                    let (mut forward, mut backward, mut most) = (vec![], vec![], 0);
                    let mut next = VecDeque::new();
                    for operation in list(stage) {
                        match operation {
                            Operation::Forward(m) => forward.push(m),
                            Operation::Backward(m) => {
                                assert!(forward.contains(&m) && !backward.contains(&m));
                                backward.push(m);
                            }
                            Operation::Previous(e) => assert_eq!(behind.pop_front(), Some(e)),
                            Operation::Next(e) => next.push_back(e),
                        }
                        most = most.max(forward.len() - backward.len());
                    }
                    assert!(
                        behind.is_empty(),
                        "{schedule:?} {stages} {micro_batches} {stage}"
                    );
                    behind = next;
                    assert_eq!(
                        (forward.len(), backward.len()),
                        (micro_batches as usize, micro_batches as usize)
                    );
                    assert_eq!(most as u32, schedule.in_flight(place(stage)));
                    for rounds in schedule.rounds(place(stage)) {
                        let end = rounds.first + rounds.count * rounds.every;
                        assert!(end <= schedule.order(place(stage)).operations());
                    }
                }
                assert!(behind.is_empty());
            }
        }
    }

    #[test]
    fn one_forward_one_backward_holds_at_most_as_many_as_there_are_stages() {
        for stages in 1..9 {
            for micro_batches in 1..40 {
                for stage in 0..stages {
                    let place = Place {
                        stage,
                        stages,
                        micro_batches,
                    };
                    let held = Schedule::OneForwardOneBackward.in_flight(place);
                    assert_eq!(held, (stages - stage).min(micro_batches));
                    assert_eq!(Schedule::GPipe.in_flight(place), micro_batches);
                }
            }
        }
    }
}
