//! What a protocol works with: the job's clock and luck, and where it notes what happens.

use super::drift::DriftPath;
use super::log::Log;
use super::progress::Event;
use super::scratch::Scratch;
use super::stepping::Stepping;
use scavsim_base::rng::Stream;
use scavsim_engine::Queue;

/// All that a stretch of training touches, borrowed from its job.
#[derive(Debug)]
pub struct Floor<'a> {
    pub queue: &'a mut Queue<Event>,
    pub drift: &'a mut DriftPath,
    pub stepping: &'a Stepping,
    pub stream: &'a mut Stream,
    pub scratch: &'a mut Scratch,
    pub log: &'a mut Log,
}

/// The parts of a [`Floor`], in the order of its fields.
type Parts<'a> = (
    &'a mut Queue<Event>,
    &'a mut DriftPath,
    &'a Stepping,
    &'a mut Stream,
    &'a mut Scratch,
    &'a mut Log,
);

impl Floor<'_> {
    #[inline]
    pub fn parts(&mut self) -> Parts<'_> {
        let (queue, drift, stream) = (&mut *self.queue, &mut *self.drift, &mut *self.stream);
        let (scratch, log) = (&mut *self.scratch, &mut *self.log);
        (queue, drift, self.stepping, stream, scratch, log)
    }
}
