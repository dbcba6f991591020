//! In which order a stage computes its micro-batches.

/// The order of forward and backward passes of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Schedule {
    /// All forward, then all backward.
    GPipe,
    /// One forward, one backward, after as many forward as there are stages behind.
    OneForwardOneBackward,
}

impl Schedule {
    /// All of them.
    pub const ALL: [Schedule; 2] = [Schedule::GPipe, Schedule::OneForwardOneBackward];

    /// As scenarios call it.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::GPipe => "gpipe",
            Schedule::OneForwardOneBackward => "1f1b",
        }
    }

    /// That called `name`.
    pub fn named(name: &str) -> Option<Schedule> {
        Schedule::ALL.into_iter().find(|s| s.name() == name)
    }
}
