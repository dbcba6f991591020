//! The order in which a stage computes its micro-batches. A schedule is a file with the order of one stage's operations, by
//! number, and a line in `schedules!`. The n-th exchange of a stage with the next is the n-th of that with the previous.
//! Schedules whose messages travel while both ends compute consist of `passes`: the n-th arrival is the n-th message. With
//! virtual stages a pipeline is a ring: the last stage is followed by the first, with its next virtual stage.

mod gpipe;
mod interleaved;
mod one_forward_one_backward;
mod passes;
mod zero_bubble;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A micro-batch goes forward: its number, after those of all earlier virtual stages.
    Forward(u32),
    /// A micro-batch goes backward; without weights, if these have a separate pass.
    Backward(u32),
    Weights(u32),
    /// With the previous stage: activations of one micro-batch arrive, gradients of one leave.
    Previous(Exchange),
    /// With the next stage: activations leave, gradients arrive.
    Next(Exchange),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    pub activations: Option<u32>,
    pub gradients: Option<u32>,
}

impl Exchange {
    pub(crate) const NOTHING: Exchange = Exchange {
        activations: None,
        gradients: None,
    };

    #[inline]
    fn activations(micro_batch: u32) -> Exchange {
        Exchange {
            activations: Some(micro_batch),
            gradients: None,
        }
    }

    #[inline]
    fn gradients(micro_batch: u32) -> Exchange {
        Exchange {
            activations: None,
            gradients: Some(micro_batch),
        }
    }

    #[inline]
    pub(crate) fn messages(self) -> u32 {
        u32::from(self.activations.is_some()) + u32::from(self.gradients.is_some())
    }
}

/// A stage of a pipeline, and the micro-batches of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub stage: u32,
    pub stages: u32,
    pub micro_batches: u32,
    /// Virtual stages of each stage; 1 without any.
    pub virtual_stages: u32,
}

impl Place {
    #[inline]
    fn is_first(self) -> bool {
        self.stage == 0
    }

    #[inline]
    fn is_last(self) -> bool {
        self.stage + 1 == self.stages
    }
}

/// Rounds in which all stages repeat: after round `n` a stage has done `first + n × every` operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    pub count: u32,
    pub first: u32,
    pub every: u32,
}

impl Rounds {
    const NONE: Rounds = Rounds {
        count: 0,
        first: 0,
        every: 1,
    };
}

macro_rules! schedules {
    ($($variant:ident = $module:ident: $order:ident,)*) => {
        scavsim_base::registry! {
            /// The order of forward and backward passes of a stage.
            pub enum Schedule { $($variant = $module,)* }

            /// Rounds of a stage, in their order; as many, of as many each, for every stage.
            pub(crate) fn rounds(self, place: Place) -> [Rounds; 2];

            /// Micro-batches whose activations a virtual stage holds when its stage holds most.
            pub(crate) fn in_flight(self, place: Place, virtual_stage: u32) -> u32;

            /// Whether messages have to travel while both ends compute.
            pub fn needs_overlap(self) -> bool = NEEDS_OVERLAP;
        }

        impl Schedule {
            pub fn order(self, place: Place) -> StageOrder {
                match self { $(Schedule::$variant => StageOrder(Order::$variant($module::order(place))),)* }
            }
        }

        /// The operations of one stage by number, with what they follow from.
        #[derive(Debug, Clone, Copy)]
        pub struct StageOrder(Order);

        #[derive(Debug, Clone, Copy)]
        enum Order {
            $($variant($module::$order),)*
        }

        impl StageOrder {
            #[inline]
            pub fn operations(&self) -> u32 {
                match &self.0 { $(Order::$variant(order) => order.operations(),)* }
            }

            #[inline]
            pub fn operation(&self, number: u32) -> Operation {
                match &self.0 { $(Order::$variant(order) => order.operation(number),)* }
            }
        }
    };
}

schedules! {
    GPipe = gpipe: GPipeOrder,
    OneForwardOneBackward = one_forward_one_backward: OneByOneOrder,
    Interleaved = interleaved: InterleavedOrder,
    ZeroBubble = zero_bubble: ZeroBubbleOrder,
}

impl Schedule {
    pub fn has_virtual_stages(self) -> bool {
        self == Schedule::Interleaved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn operations(schedule: Schedule, place: Place) -> Vec<Operation> {
        let order = schedule.order(place);
        let all = 0..order.operations();
        all.map(|n| order.operation(n)).collect()
    }

    fn place(stage: u32, stages: u32, micro_batches: u32, virtual_stages: u32) -> Place {
        Place {
            stage,
            stages,
            micro_batches,
            virtual_stages,
        }
    }

    /// Checks that each micro-batch goes forward and backward once through every virtual stage, backward after forward,
    /// weights last; returns the maximum number held at once.
    fn held_at_most(all: &[Operation], passes: usize) -> usize {
        let (mut forward, mut backward, mut weights, mut most) = (vec![], vec![], vec![], 0);
        let splits = all.iter().any(|o| matches!(o, Operation::Weights(_)));
        for operation in all {
            match operation {
                Operation::Forward(m) => {
                    assert!(!forward.contains(m));
                    forward.push(*m);
                }
                Operation::Backward(m) => {
                    assert!(forward.contains(m) && !backward.contains(m));
                    backward.push(*m);
                }
                Operation::Weights(m) => {
                    assert!(backward.contains(m) && !weights.contains(m));
                    weights.push(*m);
                }
                Operation::Previous(_) | Operation::Next(_) => {}
            }
            let gone = if splits { &weights } else { &backward };
            most = most.max(forward.len() - gone.len());
        }
        assert_eq!((forward.len(), backward.len()), (passes, passes));
        assert!(!splits || weights.len() == passes);
        most
    }

    /// Both ends of every exchange have equal micro-batches, and no more are held than `in_flight` states, which some stage
    /// reaches.
    #[test]
    fn stages_agree_on_what_they_exchange() {
        for schedule in Schedule::ALL.into_iter().filter(|s| !s.needs_overlap()) {
            for (stages, micro_batches) in [(1, 1), (1, 5), (2, 1), (2, 7), (4, 2), (4, 4), (5, 13)]
            {
                let place = |stage| place(stage, stages, micro_batches, 1);
                let mut behind: VecDeque<Exchange> = VecDeque::new();
                for stage in 0..stages {
                    let all = operations(schedule, place(stage));
                    let mut next = VecDeque::new();
                    for operation in &all {
                        match operation {
                            Operation::Previous(e) => assert_eq!(behind.pop_front(), Some(*e)),
                            Operation::Next(e) => next.push_back(*e),
                            _ => {}
                        }
                    }
                    assert!(behind.is_empty(), "{schedule:?} {:?}", place(stage));
                    behind = next;
                    let most = held_at_most(&all, micro_batches as usize);
                    assert_eq!(most as u32, schedule.in_flight(place(stage), 0));
                    for rounds in schedule.rounds(place(stage)) {
                        let end = rounds.first + rounds.count * rounds.every;
                        assert!(end <= schedule.order(place(stage)).operations());
                    }
                }
                assert!(behind.is_empty());
            }
        }
    }

    /// If messages travel on their own, a stage receives them in the order in which its neighbour in the ring sends them: the
    /// activations of a virtual stage are the output of the one before it. No more micro-batches are held than stated.
    #[test]
    fn messages_are_taken_in_the_order_in_which_they_are_sent() {
        for (schedule, stages, micro_batches, virtual_stages) in [
            (Schedule::Interleaved, 2, 2, 2),
            (Schedule::Interleaved, 2, 8, 3),
            (Schedule::Interleaved, 4, 4, 2),
            (Schedule::Interleaved, 4, 16, 4),
            (Schedule::ZeroBubble, 1, 5, 1),
            (Schedule::ZeroBubble, 2, 1, 1),
            (Schedule::ZeroBubble, 4, 2, 1),
            (Schedule::ZeroBubble, 4, 4, 1),
            (Schedule::ZeroBubble, 5, 13, 1),
            (Schedule::OneForwardOneBackward, 3, 7, 1),
        ] {
            let place = |stage| place(stage, stages, micro_batches, virtual_stages);
            let all = (0..stages).map(|stage| operations(schedule, place(stage)));
            let all: Vec<Vec<Operation>> = all.collect();
            // Position of a pass in the model: virtual stage and stage.
            let depth = |stage: u32, number: u32| number / micro_batches * stages + stage;
            for stage in 0..stages {
                let next = (stage + 1) % stages;
                let of = |stage: u32, on_next: bool, forward: bool| -> Vec<(u32, u32)> {
                    let taken = all[stage as usize].iter().filter_map(|o| match o {
                        Operation::Next(e) if on_next => Some(e),
                        Operation::Previous(e) if !on_next => Some(e),
                        _ => None,
                    });
                    let which =
                        taken.filter_map(|e| if forward { e.activations } else { e.gradients });
                    let places = which.map(|n| (depth(stage, n), n % micro_batches));
                    places.collect()
                };
                let mut sent = of(stage, true, true);
                sent.iter_mut().for_each(|(depth, _)| *depth += 1);
                assert_eq!(sent, of(next, false, true), "{schedule:?}");
                let mut back = of(next, false, false);
                back.iter_mut().for_each(|(depth, _)| *depth -= 1);
                assert_eq!(back, of(stage, true, false), "{schedule:?}");
                let passes = (micro_batches * virtual_stages) as usize;
                let most = held_at_most(&all[stage as usize], passes) as u32;
                let said = (0..virtual_stages).map(|v| schedule.in_flight(place(stage), v));
                let said: u32 = said.sum();
                let is_right = match schedule {
                    // Equal at every stage: later stages have fewer forward passes ahead, and more late gradients of weights.
                    Schedule::ZeroBubble => most <= said && said <= most + 1,
                    _ => most == said,
                };
                assert!(is_right, "{schedule:?} {:?}: {most} {said}", place(stage));
            }
        }
    }

    #[test]
    fn one_forward_one_backward_holds_at_most_as_many_as_there_are_stages() {
        for stages in 1..9 {
            for micro_batches in 1..40 {
                for stage in 0..stages {
                    let place = place(stage, stages, micro_batches, 1);
                    let held = Schedule::OneForwardOneBackward.in_flight(place, 0);
                    assert_eq!(held, (stages - stage).min(micro_batches));
                    assert_eq!(Schedule::GPipe.in_flight(place, 0), micro_batches);
                }
            }
        }
    }
}
