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

impl Floor<'_> {
    /// This floor for a shorter time, to be taken apart.
    #[inline]
    pub fn parts(&mut self) -> Floor<'_> {
        Floor {
            queue: self.queue,
            drift: self.drift,
            stepping: self.stepping,
            stream: self.stream,
            scratch: self.scratch,
            log: self.log,
        }
    }
}
